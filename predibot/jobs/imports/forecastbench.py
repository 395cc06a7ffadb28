"""Importing ForecastBench: each set's forecasts on markets become a day, with the markets' resolutions."""

import hashlib
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from sqlalchemy import Connection

from predibot.contracts import ProgressListener
from predibot.domain.clock import parse_instant
from predibot.domain.decision import Decision, MarketDecision
from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.price import PricePoint, Quote
from predibot.domain.resolution import Resolution
from predibot.errors import UsageError
from predibot.jobs.imports.predibench import ImportReport, Recording, import_days
from predibot.jobs.imports.predibench_files import Answer, Day, DayEvent, Replicate
from predibot.jobs.score_files.forecastbench import FORMAT, ForecastBenchRow, QuestionKey, Sets
from predibot.ledger.store import Store
from predibot.ledger.write.events import market_rows
from predibot.ledger.write.prices_and_resolutions import add_unseen_resolutions, read_resolutions

RECORDING = Recording(
    FORMAT, "imported from sets of ForecastBench: forecasts are dated by when they were due, the end of their day"
)
_NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_DUE_WITHIN = timedelta(days=1) - timedelta(seconds=1)
"""Forecasts are accepted until the end of their day."""
_NO_PRICE = "on markets without a price"


@dataclass(frozen=True, slots=True)
class SetsImportReport:
    """What was imported from sets, and what was left out."""

    imported: ImportReport
    resolutions: int
    """New ones."""
    left_out: Mapping[str, int]
    """The number of forecasts left out, by reason."""


def import_forecastbench(
    sets: Sets, *, store: Store, clock: Callable[[], datetime], listener: ProgressListener
) -> SetsImportReport:
    """Store the forecasts of sets on markets with a price, and the markets' resolutions.

    Forecasts on series of data are left out, because there is no price to compare them with.

    Raises:
        RunConflict: If the ledger has a run of the same key from elsewhere.
    """
    left_out = Counter[str]()
    taken = defaultdict[str, dict[str, dict[QuestionKey, ForecastBenchRow]]](lambda: defaultdict(dict))
    for item in _importable(sets, left_out):
        if taken[item.key.due_on][item.forecaster].setdefault(item.key, item) is not item:
            left_out["a second forecast of the same"] += 1
    if not taken:
        remedy = "Give the question set, which has prices" if _NO_PRICE in left_out else "Give sets with others"
        why = "; ".join(f"{n:,} {reason}" for reason, n in left_out.items()) or "there is none"
        raise UsageError(f"no forecast can be imported: {why}. {remedy}")
    days = [_make_day(due_on, of, sets) for due_on, of in sorted(taken.items())]
    found = import_days(RECORDING, days, store=store, clock=clock, listener=listener)
    settled = {
        _market_id(key): _make_resolution(item)
        for of in taken.values()
        for forecasts in of.values()
        for key, item in forecasts.items()
        if item.outcome is not None
    }
    now = clock()
    new = store.run_write(lambda connection: _store_resolutions(connection, settled, now))
    return SetsImportReport(found, new, dict(left_out))


def _importable(sets: Sets, left_out: Counter[str]) -> Iterator[ForecastBenchRow]:
    for each in sets.joined:
        left_out["on combinations of questions"] += each.combinations
        left_out["put in by ForecastBench where there was none"] += each.imputed
        for _, item in each.rows:
            if isinstance(item, str):
                left_out[item] += 1
            elif item.key.kind != "market":
                left_out["on series of data, which have no price"] += 1
            elif item.price is None:
                left_out[_NO_PRICE] += 1
            elif item.settled_on and item.outcome is not None and item.settled_on <= item.key.due_on:
                left_out["on markets that had resolved on the day they were due"] += 1
            else:
                yield item
    for reason in [reason for reason, n in left_out.items() if not n]:
        del left_out[reason]


def _make_day(due_on: str, of: Mapping[str, Mapping[QuestionKey, ForecastBenchRow]], sets: Sets) -> Day:
    """Return the forecasts of a date as a day: an event for each market, and a file for each forecaster."""
    decided_at = _midnight(due_on) + _DUE_WITHIN
    items = {key: item for forecasts in of.values() for key, item in forecasts.items()}
    bots = {name: _NO_NAME.sub("-", name)[:80].strip("-") or "unnamed" for name in of}
    if len(set(bots.values())) < len(bots):
        raise UsageError(
            f"forecasters of {due_on} have one name without its signs. Rename one: {', '.join(bots)[:200]}"
        )
    return Day(
        label=due_on,
        events={_market_id(key): _make_event(item, sets.titles.get(key, "")) for key, item in items.items()},
        replicates=tuple(_replicate(due_on, name, bots[name], own, decided_at) for name, own in sorted(of.items())),
        n_trace_folders=0,
    )


def _make_event(item: ForecastBenchRow, title: str) -> DayEvent:
    name, question = _market_id(item.key), title.strip() or item.key.cluster
    priced_at = _parse_instant(item.priced_at or item.key.due_on)
    point = PricePoint(min(priced_at, _midnight(item.key.due_on)), item.price or 0.0)
    market = Market(MarketRef(name), question, ("Yes", "No"), quote=Quote(point.at, history=point.price))
    payload = json.dumps({"id": name, "title": question})
    return DayEvent(Event(id=name, title=question, markets=(market,), payload=payload), {name: (point,)})


def _replicate(
    due_on: str, name: str, bot: str, forecasts: Mapping[QuestionKey, ForecastBenchRow], decided_at: datetime
) -> Replicate:
    answers = tuple(
        Answer(
            place=f"{due_on}, {name}, {_market_id(key)}",
            event_id=_market_id(key),
            started_at=decided_at,
            decided_at=decided_at,
            decision=Decision((MarketDecision(_market_id(key), item.probability),)),
            sources=(),
        )
        for key, item in forecasts.items()
    )
    written = json.dumps(sorted((_market_id(key), item.probability) for key, item in forecasts.items()))
    return Replicate(
        label=f"{due_on}, {name}",
        number=0,
        model=name,
        bot=bot,
        target_on=decided_at.date(),
        arguments={},
        sha256=hashlib.sha256(written.encode()).hexdigest(),
        answers=answers,
    )


def _store_resolutions(connection: Connection, settled: Mapping[str, Resolution], now: datetime) -> int:
    stored, rows = read_resolutions(connection, RECORDING.venue), market_rows(connection, RECORDING.venue)
    reported = {row: (settled[name],) for name, row in rows.items() if name in settled}
    return add_unseen_resolutions(connection, stored, reported, seen_at=now)


def _make_resolution(item: ForecastBenchRow) -> Resolution:
    outcome = item.outcome or 0.0
    at = _midnight(item.settled_on or item.key.due_on)
    return Resolution.of_payouts((outcome, 1.0 - outcome), at, "venue", at)


def _market_id(key: QuestionKey) -> str:
    return f"{key.source}:{key.id}"


def _midnight(day: str) -> datetime:
    return datetime.combine(_parse_instant(day).date(), time(), UTC)


def _parse_instant(text: str) -> datetime:
    try:
        return parse_instant(text)
    except ValueError as error:
        raise UsageError(f"a set has a date that is none: {error}. Take the sets as they were published") from None
