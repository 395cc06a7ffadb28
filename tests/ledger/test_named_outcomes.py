"""Markets of more than two outcomes in the ledger: bought, followed, settled by each outcome's payout, and copied."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import pytest
from sqlalchemy import select

from predibot.domain.event import Event, Market, MarketRef
from predibot.domain.price import BINARY_OUTCOME, Instrument, Quote
from predibot.domain.resolution import Resolution
from predibot.games.accounts import account_of
from predibot.jobs.deciding.accounts.advance import MarketSnapshot, bring_up_to_date
from predibot.jobs.verify import verify
from predibot.ledger.store import Store
from predibot.ledger.write.accounts import last_prices, read_journal
from predibot.ledger.write.events import markets
from predibot.ledger.write.prices_and_resolutions import list_tracked_instruments, read_resolutions
from predibot.ledger.write.runs import frozen_events
from predibot.ledger.write.turns import markets_behind, sides_of
from tests.ledger.cohorts_by_hand import SUNDAY, VENUE, WEEK, Weeks, bets
from tests.ledger.read.test_export import canonical
from tests.ledger.test_restore import put_back, rows_of
from tests.soaks import ONE_DATABASE

DAY = timedelta(days=1)
NAMES = ("Reds", "No", "Blues")
CUP = MarketRef("cup", token_ids=("901", "902", "903"))


@dataclass
class Cups(Weeks):
    """Weekly cohorts with a market of three outcomes beside those of two, of which one is named No."""

    cup: Sequence[float | None] = (0.5, 0.2, 0.25)
    outcomes: Sequence[str] = NAMES
    payouts: tuple[float, ...] | None = None
    """What each outcome paid; None while that is not known."""
    cup_closed: bool = False

    def events(self, at: datetime) -> tuple[Event, ...]:
        quotes = tuple(None if price is None else Quote(at, displayed=price) for price in self.cup)
        cup = Market(CUP, "Who wins the cup?", tuple(self.outcomes), closed=self.cup_closed, volume_usd=7.5e6)
        cup = replace(cup, outcome_quotes=(None,) * len(self.outcomes) if self.cup_closed else quotes)
        return (*super().events(at), Event("e-cup", "The cup", (cup,)))

    def known(self, at: datetime) -> MarketSnapshot:
        found = super().known(at)
        closed = found.closed | set(self.events(at)[-1].markets[0].instruments(VENUE)) if self.cup_closed else ()
        with self.store.read() as connection:
            row = connection.execute(select(markets.c.id).where(markets.c.market_id == "cup")).scalar_one()
        reported = dict(found.reported)
        if self.payouts is not None:
            reported[row] = (Resolution.of_payouts(self.payouts, at, "venue", at),)
        return replace(found, closed=closed or found.closed, reported=reported)

    def cash_usd(self, cohort: str, bot: str) -> float:
        with self.store.read() as connection:
            return account_of(read_journal(connection, self.opened[cohort, bot])).cash_usd


@pytest.fixture
def weeks(store: Store) -> Cups:
    """Return a cohort in which one bot has bought Reds and No, and the other Blues."""
    weeks = Cups(store)
    first = weeks.start(0)
    assert weeks.decide(0, first, "one", bets(("cup", "Reds", 1_000.0), ("cup", "No", 600.0))) == "recorded"
    assert weeks.decide(0, first, "two", bets(("cup", "Blues", 500.0))) == "recorded"
    return weeks


def outcome(number: int) -> Instrument:
    return Instrument(VENUE, BINARY_OUTCOME, CUP.token_ids[number])


COHORT = "2026-03-01"


def test_each_outcome_is_an_instrument_of_its_market_with_a_number_and_no_side(weeks: Cups) -> None:
    with weeks.store.read() as connection:
        found = sides_of(connection, [outcome(number) for number in range(3)])
        (known,) = markets_behind(connection, {outcome(1)}).values()
        (event,) = [each for each in frozen_events(connection, weeks.runs["0"].id) if each.id == "e-cup"]
    assert [found[outcome(number)].number for number in range(3)] == [0, 1, 2]
    assert {each.market_row for each in found.values()} == {known.row}
    assert (known.ref.id, known.outcomes) == ("cup", NAMES)
    (cup,) = event.markets
    assert (cup.outcomes, cup.volume_usd) == (NAMES, 7.5e6)
    assert [quote.displayed for quote in cup.quotes] == [0.5, 0.2, 0.25]


def test_only_outcomes_that_somebody_has_are_followed(store: Store) -> None:
    weeks = Cups(store)
    weeks.decide(0, weeks.start(0), "one", bets(("cup", "No", 600.0)))
    with store.read() as connection:
        listed = {each.instrument.id: each.is_named for each in list_tracked_instruments(connection, VENUE)}
    assert listed == {"902": True, **{f"{name}:YES": False for name in "abcd"}}


@ONE_DATABASE
@pytest.mark.parametrize(
    ("payouts", "one", "two"),
    [
        # 2,000 shares of Reds and 3,000 of No, 2,000 of Blues; 8,400 and 9,500 are left in cash.
        ((0.0, 1.0, 0.0), 11_400.0, 9_500.0),
        ((0.25, 0.25, 0.5), 9_650.0, 10_500.0),
    ],
)
def test_positions_settle_by_what_their_own_outcome_paid(
    weeks: Cups, payouts: tuple[float, ...], one: float, two: float
) -> None:
    weeks.cup_closed, weeks.payouts = True, payouts
    weeks.value(SUNDAY + DAY)
    weeks.value(SUNDAY + 2 * DAY)
    assert (weeks.cash_usd(COHORT, "one"), weeks.cash_usd(COHORT, "two")) == (pytest.approx(one), pytest.approx(two))
    assert not verify(weeks.store).broken


@ONE_DATABASE
def test_a_closed_market_that_never_settles_is_kept_at_its_last_price(weeks: Cups) -> None:
    weeks.value(SUNDAY + DAY)
    weeks.cup_closed = True
    for days in (2, 30, 300):
        weeks.value(SUNDAY + days * DAY)
    with weeks.store.read() as connection:
        assert account_of(read_journal(connection, weeks.opened[COHORT, "two"])).position(outcome(2)).shares == 2_000.0
        assert last_prices(connection, weeks.opened[COHORT, "two"])[outcome(2)].mid == 0.25
    states = [row["state"] for row in rows_of(weeks.store)["marks"] if row["instrument_id"] == "903"]
    assert states == ["quoted", "closed", "closed", "closed"]


def test_a_resolution_that_does_not_say_what_an_outcome_paid_leaves_it_open(weeks: Cups) -> None:
    # The venue knows it as one of two outcomes now: who won the third nobody says.
    weeks.cup_closed = True
    known = weeks.known(SUNDAY + DAY)
    with weeks.store.write() as connection:
        row = sides_of(connection, [outcome(2)])[outcome(2)].market_row
        told = {row: (Resolution(0.0, SUNDAY, "venue", SUNDAY),)}
        bring_up_to_date(connection, weeks.opened[COHORT, "two"], replace(known, reported=told))
        assert outcome(2) in account_of(read_journal(connection, weeks.opened[COHORT, "two"])).positions


def test_a_reversal_after_reinvestment_pays_the_other_outcome(weeks: Cups) -> None:
    weeks.payouts, weeks.cup_closed = (1.0, 0.0, 0.0), True
    weeks.value(SUNDAY + DAY)
    second = weeks.start(1)
    assert weeks.decide(1, COHORT, "one", bets(("a", "YES", 2_000.0))) == "recorded"
    weeks.payouts = (0.0, 0.0, 1.0)
    weeks.value(SUNDAY + WEEK + DAY)
    assert weeks.cash_usd(COHORT, "one") == pytest.approx(6_400.0)
    assert weeks.cash_usd(COHORT, "two") == pytest.approx(11_500.0)
    assert weeks.cash_usd(second, "one") == 10_000.0
    with weeks.store.read() as connection:
        (revisions,) = read_resolutions(connection, VENUE).values()
    assert [each.payouts for each in revisions] == [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]
    assert not verify(weeks.store).broken


def test_a_market_that_is_voided_without_payouts_pays_back_what_each_position_cost(weeks: Cups) -> None:
    known = weeks.known(SUNDAY + DAY)
    with weeks.store.write() as connection:
        row = sides_of(connection, [outcome(0)])[outcome(0)].market_row
        told = {row: (Resolution(None, SUNDAY, "venue", SUNDAY),)}
        for account in weeks.opened.values():
            bring_up_to_date(connection, account, replace(known, reported=told))
    assert weeks.cash_usd(COHORT, "one") == pytest.approx(10_000.0) == weeks.cash_usd(COHORT, "two")


@ONE_DATABASE
def test_they_are_exported_and_put_back(weeks: Cups, other: Store) -> None:
    weeks.payouts, weeks.cup_closed = (0.5, 0.5, 0.0), True
    weeks.value(SUNDAY + DAY)
    exported = rows_of(weeks.store)
    (cup,) = [row for row in exported["markets"] if row["market_id"] == "cup"]
    assert json.loads(cup["outcomes_json"]) == list(NAMES)
    assert [row["payouts_json"] for row in exported["resolutions"]] == ["[0.5, 0.5, 0.0]"]
    assert {row["outcomes_json"] for row in exported["markets"] if row["market_id"] != "cup"} == {None}
    put_back(other, exported)
    assert rows_of(other) == exported and canonical(other) == canonical(weeks.store)
    with weeks.store.read() as one, other.read() as two:
        wanted = [outcome(number) for number in range(3)]
        assert [each.number for each in sides_of(two, wanted).values()] == [0, 1, 2]
        assert list(read_resolutions(one, VENUE).values()) == list(read_resolutions(two, VENUE).values())
