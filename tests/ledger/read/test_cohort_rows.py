"""Cohorts as rows for Python: a row a member, with nothing of later, and with what is missing left empty."""

from datetime import timedelta
from pathlib import Path

import pytest

import predibot
from predibot.ledger.store import Store
from tests.ledger.cohorts_by_hand import SUNDAY, WEEK, Weeks, bets


def test_each_member_of_each_cohort_is_a_row(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/weeks.db") as store:
        weeks = Weeks(store)
        first = weeks.start(0, names={"one": "Model One"})
        weeks.prices["a"] = 0.4
        weeks.decide(0, first, "one", bets(("a", "YES", 1_000.0)))
        weeks.value(SUNDAY + timedelta(days=1))
        weeks.archive(weeks.start(1))
        weeks.paid["a"] = 1.0
        weeks.value(SUNDAY + WEEK + timedelta(days=1))
    with predibot.open_ledger(tmp_path / "weeks.db") as ledger:
        rows, early = ledger.cohorts(), ledger.cohorts(as_of=SUNDAY + timedelta(days=2))
        assert ledger.cohorts(recipe="weekly").to_dicts() == rows.to_dicts()
        scores = ledger.evaluate(as_of=SUNDAY + 2 * WEEK).evaluation
        with_archived = ledger.evaluate(as_of=SUNDAY + 2 * WEEK, archived=True).evaluation
        with pytest.raises(predibot.PredibotError, match="no recipe 'weakly'"):
            ledger.cohorts(recipe="weakly")
    assert [(row.cohort, row.bot, row.display_name) for row in rows[:2]] == [
        ("2026-03-01", "one", "Model One"),
        ("2026-03-01", "two", "two"),
    ]
    assert (rows[0].value_usd, rows[0].profit_usd, rows[0].won, rows[0].open) == (11_500.0, 1_500.0, 1, 0)
    assert (early[0].value_usd, early[0].won, early[0].open, len(early)) == (10_000.0, 0, 1, 2)
    assert [row.archived_reason for row in rows] == [None, None, "the prices were wrong", "the prices were wrong"]
    assert [board.cohorts for board in (*scores.cohorts, *with_archived.cohorts)] == [1, 2]
