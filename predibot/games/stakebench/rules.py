"""The rules of labelling comments: which are asked about, what is shown of each, and what is an answer."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Booking, Decision, Subject
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Price
from predibot.errors import UsageError
from predibot.games.answers import booked_label
from predibot.games.fills import FillModel
from predibot.games.stakebench.form import LabelForm
from predibot.games.stakebench.reference import References
from predibot.text_tasks.data_set import Rows
from predibot.text_tasks.tasks import CROWD, TASKS, Item, TaskName, drawn


@dataclass(frozen=True, slots=True)
class Stakebench:
    """Labels for comments: who holds a position, on which side, what follows, and where the odds go."""

    name: ClassVar = "stakebench"
    stake_usd: ClassVar = 0.0
    """Nothing is bet."""
    scores: ClassVar = ("labels",)
    per_split: Annotated[int, Field(ge=12, le=100_000)] = 200
    """How many instances each task has of each topic and platform."""
    tasks: tuple[TaskName, ...] = get_args(TaskName)
    """Which are asked: G1 to G4, G3f and G3d with two labels, G2before for an audit."""
    labels: Literal["lenient", "strict"] = "lenient"
    """Whether marks and words around a label are left out, or only the bare label is read."""

    def __post_init__(self) -> None:
        """Refuse a list of tasks that asks for none, or for one twice."""
        if not self.tasks or len(set(self.tasks)) < len(self.tasks):
            raise ValueError(f"tasks are {list(self.tasks)}; name at least one, each once")

    def drawn(self, rows: Rows, seed: int) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """Return what a run asks about, each as it is frozen with it, and notes.

        Raises:
            UsageError: If the rows do not go together.
        """
        try:
            found = drawn(rows, tasks=self.tasks, per_split=self.per_split, seed=seed)
        except ValueError as error:
            raise UsageError(f"the data set cannot be played: {error}") from None
        asked = [_frozen(item) for item in found.items]
        crowds = [
            Event(f"{CROWD}/{split}", f"{CROWD} of {split}", (), payload=json.dumps({"won": won, "counted": counted}))
            for split, (won, counted) in found.crowds.items()
        ]
        return (*asked, *crowds), found.notes

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return one subject for each text that is asked about."""
        named = ((event.id.partition("/")[0], event.id) for event in events)
        return tuple(Subject(TASKS[task].kind, id_) for task, id_ in named if task in TASKS)

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> Item:
        """Return what a bot is shown: the text, its market's question, and what the task states."""
        found = next((event for event in events if event.id == subject.id), None)
        if found is None:
            raise UsageError(
                f"{subject.kind} {subject.id!r} is no text of this run; game {self.name!r} asks about those"
            )
        return Item.from_json(found.payload)

    def form(self, view: Item, *, price_blind: bool = False) -> LabelForm:
        """Return how a label is asked for and read."""
        return LabelForm(view, price_blind, strict=self.labels == "strict")

    def references(self, events: Sequence[Event]) -> References:
        """Return what baselines may know, from all texts of a run with their truth."""
        asked = {event.id for event in events if event.id.partition("/")[0] in TASKS}
        return References({event.id: Item.from_json(event.payload) for event in events if event.id in asked})

    def book(
        self,
        answer: Decision,
        view: Item,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return that nothing was bet, if the answer is one allowed label of the text that was shown.

        Raises:
            AnswerError: If it is anything else.
        """
        return booked_label(answer, view.subject_id, TASKS[view.task].labels)


def _frozen(item: Item) -> Event:
    """Return an item as an event; its description holds the digest of all of it, which receipts then vouch for."""
    payload = item.as_json()
    digest = hashlib.sha256(payload.encode()).hexdigest()
    return Event(item.subject_id, item.question, (), description=f"{item.task} {item.split} {digest}", payload=payload)
