"""`predibot bots`: the strategies there are."""

from tests.acceptance.conftest import Predibot

BASELINES = {"always_half", "favourite", "market_price", "random_bet", "underdog"}


def test_strategies_are_listed_with_their_arguments(predibot: Predibot) -> None:
    found = {each["name"]: each for each in predibot("bots", "--json").document["strategies"]}
    assert set(found) >= BASELINES
    (stake,) = found["market_price"]["arguments"]
    assert (stake["name"], stake["default"]) == ("stake", '"equal"')
    assert found["all_cash"]["games"] == ["portfolio_weights", "weekly_cohort"]
    assert (found["one_shot"]["games"], found["favourite"]["games"]) == (["*"], ["dollar_per_event"])
    text = predibot("bots").out
    assert "portfolio_weights" in text and "any game" in text
    assert all(name in text for name in (*BASELINES, "stake", "top_volume"))
