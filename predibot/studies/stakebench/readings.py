"""Readings: what a run asked about comments and what bots said, as scores want it."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, Row

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.ledger.read.labels import frozen_items, labelled_runs, said_labels
from predibot.ledger.store import Store
from predibot.ledger.write.runs import StoredRun
from predibot.studies.stakebench.positions import ACTION_HOURS
from predibot.studies.stakebench.scores.tables import Fact, Readings, StudyTable, stakebench_tables
from predibot.studies.stakebench.tasks import CROWD, TASKS, Item, stake_sign

T = TypeVar("T")
GAME = "stakebench"
FIRST = ("3", "13")
"""What each bot scored, and the pairs of bots that were named."""
_MORE = "--full adds intervals, tests, audits, gaps and what each split was like"
_SILENT = (("abstained", "bot"), ("failed", "answer"))
"""How a model ends that gave no label: it would not, or nothing could be made of what it said."""


@dataclass(frozen=True, slots=True)
class RunTables:
    """The tables of a run, and what of it is in none."""

    run: str
    tables: tuple[StudyTable, ...]
    notes: tuple[str, ...]
    first: tuple[str, ...]
    """The names of those that are shown without being asked for."""
    more: str
    """What the others add, in a sentence."""


def run_tables(store: Store, *, run_key: str | None = None, pairs: Sequence[str] = ()) -> RunTables:
    """Return the tables of a run of text tasks.

    Args:
        store: The ledger.
        run_key: Of the run; left out, the one that was made last.
        pairs: Bots to compare, each as `A:B`.

    Raises:
        UsageError: If there is no such run, or a pair names no two bots of it.
    """
    with store.rows_blamed():
        readings, key, notes = store.run_read(lambda connection: _readings(connection, run_key))
    tables = stakebench_tables(readings, pairs=[_pair(each, readings) for each in pairs])
    return RunTables(key, tables, tuple(notes), FIRST, _MORE)


def runs_of_texts(store: Store) -> tuple[str, ...]:
    """Return the keys of the runs of text tasks, the one made last first."""
    return tuple(run.key for run in reversed(store.run_read(lambda connection: labelled_runs(connection, GAME))))


def labelled_run(connection: Connection, game: str, run_key: str | None, *, venue: str) -> StoredRun:
    """Return the run of a game on texts that has a key; left out, the one that was made last.

    Raises:
        UsageError: If there is none; it names the venue that makes one.
    """
    known = labelled_runs(connection, game)
    if not known:
        raise UsageError(
            f"this ledger has no run of {game}. Make one with `predibot decide {game} --venue {venue}:FOLDER`"
        )
    run = known[-1] if run_key is None else next((each for each in known if each.key == run_key), None)
    if run is None:
        raise UsageError(f"no run of {game} {run_key!r}. {did_you_mean(str(run_key), [each.key for each in known])}")
    return run


def _readings(connection: Connection, run_key: str | None) -> tuple[Readings, str, list[str]]:
    run = labelled_run(connection, GAME, run_key, venue="comments")
    facts: dict[str, Fact] = {}
    crowds: dict[str, tuple[int, int]] = {}
    for name, payload in frozen_items(connection, run.id):
        task, _, rest = name.partition("/")
        if task == CROWD:
            found = json.loads(payload)
            crowds[rest] = (found["won"], found["counted"])
        elif task in TASKS:
            facts[name] = _fact(Item.from_json(payload))
    said: dict[str, dict[str, str | None]] = {}
    lost: dict[str, int] = {}
    lenient: dict[str, set[str]] = {}
    for each in said_labels(connection, run.id):
        of_bot = said.setdefault(each.bot, {})
        if each.status == "recorded" or is_unread(each):
            of_bot[each.subject_id] = each.label
            if each.is_lenient:
                lenient.setdefault(each.bot, set()).add(each.subject_id)
        elif each.model is not None:
            lost[each.bot] = lost.get(each.bot, 0) + 1
    notes = [
        f"{bot}: {n:,} texts without an answer, for want of budget or by failures; in no score"
        for bot, n in lost.items()
    ]
    notes += add_strict(said, lenient, None)
    return Readings(facts, said, crowds, ACTION_HOURS), run.key, notes


def add_strict(said: dict[str, dict[str, T]], lenient: Mapping[str, Collection[str]], unread: T) -> list[str]:
    """Add each bot that worded labels once more, with those as unread, and return what is noted of it.

    Args:
        said: By bot and item the label.
        lenient: By bot the items whose label did not stand alone.
        unread: What stands for an answer without a label.
    """
    for bot, items in lenient.items():
        said[f"{bot} (strict)"] = {item: unread if item in items else label for item, label in said[bot].items()}
    return [
        f"{bot}: {len(items):,} labels read leniently, with marks or words around them; unread in '{bot} (strict)'"
        for bot, items in lenient.items()
    ]


def is_unread(said: Row[Any]) -> bool:
    """Return whether there was an answer, and no label in it; a model that would not say counts as one that did not."""
    is_of_model = said.model is not None and (said.status, said.reason_kind) in _SILENT
    return said.status == "refused" or is_of_model


def _fact(item: Item) -> Fact:
    truth = item.truth
    if truth is None:
        raise UsageError(f"the run has no truth of {item.subject_id[:60]!r}; it was altered after it was made")
    side, stake, baseline = "", 0.0, 0
    if TASKS[item.task].kind == "window":
        baseline = stake_sign(truth.stakes)
    elif truth.stakes:
        ((side, stake),) = truth.stakes
    return Fact(
        task=item.task,
        split=item.split,
        market=item.market,
        label=truth.label,
        side=side,
        stake=stake,
        user=truth.user,
        resolved=truth.resolved,
        baseline=baseline,
        length=sum(map(len, item.texts)),
        written=truth.written,
        actions=truth.actions,
        volume=truth.volume,
        days_left=truth.days_left,
    )


def _pair(text: str, readings: Readings) -> tuple[str, str]:
    one, colon, other = text.partition(":")
    for bot in (one, other):
        if not colon or bot not in readings.said:
            raise UsageError(f"--pairs {text[:60]!r}: write A:B with two bots of the run: {', '.join(readings.said)}")
    return one, other
