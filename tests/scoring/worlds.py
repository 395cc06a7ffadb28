"""Worlds: fair events whose prices are martingales by construction, many simulations of them at once.

A price is always the chance of YES given what has been seen, and the outcome is drawn
from the same chances, so that no bet at these prices has an expectation but zero.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predibot.scoring import TrackRecord

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

DAY = 86_400.0
LIFE = 15
"""Days after which every event is settled at the latest."""
ASKED_DAYS = 10
"""On so many of them it is asked at most."""
LOWEST = 0.0015
"""A market is asked at prices between this and 1 less this."""


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """S simulations of K events of up to M markets; days are counted from the day an event begins."""

    price: Floats
    """Of YES at the days 0 to LIFE, (S, K, M, LIFE + 1); from the settlement on the payout."""
    settles: Floats
    """The day of the settlement, (S, K, M), whole or between two."""
    listed: Bools
    """Whether there is such a market, (S, K, M)."""
    begins: Ints
    """The day of the calendar on which it does, (S, K)."""
    days: Ints
    """On how many days it is asked, (S, K), from 1 to ASKED_DAYS."""
    exclusive: bool = False
    """Whether at most one market of an event pays."""

    @property
    def payout(self) -> Floats:
        return self.price[..., -1]

    def entry(self) -> Floats:
        """Return the prices of the days on which it may be asked, (S, K, M, ASKED_DAYS)."""
        return self.price[..., :ASKED_DAYS]

    def asked(self) -> Bools:
        """Return what every bot is asked, (S, K, M, ASKED_DAYS)."""
        day = np.arange(ASKED_DAYS)
        is_open = self.listed[..., None] & (self.settles[..., None] > day)
        entry = self.entry()
        asked: Bools = is_open & (day < self.days[..., None, None]) & (entry >= LOWEST) & (entry <= 1.0 - LOWEST)
        return asked

    def only(self, simulation: int) -> "World":
        row = slice(simulation, simulation + 1)
        arrays = (self.price[row], self.settles[row], self.listed[row], self.begins[row], self.days[row])
        return World(*arrays, exclusive=self.exclusive)


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """What a bot said and staked; what it was not asked, or left out, has NaN and zero."""

    probability: Floats
    """Of YES, (S, K, M, ASKED_DAYS)."""
    usd: Floats
    """Signed dollars, (S, K, M, ASKED_DAYS), a dollar an event and day at most."""

    def only(self, simulation: int) -> "Played":
        row = slice(simulation, simulation + 1)
        return Played(self.probability[row], self.usd[row])


Rng = np.random.Generator
Maker = Callable[[Rng, int, int], World]
Bot = Callable[[Rng, World], Played]


def independent(rng: Rng, simulations: int, events: int, *, span: int = 14) -> World:
    """Draw events of one to three markets that know nothing of each other."""
    shape = (simulations, events, 3)
    chance, life = _expit(rng.uniform(-_FAR, _FAR, shape)), _life(rng, shape[:2])
    happens = rng.random(shape) < chance
    seen = np.cumsum(_normal(rng, (*shape, LIFE)) + _SIGNAL * happens[..., None], axis=3)
    day = np.arange(1, LIFE + 1)
    later = _expit(_logit(chance)[..., None] + _SIGNAL * seen - _SIGNAL**2 * day / 2.0)
    return _world(rng, np.concatenate([chance[..., None], later], axis=3), happens, life, span)


def nested(rng: Rng, simulations: int, events: int, *, span: int = 14) -> World:
    """Draw events whose markets are thresholds of one quantity: above the first, above the second, and so on."""
    price, which = _categories(rng, simulations, events, 4)
    above = np.cumsum(price[..., ::-1, :], axis=2)[..., ::-1, :][:, :, 1:]
    return _world(rng, above, which[..., None] > np.arange(3), _life(rng, which.shape), span)


def exclusive(rng: Rng, simulations: int, events: int, *, span: int = 14) -> World:
    """Draw events of two to four outcomes of which at most one happens; sometimes it is one that is not listed."""
    price, which = _categories(rng, simulations, events, 5)
    happens = which[..., None] == np.arange(4)
    return _world(rng, price[:, :, :4], happens, _life(rng, which.shape), span, exclusive=True)


def deadline(rng: Rng, simulations: int, events: int, *, span: int = 14) -> World:
    """Draw events that may happen any moment: each market says by when, and settles at once when it does."""
    shape = (simulations, events, 3)
    last = _life(rng, shape[:2])
    ends = np.maximum(np.ceil(last[..., None] * np.array([1.0 / 3.0, 2.0 / 3.0, 1.0])), 1.0)
    hazard = -np.log1p(-_expit(rng.uniform(-_FAR, _FAR, shape[:2]))) / last
    at = rng.exponential(size=shape[:2]) / hazard
    left = np.maximum(ends[..., None] - np.arange(LIFE + 1), 0.0)
    price = -np.expm1(-hazard[..., None, None] * left)
    happens = at[..., None] <= ends
    settles = np.where(happens, at[..., None], ends)
    return _world(rng, price, happens, settles, span)


def common_driver(rng: Rng, simulations: int, events: int, *, share: float = 0.3, span: int = 14) -> World:
    """Draw markets that one thing moves: so much of the variance of every day of the calendar is shared by all."""
    shape = (simulations, events, 1)
    life = _life(rng, shape[:2])
    begins = rng.integers(0, span, shape[:2])
    shocks = _normal(rng, (simulations, span + LIFE))
    shared = np.take_along_axis(shocks[:, None, :], begins[..., None] + np.arange(LIFE), axis=2)
    moves = math.sqrt(share) * shared[:, :, None, :] + math.sqrt(1.0 - share) * _normal(rng, (*shape, LIFE))
    start = _ndtri(_expit(rng.uniform(-_FAR, _FAR, shape))) * np.sqrt(life)[..., None]
    level = start[..., None] + np.concatenate([np.zeros((*shape, 1)), np.cumsum(moves, axis=3)], axis=3)
    left = np.maximum(life[..., None, None] - np.arange(LIFE + 1), 0.0)
    price = _ndtr(level / np.sqrt(np.maximum(left, 1e-9)))
    ended = np.take_along_axis(level, np.broadcast_to(life[..., None, None].astype(np.int64), (*shape, 1)), axis=3)
    return _world(rng, price, ended[..., 0] > 0.0, life, span, begins=begins)


@dataclass(frozen=True, slots=True, eq=False)
class Mispriced:
    """Markets that are wrong, and who knows it: nothing of it is fair."""

    world: World
    knows: Played
    """Says the chance itself: no forecast has a higher edge."""
    halfway: Played
    """Goes twice as far, so that the chance is halfway between price and forecast: an edge of zero."""


def mispriced(rng: Rng, simulations: int, events: int, *, days: int, span: int = 14, logits: float = 0.5) -> Mispriced:
    """Draw independent markets priced evenly from .05 to .95, each so many logits too high or too low to the end.

    They are asked on so many days at most, each alike.
    """
    shape = (simulations, events, 1)
    price = rng.uniform(0.05, 0.95, shape)
    chance = _expit(_logit(price) + logits * rng.choice([-1.0, 1.0], shape))
    path = np.broadcast_to(price[..., None], (*shape, LIFE + 1))
    world = _world(rng, path, rng.random(shape) < chance, _life(rng, shape[:2]), span)
    world = replace(world, days=np.minimum(world.days, days))
    chances = np.broadcast_to(chance[..., None], (*shape, ASKED_DAYS))
    entry = world.entry()
    knows, halfway = (_played(world, said, said - entry) for said in (chances, 2.0 * chances - entry))
    return Mispriced(world, knows, halfway)


WORLDS: Mapping[str, Maker] = {
    "independent": independent,
    "nested": nested,
    "exclusive": exclusive,
    "deadline": deadline,
}


def always_half(_: Rng, world: World) -> Played:
    """Say one half, and split the dollar over the sides the market does not favour."""
    usd = np.where(world.entry() >= 0.5, -1.0, 1.0)
    return _played(world, np.full(usd.shape, 0.5), usd)


def market_price(_: Rng, world: World) -> Played:
    """Say the price, and split the dollar over the sides the market favours."""
    return _played(world, world.entry(), np.where(world.entry() >= 0.5, 1.0, -1.0))


def favourite(_: Rng, world: World) -> Played:
    """Say the price, and put the dollar on the likeliest outcome of the event."""
    entry, asked = world.entry(), world.asked()
    likely = np.where(asked, np.maximum(entry, 1.0 - entry), -1.0)
    best = np.arange(entry.shape[2])[:, None] == np.argmax(likely, axis=2)[:, :, None, :]
    return _played(world, entry, np.where(entry >= 0.5, 1.0, -1.0) * best)


def random_bet(rng: Rng, world: World) -> Played:
    """Say anything, and split the dollar anyhow over sides drawn by a coin."""
    shape = world.entry().shape
    return _played(world, rng.random(shape), rng.exponential(size=shape) * rng.choice([-1.0, 1.0], shape))


def noisy_agent(rng: Rng, world: World) -> Played:
    """Say the price with noise, and stake by how far that is from it; leave out every fifth market."""
    entry = world.entry()
    said = _expit(_logit(np.clip(entry, 1e-6, 1.0 - 1e-6)) + rng.normal(0.0, 0.8, entry.shape))
    return _played(world, said, said - entry, answered=rng.random(entry.shape) < 0.8)


def price_plus_tenth(_: Rng, world: World) -> Played:
    """Say the price and .10 more, and buy YES of everything."""
    return _played(world, np.minimum(world.entry() + 0.1, 1.0), np.ones(world.entry().shape))


def price_less_tenth(_: Rng, world: World) -> Played:
    """Say the price and .10 less, and buy NO of everything."""
    return _played(world, np.maximum(world.entry() - 0.1, 0.0), -np.ones(world.entry().shape))


def record_of(world: World, played: Mapping[str, Played], *, day: float = 1_000.0) -> TrackRecord:
    """Return the record of all simulations as it stood at noon of a day of the calendar: by then all have settled.

    Of each simulation every bot is a bot of the record, in the order of the simulations and then of `played`. Nobody
    decides, and nothing is observed, but at noon.
    """
    simulations, events = world.begins.shape
    decided, of_bet = _decisions(world, day)
    sim, event, number, asked_day = np.nonzero(of_bet >= 0)
    decision = of_bet[sim, event, number, asked_day]
    market = np.cumsum(world.listed).reshape(world.listed.shape) - 1
    n, bots = decided[0].size, len(played)
    at_noon = (world.begins[decided[0], decided[1]] + decided[2] + 0.5) * DAY
    return TrackRecord(
        as_of=(day + 0.5) * DAY,
        bots=tuple(f"{row} {name}" for row in range(simulations) for name in played),
        decision_bot=np.concatenate([decided[0] * bots + row for row in range(bots)]),
        decision_status=np.zeros(n * bots, dtype=np.int8),
        decided_at=np.tile(at_noon, bots),
        decision_day=np.tile((at_noon // DAY).astype(np.int64), bots),
        decision_event=np.tile(decided[0] * events + decided[1], bots),
        decision_cost_usd=np.full(n * bots, np.nan),
        decision_cost_known_usd=np.zeros(n * bots),
        bet_decision=np.concatenate([decision + row * n for row in range(bots)]),
        bet_market=np.tile(market[sim, event, number], bots),
        bet_usd=np.concatenate([each.usd[sim, event, number, asked_day] for each in played.values()]),
        bet_price_yes=np.tile(world.entry()[sim, event, number, asked_day], bots),
        bet_probability=np.concatenate([each.probability[sim, event, number, asked_day] for each in played.values()]),
        **_markets(world, day),
        **_observations(world, market, day),
    )


BOTS: Mapping[str, Bot] = {
    "always_half": always_half,
    "favourite": favourite,
    "random": random_bet,
    "noisy": noisy_agent,
    "market_price": market_price,
}

_SIGNAL = 0.5
"""How much of what will happen is seen in a day, in deviations of the noise."""
_FAR = math.log((1.0 - LOWEST) / LOWEST)


def _categories(rng: Rng, simulations: int, events: int, most: int) -> tuple[Floats, Ints]:
    """Return the chances of outcomes that exclude each other, (S, K, most, LIFE + 1), and which happens, (S, K)."""
    shape = (simulations, events, most)
    n = rng.integers(2, most + 1, shape[:2])
    logs = np.where(np.arange(most) < n[..., None], rng.uniform(0.0, _FAR, shape), -np.inf)
    chance = _softmax(logs)
    which = (np.cumsum(chance, axis=2) < rng.random(shape[:2])[..., None]).sum(axis=2)
    happens = which[..., None] == np.arange(most)
    seen = np.cumsum(_normal(rng, (*shape, LIFE)) + _SIGNAL * happens[..., None], axis=3)
    with np.errstate(divide="ignore"):
        later = np.log(chance)[..., None] + _SIGNAL * seen
    return np.concatenate([chance[..., None], _softmax(later)], axis=3), which.astype(np.int64)


def _world(
    rng: Rng,
    price: Floats,
    happens: Bools,
    settles: Floats,
    span: int,
    *,
    exclusive: bool = False,
    begins: Ints | None = None,
) -> World:
    """Return a world of the prices of markets that are open, which are replaced by payouts where they are not."""
    shape = happens.shape
    settles = np.broadcast_to(settles if settles.ndim == 3 else settles[..., None], shape).astype(np.float64)
    path = np.where(np.arange(LIFE + 1) >= settles[..., None], happens[..., None].astype(np.float64), price)
    # Outcomes that cannot be, and thresholds of an event that has fewer, are no markets.
    listed = (price[..., 0] > 0.0) & (price[..., 0] < 1.0)
    if not exclusive and shape[2] > 1:
        listed &= np.arange(shape[2]) < rng.integers(1, shape[2] + 1, shape[:2])[..., None]
    return World(
        price=path,
        settles=settles,
        listed=listed,
        begins=rng.integers(0, span, shape[:2]) if begins is None else begins,
        days=rng.integers(1, ASKED_DAYS + 1, shape[:2]),
        exclusive=exclusive,
    )


def _played(world: World, probability: Floats, weight: Floats, answered: Bools | None = None) -> Played:
    """Return what a bot says where it is asked, the dollar split by signed weights."""
    told = world.asked() if answered is None else world.asked() & answered
    weight = np.where(told, weight, 0.0)
    total = np.abs(weight).sum(axis=2, keepdims=True)
    return Played(np.where(told, probability, np.nan), weight / np.where(total > 0.0, total, 1.0))


def _decisions(world: World, day: float) -> tuple[tuple[Ints, ...], Ints]:
    """Return simulation, event and day of each decision, and the decision of each market asked, -1 of others."""
    asked = world.asked() & (world.begins[..., None, None] + np.arange(ASKED_DAYS) < day)
    made = asked.any(axis=2)
    number = np.cumsum(made).reshape(made.shape) - 1
    return np.nonzero(made), np.where(asked, number[:, :, None, :], -1)


def _markets(world: World, day: float) -> dict[str, NDArray[Any]]:
    """Return what became of the markets that there are, in their order."""
    settled_at = ((world.begins[..., None] + world.settles + 0.5) * DAY)[world.listed]
    settled = settled_at <= (day + 0.5) * DAY
    event = np.arange(world.begins.size).reshape(world.begins.shape)
    groups = {"market_exclusive": np.broadcast_to(event[..., None], world.listed.shape)[world.listed]}
    return {
        "payout_yes": np.where(settled, world.payout[world.listed], np.nan),
        "settled_at": np.where(settled, settled_at, np.nan),
        **(groups if world.exclusive else {}),
    }


def _observations(world: World, market: Ints, day: float) -> dict[str, NDArray[Any]]:
    """Return the prices of open markets at every noon."""
    noons = np.arange(LIFE + 1)
    is_open = world.listed[..., None] & (noons < world.settles[..., None])
    at = (world.begins[..., None, None] + noons + 0.5) * DAY
    seen = is_open & (at <= (day + 0.5) * DAY)
    return {
        "observation_market": np.broadcast_to(market[..., None], seen.shape)[seen],
        "observation_at": np.broadcast_to(at, seen.shape)[seen],
        "observation_price_yes": world.price[seen],
    }


def _life(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.integers(1, LIFE + 1, shape).astype(np.float64)


def _normal(rng: Rng, shape: tuple[int, ...]) -> Floats:
    return rng.standard_normal(shape)


def _logit(p: Floats) -> Floats:
    return np.log(p) - np.log1p(-p)


def _expit(x: Floats) -> Floats:
    return 1.0 / (1.0 + np.exp(-x))


def _softmax(logs: Floats) -> Floats:
    weight = np.exp(logs - logs.max(axis=2, keepdims=True))
    return weight / weight.sum(axis=2, keepdims=True)


def _ndtr(x: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(x))


def _ndtri(p: Floats) -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(p))
