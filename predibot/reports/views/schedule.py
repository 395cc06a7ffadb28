"""Schedules and the status of a ledger, as documents, and as metrics for Prometheus."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from sqlalchemy import Row

from predibot.domain.schedule import SLOT_STATUSES
from predibot.jobs.status import COUNTED, STALE, LedgerStatus, ScheduleStatus
from predibot.ledger.schema.tables import SlotRow
from predibot.reports.table import Document, document, number, under, value_of

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
    markets, claims = status.markets, sum(held.claims for held in status.left_behind.values())
    days, begun = COUNTED.days, [each for each in status.schedules if each.slots.last is not None]

    def of_all(value: float | None) -> _Samples:
        return [({}, value)]

    def of_each(path: str, schedules: Sequence[ScheduleStatus] = status.schedules) -> _Samples:
        return [({"recipe": each.recipe}, _in_seconds(value_of(each, path))) for each in schedules]

    by_status: _Samples = [
        ({"recipe": each.recipe, "status": name}, each.slots.counts.get(name, 0))
        for each in status.schedules
        for name in SLOT_STATUSES
    ]
    done: _Samples = [({"recipe": each.recipe}, float(value_of(each, "slots.last.status") == "done")) for each in begun]
    return {
        "problems": ("What somebody has to look at.", of_all(len(status.problems))),
        "service_alive": ("Whether a process runs the schedules.", of_all(status.is_service_alive)),
        "last_slot_timestamp_seconds": ("The newest run with a row.", of_each("slots.last.slot_at", begun)),
        "last_slot_done": ("Whether it is done.", done),
        "last_slot_late_seconds": ("How long after its instant it began.", of_each("slots.last.late", begun)),
        "next_slot_timestamp_seconds": ("The run to come.", of_each("next_at")),
        "slots": (f"Runs of the last {days} days by what became of them.", by_status),
        "cost_known_usd": (f"What is known of the cost of the last {days} days.", of_each("cost.known_usd")),
        "day_limit_usd": ("What a UTC day may cost.", of_each("day_limits.usd")),
        "day_spent_usd": ("What was spent and is set aside on this UTC day.", of_all(status.spent.usd)),
        "open_retries": ("Failed decisions that are tried again.", of_all(status.retries.open)),
        "left_behind_claims": ("Claims of owners that are gone.", of_all(claims)),
        "markets": ("Open markets of live venues.", of_all(markets.markets)),
        "markets_stale": ("Those whose prices are old.", of_all(markets.stale)),
        "markets_unreadable": ("Those without any price.", of_all(markets.unreadable)),
        "tracked_until_timestamp_seconds": ("The newest price.", of_all(_in_seconds(markets.tracked_until))),
    }


_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


def _labels(labels: Mapping[str, str]) -> str:
    shown = [f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items()]
    return f"{{{','.join(shown)}}}" if labels else ""


def _cost(cost: Row[float, int]) -> Document:
    return {
        "cost_usd": None if cost.unknown else number(cost.known_usd),
        "cost_known_usd": number(cost.known_usd),
        "unknown": cost.unknown,
    }


def _in_seconds(value: datetime | timedelta | float | None) -> float | None:
    """Return an instant as seconds since 1970, a length of time in seconds, and a number as it is."""
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value.timestamp() if isinstance(value, datetime) else value
