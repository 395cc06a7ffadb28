"""Readings: the pairs of a run, the labels of bots and judges, and people's labels; and the figures of their tables."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import Connection

from predibot.errors import UsageError
from predibot.ledger.read.labels import frozen_items, label_reasons, labelling_bots
from predibot.ledger.store import Store
from predibot.related.graph import Edge
from predibot.reports.cells import CellPicture, Panel
from predibot.reports.pictures.graph import EdgeKind, GraphPicture
from predibot.reports.study import StudyPicture, StudyTables
from predibot.rows import grouped
from predibot.scoring.study_table import Cell, StudyTable, number_of
from predibot.studies.answers import add_strict, find_run, read_answers
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairItem
from predibot.studies.beliefbench.scores import cases
from predibot.studies.beliefbench.scores.scores import UNREAD
from predibot.studies.beliefbench.scores.tables import PairFact, PairReadings, beliefbench_tables
from predibot.studies.beliefbench.sheets import read_ratings, read_votes
from predibot.studies.label_game import LabelGame

GAME = "beliefbench"
FIRST = ("all", "reasons", "raters", "people", "weights", "votes")
_MORE = (
    "--full adds domains, what came after the models' knowledge cutoff, which labels were given, case studies, and "
    "graphs of labels"
)


def pair_tables(
    store: Store, *, run_key: str | None = None, people: Path | None = None, votes: Path | None = None
) -> StudyTables:
    """Return the tables of a run over pairs, the latest by default; a UsageError without such a run or for a bad file.

    `people` is a CSV file with the columns pair, rater and label; `votes` one with pair, candidate, rater and vote.
    """
    run = read_run(store, run_key)
    ratings = None if people is None else read_ratings(people, run.items.__contains__)
    graphs = cases.label_graphs(run)
    tables = [*beliefbench_tables(run, ratings), *cases.case_tables(run), cases.graph_table(graphs)]
    if votes is not None:
        candidates = cases.candidates_of(run)
        tables.append(cases.vote_table(candidates, read_votes(votes, candidates)))
    drawings: tuple[StudyPicture, ...] = (*beliefbench_pictures(tables), *graph_pictures(graphs))
    return StudyTables(run.run, tuple(tables), run.notes, FIRST, _MORE, drawings=drawings)


def read_run(store: Store, run_key: str | None) -> PairReadings:
    """Return a run over pairs, or the latest; raise `UsageError` if there is none."""
    with store.blame_rows():
        return store.run_read(lambda connection: _read_run(connection, run_key))


def _read_run(connection: Connection, run_key: str | None) -> PairReadings:
    run = find_run(connection, GAME, run_key, venue="pairs")
    items = {name: PairItem.from_json(payload) for name, payload in frozen_items(connection, run.id)}
    bots = {bot.name: bot for bot in labelling_bots(connection, run.id)}
    # A pool reads members' labels too, and gives one of a pair.
    judging = {name: bot for name, bot in bots.items() if bot.strategy != LabelGame.pooled_by}
    members = {name: json.loads(bot.members_json or "[]") for name, bot in judging.items()}
    judges = {name: own[0] for name, own in members.items() if own}
    answers = read_answers(connection, run.id, judges)
    labels = {
        name: {
            pair: LABELS.index(label) if label in LABELS else UNREAD
            for pair, label in answers.labels.get(name, {}).items()
        }
        for name in bots
        if name not in judges
    }
    judged = {
        (judge, bot): {pair: str(kind) for pair, kind in answers.labels.get(judge, {}).items() if kind in REASONINGS}
        for judge, bot in judges.items()
    }
    notes = add_strict(labels, {bot: items for bot, items in answers.lenient.items() if bot in labels}, UNREAD)
    remarks = {bot: _remark(reasons) for bot, reasons in answers.silent.items()}
    return PairReadings(
        facts={name: _fact(item) for name, item in items.items()},
        answers=labels,
        remarks=remarks,
        cutoffs={name: bot.knowledge_cutoff for name, bot in bots.items() if name in labels and bot.knowledge_cutoff},
        judged=judged,
        models={name: bot.model for name, bot in bots.items() if name in labels and bot.model},
        reasons={name: of_pair for name, of_pair in label_reasons(connection, run.id).items() if name in labels},
        run=run.key,
        items=items,
        notes=(*notes, *(f"{bot}: {remark}" for bot, remark in remarks.items())),
    )


def _remark(reasons: Counter[str]) -> str:
    (reason, most), total = reasons.most_common(1)[0], sum(reasons.values())
    others = "" if most == total else f", and {total - most:,} for other reasons"
    return f"{most:,} pairs without a label: {' '.join(reason.split())[:160].rstrip('.')}{others}"


def _fact(item: PairItem) -> PairFact:
    if item.truth is None or item.markets is None or item.truth.label not in LABELS:
        raise UsageError(f"the run has no truth of {item.id[:60]!r}; it was altered after it was made")
    first, second = item.markets
    return PairFact(
        domain=item.truth.domain,
        label=LABELS.index(item.truth.label),
        score=item.truth.score,
        events=(first.event, second.event),
        created_on=max(first.first_on, second.first_on),
        features=item.truth.features,
        titles=(first.title, second.title),
        markets=(first.id, second.id),
    )


_METRICS = ("MSE", "MAE", "Acc", "F1", "QWK")
_ERRORS = ("MSE", "MAE")
_Record = Mapping[str, Cell]


def beliefbench_pictures(tables: Sequence[StudyTable]) -> tuple[CellPicture, ...]:
    """Return the figures that have something to show: the paper's 3, 4, 5 and 7."""
    records = {each.name: [dict(zip(each.columns, row, strict=True)) for row in each.rows] for each in tables}
    changes, kinds = records.get("changes", []), ("logical", "causal", "confounding", "narrative")
    change_note = "Part of the score before the cutoff; below zero the model is worse after it, errors included."
    found = (
        CellPicture(
            "domains",
            "How well each bot relates questions, by domain (Figure 3)",
            tuple(_normalise(records.get("domains", []))),
            "shade",
            "Each score from 0 for the worst to 1 for the best bot of the domain, errors turned round; best mean "
            "first.",
        ),
        CellPicture(
            "after_cutoff",
            "Change of MSE after the models' knowledge cutoff (Figure 4)",
            tuple(_panel(name, rows, "bot", ["MSE"]) for name, rows in _by(changes, "domain")),
            "bar",
            change_note,
        ),
        CellPicture(
            "reasons",
            "What reasons rest on, as a judge says (Figure 5)",
            tuple(_panel(name, rows, "domain", kinds) for name, rows in _by(records.get("reasons", []), "bot")),
            "shade",
            "Shares of a bot's reasons.",
        ),
        CellPicture(
            "after_cutoff_all",
            "Change of every score after the models' knowledge cutoff (Figure 7)",
            tuple(_panel(name, rows, "bot", _METRICS) for name, rows in _by(changes, "domain")),
            "bar",
            change_note,
        ),
    )
    return tuple(each for each in found if not each.is_empty)


def graph_pictures(graphs: Sequence[cases.LabelGraph]) -> Iterator[GraphPicture]:
    """Yield a picture for each bot beside S, the paper's Figure 6; none where neither has an edge."""
    for each in graphs[1:]:
        scores = {_ends(edge): edge for edge in each.of_score.edges}
        edges = {_ends(edge): edge for edge in each.graph.edges}
        both = cases.label_graph((scores | edges).values())
        if both.edges:
            compared: dict[frozenset[str], tuple[EdgeKind, str]] = {
                ends: (
                    "score" if ends not in edges else "edge" if ends in scores else "bot",
                    f"{each.bot} says {each.labels[ends][0]}, S is {each.labels[ends][1]:.2f}",
                )
                for ends in scores | edges
            }
            yield GraphPicture(
                f"graph_{each.bot}",
                f"Related questions as {each.bot} labels them, beside S (Figure 6)",
                "An edge joins two questions of different events that the bot or S finds related by 0.6 or more, of "
                "the pairs that it labelled. Grey: both; orange: the bot alone; blue and dashed: S alone.",
                both,
                each.titles,
                compared,
            )


def _ends(edge: Edge) -> frozenset[str]:
    return frozenset((edge.first, edge.second))


def _by(records: Iterable[_Record], column: str) -> Iterable[tuple[str, list[_Record]]]:
    found = grouped((str(each[column]), each) for each in records)
    return found.items()


def _panel(name: str, records: Sequence[_Record], row: str, columns: Sequence[str]) -> Panel:
    values = tuple(tuple(number_of(each[column]) for column in columns) for each in records)
    return Panel(name, tuple(str(each[row]) for each in records), tuple(columns), values)


def _normalise(records: Sequence[_Record]) -> Iterable[Panel]:
    """Yield a panel for each domain with scores between those of the worst and the best bot."""
    panels = [_panel(name, rows, "bot", _METRICS) for name, rows in _by(records, "domain")]
    scaled = [
        Panel(p.name, p.rows, p.columns, tuple(zip(*map(_scale, _METRICS, zip(*p.values, strict=True)), strict=True)))
        for p in panels
    ]
    sums: dict[str, list[float]] = {}
    for panel in scaled:
        for bot, values in zip(panel.rows, panel.values, strict=True):
            sums.setdefault(bot, []).extend(value for value in values if value is not None)
    for panel in scaled:
        order = sorted(zip(panel.rows, panel.values, strict=True), key=lambda each: (-_mean(sums[each[0]]), each[0]))
        yield Panel(panel.name, tuple(bot for bot, _ in order), panel.columns, tuple(values for _, values in order))


def _scale(metric: str, values: Sequence[float | None]) -> tuple[float | None, ...]:
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    if low == high:
        # Bots that are alike are neither best nor worst.
        return tuple(None if value is None else 0.5 for value in values)
    shares = (None if value is None else (value - low) / (high - low) for value in values)
    return tuple(None if each is None else 1.0 - each if metric in _ERRORS else each for each in shares)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
