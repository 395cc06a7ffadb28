"""The chat endpoint: OpenAI's wire, honest names, tool calls, and failures that are meant."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from predibot.sandbox.server.hosts.chat import BREAKAGES
from predibot.sandbox.server.options import parse_options
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.forecasters import NAMES, WORD

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {needed: {"type": kind}}, "required": [needed]},
        },
    }
    for name, needed, kind in (
        ("web_search", "query", "string"),
        ("visit_webpage", "url", "string"),
        ("final_answer", "market_decisions", "array"),
    )
]


def prompt(number: int = 1) -> list[dict[str, Any]]:
    markets = {"markets": [{"id": str(number), "question": f"Will it snow on day {number}?", "price_yes": 0.4}]}
    text = f"You bet $1 of imaginary money.\n```json\n{json.dumps(markets)}\n```\n"
    return [{"role": "system", "content": "Forecast."}, {"role": "user", "content": text}]


@pytest.fixture(scope="module")
def chat(server: SandboxServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.chat_url, trust_env=False, timeout=120) as client:
        yield client


def asked(chat: httpx.Client, **body: object) -> httpx.Response:
    whole = {"model": "sandbox/sharp", "messages": prompt(), "tools": TOOLS, **body}
    return chat.post("/chat/completions", json={name: value for name, value in whole.items() if value is not None})


def test_a_completion_has_the_providers_fields_and_says_that_it_is_a_script(chat: httpx.Client) -> None:
    content = asked(chat).json()
    assert content["object"] == "chat.completion"
    assert (content["model"], content["system_fingerprint"]) == ("sandbox/sharp", WORD)
    usage = content["usage"]
    assert usage["prompt_tokens"] + usage["completion_tokens"] == usage["total_tokens"]
    (choice,) = content["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert "no model" in choice["message"]["content"]
    (call,) = choice["message"]["tool_calls"]
    assert call["type"] == "function"
    assert call["id"].startswith("call_")
    assert json.loads(call["function"]["arguments"]) == {"query": "Will it snow on day 1?"}


def test_the_same_conversation_has_the_same_reply(chat: httpx.Client) -> None:
    for name in NAMES:
        assert asked(chat, model=f"sandbox/{name}").content == asked(chat, model=f"sandbox/{name}").content
    # A name is known with and without its prefixes.
    for named in ("sandbox/noisy", "noisy", "openai/sandbox/noisy"):
        assert asked(chat, model=named).json()["model"] == "sandbox/noisy"


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"model": "gpt-5"}, 404),
        ({"model": None}, 404),
        ({"messages": []}, 400),
        ({"messages": "hello"}, 400),
        ({"messages": ["hello"]}, 400),
        ({"stream": True}, 400),
        ({"tools": "all"}, 400),
        ({"tools": [{"type": "function"}]}, 400),
    ],
)
def test_what_cannot_be_answered_is_refused_in_the_providers_form(
    chat: httpx.Client, body: dict[str, object], status: int
) -> None:
    reply = asked(chat, **body)
    assert reply.status_code == status
    assert reply.json()["error"]["message"]


def test_a_body_that_is_no_json_and_a_path_that_is_none_are_refused(chat: httpx.Client) -> None:
    assert chat.post("/chat/completions", content=b"{").status_code == 400
    assert chat.post("/completions", json={}).status_code == 404
    assert chat.get("/nothing").status_code == 404


def test_the_list_of_models_says_what_they_are(chat: httpx.Client) -> None:
    rows = chat.get("/models").json()["data"]
    assert [row["id"] for row in rows] == [f"sandbox/{name}" for name in NAMES]
    assert all(row["owned_by"] == WORD for row in rows)


def test_a_forced_tool_is_called_whatever_was_planned(chat: httpx.Client) -> None:
    choice = {"type": "function", "function": {"name": "final_answer"}}
    reply = asked(chat, tools=TOOLS[2:], tool_choice=choice).json()["choices"][0]["message"]
    assert reply["tool_calls"][0]["function"]["name"] == "final_answer"


@pytest.mark.parametrize("name", NAMES)
def test_a_probe_for_tool_calls_gets_one_that_fits_its_schema(chat: httpx.Client, name: str) -> None:
    schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    probe = [{"type": "function", "function": {"name": "ping", "parameters": schema}}]
    messages = [{"role": "user", "content": "Call ping."}]
    message = asked(chat, model=f"sandbox/{name}", tools=probe, messages=messages).json()["choices"][0]["message"]
    assert message["tool_calls"][0]["function"] == {"name": "ping", "arguments": '{"number": 1}'}


def test_without_tools_the_answer_is_one_json_object(chat: httpx.Client) -> None:
    choice = asked(chat, tools=None).json()["choices"][0]
    assert choice["finish_reason"] == "stop"
    assert json.loads(choice["message"]["content"])["market_decisions"][0]["market_id"] == "1"
    # Without markets it says what it is.
    message = asked(chat, tools=None, messages=[{"role": "user", "content": "Hi"}]).json()["choices"][0]["message"]
    assert WORD in message["content"]


def breakage(reply: httpx.Response) -> str:
    """Return which of the ways of failing a reply of `broken` is."""
    if reply.status_code == 429:
        return "rate_limited"
    choice = reply.json()["choices"][0]
    message = choice["message"]
    if message.get("refusal"):
        return "refusing"
    if choice["finish_reason"] == "length":
        return "truncated"
    if not message.get("tool_calls"):
        return "empty"
    try:
        json.loads(message["tool_calls"][0]["function"]["arguments"])
    except ValueError:
        return "malformed"
    return "out_of_range"


def test_broken_fails_in_every_way_and_always_in_the_same_one_for_a_prompt(chat: httpx.Client) -> None:
    seen = {}
    for number in range(60):
        replies = [asked(chat, model="sandbox/broken", messages=prompt(number)) for _ in range(2)]
        assert replies[0].content == replies[1].content
        seen[breakage(replies[0])] = replies[0]
    assert set(seen) == set(BREAKAGES)
    assert int(seen["rate_limited"].headers["retry-after"]) >= 3_600


def test_text_in_parts_is_read_as_text(chat: httpx.Client) -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": prompt()[1]["content"]}]}]
    assert asked(chat, messages=parts).json()["choices"][0]["finish_reason"] == "tool_calls"


@pytest.mark.parametrize("text", ["x", "-1", "nan", "61", "inf"])
def test_a_time_to_think_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="thinking_seconds"):
        parse_options(f"thinking_seconds={text}")


def test_thinking_takes_the_time_it_is_told_to() -> None:
    options = parse_options("events=3,thinking_seconds=0.3")
    with SandboxServer(now=SANDBOX_OPENS_AT, options=options) as server:
        reply = httpx.get(f"{server.chat_url}/models", trust_env=False)
    assert reply.elapsed.total_seconds() >= 0.3


def test_the_faults_of_the_venue_can_befall_the_forecasters() -> None:
    options = parse_options("events=3,fault=server_error,times=1,path=/v1/")
    body = {"model": "sandbox/lazy", "messages": prompt(), "tools": TOOLS}
    with SandboxServer(now=SANDBOX_OPENS_AT, options=options) as server:
        url = f"{server.chat_url}/chat/completions"
        assert [httpx.post(url, json=body, trust_env=False).status_code for _ in range(2)] == [500, 200]
