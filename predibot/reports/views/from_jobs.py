"""From what the jobs return to what commands show."""

from typing import TYPE_CHECKING

from predibot.ledger.write.receipts import Receipt
from predibot.ledger.write.runs import RunSummary, StoredRun
from predibot.plugins.venues import known_venue
from predibot.reports.views.decide import (
    ChosenView,
    DecideView,
    DecisionView,
    ReceiptView,
    RunRow,
    RunView,
    SelectionView,
)
from predibot.selection import PassedOver, ranked_by_usd

if TYPE_CHECKING:
    # What decides costs a tenth of a second, which who only reads does not pay.
    from predibot.contracts import OpenVenue
    from predibot.jobs.decide import DecideReport, DecisionReport
    from predibot.jobs.deciding.select_events import Choice


def decide_view(report: "DecideReport") -> DecideView:
    """Return what `predibot decide` shows."""
    return DecideView(
        run=run_view(report.run) if isinstance(report.run, StoredRun) else None,
        selected=tuple(
            ChosenView(event.id, event.title, len(event.markets), event.volume_1wk_usd) for event in report.events
        ),
        passed_over=tuple(PassedOver(**each) for each in report.run.passed_over),
        decisions=tuple(_decision_view(decision) for decision in report.decisions),
        seconds=report.seconds,
        notes=report.notes,
        receipt=receipt_view(report.receipt),
    )


def receipt_view(receipt: Receipt | None) -> ReceiptView | None:
    """Return what is shown of a receipt."""
    return ReceiptView(receipt.number, receipt.root, len(receipt.leaves), receipt.made_at) if receipt else None


def selection_view(choice: "Choice", opened: "OpenVenue") -> SelectionView:
    """Return what `predibot select` shows."""
    return SelectionView(
        as_of=opened.now,
        venue=opened.spec,
        selected=tuple(
            ChosenView(
                event.id,
                event.title,
                len(event.markets),
                event.volume_1wk_usd,
                event.volume_24h_usd
                if choice.selection.rank_by == "volume_24h"
                else ranked_by_usd(event, "market_volume_24h"),
                choice.selection.rank_by,
            )
            for event in choice.selection.selected
        ),
        passed_over=choice.selection.passed_over,
        notes=choice.notes,
        currency=known_venue(opened.venue.name).currency,
    )


def run_row(summary: RunSummary) -> RunRow:
    """Return one line of `predibot runs`."""
    return RunRow(
        run=run_view(summary.run),
        bots=len(summary.bots),
        events=summary.events,
        statuses=summary.decisions,
        void_reason=summary.run.void_reason,
        late=summary.late,
    )


def run_view(run: StoredRun) -> RunView:
    """Return what is shown of a run."""
    return RunView(run.key, run.recipe, run.slot_at, run.as_of, run.venue, run.game)


def _decision_view(report: "DecisionReport") -> DecisionView:
    stored = report.stored
    return DecisionView(
        bot=stored.bot,
        event_id=stored.subject_id,
        status=report.status,
        bets=stored.bets,
        unallocated_usd=stored.unallocated_usd,
        cost_usd=stored.cost_usd,
        cost_known_usd=stored.cost_known_usd,
        message=report.message,
        stored_status=stored.status,
        reason_kind=stored.reason_kind,
        failed_for_good=stored.failed_for_good,
        next_try_at=stored.next_try_at,
        notes=stored.notes,
        subject_kind=stored.subject_kind,
    )
