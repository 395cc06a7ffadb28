"""Accounts as of an instant: what has paid or was seen since they were booked counts, and nothing is written."""

from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from predibot.domain.price import PricePoint
from predibot.domain.resolution import Resolution
from predibot.jobs.accounts.cohorts import statements_of_cohort
from predibot.jobs.accounts.statement import account_statements
from predibot.ledger.read.accounts.as_of import AccountAsOf, accounts_as_of
from predibot.ledger.read.accounts.cohort_scoring import cohort_records
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import journal, read_journal
from predibot.ledger.write.events import instruments, markets
from predibot.ledger.write.prices_and_resolutions import add_observations, add_resolutions
from tests.ledger.cohorts_by_hand import SUNDAY, VENUE, WEEK, Weeks, bets

DAY = timedelta(days=1)
DECIDED = SUNDAY + timedelta(minutes=5)


def played(store: Store) -> Weeks:
    """Have `one` buy 2,000 YES of `a` at .5 and 1,250 NO of `b` at .8, and `two` 1,000 YES of `b` at .2."""
    weeks = Weeks(store)
    cohort = weeks.start(0)
    weeks.prices.update(a=0.5, b=0.2)
    weeks.decide(0, cohort, "one", bets(("a", "YES", 1_000.0), ("b", "NO", 1_000.0)))
    weeks.decide(0, cohort, "two", bets(("b", "YES", 200.0)))
    return weeks


def pays(store: Store, market: str, *revisions: tuple[timedelta, float | None]) -> None:
    """Store what a market paid from so long after the decisions on, as `track` does."""
    found = [Resolution(paid, DECIDED + after, "venue", DECIDED + after) for after, paid in revisions]
    with store.write() as connection:
        row = connection.execute(select(markets.c.id).where(markets.c.market_id == market)).scalar_one()
        add_resolutions(connection, row, found, stored=0, seen_at=DECIDED + 9 * DAY)


def seen(store: Store, market: str, after: timedelta, price_yes: float) -> None:
    """Store what YES of a market was seen at so long after the decisions."""
    named = instruments.join(markets, markets.c.id == instruments.c.market_row)
    yes = select(instruments.c.id).select_from(named).where(markets.c.market_id == market, instruments.c.side == "YES")
    with store.write() as connection:
        row = connection.execute(yes).scalar_one()
        add_observations(connection, {row: [PricePoint(DECIDED + after, price_yes)]}, source="history")


def known(store: Store, at: datetime, *, as_booked: bool = False) -> list[AccountAsOf]:
    with store.read() as connection:
        found = accounts_as_of(connection, [1, 2], at, as_booked=as_booked)
    return [found[row] for row in sorted(found)]


def test_what_has_paid_since_is_settled_as_it_will_be_booked_and_when_it_paid(store: Store) -> None:
    weeks = played(store)
    pays(store, "a", (DAY, 1.0))
    pays(store, "b", (2 * DAY, 1.0))
    before, after = known(store, DECIDED + DAY - timedelta(microseconds=1)), known(store, DECIDED + 30 * DAY)
    assert [each.account.cash_usd for each in before] == [8_000.0, 9_800.0]
    assert [each.value_usd for each in after] == [each.account.cash_usd for each in after] == [10_000.0, 10_800.0]
    assert [row.at - DECIDED for row in after[0].rows[after[0].booked :]] == [DAY, 2 * DAY]
    assert known(store, DECIDED + 30 * DAY, as_booked=True) == known(store, DECIDED + DAY / 2, as_booked=True)
    weeks.paid.update(a=1.0, b=1.0)
    weeks.value(DECIDED + 3 * DAY)
    booked = known(store, DECIDED + 30 * DAY)
    assert [each.account for each in booked] == [each.account for each in after]
    assert all(len(each.rows) == each.booked for each in booked)


def test_reading_writes_nothing(store: Store) -> None:
    played(store)
    pays(store, "a", (DAY, 0.0))
    with store.read() as connection:
        before = [read_journal(connection, row) for row in (1, 2)]
    known(store, DECIDED + 9 * DAY)
    with store.read() as connection:
        assert [read_journal(connection, row) for row in (1, 2)] == before
        assert connection.execute(select(journal.c.number)).all()


def test_a_correction_a_half_and_a_void_are_settled_by_what_was_known(store: Store) -> None:
    played(store)
    pays(store, "a", (DAY, 1.0), (3 * DAY, 0.5))
    pays(store, "b", (DAY, None))
    assert known(store, DECIDED + 2 * DAY)[0].account.cash_usd == pytest.approx(8_000.0 + 2_000.0 + 1_000.0)
    assert known(store, DECIDED + 4 * DAY)[0].account.cash_usd == pytest.approx(8_000.0 + 1_000.0 + 1_000.0)


def test_what_is_held_is_worth_its_last_price_of_any_age_and_no_later_one(store: Store) -> None:
    played(store)
    seen(store, "a", DAY, 0.75)
    seen(store, "b", 2 * DAY, 0.4)
    (at_first, _), (later, other) = known(store, DECIDED + DAY), known(store, DECIDED + 99 * DAY)
    # NO of `b` is still worth what it cost.
    assert at_first.value_usd == pytest.approx(8_000.0 + 2_000 * 0.75 + 1_000.0)
    assert later.value_usd == pytest.approx(8_000.0 + 2_000 * 0.75 + 1_250 * 0.6)
    assert other.value_usd == pytest.approx(9_800.0 + 1_000 * 0.4)
    assert later.valued_at == DECIDED + 2 * DAY


def test_scores_statements_and_the_cohort_tell_the_same(store: Store) -> None:
    played(store)
    pays(store, "a", (DAY, 1.0))
    seen(store, "b", 2 * DAY, 0.1)
    at = DECIDED + 3 * DAY
    worth = pytest.approx(8_000.0 + 2_000.0 + 1_250 * 0.9)
    with store.read() as connection:
        (record,) = cohort_records(connection, VENUE, at)
    one = next(each for each in record.bots if each.bot == "one")
    assert (one.results[0].value_usd, one.results[0].won, one.results[0].lost) == (worth, 1, 0)
    (cohort,) = statements_of_cohort(store, "2026-03-01", as_of=at, clock=lambda: at)
    member = cohort.cohort.accounts["one"]
    assert (member.value_usd, member.states) == (worth, {"WON": 1, "open": 1})
    (statement,) = account_statements(store, "one", recipe=None, as_of=at)
    assert statement.value_usd == worth
    assert [(each.price, each.shares) for each in statement.positions] == [(0.9, 1_250.0)]
    last = statement.journal[-1]
    assert (last.kind, last.at, last.cash_usd, last.payout) == ("settlement", DECIDED + DAY, 2_000.0, 1.0)


def test_a_replayed_cohort_is_told_of_up_to_what_was_resolved_last(store: Store) -> None:
    weeks = played(store)
    pays(store, "a", (DAY, 1.0))
    (cohort,) = statements_of_cohort(store, "2026-03-01", clock=lambda: SUNDAY + 99 * WEEK)
    assert cohort.as_of == DECIDED + DAY and cohort.cohort.accounts["one"].states["WON"] == 1
    assert weeks.mode == "replay"
