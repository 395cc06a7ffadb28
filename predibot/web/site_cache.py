"""A cache for a whole site, which reads the rows of many events at once."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Concatenate, TypeVar, cast

from sqlalchemy import Connection

from predibot.jobs.histories.bot import bot_history, gains_of_bot
from predibot.jobs.histories.ledger import edge_history, ledger_history
from predibot.jobs.histories.pair import shared_questions
from predibot.jobs.histories.snapshot import PartSnapshot, take_snapshot
from predibot.ledger.read.details.decisions import DecisionDetails, details_of
from predibot.ledger.read.details.events import news_of_events, revisions_of
from predibot.ledger.read.event_facts import events_of_ids
from predibot.ledger.read.event_lists import ListedDecision, list_decisions
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import (
    LedgerDecision,
    LedgerForecast,
    select_decisions,
    select_forecasts,
    select_prices,
    select_with_forecasts,
)
from predibot.rows import grouped
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.web.cache import LedgerCache, P, Value
from predibot.web.pages.leaderboard import TABLES_ASK
from predibot.web.pages.page import PAGE

_LISTED_AT_ONCE = 20 * PAGE
Row = TypeVar("Row", LedgerDecision, LedgerForecast)


@dataclass
class SiteCache(LedgerCache):
    """A cache that reads the rows of several events at once, of the version of the ledger that it saw first."""

    most_values: int = 1_000
    """Enough that what all pages share is computed once, as the values of single pages come between."""
    first_version: str = ""
    decisions: Mapping[str, Sequence[LedgerDecision]] = field(default_factory=dict)
    forecasts: Mapping[str, Sequence[LedgerForecast]] = field(default_factory=dict)
    of_runs: Mapping[Any, Mapping[tuple[str, str], Sequence[Any]]] = field(default_factory=dict)
    """Decisions and forecasts, by subject and run."""
    of_ids: Mapping[Any, Mapping[Any, Any]] = field(default_factory=dict)
    """What functions return that read by the ids of events."""
    kept_details: Mapping[tuple[str, str, str], DecisionDetails] = field(default_factory=dict)
    block: tuple[Any, Sequence[ListedDecision]] = (None, ())
    """A part of a list of decisions, with the list and the place that it is of."""

    def version(self) -> str:
        """Return the version that was seen first."""
        self.first_version = self.first_version or super().version()
        return self.first_version

    def load_events(self, ids: Sequence[str], since: datetime | None = None) -> None:
        """Read all that the pages of these events and of their decisions since a slot show, in place of others."""
        asked = RowFilter(events=ids)
        with self.store.read() as connection, self.store.blame_rows():
            decisions, forecasts = select_with_forecasts(connection, asked)
            of_ids = (select_prices, revisions_of, events_of_ids, news_of_events)
            self.of_ids = {work: work(connection, ids) for work in of_ids}
            self.kept_details = details_of(connection, replace(asked, since=since))
        self.decisions = {**{id: [] for id in ids}, **rows_by_subject(decisions)}
        self.forecasts = rows_by_subject(forecasts)
        self.of_runs = {select_decisions: _rows_by_run(decisions), select_forecasts: _rows_by_run(forecasts)}

    def read(self, work: Callable[Concatenate[Connection, P], Value], *asked: P.args, **more: P.kwargs) -> Value:
        """Return what a function reads from the ledger, or what was read for these events."""
        loaded: Mapping[Any, Mapping[str, Sequence[Any]]] = {
            select_decisions: self.decisions,
            select_forecasts: self.forecasts,
        }
        if work in loaded and isinstance(which := asked[0], RowFilter):
            id = which.event or which.subject or ""
            if id in self.decisions:
                of_event = loaded[work].get(id, ())
                rows = of_event if which.run is None else self.of_runs[work].get((id, which.run), ())
                return cast(Value, tuple(each for each in rows if which.has_bot(each.bot)))
        if (
            work is select_with_forecasts
            and isinstance(which := asked[0], RowFilter)
            and which.subject in self.decisions
        ):
            return cast(Value, (self.read(select_decisions, which), self.read(select_forecasts, which)))
        if work in self.of_ids and isinstance(ids := asked[0], tuple) and self.decisions.keys() >= set(ids):
            # A key is an id, or a venue with it.
            found = self.of_ids[work].items()
            return cast(Value, {key: value for key, value in found if (key if isinstance(key, str) else key[1]) in ids})
        if work is list_decisions and "skip" in more:
            return cast(Value, cast(Any, self._read_list)(*asked, **more))
        return super().read(work, *asked, **more)

    def _read_list(self, asked: RowFilter, *, skip: int, limit: int, **more: Any) -> Sequence[ListedDecision]:
        """Return a part of a list of decisions; as its parts are shown one after the other, many are read at once."""
        first = skip % _LISTED_AT_ONCE
        key = asked, skip - first, more
        if self.block[0] != key:
            most = _LISTED_AT_ONCE + limit
            self.block = (
                key,
                self.store.run_read(lambda each: list_decisions(each, asked, skip=skip - first, limit=most, **more)),
            )
        return self.block[1][first : first + limit]

    def compute_on_part(
        self, work: Callable[..., Value], *asked: Hashable, part: Part = EVERYTHING, **more: object
    ) -> Value:
        """Return what a function computes from a part, of which one snapshot is taken for all."""
        if work in (bot_history, edge_history, gains_of_bot, ledger_history, shared_questions):
            more["whole"] = self._snapshot(part)
        return super().compute_on_part(work, *asked, part=part, **more)

    def details(self, run: str, bot: str, subject: str) -> DecisionDetails:
        """Return the orders, fills and sources of a decision."""
        details = self.kept_details.get((run, bot, subject))
        return super().details(run, bot, subject) if details is None else details

    def evaluation(self, question: Question, part: Part = EVERYTHING) -> Evaluation:
        """Return an evaluation with all that pages need, as every page is written."""
        return self._snapshot(part).evaluation

    def _snapshot(self, part: Part) -> PartSnapshot:
        return super().compute_on_part(take_snapshot, TABLES_ASK, part=part)


def rows_by_subject(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each subject, in their order."""
    return grouped((each.subject_id, each) for each in rows)


def _rows_by_run(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    return grouped(((each.subject_id, each.run), each) for each in rows)
