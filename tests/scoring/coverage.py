"""Coverage: how often intervals hold the truth of a fair world, and how often a verdict is wrong, cell by cell.

A tenth of what the benchmark measures is measured by the tests.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from predibot.scoring import Estimate, Scorecard, Uncertainty, record_evidence, return_pairs, scorecards
from predibot.scoring.horizon import horizon_returns
from tests.scoring import worlds
from tests.scoring.worlds import ASKED_DAYS, BOTS, Bools, Floats, Maker, Played, Rng, World, record_of

EVENTS = (20, 30, 60)
RUNNING = 15
"""The day of the calendar on which `now` is measured: all events have begun, half of them have settled."""
AT_ONCE = 10
"""Simulations in one record."""
FEWEST = Uncertainty(resamples=40)
"""What is measured here needs no draws."""
EXPECTED = ("always_half", "favourite", "random", "noisy")
"""Bots whose `now` and `settled` have to be held in 97 of 100."""
PRICE_SAYERS = ("favourite", "market_price")
"""Bots whose edge is zero whatever happens."""


@dataclass(frozen=True, slots=True)
class Cell:
    """How often something was so, and how often it should be at least, or at most."""

    name: tuple[str, ...]
    hits: int
    n: int
    at_least: float = 0.0
    at_most: float = 1.0

    @property
    def share(self) -> float:
        """Return the share of simulations in which it was so."""
        return self.hits / self.n

    @property
    def interval(self) -> tuple[float, float]:
        """Return the 99 % interval of the share.

        Source:
            Wilson (1927), JASA 22(158), 209-212.
        """
        z, n = 2.5758293035489, self.n
        centre = (self.share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = z * math.sqrt(self.share * (1 - self.share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        return centre - half, centre + half

    @property
    def fails(self) -> bool:
        """Return whether that interval lies wholly on the wrong side."""
        low, high = self.interval
        return high < self.at_least or low > self.at_most


def interval_cells(world: str, make: Maker, events: int, simulations: int) -> list[Cell]:
    """Return how often the intervals of returns, edge and Brier score hold the truth, and ends are impossible.

    Pairs are measured along: how often two bots without any difference are called different.
    """
    rng = np.random.default_rng([events, sum(map(ord, world))])
    seen = _Seen()
    for _ in range(0, simulations, AT_ONCE):
        drawn = make(rng, AT_ONCE, events)
        played = {bot: play(rng, drawn) for bot, play in BOTS.items()}
        _see(seen, drawn, {**played, "price + .10": worlds.price_plus_tenth(rng, drawn)}, played)
    return [cell for cell in seen.cells((world, str(events))) if cell.n]


class _Seen:
    """What was seen of each quantity of each bot."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.ends: dict[tuple[str, str], list[tuple[float, float]]] = {}
        self.parts: dict[tuple[str, str], list[tuple[float, float]]] = {}
        """Numerator and denominator of the truth, of each batch."""
        self.impossible: dict[str, list[bool]] = {}
        self.called: dict[tuple[str, str], list[bool]] = {}

    def add(self, quantity: str, bot: str, found: Estimate | None, possible: tuple[float, float]) -> None:
        """Add an interval, and the least and the most the figure could have been; without ends it holds nothing."""
        low = math.nan if found is None or found.low is None else found.low
        high = math.nan if found is None or found.high is None else found.high
        self.ends.setdefault((quantity, bot), []).append((low, high))
        outside = low < possible[0] - 1e-9 or high > possible[1] + 1e-9
        self.impossible.setdefault(quantity, []).append(outside)

    def cells(self, name: tuple[str, ...]) -> list[Cell]:
        """Return what came of it."""
        cells = []
        for (quantity, bot), ends in self.ends.items():
            above, below = np.sum(self.parts.get((quantity, bot), [(0.0, 1.0)]), axis=0)
            low, high = np.array(ends).T
            truth = above / below
            held = int(np.count_nonzero((low <= truth + 1e-12) & (truth <= high + 1e-12)))
            cells.append(Cell((*name, quantity, bot), held, low.size, at_least=_wanted(quantity, bot, int(name[1]))))
        for (quantity, pair), called in self.called.items():
            cells.append(Cell((*name, f"pair {quantity}", pair), sum(called), len(called), at_most=0.05))
        for quantity, outside in self.impossible.items():
            cells.append(Cell((*name, f"impossible {quantity}", "all"), sum(outside), len(outside), at_most=0.0))
        return cells


def _wanted(quantity: str, bot: str, events: int) -> float:
    """Return in how many cases the truth should be held at least."""
    if quantity == "brier":
        return 0.93
    if quantity.startswith("edge"):
        return 0.925 if events >= 30 else 0.0
    return 0.97 if quantity in ("now", "settled") and bot in EXPECTED else 0.935


def _see(seen: _Seen, world: World, played: Mapping[str, Played], fair: Mapping[str, Played]) -> None:
    """Add what is seen of some simulations; `fair` are the bots whose returns are measured."""
    for running in (True, False):
        day = RUNNING if running else 1_000
        record = record_of(world, played, day=day)
        cards = scorecards(record, horizons_days=() if running else (1, 2, 7), uncertainty=FEWEST)
        for row, card in enumerate(cards):
            simulation, bot = divmod(row, len(played))
            name = tuple(played)[bot]
            _see_card(seen, card, name, world.only(simulation), played[name].only(simulation), running=running)
        for name, each in played.items():
            seen.parts.setdefault((_edge_name(running=running), name), []).append(edge_parts(world, each, day))
            if not running:
                seen.parts.setdefault(("brier", name), []).append(brier_parts(world, each))
        _see_pairs(seen, world, fair, running=running)


def _see_card(seen: _Seen, card: Scorecard, bot: str, world: World, played: Played, *, running: bool) -> None:
    if bot in BOTS:
        for label in ("now",) if running else ("1", "2", "7", "settled"):
            found = card.horizons[label].intervals.get("mean_return")
            seen.add(label, bot, found, possible_returns(world, played, RUNNING if running else 1_000))
    if bot not in PRICE_SAYERS:
        seen.add(_edge_name(running=running), bot, card.edge.interval, (-1.0, 1.0))
    if not running and bot != "always_half":
        seen.add("brier", bot, card.forecast.intervals.get("brier"), (0.0, 1.0))


def _edge_name(*, running: bool) -> str:
    return "edge, running" if running else "edge, settled"


def _see_pairs(seen: _Seen, world: World, played: Mapping[str, Played], *, running: bool) -> None:
    record = record_of(world, played, day=RUNNING if running else 1_000)
    for returns in horizon_returns(record, () if running else (1, 2, 7)):
        if (returns.label == "now") != running or (running and returns.label == "settled"):
            continue
        for pair in return_pairs(record, returns, FEWEST):
            (one, first), (other, second) = pair.first.split(" ", 1), pair.second.split(" ", 1)
            if one == other:
                called = pair.p_value is not None and pair.p_value <= 0.05
                seen.called.setdefault((returns.label, f"{first} - {second}"), []).append(called)


def possible_returns(world: World, played: Played, day: float) -> tuple[float, float]:
    """Return the least and the most the mean return of one simulation could have been: each market pays 0 or 1."""
    made = _made(world, day)
    usd, entry = np.where(made[:, :, None, :], played.usd, 0.0), world.entry()
    shares = usd / np.where(usd > 0.0, entry, 1.0 - np.where(usd < 0.0, entry, 0.0))
    ends = [(shares * (y - entry)).sum(axis=3) for y in (0.0, 1.0)]
    n = (world.asked().any(axis=2) & made).sum()
    return float(np.minimum(*ends).sum() / n), float(np.maximum(*ends).sum() / n)


def edge_parts(world: World, played: Played, day: float) -> tuple[float, float]:
    """Return the expected sum of the edges of all event-slots at fair prices, and how many there are."""
    asked = world.asked() & _made(world, day)[:, :, None, :]
    said = asked & ~np.isnan(played.probability)
    away = np.where(said, (np.where(said, played.probability, 0.0) - world.entry()) ** 2, 0.0)
    n = asked.sum(axis=2)
    return -float((away.sum(axis=2) / np.maximum(n, 1)).sum()), float(np.count_nonzero(n))


def brier_parts(world: World, played: Played) -> tuple[float, float]:
    """Return the expected sum of squared errors at fair prices, and how many forecasts there are."""
    said = ~np.isnan(played.probability)
    p, chance = np.where(said, played.probability, 0.0), world.entry()
    expected = np.where(said, p**2 - 2.0 * p * chance + chance, 0.0)
    return float(expected.sum()), float(np.count_nonzero(said))


def _made(world: World, day: float) -> Bools:
    """Return which decisions had been made before a day, (S, K, ASKED_DAYS)."""
    made: Bools = world.begins[..., None] + np.arange(ASKED_DAYS) < day
    return made
