"""A cache of a ledger that is open to be read: what pages show is read once, until something in the ledger changes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

from sqlalchemy import Connection, Row, func, select

from predibot.api.relate import beliefs_in_ledger, news_in_ledger
from predibot.domain.replicates import joined_bots, split_replicate
from predibot.errors import UsageError
from predibot.jobs.evaluate import evaluate_stored
from predibot.jobs.histories.bot import BotHistory, bot_history
from predibot.jobs.open_venue import locate
from predibot.jobs.relatedness.beliefs import cluster_ledger_events
from predibot.jobs.relatedness.graph import LabelledGraph, find_graph
from predibot.ledger.files.trace_lines import TraceLines, state_of, trace_lines
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.details.decisions import DecisionDetails, decision_details
from predibot.ledger.read.details.events import revisions_of
from predibot.ledger.read.event_facts import find_played_events
from predibot.ledger.read.rows_for_python import LedgerRun, select_events, select_prices, select_runs
from predibot.ledger.schema.tables import ChangeRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.store import Store
from predibot.ledger.write.claims import subjects
from predibot.ledger.write.decisions import bots
from predibot.ledger.write.runs import runs, with_decisions
from predibot.plugins.venues import venue_or_defaults
from predibot.related.filters import Filters
from predibot.related.graph import RELATED
from predibot.reports.study import studies
from predibot.rows import grouped
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.scoring.records.part import EVERYTHING, Part
from predibot.scoring.standing import BASELINES

_changes = table_of(ChangeRow)
_FRESH_SECONDS = 600
COLOURS = 8
"""Bots with a colour of their own; `c1` to `c8` are classes of the style, and `c0` is grey."""
_GREY = "c0"
_LOCKS = 16
"""Number of different values that can be computed at once."""
Value = TypeVar("Value")
P = ParamSpec("P")


@dataclass
class LedgerCache:
    """A ledger that is open to be read, with a cache of what was read from it.

    UsageError is raised for a recipe, venue, bot or category that it does not have, and where no run counts.
    """

    store: Store
    clock: Callable[[], datetime]
    traces: bool = True
    """Whether pages show the steps of agents."""
    steps_a_page: int = 20
    most_values: int = 64
    _values: "OrderedDict[tuple[Any, ...], tuple[str, Any]]" = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _locks: tuple[threading.Lock, ...] = field(default_factory=lambda: tuple(threading.Lock() for _ in range(_LOCKS)))

    def version(self) -> str:
        """Return a text that changes whenever the ledger does."""
        counts = select(func.count(), func.coalesce(func.sum(_changes.c.number), 0), func.max(_changes.c.counted_by))
        row = self.store.run_read(lambda connection: connection.execute(counts).one())
        return "-".join(str(each or 0) for each in row)

    def runs(self) -> tuple[LedgerRun, ...]:
        """Return all runs, newest slot first."""
        return self._keep(("runs",), lambda: tuple(reversed(self.store.run_read(select_runs))))

    def runs_of(self, key: str) -> Sequence[LedgerRun]:
        """Return the runs with a key, of which at most one is not void, newest slot first."""
        # Read before: a thread that holds the lock of one value must not wait for that of another.
        every = self.runs()
        return self._keep(("runs by key",), lambda: grouped((each.run, each) for each in every)).get(key, ())

    def bots(self, kind: str = "") -> tuple[str, ...]:
        """Return the names of the bots that decided, or only on one kind of subject, in order.

        A bot with replicates is there beside these.
        """
        return self.read(_bots, kind)

    def read(self, work: Callable[Concatenate[Connection, P], Value], *asked: P.args, **more: P.kwargs) -> Value:
        """Return what a function reads from the ledger, cached until the ledger changes."""
        key = (work.__name__, asked, tuple(more.items()))
        return self._keep(key, lambda: self.store.run_read(lambda connection: work(connection, *asked, **more)))

    def compute_on_part(
        self, work: Callable[..., Value], *asked: Hashable, part: Part = EVERYTHING, **more: object
    ) -> Value:
        """Return what a function computes from a part of the ledger as of now, cached for ten minutes.

        Args:
            work: Takes the store, `asked`, the part, and `clock` and `more` by name.
            asked: What else the value depends on.
            part: Without a venue, it is at that of the newest run if there are several.
            more: Further arguments, which follow from the ledger.

        Raises:
            UsageError: If the ledger has no such recipe or venue.
        """
        part = self._resolve_part(part)
        key = (work.__name__, asked, part, self._now())
        return self._keep(key, lambda: work(self.store, *asked, part, clock=self.clock, **more))

    def details(self, run: str, bot: str, subject: str) -> DecisionDetails:
        """Return the orders, fills and sources of a decision, as `decision_details`."""
        return self.store.run_read(lambda connection: decision_details(connection, run, bot, subject))

    def trace_lines(self, digest: str) -> TraceLines:
        """Return where the lines of a trace are, cached until its file changes; raise `UsageError` as `trace_lines`."""
        files = Traces(self.store).files
        return self._keep(
            ("trace", digest), lambda: trace_lines(files, digest), state=lambda: str(state_of(files, digest))
        )

    def find_in_trace(self, trace: TraceLines, words: str) -> tuple[int, ...]:
        """Return the numbers of the lines of a trace that hold a text, from 0."""
        return self._keep(("found", trace.digest, words), lambda: trace.find(words), state=lambda: str(trace.state))

    def prices(self, event_id: str) -> Mapping[str, tuple[tuple[datetime, float], ...]]:
        """Return the stored prices of YES, or of the stock, of an event's markets, oldest first, by market id."""
        return self.read(select_prices, (event_id,)).get(event_id, {})

    def revisions(self, event_id: str) -> Sequence[Row[Any]]:
        """Return all revisions of the resolutions of an event's markets, as `revisions_of`."""
        return self.read(revisions_of, (event_id,)).get(event_id, ())

    def colour(self, bot: str) -> str:
        """Return the class of a bot's colour, the same on all pages.

        The first bots of the ledger that are no baselines have one each; later ones and baselines are grey.
        """
        return self.read(colours).get(bot, _GREY)

    def venues(self, recipe: str = "") -> tuple[str, ...]:
        """Return the venues of the runs that count, or of those of a recipe: that of the newest first, studies last."""
        return _venues(self.runs(), recipe)

    def venues_of_events(self) -> Mapping[str, str]:
        """Return the venue of each event that somebody decided on, by the id of the event."""
        return self.read(_venues_of_events)

    def currency(self, asked: Mapping[str, str]) -> str:
        """Return the currency of a page by the `id` of its event, its `run` or `venue`, else by the newest run."""
        event, run, venue = (asked.get(name, "") for name in ("id", "run", "venue"))
        # A run has a venue of its own; that of the address counts only without a run.
        of_runs = self.runs_of(run) if run else (each for each in self.runs() if venue in ("", each.venue))
        name = self.venues_of_events().get(event) or next((each.venue_name for each in of_runs), "")
        # Plug-ins are looked for in folders.
        return self._keep(("currency", name), lambda: venue_or_defaults(name).currency)

    def categories(self, venue: str) -> tuple[str, ...]:
        """Return the categories of the events that runs at a venue decided on, in order."""
        name = next((run.venue_name for run in self.runs() if run.venue == venue), "")
        return self.read(_categories, name)

    def evaluation(self, question: Question, part: Part = EVERYTHING) -> Evaluation:
        """Return the evaluation of a part of the ledger as of now, as `compute_on_part`."""
        part = self._resolve_part(part)
        key = ("evaluation", part, question.wanted, self._now())
        return self._keep(key, lambda: evaluate_stored(self.store, part, question, clock=self.clock))

    def bot(self, name: str, part: Part = EVERYTHING) -> BotHistory:
        """Return the history of a bot, as `compute_on_part`."""
        # Computed before: a thread that holds the lock of one value must not wait for that of another.
        together = self.compute_on_part(_related_events, part=Part(venue=self._resolve_part(part).venue))
        return self.compute_on_part(bot_history, name, part=part, related=together)

    def graph(self, part: Part = EVERYTHING) -> LabelledGraph:
        """Return the graph of related events, with the news about them."""
        return self.compute_on_part(_graph, part=part)

    def compute(self, name: str, asked: Hashable, work: Callable[[], Value]) -> Value:
        """Return what a page computes by itself; no other page uses `name`, and `asked` is what it depends on."""
        return self._keep((name, asked, self._now()), work)

    def _resolve_part(self, part: Part) -> Part:
        """Return the part with its venue, where none is named the newest run's of several, and None for the only one.

        Raises `UsageError` if no run is of its recipe or venue: an address may name no file here.
        """
        every = self.runs()
        return self._keep(("part", part), lambda: _resolve(part, every))

    def _now(self) -> int:
        return int(self.clock().timestamp()) // _FRESH_SECONDS

    def _keep(
        self, key: tuple[Any, ...], work: Callable[[], Value], *, state: Callable[[], str] | None = None
    ) -> Value:
        """Return the cached value of this version of the ledger, or compute it, in one thread for all that ask.

        `state` returns a text that changes with the value, if that does not change with the ledger.
        """
        with self._locks[hash(key) % _LOCKS]:
            version = (state or self.version)()
            with self._lock:
                held = self._values.get(key)
                if held is not None and held[0] == version:
                    self._values.move_to_end(key)
                    return cast(Value, held[1])
            value = work()
            with self._lock:
                self._values[key] = version, value
                self._values.move_to_end(key)
                while len(self._values) > self.most_values:
                    self._values.popitem(last=False)
            return value


def _resolve(part: Part, every: Sequence[LedgerRun]) -> Part:
    recipe, venue = part.recipe or "", part.venue or ""
    known = {run.recipe for run in every}
    if recipe and recipe not in known:
        raise UsageError(f"no run is of recipe {recipe[:60]!r}; there are: {', '.join(sorted(known))}")
    if venue and venue not in {run.venue for run in every}:
        raise UsageError(f"no run was made at {venue[:60]!r}; there are: {', '.join(_venues(every))}")
    there = _venues(every, recipe)
    if len(there) > 1:
        venue = venue or there[0]
    elif (venue,) == there and not recipe:
        # The only venue needs no name, so that a part has one key.
        venue = ""
    return replace(part, recipe=recipe or None, venue=venue or None)


def _venues(every: Sequence[LedgerRun], recipe: str = "") -> tuple[str, ...]:
    found: dict[str, str] = {}
    for run in every:
        if not run.void and recipe in ("", run.recipe):
            found.setdefault(run.venue_name, run.venue)
    # Whoever asks for no venue asks who forecasts best, which a study's texts do not say.
    of_studies = {each.data_set for each in studies().values()}
    return tuple(found[name] for name in sorted(found, key=lambda name: name in of_studies))


def _bots(connection: Connection, kind: str) -> tuple[str, ...]:
    names = with_decisions(bots.c.name).where(runs.c.voided_at.is_(None)).distinct()
    if kind:
        names = names.where(subjects.c.kind == kind)
    found = connection.execute(names).scalars().all()
    return tuple(sorted({*found, *joined_bots(found)}))


def _venues_of_events(connection: Connection) -> Mapping[str, str]:
    # Of two venues with one id, that of the newest decision.
    return {each.event_id: each.venue for each in reversed(select_events(connection))}


def _categories(connection: Connection, venue: str) -> tuple[str, ...]:
    of_venue = (runs.c.venue_name == venue, runs.c.voided_at.is_(None))
    last = connection.execute(select(func.max(runs.c.as_of)).where(*of_venue)).scalar()
    if last is None:
        return ()
    rows = set(connection.execute(with_decisions(subjects.c.event_row).where(*of_venue).distinct()).scalars())
    played = find_played_events(connection, venue, last)
    return tuple(sorted({each.category for row, each in played.items() if row in rows}))


def _related_events(store: Store, part: Part, *, clock: Callable[[], datetime]) -> Mapping[str, str]:
    there = locate(store, part, clock)
    return store.run_read(lambda connection: cluster_ledger_events(connection, there.venue_name, there.as_of))


def _graph(store: Store, part: Part, *, clock: Callable[[], datetime]) -> LabelledGraph:
    known = beliefs_in_ledger(store, part, clock=clock)
    return find_graph(known, filters=Filters(), at_least=RELATED, news=news_in_ledger(store, known))


def colours(connection: Connection) -> Mapping[str, str]:
    """Return the classes of the colours of the bots that are not grey, also by the names of their replicates."""
    first = select(bots.c.name).where(bots.c.strategy.not_in(BASELINES)).group_by(bots.c.name)
    # Rows only grow, so that a bot keeps its colour when others join.
    named = connection.execute(first.order_by(func.min(bots.c.id))).scalars().all()
    # Replicates have the colour of their bot.
    places = list(dict.fromkeys(split_replicate(name)[0] for name in named))[:COLOURS]
    classes = {name: f"c{place}" for place, name in enumerate(places, start=1)}
    return {
        name: classes[bot]
        for each in named
        for bot in [split_replicate(each)[0]]
        if bot in classes
        for name in (each, bot)
    }
