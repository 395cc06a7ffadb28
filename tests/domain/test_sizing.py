"""Sizing: bets that stay within the stake, on the side that is worth more than it costs."""

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.sizing import SIZINGS, bet_usd, bets_usd

CHANCES = st.floats(0, 1)
RULES = st.sampled_from(sorted(SIZINGS))


@given(RULES, CHANCES, CHANCES, st.floats(0, 1e6))
def test_no_bet_is_above_the_stake_and_each_is_on_the_side_with_the_edge(
    rule: str, chance: float, price: float, stake_usd: float
) -> None:
    bet = bet_usd(rule, chance, price, stake_usd)
    assert abs(bet) <= stake_usd
    assert bet * (chance - price) >= 0


@given(RULES, st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_what_is_yes_for_one_is_no_for_the_other(rule: str, chance: float, price: float) -> None:
    mirrored = bet_usd(rule, 1 - chance, 1 - price, 1.0)
    if abs(chance - price) > 1e-9:
        assert bet_usd(rule, chance, price, 1.0) == pytest.approx(-mirrored, abs=1e-9)


@given(st.lists(st.tuples(CHANCES, st.none() | CHANCES), max_size=12), RULES, st.floats(0, 100))
def test_bets_on_several_markets_stay_within_one_stake(
    markets: list[tuple[float, float | None]], rule: str, stake_usd: float
) -> None:
    bets = bets_usd(rule, [chance for chance, _ in markets], [price for _, price in markets], stake_usd)
    assert math.fsum(map(abs, bets)) <= stake_usd + 1e-9
    assert all(bet == 0 for bet, (_, price) in zip(bets, markets, strict=True) if price is None)


def growth(share: float, chance: float, price: float) -> float:
    return chance * math.log(1 - share + share / price) + (1 - chance) * math.log(1 - share)


@pytest.mark.parametrize(("chance", "price"), [(0.6, 0.5), (0.3, 0.1), (0.9, 0.7)])
def test_kelly_is_the_share_that_grows_fastest(chance: float, price: float) -> None:
    kelly = bet_usd("kelly", chance, price, 1.0)
    shares = [kelly + step / 100 for step in range(-5, 6)]
    grown = [growth(share, chance, price) for share in shares]
    assert max(grown) == grown[5]
    assert all(rises for rises in (a < b for a, b in pairwise(grown[:6])))


def test_by_hand() -> None:
    # A share of NO costs 0.6 and is worth 0.8: (0.8 - 0.6) / (1 - 0.6) = 0.5.
    assert bet_usd("kelly", 0.2, 0.4, 2.0) == pytest.approx(-1.0)
    assert bet_usd("half_kelly", 0.2, 0.4, 2.0) == pytest.approx(-0.5)
    assert bet_usd("fractional_kelly", 0.2, 0.4, 2.0) == pytest.approx(-0.25)
    assert bet_usd("flat", 0.2, 0.4, 2.0) == -2.0


@pytest.mark.parametrize("rule", sorted(SIZINGS))
@pytest.mark.parametrize(
    ("chance", "price"), [(0.5, 0.5), (0.9, 0.0), (0.9, 0.0005), (0.1, 1.0), (0.1, 0.9995), (1, 1)]
)
def test_without_an_edge_or_a_price_that_can_be_paid_nothing_is_bet(rule: str, chance: float, price: float) -> None:
    assert bet_usd(rule, chance, price, 1.0) == 0.0


@pytest.mark.parametrize(
    "numbers", [(1.1, 0.5, 1.0), (0.5, -0.1, 1.0), (0.5, 0.5, -1.0), (math.nan, 0.5, 1.0), (0.6, 0.5, math.inf)]
)
def test_what_is_no_probability_price_or_stake_is_refused(numbers: tuple[float, float, float]) -> None:
    with pytest.raises(ValueError, match="it is"):
        bet_usd("kelly", *numbers)


def test_an_unknown_rule_is_named_with_those_there_are() -> None:
    with pytest.raises(ValueError, match="there are flat, kelly, half_kelly, fractional_kelly"):
        bet_usd("martingale", 0.6, 0.5, 1.0)
