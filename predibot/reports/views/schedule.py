"""Schedules and the status of a ledger, as documents, and as metrics for Prometheus."""

from collections.abc import Mapping
from datetime import datetime

from predibot.domain.schedule import SLOT_STATUSES
from predibot.jobs.status import COUNTED, STALE, LedgerStatus, ScheduleStatus
from predibot.ledger.read.standing import KnownCost
from predibot.ledger.schema.tables import SlotRow
from predibot.reports.document import Document, document, number, under

METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def slot_document(row: SlotRow) -> Document:
    """Return a slot as JSON has it."""
    late = {"late_seconds": row.late.total_seconds() if row.late is not None else None}
    before = document(row, "recipe slot=slot_at status tries started_at")
    return {**before, **late, **document(row, "ended_at next_try_at run=run_key reason")}


def schedule_document(each: ScheduleStatus) -> Document:
    """Return the schedule of a recipe as JSON has it."""
    counts, latest = each.slots.counts, each.slots.latest
    return {
        **document(each, "recipe file=stored.argument"),
        "last": slot_document(each.slots.last) if each.slots.last is not None else None,
        "last_cost": None if each.last_cost is None else _cost(each.last_cost),
        **document(each, f"expected=expected_at next=next_at {under('stored', 'paused_at tracked_at evaluated_at')}"),
        "counted_days": COUNTED.days,
        "slots": {status: counts.get(status, 0) for status in SLOT_STATUSES},
        "latest_seconds": latest.total_seconds() if latest is not None else None,
        "cost": _cost(each.cost),
        **document(each, "day_limit_usd=day_limits.usd problem"),
    }


def status_document(status: LedgerStatus) -> Document:
    """Return the status of a ledger as JSON has it."""
    service = status.service
    alive = {"alive": status.is_service_alive}
    return {
        **document(status, "at ledger problems"),
        "service": None if service is None else {**document(service, "owner started_at lease_until"), **alive},
        "schedules": [schedule_document(each) for each in status.schedules],
        "retries": document(status.retries, "open next_try_at"),
        "left_behind": [{"owner": owner, **document(held)} for owner, held in sorted(status.left_behind.items())],
        "markets": {**document(status.markets), "stale_after_hours": STALE.total_seconds() / 3600},
        **document(status, "without_tools without_search spent_today=spent"),
    }


def status_metrics(status: LedgerStatus) -> str:
    """Return the status of a ledger as Prometheus reads it: its text format, version 0.0.4."""
    lines = []
    for name, (help_text, samples) in _metrics(status).items():
        shown = [(labels, value) for labels, value in samples if value is not None]
        if shown:
            lines += [f"# HELP predibot_{name} {help_text}", f"# TYPE predibot_{name} gauge"]
            lines += [f"predibot_{name}{_labels(labels)} {float(value)!r}" for labels, value in shown]
    return "\n".join(lines) + "\n"


_Samples = list[tuple[Mapping[str, str], float | None]]


def _metrics(status: LedgerStatus) -> Mapping[str, tuple[str, _Samples]]:
    each_recipe = [({"recipe": each.recipe}, each) for each in status.schedules]
    lasts = [(labels, each.slots.last) for labels, each in each_recipe if each.slots.last is not None]
    markets, none = status.markets, dict[str, str]()
    days = COUNTED.days
    return {
        "problems": ("What somebody has to look at.", [(none, len(status.problems))]),
        "service_alive": (
            "Whether a process runs the schedules.",
            [(none, int(status.is_service_alive))],
        ),
        "last_slot_timestamp_seconds": (
            "The newest run with a row.",
            [(labels, row.slot_at.timestamp()) for labels, row in lasts],
        ),
        "last_slot_done": ("Whether it is done.", [(labels, int(row.status == "done")) for labels, row in lasts]),
        "last_slot_late_seconds": (
            "How long after its instant it began.",
            [(labels, row.late.total_seconds() if row.late is not None else None) for labels, row in lasts],
        ),
        "next_slot_timestamp_seconds": ("The run to come.", [(to, _seconds(of.next_at)) for to, of in each_recipe]),
        "slots": (
            f"Runs of the last {days} days by what became of them.",
            [
                ({**labels, "status": status}, each.slots.counts.get(status, 0))
                for labels, each in each_recipe
                for status in SLOT_STATUSES
            ],
        ),
        "cost_known_usd": (
            f"What is known of the cost of the last {days} days.",
            [(labels, each.cost.known_usd) for labels, each in each_recipe],
        ),
        "day_limit_usd": (
            "What a UTC day may cost.",
            [(labels, each.day_limits.usd if each.day_limits else None) for labels, each in each_recipe],
        ),
        "day_spent_usd": ("What was spent and is set aside on this UTC day.", [(none, status.spent.usd)]),
        "open_retries": ("Failed decisions that are tried again.", [(none, status.retries.open)]),
        "left_behind_claims": (
            "Claims of owners that are gone.",
            [(none, sum(held.claims for held in status.left_behind.values()))],
        ),
        "markets": ("Open markets of live venues.", [(none, markets.markets)]),
        "markets_stale": ("Those whose prices are old.", [(none, markets.stale)]),
        "markets_unreadable": ("Those without any price.", [(none, markets.unreadable)]),
        "tracked_until_timestamp_seconds": ("The newest price.", [(none, _seconds(markets.tracked_until))]),
    }


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def _labels(labels: Mapping[str, str]) -> str:
    shown = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items()]
    return f"{{{','.join(shown)}}}" if labels else ""


def _cost(cost: KnownCost) -> Document:
    return {
        "cost_usd": None if cost.unknown else number(cost.known_usd),
        "cost_known_usd": number(cost.known_usd),
        "unknown": cost.unknown,
    }


def _seconds(instant: datetime | None) -> float | None:
    return None if instant is None else instant.timestamp()
