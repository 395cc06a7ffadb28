"""The probe: whether a model calls tools, asked once."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from predibot.agents.budget.budget import Budget
from predibot.agents.models.metered import MeteredModel
from predibot.agents.models.open_model import open_model
from predibot.agents.models.tool_support import ToolProbe
from predibot.domain.budget import Limits
from predibot.errors import BudgetSpent, ModelRefused, ModelUnavailable
from predibot.net.api_keys import ApiKeys
from predibot.net.retry import MAX_TRIES
from tests.agents.chat_server import Said, chat_server, completion, error, tool_call
from tests.agents.clients import Client, Clock, light, retry_of


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (tool_call(), ""),
        (tool_call(finish_reason="stop"), ""),
        (completion("hmm hm", finish_reason="length"), ""),
        (completion("I cannot help with that.", finish_reason="content_filter"), ""),
        (completion(None, message={"refusal": "I do not call tools."}), ""),
        (tool_call(arguments='{"word": '), """'ping({"word": )' to a forced call"""),
        (tool_call(arguments=json.dumps('{"word": "pong"}')), ""),
        (tool_call(arguments=json.dumps(json.dumps('{"word": "pong"}'))), " to a forced call"),
        (tool_call(" ping\n"), ""),
        (completion(""), "'nothing' to a forced call"),
        (tool_call("ping<|channel|>analysis"), ""),
        (tool_call("functions.ping:0"), ""),
        (tool_call("default_api.ping"), ""),
        (
            completion("I call it. <tool_call><function=ping><parameter=word>pong</parameter></function></tool_call>"),
            "",
        ),
        (completion("", message={"reasoning_content": 'Well: <tool_call>{"name": "ping", "arguments": {}}'}), ""),
        (tool_call("assistant<|channel|>analysis"), """'assistant({"word": "pong"})' to a forced call"""),
        (tool_call(arguments='"pong"'), """'ping("pong")' to a forced call"""),
        (tool_call("other"), """'other({"word": "pong"})' to a forced call"""),
        (completion("I would call ping."), "'I would call ping.' to a forced call"),
        (error(400, "registry.ollama.ai/library/gemma:2b does not support tools"), "gemma:2b does not support tools"),
        (error(404, "No endpoints found that support tool use."), "support tool use"),
    ],
)
def test_a_model_calls_tools_or_what_it_says_instead_is_known(said: Said, words: str) -> None:
    with chat_server(said) as server:
        why = ToolProbe().why_no_tools(light(server, retry_of(Clock())))
        choices = [asked.body.get("tool_choice") for asked in server.asked]
    assert why.endswith(words) if not words or "forced" in words else words in why
    assert bool(why) is bool(words)
    assert choices[0] is None
    by_name = {"type": "function", "function": {"name": "ping"}}
    assert choices[1:2] == ([by_name] if "forced" in words else [])
    assert choices[2:] in ([], [by_name], ["required"])
    assert len(choices) == (3 if "forced" in words else 1)


@pytest.mark.parametrize("texts", [1, 2])
def test_a_text_is_asked_again_and_forced_by_name_then_by_required(client: Client, texts: int) -> None:
    with chat_server(*[completion("Shall I?")] * texts, tool_call()) as server:
        assert not ToolProbe().why_no_tools(client(server, retry_of(Clock())))
        choices = [asked.body.get("tool_choice") for asked in server.asked]
    assert choices == [None, {"type": "function", "function": {"name": "ping"}}, "required"][: texts + 1]


def test_where_names_are_passed_over_and_required_is_refused_it_is_left_open() -> None:
    with chat_server(*[completion("Hm.")] * 2, error(400, FORCING[0]), completion("Hm.")) as server:
        assert not ToolProbe().why_no_tools(light(server, retry_of(Clock())))
        assert [asked.body.get("tool_choice") for asked in server.asked][2:] == ["required", "auto"]


FORCING = [
    "Thinking mode does not support this tool_choice",
    "The tool_choice parameter does not support being set to required or object in thinking mode",
    "tool_choice 'specified' is incompatible with thinking enabled",
    "Thinking may not be enabled when tool_choice forces tool use.",
    "functionCallingConfig.mode: ANY is not supported",
    "No endpoints found that support the provided 'tool_choice' value.",
]


@pytest.mark.parametrize("words", FORCING)
def test_a_refused_forcing_leaves_it_open(words: str) -> None:
    status = 404 if "endpoints" in words else 400
    with chat_server(completion("Hm."), *[error(status, words)] * 2, completion("Hm.")) as server:
        assert not ToolProbe().why_no_tools(light(server, retry_of(Clock())))
        choices = [asked.body.get("tool_choice") for asked in server.asked]
        last = server.asked[-1].body
    assert choices == [None, {"type": "function", "function": {"name": "ping"}}, "required", "auto"]
    assert "call of the tool ping" in last["messages"][-1]["content"]


@pytest.mark.parametrize("words", ["the prompt is too long", "temperature is out of range", "tools.0: bad schema"])
def test_another_refusal_is_none_of_tools(words: str) -> None:
    with chat_server(error(400, words)) as server, pytest.raises(ModelRefused, match=words):
        ToolProbe().why_no_tools(light(server, retry_of(Clock())))


def test_many_at_once_ask_once() -> None:
    with chat_server(tool_call()) as server, ThreadPoolExecutor(8) as pool:
        model, probe = light(server, retry_of(Clock())), ToolProbe()
        assert not any(pool.map(lambda _: probe.why_no_tools(model), range(16)))
        assert len(server.asked) == 1


@pytest.mark.parametrize("failure", [error(401), error(503)])
def test_a_failure_is_no_answer_and_is_not_remembered(failure: Said) -> None:
    with chat_server(*[failure] * (1 if failure.status == 401 else MAX_TRIES), tool_call()) as server:
        model, probe = light(server, retry_of(Clock())), ToolProbe()
        with pytest.raises((ModelRefused, ModelUnavailable)):
            probe.why_no_tools(model)
        assert not probe.why_no_tools(model)


def test_asking_is_paid_for_like_anything_else() -> None:
    with chat_server(tool_call()) as server:
        model, probe = light(server, retry_of(Clock())), ToolProbe()
        poor = MeteredModel(model, Budget.of("bot", Limits(tokens=100)), None)
        with pytest.raises(BudgetSpent):
            probe.why_no_tools(model, ask=poor)
        budget = Budget.of("bot", Limits(tokens=10_000))
        assert not probe.why_no_tools(model, ask=MeteredModel(model, budget, None))
        assert budget.spent().tokens == 25


def test_a_model_of_which_litellm_itself_knows_that_it_calls_no_tools_is_not_asked() -> None:
    model = open_model("perplexity/sonar", keys=ApiKeys({"PERPLEXITYAI_API_KEY": "pplx-1"}), retry=retry_of(Clock()))
    assert "perplexity does not support parameters: ['tools']" in ToolProbe().why_no_tools(model)
