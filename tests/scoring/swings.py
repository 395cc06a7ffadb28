"""Swings: fair events that move together, over one night, a few, or every day; many simulations of them at once.

One market an event, with a price a day. Prices are martingales by construction: a
forecaster that disagrees with them knows nothing. The worlds and their seeds are
those of the project's contract for claims.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr, ndtri

from predibot.scoring import TrackRecord

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Rng = np.random.Generator

DAY = 86_400.0
QUIET = 0.15
"""How much of the variance of an event comes on the quiet days before its night."""
LEAST, MOST = 0.0013, 0.9987
"""Prices at which nothing is asked lie outside."""


@dataclass(frozen=True, slots=True, eq=False)
class Swings:
    """S simulations of K events over T days."""

    path: Floats
    """The price of YES at noon of each day, (S, K, T); from the settlement on the payout."""
    asked: Ints
    """The days on which each event is asked, (S, K, A)."""
    ends: Ints
    """The day on which it is settled, (S, K)."""

    def entry(self) -> Floats:
        days = np.minimum(self.asked, self.path.shape[2] - 1)
        return np.clip(np.take_along_axis(self.path, days, 2), LEAST, MOST)


def settling(happens: Floats, price: Floats, begins: Ints, life: Ints, days: int) -> Swings:
    """Return events whose prices stand still until they settle."""
    ends = begins + life
    path = np.where(np.arange(days) >= ends[..., None], happens[..., None], price[..., None])
    return Swings(path, begins[..., None], ends)


def _levels(
    rng: Rng, price: Floats, begins: Ints, life: Ints, days: int, common: Floats, share: float
) -> tuple[Floats, Floats]:
    """Return what decides each event as it had added up by each day, and how many days are left, (S, K, T) each."""
    own = rng.standard_normal((*price.shape, days))
    step = np.sqrt(share) * common + np.sqrt(1.0 - share) * own
    age = np.arange(days) - begins[..., None]
    level = (ndtri(price) * np.sqrt(life))[..., None]
    level = level + np.cumsum(np.where((age >= 1) & (age <= life[..., None]), step, 0.0), axis=-1)
    return level, np.clip(life[..., None] - np.maximum(age, 0), 0, None).astype(np.float64)


def daily_moves(rng: Rng, price: Floats, begins: Ints, life: Ints, days: int, common: Floats, share: float) -> Swings:
    """Return events that move every day of their life, a share of it with what is common, (S, K or 1, T)."""
    level, left = _levels(rng, price, begins, life, days, common, share)
    return Swings(_moving(level, left, level > 0.0), begins[..., None], begins + life)


def _moving(level: Floats, left: Floats, happens: NDArray[np.bool_]) -> Floats:
    return np.where(left > 0.0, ndtr(level / np.sqrt(np.maximum(left, 1e-9))), happens.astype(np.float64))


def nights(
    rng: Rng,
    simulations: int,
    events: int,
    days: int,
    share: float,
    begins: Ints,
    life: tuple[int, int],
    price: Floats | None = None,
    *,
    over_midnight: bool = False,
) -> Swings:
    """Return events that settle in as many nights as there are beginnings, most of their variance in that night.

    Args:
        rng: Draws.
        simulations: S.
        events: K.
        days: T.
        share: How much of what a night brings is common to its events.
        begins: The day on which the events of each night begin, (nights,).
        life: How long they live at least and at most.
        price: At the beginning, (S, K); from .15 to .85 unless given.
        over_midnight: Whether the swing comes in two halves, before and after a midnight.
    """
    night = np.arange(events) % begins.size
    if price is None:
        price = rng.uniform(0.15, 0.85, (simulations, events))
    lives = rng.integers(life[0], life[1] + 1, (simulations, begins.size))[:, night]
    base = np.broadcast_to(begins[night], lives.shape)
    asked = base + rng.integers(0, min(20, life[0] - 1), (simulations, events))
    own = rng.standard_normal((simulations, events, days))
    age = np.arange(days) - base[..., None]
    quiet = np.where((age >= 1) & (age < lives[..., None]), own * np.sqrt(QUIET / (lives - 1.0))[..., None], 0.0)
    level = ndtri(price)[..., None] + np.cumsum(quiet, axis=-1)
    used = np.minimum(QUIET * np.clip(age, 0, None) / (lives[..., None] - 1.0), QUIET)
    ends = base + lives

    def swing() -> Floats:
        common = rng.standard_normal((simulations, begins.size))[:, night]
        return np.sqrt(share) * common + np.sqrt(1.0 - share) * rng.standard_normal((simulations, events))

    path = ndtr(level / np.sqrt(1.0 - used))
    whole = np.sqrt(1.0 - QUIET)
    last = level[..., -1]
    if over_midnight:
        last = last + whole * np.sqrt(0.5) * swing()
        at_eve = np.arange(days) == ends[..., None] - 1
        path = np.where(at_eve, ndtr(last / (whole * np.sqrt(0.5)))[..., None], path)
        whole *= np.sqrt(0.5)
    happens = (last + whole * swing() > 0.0).astype(np.float64)
    path = np.where(np.arange(days) >= ends[..., None], happens[..., None], path)
    return Swings(path, asked[..., None], ends)


def _hazards(rng: Rng, price: Floats, begins: Ints, last: Ints, days: int) -> Swings:
    """Return events that may happen on any day up to a last one."""
    hazard = -np.log1p(-price) / last
    at = rng.exponential(size=price.shape) / hazard
    happens = (at <= last).astype(np.float64)
    life = np.where(happens > 0.0, np.maximum(np.ceil(at), 1.0), last).astype(np.int64)
    left = np.clip(last[..., None] - np.clip(np.arange(days) - begins[..., None], 0, None), 0, None)
    path = -np.expm1(-hazard[..., None] * left)
    ends = begins + life
    path = np.where(np.arange(days) >= ends[..., None], happens[..., None], path)
    return Swings(path, begins[..., None], ends)


def independent(rng: Rng, n: int, *, events: int = 90, days: int = 100) -> Swings:
    """Return events that settle apart."""
    price = rng.uniform(0.05, 0.95, (n, events))
    begins, life = rng.integers(0, 80, (n, events)), rng.integers(1, 16, (n, events))
    return settling((rng.random(price.shape) < price).astype(np.float64), price, begins, life, days)


def thresholds(rng: Rng, n: int) -> Swings:
    """Return 18 quantities with five thresholds each, every one an event of its own."""
    begins = rng.integers(0, 60, (n, 18)).repeat(5, 1)
    life = rng.integers(5, 31, (n, 18)).repeat(5, 1)
    price = rng.uniform(0.05, 0.95, (n, 90))
    common = rng.standard_normal((n, 18, 100)).repeat(5, 1)
    return daily_moves(rng, price, begins, life, 100, common, 1.0)


def deadlines(rng: Rng, n: int) -> Swings:
    """Return events that may happen until a day of their own."""
    begins, last = rng.integers(0, 40, (n, 90)), rng.integers(5, 61, (n, 90))
    return _hazards(rng, rng.uniform(0.02, 0.9, (n, 90)), begins, last, 110)


def one_deadline(rng: Rng, n: int) -> Swings:
    """Return events that may happen until the same day."""
    return _hazards(rng, rng.uniform(0.02, 0.9, (n, 90)), np.zeros((n, 90), np.int64), np.full((n, 90), 60), 63)


def daily_driver(rng: Rng, n: int, share: float) -> Swings:
    """Return events of which a share of every day's move is common to all."""
    days, latest, longest = (100, 60, 40) if share < 0.5 else (160, 100, 60)
    begins, life = rng.integers(0, latest, (n, 60)), rng.integers(10, longest + 1, (n, 60))
    price = rng.uniform(0.1, 0.9, (n, 60))
    return daily_moves(rng, price, begins, life, days, rng.standard_normal((n, days))[:, None, :], share)


def calm_then_swing(rng: Rng, n: int) -> Swings:
    """Return events that settle apart, and then as many in one night."""
    late = nights(rng, n, 60, 130, 0.7, np.array([60]), (60, 60))
    price = rng.uniform(0.05, 0.95, (n, 60))
    begins, life = rng.integers(0, 60, (n, 60)), rng.integers(1, 16, (n, 60))
    early = settling((rng.random(price.shape) < price).astype(np.float64), price, begins, life, 130)
    path, asked, ends = (
        np.concatenate([getattr(late, of), getattr(early, of)], axis=1) for of in ("path", "asked", "ends")
    )
    return Swings(path, asked, ends)


def odds(rng: Rng, n: int, least: float, most: float, *, favourites: bool) -> Swings:
    """Return events of long odds, or of their favourites, that settle apart."""
    price = np.exp(rng.uniform(np.log(least), np.log(most), (n, 90)))
    price = 1.0 - price if favourites else price
    begins, life = rng.integers(0, 60, (n, 90)), rng.integers(2, 31, (n, 90))
    return settling((rng.random(price.shape) < price).astype(np.float64), price, begins, life, 95)


def repeats(rng: Rng, n: int) -> Swings:
    """Return 40 events that are asked on 20 days each."""
    price = rng.uniform(0.05, 0.95, (n, 40))
    begins, life = rng.integers(0, 40, (n, 40)), rng.integers(20, 41, (n, 40))
    moved = daily_moves(rng, price, begins, life, 85, np.zeros((n, 1, 85)), 0.0)
    return Swings(moved.path, begins[..., None] + np.arange(20), moved.ends)


def _nights_of_odds(rng: Rng, n: int, *, favourites: bool) -> Swings:
    price = rng.uniform(0.03, 0.15, (n, 180))
    price = 1.0 - price if favourites else price
    return nights(rng, n, 180, 125, 0.9, np.arange(20) * 4, (20, 40), price)


WORLDS: Mapping[str, Callable[[Rng, int], Swings]] = {
    "indep": independent,
    "same deadline": one_deadline,
    "deadline": deadlines,
    "longshot": lambda rng, n: odds(rng, n, 0.002, 0.05, favourites=False),
    "favs": lambda rng, n: odds(rng, n, 0.01, 0.2, favourites=True),
    "repeat": repeats,
    "nested": thresholds,
    "daily": lambda rng, n: daily_driver(rng, n, 0.3),
    "daily.8": lambda rng, n: daily_driver(rng, n, 0.8),
    "night.1": lambda rng, n: nights(rng, n, 60, 62, 0.1, np.zeros(1, np.int64), (60, 60)),
    "night.3": lambda rng, n: nights(rng, n, 60, 62, 0.3, np.zeros(1, np.int64), (60, 60)),
    "night.7": lambda rng, n: nights(rng, n, 60, 62, 0.7, np.zeros(1, np.int64), (60, 60)),
    "night.9": lambda rng, n: nights(rng, n, 60, 62, 0.9, np.zeros(1, np.int64), (60, 60)),
    "eight": lambda rng, n: nights(rng, n, 88, 100, 0.9, np.arange(8) * 6, (20, 40)),
    "ten": lambda rng, n: nights(rng, n, 90, 100, 0.9, np.arange(10) * 6, (20, 40)),
    "fifteen": lambda rng, n: nights(rng, n, 90, 125, 0.7, np.arange(15) * 5, (20, 40)),
    "twenty": lambda rng, n: nights(rng, n, 100, 125, 0.9, np.arange(20) * 4, (20, 40)),
    "thirty": lambda rng, n: nights(rng, n, 90, 130, 0.9, np.arange(30) * 3, (20, 40)),
    "calm then swing": calm_then_swing,
    "fav nights": lambda rng, n: _nights_of_odds(rng, n, favourites=True),
    "dog nights": lambda rng, n: _nights_of_odds(rng, n, favourites=False),
    "ten of 60": lambda rng, n: nights(rng, n, 600, 100, 0.5, np.arange(10) * 6, (20, 40)),
    "midnight.7": lambda rng, n: nights(rng, n, 60, 62, 0.7, np.zeros(1, np.int64), (60, 60), over_midnight=True),
    "midnight.9": lambda rng, n: nights(rng, n, 60, 62, 0.9, np.zeros(1, np.int64), (60, 60), over_midnight=True),
    "eight midnights": lambda rng, n: nights(rng, n, 88, 100, 0.9, np.arange(8) * 6, (20, 40), over_midnight=True),
}
"""By the names that their seeds are of."""


def _clip(said: Floats) -> Floats:
    return np.clip(said, 0.001, 0.999)


def forecasters(rng: Rng, entry: Floats) -> Mapping[str, Floats]:
    """Return what six bots that know nothing say at prices, (S, K, A)."""
    opinion = rng.normal(0.0, 1.2, (*entry.shape[:2], 1))
    return {
        "+2 logits": _clip(expit(logit(entry) + 2.0)),
        "-2 logits": _clip(expit(logit(entry) - 2.0)),
        "+.10": _clip(entry + 0.1),
        "noise": _clip(expit(logit(entry) + opinion)),
        "half": np.full_like(entry, 0.5),
        "favourites": _clip(expit(1.5 * logit(entry))),
    }


def halfway(
    rng: Rng, simulations: int, events: int, share: float, begins: Ints, life: tuple[int, int]
) -> tuple[Floats, Callable[[Floats], Swings]]:
    """Return prices at which events that settle in nights are asked, (S, K, 1), and the world in which a forecast is
    as wrong as those prices: the truth lies halfway, and the prices keep their error until the night.

    Args:
        rng: Draws.
        simulations: S.
        events: K.
        share: How much of what a night brings is common to its events.
        begins: The day on which the events of each night begin, (nights,).
        life: How long they live at least and at most.
    """
    night = np.arange(events) % begins.size
    base = np.broadcast_to(begins[night], (simulations, events))
    lives = rng.integers(life[0], life[1] + 1, (simulations, begins.size))[:, night]
    ends = base + lives
    asked = base + rng.integers(0, 19, (simulations, events))
    days = int(ends.max()) + 2
    price = rng.uniform(0.15, 0.85, (simulations, events))
    age = np.arange(days) - base[..., None]
    step = rng.standard_normal((simulations, events, days)) * np.sqrt(QUIET / (lives - 1.0))[..., None]
    level = ndtri(price)[..., None]
    level = level + np.cumsum(np.where((age >= 1) & (age < lives[..., None]), step, 0.0), axis=-1)
    used = np.minimum(QUIET * np.clip(age, 0, None) / (lives[..., None] - 1.0), QUIET)
    path = ndtr(level / np.sqrt(1.0 - used))
    common = rng.standard_normal((simulations, begins.size))[:, night]
    own = rng.standard_normal((simulations, events))
    last = np.sqrt(1.0 - QUIET) * (np.sqrt(share) * common + np.sqrt(1.0 - share) * own)
    entry, at_entry, spent = (np.take_along_axis(each, asked[..., None], 2) for each in (path, level, used))

    def world(said: Floats) -> Swings:
        error = ndtri((said + entry) / 2.0) * np.sqrt(1.0 - spent) - at_entry
        happens = (level[..., -1] + error[..., 0] + last > 0.0).astype(np.float64)
        return Swings(np.where(np.arange(days) >= ends[..., None], happens[..., None], path), asked[..., None], ends)

    return entry, world


def halfway_daily(rng: Rng, simulations: int, kind: str) -> tuple[Floats, Callable[[Floats], Swings]]:
    """Return the same of events that move every day: with a share of .3 or .8, nested in five, or each by itself."""
    n, days = simulations, 100
    if kind == "nested":
        begins, life = rng.integers(0, 60, (n, 18)).repeat(5, 1), rng.integers(5, 31, (n, 18)).repeat(5, 1)
        common, share = rng.standard_normal((n, 18, days)).repeat(5, 1), 1.0
    else:
        begins, life = rng.integers(0, 60, (n, 60)), rng.integers(10, 40, (n, 60))
        common, share = rng.standard_normal((n, 1, days)), {"daily .3": 0.3, "daily .8": 0.8, "own": 0.0}[kind]
    entry = rng.uniform(0.1, 0.9, begins.shape)
    level, left = _levels(rng, entry, begins, life, days, common, share)

    def world(said: Floats) -> Swings:
        error = (ndtri((said[..., 0] + entry) / 2.0) - ndtri(entry)) * np.sqrt(life)
        happens = level[..., -1] + error > 0.0
        return Swings(_moving(level, left, happens[..., None]), begins[..., None], begins + life)

    return entry[..., None], world


def record_of(
    world: Swings, said: Mapping[str, Floats], simulation: int, usd: Mapping[str, Floats] | None = None
) -> TrackRecord:
    """Return the record of one simulation when all has settled.

    Decided and observed is at noon; a settlement is at six in the morning.

    Args:
        world: What happened.
        said: The forecasts of each bot, (S, K, A).
        simulation: Which.
        usd: The dollars of each bot, (S, K, A); nothing unless given.
    """
    path, asked, ends = world.path[simulation], world.asked[simulation], world.ends[simulation]
    entry, days = world.entry()[simulation], world.path.shape[2]
    plain = np.take_along_axis(path, np.minimum(asked, days - 1), 1)
    kept = (asked < ends[:, None]) & (asked < days) & (plain > 0.0012) & (plain < 0.9988)
    event, number = np.nonzero(kept)
    at = (asked[event, number] + 0.5) * DAY
    n, bots = at.size, len(said)
    first = asked.min(axis=1)
    day = np.arange(days)
    moved = np.diff(path, axis=1, prepend=path[:, :1]) != 0.0
    seen_event, seen_day = np.nonzero(moved & (day > first[:, None]) & (day < ends[:, None]))
    settled = ends < days
    return TrackRecord(
        as_of=(days + 1.0) * DAY,
        bots=tuple(said),
        decision_bot=np.repeat(np.arange(bots), n),
        decision_status=np.zeros(n * bots, dtype=np.int8),
        decided_at=np.tile(at, bots),
        decision_day=np.tile((at // DAY).astype(np.int64), bots),
        decision_event=np.tile(event, bots),
        decision_cost_usd=np.full(n * bots, np.nan),
        decision_cost_known_usd=np.zeros(n * bots),
        bet_decision=np.arange(n * bots),
        bet_market=np.tile(event, bots),
        bet_usd=np.zeros(n * bots)
        if usd is None
        else np.concatenate([each[simulation, event, number] for each in usd.values()]),
        bet_price_yes=np.tile(entry[event, number], bots),
        bet_probability=np.concatenate([each[simulation, event, number] for each in said.values()]),
        payout_yes=np.where(settled, path[:, -1], np.nan),
        settled_at=np.where(settled, (ends + 0.25) * DAY, np.nan),
        observation_market=seen_event,
        observation_at=(seen_day + 0.5) * DAY,
        observation_price_yes=path[seen_event, seen_day],
    )
