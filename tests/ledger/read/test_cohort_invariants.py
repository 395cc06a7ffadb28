"""Invariants of cohorts: a ledger that keeps the rules passes, and each broken rule is named."""

from datetime import timedelta

import pytest
from sqlalchemy import delete, insert, select, text

from predibot.jobs.verify import verify
from predibot.ledger.schema.tables import Row
from predibot.ledger.store import Store
from tests.ledger.cohorts_by_hand import SUNDAY, WEEK, Weeks, bets, sells
from tests.ledger.statements import altered
from tests.soaks import ONE_DATABASE


def broken(store: Store) -> set[tuple[str, str]]:
    return {(each.check, each.seen) for each in verify(store).broken}


def played(store: Store, version: str = "v2") -> Weeks:
    weeks = Weeks(store, version=version)
    first = weeks.start(0)
    weeks.prices.update(a=0.4, b=0.5)
    weeks.decide(0, first, "one", bets(("a", "YES", 1_500.0), ("b", "YES", 1_000.0)))
    weeks.value(SUNDAY + timedelta(days=1))
    second = weeks.start(1)
    weeks.decide(1, first, "one", sells(("p1", 50)))
    weeks.decide(1, second, "two", bets(("b", "NO", 50.0)))
    weeks.paid["a"] = 1.0
    weeks.value(SUNDAY + WEEK + timedelta(days=1))
    return weeks


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_a_ledger_of_cohorts_that_keeps_the_rules_passes(store: Store, version: str) -> None:
    played(store, version)
    found = verify(store)
    assert found.broken == ()
    rows = {check.name: check.rows for check in found.checks}
    assert (rows["cohorts and accounts fit"], rows["bets of cohorts keep rules"]) == (2 + 4, 3)


BROKEN = (
    ("UPDATE cohorts SET name = '2026-03-15' WHERE id = 1", "fit", "in the week of another cohort"),
    ("UPDATE cohorts SET recipe = 'daily' WHERE id = 1", "fit", "the run that started it is of"),
    ("UPDATE cohorts SET line_up = '[]' WHERE id = 1", "fit", "its line-up has nobody"),
    ("UPDATE cohorts SET line_up = '[]' WHERE id = 1", "fit", "'one' is not in the line-up"),
    ("DELETE FROM cohorts WHERE id = 2", "fit", "there is no cohort that it is of"),
    ("UPDATE accounts SET methodology = 'v1' WHERE id = 1", "fit", "there is no cohort that it is of"),
    ("UPDATE journal SET cash_usd = 9000 WHERE kind = 'deposit' AND account_id = 1", "rules", "begins with"),
    (
        "UPDATE journal SET cash_usd = -1001, shares = 2002 WHERE account_id = 1 AND number = 3",
        "rules",
        "makes bets of $2,501.00, of which $2,500.00 are allowed",
    ),
    ("UPDATE orders SET amount = 49 WHERE amount = 50", "rules", "has a bet of less than $50"),
    ("UPDATE orders SET status = 'expired' WHERE amount = 1000", "rules", "bets that were not booked"),
    ("UPDATE orders SET side = 'sell' WHERE amount = 1000", "rules", "buys and sells at once"),
    ("UPDATE resolutions SET effective_at = 0", "rules", "trades a market that has paid since 1970"),
)
"""One change each, and what is said of it."""


@ONE_DATABASE
def test_each_broken_rule_is_named(store: Store, address: str) -> None:
    played(store)
    is_file = address.startswith("sqlite")
    unchecked = text("PRAGMA defer_foreign_keys = ON" if is_file else "SET LOCAL session_replication_role = replica")
    for change, check, said in BROKEN:
        table = Row.metadata.tables[change.removeprefix("UPDATE ").removeprefix("DELETE FROM ").split()[0]]
        with store.read() as connection:
            rows = connection.execute(select(table)).mappings().all()
        altered(store, change)
        assert any(check in where and said in seen for where, seen in broken(store)), change
        with store.write() as connection:
            connection.execute(unchecked)
            connection.execute(delete(table))
            connection.execute(insert(table), rows)
    assert broken(store) == set()


@ONE_DATABASE
def test_nobody_trades_when_five_newer_cohorts_have_started(store: Store) -> None:
    weeks = played(store)
    for week in range(2, 7):
        weeks.start(week)
    assert broken(store) == set()
    late = "UPDATE journal SET at = (SELECT started_at FROM cohorts WHERE name = '2026-04-12')"
    altered(store, f"{late} WHERE account_id = 4 AND kind = 'fill'")
    assert any("its cohort decides only until 2026-04-12" in seen for _, seen in broken(store))


@ONE_DATABASE
def test_nobody_trades_after_the_weeks_of_v1_or_pays_a_fee(store: Store) -> None:
    # The sale of its second week is one too late.
    played(store, "v1 weeks=1")
    assert broken(store) == {
        ("bets of cohorts keep rules", "row 4 trades, and its cohort decides only until 2026-03-08T00:00Z")
    }
    altered(store, "UPDATE journal SET kind = 'fee', shares = 0 WHERE account_id = 4 AND kind = 'fill'")
    assert any("is a fee, and with v1 there are none" in seen for _, seen in broken(store))
