"""Views: what a command shows, as plain data, and the JSON document made of it."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from predibot.domain.decision import STATUSES, ReasonKind, Status
from predibot.reports.document import Document, document, json_value
from predibot.selection import PassedOver

if TYPE_CHECKING:
    # What writes decisions loads the database.
    from predibot.ledger.write.decisions import StoredBet


Outcome = Status | Literal["skipped"]
OUTCOMES: tuple[Outcome, ...] = (*STATUSES, "skipped")
"""What became of a decision in one call: a status, or skipped because it was made before."""


@dataclass(frozen=True, slots=True)
class RunView:
    """The run a command is about."""

    key: str
    recipe: str
    slot: datetime
    as_of: datetime
    venue: str
    game: str


@dataclass(frozen=True, slots=True)
class ChosenView:
    """An event that is played."""

    event_id: str
    title: str
    markets: int
    """How many of its markets are played."""
    volume_1wk_usd: float | None
    volume_24h_usd: float | None = None
    """Of its most traded market."""
    rank_by: str = "volume_1wk"
    """Which of them events were ranked by, a week's or a day's."""

    def document(self) -> Document:
        """Return the JSON document; the day's volume is in it where it ranks."""
        by_day = "" if self.rank_by == "volume_1wk" else " volume_24h_usd"
        return document(self, f"event_id title markets volume_1wk_usd{by_day}")


@dataclass(frozen=True, slots=True)
class SelectionView:
    """What `predibot select` and `decide --dry-run` show."""

    as_of: datetime
    venue: str
    selected: tuple[ChosenView, ...]
    passed_over: tuple[PassedOver, ...] = ()
    notes: tuple[str, ...] = ()
    currency: str = "USD"
    """What volumes are in."""

    def document(self) -> Document:
        """Return the JSON document."""
        chosen = [event.document() for event in self.selected]
        return {**document(self, "as_of venue currency"), "selected": chosen, **document(self, "passed_over notes")}


@dataclass(frozen=True, slots=True)
class DecisionView:
    """What one bot did about one event, or another subject."""

    bot: str
    event_id: str
    status: Outcome
    bets: "tuple[StoredBet, ...]" = ()
    unallocated_usd: float | None = None
    cost_usd: float | None = 0.0
    """None where a part is unknown."""
    cost_known_usd: float = 0.0
    message: str = ""
    stored_status: Status = "recorded"
    """In the ledger, where what was made before has one too."""
    reason_kind: ReasonKind | None = None
    """Of an abstention."""
    failed_for_good: bool = False
    next_try_at: datetime | None = None
    """When one that failed is tried again unasked; None for by the next call, or never."""
    notes: tuple[str, ...] = ()
    subject_kind: str = "event"
    """What `event_id` is the id of."""

    def document(self) -> Document:
        """Return the JSON document."""
        return document(
            self,
            "bot event_id status bets unallocated_usd cost_usd message stored_status reason_kind failed_for_good "
            "next_try_at notes subject_kind",
        )


@dataclass(frozen=True, slots=True)
class ReceiptView:
    """What a run's decisions come to, as one hash."""

    number: int
    root: str
    decisions: int
    made_at: datetime


@dataclass(frozen=True, slots=True)
class DecideView:
    """What `predibot decide` shows."""

    run: RunView | None
    """None where nothing is stored, because no event of a live venue keeps the rules."""
    selected: tuple[ChosenView, ...]
    passed_over: tuple[PassedOver, ...]
    decisions: tuple[DecisionView, ...]
    seconds: float
    notes: tuple[str, ...] = ()
    receipt: ReceiptView | None = None

    @property
    def cost_usd(self) -> float | None:
        """Return what this call spent; None where a part is unknown. Skipped decisions cost nothing again."""
        costs = [decision.cost_usd for decision in self.decisions if decision.status != "skipped"]
        return None if None in costs else math.fsum(cost for cost in costs if cost is not None)

    @property
    def cost_known_usd(self) -> float:
        """Return the part of what this call spent that is known."""
        return math.fsum(decision.cost_known_usd for decision in self.decisions if decision.status != "skipped")

    def document(self) -> Document:
        """Return the JSON document."""
        seen = Counter(decision.status for decision in self.decisions)
        totals: Document = {outcome: seen[outcome] for outcome in OUTCOMES}
        totals |= document(self, "cost_usd cost_known_usd seconds")
        stored = Counter(decision.stored_status for decision in self.decisions)
        totals["stored"] = {status: stored[status] for status in STATUSES}
        totals["failed_for_good"] = sum(decision.failed_for_good for decision in self.decisions)
        return {
            "run": json_value(self.run),
            "selected": [event.document() for event in self.selected],
            "passed_over": json_value(self.passed_over),
            "decisions": [decision.document() for decision in self.decisions],
            "totals": totals,
            **document(self, "receipt notes"),
        }


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of `predibot runs`."""

    run: RunView
    bots: int
    events: int
    statuses: Mapping[str, int]
    """How many decisions have each status; one that is absent has none."""
    void_reason: str | None = None
    """Why the run was taken out of all scores; None where it counts."""
    late: int = 0
    """How many of the decisions were made after the deadline, and are in no score."""

    def document(self) -> Document:
        """Return the JSON document."""
        counts: Document = {status: self.statuses.get(status, 0) for status in STATUSES}
        return {**document(self.run), **document(self, "bots events"), **counts, **document(self, "void_reason late")}
