"""Readings: the texts of a run with the labels of bots, and the pictures of Figure 2: chain, families, sizes."""

import csv
import io
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

from sqlalchemy import Connection

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.ledger.read.labels import frozen_items
from predibot.ledger.store import Store
from predibot.plain_file import plain_text
from predibot.reports.cells import CellPicture, Panel
from predibot.reports.pictures.series import Plot, Scatter
from predibot.reports.study import StudyItem, StudyTables
from predibot.scoring.study_table import Cell, StudyTable, number_of
from predibot.studies.answers import add_strict, find_run, read_answers
from predibot.studies.stakebench.cleaning import MONEY_SIGNS
from predibot.studies.stakebench.positions import ACTION_HOURS
from predibot.studies.stakebench.scores.chain import (
    LINKS,
    Family,
    case_table,
    chain_tables,
    family_of,
    scores_by_bot,
    split_texts,
)
from predibot.studies.stakebench.scores.significance import rank_test
from predibot.studies.stakebench.scores.tables import Readings, stakebench_tables
from predibot.studies.stakebench.tasks import CROWD, NEUTRAL, TASKS, Item

GAME = "stakebench"
FIRST = ("3", "13")
"""The scores of each bot, and the compared pairs."""
_MOST_BYTES = 1 << 20
_FAMILY = ("bot", "family", "billions")
_BY_NAME = (
    "A family is the first word of a model's name, its size the number before a b; --families FILE states others."
)
_MORE = "--full adds intervals, tests, audits, gaps and what each split was like"


def run_tables(
    store: Store, *, run_key: str | None = None, pairs: Sequence[str] | None = None, families: Path | None = None
) -> StudyTables:
    """Return the tables of a run of text tasks, the latest by default; a UsageError without such a run or bots.

    `pairs` are bots to compare, each as `A:B`. `families` is a CSV of bot, family and, where it is known, billions of
    parameters; by default they are read from the names of models.
    """
    stated = None if families is None else read_families(families)
    with store.blame_all_rows():
        readings, key, notes, cases, models = store.run_read(lambda connection: _readings(connection, run_key))
    if stated is not None and (strangers := sorted(stated.keys() - {*readings.bots})):
        what = f"{families} names {strangers[0][:40]!r}, which is no bot of run {key}"
        raise UsageError(f"{what}. {did_you_mean(strangers[0], readings.bots)}")
    of_family = {bot: family_of(model) for bot, model in models.items()} if stated is None else stated
    tables = stakebench_tables(readings, pairs=[_pair(each, readings) for each in pairs or ()])
    chain = chain_tables(tables[0], of_family, note=_BY_NAME if stated is None else "")
    pictures = tuple(scatter_pictures(tables[0], of_family))
    return StudyTables(key, (*tables, cases, *chain), tuple(notes), FIRST, _MORE, pictures, tuple(figure_2(*chain)))


def read_families(file: Path) -> dict[str, Family]:
    """Return the family of each bot in a CSV with the columns bot, family and billions.

    Raises `UsageError` if it cannot be read, or a line is malformed.
    """
    try:
        rows = csv.DictReader(io.StringIO(plain_text(file, encoding="utf-8-sig", most=_MOST_BYTES), newline=""))
        lines = [(rows.line_num, {name: (row.get(name) or "").strip() for name in _FAMILY}) for row in rows]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"{file} cannot be read ({error}); name a CSV of bot, family and billions") from None
    if not {"bot", "family"} <= {*(rows.fieldnames or ())}:
        raise UsageError(f"{file} has no columns bot and family; write them in its first line")
    found = dict[str, Family]()
    for number, row in lines:
        bot, family, stated = (row[name] for name in _FAMILY)
        try:
            billions = float(stated) if stated else None
        except ValueError:
            billions = math.nan
        if billions is not None and not 0.0 < billions < math.inf:
            raise UsageError(f"{file}, line {number}: billions is {stated[:20]!r}; give a number, or leave it out")
        if not family or bot in found:
            raise UsageError(f"{file}, line {number}: {bot[:40]!r} has no family or two; give each bot one line")
        found[bot] = Family(family, billions)
    return found


def _readings(
    connection: Connection, run_key: str | None
) -> tuple[Readings, str, list[str], StudyTable, dict[str, str]]:
    run = find_run(connection, GAME, run_key, venue="comments")
    facts: dict[str, Item] = {}
    crowds: dict[str, tuple[int, int]] = {}
    for name, payload in frozen_items(connection, run.id):
        task, _, rest = name.partition("/")
        if task == CROWD:
            found = json.loads(payload)
            crowds[rest] = (found["won"], found["counted"])
        elif task in TASKS:
            facts[name] = Item.from_json(payload)
    answers = read_answers(connection, run.id)
    for name, label in (each for of_bot in answers.labels.values() for each in of_bot.items()):
        if label is not None and label not in TASKS[facts[name].task]:
            raise ValueError(f"the label of {name[:60]!r} is {label[:20]!r}, and no answer of its task")
    notes = [
        f"{bot}: {reasons.total():,} texts without an answer, for want of budget or by failures; in no score"
        for bot, reasons in answers.silent.items()
        if bot in answers.models
    ]
    for bot, items in answers.abstained.items():
        neutral = [item for item in items if NEUTRAL in TASKS[facts[item].task]]
        answers.labels[bot] |= dict.fromkeys(neutral, NEUTRAL)
        missed = len(items) - len(neutral)
        notes.append(
            f"{bot}: abstained on {len(items):,} texts; {len(neutral):,} count as {NEUTRAL}, {missed:,} as misses"
        )
    notes += add_strict(answers.labels, answers.lenient, None)
    readings = Readings(facts, answers.labels, crowds, ACTION_HOURS)
    cases = dict(split_texts(readings))
    return readings, run.key, notes, case_table(readings, cases), answers.models


def show_item(payload: str) -> StudyItem:
    """Return a text as a page shows it, with its truth; raise `ValueError` if it is no text of a run."""
    item = Item.from_json(payload)
    money = MONEY_SIGNS.get(item.platform, "$")
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


_SIGNIFICANT = 0.05
_STARS = f"Spearman's rank correlation over bots; an asterisk marks p < {_SIGNIFICANT:.2f}."


def figure_2(chain: StudyTable, families: StudyTable, scale: StudyTable) -> Iterator[CellPicture]:
    """Yield the parts of Figure 2 that have something to show, from `chain_tables`."""
    found = (
        CellPicture(
            "figure_2a", "How scores of the tasks go together (Figure 2a)", (_matrix(chain),), "bar", _STARS, 1.0
        ),
        CellPicture(
            "figure_2b",
            "Means of families of models (Figure 2b)",
            tuple(_columns("family", families.rows, ("Agg", *LINKS))),
            "shade",
            families.note,
        ),
        CellPicture(
            "figure_2c",
            "Size of models and scores (Figure 2c)",
            tuple(_ranks("billions of parameters", scale.rows)),
            "bar",
            _STARS,
            1.0,
        ),
    )
    return (each for each in found if not each.is_empty)


_Rows = Sequence[Sequence[Cell]]


def _matrix(chain: StudyTable) -> Panel:
    """Return the correlations as a triangle: each score below those of the tasks before it."""
    places = {pair: row for pair, row in zip(combinations(range(len(LINKS)), 2), chain.rows, strict=True)}
    size = range(len(LINKS) - 1)
    values = tuple(tuple(number_of(places[c, r + 1][1]) if c <= r else None for c in size) for r in size)
    marked = frozenset((r - 1, c) for (c, r), row in places.items() if _is_significant(row[2]))
    return Panel("rank correlation", LINKS[1:], LINKS[:-1], values, marked)


def _columns(name: str, rows: _Rows, columns: tuple[str, ...]) -> Iterator[Panel]:
    if rows:
        values = tuple(tuple(number_of(cell) for cell in row[1 : len(columns) + 1]) for row in rows)
        yield Panel(name, tuple(str(row[0]) for row in rows), columns, values)


def _ranks(name: str, rows: _Rows) -> Iterator[Panel]:
    """Yield the correlations of all scores side by side."""
    if rows:
        marked = frozenset((0, place) for place, row in enumerate(rows) if _is_significant(row[2]))
        values = (tuple(number_of(row[1]) for row in rows),)
        yield Panel("rank correlation", (name,), tuple(str(row[0]) for row in rows), values, marked)


def _is_significant(p: Cell) -> bool:
    return isinstance(p, float) and p < _SIGNIFICANT


def scatter_pictures(main: StudyTable, families: Mapping[str, Family]) -> Iterator[tuple[str, Scatter]]:
    """Yield scores against G2 DA, and scores against sizes of models, with the names of their files."""
    bots = scores_by_bot(main)
    sides = {bot: scores["G2 DA"] for bot, scores in bots.items()}
    sizes = {bot: each.billions for bot, each in families.items() if each.billions is not None and bot in bots}
    for name, title, across, of in (
        ("chain", "Which side is revealed, against the other tasks", "G2 DA", sides),
        ("scale", "Size of models against scores", "billions of parameters", sizes),
    ):
        panels = []
        for score in (each for each in LINKS if each != across):
            points = {bot: (x, bots[bot][score]) for bot, x in of.items() if not math.isnan(x + bots[bot][score])}
            if len(points) > 1:
                rho, p, n = rank_test(*zip(*points.values(), strict=True))
                known = "" if math.isnan(rho) else f"rho {rho:.2f}, p = {p:.3f}, "
                panels.append(Plot(score, points, f"{known}{n} bots"))
        if panels:
            yield name, Scatter(title, tuple(panels), "Each point is a bot; rho: Spearman's rank correlation.", across)
