"""Measures `calibrated` through the ledger: what it costs with noise, and how often it uses a bot that knows more.

Worlds of markets with prices uniform in [.05, .95] are replayed from an archive; prints and never judges.
"""

import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import pytest
from sqlalchemy import text

from predibot import strategies
from predibot.ledger.store import Store
from predibot.scoring.metrics.calibration import wilson_interval
from predibot.scoring.metrics.probability import log_odds_of, probabilities_of
from predibot.venues.archive.layout import snapshot_name
from tests.jobs.tiny import DAY, at, decide_on, paid, recipe_of, request_of
from tests.venues.payloads import NOW, condition_of, event_payload, history_of, market_payload

pytestmark = pytest.mark.benchmark

POWER_WORLDS, POWER_EVENTS = 50, 200
NOISE_WORLDS, NOISE_DAYS, NOISE_EVENTS = 5, 20, 50
"""A thousand events a world, each settled before the next day."""
SAYS = '''
from dataclasses import dataclass

from predibot.domain.decision import Decision, Forecast


@dataclass(frozen=True, slots=True)
class Says:
    """Says what the market's question ends with."""

    def decide(self, context):
        """Return it."""
        return Decision(tuple(Forecast(m.id, float(m.question.split()[-1])) for m in context.event.markets))
'''
BOTS = ('strategy = "says"', 'strategy = "calibrated"\nbot = "says"')


@dataclass(frozen=True, slots=True)
class Question:
    """A market of a world: what it costs, what the bot says, and how it ends."""

    price: float
    said: float
    happened: bool


def shifted(price: float, by: float) -> float:
    """Return a price moved in log-odds."""
    return float(probabilities_of(log_odds_of(np.array([price])) + by)[0])


def informed(rng: random.Random) -> Question:
    """Return a market whose truth lies .5 in log-odds beside the price; the bot states it exactly."""
    price = round(rng.uniform(0.05, 0.95), 4)
    truth = shifted(price, rng.choice([-0.5, 0.5]))
    return Question(price, truth, rng.random() < truth)


def noisy(rng: random.Random) -> Question:
    """Return a market whose price is the truth; the bot adds noise of one unit of log-odds."""
    price = round(rng.uniform(0.05, 0.95), 4)
    return Question(price, shifted(price, rng.gauss(0.0, 1.0)), rng.random() < price)


def write_world(folder: Path, days: Sequence[Sequence[Question]]) -> None:
    """Write an archive in which each day lists its own markets, which settle half a day later."""
    resolutions, number = dict[str, object](), 0
    folder.joinpath("prices").mkdir(parents=True)
    for day, questions in enumerate(days):
        listed = []
        for each in questions:
            number += 1
            prices = json.dumps([f"{each.price:.4f}", f"{1 - each.price:.4f}"])
            words = {"question": f"Will it be {number}? {each.said:.6f}", "outcomePrices": prices}
            listed.append(event_payload(number, market_payload(number, bestBid=None, bestAsk=None, **words)))
            history = history_of((at(NOW + (day - 1) * DAY), each.price))
            folder.joinpath("prices", f"{10 * number}.json").write_text(history, encoding="utf-8")
            resolutions[condition_of(number)] = paid(day + 0.5, float(each.happened))
        place = folder / "snapshots" / snapshot_name(NOW + day * DAY)
        place.mkdir(parents=True)
        place.joinpath("events.json").write_text(json.dumps(listed), encoding="utf-8")
    folder.joinpath("resolutions.json").write_text(json.dumps(resolutions), encoding="utf-8")


def play(folder: Path, days: Sequence[Sequence[Question]]) -> Sequence[tuple[Question, float, float]]:
    """Return market, step and forecast of each decision of `calibrated` on the days of a world, in their order."""
    write_world(folder, days)
    recipe = recipe_of(*BOTS).with_overrides(events=max(map(len, days)), min_hours_left="any")
    with Store.open(f"sqlite:///{folder}/l.db") as store:
        for day in range(len(days)):
            report = decide_on(store, folder, request_of(recipe), as_of=NOW + day * DAY)
            assert {each.status for each in report.decisions} == {"recorded"}, report.decisions[0]
            assert len(report.events) == len(days[day])
        query = text(
            "SELECT m.market_id, d.notes_json, f.probability FROM decisions d JOIN bots b ON b.id = d.bot_id "
            "JOIN forecasts f ON f.decision_id = d.id JOIN markets m ON m.id = f.market_row "
            "WHERE b.name = 'calibrated'"
        )
        with store.read() as connection:
            rows = {int(row.market_id): row for row in connection.execute(query)}
    found = []
    for number, question in enumerate((each for day in days for each in day), 1):
        row = rows[number]
        found.append((question, float(json.loads(row.notes_json)[0].split()[1]), row.probability))
    return found


@pytest.fixture(autouse=True)
def says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Offer the strategy that says what a question ends with."""
    tmp_path.joinpath("says.py").write_text(SAYS, encoding="utf-8")
    monkeypatch.setattr(strategies, "__path__", [str(tmp_path), *strategies.__path__])


def draw(make: Callable[[random.Random], Question], seed: int, sizes: Sequence[int]) -> list[list[Question]]:
    """Return the markets of each day of a world."""
    rng = random.Random(seed)
    return [[make(rng) for _ in range(size)] for size in sizes]


def test_how_often_a_bot_that_knows_half_a_unit_more_is_used_after_200_events(tmp_path: Path) -> None:
    began, steps = time.process_time(), list[float]()
    for seed in range(POWER_WORLDS):
        steps.append(play(tmp_path / str(seed), draw(informed, seed, (POWER_EVENTS, 1)))[-1][1])
    used = sum(step >= 0.2 for step in steps)
    low, high = (float(end[0]) for end in wilson_interval([used / len(steps)], [len(steps)]))
    print(
        f"step >= .2 in {used} of {len(steps)} worlds [{low:.3f}, {high:.3f}] after {POWER_EVENTS} settled events, "
        f"mean step {fmean(steps):.3f}; {time.process_time() - began:.0f} CPU s"
    )


def test_what_noise_costs_over_a_thousand_events(tmp_path: Path) -> None:
    began, costs, worst = time.process_time(), list[float](), list[float]()
    for seed in range(NOISE_WORLDS):
        rows = play(tmp_path / str(seed), draw(noisy, seed, (NOISE_EVENTS,) * NOISE_DAYS))
        # Where the price is the truth, the expected loss is the squared distance to it.
        costs.append(fmean((said - question.price) ** 2 for question, _, said in rows))
        worst.append(max(step for _, step, _ in rows))
    error = stdev(costs) / len(costs) ** 0.5
    print(
        f"noise costs {fmean(costs):.5f} +- {1.96 * error:.5f} of Brier over {NOISE_DAYS * NOISE_EVENTS} events in "
        f"{len(costs)} worlds; largest step {max(worst):.2f}; {time.process_time() - began:.0f} CPU s"
    )
