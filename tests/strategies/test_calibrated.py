"""The price, moved as far toward another bot as its settled forecasts have earned."""

from datetime import timedelta

import pytest

from predibot.domain.decision import Abstention, Decision, Status
from predibot.domain.resolution import SettledForecast
from predibot.errors import PluginError
from predibot.plugins.strategies import load_strategy, spec_of
from predibot.scoring import fit_step, step_from_price
from tests.agents.scripted import NOW, context, rain
from tests.strategies.test_anchored import believes


def settled(n: int, said: float, outcome: float, *, event: str = "") -> list[SettledForecast]:
    """Return forecasts at a price of .4, each on an event of its own unless one is named."""
    made, paid = NOW - timedelta(days=9), NOW - timedelta(days=2)
    return [SettledForecast(event or f"{outcome}{k}", "m", 0.4, said, outcome, made, paid) for k in range(n)]


def decide(
    decision: Decision | None,
    earlier: list[SettledForecast] | None = None,
    undecided: dict[str, tuple[Status, str]] | None = None,
    **arguments: object,
) -> Decision | Abstention:
    strategy = load_strategy(spec_of("calibrated", {"bot": "a"} | arguments))
    known = {"members": {"a": decision}, "undecided": undecided or {}, "settled": {"a": tuple(earlier or ())}.get}
    return strategy.decide(context(rain("m1", "m2"), **known))


def probabilities(decision: Decision | Abstention) -> list[float]:
    assert isinstance(decision, Decision)
    return [each.probability for each in decision.forecasts]


def test_without_settled_forecasts_it_is_the_market_and_bets_nothing() -> None:
    decision = decide(believes(0.9, 0.05))
    assert probabilities(decision) == [0.4, 0.4]
    assert isinstance(decision, Decision)
    assert decision.orders == ()
    assert decision.notes == ("step 0 from n = 0 settled events of a",)


def test_it_steps_as_far_as_settled_forecasts_have_earned_where_each_event_weighs_one() -> None:
    right, wrong = settled(150, 0.6, 1.0), settled(40, 0.6, 0.0, event="one")
    step = fit_step([0.4] * 190, [0.6] * 190, [1] * 150 + [0] * 40, [1.0] * 150 + [1 / 40] * 40)
    assert 0.2 < step < 0.5 or step == 0.5
    decision = decide(believes(0.9, 0.999), right + wrong)
    assert probabilities(decision) == pytest.approx(step_from_price([0.4, 0.4], [0.9, 0.999], step))
    assert isinstance(decision, Decision)
    assert len(decision.orders) == 2
    assert decision.notes == (f"step {step:.4g} from n = 151 settled events of a",)
    assert probabilities(decide(believes(0.9, 0.9), right, lowest_price=0.5)) == [0.4, 0.4]


@pytest.mark.parametrize("status", ["failed", "refused"])
def test_it_fails_with_the_reason_of_the_bot_that_failed(status: Status) -> None:
    with pytest.raises(PluginError, match=f"bot 'a' has no decision, it {status}: no key"):
        decide(None, undecided={"a": (status, "no key")})


def test_it_abstains_where_the_other_bot_abstained_or_does_not_play() -> None:
    for undecided, said in (({"a": ("abstained", "too little is known")}, "too little"), ({}, "not play in this run")):
        found = decide(None, undecided=undecided)  # type: ignore[arg-type]
        assert isinstance(found, Abstention)
        assert (found.kind, said in found.reason) == ("members", True)


def test_a_range_of_prices_in_the_wrong_order_is_refused() -> None:
    with pytest.raises(PluginError, match="lowest_price is above highest_price"):
        spec_of("calibrated", {"bot": "a", "lowest_price": 0.9, "highest_price": 0.1})
