"""Sheets of reasons: out without their authors, and in again with people's votes."""

import csv
from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.studies.beliefbench.games.beliefbench import Beliefbench
from predibot.studies.beliefbench.pairs import LABELS, PairItem
from predibot.studies.beliefbench.scores.cases import candidates_of
from predibot.studies.beliefbench.scores.tables import PairReadings
from predibot.studies.beliefbench.sheets import read_votes, write_reasons_sheet
from tests.studies.beliefbench.test_pairs import rows_of

EVENTS, _ = Beliefbench(per_class=1).drawn(rows_of(), 7)
ITEMS = {event.id: PairItem.from_json(event.payload) for event in EVENTS}
REASONS = {"writer_one": dict.fromkeys(ITEMS, "=1+1"), "writer_two": dict.fromkeys(ITEMS, 'Both "rest" on it,\ntoo.')}
RUN = PairReadings({}, {}, reasons=REASONS, items=ITEMS)
CANDIDATES = candidates_of(RUN)


def test_a_sheet_of_reasons_names_no_author_and_comes_back_with_votes(tmp_path: Path) -> None:
    path = tmp_path / "reasons.csv"
    assert write_reasons_sheet(RUN, path) == len(ITEMS)
    text = path.read_text(encoding="utf-8-sig")
    assert "writer" not in text and not [label for label in LABELS if label in text]
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = list(csv.DictReader(file))
    assert {row["reasons"] for row in rows} == {"'=1+1", 'Both "rest" on it, too.'}
    chosen = {(row["pair"], row["candidate"]) for row in rows[::2]}
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(
            row | {"rater": "ann", "vote": "1" if (row["pair"], row["candidate"]) in chosen else "0"} for row in rows
        )
    votes = read_votes(path, CANDIDATES)
    assert {(pair, name) for pair, names in votes["ann"].items() for name in names} == chosen


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pair,rater,vote\n", "has no column 'candidate'; its columns are pair, candidate, rater and vote"),
        ("pair,candidate,rater,vote\n{pair},{id},ann,2\n", "line 2: the vote is '2'; it is 1 for a choice"),
        ("pair,candidate,rater,vote\n{pair},zz,ann,1\n", "has no candidate 'zz'"),
        ("pair,candidate,rater,vote\n{pair},{id},,1\n", "nobody is named under 'rater'"),
        ("pair,candidate,rater,vote\n{pair},{id},ann,1\n{pair},{id},ann,1\n", "line 3: 'ann' chose"),
        ("pair,candidate,rater,vote\n{pair},{id},ann,\n", "has no vote; write 1"),
    ],
)
def test_a_file_of_votes_that_is_none_is_refused(tmp_path: Path, text: str, said: str) -> None:
    pair = next(iter(CANDIDATES))
    path = tmp_path / "votes.csv"
    path.write_text(text.format(pair=pair, id=next(iter(CANDIDATES[pair]))))
    with pytest.raises(UsageError) as caught:
        read_votes(path, CANDIDATES)
    assert said in str(caught.value)


def test_without_two_different_reasons_there_is_no_sheet(tmp_path: Path) -> None:
    alone = PairReadings({}, {}, reasons={"one": REASONS["writer_one"]}, items=ITEMS)
    with pytest.raises(UsageError, match="different reasons by two bots"):
        write_reasons_sheet(alone, tmp_path / "reasons.csv")
