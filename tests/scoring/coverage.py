"""Coverage: how often intervals hold the truth of a fair world, and how often a verdict is wrong, cell by cell.

The benchmark measures all of it; the tests a few simulations of each.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from predibot.scoring import (
    CONVENTIONS,
    Estimate,
    Forecasts,
    TrackRecord,
    Uncertainty,
    edges,
    forecast_scores,
    record_evidence,
    return_pairs,
    scorecards,
    settled_forecasts,
    wilson_interval,
)
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.forecast_score import brier_intervals, of_each
from predibot.scoring.evaluation.horizon_series import edge_average, horizon_averages
from predibot.scoring.metrics.risk import sharpe_interval
from predibot.scoring.records.horizon_returns import horizon_returns
from tests.scoring import worlds
from tests.scoring.worlds import ASKED_DAYS, BOTS, Bools, Maker, Played, Rng, World, record_of

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
        return self.hits / self.n

    @property
    def interval(self) -> tuple[float, float]:
        low, high = wilson_interval([self.share], [self.n], confidence=0.99)
        return float(low[0]), float(high[0])

    @property
    def misses(self) -> bool:
        """Return whether the share itself is on the wrong side, be it by chance."""
        return not self.at_least <= self.share <= self.at_most

    @property
    def fails(self) -> bool:
        """Return whether that interval lies wholly on the wrong side."""
        low, high = self.interval
        return high < self.at_least or low > self.at_most


def joined(parts: Iterable[Sequence[Cell]]) -> list[Cell]:
    """Return the cells of all parts as if they had been measured at once."""
    return [
        replace(same[0], hits=sum(each.hits for each in same), n=sum(each.n for each in same))
        for same in zip(*parts, strict=True)
    ]


def interval_cells(world: str, make: Maker, events: int, simulations: int, *, part: int = 0) -> list[Cell]:
    """Return how often the intervals of returns, edge and Brier score hold the truth, and ends are impossible.

    Pairs are measured along: how often two bots without any difference are called different.
    Parts are drawn apart, and may be measured side by side and `joined`.
    """
    rng = np.random.default_rng([events, sum(map(ord, world)), part])
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
    """Add what is seen of some simulations; `fair` are the bots whose returns are measured.

    The averages are those that scorecards are made of; what scorecards hold beside them takes most of their time.
    """
    for running in (True, False):
        day = RUNNING if running else 1_000
        record = record_of(world, played, day=day)
        book, returns = Book.of(record), horizon_returns(record, () if running else (1, 2, 7))
        for horizon in returns:
            if horizon.label not in _labels(running=running):
                continue
            average = horizon_averages(horizon, book, ("mean_return",))["mean_return"]
            for row, found in enumerate(average.of_each(0.95)):
                simulation, bot = divmod(row, len(played))
                if (name := tuple(played)[bot]) in fair:
                    own = (world.only(simulation), played[name].only(simulation), day)
                    seen.add(horizon.label, name, found, possible_returns(*own, at_once=horizon.days is None))
        for row, found in enumerate(edge_average(edges(record), book).of_each(0.95)):
            if (name := tuple(played)[row % len(played)]) not in PRICE_SAYERS:
                seen.add(_edge_name(running=running), name, found, (-1.0, 1.0))
        for name, each in played.items():
            seen.parts.setdefault((_edge_name(running=running), name), []).append(edge_parts(world, each, day))
        if not running:
            _see_brier_scores(seen, world, record, played)
        _see_pairs(seen, world, fair, running=running)


def _see_brier_scores(seen: _Seen, world: World, record: TrackRecord, played: Mapping[str, Played]) -> None:
    for row, own in enumerate(of_each(settled_forecasts(record))):
        if (name := tuple(played)[row % len(played)]) != "always_half":
            seen.add("brier", name, brier_intervals(own, 0.95).get("brier") if own.probability.size else None, (0, 1))
    for name, each in played.items():
        seen.parts.setdefault(("brier", name), []).append(brier_parts(world, each))


def _labels(*, running: bool) -> tuple[str, ...]:
    return ("now",) if running else ("1", "2", "7", "settled")


def _edge_name(*, running: bool) -> str:
    return "edge, running" if running else "edge, settled"


def _see_pairs(seen: _Seen, world: World, played: Mapping[str, Played], *, running: bool) -> None:
    record = record_of(world, played, day=RUNNING if running else 1_000)
    for returns in horizon_returns(record, () if running else (1, 2, 7)):
        if returns.label not in _labels(running=running):
            continue
        for pair in return_pairs(record, returns, FEWEST):
            (one, first), (other, second) = pair.first.split(" ", 1), pair.second.split(" ", 1)
            if one == other:
                called = pair.p_value is not None and pair.p_value <= 0.05
                seen.called.setdefault((returns.label, f"{first} - {second}"), []).append(called)


def possible_returns(world: World, played: Played, day: float, *, at_once: bool) -> tuple[float, float]:
    """Return the least and the most the mean return of one simulation could have been: each market is worth 0 or 1.

    Either in the end, for all that was bought, where of those that exclude each other one is worth 1 at most, or else
    some days after each decision.
    """
    made = _made(world, day)
    usd, entry = np.where(made[:, :, None, :], played.usd, 0.0), world.entry()
    shares = usd / np.where(usd > 0.0, entry, 1.0 - np.where(usd < 0.0, entry, 0.0))
    ends = [shares * (y - entry) for y in (0.0, 1.0)]
    n = (world.asked().any(axis=2) & made).sum()
    if at_once:
        ends = [each.sum(axis=3) for each in ends]
    if at_once and world.exclusive:
        none, more = ends[0].sum(axis=2), ends[1] - ends[0]
        ends = [none + np.minimum(more.min(axis=2), 0.0), none + np.maximum(more.max(axis=2), 0.0)]
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


LOOKED_AT = {
    "independent": 0.05,
    "nested": 0.05,
    "exclusive": 0.05,
    "deadline": 0.05,
    "common .3": 0.05,
    "common .7": 0.08,
}
"""Worlds of `e_value_cells`, and in how many of them an e-value may come to 20 at most."""
DAYS, EVENTS_IN_THEM = 120, 90
ANY_DAY = {
    "price + .10": worlds.price_plus_tenth,
    "price - .10": worlds.price_less_tenth,
    "noisy": worlds.noisy_agent,
    "always_half": worlds.always_half,
}


def e_value_cells(world: str, simulations: int) -> list[Cell]:
    """Return in how many worlds of 120 days an e-value comes to 20 on any of them, although prices are fair."""
    rng = np.random.default_rng([DAYS, sum(map(ord, world))])
    hits: dict[tuple[str, str], int] = {}
    for _ in range(0, simulations, AT_ONCE):
        drawn = _maker_of(world)(rng, AT_ONCE, EVENTS_IN_THEM, span=DAYS - worlds.LIFE)
        played = {name: play(rng, drawn) for name, play in ANY_DAY.items()}
        for row, found in enumerate(record_evidence(record_of(drawn, played, day=DAYS))):
            bot = tuple(played)[row % len(played)]
            for kind, evidence in (
                ("forecasts", found.forecasts.better),
                ("dollars", found.dollars.better),
                ("book", found.forecasts.book),
                ("book of dollars", found.dollars.book),
            ):
                hits[kind, bot] = hits.get((kind, bot), 0) + evidence.convinces
    most = {"forecasts": LOOKED_AT[world], "book": 0.05, "book of dollars": 0.05}
    # What is said of a bot rests on its forecasts; those of its dollars stand beside it.
    return [
        Cell((world, str(EVENTS_IN_THEM), f"E of {kind}", bot), n, simulations, at_most=most.get(kind, 1.0))
        for (kind, bot), n in hits.items()
    ]


def power_cells(simulations: int) -> list[Cell]:
    """Return how often 360 events show that prices are wrong by half a logit, and that an edge of zero is negative."""
    cells = []
    for days, wanted in ((1, 0.70), (ASKED_DAYS, 0.0)):
        rng, better, worse = np.random.default_rng([360, days]), 0, 0
        for _ in range(0, simulations, AT_ONCE):
            wrong = worlds.mispriced(rng, AT_ONCE, 360, days=days, span=DAYS - worlds.LIFE)
            record = record_of(wrong.world, {"knows": wrong.knows, "halfway": wrong.halfway}, day=DAYS)
            found = record_evidence(record)
            better += sum(each.forecasts.better.convinces for each in found[::2])
            worse += sum(each.forecasts.worse.convinces for each in found[1::2])
        world = ("mispriced by .5 logit", "360")
        asked = "asked once" if days == 1 else f"asked on 1 to {days} days"
        cells.append(Cell((*world, "E of forecasts", f"knows, {asked}"), better, simulations, at_least=wanted))
        cells.append(Cell((*world, "E of worse", f"edge of zero, {asked}"), worse, simulations, at_most=0.05))
    return cells


def _maker_of(world: str) -> Maker:
    if world in worlds.WORLDS:
        return worlds.WORLDS[world]
    return partial(worlds.common_driver, share=float(world.split()[1]))


def brier_cells(events: int, simulations: int) -> list[Cell]:
    """Return how often the interval of a Brier score holds that of calibrated forecasts from .01 to .03."""
    rng, held = np.random.default_rng(events), {1: 0, 3: 0, 10: 0}
    for _ in range(simulations):
        for markets in held:
            said = rng.uniform(0.01, 0.03, events * markets)
            told = Forecasts(
                forecasters=("calibrated",),
                forecaster=np.zeros(said.size, dtype=np.int64),
                question=np.arange(said.size),
                cluster=np.repeat(np.arange(events), markets),
                probability=said,
                outcome=(rng.random(said.size) < said).astype(np.float64),
                market_probability=np.full(said.size, np.nan),
            )
            found = forecast_scores(told, uncertainty=FEWEST, adjust=False)[0].intervals["brier"]
            held[markets] += _held(found, CALIBRATED)
    return [
        Cell(("calibrated .01 to .03", str(events), "brier", f"{markets} an event"), n, simulations, at_least=0.93)
        for markets, n in held.items()
    ]


CALIBRATED = 0.02 - (0.02**2 + 0.02**2 / 12)
"""The expected Brier score of calibrated forecasts drawn evenly from .01 to .03: E p - E p^2."""


def sharpe_cells(simulations: int) -> list[Cell]:
    """Return how often the interval of a Sharpe ratio holds the truth, in each design."""
    cells = []
    for events, dates, days in ((60, 30, 10), (60, 30, 30), (40, 60, 1)):
        for mean in (0.0, 0.03):
            for shock in (0.0, 0.1) if days > 1 else (0.0,):
                rng = np.random.default_rng([events, days, int(100 * mean), int(10 * shock)])
                held = sum(_daily_sharpe_held(rng, events, dates, days, mean, shock) for _ in range(simulations))
                name = f"{events} events x {dates} dates, {days} days, mean {mean:g}{', common shock' if shock else ''}"
                cells.append(Cell(("sharpe", str(events), "sharpe 1", name), held, simulations, at_least=0.88))
    for dates in (30, 60):
        for mean in (0.0, 0.03):
            rng = np.random.default_rng([dates, int(100 * mean)])
            held = sum(_weekly_sharpe_held(rng, dates, mean) for _ in range(simulations))
            name = f"{dates} dates, overlapping, mean {mean:g}"
            cells.append(Cell(("sharpe", str(dates), "sharpe 7", name), held, simulations, at_least=0.85))
    return cells


def _daily_sharpe_held(rng: Rng, events: int, dates: int, days: int, mean: float, shock: float) -> bool:
    """Return whether the interval of one return a date holds the truth: each event plays so many dates in a row."""
    first = np.arange(events) * dates // events
    when = (first[:, None] + np.arange(days)) % dates
    returns = mean + shock * rng.standard_normal(dates)[when] + 0.3 * rng.standard_normal(when.shape)
    each = np.bincount(when.ravel(), minlength=dates)
    seen = np.flatnonzero(each)
    series = np.bincount(when.ravel(), returns.ravel(), dates)[seen] / each[seen]
    truth = mean / math.sqrt(shock**2 + 0.09 * float(np.mean(1.0 / each[seen]))) * math.sqrt(365.0)
    return _held(sharpe_interval(series, seen, horizon_days=1, convention=CONVENTIONS["predibot"]), truth)


def _weekly_sharpe_held(rng: Rng, dates: int, mean: float) -> bool:
    """Return whether the interval of the returns of seven days, one that begins every day, holds the truth."""
    daily = mean + 0.1 * rng.standard_normal(dates + 6)
    series = np.convolve(daily, np.ones(7), "valid")
    truth = 7.0 * mean / (0.1 * math.sqrt(7.0)) * math.sqrt(365.0 / 7.0)
    return _held(sharpe_interval(series, np.arange(dates), horizon_days=7, convention=CONVENTIONS["predibot"]), truth)


def _held(found: Estimate | None, truth: float) -> bool:
    return found is not None and found.low is not None and found.high is not None and found.low <= truth <= found.high


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of something over simulations, its standard error, and what it should be."""

    name: tuple[str, ...]
    mean: float
    error: float
    expected: float = 0.0

    @property
    def misses(self) -> bool:
        """Return the same: nothing lies between."""
        return self.fails

    @property
    def fails(self) -> bool:
        """Return whether it is two standard errors or more from what it should be."""
        return abs(self.mean - self.expected) >= 2.0 * self.error


ONE_SIDED = {"price + .10": worlds.price_plus_tenth, "price - .10": worlds.price_less_tenth}


def deadline_means(simulations: int) -> list[Mean]:
    """Return `now`, `settled` and edge half-way through fair deadline questions, of bots that buy one side of all."""
    rng, sums = np.random.default_rng(99), dict[tuple[str, str], list[tuple[float, float, float]]]()
    for _ in range(0, simulations, AT_ONCE):
        world = worlds.deadline(rng, AT_ONCE, 60)
        played = {name: play(rng, world) for name, play in ONE_SIDED.items()}
        for row, card in enumerate(scorecards(record_of(world, played, day=RUNNING), horizons_days=())):
            simulation, name = row // len(played), tuple(played)[row % len(played)]
            own = (world.only(simulation), played[name].only(simulation), RUNNING)
            now, settled, edge = card.horizons["now"], card.horizons["settled"], card.edge
            for what, mean, n, expected in (
                ("now", now.mean_return, now.n, 0.0),
                ("settled", settled.mean_return, settled.n, 0.0),
                ("edge", edge.edge, edge.n, edge_parts(*own)[0]),
            ):
                sums.setdefault((what, name), []).append(((mean or 0.0) * n, n, expected))
    return [_mean_of_sums(("deadline, running", "60", what, name), each) for (what, name), each in sums.items()]


def left_out_mean(simulations: int) -> Mean:
    """Return how far the edge moves when a bot leaves out every second question on which it has no expected edge."""
    rng, moved = np.random.default_rng(7), []
    for _ in range(0, simulations, AT_ONCE):
        wrong = worlds.mispriced(rng, AT_ONCE, 60, days=ASKED_DAYS)
        kept = rng.random(wrong.halfway.usd.shape) < 0.5
        silent = Played(np.where(kept, wrong.halfway.probability, np.nan), np.where(kept, wrong.halfway.usd, 0.0))
        cards = scorecards(record_of(wrong.world, {"all": wrong.halfway, "half": silent}), horizons_days=())
        for whole, half in zip(cards[::2], cards[1::2], strict=True):
            assert whole.edge.edge is not None and half.edge.edge is not None
            moved.append((half.edge.edge - whole.edge.edge, 1.0, 0.0))
    return _mean_of_sums(("mispriced by .5 logit", "60", "edge", "less that of all, half left out"), moved)


def _mean_of_sums(name: tuple[str, ...], each: list[tuple[float, float, float]]) -> Mean:
    """Return a ratio of sums over simulations with the error of the ratio, from (sum, n, expected sum) of each."""
    above, below, expected = np.array(each).T
    ratio = above.sum() / below.sum()
    error = np.std(above - ratio * below, ddof=1) / below.mean() / math.sqrt(above.size)
    return Mean(name, float(ratio), float(error), float(expected.sum() / below.sum()))
