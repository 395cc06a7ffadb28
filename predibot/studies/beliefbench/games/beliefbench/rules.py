"""The rules of labelling pairs: which are asked about, what is shown of each, and what is an answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from predibot.domain.decision import Subject
from predibot.domain.event import Event
from predibot.errors import UsageError
from predibot.studies.beliefbench.games.beliefbench.form import PairForm
from predibot.studies.beliefbench.games.beliefbench.reference import PairReferences
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairItem, drawn_pairs
from predibot.studies.label_game import LabelGame, frozen_item
from predibot.studies.stakebench.data_set import Rows


@dataclass(frozen=True, slots=True)
class Beliefbench(LabelGame):
    """Labels for pairs of questions: how related they are, which how their markets moved decides."""

    name: ClassVar = "beliefbench"
    item: ClassVar = PairItem
    item_noun: ClassVar = "pair"
    per_class: Annotated[int, Field(ge=1, le=100_000)] = 40
    """How many pairs of each domain and label are asked about at most."""
    domains: tuple[str, ...] = ()
    """Which domains; empty for all."""
    labels: Literal["lenient", "strict"] = "lenient"
    """Whether marks and words around a label are left out, or only the bare label is read."""

    def drawn(self, rows: Rows, seed: int) -> tuple[tuple[Event, ...], tuple[str, ...]]:
        """Return what a run asks about, each as it is frozen with it, and notes.

        Raises:
            UsageError: If the rows do not go together, or are of no such domain.
        """
        try:
            items, notes = drawn_pairs(rows, per_class=self.per_class, domains=self.domains, seed=seed)
        except ValueError as error:
            raise UsageError(f"the data set cannot be played: {error}") from None
        return tuple(frozen_item(item, " / ".join(title for title, _ in item.texts), "pair") for item in items), notes

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return one subject for each pair."""
        return tuple(Subject("pair", event.id) for event in events)

    def form(self, view: PairItem, *, price_blind: bool = False) -> PairForm:
        """Return how a label is asked for and read; no price is ever shown."""
        return PairForm(view, strict=self.labels == "strict")

    def references(self, events: Sequence[Event]) -> PairReferences:
        """Return what baselines may know, from all pairs of a run."""
        return PairReferences({event.id: PairItem.from_json(event.payload) for event in events})

    def allowed(self, view: PairItem) -> tuple[tuple[str, ...], ...]:
        """Return the labels; a judge says of what kind another's reasons are."""
        return LABELS, REASONINGS
