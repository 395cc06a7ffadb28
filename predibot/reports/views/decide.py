"""What `decide`, `select` and `runs` show, as data and as JSON documents."""

import hashlib
import math
from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from predibot.domain.decision import STATUSES, ReasonKind, Status
from predibot.ledger.write.decisions import StoredBet
from predibot.ledger.write.ledger_receipts import Receipt
from predibot.ledger.write.runs import StoredRun
from predibot.plugins.venues import venue_or_defaults
from predibot.reports.table import Document, document, json_value, under, values_of
from predibot.selection import Rejection, ranking_volume_usd

if TYPE_CHECKING:
    # These imports take a tenth of a second, which commands that only read a ledger need not pay.
    from predibot.contracts import OpenVenue
    from predibot.domain.event import Event
    from predibot.jobs.decide import DecideReport
    from predibot.jobs.deciding.select_events import Choice
    from predibot.ledger.read.rows_for_python import LedgerRun

Outcome = Status | Literal["skipped"]
OUTCOMES: tuple[Outcome, ...] = (*STATUSES, "skipped")
"""What became of a decision in one call: a status, or skipped because it was made before."""
RECEIPT = "number root decisions made_at"
"""Fields of a receipt that are shown."""
_RUN = "key recipe slot as_of venue game"
_OF_DECISION = "status message bot=stored.bot event_id=stored.subject_id stored_status=stored.status " + under(
    "stored", "bets unallocated_usd cost_usd cost_known_usd reason_kind failed_for_good next_try_at notes subject_kind"
)


@dataclass(frozen=True, slots=True)
class ChosenView:
    """An event that is played."""

    event_id: str
    title: str
    markets: int
    volume_1wk_usd: float | None
    volume_24h_usd: float | None = None
    """Volume of its most traded market."""
    rank_by: str = "volume_1wk"
    """The volume that events were ranked by, of a week or a day."""
    item: str = ""
    """The kind of an item of a data set, such as its task; empty for an event of a venue."""

    def document(self) -> Document:
        """Return the JSON document; it has the day's volume if events were ranked by that."""
        by_day = "" if self.rank_by == "volume_1wk" else " volume_24h_usd"
        return document(self, f"event_id title markets volume_1wk_usd{by_day}")


@dataclass(frozen=True, slots=True)
class SelectionView:
    """What `predibot select` and `decide --dry-run` show."""

    as_of: datetime
    venue: str
    selected: tuple[ChosenView, ...]
    passed_over: tuple[Rejection, ...] = ()
    notes: tuple[str, ...] = ()
    currency: str = "USD"

    def document(self) -> Document:
        """Return the JSON document."""
        chosen = [event.document() for event in self.selected]
        return {**document(self, "as_of venue currency"), "selected": chosen, **document(self, "passed_over notes")}


@dataclass(frozen=True, slots=True)
class DecisionView:
    """The decision of one bot about one event, or another subject."""

    bot: str
    event_id: str
    status: Outcome
    bets: tuple[StoredBet, ...] = ()
    unallocated_usd: float | None = None
    cost_usd: float | None = 0.0
    """None if a part is unknown."""
    cost_known_usd: float = 0.0
    message: str = ""
    stored_status: Status = "recorded"
    """Status in the ledger, which skipped decisions have too."""
    reason_kind: ReasonKind | None = None
    failed_for_good: bool = False
    next_try_at: datetime | None = None
    """When a failed decision is tried again; None for the next call, or never."""
    notes: tuple[str, ...] = ()
    subject_kind: str = "event"

    def document(self) -> Document:
        """Return the JSON document."""
        return {name: value for name, value in document(self).items() if name != "cost_known_usd"}


@dataclass(frozen=True, slots=True)
class DecideView:
    """What `predibot decide` shows."""

    run: StoredRun | None
    """None if nothing is stored, as no event of a live venue passes the rules."""
    selected: tuple[ChosenView, ...]
    passed_over: tuple[Rejection, ...]
    decisions: tuple[DecisionView, ...]
    seconds: float
    notes: tuple[str, ...] = ()
    receipt: Receipt | None = None

    @property
    def cost_usd(self) -> float | None:
        """Return what this call spent; None if a part is unknown. Skipped decisions cost nothing again."""
        costs = [decision.cost_usd for decision in self.decisions if decision.status != "skipped"]
        return None if None in costs else math.fsum(cost for cost in costs if cost is not None)

    @property
    def cost_known_usd(self) -> float:
        """Return the known part of what this call spent."""
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
            "run": None if self.run is None else document(self.run, _RUN),
            "selected": [event.document() for event in self.selected],
            "passed_over": json_value(self.passed_over),
            "decisions": [decision.document() for decision in self.decisions],
            "totals": totals,
            "receipt": None if self.receipt is None else document(self.receipt, RECEIPT),
            "notes": list(self.notes),
        }


def decide_view(report: "DecideReport") -> DecideView:
    """Return what `predibot decide` shows."""
    return DecideView(
        run=report.run if report.run.id else None,
        selected=tuple(map(_chosen_view, report.events)),
        passed_over=tuple(Rejection(**each) for each in report.run.passed_over),
        decisions=tuple(DecisionView(**values_of(each, _OF_DECISION)) for each in report.decisions),
        seconds=report.seconds,
        notes=report.notes,
        receipt=report.receipt,
    )


def selection_view(choice: "Choice", opened: "OpenVenue") -> SelectionView:
    """Return what `predibot select` shows."""
    found = choice.selection
    return SelectionView(
        as_of=opened.now,
        venue=opened.spec,
        selected=tuple(_chosen_view(event, found.rank_by) for event in found.selected),
        passed_over=found.passed_over,
        notes=choice.notes,
        currency=venue_or_defaults(opened.venue.name).currency,
    )


def run_document(run: "LedgerRun") -> Document:
    """Return one line of `predibot runs`."""
    return document(
        run, f"number key=run recipe slot=slot_at as_of venue game bots events {' '.join(STATUSES)} void_reason late"
    )


def _chosen_view(event: "Event", rank_by: str = "volume_1wk") -> ChosenView:
    by_day = event.volume_24h_usd if rank_by == "volume_24h" else ranking_volume_usd(event, "market_volume_24h")
    about, _, digest = event.description.rpartition(" ")
    is_item = digest == hashlib.sha256(event.payload.encode()).hexdigest()
    item = about.partition(" ")[0] if is_item else ""
    return ChosenView(event.id, event.title, len(event.markets), event.volume_1wk_usd, by_day, rank_by, item)
