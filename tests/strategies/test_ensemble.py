"""Many forecasts made into one: by members of the recipe, or by samples of one model."""

import json

import pytest

from predibot.domain.decision import Abstention, Decision, MarketDecision
from predibot.domain.event import Event
from predibot.errors import BudgetSpent, ModelRefused, ModelUnavailable, NoAnswer, PluginError
from predibot.games.dollar_per_event import DollarPerEvent
from predibot.plugins.strategies import load_strategy, spec_of
from tests.agents.scripted import ScriptedModel, Turn, answer, context, rain, said
from tests.decisions import book, taken

THREE = ["a", "b", "c"]


def forecast(*chances: float, confidence: float | None = None) -> Decision:
    return Decision(
        tuple(MarketDecision(f"m{n}", chance, 1.0, confidence) for n, chance in enumerate(chances, start=1))
    )


def pool(
    stored: dict[str, Decision | None], event: Event | None = None, /, **arguments: object
) -> Decision | Abstention:
    strategy = load_strategy(spec_of("ensemble", arguments))
    return strategy.decide(context(event or rain("m1"), members=stored))


def sample(script: list[Turn], **arguments: object) -> tuple[Decision | Abstention, ScriptedModel]:
    model = ScriptedModel(script)
    strategy = load_strategy(spec_of("ensemble", {"model": "scripted", "samples": len(script)} | arguments))
    return strategy.decide(context(model=lambda _name: model)), model


def chances(decision: Decision | Abstention) -> list[float]:
    assert isinstance(decision, Decision)
    return [said.probability for said in decision.forecasts]


def test_members_are_pooled_market_by_market() -> None:
    stored: dict[str, Decision | None] = {"a": forecast(0.1, 0.9), "b": forecast(0.2, 0.8), "c": forecast(0.6, 0.1)}
    assert chances(pool(stored, rain("m1", "m2"), members=THREE)) == [0.2, 0.8]


def test_the_rule_and_its_extremising_are_the_recipes() -> None:
    stored: dict[str, Decision | None] = {"a": forecast(2 / 3), "b": forecast(2 / 3), "c": forecast(2 / 3)}
    decision = pool(stored, pool="log_odds", extremising=2.0, members=THREE)
    assert chances(decision) == [pytest.approx(0.8)]
    assert isinstance(decision, Decision)
    assert decision.forecasts[0].rationale == (
        "log_odds of 0.667, 0.667, 0.667, extremised by 2; bet by fractional_kelly"
    )


@pytest.mark.parametrize(
    ("pool_by", "chance"),
    [
        ("mean", 0.4),
        ("median", 0.2),
        ("trimmed_mean", 0.4),
        # 0.9 is furthest from the median: weight 0.5, each of the others 1.25.
        ("soft_trimmed_mean", (1.25 * 0.3 + 0.5 * 0.9) / 3),
        # Odds of 1:9, 1:4 and 9:1: the cube root of 1:4.
        ("log_odds", 1 / (1 + 4 ** (1 / 3))),
    ],
)
def test_members_are_pooled_by_every_method_there_is(pool_by: str, chance: float) -> None:
    stored: dict[str, Decision | None] = {"a": forecast(0.1), "b": forecast(0.9), "c": forecast(0.2)}
    decision = pool(stored, pool=pool_by, members=THREE)
    assert chances(decision) == [pytest.approx(chance)]
    assert [type(each) for each in chances(decision)] == [float]


@pytest.mark.parametrize("sure", [0.0, 1.0])
def test_one_sure_member_does_not_decide_alone_in_log_odds(sure: float) -> None:
    stored: dict[str, Decision | None] = {"a": forecast(sure), "b": forecast(0.5), "c": forecast(0.5)}
    # A thousandth from certainty its odds are 999:1, of which the cube root is taken.
    far = 1 / (1 + 999 ** (1 / 3))
    assert chances(pool(stored, pool="log_odds", members=THREE)) == [pytest.approx(abs(sure - far))]


@pytest.mark.parametrize(("chance", "bound"), [(0.0, 0.001), (1.0, 0.999), (0.9, 0.999)])
def test_members_are_never_pooled_to_certainty_in_log_odds(chance: float, bound: float) -> None:
    stored: dict[str, Decision | None] = dict.fromkeys(THREE, forecast(chance))
    assert chances(pool(stored, pool="log_odds", extremising=10.0, members=THREE)) == [pytest.approx(bound)]
    assert chances(pool(stored, pool="median", members=THREE)) == [chance]


@pytest.mark.parametrize(("sizing", "bet"), [("kelly", 1 / 3), ("fractional_kelly", 1 / 12), ("flat", 1.0)])
def test_bets_follow_the_named_rule_at_the_price_that_is_shown(sizing: str, bet: float) -> None:
    decision = taken(pool({"a": forecast(0.6)}, rain("m1", price=0.4), members=["a"], sizing=sizing))
    assert decision.orders[0].amount == pytest.approx(bet)


def test_the_game_takes_the_bets_on_many_markets() -> None:
    event = rain(*(f"m{n}" for n in range(1, 13)))
    decision = taken(pool({"a": forecast(*[0.9] * 12)}, event, members=["a"], sizing="flat"))
    quotes = {market.id: market.quote for market in event.markets if market.quote is not None}
    booking = book(DollarPerEvent(), decision, event, quotes, venue="")
    assert booking.unallocated_usd == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(("share", "enough"), [(0.3, True), (1 / 3, True), (0.34, False), (1.0, False)])
def test_too_few_members_are_an_abstention(share: float, enough: bool) -> None:
    decision = pool({"a": forecast(0.6), "b": None}, min_share=share, members=THREE)
    assert isinstance(decision, Decision) == enough
    if isinstance(decision, Abstention):
        assert decision.reason.startswith("1 of 3 members have a decision, ")
        assert decision.kind == "members"
    # A member that did not say every market does not count.
    decision = taken(pool({"a": forecast(0.6), "b": forecast(0.6, 0.5)}, rain("m1", "m2"), members=["a", "b"]))
    assert decision.notes == ("1 of 2 members",)


def test_the_confidence_is_the_median_of_those_that_state_one() -> None:
    stored: dict[str, Decision | None] = {
        "a": forecast(0.6, confidence=4),
        "b": forecast(0.6),
        "c": forecast(0.6, confidence=8),
    }
    decision = taken(pool(stored, members=THREE))
    assert decision.forecasts[0].confidence == 6


def test_samples_of_one_model_are_pooled_and_differ_in_their_seed() -> None:
    script: list[Turn] = [json.dumps(answer(said(estimated_probability=chance))) for chance in (0.2, 0.3, 0.7)]
    decision, model = sample(script)
    assert chances(decision) == [0.3]
    assert len({request.seed for request in model.requests}) == 3
    assert len({request.messages for request in model.requests}) == 1


def test_a_sample_that_got_no_answer_is_one_that_did_not_succeed() -> None:
    good = json.dumps(answer())
    decision, _ = sample([good, ModelUnavailable("down"), good], min_share=0.6)
    assert isinstance(decision, Decision)
    assert decision.notes == ("2 of 3 samples",)
    with pytest.raises(ModelUnavailable, match="0 of 1 samples have a decision, and 1 must; of one: down"):
        sample([ModelUnavailable("down")])
    vague = ["sixty percent"] * 4
    decision, _ = sample([good, *vague, good], samples=3)
    assert isinstance(decision, Decision)
    with pytest.raises(NoAnswer, match="1 of 3 samples have a decision, and 2 must; of one: no answer held"):
        sample([good, *vague, *vague], samples=3)
    assert sample([json.dumps({"abstain": "why"})])[0] == Abstention("0 of 1 samples have a decision, and 1 must")


def test_a_model_that_gives_no_answer_at_all_is_not_asked_for_every_sample() -> None:
    model = ScriptedModel(["sixty percent"])
    spec = spec_of("ensemble", {"model": "any", "samples": 10})
    with pytest.raises(NoAnswer, match="no answer held after 3 repairs"):
        load_strategy(spec).decide(context(model=lambda _name: model))
    assert len(model.requests) == 4


def test_samples_that_a_limit_stopped_abstain_and_a_model_that_refuses_for_good_is_an_error() -> None:
    decision, _ = sample([BudgetSpent("the limit of $1")])
    assert isinstance(decision, Abstention)
    assert decision.kind == "budget"
    with pytest.raises(ModelRefused):
        sample([ModelRefused("wrong key")])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({}, "either members, or a model and samples"),
        ({"members": ["a"], "model": "m", "samples": 3}, "either members, or a model and samples"),
        ({"members": ["a"], "samples": 3}, "either members, or a model and samples"),
        ({"model": "m"}, "either members, or a model and samples"),
        ({"members": ["a", "a"]}, "named twice"),
        ({"members": ["a"], "extremising": 2.0}, "log_odds"),
        ({"members": ["a"], "pool": "mode"}, "pool"),
        ({"members": ["a"], "sizing": "martingale"}, "sizing"),
        ({"members": ["a"], "min_share": 0.0}, "min_share"),
    ],
)
def test_a_recipe_that_does_not_say_what_is_pooled_is_refused(arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(PluginError, match=complaint):
        spec_of("ensemble", arguments)
