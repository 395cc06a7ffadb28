"""Readings: the pairs of a run, the labels of bots and judges, and people's labels."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection

from predibot.errors import UsageError
from predibot.ledger.read.labels import frozen_items, label_reasons, labelling_bots
from predibot.ledger.store import Store
from predibot.reports.study import StudyPicture, StudyTables
from predibot.studies.answers import add_strict, find_run, read_answers
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairItem
from predibot.studies.beliefbench.people import read_ratings, read_votes
from predibot.studies.beliefbench.pictures import beliefbench_pictures, graph_pictures
from predibot.studies.beliefbench.scores.cases import case_tables
from predibot.studies.beliefbench.scores.graphs import graph_table, label_graphs
from predibot.studies.beliefbench.scores.scores import UNREAD
from predibot.studies.beliefbench.scores.tables import Judgement, PairFact, PairReadings, beliefbench_tables
from predibot.studies.beliefbench.scores.votes import candidates_of, vote_table

GAME = "beliefbench"
FIRST = ("all", "reasons", "raters", "people", "weights", "votes")
_MORE = (
    "--full adds domains, what came after the models' knowledge cutoff, which labels were given, case studies, and "
    "graphs of labels"
)


@dataclass(frozen=True, slots=True)
class PairRun:
    """A run over pairs."""

    key: str
    items: Mapping[str, PairItem]
    """By pair."""
    readings: PairReadings
    notes: tuple[str, ...]


def pair_tables(
    store: Store, *, run_key: str | None = None, people: Path | None = None, votes: Path | None = None
) -> StudyTables:
    """Return the tables of a run over pairs, the latest by default.

    Args:
        store: The ledger.
        run_key: The key of the run.
        people: A CSV file with the columns pair, rater and label.
        votes: A CSV file with the columns pair, candidate, rater and vote.

    Raises:
        UsageError: If there is no such run, or a file is none.
    """
    run = read_run(store, run_key)
    said = None if people is None else read_ratings(people, run.items.__contains__)
    graphs = label_graphs(run.readings)
    tables = [*beliefbench_tables(run.readings, said), *case_tables(run.readings), graph_table(graphs)]
    if votes is not None:
        candidates = candidates_of(run.readings)
        tables.append(vote_table(candidates, read_votes(votes, candidates)))
    drawings: tuple[StudyPicture, ...] = (*beliefbench_pictures(tables), *graph_pictures(graphs))
    return StudyTables(run.key, tuple(tables), run.notes, FIRST, _MORE, drawings=drawings)


def read_run(store: Store, run_key: str | None) -> PairRun:
    """Return a run over pairs, or the latest.

    Raises:
        UsageError: If there is none.
    """
    with store.blame_rows():
        return store.run_read(lambda connection: _read_run(connection, run_key))


def _read_run(connection: Connection, run_key: str | None) -> PairRun:
    run = find_run(connection, GAME, run_key, venue="pairs")
    items = {name: PairItem.from_json(payload) for name, payload in frozen_items(connection, run.id)}
    bots = {bot.name: bot for bot in labelling_bots(connection, run.id)}
    members = {name: json.loads(bot.members_json or "[]") for name, bot in bots.items()}
    judges = {name: Judgement(own[0], {}) for name, own in members.items() if own}
    answers = read_answers(connection, run.id, judges)
    said = {
        name: {
            pair: LABELS.index(label) if label in LABELS else UNREAD
            for pair, label in answers.labels.get(name, {}).items()
        }
        for name in bots
        if name not in judges
    }
    kinds = {
        name: {pair: str(kind) for pair, kind in answers.labels.get(name, {}).items() if kind in REASONINGS}
        for name in judges
    }
    notes = add_strict(said, {bot: items for bot, items in answers.lenient.items() if bot in said}, UNREAD)
    remarks = {bot: _remark(reasons) for bot, reasons in answers.silent.items()}
    readings = PairReadings(
        facts={name: _fact(item) for name, item in items.items()},
        answers=said,
        labels=LABELS,
        remarks=remarks,
        cutoffs={name: bot.knowledge_cutoff for name, bot in bots.items() if name in said and bot.knowledge_cutoff},
        judged={name: Judgement(judge.of, kinds[name]) for name, judge in judges.items()},
        reasonings=REASONINGS,
        models={name: bot.model for name, bot in bots.items() if name in said and bot.model},
        reasons={name: of_pair for name, of_pair in label_reasons(connection, run.id).items() if name in said},
    )
    return PairRun(run.key, items, readings, (*notes, *(f"{bot}: {remark}" for bot, remark in remarks.items())))


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
