"""Samples of a whole bot: asked apart, pooled, and none of them paid twice or lost."""

import math
import re
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from predibot.agents.prompts.render import one_shot_prompt
from predibot.domain.decision import Decision
from predibot.plugins.strategies import load_strategy
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from predibot.sandbox.world.conversation import read_conversation
from predibot.sandbox.world.forecasters import answer_of
from tests.acceptance.conftest import Predibot
from tests.agents.scripted import FENCE, context, rain

RECIPE = """
venue = "sandbox:events=20"
[limits.bot]
steps = 3
[selection]
events = 1
max_markets = 1
[[bots]]
name = "x"
strategy = "one_shot"
model = "sandbox/noisy"
seed = 1
samples = 5
min_share = 0.8
"""
NOISE = 0.9
"""In log-odds: how far the forecaster `noisy` is from the price where it has read nothing."""


def test_the_noise_of_five_samples_falls_to_a_fifth_of_its_variance() -> None:
    pool, *samples = parse_recipe(RecipeText(RECIPE, "r.toml", "r")).bots
    where = context(rain(*(f"m{number}" for number in range(80)), price=0.5))
    prompt = one_shot_prompt(where, FENCE, where.form())

    def said(seed: int | None) -> Decision:
        view = read_conversation({"messages": [{"role": "user", "content": prompt}], "seed": seed})
        return where.form().parse(answer_of("noisy", view))

    decided = {each.name: said(each.terms.settings.seed) for each in samples}
    pooled = load_strategy(pool.strategy).decide(context(where.event, members=decided))
    assert isinstance(pooled, Decision)

    def noise(decision: Decision) -> np.ndarray:
        return np.array([math.log(each.probability / (1 - each.probability)) for each in decision.forecasts])

    single, together = np.array([noise(each) for each in decided.values()]), noise(pooled)
    assert together == pytest.approx(single.mean(axis=0), abs=0.001)
    # Intervals of 99.9 % for a variance of which the mean is known.
    for errors, variance in ((single.ravel(), NOISE**2), (together, NOISE**2 / 5)):
        low, high = errors @ errors / stats.chi2.ppf([0.9995, 0.0005], errors.size)
        assert low < variance < high
    assert "log_odds of 0." in pooled.forecasts[0].rationale and pooled.notes == ("5 of 5 members",)


def test_a_sample_that_was_asked_is_not_asked_again_and_those_that_fail_are_told(
    predibot: Predibot, tmp_path: Path
) -> None:
    (tmp_path / "r.toml").write_text(RECIPE)
    first = predibot("decide", "r.toml", "--bots", "x.sample#2").out
    assert "x.sample#2: " in first and "x.sample#1" not in first
    # The limit is that of the bot with all its samples, of which two find nothing left.
    told = predibot("decide", "r.toml").out
    assert "x.sample#2: 1 before: 1 recorded" in told
    assert told.count(": 1 abstained (the bot's limit") == 2
    assert "x: 1 decision failed (3 of 5 samples have a decision, and min_share is 0.8; x.sample#" in told
    name = predibot("trace", "1").out.partition(": ")[0]
    shown = predibot("trace", re.sub(r"\.sample#\d", "", name)).out
    assert (shown.count("recorded\n   says: "), shown.count("abstained\n   message: the bot's limit")) == (3, 2)
