"""Sharpe ratios in fair worlds: of long odds, unequal dates, repeats, shared swings and exclusive outcomes."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from predibot.scoring import CONVENTIONS
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.sharpe import sharpe_intervals
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring.worlds import ASKED_DAYS, LIFE, Played, World, record_of

Floats = np.ndarray
Rng = np.random.Generator
Maker = Callable[[Rng, int, int], World]
DAYS = (1, 2, 7)
AT_ONCE = 25


def general(rng: Rng, simulations: int, events: int) -> World:
    """Draw prices from .02 to .98 that move every day."""
    shape = (simulations, events, 1)
    life = rng.integers(1, LIFE + 1, shape).astype(float)
    return _world(rng, _moving(rng, rng.uniform(0.02, 0.98, shape), life), life)


def long_odds(rng: Rng, simulations: int, events: int) -> World:
    """Draw prices of .002 to .05 or what is left to one; half of them move, half jump to their end."""
    shape = (simulations, events, 1)
    life = rng.integers(1, LIFE + 1, shape).astype(float)
    price = np.exp(rng.uniform(math.log(0.002), math.log(0.05), shape))
    price = np.where(rng.random(shape) < 0.5, price, 1.0 - price)
    jump = _jumping(price, life, rng.random(shape) < price)
    return _world(rng, np.where(rng.random(shape)[..., None] < 0.5, _moving(rng, price, life), jump), life)


def repeats(rng: Rng, simulations: int, events: int) -> World:
    """Draw events that are asked on ten days, all of them."""
    shape = (simulations, events, 1)
    life = rng.integers(ASKED_DAYS, LIFE + 1, shape).astype(float)
    made = _world(rng, _moving(rng, rng.uniform(0.03, 0.97, shape), life), life)
    return World(made.price, made.settles, made.listed, made.begins, np.full(shape[:2], ASKED_DAYS))


def shared(rng: Rng, simulations: int, events: int) -> World:
    """Draw groups of about six events that one thing decides on one day, by 70 % of the variance."""
    shape, groups = (simulations, events, 1), max(events // 6, 1)
    of = np.arange(events) % groups
    price = rng.uniform(0.05, 0.95, shape)
    common = rng.standard_normal((simulations, groups))[:, of, None]
    paid = math.sqrt(0.7) * common + math.sqrt(0.3) * rng.standard_normal(shape) < ndtri(price)
    life = rng.integers(2, LIFE + 1, (simulations, groups))[:, of, None].astype(float)
    made = _world(rng, _jumping(price, life, paid), life)
    return World(made.price, made.settles, made.listed, np.zeros(shape[:2], int), made.days)


def twelve_outcomes(rng: Rng, simulations: int, events: int) -> World:
    """Draw events of twelve outcomes that exclude each other, of which one happens."""
    weight = rng.gamma(0.3, size=(simulations, events, 12)) + 1e-3
    price = weight / weight.sum(axis=2, keepdims=True)
    won = (rng.random((simulations, events, 1)) > price.cumsum(axis=2)).sum(axis=2)
    life = np.broadcast_to(rng.integers(1, LIFE + 1, (simulations, events, 1)), price.shape).astype(float)
    return _world(rng, _jumping(price, life, np.arange(12) == won[..., None]), life, exclusive=True)


def same_day(rng: Rng, simulations: int, events: int) -> World:
    """Draw independent bets that settle the next day, on any of forty days."""
    shape = (simulations, events, 1)
    price, life = rng.uniform(0.02, 0.98, shape), np.ones(shape)
    made = _world(rng, _jumping(price, life, rng.random(shape) < price), life)
    begins = rng.integers(0, 40, shape[:2])
    return World(made.price, made.settles, made.listed, begins, np.ones(shape[:2], int))


WORLDS: Mapping[str, Maker] = {
    "general": general,
    "long odds": long_odds,
    "repeats": repeats,
    "shared": shared,
    "twelve outcomes": twelve_outcomes,
    "same day": same_day,
}


@dataclass(frozen=True, slots=True)
class Ratios:
    """Of one bot and horizon: in how many worlds there was a ratio, an interval, and one that held zero."""

    bot: str
    days: int
    made: int
    shown: int
    held: int


def measured(name: str, events: int, simulations: int, seed: int = 7) -> list[Ratios]:
    """Return what intervals of Sharpe ratios hold in so many worlds, where no bot knows anything."""
    found: dict[tuple[str, int], list[int]] = {}
    for part in range(0, simulations, AT_ONCE):
        rng = np.random.default_rng([seed, events, part, sum(map(ord, name))])
        world = WORLDS[name](rng, min(AT_ONCE, simulations - part), events)
        played = _bots(rng, world)
        record = record_of(world, played)
        book = Book.of(record)
        for returns in horizon_returns(record, DAYS):
            if returns.days is None:
                continue
            ratios = sharpe_intervals(record, returns, CONVENTIONS["predibot"], book, 0.95)
            for bot, each in zip(record.bots, ratios, strict=True):
                counts = found.setdefault((bot.partition(" ")[2], int(returns.days)), [0, 0, 0])
                counts[0] += each is not None
                if each is not None and each.interval is not None:
                    counts[1] += 1
                    counts[2] += each.interval[0] <= 0.0 <= each.interval[1]
    return [Ratios(bot, days, *counts) for (bot, days), counts in found.items()]


def _bots(rng: Rng, world: World) -> Mapping[str, Played]:
    entry, asked = world.entry(), world.asked()
    said = expit(logit(np.clip(entry, 1e-6, 1.0 - 1e-6)) + rng.normal(0.0, 1.0, (*entry.shape[:3], 1)))
    cheapest = entry == np.where(asked, entry, 9.0).min(axis=2, keepdims=True)
    weights = {
        "yes": np.ones(entry.shape),
        "half": np.where(entry >= 0.5, -1.0, 1.0),
        "opinion": said - entry,
        "cheapest": cheapest.astype(float),
    }
    return {name: _played(asked, weight) for name, weight in weights.items()}


def _played(asked: Floats, weight: Floats) -> Played:
    weight = np.where(asked, weight, 0.0)
    total = np.abs(weight).sum(axis=2, keepdims=True)
    return Played(np.where(asked, 0.5, np.nan), weight / np.where(total > 0.0, total, 1.0))


def _moving(rng: Rng, price: Floats, life: Floats) -> Floats:
    steps = np.cumsum(rng.standard_normal((*price.shape, LIFE)), axis=-1)
    level = (ndtri(price) * np.sqrt(life))[..., None] + np.concatenate([np.zeros((*price.shape, 1)), steps], axis=-1)
    left = np.maximum(life[..., None] - np.arange(LIFE + 1), 0.0)
    end = np.take_along_axis(level, life[..., None].astype(int), axis=-1)
    return np.where(left > 0.0, ndtr(level / np.sqrt(np.maximum(left, 1e-9))), (end > 0.0).astype(float))


def _jumping(price: Floats, life: Floats, paid: Floats) -> Floats:
    return np.where(np.arange(LIFE + 1) >= life[..., None], paid[..., None].astype(float), price[..., None])


def _world(rng: Rng, path: Floats, life: Floats, *, exclusive: bool = False) -> World:
    shape = path.shape[:2]
    begins, days = rng.integers(0, 14, shape), rng.integers(1, ASKED_DAYS + 1, shape)
    return World(path, life, np.ones(path.shape[:3], bool), begins, days, exclusive=exclusive)
