"""Label games: each item of a data set gets one label, nothing is bet, and an unreadable answer is a miss."""

import hashlib
import json
import threading
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any, ClassVar, Self, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast
from predibot.domain.chat import ToolSchema
from predibot.domain.decision import Booking, Decision, Subject
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Price
from predibot.domain.terms import ModelSettings
from predibot.errors import UsageError
from predibot.games.answers import LABEL, AnswerComplaint, final_answer, quoted
from predibot.games.fills import FillModel
from predibot.games.game import AnswerForm, Game

Learnt = TypeVar("Learnt")
MAX_MONEY = 1e18
"""The largest amount taken, in any currency: there is less, and sums of such amounts stay numbers."""
Rows = Callable[[str], Iterable[Any]]
"""Reads a file of a data set from its beginning, by its name."""


@cache
def _adapter(kind: type) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


@dataclass(frozen=True, slots=True)
class LabelItem:
    """An item to be labelled, with its truth."""

    noun: ClassVar[str]
    hidden: ClassVar[tuple[str, ...]] = ("truth",)
    """The fields that no bot is shown; they are None then."""

    def as_json(self) -> str:
        """Return the item, its truth included, as canonical JSON."""
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":"), allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the item that `as_json` wrote, with its truth if that is still there.

        Raises `ValueError` if it is none.
        """
        try:
            found: Self = _adapter(cast(Any, cls)).validate_json(text)
            return found
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"])) or "its text"
            raise ValueError(f"no {cls.noun}: {where}: {first['msg']}") from None

    @classmethod
    def public_json(cls, text: str) -> str:
        """Return the JSON of an item without its hidden fields; empty for a text that is no item."""
        try:
            return replace(cls.from_json(text), **dict.fromkeys(cls.hidden)).as_json()
        except ValueError:
            return ""


@dataclass(frozen=True, slots=True)
class LabelForm(AnswerForm):
    """The prompt, the tool and the parser for the label of an item; it is asked for once."""

    fields: ClassVar[Collection[str]] = (LABEL,)
    tool_description: ClassVar[str]
    item: Any
    strict: bool = False
    """Whether only the bare answer is read, without marks or words around it."""

    @property
    def schema(self) -> ToolSchema:
        """Return the tool for handing in an answer."""
        label = {"type": "string", "enum": list(self.labels), "description": "The label."}
        return final_answer(self.tool_description, {LABEL: label})

    def find_label(self, text: str) -> str | None:
        """Return the label that a text is, in any case; None where it is none."""
        return next((label for label in self.labels if label.casefold() == text.casefold()), None)


@dataclass(slots=True)
class ItemReferences:
    """What baselines may know of the items of a run, and no model is shown; thread-safe."""

    needs: ClassVar[str]
    """The field without which nothing is known of an item."""
    noun: ClassVar[str]
    items: Mapping[str, Any]
    """By subject, with their truth."""
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _made: dict[tuple[object, ...], Any] = field(default_factory=dict)

    def find_item(self, subject_id: str) -> Any:
        """Return an item of the run; raise `UsageError` if there is no such item."""
        item = self.items.get(subject_id)
        if item is None or getattr(item, self.needs) is None:
            raise UsageError(
                f"nothing is known of {subject_id[:60]!r}; a baseline can be asked about {self.noun} of the run"
            )
        return item

    def once(self, key: tuple[object, ...], make: Callable[[], Learnt]) -> Learnt:
        """Return the value of a key, made at the first call for it in this worker."""
        with self._lock:
            if key not in self._made:
                self._made[key] = make()
            found: Learnt = self._made[key]
            return found


class LabelGame(Game):
    """The rules that all label games share."""

    __slots__ = ()
    stake_usd: ClassVar = 0.0
    scores: ClassVar = ("labels",)
    has_items: ClassVar = True
    model_settings: ClassVar = ModelSettings(temperature=0.0)
    offers: ClassVar = ("other bots",)
    """A judge reads another bot's reasons."""
    pooled_by: ClassVar = "label_vote"
    repairs: ClassVar = 0
    """An unreadable label is a miss and is not asked for again."""
    item: ClassVar[Any]
    item_noun: ClassVar[str]

    @abstractmethod
    def allowed(self, view: Any) -> Sequence[Collection[str]]:
        """Return the sets of labels that an item can have; a complaint names the first."""

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> Any:
        """Return the item as a bot sees it."""
        found = next((event for event in events if event.id == subject.id), None)
        if found is None:
            raise UsageError(
                f"{subject.kind} {subject.id!r} is no {self.item_noun} of this run; game {self.name!r} asks about those"
            )
        return self.item.from_json(found.payload)

    def book(
        self, answer: Decision, view: Any, account: Account | None, quotes: Mapping[Instrument, Price], fills: FillModel
    ) -> Booking:
        """Return a booking without bets; raise `AnswerError` if the answer is not one allowed label of the item."""
        allowed = self.allowed(view)
        if answer.forecasts or answer.orders or answer.unallocated_usd is not None:
            raise AnswerComplaint("it has forecasts or orders, and only a label is asked for; leave them out")
        if len(answer.labels) != 1:
            raise AnswerComplaint(f"it has {len(answer.labels)} labels; give exactly one")
        (given,) = answer.labels
        if given.item_id != view.subject_id:
            raise AnswerComplaint(
                f"it labels {quoted(given.item_id)}, which was not asked about; label {view.subject_id}"
            )
        of = next((labels for labels in allowed if given.label in labels), None)
        if of is None:
            raise AnswerComplaint(f"the label is {quoted(given.label)}; it is one of {', '.join(allowed[0])}")
        if any(name not in of or not 0.0 <= share <= 1.0 for name, share in given.probabilities.items()):
            raise AnswerComplaint("a probability is of no allowed label, or outside 0 to 1; fix it, or state none")
        return Booking()


def freeze_item(item: Any, title: str, about: str) -> Event:
    """Return an item as an event; its description holds the digest of the item, so receipts cover it."""
    payload = item.as_json()
    digest = hashlib.sha256(payload.encode()).hexdigest()
    return Event(item.subject_id, title, (), description=f"{about} {digest}", payload=payload)
