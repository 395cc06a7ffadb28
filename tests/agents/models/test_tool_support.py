"""The probe: whether a model calls tools, asked once."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from predibot.agents.budget.budget import Budget
from predibot.agents.models.metered import MeteredModel
from predibot.agents.models.tool_support import ToolProbe
from predibot.domain.budget import Limits
from predibot.errors import BudgetSpent, ModelRefused, ModelUnavailable
from predibot.net.retry import MAX_TRIES
from tests.agents.chat_server import Said, chat_server, completion, error, tool_call
from tests.agents.clients import Clock, light, retry_of


@pytest.mark.parametrize(
    ("said", "can"),
    [
        (tool_call(), True),
        (tool_call(finish_reason="stop"), True),
        (tool_call(arguments='{"word": '), False),
        (tool_call(arguments='"pong"'), False),
        (tool_call("other"), False),
        (completion("I would call ping."), False),
        (error(400, "this model does not support tools"), False),
        (error(404, "No endpoints found that support tool use"), False),
    ],
)
def test_a_model_calls_tools_or_does_not(said: Said, can: bool) -> None:
    with chat_server(said) as server:
        assert ToolProbe().supports_tools(light(server, retry_of(Clock()))) is can
        body = server.asked[0].body
    assert body["tool_choice"]["function"]["name"] == body["tools"][0]["function"]["name"] == "ping"


def test_many_at_once_ask_once() -> None:
    with chat_server(tool_call()) as server, ThreadPoolExecutor(8) as pool:
        model, probe = light(server, retry_of(Clock())), ToolProbe()
        assert all(pool.map(lambda _: probe.supports_tools(model), range(16)))
        assert len(server.asked) == 1


@pytest.mark.parametrize("failure", [error(401), error(503)])
def test_a_failure_is_no_answer_and_is_not_remembered(failure: Said) -> None:
    with chat_server(*[failure] * (1 if failure.status == 401 else MAX_TRIES), tool_call()) as server:
        model, probe = light(server, retry_of(Clock())), ToolProbe()
        with pytest.raises((ModelRefused, ModelUnavailable)):
            probe.supports_tools(model)
        assert probe.supports_tools(model)


def test_asking_is_paid_for_like_anything_else() -> None:
    with chat_server(tool_call()) as server:
        model, probe = light(server, retry_of(Clock())), ToolProbe()
        poor = MeteredModel(model, Budget.of("bot", Limits(tokens=100)), None)
        with pytest.raises(BudgetSpent):
            probe.supports_tools(model, ask=poor)
        budget = Budget.of("bot", Limits(tokens=10_000))
        assert probe.supports_tools(model, ask=MeteredModel(model, budget, None))
        assert budget.spent().tokens == 25
