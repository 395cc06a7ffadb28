"""What pages show, read from a ledger once for as long as nothing in it changes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from sqlalchemy import Connection, func, select

from predibot.api.relate import known_in_ledger, news_in_ledger
from predibot.errors import UsageError
from predibot.jobs.evaluate import evaluate_stored
from predibot.jobs.histories.bot import BotHistory, bot_history
from predibot.jobs.located import located
from predibot.jobs.relatedness.beliefs import related_in_ledger
from predibot.jobs.relatedness.graph import KnownGraph, graph_at
from predibot.ledger.files.trace_lines import TraceLines, state_of, trace_lines
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.details.decisions import DecisionDetails, decision_details
from predibot.ledger.read.event_facts import NO_CATEGORY, played_events
from predibot.ledger.read.rows_for_python import (
    LedgerRun,
    listed_events,
    told_prices,
    told_runs,
)
from predibot.ledger.schema.tables import ChangeRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.store import Store
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import runs, with_decisions
from predibot.plugins.venues import known_venue
from predibot.related.clusters import RELATED
from predibot.related.filters import Filters
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.part import EVERYTHING, Part

_changes = table_of(ChangeRow)
_MOST_KEPT = 64
"""How many answers are remembered: evaluations and parts of lists, each up to some megabytes."""
_FRESH_SECONDS = 600
_LOCKS = 16
"""So many different things are worked out at once."""
Value = TypeVar("Value")
P = ParamSpec("P")


@dataclass
class Shelf:
    """A ledger that is open to be read, and what was read from it lately."""

    store: Store
    clock: Callable[[], datetime]
    traces: bool = True
    """Whether pages show what agents did step by step."""
    steps_a_page: int = 20
    _kept: "OrderedDict[tuple[Any, ...], tuple[str, Any]]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _locks: tuple[threading.Lock, ...] = field(default_factory=lambda: tuple(threading.Lock() for _ in range(_LOCKS)))

    def version(self) -> str:
        """Return what is another text whenever something in the ledger has changed."""

        def work(connection: Connection) -> str:
            row = connection.execute(
                select(func.count(), func.coalesce(func.sum(_changes.c.number), 0), func.max(_changes.c.counted_by))
            ).one()
            return "-".join(str(each or 0) for each in row)

        return self.store.run_read(work)

    def runs(self) -> tuple[LedgerRun, ...]:
        """Return all runs, newest slot first."""
        return self._once(("runs",), lambda: tuple(reversed(self.store.run_read(told_runs))))

    def bots(self, kind: str = "") -> tuple[str, ...]:
        """Return the names of the bots that decided, or of those that did on one kind of subject, in order."""
        return self.read(_bots, kind)

    def read(self, work: Callable[Concatenate[Connection, P], Value], *asked: P.args, **more: P.kwargs) -> Value:
        """Return what a function reads of the ledger, once for as long as nothing in it changes."""
        key = (work.__name__, asked, tuple(more.items()))
        return self._once(key, lambda: self.store.run_read(lambda connection: work(connection, *asked, **more)))

    def looked_back(
        self, work: Callable[..., Value], *asked: Hashable, part: Part = EVERYTHING, **more: object
    ) -> Value:
        """Return what a function makes of a part of the ledger as it is now, which is so for ten minutes.

        Args:
            work: Makes it of the store, what is asked, the part and `clock`.
            asked: What else it depends on.
            part: Of the ledger; left out, the venue is that of the newest run.
            more: What it is given by name, which follows from the ledger.

        Raises:
            UsageError: If there is no such recipe or venue, or the ledger has no run that counts.
        """
        part = self._known(part)
        key = (work.__name__, asked, part, self._now())
        return self._once(key, lambda: work(self.store, *asked, part, clock=self.clock, **more))

    def details(self, run: str, bot: str, subject: str) -> DecisionDetails:
        """Return the orders, fills and sources of a decision, as `decision_details`."""
        return self.store.run_read(lambda connection: decision_details(connection, run, bot, subject))

    def trace_lines(self, digest: str) -> TraceLines:
        """Return where the lines of a trace are, for as long as nobody changes its file.

        Raises:
            UsageError: As `trace_lines` of the ledger.
        """
        files = Traces(self.store).files
        return self._once(
            ("trace", digest), lambda: trace_lines(files, digest), state=lambda: str(state_of(files, digest))
        )

    def found_in_trace(self, trace: TraceLines, words: str) -> tuple[int, ...]:
        """Return the numbers of the lines of a trace that hold a text, from 0."""
        return self._once(("found", trace.digest, words), lambda: trace.find(words), state=lambda: str(trace.state))

    def prices(self, event_id: str) -> Mapping[str, tuple[tuple[datetime, float], ...]]:
        """Return the stored prices of YES of an event's markets, oldest first, by market id."""
        return self.read(told_prices, (event_id,)).get(event_id, {})

    def venues(self, recipe: str = "") -> tuple[str, ...]:
        """Return where the runs that count, or those of a recipe, were made, that of the newest first."""
        counted = (run for run in self.runs() if not run.void and recipe in ("", run.recipe))
        return tuple({run.venue_name: run.venue for run in reversed(tuple(counted))}.values())[::-1]

    def currency(self, asked: Mapping[str, str]) -> str:
        """Return what the amounts of a page are in, by its event's `id`, `run` or `venue`, else the newest run."""
        event, run, venue = (asked.get(name, "") for name in ("id", "run", "venue"))
        found = [each.venue for each in self.read(listed_events) if each.event_id == event] if event else []
        # A run has its own venue, whichever is asked for of all that has none.
        found += [each.venue_name for each in self.runs() if (each.run == run if run else venue in ("", each.venue))]
        return known_venue(next(iter(found), "")).currency

    def categories(self, venue: str) -> tuple[str, ...]:
        """Return the categories of the events that runs at a venue decided on, in order."""
        name = next((run.venue_name for run in self.runs() if run.venue == venue), "")
        return self.read(_categories, name)

    def evaluation(self, question: Question, part: Part = EVERYTHING) -> Evaluation:
        """Return how good the bots are, by what is stored; what is now is so for ten minutes.

        Args:
            question: What is asked.
            part: Of which decisions; left out, the venue is that of the newest.

        Raises:
            UsageError: If there is no such recipe, bot or category, or the ledger has no run that counts.
        """
        part = self._known(part)
        key = ("evaluation", part, question.wanted, self._now())
        return self._once(key, lambda: evaluate_stored(self.store, part, question, clock=self.clock))

    def bot(self, name: str, part: Part = EVERYTHING) -> BotHistory:
        """Return all that is told of a bot.

        Raises:
            UsageError: If there is no such bot, or the ledger has no run that counts.
        """
        # What is held while something is worked out is held by nobody else.
        together = self.looked_back(_related, part=Part(venue=self._known(part).venue))
        return self.looked_back(bot_history, name, part=part, related=together)

    def graph(self, part: Part = EVERYTHING) -> KnownGraph:
        """Return which events move together, and the news that touch them."""
        return self.looked_back(_graph, part=part)

    def once(self, name: str, asked: Hashable, work: Callable[[], Value]) -> Value:
        """Return what a page works out of the ledger by itself, once for as long as nothing in it changes.

        Args:
            name: Of what it is, which no other page uses.
            asked: What it is asked for with.
            work: Works it out.
        """
        return self._once((name, asked, self._now()), work)

    def _known(self, part: Part) -> Part:
        """Return the part with the venue that is asked for, that of the newest run where there are several, or none.

        Raises:
            UsageError: If no run is of the recipe, or at the venue: an address names no file of this machine.
        """
        recipe, venue = part.recipe or "", part.venue or ""
        known = {run.recipe for run in self.runs()}
        if recipe and recipe not in known:
            raise UsageError(f"no run is of recipe {recipe[:60]!r}; there are: {', '.join(sorted(known))}")
        if venue and venue not in {run.venue for run in self.runs()}:
            raise UsageError(f"no run was made at {venue[:60]!r}; there are: {', '.join(self.venues())}")
        there = self.venues(recipe)
        return replace(part, recipe=recipe or None, venue=venue or (there[0] if len(there) > 1 else None))

    def _now(self) -> int:
        return int(self.clock().timestamp()) // _FRESH_SECONDS

    def _once(
        self, key: tuple[Any, ...], work: Callable[[], Value], *, state: Callable[[], str] | None = None
    ) -> Value:
        """Return what is remembered of this version of the ledger; else work it out, one thread for all that ask.

        Args:
            key: What it is.
            work: Works it out.
            state: Returns another text when it has changed, where it does not change with the ledger.
        """
        with self._locks[hash(key) % _LOCKS]:
            version = (state or self.version)()
            with self._lock:
                held = self._kept.get(key)
                if held is not None and held[0] == version:
                    self._kept.move_to_end(key)
                    return cast(Value, held[1])
            value = work()
            with self._lock:
                self._kept[key] = version, value
                self._kept.move_to_end(key)
                while len(self._kept) > _MOST_KEPT:
                    self._kept.popitem(last=False)
            return value


def _bots(connection: Connection, kind: str) -> tuple[str, ...]:
    names = with_decisions(bots.c.name).where(runs.c.voided_at.is_(None)).distinct()
    if kind:
        names = names.where(subjects.c.kind == kind)
    return tuple(sorted(connection.execute(names).scalars()))


def _categories(connection: Connection, venue: str) -> tuple[str, ...]:
    of_venue = (runs.c.venue_name == venue, runs.c.voided_at.is_(None))
    last = connection.execute(select(func.max(runs.c.as_of)).where(*of_venue)).scalar()
    if last is None:
        return ()
    rows = set(connection.execute(with_decisions(subjects.c.event_row).where(*of_venue).distinct()).scalars())
    played = played_events(connection, venue, last)
    return tuple(sorted({each.category or NO_CATEGORY for row, each in played.items() if row in rows}))


def _related(store: Store, part: Part, *, clock: Callable[[], datetime]) -> Mapping[str, str]:
    there = located(store, part, clock)
    return store.run_read(lambda connection: related_in_ledger(connection, there.venue_name, there.as_of))


def _graph(store: Store, part: Part, *, clock: Callable[[], datetime]) -> KnownGraph:
    known = known_in_ledger(store, part, clock=clock)
    return graph_at(known, filters=Filters(), at_least=RELATED, news=news_in_ledger(store, known))
