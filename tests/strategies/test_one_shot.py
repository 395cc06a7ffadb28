"""One prompt and one answer, as a strategy."""

import json

from predibot.domain.decision import Abstention, Decision
from predibot.plugins.strategies import load_strategy, spec_of
from tests.agents.scripted import ScriptedModel, answer, context, rain
from tests.decisions import taken


def decide(model: ScriptedModel, **arguments: object) -> Decision | Abstention:
    strategy = load_strategy(spec_of("one_shot", {"model": "scripted", **arguments}))
    return strategy.decide(context(rain("m1", price=0.4567), model=lambda _name: model))


def test_a_model_is_asked_once_and_taken_at_its_word() -> None:
    model = ScriptedModel([json.dumps(answer())])
    decision = taken(decide(model))
    assert decision.orders[0].amount == 0.5
    assert len(model.requests) == 1
    assert not model.requests[0].tools
    assert "0.4567" in model.requests[0].messages[0].text
    model = ScriptedModel([json.dumps(answer())])
    decide(model, price_blind=True)
    assert "0.45" not in model.requests[0].messages[0].text
