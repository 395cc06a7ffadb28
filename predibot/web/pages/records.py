"""The pages of records: runs, the lists of accounts and cohorts, schedules, a study's items, today, and methods."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Row

from predibot.domain.spelling import count_noun
from predibot.errors import UsageError
from predibot.jobs.accounts.cohorts import list_cohorts
from predibot.jobs.histories.ledger import ledger_history
from predibot.jobs.status import COUNTED, STALE, status_of
from predibot.ledger.read.accounts.statement import names_of_accounts
from predibot.ledger.read.details.bots import list_settled_forecasts
from predibot.ledger.read.event_lists import list_decisions
from predibot.ledger.read.labels import frozen_items, item_answers, labelled_items, runs_of_game
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.standing import costs_of_runs, open_markets, under_way
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.write.runs import StoredRun
from predibot.ledger.write.slots import read_schedules, read_slots
from predibot.reports.accounts.cohort_statement import list_grid
from predibot.reports.pictures.series import Scatter, ledger_pictures
from predibot.reports.study import Study, StudyItem, StudyPicture, StudyTables, studies
from predibot.reports.table import Table
from predibot.reports.terminal.boards.accounts import board_grid
from predibot.reports.terminal.status import headline, status_lines
from predibot.reports.terminal.study_tables import table_grid
from predibot.reports.views.methods import chapters, column_meanings, entries_of
from predibot.reports.views.schedule import schedule_document
from predibot.scoring.standing import BASELINES
from predibot.web.cache import LedgerCache
from predibot.web.drawing import Dots, curves_of, dots_of
from predibot.web.pages.page import PAGE, WebPage, alike_neighbours, grids_page, paginate, pagination, records

_SLOTS = 20
_LATE = timedelta(minutes=5)
"""Slots that began later than this are shown."""


def runs_page(cache: LedgerCache, page_: int = 1) -> WebPage:
    """Return a part of the list of runs, newest first, and which slots of schedules went wrong lately."""
    shown = paginate(cache.runs(), page_, "/runs")
    keys = tuple(each.run for each in shown["rows"])
    since = cache.clock() - COUNTED

    def read(connection: Connection) -> tuple[Mapping[tuple[str, datetime | None], Row[Any]], list[SlotRow]]:
        found = [
            each
            for schedule in read_schedules(connection)
            for each in read_slots(connection, schedule.recipe, since)
            if each.status not in ("done", "running") or (each.late is not None and each.late > _LATE)
        ]
        return costs_of_runs(connection, keys), sorted(found, key=lambda each: each.slot_at, reverse=True)

    costs, slots = cache.compute("costs", keys, lambda: cache.store.run_read(read))
    return WebPage(
        "runs",
        {**shown, "costs": costs, "slots": slots[:_SLOTS], "all_slots": len(slots), "days": COUNTED.days},
        {"slots": records(slots), "runs": records(cache.runs())},
    )


def accounts_page(cache: LedgerCache) -> WebPage:
    """Return the accounts of all bots: what they are worth over time, and the board of each game."""
    names = list(dict.fromkeys(cache.store.run_read(names_of_accounts)))
    try:
        history = cache.compute_on_part(ledger_history) if names else None
    except UsageError:
        # All runs are void.
        history = None
    charts = [
        drawn
        for name, picture in (ledger_pictures(history) if history is not None else ())
        if name.startswith("account-value")
        for drawn in curves_of(picture, cache.colour)
    ]
    grids = [board_grid(each) for each in (history.evaluation.accounts if history is not None else ())]
    return WebPage("accounts", {"names": names, "charts": charts, "grids": grids})


def cohorts_page(cache: LedgerCache) -> WebPage:
    """Return all weekly cohorts."""
    try:
        found = list_cohorts(cache.store, clock=cache.clock)
    except UsageError:
        # The menu leads here, even if nothing was played.
        found = ()
    weeks = list(dict.fromkeys(each.name for each in found))
    return grids_page("Weekly cohorts", [list_grid(found)], weeks=weeks)


def study_page(study: Study, cache: LedgerCache, run: str = "", items: bool = True) -> WebPage:
    """Return the tables of a run of a study, or of the latest; without columns of ids of items, if these are hidden."""
    keys = study.runs(cache.store)
    # The menu leads here, even if nothing was played.
    found = None
    if keys:
        found = cache.compute("study", (study.name, run), lambda: study.read(cache.store, run_key=run or None))
    title, grids, notes, items_of = study.heading, list[Table](), tuple[str, ...](), ""
    drawn, dots = list[tuple[StudyPicture, str]](), list[Dots]()
    if isinstance(found, StudyTables):
        title, notes = f"{title}: Run {found.run}", found.notes
        items_of = found.run if item_ids(cache, found.run) else ""
        grids = [table_grid(study, each) for each in found.tables]
        if not items:
            ids = frozenset(item_ids(cache, found.run))
            grids = [_without_ids(each, ids) for each in grids]
        drawn = [(each, each.svg()) for each in found.drawings]
        scatters = (picture for _, picture in found.pictures if isinstance(picture, Scatter))
        dots = [dots_of(panel, picture.across) for picture in scatters for panel in picture.panels]
    path = f"/{study.data_set}"
    return grids_page(title, grids, runs=keys, runs_path=path, notes=notes, drawn=drawn, dots=dots, items_of=items_of)


def status_page(cache: LedgerCache) -> WebPage:
    """Return the status of the schedules."""
    status = status_of(cache.store, cache.clock)
    rows = [_flatten(schedule_document(each)) for each in status.schedules]
    shown = {
        "status": status,
        "headline": headline(status),
        "lines": list(status_lines(status)),
        "under_way": decisions_under_way(cache),
    }
    return WebPage("status", shown, {"schedules": lambda: iter(rows)})


def _without_ids(grid: Table, ids: Collection[str]) -> Table:
    named = [column.header for place, column in enumerate(grid.columns) if any(row[place] in ids for row in grid.rows)]
    return grid.without(*named)


def published_status_page(cache: LedgerCache) -> WebPage:
    """Return when a site was made, from when its data is, and on which days something failed."""
    counted = [run for run in cache.runs() if not run.void]
    newest = max(counted, key=lambda run: run.slot_at)
    since = newest.slot_at - COUNTED
    found = defaultdict[date, list[str]](list)
    for run in counted:
        if run.failed and run.slot_at > since:
            every = run.recorded + run.refused + run.failed + run.abstained
            found[run.slot_at.date()].append(f"{run.recipe}: {run.failed:,} of {count_noun(every, 'decision')} failed")

    def read(connection: Connection) -> list[SlotRow]:
        listed = (read_slots(connection, each.recipe, since) for each in read_schedules(connection))
        return [each for slots in listed for each in slots if each.status in ("missed", "failed")]

    for slot in cache.store.run_read(read):
        why = f", {slot.reason}" if slot.reason else ""
        found[slot.slot_at.date()].append(f"{slot.recipe} at {slot.slot_at:%H:%M} {slot.status}{why}")
    tracked = cache.store.run_read(lambda connection: open_markets(connection, now=cache.clock(), stale=STALE))
    return WebPage(
        "published",
        {
            "on": cache.clock().date(),
            "newest": newest,
            "tracked_until": tracked.tracked_until,
            "days": COUNTED.days,
            "failed_days": len(found),
            "failed": alike_neighbours(found),
        },
    )


def _flatten(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without nested ones; their values get both names, joined by `_`."""
    found = dict[str, Any]()
    for name, value in document.items():
        inner = _flatten(value) if isinstance(value, dict) else None
        found |= {name: value} if inner is None else {f"{name}_{key}": each for key, each in inner.items()}
    return found


def items_page(cache: LedgerCache, run: str, page_: int = 1) -> WebPage:
    """Return a part of the list of the items of a run, in frozen order; raise `UsageError` if no study shows them."""
    study, show, of_run = _run_of_study(cache, run)
    ids = cache.read(labelled_items, of_run.id)
    shown = pagination(len(ids), page_, "/items", run=run)
    some = ids[(shown["page"] - 1) * PAGE : shown["page"] * PAGE]
    payloads = dict(cache.store.run_read(lambda connection: tuple(frozen_items(connection, of_run.id, some))))
    answers = cache.store.run_read(lambda connection: item_answers(connection, of_run.id, some))
    rows = [
        (id, item, _label_counts(answers[id]), sum(each.label == item.truth for each in answers[id]))
        for id in some
        for item in [show(payloads[id])]
    ]
    return WebPage("items", {**shown, "run": run, "study_path": f"/{study.data_set}", "rows": rows})


def item_page(cache: LedgerCache, run: str, subject: str) -> WebPage:
    """Return an item of a run with the answers of all bots; raise `UsageError` if there is none, or it is not shown."""
    _, show, of_run = _run_of_study(cache, run)

    def read(connection: Connection) -> tuple[str | None, Sequence[Row[Any]]]:
        payload = next((payload for _, payload in frozen_items(connection, of_run.id, [subject])), None)
        return payload, item_answers(connection, of_run.id, [subject])[subject]

    payload, answers = cache.store.run_read(read)
    if payload is None or not answers:
        raise UsageError(f"no bot of run {run[:80]!r} answered on {subject[:60]!r}")
    item = show(payload)
    return WebPage(
        "item", {"run": run, "subject": subject, "item": item, "answers": answers, "counts": _label_counts(answers)}
    )


def item_ids(cache: LedgerCache, run: str) -> tuple[str, ...]:
    """Return the ids of the items of a run, in the order in which it froze them; none where no study shows any."""
    try:
        return cache.read(labelled_items, _run_of_study(cache, run)[2].id)
    except UsageError:
        return ()


def _run_of_study(cache: LedgerCache, run: str) -> tuple[Study, Callable[[str], StudyItem], StoredRun]:
    """Return the study of a run, how it shows a payload, and the run."""
    for study in studies().values():
        if study.item is not None:
            found = next((each for each in cache.read(runs_of_game, study.name) if each.key == run), None)
            if found is not None:
                return study, partial(_show, study.item), found
    raise UsageError(f"no run {run[:80]!r} of a study that shows its texts")


def _show(show: Callable[[str], StudyItem], payload: str) -> StudyItem:
    try:
        return show(payload)
    except ValueError as error:
        raise UsageError(f"an item of the run cannot be shown: {error}") from None


def _label_counts(answers: Iterable[Any]) -> str:
    counted = Counter(each.label or each.status for each in answers)
    return ", ".join(f"{label} {n}" for label, n in sorted(counted.items(), key=lambda each: (-each[1], each[0])))


_DECISIONS = 12
_SETTLED = 15
_MARKETS = 60
"""Number of markets, the last settled ones, that surprises are looked for in."""
_SURPRISES = 10
_SURPRISING = 0.5
"""A forecast or price so far from the payout was wrong, not merely unsure."""
_UNDER_WAY = 20


@dataclass(frozen=True, slots=True)
class SettledMarket:
    """A settled market, with the forecast and the price that were farthest off."""

    last: Row[Any]
    """The last forecast on it."""
    bots: int
    worst: Row[Any] | None
    """The forecast farthest off; None if only baselines forecast, which need no knowledge."""
    has_page: bool
    """Whether somebody decided on its event, which has a page then."""
    dearest: float | None
    """The booked price farthest off; None without one."""

    @property
    def off(self) -> float:
        """Return the distance of the worst forecast from the payout of YES, 0 without one."""
        return 0.0 if self.worst is None else abs(self.worst.probability - self.worst.payout_yes)

    @property
    def price_off(self) -> float:
        """Return the distance of the farthest price from that payout, 0 without one."""
        return 0.0 if self.dearest is None else abs(self.dearest - self.last.payout_yes)


def today_page(cache: LedgerCache) -> WebPage:
    """Return what happened lately and what comes next."""
    now = cache.clock()
    newest = cache.read(list_decisions, RowFilter(), limit=_DECISIONS)
    said = cache.read(list_settled_forecasts, _MARKETS)
    settled = settled_markets(said)
    surprising = [each for each in settled if max(each.off, each.price_off) > _SURPRISING]
    surprises = sorted(surprising, key=lambda each: -max(each.off, each.price_off))[:_SURPRISES]
    return WebPage(
        "today",
        {
            "now": now,
            "rows": newest,
            "under_way": decisions_under_way(cache),
            "settled": settled[:_SETTLED],
            "looked_at": len(settled),
            "surprises": surprises,
            "status": status_of(cache.store, cache.clock),
        },
        {
            "surprises": records([each.worst or each.last for each in surprises]),
            "settled": records([each.last for each in settled[:_SETTLED]]),
            "decisions": records([each.decision for each in newest]),
        },
    )


def decisions_under_way(cache: LedgerCache) -> Sequence[Row[Any]]:
    """Return some decisions that bots are making now."""
    return cache.store.run_read(lambda connection: under_way(connection, cache.clock(), _UNDER_WAY))


def settled_markets(said: Sequence[Row[Any]]) -> list[SettledMarket]:
    """Return settled markets in order; `said` has all forecasts of one market after the other."""
    found = []
    for _, group in groupby(said, key=lambda each: (each.event_id, each.market_id)):
        own = list(group)
        thought = [each for each in own if each.strategy not in BASELINES]
        paid = own[0].payout_yes
        prices = [each.price_yes for each in own if each.price_yes is not None]
        found.append(
            SettledMarket(
                last=own[-1],
                bots=len({each.bot for each in own}),
                worst=max(thought, key=lambda each: abs(each.probability - paid), default=None),
                has_page=any(each.subject_kind == "event" for each in own),
                dearest=max(prices, key=lambda price: abs(price - paid), default=None),
            )
        )
    return found


def methods_page(_cache: LedgerCache, chapter: str = "") -> WebPage:
    """Return meanings of headers with a list of the scoring functions, or a chapter of these.

    Raises `UsageError` for an unknown chapter.
    """
    found = chapters()
    shown = next((each for each in found if each.name == chapter), None)
    if chapter and shown is None:
        raise UsageError(f"there is no chapter {chapter[:60]!r}; there are: {', '.join(each.name for each in found)}")
    shown_here = {"chapters": found, "chapter": shown, "columns": column_meanings(), "entries_of": entries_of}
    return WebPage("methods", shown_here)
