"""Providers on loopback that refuse what the real ones refuse, in their words: chat completions.

Each of them plays a model that searches twice, hands in its answer, and thinks; what it carries has to come back as
its provider documents it. Written from the documents and the issue threads named beside each rule.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from predibot.sandbox.server.hosts.manners import (
    THOUGHT,
    call_as_text,
    find_calls_without,
    forces_a_tool,
    speaks_after_tool,
    speaks_twice,
    stream_completion,
)
from tests.agents.chat_server import Asked, ChatServer, Said, chat_server, completion, said_json
from tests.agents.scripted import answer

SIGNATURE = "c2lnbmF0dXJl"
DETAILS = [{"type": "reasoning.encrypted", "data": SIGNATURE, "format": "google-gemini-v1", "id": "r1", "index": 0}]
USAGE = {"prompt_tokens": 900, "completion_tokens": 200, "total_tokens": 1100}
SEARCHES = ("news about the rain", "forecast for tomorrow")

Body = dict[str, Any]
Rule = Callable[[Body], Said | None]


def refusal(message: str, status: int = 400, **more: object) -> Said:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None, **more}
    return said_json({"error": error}, status)


def turn(tools: Sequence[str], results: int) -> tuple[str, dict[str, Any]] | None:
    """Return the call a model makes that is offered these tools and has so many results; None for text."""
    if "ping" in tools:
        return "ping", {"word": "pong"}
    if "web_search" in tools and results < len(SEARCHES):
        return "web_search", {"query": SEARCHES[results]}
    return ("final_answer", answer()) if "final_answer" in tools else None


def assistants(body: Body) -> Iterator[tuple[int, Body]]:
    """Yield the assistant's messages that call tools, each with its place."""
    for place, message in enumerate(body["messages"]):
        if message["role"] == "assistant" and message.get("tool_calls"):
            yield place, message


def no_forced_tool(words: str) -> Rule:
    """Return a rule: no tool is forced while the model thinks."""

    def rule(body: Body) -> Said | None:
        return refusal(words) if forces_a_tool(body) else None

    return rule


def wants_reasoning(words: str) -> Rule:
    """Return a rule: an assistant's turn with calls comes back with what was thought in it, word for word."""

    def rule(body: Body) -> Said | None:
        missing = find_calls_without(body, "reasoning_content", THOUGHT)
        return refusal(words.format(missing[0])) if missing else None

    return rule


def wants_back(name: str, value: object, words: str) -> Rule:
    """Return a rule: an assistant's turn with calls has a field just as it was said."""

    def rule(body: Body) -> Said | None:
        has_all = all(name in each and each[name] == value for _, each in assistants(body))
        return None if has_all else refusal(words)

    return rule


def refuses_field(name: str, words: Callable[[int], Said]) -> Rule:
    """Return a rule: messages have no field of that name."""

    def rule(body: Body) -> Said | None:
        return next((words(place) for place, each in enumerate(body["messages"]) if name in each), None)

    return rule


def answers_follow_calls(body: Body) -> Said | None:
    """Refuse a call without its result: platform.openai.com/docs/guides/function-calling."""
    told = {each.get("tool_call_id") for each in body["messages"] if each["role"] == "tool"}
    ids = [call["id"] for _, message in assistants(body) for call in message["tool_calls"]]
    words = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
    return None if told.issuperset(ids) else refusal(words, param="messages")


def new_max_tokens(body: Body) -> Said | None:
    """Refuse the old name: OpenAI's models that reason."""
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    return refusal(words, param="max_tokens", code="unsupported_parameter") if "max_tokens" in body else None


def no_user_after_tool(body: Body) -> Said | None:
    """Refuse a user's turn behind a tool's: Mistral, code 3230 (goose #5998, crush #279)."""
    words = {"object": "error", "message": "Unexpected role 'user' after role 'tool'", "code": "3230"}
    return said_json({**words, "type": "invalid_request_message_order"}, 400) if speaks_after_tool(body) else None


def alternating(body: Body) -> Said | None:
    """Refuse two turns of one role: a template that raises, which llama.cpp says with 500."""
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    return (
        said_json({"error": {"code": 500, "message": words, "type": "server_error"}}, 500)
        if speaks_twice(body)
        else None
    )


def no_system(body: Body) -> Said | None:
    """Refuse a system's turn: the template of Gemma."""
    has_one = any(each["role"] == "system" for each in body["messages"])
    return refusal("System role not supported") if has_one else None


def needs_stream(body: Body) -> Said | None:
    """Refuse an answer at once: Alibaba's models that only stream (langchain4j #3974)."""
    words = "This model only support stream mode, please enable the stream parameter to access the model."
    return None if body.get("stream") else refusal(words, code="invalid_parameter_error")


def no_schema(body: Body) -> Said | None:
    """Refuse an answer that is held to a schema: DeepSeek (inspect_ai #4916)."""
    words = "This response_format type is unavailable now"
    return refusal(words) if body.get("response_format", {}).get("type") == "json_schema" else None


def no_seed(body: Body) -> Said | None:
    """Refuse a seed in a list: Google's compatible address."""
    message = 'Invalid JSON payload received. Unknown name "seed": Cannot find field.'
    error = {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}
    return said_json([{"error": error}], 400) if "seed" in body else None


def wants_signature(body: Body) -> Said | None:
    """Refuse the first call of a turn without its signature: ai.google.dev/gemini-api/docs/thought-signatures."""
    for place, message in assistants(body):
        google = message["tool_calls"][0].get("extra_content", {}).get("google", {})
        if google.get("thought_signature") != SIGNATURE:
            words = f"Function call is missing a thought_signature in functionCall parts, position {place}."
            return said_json([{"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}], 400)
    return None


def short_context(body: Body) -> Said | None:
    """Refuse more than 8,192 tokens: vLLM."""
    most = body.get("max_tokens") or body.get("max_completion_tokens") or 0
    sent = len(json.dumps(body["messages"])) // 8
    if most + sent <= 8192:
        return None
    words = (
        f"'max_tokens' or 'max_completion_tokens' is too large: {most}. This model's maximum context length is 8192 "
        f"tokens and your request has {sent} input tokens ({most} > 8192 - {sent})."
    )
    return said_json({"object": "error", "message": words, "type": "BadRequestError", "code": 400}, 400)


@dataclass(frozen=True, slots=True)
class Dialect:
    """One provider of chat completions: what it refuses, and what its turns carry."""

    model: str
    """As a recipe names it, at a base URL."""
    rules: tuple[Rule, ...] = ()
    carried: Mapping[str, object] = field(default_factory=dict)
    """By each of its messages."""
    call_carried: Mapping[str, object] = field(default_factory=dict)
    """By each of its calls."""
    litellm: str = ""
    """As litellm names it; empty where it has no provider of its own."""
    address: str = ""
    """The variable that tells litellm where it is."""
    heeds_objects: bool = True
    """Whether a tool can be forced by its name: llama.cpp reads `tool_choice` as text, and anything else as `auto`."""
    text_calls: bool = False
    """Whether calls of tools are text, as the server has no parser for them."""
    whole_counts: bool = True
    """Whether tokens are counted in whole numbers, and not as 900.0."""


def _extra(place: int) -> Said:
    where = ["body", "messages", place, "assistant", "reasoning_content"]
    detail = {"type": "extra_forbidden", "loc": where, "msg": "Extra inputs are not permitted"}
    return said_json({"detail": [detail]}, 422)


def _unsupported(name: str) -> Callable[[int], Said]:
    def words(place: int) -> Said:
        said = f"('messages.{place}' : property '{name}' is unsupported)"
        return refusal(f"'messages.{place}' : for 'role:assistant' the following must be satisfied[{said}]")

    return words


DIALECTS: Mapping[str, Dialect] = {
    "openai": Dialect("openai/gpt-5.5", (new_max_tokens, answers_follow_calls)),
    "deepseek": Dialect(
        "openai/deepseek-v4-pro",
        (
            no_forced_tool("Thinking mode does not support this tool_choice"),
            wants_reasoning("The `reasoning_content` in the thinking mode must be passed back to the API."),
            no_schema,
        ),
        {"reasoning_content": THOUGHT},
        litellm="deepseek/deepseek-v4-pro",
        address="DEEPSEEK_API_BASE",
    ),
    # In more than half of its turns: craft-agents-oss #703, nanobot #946.
    "deepseek that thought nothing": Dialect(
        "openai/deepseek-v4-flash",
        (
            wants_back(
                "reasoning_content", "", "The `reasoning_content` in the thinking mode must be passed back to the API."
            ),
        ),
        {"reasoning_content": ""},
        litellm="deepseek/deepseek-v4-flash",
        address="DEEPSEEK_API_BASE",
    ),
    # openrouter.ai/docs/use-cases/reasoning-tokens, on the blocks of reasoning.
    "openrouter": Dialect(
        "openai/google/gemini-3-pro-preview",
        (wants_back("reasoning_details", DETAILS, "Function call is missing a thought_signature"),),
        {"reasoning": THOUGHT, "reasoning_details": DETAILS},
        litellm="openrouter/google/gemini-3-pro-preview",
        address="OPENROUTER_API_BASE",
    ),
    "deepseek behind another name": Dialect(
        "openai/house-model",
        (wants_reasoning("The `reasoning_content` in the thinking mode must be passed back to the API."),),
        {"reasoning_content": THOUGHT},
    ),
    "deepseek before V3.2": Dialect(
        "openai/deepseek-reasoner",
        (refuses_field("reasoning_content", lambda _: refusal("reasoning_content is not allowed here")),),
        {"reasoning_content": THOUGHT},
    ),
    "dashscope": Dialect(
        "openai/qwen3.5-plus",
        (
            needs_stream,
            no_forced_tool(
                "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to "
                "required or object in thinking mode"
            ),
        ),
        {"reasoning_content": THOUGHT},
        litellm="dashscope/qwen3.5-plus",
        address="DASHSCOPE_API_BASE",
    ),
    "moonshot": Dialect(
        "openai/kimi-k2.6",
        (
            no_forced_tool("tool_choice 'specified' is incompatible with thinking enabled"),
            wants_reasoning(
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index {}"
            ),
        ),
        {"reasoning_content": THOUGHT},
        litellm="moonshot/kimi-k2-thinking",
        address="MOONSHOT_API_BASE",
    ),
    "mistral": Dialect(
        "openai/magistral-medium",
        (refuses_field("reasoning_content", _extra), refuses_field("thinking_blocks", _extra), no_user_after_tool),
        {"reasoning_content": THOUGHT},
        litellm="mistral/magistral-medium-latest",
        address="MISTRAL_AZURE_API_BASE",
        whole_counts=False,
    ),
    "groq": Dialect(
        "openai/gpt-oss-120b",
        tuple(refuses_field(name, _unsupported(name)) for name in ("reasoning_content", "reasoning")),
        {"reasoning": THOUGHT},
        litellm="groq/openai/gpt-oss-120b",
        address="GROQ_API_BASE",
    ),
    "gemini, compatible": Dialect(
        "openai/gemini-3-pro",
        (wants_signature, no_seed),
        call_carried={"extra_content": {"google": {"thought_signature": SIGNATURE}}},
    ),
    "llama.cpp": Dialect(
        "openai/local", (alternating, no_user_after_tool), {"reasoning_content": THOUGHT}, heeds_objects=False
    ),
    "gemma at llama.cpp": Dialect("openai/gemma", (no_system, alternating), heeds_objects=False),
    "ollama": Dialect("openai/qwen3:8b", (), {"reasoning": THOUGHT}),
    "vllm without a parser of calls": Dialect("openai/NousResearch/Hermes-3", text_calls=True),
    "vllm": Dialect(
        "openai/Qwen/Qwen3-8B",
        (short_context,),
        {"reasoning": THOUGHT, "reasoning_content": THOUGHT},
        litellm="hosted_vllm/Qwen/Qwen3-8B",
        address="HOSTED_VLLM_API_BASE",
    ),
}


@dataclass(slots=True)
class Exchange:
    """One request, and with which status it was answered."""

    body: Body
    status: int


class Provider(ChatServer):
    """Plays a dialect; thread-safe."""

    dialect: Dialect
    exchanges: list[Exchange]

    def next(self, asked: Asked) -> Said:
        with self.lock:
            said = next(filter(None, (rule(asked.body) for rule in self.dialect.rules)), None) or self.said(asked.body)
            self.exchanges.append(Exchange(asked.body, said.status))
            return said

    def said(self, body: Body) -> Said:
        tools = [each["function"]["name"] for each in body.get("tools", ())]
        results = sum(each["role"] == "tool" for each in body["messages"])
        call, text = turn(tools, results), json.dumps(answer())
        if isinstance(body.get("tool_choice"), dict) and not self.dialect.heeds_objects:
            call, text = None, "I would rather look for more."
        message: Body = {"role": "assistant", "content": None if call else text, **self.dialect.carried}
        if call is not None:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            of_call = {"id": f"call{results:05d}", "type": "function", "function": function}
            message["tool_calls"] = [{**of_call, **self.dialect.call_carried}]
            if self.dialect.text_calls:
                message["content"], call = call_as_text(message.pop("tool_calls")[0]["function"], THOUGHT), None
        finish = "tool_calls" if call else "stop"
        usage = USAGE if self.dialect.whole_counts else {name: float(count) for name, count in USAGE.items()}
        if body.get("stream"):
            choice = {"message": message, "finish_reason": finish}
            reply = stream_completion(
                {"id": "c1", "created": 1, "model": "tiny-1", "choices": [choice], "usage": usage}
            )
            return Said(reply.body, headers={"Content-Type": reply.content_type})
        return completion(None, message=message, finish_reason=finish, usage=usage, service_tier="default")

    @property
    def refused(self) -> list[Body]:
        return [each.body for each in self.exchanges if each.status != 200]

    @property
    def answered(self) -> list[Body]:
        return [each.body for each in self.exchanges if each.status == 200]


@contextmanager
def provider(dialect: Dialect, kind: type[Provider] = Provider) -> Iterator[Provider]:
    with chat_server(completion()) as server:
        server.__class__ = kind
        assert isinstance(server, Provider)
        server.dialect, server.exchanges = dialect, []
        yield server
