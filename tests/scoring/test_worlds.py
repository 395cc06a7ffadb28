"""Worlds: fair events whose prices are martingales by construction, which all measurements of coverage rest on."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from predibot.scoring import scorecards
from tests.scoring import worlds
from tests.scoring.worlds import ASKED_DAYS, BOTS, LIFE, LOWEST, World

EVERY = {
    **worlds.WORLDS,
    "common_driver_3": partial(worlds.common_driver, share=0.3),
    "common_driver_7": partial(worlds.common_driver, share=0.7),
}
SIMULATIONS, EVENTS = 150, 60


@pytest.fixture(params=sorted(EVERY), scope="module")
def world(request: pytest.FixtureRequest) -> World:
    drawn: World = EVERY[request.param](np.random.default_rng(7), SIMULATIONS, EVENTS)
    return drawn


def distance(sums: np.ndarray) -> float:
    """Return how many standard errors the mean over the simulations is from zero."""
    return float(abs(sums.mean()) / (sums.std(ddof=1) / np.sqrt(sums.size)))


@pytest.mark.parametrize(
    "held",
    [np.ones_like, lambda p: p > 0.5, lambda p: p < 0.05, lambda p: (p > 0.2) & (p < 0.4)],
    ids=["always", "above a half", "below .05", ".2 to .4"],
)
def test_no_price_can_be_known_to_rise_or_to_fall(world: World, held: Callable[[np.ndarray], np.ndarray]) -> None:
    moves = np.diff(world.price, axis=3) * world.listed[..., None]
    assert distance((moves * held(world.price[..., :-1])).sum(axis=(1, 2, 3))) < 3.5


@pytest.mark.parametrize("bot", [*BOTS, "price_plus_tenth", "price_less_tenth"])
def test_no_strategy_gains_or_loses(world: World, bot: str) -> None:
    play = BOTS.get(bot) or getattr(worlds, bot)
    played, entry = play(np.random.default_rng(1), world), world.entry()
    shares = played.usd / np.where(played.usd > 0.0, entry, 1.0 - np.where(played.usd < 0.0, entry, 0.0))
    assert distance((shares * (world.payout[..., None] - entry)).sum(axis=(1, 2, 3))) < 3.5
    assert np.abs(played.usd).sum(axis=2).max() <= 1.0 + 1e-9
    assert (np.isnan(played.probability) | world.asked()).all()


def test_prices_and_days_are_as_stated(world: World) -> None:
    asked = world.entry()[world.asked()]
    assert asked.min() == pytest.approx(LOWEST, rel=0.2)
    assert asked.max() == pytest.approx(1.0 - LOWEST, rel=1e-3)
    assert asked.min() >= LOWEST and asked.max() <= 1.0 - LOWEST
    days = world.asked().any(axis=2).sum(axis=2)
    assert days.max() == ASKED_DAYS
    assert (days > 0).mean() > 0.95
    assert np.isin(world.payout, (0.0, 1.0)).all()
    assert world.settles[world.listed].max() <= LIFE


def test_what_excludes_each_other_does() -> None:
    world = worlds.exclusive(np.random.default_rng(1), 50, 40)
    total = (world.price * world.listed[..., None]).sum(axis=2)
    assert total.max() <= 1.0 + 1e-9
    assert (world.payout * world.listed).sum(axis=2).max() == 1.0


def test_a_threshold_that_is_passed_has_those_below_it_passed() -> None:
    world = worlds.nested(np.random.default_rng(1), 50, 40)
    assert (np.diff(world.price, axis=2) <= 1e-9).all()


def test_what_happens_by_a_deadline_settles_before_it() -> None:
    world = worlds.deadline(np.random.default_rng(1), 50, 40)
    early = world.listed & (world.payout == 1.0)
    assert (world.settles[early] < LIFE).all()
    assert not np.isclose(world.settles[early] % 1.0, 0.0).any()


def test_the_record_of_a_world_says_what_happened_in_it() -> None:
    world = worlds.independent(np.random.default_rng(2), 3, 20)
    played = {name: play(np.random.default_rng(1), world) for name, play in BOTS.items()}
    cards = scorecards(worlds.record_of(world, played))
    assert [card.bot for card in cards] == [f"{row} {name}" for row in range(3) for name in BOTS]
    entry, asked = world.entry(), world.asked()
    for card in cards:
        row, name = card.bot.split()
        usd = played[name].usd[int(row)]
        side = np.where(usd > 0.0, entry[int(row)], 1.0 - entry[int(row)])
        paid = np.where(usd > 0.0, world.payout[int(row), ..., None], 1.0 - world.payout[int(row), ..., None])
        made = asked[int(row)].any(axis=1).sum()
        assert card.horizons["settled"].n == made
        gained = np.abs(usd) * (paid / np.where(usd == 0.0, 1.0, side) - 1.0)
        assert card.horizons["settled"].mean_return == pytest.approx(gained[usd != 0.0].sum() / made)


def test_a_running_record_knows_nothing_of_what_comes_later() -> None:
    world = worlds.deadline(np.random.default_rng(2), 3, 20)
    played = {"half": worlds.always_half(np.random.default_rng(1), world)}
    running = worlds.record_of(world, played, day=10)
    for instants in (running.decided_at, running.observation_at, running.settled_at):
        assert np.nanmax(instants) <= running.as_of
    (card, *_) = scorecards(running)
    assert card.horizons["now"].n == (running.decision_bot == 0).sum()
