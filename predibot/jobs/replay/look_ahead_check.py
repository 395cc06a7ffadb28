"""Looking ahead: whether decisions of a replay are the same where nothing later than their instant exists."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime

from predibot.contracts import OpenVenue, Past, Progress
from predibot.domain.account import ACCOUNT_SUBJECTS
from predibot.domain.decision import seeded
from predibot.jobs.decide import decide
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.replay.file_guard import Seal
from predibot.jobs.replay.replay import Played
from predibot.jobs.replay.rerun import scratch_ledger
from predibot.ledger.read.export import DecisionKey, Rows, decision_rows
from predibot.ledger.store import Store
from predibot.plugins.strategies import forget_strategies
from predibot.plugins.tools import forget_tools
from predibot.recipe.recipe import Recipe

SAMPLE = 20
"""How many decisions are made again where nobody says how many."""

_TOLD_APART_BY = ("market_id", "role", "number")
_SAME_FOR_ALL = frozenset({"run", "void", "bot", "subject_kind", "subject_id", *_TOLD_APART_BY})


@dataclass(frozen=True, slots=True)
class DecisionDifference:
    """One thing that is not the same; None stands for what is not there."""

    run: str
    bot: str
    event_id: str
    what: str
    """Such as `forecasts 101 probability`."""
    stored: object
    without_future: object
    with_future: object
    """As it is decided again where nothing is removed; if this is not as stored either, it is chance, or the code."""


@dataclass(frozen=True, slots=True)
class LookAhead:
    """What came of making a sample of decisions again with everything after their instant removed."""

    decisions: int
    """Of the replay that could be made again."""
    checked: int
    differences: tuple[DecisionDifference, ...]
    skipped: Mapping[str, str]
    """Why the decisions of a bot are not made again, by bot."""

    @property
    def differing(self) -> int:
        """Return how many of the decisions checked are not the same."""
        return len({(each.run, each.bot, each.event_id) for each in self.differences})


@dataclass(frozen=True, slots=True)
class _Place:
    """Where decisions are made again."""

    request: RunRequest
    past: Past
    resources: Resources
    seal: AbstractContextManager[object]

    def differences(
        self, instants: Mapping[str, datetime], asked: Mapping[str, Sequence[DecisionKey]]
    ) -> Iterator[DecisionDifference]:
        """Yield what is not the same of decisions of several runs, whose accounts go through all of them.

        Args:
            instants: Of each run, in their order, from the first on.
            asked: The decisions by run.
        """
        recipe, names = self.request.recipe, {bot for keys in asked.values() for bot, _ in keys}
        # With those whose decisions they pool.
        wanted = {*names, *(member for bot in recipe.bots if bot.name in names for member in bot.members)}
        request = replace(
            self.request, recipe=replace(recipe, bots=tuple(bot for bot in recipe.bots if bot.name in wanted))
        )
        runs = list(instants)
        # What is ordered in a run is filled in the next one.
        walk = {key: instants[key] for key in runs[: max(map(runs.index, asked), default=-1) + 2]}
        with self.resources.store.read() as connection:
            stored = {key: decision_rows(connection, key) for key in asked}
        without = self._walked(walk, request, asked, self.past.cut_at, self.seal)
        unequal = [
            (key, one)
            for key, of_run in asked.items()
            for one in of_run
            if _named(stored[key].get(one)) != _named(without[key].get(one))
        ]
        if unequal:
            again = self._walked(walk, request, asked, self.past.open_at, nullcontext())
            for key, one in unequal:
                yield from _compared(key, one, [rows[key].get(one) for rows in (stored, without, again)])

    def _walked(
        self,
        walk: Mapping[str, datetime],
        request: RunRequest,
        asked: Collection[str],
        opened_at: Callable[[datetime], OpenVenue],
        seal: AbstractContextManager[object],
    ) -> Mapping[str, Mapping[DecisionKey, Rows]]:
        """Return what is decided in some of the runs of a walk, in a ledger that is thrown away."""
        with scratch_ledger() as scratch:
            made = {}
            for key, as_of in walk.items():
                # A bot that remembers what it read during the replay would read nothing now.
                forget_strategies()
                forget_tools()
                opened = opened_at(as_of)
                with seal, opened:
                    made[key] = decide(request, opened, replace(self.resources, store=scratch)).run.key
            with scratch.read() as connection:
                return {key: decision_rows(connection, made[key]) for key in asked}


def check_look_ahead(
    request: RunRequest, played: Sequence[Played], past: Past, resources: Resources, *, sample: int = SAMPLE
) -> LookAhead:
    """Return whether a sample of a replay's decisions is the same without the future.

    Each slot of the sample is decided again once, by the same code, over a copy
    of the past that ends at its instant. What the whole past is kept in is
    sealed meanwhile, so that a strategy which reads it by itself fails: that is
    a difference too. A slot with a difference is decided once more with nothing
    removed, to tell the future from chance. Where bots have accounts, they walk
    again from the first slot on, each over a past that ends at its instant.

    Args:
        played: Its instants.
        sample: How many decisions, drawn by the recipe's seed; all where there are fewer.
    """
    store, listener = resources.store, resources.listener
    # Keeps this process from reading whatever the whole past is kept in, each time it is entered.
    seal: AbstractContextManager[object] = nullcontext() if past.folder is None else Seal(past.folder)
    place = _Place(request, past, resources, seal)
    skipped = _skipped(request.recipe, past)
    instants = {each.run_key: each.as_of for each in played}
    there = [(key, decision) for key in instants for decision in _made(store, key, request.recipe, skipped)]
    draw = seeded(request.recipe.seed, request.recipe.name, "look-ahead")
    asked: dict[str, list[DecisionKey]] = {}
    for number in sorted(draw.sample(range(len(there)), min(sample, len(there)))):
        asked.setdefault(there[number][0], []).append(there[number][1])
    drawn = sum(map(len, asked.values()))
    found: list[DecisionDifference] = []
    if _plays_accounts(store, instants):
        found += place.differences(instants, asked)
        listener(Progress("look ahead", drawn, drawn))
        return LookAhead(len(there), drawn, tuple(found), skipped)
    done = 0
    for run_key, of_run in asked.items():
        found += place.differences({run_key: instants[run_key]}, {run_key: of_run})
        done += len(of_run)
        listener(Progress("look ahead", done, drawn, run_key))
    return LookAhead(len(there), drawn, tuple(found), skipped)


def _plays_accounts(store: Store, run_keys: Collection[str]) -> bool:
    """Return whether the decisions of runs are about accounts, which go on from one run to the next."""
    with store.read() as connection:
        kinds = {
            rows["decisions"][0]["subject_kind"] for key in run_keys for rows in decision_rows(connection, key).values()
        }
    return not kinds.isdisjoint(ACCOUNT_SUBJECTS)


def _skipped(recipe: Recipe, past: Past) -> Mapping[str, str]:
    """Return the bots whose decisions would not be the same again whatever they know, and why."""
    skipped = {}
    for bot in recipe.bots:
        names = dict.fromkeys(need.name for need in bot.needs.models)
        real = [name for name in names if not (past.scripted_models and name.startswith(past.scripted_models))]
        if real:
            skipped[bot.name] = f"it talks to {', '.join(real)}, which may answer otherwise each time"
    for bot in recipe.bots:
        if pooled := [name for name in bot.members if name in skipped]:
            skipped.setdefault(bot.name, f"it pools {', '.join(pooled)}, not made again")
    return skipped


def _made(store: Store, run_key: str, recipe: Recipe, skipped: Collection[str]) -> Iterator[DecisionKey]:
    """Yield the decisions of a run that can be made again: what failed one may not happen twice."""
    bots = {bot.name for bot in recipe.bots} - set(skipped)
    with store.read() as connection:
        rows = decision_rows(connection, run_key)
    for (bot, event_id), of_one in rows.items():
        if bot in bots and of_one["decisions"][0]["status"] != "failed":
            yield bot, event_id


def _compared(run_key: str, key: DecisionKey, rows: Sequence[Rows | None]) -> Iterator[DecisionDifference]:
    """Yield what is not the same of a decision: as it is stored, without the future, and with it."""
    values = [_named(each) for each in rows]
    stored, without, _ = values
    for what in dict.fromkeys((*stored, *without)):
        if stored.get(what) != without.get(what):
            yield DecisionDifference(run_key, *key, what, *(each.get(what) for each in values))


def _named(rows: Rows | None) -> Mapping[str, object]:
    """Return every value of a decision's rows by what it is, such as `forecasts 101 probability`."""
    named = {}
    for table, of_table in (rows or {}).items():
        for row in of_table:
            words = [table, *(str(row[name]) for name in _TOLD_APART_BY if name in row)]
            named.update({" ".join([*words, name]): row[name] for name in row if name not in _SAME_FOR_ALL})
    return named
