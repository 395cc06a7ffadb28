"""Readings: the texts of a run and the labels of bots."""

import json
from collections.abc import Sequence

from sqlalchemy import Connection

from predibot.errors import UsageError
from predibot.ledger.read.labels import frozen_items
from predibot.ledger.store import Store
from predibot.reports.study import StudyItem, StudyTables
from predibot.studies.answers import add_strict, find_run, read_answers
from predibot.studies.stakebench.cleaning import MONEY_SIGNS
from predibot.studies.stakebench.positions import ACTION_HOURS
from predibot.studies.stakebench.scores.tables import Fact, Readings, stakebench_tables
from predibot.studies.stakebench.tasks import CROWD, NEUTRAL, TASKS, Item, stake_sign

GAME = "stakebench"
FIRST = ("3", "13")
"""The scores of each bot, and the compared pairs."""
_MORE = "--full adds intervals, tests, audits, gaps and what each split was like"


def run_tables(store: Store, *, run_key: str | None = None, pairs: Sequence[str] = ()) -> StudyTables:
    """Return the tables of a run of text tasks, the latest by default.

    Args:
        store: The ledger.
        run_key: The key of the run.
        pairs: Bots to compare, each as `A:B`.

    Raises:
        UsageError: If there is no such run, or a pair names no two bots of it.
    """
    with store.blame_rows():
        readings, key, notes = store.run_read(lambda connection: _readings(connection, run_key))
    tables = stakebench_tables(readings, pairs=[_pair(each, readings) for each in pairs])
    return StudyTables(key, tables, tuple(notes), FIRST, _MORE)


def _readings(connection: Connection, run_key: str | None) -> tuple[Readings, str, list[str]]:
    run = find_run(connection, GAME, run_key, venue="comments")
    facts: dict[str, Fact] = {}
    crowds: dict[str, tuple[int, int]] = {}
    for name, payload in frozen_items(connection, run.id):
        task, _, rest = name.partition("/")
        if task == CROWD:
            found = json.loads(payload)
            crowds[rest] = (found["won"], found["counted"])
        elif task in TASKS:
            facts[name] = fact_of(Item.from_json(payload))
    answers = read_answers(connection, run.id)
    notes = [
        f"{bot}: {reasons.total():,} texts without an answer, for want of budget or by failures; in no score"
        for bot, reasons in answers.silent.items()
        if bot in answers.models
    ]
    for bot, items in answers.abstained.items():
        neutral = [item for item in items if NEUTRAL in TASKS[facts[item].task].labels]
        answers.labels[bot] |= dict.fromkeys(neutral, NEUTRAL)
        missed = len(items) - len(neutral)
        notes.append(
            f"{bot}: abstained on {len(items):,} texts; {len(neutral):,} count as {NEUTRAL}, {missed:,} as misses"
        )
    notes += add_strict(answers.labels, answers.lenient, None)
    return Readings(facts, answers.labels, crowds, ACTION_HOURS), run.key, notes


def fact_of(item: Item) -> Fact:
    """Return what scores need of a text.

    Raises:
        UsageError: If its truth is not known.
    """
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


def show_item(payload: str) -> StudyItem:
    """Return a text as a page shows it, with its truth.

    Raises:
        ValueError: If it is no text of a run.
    """
    item = Item.from_json(payload)
    money = MONEY_SIGNS["manifold" if item.platform == "manifold" else "polymarket"]
    facts: dict[str, str | None] = {
        "shown as held": None if item.side is None else f"{item.side}, {money}{item.size or 0.0:,.0f}",
        "shown as price of YES": None if item.price is None else f"{item.price:.2f}",
    }
    label = ""
    if item.truth is not None:
        label = item.truth.label
        facts["staked"] = "; ".join(f"{side} {money}{size:,.0f}" for side, size in item.truth.stakes)
        facts["paid"] = {1: "YES", -1: "NO"}.get(item.truth.resolved)
    known = tuple((name, value) for name, value in facts.items() if value)
    return StudyItem(item.question, f"{item.task} of {item.split}", item.texts, label, known)


def _pair(text: str, readings: Readings) -> tuple[str, str]:
    one, colon, other = text.partition(":")
    for bot in (one, other):
        if not colon or bot not in readings.labels:
            raise UsageError(f"--pairs {text[:60]!r}: write A:B with two bots of the run: {', '.join(readings.labels)}")
    return one, other
