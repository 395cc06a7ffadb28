"""Markets of more than two outcomes: their instruments, prices and payouts."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from predibot.domain.event import Event, Market, MarketRef, prices_of
from predibot.domain.price import Depth, Level, Quote
from predibot.domain.resolution import Resolution, unseen_revisions

AT = datetime(2026, 3, 1, tzinfo=UTC)
BINARY = Market(MarketRef("1", token_ids=("10", "11")), "Rain?", ("No", "Yes"), quote=Quote(AT, displayed=0.3))
QUOTES = (Quote(AT, bid=0.4, ask=0.5, depth=Depth((Level(0.4, 5.0),))), None, Quote(AT, displayed=0.0))
NAMED = Market(MarketRef("2", token_ids=("20", "21", "22")), "Who?", ("Ada", "Yes", "No"), outcome_quotes=QUOTES)


def prices(market: Market, **more: object) -> dict[str, float]:
    return {each.id: price.mid for each, price in prices_of(Event("e", "", (market,)), "toy", **more).items()}  # type: ignore[arg-type]


def test_a_market_lists_its_instruments_in_the_order_of_its_outcomes() -> None:
    assert [each.id for each in BINARY.instruments("toy")] == ["10", "11"]
    assert [each.id for each in NAMED.instruments("toy")] == ["20", "21", "22"]
    young = replace(NAMED, ref=MarketRef("2"))
    assert [each.id for each in young.instruments("toy")] == ["2:0", "2:1", "2:2"]
    assert (BINARY.is_named, NAMED.is_named, NAMED.is_priced) == (False, True, True)


def test_an_outcome_that_is_named_no_has_a_price_of_its_own() -> None:
    assert prices(BINARY) == {"10": 0.3, "11": 0.7}
    assert prices(NAMED) == {"20": 0.45, "22": 0.0}
    found = prices_of(Event("e", "", (NAMED,)), "toy")[NAMED.ref.outcome("toy", 0)]
    assert (found.bid, found.ask, found.bids) == (0.4, 0.5, (Level(0.4, 5.0),))


def test_quotes_are_taken_anew_by_market_and_by_instrument() -> None:
    fresh = {"1": Quote(AT, displayed=0.9), "21": Quote(AT, displayed=0.2)}
    assert prices(BINARY, quotes=fresh) == pytest.approx({"10": 0.9, "11": 0.1})
    assert prices(NAMED, quotes=fresh) == {"21": 0.2}
    assert NAMED.with_quotes({}).quotes == () == BINARY.with_quotes({}).quotes


def test_each_outcome_is_paid_by_its_number() -> None:
    paid = Resolution.of_payouts((0.0, 0.75, 0.25), AT, "venue", AT)
    assert paid.payout_yes == 0.0
    found = [paid.of_outcome(number) for number in range(4)]
    assert [each and each.payout_yes for each in found] == [0.0, 0.75, 0.25, None]
    two = Resolution.of_payouts((0.25, 0.75), AT, "venue", AT)
    assert two == Resolution(0.25, AT, "venue", AT)
    assert [each and each.payout_yes for each in map(two.of_outcome, range(3))] == [0.25, 0.75, None]
    back = Resolution(None, AT, "venue", AT)
    assert back.of_outcome(7) == back == back.in_order((2, 1, 0))
    assert paid.in_order((1, 2, 0)).payouts == (0.75, 0.25, 0.0) and two.in_order((1, 0)).payout_yes == 0.75


@pytest.mark.parametrize("payouts", [(0.5, 0.5), (0.4, 0.5, 0.0), (0.5, 1.5, 0.0), (0.5, float("nan"), 0.0)])
def test_payouts_that_no_market_has_are_refused(payouts: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="outcome"):
        Resolution(0.5, AT, "venue", AT, payouts)


def test_another_winner_of_the_same_first_payout_is_a_correction() -> None:
    first = Resolution.of_payouts((0.0, 1.0, 0.0), AT, "venue", AT)
    assert unseen_revisions([first], [first], AT) == ()
    assert len(unseen_revisions([first], [Resolution.of_payouts((0.0, 0.0, 1.0), AT, "venue", AT)], AT)) == 1
