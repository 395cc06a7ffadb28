"""The look-ahead check: decisions of a replay are made again where nothing later than their instant exists."""

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Self

from predibot.contracts import OpenVenue, Past, Progress
from predibot.domain.account import ACCOUNT_SUBJECTS
from predibot.domain.decision import seeded_random
from predibot.jobs.decide import decide
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.replay.replay import ReplayInstant
from predibot.jobs.replay.rerun import scratch_ledger
from predibot.ledger.read.export import DecisionKey, Rows, decision_rows
from predibot.ledger.store import Store
from predibot.plugins.strategies import forget_strategies
from predibot.plugins.tools import forget_tools
from predibot.recipe.recipe import Recipe, in_order
from predibot.rows import grouped

_OPENING = frozenset({"open", "os.listdir", "os.scandir", "sqlite3.connect"})
"""Python's audit events whose first argument is a path that is about to be read."""


class SealBroken(PermissionError):
    """A file in a sealed folder was opened."""


class Seal:
    """A seal on a folder: while it is active, this process opens no file below the folder.

    It covers what goes through Python; a library that opens files in C, or another program, is not stopped.
    """

    def __init__(self, folder: Path) -> None:
        """Prepare to seal a folder; the seal can be entered more than once."""
        self._folder = os.path.realpath(folder)
        self._holds = False
        # An audit hook cannot be removed; outside the block it lets everything through.
        sys.addaudithook(self._refuse)

    def __enter__(self) -> Self:
        """Seal the folder."""
        self._holds = True
        return self

    def __exit__(self, *_: object) -> None:
        """Break the seal."""
        self._holds = False

    def _refuse(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self._holds or event not in _OPENING or not arguments:
            return
        path = arguments[0]
        if not isinstance(path, str | bytes | os.PathLike):
            return
        whole = os.path.realpath(os.fsdecode(path))
        if whole == self._folder or whole.startswith(f"{self._folder}{os.sep}"):
            raise SealBroken(f"{whole} was opened by the strategy itself, where nothing is held back from it")


SAMPLE = 20

_ROW_KEYS = ("market_id", "role", "number")
_UNCOMPARED = frozenset({"run", "void", "bot", "subject_kind", "subject_id", *_ROW_KEYS})


@dataclass(frozen=True, slots=True)
class DecisionDifference:
    """A value that differs; None is a missing one."""

    run: str
    bot: str
    event_id: str
    what: str
    """Such as `forecasts 101 probability`."""
    stored: object
    without_future: object
    with_future: object
    """The value with the future in place; if it differs from the stored one too, the cause is chance or the code."""


@dataclass(frozen=True, slots=True)
class LookAhead:
    """The result of a look-ahead check."""

    decisions: int
    """Decisions of the replay that could be made again."""
    checked: int
    differences: tuple[DecisionDifference, ...]
    skipped: Mapping[str, str]
    """Why a bot's decisions are not made again, by bot."""

    @property
    def differing(self) -> int:
        """Return how many of the checked decisions differ."""
        return len({(each.run, each.bot, each.event_id) for each in self.differences})


@dataclass(frozen=True, slots=True)
class _Rechecker:
    request: RunRequest
    past: Past
    resources: Resources
    seal: AbstractContextManager[object]

    def differences(
        self, instants: Mapping[str, datetime], asked: Mapping[str, Sequence[DecisionKey]]
    ) -> Iterator[DecisionDifference]:
        """Yield the differences in decisions of several runs, whose accounts go through all of them.

        `instants` are those of all runs from the first on, in order; `asked` has decisions by run.
        """
        recipe, names = self.request.recipe, {bot for keys in asked.values() for bot, _ in keys}
        # Also the members whose decisions they pool.
        before: set[str] = set()
        while before != names:
            before = set(names)
            names |= {member for bot in recipe.bots if bot.name in names for member in bot.members}
        request = replace(
            self.request, recipe=replace(recipe, bots=tuple(bot for bot in recipe.bots if bot.name in names))
        )
        runs = list(instants)
        # One more run, in which orders of the last one are filled.
        walk = {key: instants[key] for key in runs[: max(map(runs.index, asked), default=-1) + 2]}
        with self.resources.store.read() as connection:
            stored = {key: decision_rows(connection, key) for key in asked}
        without = self._decide_again(walk, request, asked, self.past.cut_at, self.seal)
        unequal = [
            (key, one)
            for key, of_run in asked.items()
            for one in of_run
            if _values_by_name(stored[key].get(one)) != _values_by_name(without[key].get(one))
        ]
        if unequal:
            again = self._decide_again(walk, request, asked, self.past.open_at, nullcontext())
            for key, one in unequal:
                yield from _find_differences(key, one, [rows[key].get(one) for rows in (stored, without, again)])

    def _decide_again(
        self,
        walk: Mapping[str, datetime],
        request: RunRequest,
        asked: Collection[str],
        opened_at: Callable[[datetime], OpenVenue],
        seal: AbstractContextManager[object],
    ) -> Mapping[str, Mapping[DecisionKey, Rows]]:
        with scratch_ledger() as scratch:
            made = {}
            for key, as_of in walk.items():
                # A bot that remembers what it read during the replay would not read it again.
                forget_strategies()
                forget_tools()
                opened = opened_at(as_of)
                with seal, opened:
                    made[key] = decide(request, opened, replace(self.resources, store=scratch)).run.key
            with scratch.read() as connection:
                return {key: decision_rows(connection, made[key]) for key in asked}


def check_look_ahead(
    request: RunRequest, played: Sequence[ReplayInstant], past: Past, resources: Resources, *, sample: int = SAMPLE
) -> LookAhead:
    """Check whether a sample of a replay's decisions is the same without the future.

    Each slot of the sample is decided again by the same code, over a copy of the past that ends at its instant. The
    folder of the whole past is sealed meanwhile, so a strategy that reads it fails, which is a difference too. A slot
    with a difference is decided once more with nothing removed, to tell the future from chance. Accounts go again
    through all slots from the first on. The recipe's seed draws `sample` decisions; it is all where there are fewer.
    """
    store, listener = resources.store, resources.listener
    seal: AbstractContextManager[object] = nullcontext() if past.folder is None else Seal(past.folder)
    place = _Rechecker(request, past, resources, seal)
    skipped = _unrepeatable_bots(request.recipe, past)
    instants = {each.run_key: each.as_of for each in played}
    there, plays_accounts = _repeatable(store, instants, request.recipe, skipped)
    draw = seeded_random(request.recipe.seed, request.recipe.name, "look-ahead")
    drawn = min(sample, len(there))
    sampled = grouped(there[number] for number in sorted(draw.sample(range(len(there)), drawn)))
    found: list[DecisionDifference] = []
    if plays_accounts:
        found += place.differences(instants, sampled)
        listener(Progress("look ahead", drawn, drawn))
        return LookAhead(len(there), drawn, tuple(found), skipped)
    done = 0
    for run_key, of_run in sampled.items():
        found += place.differences({run_key: instants[run_key]}, {run_key: of_run})
        done += len(of_run)
        listener(Progress("look ahead", done, drawn, run_key))
    return LookAhead(len(there), drawn, tuple(found), skipped)


def _unrepeatable_bots(recipe: Recipe, past: Past) -> Mapping[str, str]:
    skipped = {}
    for bot in recipe.bots:
        names = dict.fromkeys(need.name for need in bot.needs.models)
        real = [name for name in names if not (past.scripted_models and name.startswith(past.scripted_models))]
        if real:
            skipped[bot.name] = f"it talks to {', '.join(real)}, which may answer otherwise each time"
        elif bot.needs.settled:
            skipped[bot.name] = "it learns from earlier decisions of the ledger, which are not made again"
    members = {bot.name: bot.members for bot in recipe.bots}
    for name in chain.from_iterable(in_order(members)):
        if pooled := [member for member in members[name] if member in skipped]:
            skipped.setdefault(name, f"it pools {', '.join(pooled)}, not made again")
    return skipped


def _repeatable(
    store: Store, run_keys: Collection[str], recipe: Recipe, skipped: Collection[str]
) -> tuple[list[tuple[str, DecisionKey]], bool]:
    """Return the decisions of runs that can be made again, as a failure may not be, and whether any has an account."""
    bots, there, kinds = {bot.name for bot in recipe.bots} - set(skipped), [], set()
    with store.read() as connection:
        for run_key in run_keys:
            for key, rows in decision_rows(connection, run_key).items():
                decision = rows["decisions"][0]
                kinds.add(decision["subject_kind"])
                if key[0] in bots and decision["status"] != "failed":
                    there.append((run_key, key))
    return there, not kinds.isdisjoint(ACCOUNT_SUBJECTS)


def _find_differences(run_key: str, key: DecisionKey, rows: Sequence[Rows | None]) -> Iterator[DecisionDifference]:
    values = [_values_by_name(each) for each in rows]
    stored, without, _ = values
    for what in dict.fromkeys((*stored, *without)):
        if stored.get(what) != without.get(what):
            yield DecisionDifference(run_key, *key, what, *(each.get(what) for each in values))


def _values_by_name(rows: Rows | None) -> Mapping[str, object]:
    """Return every value of a decision's rows under a name such as `forecasts 101 probability`."""
    named = {}
    for table, of_table in (rows or {}).items():
        for row in of_table:
            words = [table, *(str(row[name]) for name in _ROW_KEYS if name in row)]
            named.update({" ".join([*words, name]): row[name] for name in row if name not in _UNCOMPARED})
    return named
