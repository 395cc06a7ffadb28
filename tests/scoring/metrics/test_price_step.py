"""Steps from the price: what they cost without skill, find with it, and did to recorded forecasts."""

import csv
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from predibot.scoring import fit_step, step_from_price
from predibot.scoring.metrics.probability import log_odds_of, probabilities_of


def prices(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.uniform(0.05, 0.95, n)


def test_a_bot_that_knows_half_a_unit_of_log_odds_more_is_used_after_200_events() -> None:
    rng = np.random.default_rng(5)
    steps = []
    for _ in range(200):
        price = prices(rng, 200)
        truth = probabilities_of(log_odds_of(price) + rng.choice([-0.5, 0.5], 200))
        steps.append(fit_step(price, truth, rng.random(200) < truth))
    assert np.mean(np.array(steps) >= 0.2) >= 0.9


@pytest.mark.parametrize("noise", [0.3, 1.0])
def test_noise_costs_at_most_three_ten_thousandths_over_1000_events(noise: float) -> None:
    rng = np.random.default_rng(6)
    costs = []
    for _ in range(10):
        price = prices(rng, 1_000)
        believed = probabilities_of(log_odds_of(price) + rng.normal(0.0, noise, 1_000))
        happened = rng.random(1_000) < price
        for begin in range(0, 1_000, 25):
            now, past = slice(begin, begin + 25), slice(0, begin)
            step = fit_step(price[past], believed[past], happened[past])
            # Where the price is the truth, the expected loss is the squared distance to it.
            costs.append(np.mean((step_from_price(price[now], believed[now], step) - price[now]) ** 2))
    assert np.mean(costs) <= 0.0003


def test_the_step_is_the_likeliest_one_under_its_prior() -> None:
    rng = np.random.default_rng(7)
    price, believed = prices(rng, 300), prices(rng, 300)
    weights = rng.uniform(0.1, 1.0, 300)
    at = log_odds_of(price)
    distance = log_odds_of(believed) - at
    happened = rng.random(300) < probabilities_of(at + 0.25 * distance)
    precision = 100.0 * np.average(distance**2 * price * (1.0 - price), weights=weights)
    grid = np.linspace(0.0, 0.5, 2_001)
    q = probabilities_of(at + grid[:, None] * distance)
    likelihood = (weights * np.log(np.where(happened, q, 1.0 - q))).sum(axis=1) - precision * grid**2 / 2.0
    assert fit_step(price, believed, happened, weights) == pytest.approx(grid[np.argmax(likelihood)], abs=2e-4)


def test_prices_at_the_ends_and_beliefs_that_clipping_takes_across_them_stay() -> None:
    believed = [0.001, 0.001, 0.999, 0.5]
    assert step_from_price([0.005, 0.05, 0.95, 0.0], believed, 0.5).tolist() == [0.005, 0.05, 0.95, 0.0]
    everywhere = step_from_price([0.005, 0.05, 0.95, 0.0], believed, 0.5, price_range=(0.0, 1.0))
    assert everywhere[0] == 0.005
    assert 0.01 < everywhere[1] < 0.05
    assert 0.95 < everywhere[2] < 0.99
    assert everywhere[3] == 0.0
    assert fit_step([], [], []) == 0.0


def test_recorded_live_forecasts_lose_nothing_by_it_at_any_cut(shared_data: Path) -> None:
    by_forecaster = defaultdict(list)
    with (shared_data / "forecasts" / "forecasts.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["kind"] == "live":
                numbers = [float(row[name]) for name in ("price_on_due_date", "probability", "outcome")]
                by_forecaster[row["forecaster"]].append((row["due"], (row["source"], row["question"]), numbers))
    cuts = 0
    for rows in by_forecaster.values():
        for due in sorted({row[0] for row in rows})[1:]:
            past, now = [row for row in rows if row[0] < due], [row for row in rows if row[0] == due]
            times = Counter(question for _, question, _ in past)
            earlier_prices, earlier, outcomes = np.array([row[2] for row in past]).T
            step = fit_step(earlier_prices, earlier, outcomes, [1.0 / times[row[1]] for row in past])
            price, believed, happened = np.array([row[2] for row in now]).T
            forecast = step_from_price(price, believed, step)
            assert np.mean((forecast - happened) ** 2 - (price - happened) ** 2) <= 0.0005
            cuts += 1
    assert cuts >= 4
