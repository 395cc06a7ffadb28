"""Accounts in fair worlds: what favourites, long odds, markets that move or jump, one swing and shares come to.

Nobody in them knows anything, so that zero is the expected gain of every dollar.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from predibot.scoring.accounts.implied import ImpliedRisk, implied_risk
from predibot.scoring.accounts.record import AccountRecord
from predibot.scoring.inference.blocks import draw_curves, growth_difference, growth_estimate
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.scoring.accounts.made_accounts import account, record_of

Floats = np.ndarray
Rng = np.random.Generator
DRAWS = Uncertainty(resamples=1_000, seed=1)


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """Prices at each slot, and how many shares a dollar holds after it, (slots, instruments) each."""

    price: Floats
    shares: Floats


def bets(rng: Rng, dates: int, price: float, stake: float, each: int) -> Prices:
    """Draw so many bets a date at one price, which share a stake, and pay at the next."""
    paid = (rng.random((dates, each)) < price).astype(float)
    prices, shares = np.full((dates + 1, dates * each), price), np.zeros((dates + 1, dates * each))
    for date in range(dates):
        own = slice(date * each, (date + 1) * each)
        prices[date + 1 :, own] = paid[date]
        shares[date, own] = stake / each / price
    return Prices(prices, shares)


def markets(rng: Rng, dates: int, kind: str, bot: str, *, shared: float = 0.0, slots: int = 10) -> Prices:
    """Draw markets, so many at once, each replaced when it settles; 95 % of the account on them, alike.

    Args:
        rng: Of everything.
        dates: How many.
        kind: `probit` prices move every day, `jump` ones only to their end, of `both` each is one of them; `dear` are
            jumps from .85 to .99, and of a `swing` all end on the same days.
        bot: The side it takes: `favourite`, `underdog`, `any`, `yes`.
        shared: How much of the variance of a day is one thing's.
        slots: How many markets there are at once.
    """
    columns: list[tuple[int, list[float]]] = []
    steps = {date: math.sqrt(1.0 - shared) * rng.standard_normal(slots) for date in range(dates)}
    common = math.sqrt(shared) * rng.standard_normal(dates)
    for slot in range(slots):
        date = 0
        while date < dates:
            life = 10 if kind == "swing" else int(rng.integers(3, 31))
            start = rng.uniform(*((0.85, 0.99) if kind == "dear" else (0.1, 0.97)))
            jumps = kind in ("jump", "dear", "swing") or (kind == "both" and rng.random() < 0.5)
            favoured = 1.0 if start >= 0.5 else -1.0
            side = {"favourite": favoured, "underdog": -favoured, "yes": 1.0}.get(bot, float(rng.choice([-1.0, 1.0])))
            level, path = float(ndtri(start)) * math.sqrt(life), [start]
            for day in range(min(life, dates - date)):
                step = float(steps[date + day][slot]) + float(common[date + day])
                left = life - day - 1
                # A jump keeps the whole variance for its last day.
                level += step * (math.sqrt(life) if jumps and not left else 0.0 if jumps else 1.0)
                path.append(
                    float(level > 0.0) if not left else start if jumps else float(ndtr(level / math.sqrt(left)))
                )
            # NO is what pays where YES does not.
            columns.append((date, path if side > 0.0 else [1.0 - each for each in path]))
            date += life
    price = np.full((dates + 1, len(columns)), np.nan)
    shares = np.zeros(price.shape)
    for column, (first, path) in enumerate(columns):
        price[first : first + len(path), column] = path
        price[first + len(path) :, column] = path[-1]
        price[:first, column] = path[0]
        for day, cost in enumerate(path[:-1]):
            shares[first + day, column] = 0.95 / slots / cost if 0.02 < cost < 0.98 else 0.0
    return Prices(price, shares)


Maker = Callable[[Rng, int], Prices]
SIMPLE: Mapping[str, Maker] = {
    name: lambda rng, dates, of=of: bets(rng, dates, *of)  # type: ignore[misc]
    for name, of in {
        "one at .95, 10 %": (0.95, 0.1, 1),
        "one at .90, 10 %": (0.9, 0.1, 1),
        "five at .97, 50 %": (0.97, 0.5, 5),
        "five at .90, 50 %": (0.9, 0.5, 5),
        "one at .05, 1 %": (0.05, 0.01, 1),
        "five at .05, 5 %": (0.05, 0.05, 5),
        "one at .20, 5 %": (0.2, 0.05, 1),
        "one at .50, 10 %": (0.5, 0.1, 1),
        "one at .99, 20 %": (0.99, 0.2, 1),
        "one at .01, 1 %": (0.01, 0.01, 1),
    }.items()
}
MARKETS: Mapping[str, Maker] = {
    "moving, favourites": lambda rng, dates: markets(rng, dates, "probit", "favourite"),
    "moving, underdogs": lambda rng, dates: markets(rng, dates, "probit", "underdog"),
    "jumps, favourites": lambda rng, dates: markets(rng, dates, "jump", "favourite"),
    "jumps at .85 to .99": lambda rng, dates: markets(rng, dates, "dear", "favourite"),
    "both, any side": lambda rng, dates: markets(rng, dates, "both", "any"),
    "both, .5 shared": lambda rng, dates: markets(rng, dates, "both", "favourite", shared=0.5),
    "one swing .7, favourites": lambda rng, dates: markets(rng, dates, "swing", "favourite", shared=0.7),
    "one swing .7, YES": lambda rng, dates: markets(rng, dates, "swing", "yes", shared=0.7),
}


@dataclass(frozen=True, slots=True)
class Held:
    """What intervals of accounts said in some worlds of one kind."""

    worlds: int
    held: float
    """The share that holds zero; without an interval it is held."""
    above: float
    """The share whose lower end is above zero: better than cash."""
    below: float
    growth_held: float
    """The share that holds the expected log growth."""
    few: float
    """The share of which few outcomes decide: they are not told."""
    told: float
    """The share that is told better than cash by a board: above zero, and not few."""


def measured(maker: Maker, dates: int, worlds: int, seed: int, *, beside: bool = False) -> Held:
    """Return what intervals say of accounts, or of differences to one that has half of the same."""
    rng = np.random.default_rng([seed, dates])
    series, less, known = np.zeros((dates, worlds)), np.zeros((dates, worlds)), []
    for world in range(worlds):
        made = maker(rng, dates)
        own = account("bot", "b", made.shares, made.price)
        half = account("half", "b", made.shares * (rng.random(made.shares.shape[1]) < 0.5), made.price)
        record = record_of(made.price, own, half)
        series[:, world] = _returns(own)
        less[:, world] = _returns(half)
        known.append((implied_risk(record, own), implied_risk(record, own, half) if beside else ImpliedRisk()))
    found = []
    for world, (alone, difference) in enumerate(known):
        # Each as if there were no other: of the same dates all draw alike.
        drawn = draw_curves(np.stack([series[:, world], less[:, world]], axis=1), DRAWS)
        found.append(
            growth_difference(drawn, 0, 1, difference.deviation)
            if beside
            else growth_estimate(drawn, 0, alone.deviation)
        )
    logs = np.log1p(series).sum(axis=0) - (np.log1p(less).sum(axis=0) if beside else 0.0)
    return _held(found, [alone.few_decide for alone, _ in known], math.expm1(float(logs.mean())))


def shares_of_companies(rng: Rng, dates: int, worlds: int, kind: str) -> Floats:
    """Draw daily returns of shares, (dates, worlds): normal, of heavy tails, or with a volatility that lasts."""
    if kind == "normal":
        return rng.normal(0.0, 0.02, (dates, worlds))
    if kind == "t4":
        return 0.02 * rng.standard_t(4, (dates, worlds)) / math.sqrt(2.0)
    found, variance = np.zeros((dates, worlds)), np.full(worlds, 4e-4)
    for date in range(dates):
        found[date] = np.sqrt(variance) * rng.standard_normal(worlds)
        variance = 2e-5 + 0.1 * found[date] ** 2 + 0.85 * variance
    return found


def measured_shares(kind: str, dates: int, worlds: int, seed: int = 6) -> Held:
    """Return what intervals say of accounts of shares, of which no price implies anything."""
    series = np.maximum(shares_of_companies(np.random.default_rng([seed, dates]), dates, worlds, kind), -0.9)
    found = [growth_estimate(draw_curves(series[:, [world]], DRAWS), 0) for world in range(worlds)]
    return _held(found, [False] * worlds, math.expm1(float(np.log1p(series).sum(axis=0).mean())))


def _returns(own: AccountRecord) -> Floats:
    return own.value_usd[1:] / own.value_usd[:-1] - 1.0


def _held(found: list[Estimate], few: list[bool], growth: float) -> Held:
    ends = np.array([each.interval or (-1.0, np.inf) for each in found])
    above, decided = ends[:, 0] > 1e-12, np.array(few)
    return Held(
        len(found),
        float(((ends[:, 0] <= 1e-12) & (ends[:, 1] >= -1e-12)).mean()),
        float(above.mean()),
        float((ends[:, 1] < -1e-12).mean()),
        float(((ends[:, 0] <= growth) & (ends[:, 1] >= growth)).mean()),
        float(decided.mean()),
        float((above & ~decided).mean()),
    )
