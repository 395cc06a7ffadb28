"""`predibot bots`: the strategies there are."""

from tests.acceptance.conftest import Predibot

BASELINES = {"always_half", "favourite", "market_price", "random_bet", "underdog"}


def test_strategies_are_listed_with_their_arguments(predibot: Predibot) -> None:
    found = {each["name"]: each for each in predibot("bots", "--json").document["strategies"]}
    assert set(found) >= BASELINES
    (stake,) = found["market_price"]["arguments"]
    assert (stake["name"], stake["default"]) == ("stake", '"equal"')
    text = predibot("bots").out
    assert all(name in text for name in (*BASELINES, "stake", "top_volume"))
