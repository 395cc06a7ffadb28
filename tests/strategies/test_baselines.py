"""The baselines, as `scoring.md` defines them, and that the game takes what they say."""

import random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.contracts import Context, Strategy
from predibot.domain.decision import Decision
from predibot.domain.event import Event, EventView
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.plugins.strategies import load_strategy, spec_of
from tests.decisions import bets_usd, book
from tests.selection.worlds import NOW, event, market, quoted


def made(name: str, **arguments: str) -> Strategy:
    return load_strategy(spec_of(name, arguments))


RANDOM_BET, MARKET_PRICE, TOP_VOLUME = (
    made("random_bet"),
    made("market_price"),
    made("market_price", stake="top_volume"),
)
FAVOURITE, UNDERDOG, ALWAYS_HALF = made("favourite"), made("underdog"), made("always_half")
BASELINES = (RANDOM_BET, MARKET_PRICE, TOP_VOLUME, FAVOURITE, UNDERDOG, ALWAYS_HALF)


def priced(*prices_yes: float, volumes: tuple[float | None, ...] = ()) -> Event:
    known = [*volumes, *[None] * len(prices_yes)]
    return event(markets=[market(f"m{i}", quote=quoted(p), volume=known[i]) for i, p in enumerate(prices_yes)])


def decide(strategy: Strategy, on: Event, seed: int = 0) -> Decision:
    answer = strategy.decide(
        Context(now=NOW, view=EventView(on, "polymarket"), game=DollarPerEvent(), rng=random.Random(seed))
    )
    assert isinstance(answer, Decision)
    return answer


def bets(decision: Decision) -> list[float]:
    on = priced(*[0.5] * len(decision.forecasts))
    return bets_usd(decision, on, venue="polymarket")


def probabilities(decision: Decision) -> list[float]:
    return [said.probability for said in decision.forecasts]


def test_market_price_splits_the_dollar_on_the_favoured_sides() -> None:
    decision = decide(MARKET_PRICE, priced(0.7, 0.5, 0.49, 0.1))
    assert bets(decision) == [0.25, 0.25, -0.25, -0.25]
    assert probabilities(decision) == [0.7, 0.5, 0.49, 0.1]


def test_market_price_can_put_it_all_on_the_most_traded_market() -> None:
    decision = decide(TOP_VOLUME, priced(0.7, 0.3, 0.2, volumes=(5.0, 9.0, 9.0)))
    assert (bets(decision), decision.notes) == ([0.0, -1.0, 0.0], ())
    unknown = decide(TOP_VOLUME, priced(0.7, 0.3))
    assert bets(unknown) == [0.5, -0.5]
    assert unknown.notes == ("no market states its one-week volume, so the dollar is split equally",)


def test_favourite_bets_on_the_dearest_side_and_underdog_on_the_cheapest_of_at_least_a_cent() -> None:
    assert bets(decide(FAVOURITE, priced(0.7, 0.1, 0.4))) == [0.0, -1.0, 0.0]
    assert probabilities(decide(FAVOURITE, priced(0.7, 0.1))) == [0.7, 0.1]
    assert bets(decide(UNDERDOG, priced(0.7, 0.005, 0.9))) == [0.0, 0.0, -1.0]
    assert bets(decide(UNDERDOG, priced(0.01, 0.02))) == [1.0, 0.0]
    assert bets(decide(UNDERDOG, priced(0.001))) == [-1.0]


@pytest.mark.parametrize("strategy", [FAVOURITE, UNDERDOG])
def test_ties_go_by_market_order_and_then_yes_first(strategy: Strategy) -> None:
    assert bets(decide(strategy, priced(0.5, 0.5))) == [1.0, 0.0]


def test_always_half_bets_against_market_price() -> None:
    decision = decide(ALWAYS_HALF, priced(0.7, 0.5, 0.49, 0.1))
    assert bets(decision) == [-0.25, -0.25, 0.25, 0.25]
    assert probabilities(decision) == [0.5] * 4
    # A side that the game refuses is left out, and that is said.
    decision = decide(ALWAYS_HALF, priced(0.9995, 0.4))
    assert bets(decision) == [0.0, 1.0]
    assert decision.notes == ("no bet on a side too cheap to bet on: m0",)


def test_random_bet_takes_the_other_side_where_the_game_refuses_one_and_says_so() -> None:
    drawn = [decide(RANDOM_BET, priced(0.0005), seed) for seed in range(20)]
    assert {bets(decision)[0] for decision in drawn} == {-1.0}
    assert {decision.notes for decision in drawn} == {
        (),
        ("drew a side too cheap to bet on, took the other: m0",),
    }


def test_random_bet_draws_evenly_and_sides_apart_from_probabilities() -> None:
    decisions = [decide(RANDOM_BET, priced(0.3, 0.3, 0.3), seed) for seed in range(2000)]
    drawn = [(probabilities(each)[0], bets(each)[0]) for each in decisions]
    assert mean(probability for probability, _ in drawn) == pytest.approx(0.5, abs=0.03)
    assert mean(bet > 0 for _, bet in drawn) == pytest.approx(0.5, abs=0.05)
    assert mean(abs(bet) for _, bet in drawn) == pytest.approx(1 / 3, abs=0.03)
    high = [bet > 0 for probability, bet in drawn if probability > 0.5]
    assert mean(high) == pytest.approx(0.5, abs=0.06)
    # A share of Dirichlet(1, 1, 1) exceeds x with probability (1 - x) ** 2.
    assert mean(abs(bet) > 0.5 for _, bet in drawn) == pytest.approx(0.25, abs=0.04)


def test_random_bet_is_nothing_but_its_generator() -> None:
    assert decide(RANDOM_BET, priced(0.3, 0.6), 7) == decide(RANDOM_BET, priced(0.3, 0.6), 7)
    assert decide(RANDOM_BET, priced(0.3, 0.6), 7) != decide(RANDOM_BET, priced(0.3, 0.6), 8)


@pytest.mark.parametrize("strategy", BASELINES, ids=str)
@given(st.lists(st.floats(0.0001, 0.9999), min_size=1, max_size=30), st.integers(0, 5))
def test_the_game_takes_whatever_a_baseline_says(strategy: Strategy, prices_yes: list[float], seed: int) -> None:
    on = priced(*prices_yes)
    quotes = {listed.id: listed.quote for listed in on.markets if listed.quote is not None}
    booking = book(DollarPerEvent(), decide(strategy, on, seed), on, quotes)
    staked_usd = sum(abs(bet.booked_usd) for bet in booking.bets)
    assert staked_usd == pytest.approx(1.0) or (strategy == ALWAYS_HALF and staked_usd == 0.0)
