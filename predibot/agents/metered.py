"""A model whose every call is reserved before, settled after and written down."""

import hashlib
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace

from predibot.agents.failure import GivenUp
from predibot.agents.price import Price, cost_of
from predibot.agents.worst_case import Counted, counted, worst_case
from predibot.contracts import ChatModel, Meter, TraceWriter
from predibot.domain.budget import Spending
from predibot.domain.chat import ChatReply, ChatRequest, Message
from predibot.errors import ModelError

_log = logging.getLogger(__name__)


class MeteredModel:
    """One decision's view of a model: within its budget and on its trace; for one thread."""

    def __init__(
        self,
        model: ChatModel,
        meter: Meter,
        price: Price | None,
        trace: TraceWriter | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Wrap a model.

        Args:
            model: The one that is asked.
            meter: The decision's budget.
            price: The dearest its tokens can be, or None where that is unknown.
            trace: Where calls are written down: each message once, with the
                digest of the whole request, so that traces do not grow
                quadratically and can still be replayed.
            monotonic: A clock in seconds that never goes back.
        """
        self._model = model
        self._meter = meter
        self._price = price
        self._trace = trace
        self._monotonic = monotonic
        self._before: Counted | None = None
        self._recorded: Counter[Message] = Counter()

    @property
    def name(self) -> str:
        """Return the name recipes use."""
        return self._model.name

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's answer, if its worst case fits the budget.

        Raises:
            BudgetSpent: If it does not; nothing was sent.
            ModelUnavailable: If no answer came within the deadline.
            ModelRefused: If the provider refuses the request for good.
        """
        left_seconds = self._meter.left().seconds
        if left_seconds:
            deadline_seconds = min(deadline_seconds, left_seconds)
        worst = worst_case(request, self._price, deadline_seconds=deadline_seconds, before=self._before)
        reservation = self._meter.reserve(worst)
        # Whatever is not known to be otherwise stays set aside.
        actual = worst
        began = self._monotonic()
        try:
            reply = self._priced(self._model.chat(request, deadline_seconds=deadline_seconds))
            actual = _spent(reply, worst)
            self._before = counted(request, reply.usage) or self._before
        except ModelError as error:
            actual = _spent_on_failure(error, worst, self._monotonic() - began)
            failed = {"error": error.kind, "message": str(error), "lost_tries": _lost_tries(error)}
            failed["price_known"] = self._price is not None
            self._record(request, "model_failed", {**failed, "worst": _plain(worst)})
            raise
        finally:
            reservation.settle(actual)
        if reply.cost.known_usd > worst.usd and self._price is not None:
            cost_usd = reply.cost.known_usd
            _log.warning("%s cost $%.6f, more than the $%.6f set aside for it", self.name, cost_usd, worst.usd)
        self._record(request, "model", {**reply_fields(reply), "worst": _plain(worst)})
        return reply

    def _priced(self, reply: ChatReply) -> ChatReply:
        """Return the reply with a cost where ours is the only price known."""
        if reply.cost.usd is not None:
            return reply
        return replace(reply, cost=cost_of(reply.usage, price=self._price))

    def _record(self, request: ChatRequest, kind: str, outcome: Mapping[str, object]) -> None:
        """Write a call down, with those of its messages that were not yet."""
        if self._trace is None:
            return
        new = Counter(request.messages) - self._recorded
        messages = [message for message in request.messages if new[message] > 0]
        self._recorded |= Counter(request.messages)
        self._trace.record(
            kind,
            model_name=self.name,
            request_sha256=request_digest(request),
            messages_sent=len(request.messages),
            new_messages=[message_fields(message) for message in dict.fromkeys(messages)],
            tools=[tool.name for tool in request.tools],
            forced_tool=request.forced_tool,
            max_output_tokens=request.max_output_tokens,
            **outcome,
        )


def request_digest(request: ChatRequest) -> str:
    """Return a SHA-256 that is the same for equal requests, today and next year."""
    asked = {each.name: _plain(getattr(request, each.name)) for each in fields(request)}
    if asked["max_searches"] is None:
        # What is not said is no part of it, so that digests of before this could be said still hold.
        del asked["max_searches"]
    text = json.dumps(asked, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def message_fields(message: Message) -> dict[str, object]:
    """Return a message as it is written down; what is empty is left out."""
    return {each.name: value for each in fields(message) if (value := _plain(getattr(message, each.name)))}


def reply_fields(reply: ChatReply) -> dict[str, object]:
    """Return a reply as it is written down; everything is there to make it again."""
    return {each.name: _plain(getattr(reply, each.name)) for each in fields(reply)}


def _plain(value: object) -> object:
    """Return a value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value


def _spent(reply: ChatReply, worst: Spending) -> Spending:
    """Return what a reply cost; where the provider did not say, the worst case stands, as for a lost try."""
    usage = reply.usage
    known = usage.input_tokens is not None and usage.output_tokens is not None
    tokens = (usage.input_tokens or 0) + (usage.output_tokens or 0)
    lost = reply.lost_tries
    return Spending(
        usd=worst.usd * lost + (worst.usd if reply.cost.usd is None else reply.cost.usd),
        tokens=worst.tokens * lost + (tokens if known else worst.tokens),
        steps=1,
        seconds=reply.seconds,
    )


def _spent_on_failure(error: ModelError, worst: Spending, seconds: float) -> Spending:
    """Return what a failed call cost: a lost answer may have been paid for, a refused request was not."""
    lost = _lost_tries(error)
    return replace(worst, usd=worst.usd * lost, tokens=worst.tokens * lost, seconds=seconds)


def _lost_tries(error: ModelError) -> int:
    return error.lost_tries if isinstance(error, GivenUp) else 0
