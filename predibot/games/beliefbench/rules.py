"""The rules of labelling pairs: which are asked about, what is shown of each, and what is an answer."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from predibot.domain.account import Account
from predibot.domain.account_past import AccountPast
from predibot.domain.decision import Booking, Decision, Subject
from predibot.domain.event import Event
from predibot.domain.price import Instrument, Price
from predibot.errors import UsageError
from predibot.games.answers import booked_label
from predibot.games.beliefbench.form import PairForm
from predibot.games.beliefbench.reference import PairReferences
from predibot.games.fills import FillModel
from predibot.text_tasks.data_set import Rows
from predibot.text_tasks.pairs import LABELS, REASONINGS, PairItem, drawn_pairs


@dataclass(frozen=True, slots=True)
class Beliefbench:
    """Labels for pairs of questions: how related they are, which how their markets moved decides."""

    name: ClassVar = "beliefbench"
    stake_usd: ClassVar = 0.0
    """Nothing is bet."""
    scores: ClassVar = ("labels",)
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
        return tuple(map(_frozen, items)), notes

    def subjects(self, events: Sequence[Event]) -> tuple[Subject, ...]:
        """Return one subject for each pair."""
        return tuple(Subject("pair", event.id) for event in events)

    def view(
        self,
        subject: Subject,
        events: Sequence[Event],
        *,
        venue: str,
        account: Account | None = None,
        past: AccountPast | None = None,
    ) -> PairItem:
        """Return what a bot is shown: titles and descriptions."""
        found = next((event for event in events if event.id == subject.id), None)
        if found is None:
            raise UsageError(
                f"{subject.kind} {subject.id!r} is no pair of this run; game {self.name!r} asks about those"
            )
        return PairItem.from_json(found.payload)

    def form(self, view: PairItem, *, price_blind: bool = False) -> PairForm:
        """Return how a label is asked for and read; no price is ever shown."""
        return PairForm(view, strict=self.labels == "strict")

    def references(self, events: Sequence[Event]) -> PairReferences:
        """Return what baselines may know, from all pairs of a run."""
        return PairReferences({event.id: PairItem.from_json(event.payload) for event in events})

    def book(
        self,
        answer: Decision,
        view: PairItem,
        account: Account | None,
        quotes: Mapping[Instrument, Price],
        fills: FillModel,
    ) -> Booking:
        """Return that nothing was bet, if the answer is one allowed label of the pair that was shown.

        Raises:
            AnswerError: If it is anything else.
        """
        # A judge says of what kind another's reasons are.
        return booked_label(answer, view.subject_id, LABELS, REASONINGS)


def _frozen(item: PairItem) -> Event:
    """Return an item as an event; its description holds the digest of all of it, which receipts then vouch for."""
    payload = item.as_json()
    digest = hashlib.sha256(payload.encode()).hexdigest()
    title = " / ".join(title for title, _ in item.texts)
    return Event(item.id, title, (), description=f"pair {digest}", payload=payload)
