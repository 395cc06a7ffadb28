"""Measures how often intervals hold a known truth, how often equals are told apart, and how long it takes."""

import itertools
import multiprocessing
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from time import perf_counter, process_time

import numpy as np
import pytest
from numpy.typing import NDArray

from predibot.scoring.inference.bootstrap import (
    cluster_bootstrap,
    cluster_bootstrap_mean,
    estimate_of,
    ratio_sums,
    studentised_distances_of_each,
)
from predibot.scoring.inference.uncertainty import Ratio, Uncertainty, benjamini_hochberg, comparison_of, estimates
from tests.scoring import coverage, worlds
from tests.scoring.coverage import Cell, Mean
from tests.scoring.designs import DESIGNS, Design, Leaderboard, Sample, alike, long_odds, unlike

pytestmark = pytest.mark.benchmark

IN_WORLDS = 1_000
"""Simulations of each cell in fair worlds, on two cores."""
IN_A_PART = 100
SIMULATIONS, RESAMPLES = 1_000, 999
LEADERBOARDS, RESAMPLES_OF_PAIRS = 500, 1_999
SHARING = 20
"""Simulations that share a set of draws, each having the interval it has alone: drawing is what takes long."""
CLUSTERS = [30, 100]
MANY_CLUSTERS = [300, 1_000]


def _measured(tasks: Iterable[Callable[[], list[Cell]]]) -> Iterator[list[Cell]]:
    """Yield what tasks measure, two at a time."""
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        for each in [pool.submit(task) for task in tasks]:
            yield each.result()


def _fails(cells: Iterable[Cell | Mean]) -> str:
    """Return what lies under, or over, its aim by itself, and whether chance explains it."""
    named = [f"\n{'FAILS' if each.fails else 'by chance'}: {_named(each)}" for each in cells if each.misses]
    return "".join(named)


def _named(each: Cell | Mean) -> str:
    if isinstance(each, Mean):
        return " ".join(each.name)
    low, high = each.interval
    aim = f"at least {100 * each.at_least:g}" if each.at_least else f"at most {100 * each.at_most:g}"
    return f"{', '.join(each.name)}: {100 * each.share:.1f} ({100 * low:.1f} to {100 * high:.1f}), {aim}"


def _row_of_world(cells: list[Cell]) -> str:
    """Return the least coverage of all bots by quantity, the most of all pairs called, and impossible ends."""
    quantities = ("1", "2", "7", "now", "settled", "edge, running", "edge, settled", "brier")
    least = [min(cell.share for cell in cells if cell.name[2] == quantity) for quantity in quantities]
    called = max(cell.share for cell in cells if cell.name[2].startswith("pair "))
    impossible = sum(cell.hits for cell in cells if cell.name[2].startswith("impossible"))
    shown = " | ".join(f"{100 * share:.1f}" for share in (*least, called))
    return f"| {cells[0].name[0]} | {cells[0].name[1]} | {shown} | {impossible} |"


def test_coverage_in_fair_worlds() -> None:
    asked = list(itertools.product(worlds.WORLDS.items(), coverage.EVENTS))
    parts = range(IN_WORLDS // IN_A_PART)
    tasks = [
        partial(coverage.interval_cells, name, make, events, IN_A_PART, part=part)
        for ((name, make), events), part in itertools.product(asked, parts)
    ]
    found = _measured(tasks)
    for _ in asked:
        cells = coverage.joined(itertools.islice(found, len(parts)))
        print(f"\n{_row_of_world(cells)}{_fails(cells)}", end="", flush=True)


def test_coverage_of_calibrated_long_odds_and_of_sharpe_ratios() -> None:
    tasks = [partial(coverage.brier_cells, events, IN_WORLDS) for events in coverage.EVENTS]
    for cells in _measured([*tasks, partial(coverage.sharpe_cells, IN_WORLDS)]):
        for cell in cells:
            print(f"\n| {' | '.join(cell.name)} | {100 * cell.share:.1f} |{_fails([cell])}", end="", flush=True)


def test_how_often_a_fair_world_looks_beaten_and_a_wrong_one_is_seen_to_be() -> None:
    tasks = [partial(coverage.e_value_cells, world, IN_WORLDS) for world in coverage.LOOKED_AT]
    for cells in _measured([*tasks, partial(coverage.power_cells, IN_WORLDS)]):
        for cell in cells:
            print(f"\n| {' | '.join(cell.name)} | {100 * cell.share:.1f} |{_fails([cell])}", end="", flush=True)


def test_means_where_events_settle_early_and_where_questions_are_left_out() -> None:
    for each in [*coverage.deadline_means(IN_WORLDS), coverage.left_out_mean(IN_WORLDS)]:
        shown = f"{each.mean:.4f} | {each.error:.4f} | {each.expected:.4f}"
        # What `settled` is off by is what it is shown for.
        failing = _fails([each] if each.name[2] != "settled" else [])
        print(f"\n| {' | '.join(each.name)} | {shown} |{failing}", end="", flush=True)


def _studentised(design: Design, clusters: int) -> list[int]:
    """Return for each simulation whether the interval lies above the truth (-1), below (1), or holds it (0)."""
    rng, sides = np.random.default_rng(clusters), []
    for seed in range(SIMULATIONS // SHARING):
        samples = [design(rng, clusters) for _ in range(SHARING)]
        sums = [ratio_sums(sample.numerators, sample.denominators, sample.clusters) for sample in samples]
        distances = studentised_distances_of_each([each for each, _ in sums], RESAMPLES, seed)
        for sample, (each, n), of_each in zip(samples, sums, distances, strict=True):
            found = estimate_of(each, n, of_each, 0.95)
            sides.append(_side(found.low, found.high, sample.truth))
    return sides


def _as_evaluate_makes_them(design: Design, clusters: int) -> list[int]:
    """Return the same of the intervals of an evaluation: from a formula where there are many clusters."""
    rng, sides = np.random.default_rng(clusters), []
    for seed in range(SIMULATIONS // SHARING):
        samples = [design(rng, clusters) for _ in range(SHARING)]
        ratios = [Ratio(sample.numerators, sample.denominators, sample.clusters) for sample in samples]
        for sample, found in zip(samples, estimates(ratios, Uncertainty(seed, RESAMPLES)), strict=True):
            assert found is not None
            sides.append(_side(found.low, found.high, sample.truth))
    return sides


def _percentile(design: Design, clusters: int) -> list[int]:
    rng, sides = np.random.default_rng(clusters), []
    for seed in range(SIMULATIONS):
        sample = design(rng, clusters)
        found = cluster_bootstrap(partial(_ratio, sample), sample.clusters, seed=seed, resamples=RESAMPLES)
        sides.append(_side(found.low, found.high, sample.truth))
    return sides


def _ratio(sample: Sample, rows: NDArray[np.int64]) -> float:
    return float(sample.numerators[rows].sum() / sample.denominators[rows].sum())


def _side(low: float | None, high: float | None, truth: float) -> int:
    if low is None or high is None:
        return 2
    return int(truth > high) - int(truth < low)


def _row(name: str, clusters: int, sides: list[int]) -> str:
    share = {side: 100 * float(np.mean(np.array(sides) == side)) for side in (0, -1, 1, 2)}
    return f"| {name} | {clusters} | {share[0]:.1f} | {share[-1]:.1f} | {share[1]:.1f} | {share[2]:.1f} |"


@pytest.mark.parametrize("name", [*DESIGNS, "long_odds"])
def test_coverage_of_studentised_intervals(name: str) -> None:
    design = DESIGNS.get(name, long_odds)
    for clusters in CLUSTERS:
        print(f"\n{_row(name, clusters, _studentised(design, clusters))}", end="", flush=True)


@pytest.mark.parametrize("name", [*DESIGNS, "long_odds"])
def test_coverage_of_intervals_of_many_clusters(name: str) -> None:
    for clusters in MANY_CLUSTERS:
        sides = _as_evaluate_makes_them(DESIGNS.get(name, long_odds), clusters)
        print(f"\n{_row(name, clusters, sides)}", end="", flush=True)


@pytest.mark.parametrize("name", ["normal", "skewed"])
def test_coverage_of_percentile_intervals_of_30_clusters(name: str) -> None:
    print(f"\n{_row(f'{name}, percentile', 30, _percentile(DESIGNS[name], 30))}", end="", flush=True)


@pytest.mark.parametrize(("name", "draw"), [("alike", alike), ("unlike", unlike)])
@pytest.mark.parametrize("clusters", CLUSTERS)
def test_how_often_equally_good_forecasters_are_told_apart(name: str, draw: Leaderboard, clusters: int) -> None:
    rng, single, called = np.random.default_rng(clusters), [], []
    for seed in range(LEADERBOARDS):
        scores, of = draw(rng, clusters)
        differences = [scores[:, a] - scores[:, b] for a, b in itertools.combinations(range(scores.shape[1]), 2)]
        sums = [ratio_sums(each, np.ones_like(each), of)[0] for each in differences]
        distances = studentised_distances_of_each(sums, RESAMPLES_OF_PAIRS, seed)
        pairs = zip(sums, distances, strict=True)
        p_values = [comparison_of(each, of.size, of_each, 0.95).p_value for each, of_each in pairs]
        single.append(np.mean(np.array(p_values) <= 0.05))
        called.append((benjamini_hochberg(p_values) <= 0.05).any())
    print(f"\n| {name} | {clusters} | {100 * np.mean(single):.1f} | {100 * np.mean(called):.1f} |", end="")


@pytest.mark.parametrize("clusters", [300, 2_000, 10_000])
def test_time_of_10_000_cluster_resamples_over_10_000_decisions(clusters: int) -> None:
    rng = np.random.default_rng(0)
    values, of = rng.random(10_000), np.concatenate([np.arange(clusters), rng.integers(0, clusters, 10_000 - clusters)])
    wall, cpu = perf_counter(), process_time()
    cluster_bootstrap_mean(values, of, seed=1)
    wall, cpu = perf_counter() - wall, process_time() - cpu
    tracemalloc.start()
    cluster_bootstrap_mean(values, of, seed=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    print(
        f"\n10,000 resamples of {clusters:,} clusters, 10,000 decisions: "
        f"{wall:.2f} s, CPU {cpu:.2f} s, at most {peak / 1e6:.1f} MB; aim 1.5 s"
    )
