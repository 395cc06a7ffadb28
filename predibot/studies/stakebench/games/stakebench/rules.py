"""The rules of labelling comments: which are asked about, what is shown of each, and what is an answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from predibot.domain.decision import Subject
from predibot.domain.event import Event
from predibot.errors import UsageError
from predibot.studies.label_game import LabelGame, frozen_item
from predibot.studies.stakebench.data_set import Rows
from predibot.studies.stakebench.games.stakebench.form import LabelForm
from predibot.studies.stakebench.games.stakebench.reference import StakebenchReferences
from predibot.studies.stakebench.tasks import CROWD, TASKS, Item, TaskName, drawn


@dataclass(frozen=True, slots=True)
class Stakebench(LabelGame):
    """Labels for comments: who holds a position, on which side, what follows, and where the odds go."""

    name: ClassVar = "stakebench"
    item: ClassVar = Item
    item_noun: ClassVar = "text"
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
        asked = [frozen_item(item, item.question, f"{item.task} {item.split}") for item in found.items]
        crowds = [
            Event(f"{CROWD}/{split}", f"{CROWD} of {split}", (), payload=json.dumps({"won": won, "counted": counted}))
            for split, (won, counted) in found.crowds.items()
        ]
        return (*asked, *crowds), found.notes

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return one subject for each text that is asked about."""
        named = ((event.id.partition("/")[0], event.id) for event in events)
        return tuple(Subject(TASKS[task].kind, id_) for task, id_ in named if task in TASKS)

    def form(self, view: Item, *, price_blind: bool = False) -> LabelForm:
        """Return how a label is asked for and read."""
        return LabelForm(view, price_blind, strict=self.labels == "strict")

    def references(self, events: Sequence[Event]) -> StakebenchReferences:
        """Return what baselines may know, from all texts of a run with their truth."""
        asked = {event.id for event in events if event.id.partition("/")[0] in TASKS}
        return StakebenchReferences({event.id: Item.from_json(event.payload) for event in events if event.id in asked})

    def allowed(self, view: Item) -> tuple[tuple[str, ...], ...]:
        """Return the labels of its task."""
        return (TASKS[view.task].labels,)
