"""A metered model: each call is reserved before it is sent, settled afterwards and written to the trace."""

import hashlib
import json
import logging
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass, field, replace

from predibot.agents.budget.price import TokenPrice, cost_of, next_to_nothing
from predibot.agents.budget.worst_case import (
    CountedRequest,
    count_request,
    input_tokens_bound,
    spending_by_usage,
    worst_case,
)
from predibot.agents.models.clients.chat_wire import parse_count
from predibot.agents.models.failures import AnswerUnusable, GivenUp
from predibot.agents.models.manners import settings_of
from predibot.agents.models.retry import report_tries_to
from predibot.contracts import ChatModel, Meter, Reservation, TraceWriter
from predibot.domain.budget import LEAST_SHARE, Spending
from predibot.domain.chat import ChatReply, ChatRequest, Cost, Message, Usage
from predibot.domain.trace import ModelFailedStep, ModelNotAskedStep, ModelRequest, ModelStep, Step, as_json
from predibot.errors import BudgetSpent, ModelError
from predibot.net.failures import LostAnswer, TryAgain

_log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)
class MeteredModel:
    """One decision's view of a model: within its budget and on its trace; for one thread."""

    model: ChatModel
    meter: Meter
    price: TokenPrice | None
    trace: TraceWriter | None = None
    """Gets each message once, with the digest of the request, so that traces grow linearly and can still be rerun."""
    _: KW_ONLY
    searches_itself: bool = False
    """Whether the model reads more than was sent, so that any count of input tokens may be true."""
    monotonic: Callable[[], float] = time.monotonic
    _before: CountedRequest | None = field(default=None, init=False)
    _recorded: Counter[Message] = field(default_factory=Counter, init=False)

    def __post_init__(self) -> None:
        """Take over the model's name."""
        self.name = self.model.name

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        """Return the model's reply, if its worst case fits the budget.

        Each further try is reserved in the same way, after the one before was booked. A lost answer is booked at its
        worst case and marked as estimated in the trace. A try that does not fit is not sent and raises `BudgetSpent`; a
        call without an answer raises `ModelError`.
        """
        left_seconds = self.meter.left().seconds
        if left_seconds:
            deadline_seconds = min(deadline_seconds, left_seconds)
        worst = worst_case(request, self.price, deadline_seconds=deadline_seconds, before=self._before)
        call = _MeteredCall(self.meter, worst, deadline_seconds, self.monotonic)
        try:
            call.again()
            with report_tries_to(call):
                came = self.model.chat(request, deadline_seconds=call.left_seconds())
            believed, doubt = self._without_implausible(came, request)
            stated = spending_by_usage(provider_usage(came, request), self.price)
            reply = self._with_own_price(believed, request, stated.usd)
            call.answered(reply, stated)
            self._before = count_request(request, reply.usage, self._before) or self._before
        except BaseException as error:
            if isinstance(error, BudgetSpent) and not call.tries:
                self._write(ModelNotAskedStep(self._request_record(request, is_sent=False), str(error)))
                raise
            call.ended(_lost_tries(error, call))
            self._write(
                ModelFailedStep(
                    asked=self._request_record(request),
                    error=getattr(error, "kind", type(error).__name__),
                    message=str(error),
                    lost_tries=call.lost_tries,
                    price_known=self.price is not None,
                    worst=call.worst,
                    estimated_usd=self._estimated_usd(call),
                )
            )
            raise
        cost_usd = max(reply.cost.known_usd, *call.estimates_usd, 0.0)
        if cost_usd > worst.usd and self.price is not None:
            _log.warning("%s cost $%.6f, more than the $%.6f set aside for it", self.name, cost_usd, worst.usd)
        asked = self._request_record(request, reply.refused_settings)
        estimated_usd = self._estimated_usd(call)
        self._write(ModelStep(asked=asked, reply=reply, doubt=doubt, worst=call.worst, estimated_usd=estimated_usd))
        return reply

    def _estimated_usd(self, call: "_MeteredCall") -> float | None:
        return None if self.price is None and call.estimates_usd else math.fsum(call.estimates_usd)

    def _without_implausible(self, reply: ChatReply, request: ChatRequest) -> tuple[ChatReply, str]:
        """Return the reply without implausible counts, or costs computed from them; and the reason."""
        reads_more = self.searches_itself or request.max_searches is not None
        usage, doubt = plausible_usage(reply, request, reads_more=reads_more)
        if usage == reply.usage:
            return reply, ""
        if doubt:
            _log.warning("%s: %s What the call cost is unknown", self.name, doubt)
        is_reckoned = reply.cost.source != "provider" and reply.cost.usd != 0.0
        return replace(reply, usage=usage, cost=Cost(None, "unknown") if is_reckoned else reply.cost), doubt

    def _with_own_price(self, reply: ChatReply, request: ChatRequest, stated_usd: float) -> ChatReply:
        """Return the reply with our own price if the provider states none, or next to nothing."""
        cost_usd, usage = reply.cost.usd, reply.usage
        if None in (usage.input_tokens, usage.output_tokens):
            usage = Usage(_least_input(request), _least_output(reply))
        is_too_little = cost_usd is None or cost_usd < LEAST_SHARE * stated_usd
        if cost_usd is not None and not is_too_little and not next_to_nothing(cost_usd, usage, self.price):
            return reply
        return replace(reply, cost=cost_of(reply.usage, price=self.price))

    def _write(self, step: Step) -> None:
        if self.trace is not None:
            self.trace.write(step)

    def _request_record(
        self, request: ChatRequest, refused_settings: Collection[str] = (), *, is_sent: bool = True
    ) -> ModelRequest:
        """Return the trace's record of a request, with the messages that it does not have yet."""
        new = Counter(request.messages if is_sent else ()) - self._recorded
        self._recorded += new
        refused = {each.partition(" ")[0] for each in refused_settings}
        return ModelRequest(
            model_name=self.name,
            request_sha256=request_digest(request),
            messages_sent=len(request.messages),
            new_messages=tuple(dict.fromkeys(message for message in request.messages if new[message] > 0)),
            tools=tuple(tool.name for tool in request.tools),
            forced_tool=request.forced_tool,
            max_output_tokens=request.max_output_tokens,
            settings={name: getattr(request, name) for name in settings_of(request) if name not in refused},
        )


def request_digest(request: ChatRequest) -> str:
    """Return a SHA-256 that is the same for equal requests, today and next year."""
    # `as_json` leaves out newer fields that are not set, so that older digests stay valid.
    text = json.dumps(as_json(request), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _lost_tries(error: BaseException, call: "_MeteredCall") -> int:
    """Return how many tries of a failed call may have been paid for; in doubt, each of them."""
    if isinstance(error, GivenUp):
        return error.lost_tries
    if isinstance(error, BudgetSpent):
        return call.lost_tries
    return 0 if isinstance(error, ModelError) and not isinstance(error, AnswerUnusable) else call.lost_tries + 1


@dataclass(eq=False)
class _MeteredCall:
    """The reservations of one call, one for each try; `Retry` reports to it."""

    meter: Meter
    worst: Spending
    deadline_seconds: float
    monotonic: Callable[[], float]
    tries: int = 0
    lost_tries: int = 0
    """Tries that may have been paid for without an answer."""
    estimates_usd: list[float] = field(default_factory=list)
    """Booked amounts whose true cost is unknown."""
    reservation: Reservation | None = None

    def __post_init__(self) -> None:
        self.began = self.monotonic()
        self.ends = self.began + self.deadline_seconds

    def left_seconds(self) -> float:
        return max(0.0, self.ends - self.monotonic())

    def again(self) -> None:
        """Reserve the worst case of a try; a call counts as one step."""
        asked_at = self.monotonic()
        worst = replace(self.worst, steps=0 if self.tries else self.worst.steps)
        self.reservation = self.meter.reserve(worst, wait_seconds=self.ends - asked_at)
        self.tries += 1
        # The wait for others is no part of the model's time.
        self.began += self.monotonic() - asked_at

    def failed(self, failure: TryAgain) -> None:
        self.ended(self.lost_tries + isinstance(failure, LostAnswer))

    def ended(self, lost_tries: int) -> None:
        """Book a call without an answer: a lost one may have been paid for, a refused one was not."""
        self._book(Spending(seconds=self.monotonic() - self.began), lost_tries)

    def answered(self, reply: ChatReply, stated: Spending) -> None:
        """Book the cost of an answer; if that is unknown, the worst case or the stated counts, if higher."""
        usage, cost_usd = reply.usage, reply.cost.usd
        known = usage.input_tokens is not None and usage.output_tokens is not None
        estimate_usd = max(self.worst.usd, stated.usd)
        estimate_tokens = max(self.worst.tokens, stated.tokens)
        actual = Spending(
            usd=estimate_usd if cost_usd is None else cost_usd,
            tokens=(usage.input_tokens or 0) + (usage.output_tokens or 0) if known else estimate_tokens,
            seconds=reply.seconds if self.tries == 1 else self.monotonic() - self.began,
        )
        self._book(actual, reply.lost_tries)
        if cost_usd is None:
            self.estimates_usd.append(estimate_usd)

    def _book(self, actual: Spending, lost_tries: int) -> None:
        """Settle the current try, and lost ones that are not booked yet."""
        reservation, self.reservation = self.reservation, None
        if reservation is None:
            return
        lost = max(0, lost_tries - self.lost_tries)
        self.lost_tries += lost
        self.estimates_usd += [self.worst.usd] * lost
        self.began = self.monotonic()
        reservation.settle(
            replace(
                actual,
                usd=actual.usd + lost * self.worst.usd,
                tokens=actual.tokens + lost * self.worst.tokens,
                steps=self.worst.steps if self.tries == 1 else 0,
            )
        )


MOST_OUTPUT_TIMES = 4
"""Times the requested output; some servers stop late, or do not bound the model's thoughts."""
MOST_BYTES_A_TOKEN = 32
"""Over a whole text without its runs; real tokenizers come to 3 to 6, in any language."""
MOST_BYTES_A_TOKEN_OF_A_RUN = 256
"""For a run of one character; the longest such token known is 128 spaces."""
_MOST_BYTES_A_CHARACTER = 4
_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""Counts that some providers do not include in the input tokens."""
_UTF_8 = ("utf-8", "surrogatepass")
_RUN = re.compile(r"(.)\1+")


def plausible_usage(reply: ChatReply, request: ChatRequest, *, reads_more: bool = False) -> tuple[Usage, str]:
    """Return a reply's usage without its impossible counts, and a sentence about each of them. With `reads_more` the
    model reads more than was sent, so no count of input tokens is too high.
    """
    usage, most_came = provider_usage(reply, request), MOST_OUTPUT_TIMES * request.max_output_tokens
    most_sent = None if reads_more else input_tokens_bound(request)
    sent, came = usage.input_tokens, usage.output_tokens
    sent_doubt = _doubt("input", sent, _least_input(request, sent), most_sent)
    came_doubt = _doubt("output", came, _least_output(reply), most_came)
    usage = replace(usage, input_tokens=None if sent_doubt else sent, output_tokens=None if came_doubt else came)
    return usage, " ".join(filter(None, (sent_doubt, came_doubt)))


def provider_usage(reply: ChatReply, request: ChatRequest) -> Usage:
    """Return the provider's counts; input that is too low gets the cached tokens added."""
    usage = reply.usage
    if usage.input_tokens is None or usage.input_tokens >= _least_input(request, usage.input_tokens):
        return usage
    cached = sum(parse_count(usage.raw.get(name)) or 0 for name in _CACHED)
    return replace(usage, input_tokens=usage.input_tokens + cached)


def _least_input(request: ChatRequest, counted: int | None = None) -> int:
    """Return the fewest possible tokens of a request, or any lower bound below a count that is surely plausible."""
    texts = [each.text for each in request.messages]
    bound = max(1, _MOST_BYTES_A_CHARACTER * (sum(map(len, texts)) + len(texts)) // MOST_BYTES_A_TOKEN)
    return bound if counted is not None and counted >= bound else _least_tokens("\n".join(texts))


def _least_output(reply: ChatReply) -> int:
    calls = (call.name + call.arguments_json for call in reply.message.tool_calls)
    return _least_tokens("".join((reply.message.text, *calls)))


def _least_tokens(text: str) -> int:
    if not text:
        return 0
    without_runs = _RUN.sub(r"\1", " ".join(text.split()))
    return max(
        1,
        len(without_runs.encode(*_UTF_8)) // MOST_BYTES_A_TOKEN,
        len(text.encode(*_UTF_8)) // MOST_BYTES_A_TOKEN_OF_A_RUN,
    )


def _doubt(which: str, tokens: int | None, least: int, most: int | None) -> str:
    if tokens is None or (least <= tokens and (most is None or tokens <= most)):
        return ""
    why = f"more than {most:,}, the most" if tokens > least else f"fewer than {least:,}, the least"
    return f"A count of {tokens:,} {which} tokens is not believed: {why} that the call can have."
