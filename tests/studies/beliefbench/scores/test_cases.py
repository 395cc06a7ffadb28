"""Case studies: pairs on which labels with and without reasons differ, counted by hand."""

from dataclasses import replace

import pytest

from predibot.studies.beliefbench.pairs import LABELS
from predibot.studies.beliefbench.scores.cases import CASES, REASONS, case_tables
from predibot.studies.beliefbench.scores.scores import UNREAD
from predibot.studies.beliefbench.scores.tables import PairFact, PairReadings
from tests.studies.table_rows import rows_of

NAMES = ("p1", "p2", "p3", "p4", "p5")
READINGS = PairReadings(
    facts={name: PairFact("Crypto", 2, 0.5, ("a", name), "2025-01-01", titles=("One", name)) for name in NAMES},
    answers={
        "plain": {"p1": 2, "p2": 0, "p3": 4, "p4": 2, "p5": 2},
        "reasons": {"p1": 1, "p2": 2, "p3": 3, "p4": 2, "p5": UNREAD},
        "other": dict.fromkeys(NAMES, 0),
    },
    judged={("judge", "reasons"): {"p1": "narrative", "p2": "causal", "p3": "logical"}},
    models={"plain": "x/one", "reasons": "x/one", "other": "x/two"},
    reasons={"reasons": dict.fromkeys(NAMES[:4], "Why. " * 100), "other": {}},
)


def test_reasons_are_compared_with_none_of_the_same_model_by_hops() -> None:
    rows = rows_of(case_tables(READINGS)[0])
    assert {(row["bot"], row["against"]) for row in rows} == {("reasons", "plain")}
    by_hops = {row["hops"]: row for row in rows}
    # Of the unreadable answer nothing can be said, and nobody judged p4.
    assert {hops: row["pairs"] for hops, row in by_hops.items()} == {
        "(all)": 4,
        "0": 1,
        "1+": 2,
        "not judged": 1,
    }
    everything, linked = by_hops["(all)"], by_hops["1+"]
    assert (everything["Acc"], everything["Acc against"]) == (0.5, 0.5)
    assert (everything["MAE"], everything["MAE against"]) == (pytest.approx(0.4 / 4), pytest.approx(0.8 / 4))
    assert (everything["nearer"], everything["further"]) == (2, 1)
    assert (linked["MAE"], linked["nearer"], linked["further"]) == (pytest.approx(0.1), 2, 0)


def test_cases_are_those_that_differ_most_with_the_beginning_of_the_reasons() -> None:
    rows = rows_of(case_tables(READINGS)[1])
    assert [(row["events"], row["hops"], row["kind"]) for row in rows] == [
        ("One / p1", "0", "narrative"),
        ("One / p2", "1+", "causal"),
        ("One / p3", "1+", "logical"),
    ]
    assert (rows[1]["true"], rows[1]["without"], rows[1]["with"], rows[1]["S"]) == (
        LABELS[2],
        LABELS[0],
        LABELS[2],
        0.5,
    )
    assert len(rows[0]["reasons"]) < REASONS + 20
    assert CASES >= 2


def test_a_label_that_came_without_reasons_is_not_compared() -> None:
    some = replace(READINGS, reasons={"reasons": {"p2": "Why."}, "other": {}})
    hops, cases = case_tables(some)
    assert [row["pairs"] for row in rows_of(hops)] == [1, 1]
    assert [row["events"] for row in rows_of(cases)] == ["One / p2"]


def test_a_model_that_never_gives_reasons_is_in_no_case() -> None:
    silent = PairReadings(READINGS.facts, READINGS.answers, models=READINGS.models)
    assert [table.rows for table in case_tables(silent)] == [(), ()]
