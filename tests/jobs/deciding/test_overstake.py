"""Overstaking: refused, or scaled down where the recipe says so, with the original beside it."""

import pytest
from sqlalchemy import text

from predibot.ledger.store import Store
from tests.jobs.deciding.test_failing_strategies import PROBES, TEMPLATE
from tests.jobs.program import Program, document_of

RECIPE = """
game = "dollar_per_event"
venue = "polymarket"
every = "1d"
overstake = "scale"
[[bots]]
strategy = "overstakes"
"""


def test_a_recipe_may_scale_bets_down_and_keeps_what_was_asked(program: Program) -> None:
    program.strategy("overstakes", TEMPLATE.format(name="Overstakes", body=PROBES["overstakes"]))
    (program.folder / "scaled.toml").write_text(RECIPE, encoding="utf-8")
    document = document_of(program.decide("scaled.toml"))
    assert [row["status"] for row in document["decisions"]] == ["recorded"] * 3
    with Store.open(program.ledger) as store, store.read() as connection:
        statement = "SELECT asked, amount, scale FROM orders JOIN decisions ON decisions.id = decision_id"
        rows = connection.execute(text(statement)).all()
    assert {asked for asked, _, _ in rows} == {1.5}
    assert all(booked == pytest.approx(asked * scale) for asked, booked, scale in rows)
    assert sum(booked for _, booked, _ in rows) == pytest.approx(3.0)
