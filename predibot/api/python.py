"""The Python interface: the commands as functions that return typed rows and print nothing.

Import these names from `predibot` itself; each loads at first use.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from os import PathLike, fspath
from typing import Literal, Self

from sqlalchemy import Connection

from predibot.api.decide import decide as decide_run
from predibot.api.decide import replay as replay_plan
from predibot.config import load_settings
from predibot.contracts import ProgressListener
from predibot.domain.decision import STATUSES
from predibot.domain.sizing import SIZINGS
from predibot.domain.spelling import did_you_mean
from predibot.environment import DEFAULT_LEDGER
from predibot.errors import UsageError
from predibot.jobs.caller import Caller, wall_clock
from predibot.jobs.deciding.activity import ignore_progress
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.evaluate import evaluate_stored
from predibot.jobs.open_venue import find_recipe_name
from predibot.jobs.replay.replay import ReplayInstant, plan_replay
from predibot.ledger.read.accounts.cohorts import LedgerCohort, select_cohorts
from predibot.ledger.read.labels import LedgerItem, LedgerLabel, item_rows, label_rows, labelled_items
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import (
    LedgerDecision,
    LedgerForecast,
    LedgerRun,
    select_decisions,
    select_forecasts,
    select_runs,
)
from predibot.ledger.store import Store
from predibot.ledger.url import sqlite_address
from predibot.ledger.write.claims import RETRIES, Retry
from predibot.ledger.write.runs import StoredRun, bots_by_recipe, read_runs
from predibot.reports.study import StudyTables, studies
from predibot.reports.table import values_of
from predibot.reports.terminal.replay import replay_view
from predibot.reports.views.decide import DecideView, decide_view
from predibot.reports.views.evaluation import ScoreRow, score_rows
from predibot.reports.views.leaderboard import LeaderboardRow, leaderboard
from predibot.rows import Cells, Kind, Rows, RowT, columns_of, rows_of
from predibot.scoring.evaluation.evaluation import CLUSTERINGS, PARTINGS, Evaluation, Question
from predibot.scoring.evaluation.scorecard import HORIZONS_DAYS
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import convention_named
from predibot.scoring.records.knowledge import Knowledge
from predibot.scoring.records.part import Part

Address = str | PathLike[str]
"""The URL of a SQLite or PostgreSQL ledger, or the path of a SQLite file."""

_MOST_DAYS = 3650
_LEAST_RESAMPLES = 100
"""The least that `predibot evaluate` accepts; fewer make no interval."""
_RANKED: tuple[Knowledge, ...] = ("clean", "unknown")
"""Kinds of knowledge with a ranking of their own."""
_LEADERBOARD = ("evidence", "curves")
"""The slow parts of an evaluation that the leaderboard shows."""


class Scores(Rows[ScoreRow]):
    """How good the bots were: one row a bot, or one row for each part of its decisions.

    As a table it has the columns of `predibot evaluate --csv`, after `knowledge`.
    """

    __slots__ = ("evaluation",)

    def __init__(self, evaluation: Evaluation) -> None:
        """Keep an evaluation, with pairs, notes and everything else that is no row."""
        rows = score_rows(evaluation)
        columns = _score_columns([row.cells() for row in rows])
        super().__init__(rows, columns, lambda row: {**dict.fromkeys(columns), **row.cells()})
        self.evaluation = evaluation

    def leaderboard(self, knowledge: Knowledge = "clean") -> Rows[LeaderboardRow]:
        """Return the leaderboard, best bot first.

        Args:
            knowledge: `clean`, or `unknown` for the separate ranking of models without a known cutoff.

        Raises:
            UsageError: If `knowledge` is neither.
        """
        _check_known("knowledge", [knowledge], _RANKED)
        ranking = self.evaluation.rankings.get(knowledge)
        rows = () if ranking is None else leaderboard(ranking)
        return Rows(rows, _LEADERBOARD_COLUMNS, _leaderboard_cells)


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of a replay."""

    instants: Rows[ReplayInstant]
    scores: Scores
    notes: tuple[str, ...]


class Ledger:
    """A ledger open for reading; `close` or the end of a `with` closes it."""

    def __init__(self, store: Store) -> None:
        """Wrap an open store; use `open_ledger`."""
        self._store = store

    @property
    def address(self) -> str:
        """Return its URL without passwords."""
        return self._store.address

    def runs(self) -> Rows[LedgerRun]:
        """Return all runs, void ones too, oldest slot first.

        Raises:
            LedgerUnusable: If the database cannot be read; the same holds for all methods below.
        """
        return rows_of(LedgerRun, self._store.run_read(select_runs))

    def decisions(
        self,
        *,
        run: str | None = None,
        recipe: str | None = None,
        bots: Sequence[str] = (),
        as_of: datetime | None = None,
        void: bool = False,
    ) -> Rows[LedgerDecision]:
        """Return decisions by slot, bot and event, with those that were refused, failed or abstained.

        Args:
            run: Only of the run with this key.
            recipe: Only of runs of the recipe with this name.
            bots: Only of these; empty for all.
            as_of: Nothing that was decided or settled later is seen; None for all that is stored.
            void: Whether to include runs that were taken out of all scores.

        Raises:
            UsageError: If there is no such run, recipe or bot, or the instant has no time zone.
        """
        asked = self._row_filter(run, recipe, bots, as_of, void)
        return rows_of(LedgerDecision, self._store.run_read(partial(select_decisions, row_filter=asked)))

    def forecasts(
        self,
        *,
        run: str | None = None,
        recipe: str | None = None,
        bots: Sequence[str] = (),
        as_of: datetime | None = None,
        void: bool = False,
    ) -> Rows[LedgerForecast]:
        """Return forecasts by slot, bot, event and market, with their bets and what the markets paid.

        Arguments and errors are those of `decisions`.
        """
        asked = self._row_filter(run, recipe, bots, as_of, void)
        return rows_of(LedgerForecast, self._store.run_read(partial(select_forecasts, row_filter=asked)))

    def cohorts(self, *, recipe: str | None = None, as_of: datetime | None = None) -> Rows[LedgerCohort]:
        """Return the result of each bot in each weekly cohort, archived ones too; nothing in a ledger without any.

        Args:
            recipe: Only of the recipe with this name.
            as_of: Nothing that was booked, valued or settled later is seen; None for all that is stored.

        Raises:
            UsageError: If there is no such recipe, or the instant has no time zone.
        """
        row_filter = self._row_filter(None, recipe, (), as_of, False)
        found = self._store.run_read(partial(select_cohorts, recipe=row_filter.recipe, as_of=row_filter.as_of))
        return rows_of(LedgerCohort, found)

    def labels(self, *, run: str | None = None, bots: Sequence[str] = ()) -> Rows[LedgerLabel]:
        """Return what bots answered on texts and pairs, without void runs; nothing in a ledger without text games.

        Args:
            run: Only of the run with this key.
            bots: Only of these; empty for all.

        Raises:
            UsageError: If there is no such run or bot.
        """
        row_filter = self._row_filter(run, None, bots, None, False)
        found = self._of_label_runs(label_rows, row_filter.run)
        return rows_of(LedgerLabel, (each for each in found if not row_filter.bots or each.bot in row_filter.bots))

    def items(self, *, run: str | None = None) -> Rows[LedgerItem]:
        """Return the texts and pairs that bots labelled, with the right labels, without void runs.

        As a table each field is a column, such as `truth_label` of the right label's parts; a list is JSON.

        Args:
            run: Only of the run with this key.

        Raises:
            UsageError: If there is no such run.
        """
        found = self._of_label_runs(item_rows, self._row_filter(run, None, (), None, False).run)
        return _frame(found, lambda each: {**each.fields, "run": each.run, "game": each.game, "item": each.item})

    def tables(self, study: str, *, run: str | None = None) -> Mapping[str, Rows[Cells]]:
        """Return the tables of a study by name, as `predibot tables` has them; each is a frame with its columns.

        Args:
            study: Such as `stakebench` or `beliefbench`.
            run: The key of a run; None for the latest.

        Raises:
            UsageError: If there is no such study or run.
        """
        known = studies()
        _check_known("study", [study], list(known))
        found = known[study].read(self._store, run_key=run)
        if not isinstance(found, StudyTables):
            raise UsageError(f"study {study} has no tables without options; ask for them by `predibot tables {study}`")
        return {
            table.name: _frame([dict(zip(table.columns, row, strict=True)) for row in table.rows], dict)
            for table in found.tables
        }

    def _of_label_runs(self, read: Callable[[Connection, StoredRun], Iterator[RowT]], run: str | None) -> list[RowT]:
        def read_all(connection: Connection) -> list[RowT]:
            named = [each for each in read_runs(connection) if each.voided_at is None and run in (None, each.key)]
            labelled = [each for each in named if labelled_items(connection, each.id)]
            return [row for each in labelled for row in read(connection, each)]

        return self._store.run_read(read_all)

    def evaluate(
        self,
        *,
        recipe: str | None = None,
        bots: Sequence[str] = (),
        venue: str | None = None,
        as_of: datetime | None = None,
        horizons_days: Sequence[float] = HORIZONS_DAYS,
        by: str | None = None,
        delays_days: Sequence[float] = (),
        sizings: Sequence[str] = (),
        convention: str = "predibot",
        resamples: int = 10_000,
        seed: int = 0,
        archived: bool = False,
        clusters: Literal["event", "related"] = "event",
    ) -> Scores:
        """Return how good the bots were by what is stored; no venue is asked, so run `predibot track` before.

        Args:
            recipe: Only runs of this recipe; None for all.
            bots: Only these; empty for all.
            venue: Where the runs were made; needed where a ledger has runs of several worlds.
            as_of: Nothing later is seen; None is the end of a sandbox, else now.
            horizons_days: Of the returns, in days after the decision, each above 0.
            by: `event`, `category`, `month`, `lead_time` or `confidence`: one row for each such part of a bot's
                decisions.
            delays_days: Adds what decisions would have earned so many days late, as `evaluation.delays`.
            sizings: Adds what other bets on the same forecasts would have earned, as `evaluation.sizings`.
            convention: How annual figures are made.
            resamples: Draws behind each interval, at least 100.
            seed: Of those draws.
            archived: Whether archived cohorts count too, in `evaluation.cohorts`.
            clusters: `related` adds the same with related events joined, as `evaluation.joined`.

        Raises:
            UsageError: If an argument is unknown or out of range, or the ledger has no run that counts.
        """
        if by is not None:
            _check_known("by", [by], PARTINGS)
        if not isinstance(resamples, int) or resamples < _LEAST_RESAMPLES:
            raise UsageError(f"resamples is {resamples!r}; give a whole number of at least {_LEAST_RESAMPLES}")
        _check_known("sizings", _check_names("sizings", sizings), tuple(SIZINGS))
        for name, days in (("horizons_days", horizons_days), ("delays_days", delays_days)):
            if any(not 0 < day <= _MOST_DAYS for day in days) or len(set(days)) < len(days):
                message = f"{name} is {list(days)}; give numbers of days above 0 and at most {_MOST_DAYS}, each once"
                raise UsageError(message)
        _check_known("clusters", [clusters], CLUSTERINGS)
        try:
            question = Question(
                horizons_days=tuple(float(day) for day in horizons_days),
                convention=convention_named(convention),
                uncertainty=Uncertainty(seed=seed, resamples=resamples),
                grouping=by,
                delays_days=tuple(float(day) for day in delays_days),
                sizings=tuple(sizings),
                archived=archived,
                clusters=clusters,
            )
        except ValueError as error:
            raise UsageError(str(error)) from None
        return Scores(self._evaluate_part(recipe, bots, venue, as_of, question))

    def leaderboard(
        self,
        *,
        recipe: str | None = None,
        bots: Sequence[str] = (),
        venue: str | None = None,
        as_of: datetime | None = None,
        knowledge: Knowledge = "clean",
    ) -> Rows[LeaderboardRow]:
        """Return the first table of `predibot report`, best bot first.

        Args:
            recipe: As for `evaluate`, and so are bots, venue and as_of.
            knowledge: `clean`, or `unknown` for the separate ranking of models without a known cutoff.

        Raises:
            UsageError: As for `evaluate`.
        """
        _check_known("knowledge", [knowledge], _RANKED)
        question = Question(wanted=_LEADERBOARD)
        return Scores(self._evaluate_part(recipe, bots, venue, as_of, question)).leaderboard(knowledge)

    def close(self) -> None:
        """Close the database."""
        self._store.close()

    def __enter__(self) -> Self:
        """Return the ledger itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the ledger."""
        self.close()

    def __repr__(self) -> str:
        """Return its address as it may be shown."""
        return f"<ledger {self.address}>"

    def _evaluate_part(
        self, recipe: str | None, bots: Sequence[str], venue: str | None, as_of: datetime | None, question: Question
    ) -> Evaluation:
        part = Part(recipe=recipe, bots=_check_names("bots", bots), venue=venue, as_of=_in_utc("as_of", as_of))
        return evaluate_stored(self._store, part, question, clock=wall_clock)

    def _row_filter(
        self, run: str | None, recipe: str | None, bots: Sequence[str], as_of: datetime | None, void: bool
    ) -> RowFilter:
        bots = _check_names("bots", bots)
        keys = [each.key for each in self._store.run_read(read_runs)]
        if run is not None and run not in keys:
            raise UsageError(f"no run holds the key {run!r}. {did_you_mean(run, keys)}")
        name = find_recipe_name(recipe, bots, self._store.run_read(bots_by_recipe))
        return RowFilter(run=run, recipe=name, bots=bots, as_of=_in_utc("as_of", as_of), void=void)


def open_ledger(address: Address = DEFAULT_LEDGER) -> Ledger:
    """Open a ledger for reading; nothing in it is changed or upgraded.

    Args:
        address: A sqlite or postgresql URL, or the path of a SQLite file as a `pathlib.Path`.

    Raises:
        UsageError: If it is not the address of a ledger.
        LedgerUnusable: If it is missing, of another version, or cannot be reached.
    """
    return Ledger(Store.open_to_read(_url(address)))


def decide(
    recipe: Address | None = None,
    *,
    ledger: Address = DEFAULT_LEDGER,
    venue: str | None = None,
    as_of: datetime | None = None,
    bots: Sequence[str] = (),
    models: Sequence[str] = (),
    events: int | None = None,
    event: str | None = None,
    min_volume_24h_usd: float | None = None,
    min_hours_left: float | Literal["any"] | None = None,
    max_markets: int | None = None,
    retry: Collection[Retry] = (),
    new_run: bool = False,
    strict: bool = False,
    listener: ProgressListener | None = None,
) -> DecideView:
    """Choose or resume the run of the slot, make every missing decision, and return the view that `decide` shows.

    It can be repeated after any interruption: each decision is made once. Failed and refused decisions are in the
    result and raise nothing.

    Args:
        recipe: A recipe's file or name; None is `runs/daily.toml` or else the packaged daily.
        ledger: A missing SQLite file is made.
        venue: As `predibot decide --help` writes them, such as `archive:FOLDER`; None is the recipe's.
        as_of: Nothing later is seen; not for a live venue.
        bots: Only these of the recipe's bots, or of all strategies; empty for all of the recipe.
        models: A bot is added for each, such as `openai/gpt-5`, as by `--model`.
        events: How many events to play, above 0; None is the recipe's number, as for the next three rules.
        event: The id of the only event to play.
        min_volume_24h_usd: Least volume of the last 24 hours.
        min_hours_left: Least time to an event's end; `any` also past it.
        max_markets: Most markets of an event; 0 for all.
        retry: `failed`, `abstained` or both: try those decisions again at once.
        new_run: Whether to start another run in the same slot.
        strict: Whether to begin nothing where a single bot cannot play, such as one without its key.
        listener: Hears of each decision, from several threads.

    Raises:
        UsageError: If an argument or the recipe cannot be used, or no bot with a model can play; `RecipeError` says
            where the recipe is wrong.
        RunConflict: If the slot's run was made with another recipe, venue or limits.
        VenueError: If the venue's list could not be read whole.
        LedgerError: If the ledger fails; what is recorded stays.
    """
    request = replace(
        _request(recipe, bots, models, events, min_volume_24h_usd, min_hours_left, max_markets),
        event_id=event,
        new_run=new_run,
        strict=strict,
        beside="give new_run=True",
        retry=_check_retries(retry),
    )
    with decide_run(
        request,
        _caller(listener),
        ledger=_url(ledger),
        venue=venue,
        as_of=_in_utc("as_of", as_of),
        watching=lambda: nullcontext((listener or ignore_progress, ignore_progress)),
    ) as report:
        return decide_view(report)


def replay(
    recipe: Address | None = None,
    *,
    ledger: Address = DEFAULT_LEDGER,
    venue: str | None = None,
    first: datetime | None = None,
    last: datetime | None = None,
    every: timedelta | None = None,
    as_of: datetime | None = None,
    bots: Sequence[str] = (),
    models: Sequence[str] = (),
    events: int | None = None,
    min_volume_24h_usd: float | None = None,
    min_hours_left: float | Literal["any"] | None = None,
    max_markets: int | None = None,
    retry: Collection[Retry] = (),
    listener: ProgressListener | None = None,
    told: Callable[[ReplayInstant], None] | None = None,
) -> Replay:
    """Decide at one instant of the past after the other, track, and return how good the bots were.

    It can be repeated after any interruption: stored decisions stay as they are.

    Args:
        recipe: As for `decide`, and so are ledger, bots, models, events, the limits and retry.
        venue: `archive:FOLDER` or `sandbox[:seed=7,...]`; None is the recipe's.
        first: The first instant; None is the first of the venue.
        last: No instant is later; None is the last of the venue.
        every: The time between two instants; None is the recipe's.
        as_of: When the bots are evaluated; None is the end of what the venue knows.
        listener: Hears of each decision and price history, from several threads.
        told: Called after each instant.

    Raises:
        UsageError: If an argument or the recipe cannot be used, or the venue is live.
        RunConflict: If a slot was decided with another recipe, venue or limits.
        VenueError: If the past cannot be read.
        LedgerError: If the ledger fails; what is recorded stays.
    """
    if every is not None and not (isinstance(every, timedelta) and every > timedelta(0)):
        raise UsageError(f"every is {every!r}; give a timedelta above 0")
    request = _request(recipe, bots, models, events, min_volume_24h_usd, min_hours_left, max_markets)
    plan = plan_replay(
        replace(request, retry=_check_retries(retry)),
        venue=venue,
        first=_in_utc("first", first),
        last=_in_utc("last", last),
        every=every,
        as_of=_in_utc("as_of", as_of),
        settings=load_settings(),
        clock=wall_clock,
    )
    with replay_plan(plan, _caller(listener), ledger=_url(ledger), told=told or ignore_progress) as (done, _):
        played = Rows(done.played, _PLAYED_COLUMNS, _played_cells)
        return Replay(played, Scores(done.evaluation), replay_view(done).notes)


def _request(
    recipe: Address | None,
    bots: Sequence[str],
    models: Sequence[str],
    events: int | None,
    min_volume_24h_usd: float | None,
    min_hours_left: float | Literal["any"] | None,
    max_markets: int | None,
) -> RunRequest:
    overrides = {
        "events": events,
        "min_volume_24h_usd": min_volume_24h_usd,
        "min_hours_left": min_hours_left,
        "max_markets": max_markets,
    }
    named = None if recipe is None else fspath(recipe)
    return RunRequest.read(named, overrides, _check_names("bots", bots), _check_names("models", models))


def _check_retries(retries: Collection[Retry]) -> frozenset[Retry]:
    if isinstance(retries, str):
        raise UsageError(f"retry is the text {retries!r}; give a list: [{retries!r}]")
    _check_known("retry", tuple(retries), RETRIES)
    return frozenset(retries)


def _check_known(argument: str, words: Sequence[str], known: Sequence[str]) -> None:
    for word in words:
        if word not in known:
            raise UsageError(f"{argument} has no {word!r}. {did_you_mean(word, known)}")


def _check_names(argument: str, names: Sequence[str]) -> Sequence[str]:
    """Return names; refuse a single text, whose letters would be taken for names."""
    if isinstance(names, str):
        raise UsageError(f"{argument} is the text {names!r}; give a list: [{names!r}]")
    return names


def _in_utc(argument: str, instant: datetime | None) -> datetime | None:
    """Return an instant in UTC; refuse one without a time zone, which could be any of several."""
    if instant is None:
        return None
    if not isinstance(instant, datetime):
        raise UsageError(f"{argument} is {instant!r}; give a datetime with a time zone")
    if instant.tzinfo is None:
        raise UsageError(f"{argument} is {instant}, without a time zone; give it one, such as datetime.UTC")
    return instant.astimezone(UTC)


def _url(address: Address) -> str:
    return address if isinstance(address, str) else sqlite_address(address)


def _caller(listener: ProgressListener | None) -> Caller:
    return Caller(load_settings, wall_clock, ignore_progress, lambda: nullcontext(listener or ignore_progress))


def _score_columns(table: Sequence[Cells]) -> dict[str, Kind]:
    names = dict.fromkeys(name for cells in table for name in cells) or ("knowledge", "bot")
    return {name: _column_kind([cells.get(name) for cells in table]) for name in names}


def _frame(rows: Iterable[RowT], cells_of: Callable[[RowT], Cells]) -> Rows[RowT]:
    """Return rows of strangers' fields: what has parts is JSON, and a column of texts and numbers is text."""
    kept = list(rows)
    kinds = _score_columns([_plain(cells_of(row)) for row in kept]) if kept else {}

    def cells(row: RowT) -> Cells:
        found = {**dict.fromkeys(kinds), **_plain(cells_of(row))}
        return {name: cell if cell is None or kinds[name] is not str else str(cell) for name, cell in found.items()}

    return Rows(kept, kinds, cells)


def _plain(cells: Cells) -> Cells:
    """Return cells without parts: of a mapping each value is a cell, a list is JSON."""
    found: dict[str, object] = {}
    for name, value in cells.items():
        parts = {f"{name}_{key}": each for key, each in value.items()} if isinstance(value, dict) else {name: value}
        for path, part in parts.items():
            found[path] = json.dumps(part, ensure_ascii=False) if isinstance(part, dict | list) else part
    return found


def _column_kind(cells: Sequence[object]) -> Kind:
    kinds = {type(cell) for cell in cells if cell is not None}
    if len(kinds) == 1:
        return kinds.pop()
    return float if kinds <= {int, float} else str


_VERDICT = (
    "verdict=verdict.finding.value verdict_e_value=verdict.e_value verdict_events_needed=verdict.events_needed "
    "verdict_more_than=verdict.needed.more_than verdict_moved_like=verdict.moved_like"
)
_REPLICATES = (
    "replicates=replicates.count replicates_edge_low=replicates.edge.low replicates_edge_high=replicates.edge.high"
)


def _leaderboard_columns() -> dict[str, Kind]:
    verdict_columns: dict[str, Kind] = {"verdict": str, "verdict_e_value": float}
    verdict_columns |= {"verdict_events_needed": int, "verdict_more_than": bool, "verdict_moved_like": float}
    replicate_columns: dict[str, Kind] = {"replicates": int}
    replicate_columns |= dict.fromkeys(("replicates_edge_low", "replicates_edge_high"), float)
    apart = {"verdict": verdict_columns, "replicates": replicate_columns}
    columns: dict[str, Kind] = {}
    for name, kind in columns_of(LeaderboardRow).items():
        columns.update(apart.get(name, {name: kind}))
    return columns


def _leaderboard_cells(row: LeaderboardRow) -> Cells:
    plain = {field.name: getattr(row, field.name) for field in fields(row)}
    return {**plain, **values_of(row, _VERDICT), **values_of(row, _REPLICATES)}


_LEADERBOARD_COLUMNS = _leaderboard_columns()
_PLAYED_COLUMNS: dict[str, Kind] = {
    "instant": datetime,
    "run": str,
    "as_of": datetime,
    "events": int,
    **dict.fromkeys(STATUSES, int),
    "made_here": int,
    "undecided": int,
    "notes": tuple[str, ...],
}


def _played_cells(played: ReplayInstant) -> Cells:
    statuses: dict[str, object] = {status: played.statuses.get(status, 0) for status in STATUSES}
    return {**values_of(played, "instant=at run=run_key as_of events made_here undecided notes"), **statuses}
