"""A replay over recorded markets: finite numbers, the baselines in their order, and no look ahead."""

import math
from pathlib import Path
from typing import Any

from tests.acceptance.conftest import Predibot
from tests.soaks import SOAK

RECIPE = """
game = "dollar_per_event"
venue = "archive:{folder}"
every = "7d"

[selection]
ends_within_days = 3650
exclude = []
events = 200

[[bots]]
strategy = "market_price"

[[bots]]
strategy = "random_bet"

[[bots]]
strategy = "always_half"

[[bots]]
strategy = "underdog"
"""
SPAN = ("--from", "2025-09-01T12:00Z", "--to", "2025-09-15T12:00Z", "--every", "7d")


@SOAK
def test_chance_loses_to_the_market_over_recorded_weeks(predibot: Predibot, shared_data: Path, tmp_path: Path) -> None:
    (tmp_path / "weekly.toml").write_text(RECIPE.format(folder=shared_data / "polymarket-daily"))
    said = predibot("replay", "weekly.toml", *SPAN, "--check-lookahead", "--sample", "3", "--json")
    assert said.code == 0, said.err
    document = said.document
    instants = document["replay"]["instants"]
    assert [each["run"] for each in instants] == [f"weekly@2025-{day}T00:00Z" for day in ("08-31", "09-07", "09-14")]
    # No volume and no book is recorded there; what has a price of the last day is played.
    assert [each["events"] for each in instants] == [47, 49, 51]
    assert document["look_ahead"]["differing"] == 0
    market, chance, *_ = document["bots"]
    assert (market["bot"], market["settled"], chance["settled"]) == ("market_price", 147, 147)
    assert market["brier"] < 0.1 < 0.3 < chance["brier"]
    assert all(math.isfinite(number) for card in (market, chance) for number in _numbers(card))
    brier, edge = (_of_market_and_chance(document, metric) for metric in ("brier", "edge"))
    assert (brier["better"], edge["better"]) == ("market_price", "market_price")
    assert brier["high"] < 0.0 < edge["low"] <= edge["difference"] <= edge["high"] <= 1.0
    _nobody_is_better_for_long_odds(document)


def _of_market_and_chance(document: Any, metric: str) -> Any:
    (pair,) = [
        each
        for each in document["comparisons"]
        if (each["metric"], each["first"], each["second"]) == (metric, "market_price", "random_bet")
    ]
    return pair


def _nobody_is_better_for_long_odds(document: Any) -> None:
    """Hold that no return tells `always_half` or `underdog`, who buy what hardly ever pays, from anybody else."""
    settled = [each for each in document["comparisons"] if each["metric"] == "return_settled"]
    assert len(settled) == 6
    assert {(each["better"], each["clusters"] >= 30) for each in settled} == {(None, True)}
    for card in document["bots"]:
        found = card["horizons"]["settled"]["intervals"]["mean_return"]
        assert -1.0 <= found["low"] <= 0.0 <= found["high"], card["bot"]


def _numbers(value: Any) -> list[float]:
    """Return every number in a part of a document."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in _numbers(each)]
    if isinstance(value, list):
        return [number for each in value for number in _numbers(each)]
    return [value] if isinstance(value, int | float) else []
