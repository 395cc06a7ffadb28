"""The tables of labels of pairs: each number from pairs that are counted by hand."""

from dataclasses import replace
from typing import Any

import pytest

from predibot.scoring.study_table import StudyTable
from predibot.studies.beliefbench.pairs import LABELS
from predibot.studies.beliefbench.scores.scores import UNREAD
from predibot.studies.beliefbench.scores.tables import (
    PairFact,
    PairReadings,
    PeoplesRatings,
    beliefbench_tables,
)

FACTS = {
    "p1": PairFact("Crypto", 0, 0.1, ("a", "b"), "2025-01-01"),
    "p2": PairFact("Crypto", 2, 0.5, ("a", "c"), "2025-06-01"),
    "p3": PairFact("Politics", 4, 0.9, ("d", "e"), "2025-06-02"),
    "p4": PairFact("Politics", 1, 0.3, ("d", "f"), "2025-01-01"),
}
READINGS = PairReadings(
    facts=FACTS,
    answers={"model": {"p1": 0, "p2": 3, "p3": UNREAD, "p4": 1}, "silent": {}},
    remarks={"silent": "4 pairs without a label: no volume"},
    cutoffs={"model": "2025-06-01"},
    judged={("judge", "model"): {"p1": "causal", "p4": "logical"}},
)


def rows_of(name: str, readings: PairReadings = READINGS, people: PeoplesRatings | None = None) -> list[dict[str, Any]]:
    (table,) = (each for each in beliefbench_tables(readings, people) if each.name == name)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_who_said_nothing_has_a_row_without_numbers_and_with_the_reason() -> None:
    model, silent = rows_of("all")
    assert (model["answers"], model["unread"], model["Acc"]) == (4, 1, 0.5)
    assert model["MSE"] == pytest.approx(0.04 / 3)
    assert (silent["answers"], silent["remark"]) == (0, "4 pairs without a label: no volume")
    assert all(silent[name] is None for name in ("Acc", "F1", "QWK", "low", "high", "Spearman", "MSE", "MAE"))


def test_replicates_are_compared_pair_by_pair_and_a_bot_without_has_no_row() -> None:
    said = {
        "x#1": {"p1": 0, "p2": 2, "p3": 2, "p4": UNREAD},
        "x#2": {"p1": 0, "p2": 0, "p3": 2, "p4": 1},
        "x#3": {"p1": 0},
        "y": {"p1": 0},
    }
    (row,) = rows_of("replicates", replace(READINGS, answers={**READINGS.answers, **said}))
    assert (row["bot"], row["task"], row["replicates"], row["pairs"], row["unread"]) == ("x", "pairs", 3, 5, 1)
    assert row["same label"] == pytest.approx(4 / 5)
    # Of the first two 2/3 are alike, by chance (1 * 2 + 2 * 1) / 9; the third said one label, which says nothing.
    assert row["kappa"] == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert not [each for each in beliefbench_tables(READINGS) if each.name == "replicates"]


def test_domains_have_their_own_scores_of_the_bots_that_answered() -> None:
    rows = rows_of("domains")
    assert [(row["domain"], row["bot"], row["answers"], row["Acc"]) for row in rows] == [
        ("Crypto", "model", 2, 0.5),
        ("Politics", "model", 2, 0.5),
    ]


def test_a_pair_is_after_the_cutoff_where_its_younger_market_is() -> None:
    before, after = rows_of("cutoff")
    # A market of the day of the cutoff itself is not after it.
    assert (before["answers"], before["MSE"]) == (3, pytest.approx(0.04 / 3))
    assert (after["answers"], after["MSE"], after["change"]) == (1, None, None)
    worse = replace(READINGS, answers={"model": {"p2": 3, "p3": 2}})
    before, after = rows_of("cutoff", worse)
    assert (before["MSE"], after["MSE"]) == (pytest.approx(0.04), pytest.approx(0.16))
    assert (before["change"], after["change"]) == (None, pytest.approx(3.0))


def test_what_was_given_is_told_beside_what_is_true() -> None:
    model, silent, true = rows_of("given")
    assert [model[label] for label in LABELS] == pytest.approx([1 / 3, 1 / 3, 0.0, 1 / 3, 0.0])
    assert silent[LABELS[0]] is None
    assert [true[label] for label in LABELS] == [0.25, 0.25, 0.25, 0.0, 0.25]
    assert [(row["domain"], row["all"], row["events"]) for row in rows_of("pairs")] == [
        ("Crypto", 2, 3),
        ("Politics", 2, 3),
    ]


def test_reasons_are_told_of_all_and_by_domain() -> None:
    rows = rows_of("reasons")
    assert [(row["domain"], row["answers"], row["logical"], row["causal"]) for row in rows] == [
        ("(all)", 2, 0.5, 0.5),
        ("Crypto", 1, 0.0, 1.0),
        ("Politics", 1, 1.0, 0.0),
    ]
    assert rows_of("reasons", replace(READINGS, judged={("judge", "model"): {}})) == []


def test_one_person_alone_is_compared_with_S_and_with_nobody_else() -> None:
    people = {"ann": {"p1": 0.1, "p2": 0.5, "p3": 0.75}}
    assert rows_of("raters", people=people) == []
    rows = {row["what"]: row for row in rows_of("people", people=people)}
    assert rows["S"]["pairs"] == 3
    assert rows["model"]["pairs"] == 2
    assert rows["silent"] == {"what": "silent", "pairs": 0, "Pearson": None, "with the majority": None}


def test_a_change_after_the_cutoff_is_below_zero_where_a_score_is_worse() -> None:
    facts = {**FACTS, "p5": PairFact("Crypto", 3, 0.7, ("a", "g"), "2025-07-01")}
    # Before: right, one label off, right. After: two labels off.
    answers = {"model": {"p1": 0, "p2": 3, "p4": 1, "p5": 1}}
    changes = rows_of("changes", replace(READINGS, facts=facts, answers=answers))
    assert [(row["domain"], row["before"], row["after"]) for row in changes] == [("(all)", 3, 1), ("Crypto", 2, 1)]
    assert changes[0]["Acc"] == pytest.approx((0.0 - 2 / 3) / (2 / 3))
    # The error is .16 after, and .04 / 3 on average before: eleven times as much again.
    assert changes[0]["MSE"] == pytest.approx(-(0.16 - 0.04 / 3) / (0.04 / 3))
    assert changes[0]["QWK"] == pytest.approx(-1.0) or changes[0]["QWK"] is None


def test_every_table_has_as_many_cells_as_columns() -> None:
    tables: tuple[StudyTable, ...] = beliefbench_tables(READINGS, {"ann": {"p1": 0.3}, "bob": {"p1": 0.5}})
    assert [table.name for table in tables] == [
        *("all", "domains", "cutoff", "changes", "given", "pairs", "reasons", "raters", "people", "weights")
    ]
    assert all(len(row) == len(table.columns) for table in tables for row in table.rows)


def test_weights_are_those_by_which_S_is_what_people_say() -> None:
    said = {"p1": 0.1, "p2": 0.5, "p3": 0.9, "p4": 0.3}
    # The first feature is what was said, the others say nothing.
    facts = {name: replace(fact, features=(said[name], None, 0.5, 0.5)) for name, fact in READINGS.facts.items()}
    (row,) = rows_of("weights", replace(READINGS, facts=facts), {"ann": said})
    assert (row["synchrony"], row["pairs"], row["MSE of S"]) == (1.0, 4, pytest.approx(0.0))
    # No pair has tags: nothing is known of their weight.
    assert row["tags"] is None
    assert rows_of("weights", people={"ann": said}) == []
