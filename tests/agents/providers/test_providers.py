"""Providers, each with its refusals: on every one of them an agent searches and decides."""

from dataclasses import replace

import pytest

from predibot.agents.models.clients.chat_completions import Endpoint, OpenAICompatibleModel
from predibot.agents.models.clients.litellm_library import table_price
from predibot.agents.models.clients.litellm_model import LiteLLMModel
from predibot.agents.models.open_model import open_model
from predibot.agents.models.tool_support import ToolProbe
from predibot.contracts import ChatModel
from predibot.domain.chat import ChatRequest, Message
from predibot.domain.decision import Decision
from predibot.domain.terms import ClientName, ModelSettings, ModelTerms, ReasoningEffort
from predibot.jobs.deciding.opened_models import DeclaredModels
from predibot.net.api_keys import ApiKeys
from predibot.plugins.strategies import StrategySpec, load_strategy, spec_of
from tests.agents.chat_server import Said, completion
from tests.agents.clients import HELLO, PING, Clock, retry_of
from tests.agents.providers.dialects import DIALECTS, SEARCHES, Body, Dialect, Provider, provider
from tests.agents.providers.native import Anthropic, Gemini, Native, Ollama, Responses
from tests.agents.scripted import context, toolbox
from tests.soaks import few

HELD = "DEEPSEEK OPENROUTER DASHSCOPE MOONSHOT MISTRAL GROQ HOSTED_VLLM ANTHROPIC GEMINI OPENAI"
KEYS = {f"{name}_API_KEY": "sk-1" for name in HELD.split()}


ONE_SHOT = spec_of("one_shot", {"model": "m"})


def decided(model: ChatModel, effort: ReasoningEffort | None = None, **arguments: object) -> tuple[Decision, list[str]]:
    """Return what a tool agent decides with a model, and what it searched for."""
    strategy = spec_of("tool_agent", {"model": "m", "min_pages": 0, **arguments})
    return decided_by(strategy, model, effort)


def decided_by(
    strategy: StrategySpec, model: ChatModel, effort: ReasoningEffort | None = None
) -> tuple[Decision, list[str]]:
    """Return what a strategy decides with a model, and what it searched for."""
    settled = DeclaredModels(strategy, lambda _: model, ModelSettings(reasoning_effort=effort))
    searched: list[str] = []

    def search(query: str) -> str:
        searched.append(query)
        return f"results for {query}"

    seen = context(
        model=settled,
        why_no_tools=lambda name: ToolProbe().why_no_tools(model, ask=settled(name)),
        tools=toolbox(search),
        untrusted_mark="0123456789" * 2,
    )
    decision = load_strategy(strategy).decide(seen)
    assert isinstance(decision, Decision)
    return decision, searched


def opened(server: Provider, client: str, monkeypatch: pytest.MonkeyPatch) -> ChatModel:
    """Return a dialect's model by a client: directly, through litellm at a base URL, or as litellm's own provider."""
    dialect, retry = server.dialect, retry_of(Clock())
    if client == "light":
        return OpenAICompatibleModel(dialect.model, Endpoint(server.base_url), retry=retry)
    if client == "litellm":
        return LiteLLMModel(dialect.model, base_url=server.base_url, keys=ApiKeys({}), retry=retry)
    monkeypatch.setenv(dialect.address, server.base_url)
    return LiteLLMModel(dialect.litellm, keys=ApiKeys(KEYS), retry=retry)


WAYS = [
    (name, client)
    for name, dialect in DIALECTS.items()
    for client in ("light", "litellm", "own")
    if client != "own" or dialect.litellm
]


@pytest.mark.parametrize(("name", "client"), few(WAYS, *WAYS[::2]), ids=[" by ".join(way) for way in WAYS])
def test_an_agent_searches_twice_and_decides(name: str, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider(DIALECTS[name]) as server:
        model = opened(server, client, monkeypatch)
        decision, searched = decided(model)
        refused = len(server.refused)
        again, _ = decided(model)
        assert len(server.refused) == refused, "what was refused once is asked again"
    assert (searched, decision.notes) == (list(SEARCHES), ())
    assert again == decision


@pytest.mark.parametrize(("name", "client"), few(WAYS, *WAYS[1::2]), ids=[" by ".join(way) for way in WAYS])
def test_at_its_last_step_it_hands_in_its_answer(name: str, client: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with provider(DIALECTS[name]) as server:
        decision, searched = decided(opened(server, client, monkeypatch), max_steps=2)
    assert (searched, decision.notes[-1:]) == (list(SEARCHES[:1]), ("under_researched",))


@pytest.mark.parametrize(("name", "client"), few(WAYS, *WAYS[::2]), ids=[" by ".join(way) for way in WAYS])
def test_one_prompt_is_answered_in_the_schema_where_that_is_taken(
    name: str, client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(DIALECTS[name]) as server:
        model = opened(server, client, monkeypatch)
        for _ in range(2):
            decided_by(ONE_SHOT, model)
    formats = [
        body["response_format"]["json_schema"]["schema"] for body in server.answered if "response_format" in body
    ]
    assert formats == ([] if name == "deepseek" else [context().form().schema.parameters] * 2)
    assert len([body for body in server.refused if "response_format" in body]) <= 2


class Shy(Provider):
    """Calls a tool only where it has to."""

    def said(self, body: Body) -> Said:
        return Provider.said(self, body) if body.get("tool_choice") == "required" else completion("Shall I call it?")


@pytest.mark.parametrize("client", ["light", "litellm"])
def test_a_model_that_calls_only_where_it_has_to_has_tools_at_llama_cpp(
    client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(DIALECTS["llama.cpp"], Shy) as server:
        assert not ToolProbe().why_no_tools(opened(server, client, monkeypatch))
        assert len(server.answered) == 3


NATIVE: dict[str, tuple[type[Native], str, str, str]] = {
    "anthropic": (Anthropic, "anthropic/claude-sonnet-4-5", "ANTHROPIC_API_BASE", ""),
    "gemini": (Gemini, "gemini/gemini-3-pro-preview", "GEMINI_API_BASE", ""),
    "responses": (Responses, "openai/responses/gpt-5.5", "OPENAI_API_BASE", "/v1"),
    "ollama": (Ollama, "ollama_chat/qwen3:8b", "OLLAMA_API_BASE", ""),
}


@pytest.mark.parametrize(("effort", "steps"), [(None, 12), ("low", 12), ("low", 2)])
@pytest.mark.parametrize("name", NATIVE)
def test_an_agent_decides_by_a_dialect_that_litellm_speaks(
    name: str, effort: ReasoningEffort | None, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, model_name, variable, path = NATIVE[name]
    with provider(Dialect(model_name), kind) as server:
        monkeypatch.setenv(variable, server.base_url.removesuffix("/v1") + path)
        model = LiteLLMModel(model_name, keys=ApiKeys(KEYS), retry=retry_of(Clock()))
        decision, searched = decided(model, effort, max_steps=steps)
        assert len(server.refused) <= 4
        decided_by(ONE_SHOT, model, effort)
    assert searched == list(SEARCHES[: min(2, steps - 1)])
    assert "without tools" not in decision.notes


@pytest.mark.parametrize("client", ["light", "litellm"])
def test_what_a_recipe_adds_stands_in_the_request(client: ClientName) -> None:
    with provider(DIALECTS["ollama"]) as server:
        terms = ModelTerms(server.base_url, client, settings=ModelSettings(extra_body='{"num_ctx": 32768}'))
        model = open_model("openai/qwen3:8b", terms, keys=ApiKeys({}), retry=retry_of(Clock()))
        model.chat(HELLO, deadline_seconds=60.0)
    (body,) = server.answered
    assert (body["num_ctx"], body["max_tokens"]) == (32_768, 4_096)


def test_ollamas_own_address_is_told_its_options(monkeypatch: pytest.MonkeyPatch) -> None:
    with provider(Dialect("ollama"), Ollama) as server:
        monkeypatch.setenv("OLLAMA_API_BASE", server.base_url.removesuffix("/v1"))
        terms = ModelTerms(settings=ModelSettings(extra_body='{"num_ctx": 32768, "truncate": false}'))
        model = open_model("ollama_chat/qwen3:8b", terms, keys=ApiKeys(KEYS), retry=retry_of(Clock()))
        model.chat(HELLO, deadline_seconds=60.0)
    (body,) = server.answered
    assert (body["options"], body["truncate"]) == ({"num_ctx": 32_768, "num_predict": 4_096}, False)


def test_claude_keeps_the_task_of_an_agent_and_its_price_is_that_of_what_was_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with provider(Dialect("claude"), Anthropic) as server:
        monkeypatch.setenv("ANTHROPIC_API_BASE", server.base_url.removesuffix("/v1"))
        model = LiteLLMModel("anthropic/claude-haiku-4-5", keys=ApiKeys(KEYS), retry=retry_of(Clock()))
        first = model.chat(replace(HELLO, tools=(PING,)), deadline_seconds=60.0)
        assert first.message.tool_calls
        pong = Message("tool", "pong", tool_call_id=first.message.tool_calls[0].id)
        talk = (*HELLO.messages, first.message, pong)
        second = model.chat(ChatRequest(talk, (PING,)), deadline_seconds=60.0)
        once = model.chat(HELLO, deadline_seconds=60.0)
    # At $1 a million tokens in, $1.25 to keep them, $0.10 to read what was kept, and $5 out: 200, 700, and 200 tokens.
    assert first.usage.cached_tokens == 0
    assert first.cost.usd == pytest.approx(0.0002 + 700 * 1.25e-6 + 0.001)
    assert second.usage.cached_tokens == 700
    assert second.cost.usd == pytest.approx(0.0002 + 700 * 0.1e-6 + 0.001)
    assert once.usage.cached_tokens == 0
    assert once.cost.usd == pytest.approx(0.0009 + 0.001), "nothing is sent again"
    price = table_price("anthropic/claude-haiku-4-5")
    assert price is not None
    assert price.input_usd_per_million_tokens == 1.25, "the dearest"


@pytest.mark.parametrize(("most", "thought"), [(16_000, 4_096), (3_000, 2_048), (1_000, None)])
def test_claude_is_let_think_less_long_than_it_may_write(
    most: int, thought: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with provider(Dialect("claude"), Anthropic) as server:
        monkeypatch.setenv("ANTHROPIC_API_BASE", server.base_url.removesuffix("/v1"))
        model = LiteLLMModel("anthropic/claude-sonnet-4-5", keys=ApiKeys(KEYS), retry=retry_of(Clock()))
        asked = replace(HELLO, reasoning_effort="high", max_output_tokens=most)
        reply = model.chat(asked, deadline_seconds=60.0)
    assert server.answered[-1].get("thinking", {}).get("budget_tokens") == thought
    assert reply.refused_settings == (() if thought == 4_096 else ("reasoning_effort = high",))
