"""Readings: the pairs of a run, the labels of bots and judges, and people's labels."""

import json
from collections import Counter
from pathlib import Path

from sqlalchemy import Connection

from predibot.domain.untrusted_text import spreadsheet_cell
from predibot.errors import UsageError
from predibot.ledger.read.labels import frozen_items, label_reasons, labelling_bots
from predibot.ledger.store import Store
from predibot.reports.study import StudyTables
from predibot.studies.answers import add_strict, find_run, read_answers
from predibot.studies.beliefbench.pairs import LABELS, REASONINGS, PairItem
from predibot.studies.beliefbench.people import read_ratings
from predibot.studies.beliefbench.pictures import beliefbench_pictures
from predibot.studies.beliefbench.scores.cases import case_tables
from predibot.studies.beliefbench.scores.scores import UNREAD
from predibot.studies.beliefbench.scores.tables import Judgement, PairFact, PairReadings, beliefbench_tables
from predibot.whole_file import whole_file

GAME = "beliefbench"
FIRST = ("all", "reasons", "raters", "people", "weights")
_MORE = "--full adds domains, what came after the models' knowledge cutoff, and which labels were given"
_COLUMNS = ("pair", "title_1", "description_1", "title_2", "description_2", "rater", "label")


def pair_tables(store: Store, *, run_key: str | None = None, people: Path | None = None) -> StudyTables:
    """Return the tables of a run over pairs, the latest by default.

    Args:
        store: The ledger.
        run_key: The key of the run.
        people: A CSV file with the columns pair, rater and label.

    Raises:
        UsageError: If there is no such run, or the file is none.
    """
    with store.blame_rows():
        key, items, readings, notes = store.run_read(lambda connection: _readings(connection, run_key))
    said = None if people is None else read_ratings(people, items.__contains__)
    tables = (*beliefbench_tables(readings, said), *case_tables(readings))
    return StudyTables(key, tables, tuple(notes), FIRST, _MORE, cells=beliefbench_pictures(tables))


def write_sheet(store: Store, path: Path, *, run_key: str | None = None, per_label: int = 10) -> int:
    """Write a CSV sheet for people to label, and return its number of pairs, the first of each label by id.

    It shows neither labels nor scores. Each rater fills in a copy; `pair_tables`
    reads the copies one below the other.

    Raises:
        UsageError: If there is no such run, or the file cannot be written.
    """
    with store.blame_rows():
        _, items, _, _ = store.run_read(lambda connection: _readings(connection, run_key))
    taken: Counter[str] = Counter()
    rows = []
    for id_, item in sorted(items.items()):
        label = item.truth.label if item.truth else ""
        if taken[label] < per_label:
            taken[label] += 1
            texts = [spreadsheet_cell(text) for texts in item.texts for text in texts]
            rows.append([id_, *texts, "", ""])
    try:
        with whole_file(path) as file:
            file.write(b"\xef\xbb\xbf")
            for row in [_COLUMNS, *rows]:
                file.write((",".join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n").encode())
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}; name another file") from error
    return len(rows)


def _readings(connection: Connection, run_key: str | None) -> tuple[str, dict[str, PairItem], PairReadings, list[str]]:
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
    return run.key, items, readings, [*notes, *(f"{bot}: {remark}" for bot, remark in remarks.items())]


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
    )
