"""Claims: how often what is said of bots that know nothing is wrong, where events move together.

The benchmark measures 600 worlds of each kind; the tests a tenth of some.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom

from predibot.scoring import (
    Estimate,
    TrackRecord,
    Uncertainty,
    brier_pairs,
    edge_pairs,
    edges,
    ranked,
    record_evidence,
    return_pairs,
    scorecards,
)
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.horizon_series import edge_average, horizon_averages
from predibot.scoring.records.horizon_returns import horizon_returns
from predibot.scoring.records.track_record import settled_forecasts
from tests.scoring import swings
from tests.scoring.coverage import Cell
from tests.scoring.swings import Floats, Rng, Swings, record_of

FEWEST = Uncertainty(resamples=40)
MOST_FALSE = 0.04
"""More than so many false claims of the worst of six bots are too many."""
HALFWAY: Mapping[str, tuple[int, float, int]] = {
    "1 night .1": (1, 0.1, 60),
    "1 night .3": (1, 0.3, 60),
    "1 night .7": (1, 0.7, 60),
    "1 night .9": (1, 0.9, 60),
    "3 nights .7": (3, 0.7, 60),
    "10 nights .9": (10, 0.9, 90),
    "15 nights .5": (15, 0.5, 90),
    "30 nights .9": (30, 0.9, 90),
    "90 days 0": (90, 0.0, 90),
}
"""Nights, what is common in them, and events, of worlds in which the truth lies halfway to each forecast."""
HALFWAY_DAILY = ("daily .3", "daily .8", "nested", "own")
EDGE_WORLDS = (
    "indep", "nested", "deadline", "daily", "daily.8", "night.1", "night.3", "night.7", "night.9", "eight", "ten",
    "thirty", "longshot", "favs",
)  # fmt: skip


def allowed(worlds: int) -> int:
    """Return how many false claims in so many worlds a true 4 % exceeds once in 1,000."""
    return int(binom.ppf(0.999, worlds, MOST_FALSE))


def better_cells(name: str, rounds: range, worlds: int = 40) -> list[Cell]:
    """Return in how many fair worlds each bot's evidence of beating the price ever comes to 20."""
    hits: dict[str, int] = {}
    for number in rounds:
        rng = np.random.default_rng([101, number, sum(map(ord, name))])
        world = swings.WORLDS[name](rng, worlds)
        said = swings.forecasters(rng, world.entry())
        for row in range(worlds):
            for found in record_evidence(record_of(world, said, row), dollars=False):
                hits[found.bot] = hits.get(found.bot, 0) + found.forecasts.better.convinces
    return _cells((name, "better"), hits, len(rounds) * worlds, at_most=MOST_FALSE)


def worse_cells(name: str, rounds: range, worlds: int = 50) -> list[Cell]:
    """Return in how many worlds a bot of edge 0 is called worse than the price."""
    hits: dict[str, int] = {}
    for number in rounds:
        if name in HALFWAY:
            many, share, events = HALFWAY[name]
            rng = np.random.default_rng([404, number, many, int(share * 10)])
            apart = 6 if many <= 10 else 3 if many <= 30 else 1
            life = (60, 60) if many == 1 else (20, 40)
            entry, world_of = swings.halfway(rng, worlds, events, share, np.arange(many) * apart, life)
        else:
            rng = np.random.default_rng([505, number, len(name), ord(name[-1])])
            entry, world_of = swings.halfway_daily(rng, worlds, name)
        for bot, said in swings.forecasters(rng, entry).items():
            world = world_of(said)
            happened = world.path[..., -1]
            edge = ((entry[..., 0] - happened) ** 2 - (said[..., 0] - happened) ** 2).mean(axis=1)
            for row in range(worlds):
                (found,) = record_evidence(record_of(world, {bot: said}, row), dollars=False)
                hits[bot] = hits.get(bot, 0) + bool(found.forecasts.worse.convinces and edge[row] < 0.0)
    return _cells((name, "worse"), hits, len(rounds) * worlds, at_most=MOST_FALSE)


def power_cells(events: int, edge: float, together: float, worlds: int, *, at_least: float) -> list[Cell]:
    """Return in how many worlds a bot that knows the truth is told better where prices are off by the root of `edge`.

    Args:
        events: How many.
        edge: What it has, in squared error.
        together: How far the outcomes of a day are correlated along its side.
        worlds: How many, in batches as the contract draws them.
        at_least: The aim.
    """
    batch, hits = max(5, min(50, 20_000 // events)), 0
    for number in range(-(-worlds // batch)):
        rng = np.random.default_rng([7, number, events, int(edge * 1e4), int(together * 100)])
        off = np.sqrt(edge)
        truth = rng.uniform(0.05 + off, 0.95 - off, (batch, events))
        side = rng.choice([-1, 1], truth.shape)
        price, begins = truth - side * off, rng.integers(0, 105, truth.shape)
        life = rng.integers(1, 16, truth.shape)
        common = np.take_along_axis(rng.standard_normal((batch, 121)), begins + life, 1)
        swing = np.sqrt(together) * side * common + np.sqrt(1.0 - together) * rng.standard_normal(truth.shape)
        happens = (swing < swings.ndtri(truth)).astype(np.float64)
        world = swings.settling(happens, price, begins, life, 121)
        for row in range(batch):
            (found,) = record_evidence(record_of(world, {"knows": truth[..., None]}, row), dollars=False)
            hits += found.forecasts.better.convinces
    n = -(-worlds // batch) * batch
    return [
        Cell((f"{events} events, edge {1000 * edge:g}, {together:g} together", "power"), hits, n, at_least=at_least)
    ]


def interval_cells(name: str, rounds: range, worlds: int = 50, *, pairs: bool = True) -> list[Cell]:
    """Return how often the intervals of edge, of its differences and of returns by every horizon hold the truth."""
    held: dict[tuple[str, str], list[bool]] = {}
    for number in rounds:
        for seed, look in ((55, partial(_edges_held, pairs=pairs)), (56, _returns_held)):
            rng = np.random.default_rng([seed, number, sum(map(ord, name))])
            world = swings.WORLDS[name](rng, worlds)
            for what, bot, so in look(rng, world):
                held.setdefault((what, bot), []).append(so)
    return [Cell((name, *key), sum(of), len(of), at_least=0.92) for key, of in held.items()]


def _edges_held(rng: Rng, world: Swings, *, pairs: bool) -> Iterator[tuple[str, str, bool]]:
    entry = world.entry()
    said = swings.forecasters(rng, entry)
    for row in range(entry.shape[0]):
        record = record_of(world, said, row)
        yield from _running_held(record, said)
        found, book = edges(record), Book.of(record)
        away = np.bincount(
            record.decision_bot,
            (record.bet_probability - record.bet_price_yes) ** 2,
            len(said),
        ) / np.bincount(record.decision_bot, minlength=len(said))
        truth = dict(zip(said, (-away).tolist(), strict=True))
        for bot, estimate in zip(said, edge_average(found, book).of_each(0.95), strict=True):
            yield "edge", bot, _holds(estimate, truth[bot])
        by_edge = edge_pairs(record, FEWEST, found=found, book=book) if pairs else ()
        by_brier = brier_pairs(settled_forecasts(record), FEWEST, by_edge=by_edge) if pairs else ()
        for pair in (*by_edge, *by_brier):
            if pair.low is not None and pair.high is not None:
                # Of squared errors the lower one is better.
                better = 1.0 if pair.metric == "edge" else -1.0
                so = pair.low <= better * (truth[pair.first] - truth[pair.second]) <= pair.high
                yield f"{pair.metric} of a pair", f"{pair.first}, {pair.second}", so


def _running_held(record: TrackRecord, said: Mapping[str, Floats]) -> Iterator[tuple[str, str, bool]]:
    """Yield whether the edge's interval holds the truth half-way, when much is open and counts at its price."""
    half = replace(record, as_of=float(np.median(record.decided_at) + np.median(record.settled_at)) / 2.0)
    made = half.made_mask()[half.bet_decision]
    away = np.where(made, (half.bet_probability - half.bet_price_yes) ** 2, 0.0)
    bot = half.decision_bot[half.bet_decision]
    found = edges(half)
    # What was not observed since has no price, and is left out of the edge.
    away = np.where(np.isin(np.arange(made.size), found.bet), away, 0.0)
    truth = -np.bincount(bot, away, len(said)) / np.maximum(np.bincount(found.bot, minlength=len(said)), 1)
    for row, estimate in enumerate(edge_average(found, Book.of(half)).of_each(0.95)):
        if estimate is not None and estimate.clusters > 1:
            yield "edge half-way", half.bots[row], _holds(estimate, float(truth[row]))


def _returns_held(rng: Rng, world: Swings) -> Iterator[tuple[str, str, bool]]:
    entry = world.entry()
    ones = np.ones_like(entry)
    usd = {
        "yes": ones,
        "no": -ones,
        "favourites": np.where(entry >= 0.5, 1.0, -1.0),
        "underdogs": np.where(entry < 0.5, 1.0, -1.0),
        "random": rng.choice([-1.0, 1.0], entry.shape),
    }
    for row in range(entry.shape[0]):
        record = record_of(world, dict.fromkeys(usd, entry), row, usd)
        book = Book.of(record)
        for returns in horizon_returns(record, (1, 7)):
            average = horizon_averages(returns, book, ("mean_return",))["mean_return"]
            for bot, estimate in zip(usd, average.of_each(0.95), strict=True):
                if estimate is not None and estimate.clusters > 1:
                    yield f"return {returns.label}", bot, _holds(estimate, 0.0)
            for pair in return_pairs(record, returns, FEWEST, book=book) if returns.label == "settled" else ():
                if pair.low is not None and pair.high is not None:
                    yield "return of a pair", f"{pair.first}, {pair.second}", pair.low <= 0.0 <= pair.high


def _holds(found: Estimate | None, truth: float) -> bool:
    if found is None or found.low is None or found.high is None:
        return False
    return found.low - 1e-12 <= truth <= found.high + 1e-12


def _cells(name: tuple[str, str], hits: Mapping[str, int], n: int, *, at_most: float) -> list[Cell]:
    return [Cell((*name, bot), found, n, at_most=at_most) for bot, found in hits.items()]


def board_world(rng: Rng, simulations: int, events: int) -> tuple[Swings, Mapping[str, Floats]]:
    """Return worlds whose prices are wrong by .7 logit, and 13 bots: three that know half of it, four that copy."""
    truth = rng.uniform(0.05, 0.95, (simulations, events))
    price = np.clip(expit(logit(truth) + rng.normal(0.0, 1.0, truth.shape) * 0.7), 0.01, 0.99)
    begins, life = rng.integers(0, 100, truth.shape), rng.integers(5, 16, truth.shape)
    happens = (rng.random(truth.shape) < truth).astype(np.float64)
    world = swings.settling(happens, price, begins, life, 117)
    better = expit(logit(price) + 0.5 * (logit(truth) - logit(price)))
    sure = np.abs(logit(better) - logit(price)) > 0.35

    def opinion(of: Floats, scale: float) -> Floats:
        return np.clip(expit(logit(of) + rng.normal(0.0, scale, truth.shape)), 0.001, 0.999)

    number, far = np.arange(events), (price < 0.1) | (price > 0.9)
    said = {
        "skilled": better,
        "skilled noisy": opinion(better, 0.4),
        "skilled, sure only": np.where(sure, better, price),
        "opinion 1": opinion(price, 0.8),
        "opinion 2": opinion(price, 0.3),
        "opinion 3": opinion(price, 1.2),
        "copy": price,
        "price + .001": price + 0.001,
        "price + .01": np.clip(price + 0.01, 0.001, 0.999),
        "extremes": np.where(far, np.clip(expit(1.3 * logit(price)), 0.001, 0.999), price),
        "3 events": np.where(number < 3, opinion(price, 0.8), price),
        "1 in 10": np.where(number % 10 == 0, opinion(price, 0.8), price),
        "random .001": price + 0.001 * rng.choice([-1, 1], truth.shape),
    }
    return world, {bot: each[..., None] for bot, each in said.items()}


SKILLED = ("skilled", "skilled noisy", "skilled, sure only")
COPIERS = ("copy", "price + .001", "price + .01", "random .001")


def board_cells(events: int, rounds: range, worlds: int = 50, *, skilled: float = 0.0) -> list[Cell]:
    """Return how often a bot that knows something, and one that copies the price, is the first bot of a board."""
    hits = {"skilled": 0, "copier": 0}
    for number in rounds:
        rng = np.random.default_rng([21, number, events, len("unfair")])
        world, said = board_world(rng, worlds, events)
        for row in range(worlds):
            record = record_of(world, said, row)
            cards = scorecards(record, horizons_days=(), uncertainty=FEWEST, intervals=False, adjust=False)
            first = ranked(cards, record_evidence(record, dollars=False))[0].card.bot
            hits["skilled"] += first in SKILLED
            hits["copier"] += first in COPIERS
    n = len(rounds) * worlds
    return [
        Cell((f"{events} events", "first of the board", "skilled"), hits["skilled"], n, at_least=skilled),
        Cell((f"{events} events", "first of the board", "copier"), hits["copier"], n, at_most=0.02),
    ]
