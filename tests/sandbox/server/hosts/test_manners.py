"""Manners of the sandbox's forecasters: what they refuse, and what they wrap."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from predibot.agents.models.clients.chat_completions import read_stream
from predibot.net.json_client import HttpAnswer
from predibot.sandbox.server.hosts.chat import answer_chat
from predibot.sandbox.server.hosts.manners import MANNERS, THOUGHT, ModelManners
from predibot.sandbox.server.options import parse_options
from predibot.sandbox.server.reply import HttpReply

PING = {"type": "function", "function": {"name": "ping", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "c1", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
USER, CALLING, TOLD = (
    {"role": "user", "content": "Call ping."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "content": "pong", "tool_call_id": "c1"},
)


def asked(manner: str, *more: dict[str, Any], **body: object) -> HttpReply:
    whole = {"model": "sandbox/sharp", "messages": [USER, *more], "tools": [PING], **body}
    answer = partial(answer_chat, "/chat/completions", now_seconds=0)
    return ModelManners.parse([manner]).handle(json.dumps(whole).encode(), answer)


def choice(reply: HttpReply) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply.body)["choices"][0]
    return found


@pytest.mark.parametrize(
    ("manner", "reply", "status", "said"),
    [
        ("stream_only", asked("stream_only"), 400, "only support stream mode"),
        ("a tool", asked("thinking_refuses_forced_tools", tool_choice="required"), 400, "does not support this tool_"),
        ("state", asked("wants_state_back", CALLING, TOLD), 400, "`reasoning_content` in the thinking mode must be"),
        ("a user twice", asked("strict_roles", USER), 500, "roles must alternate"),
        ("a user after a tool", asked("strict_roles", CALLING, TOLD, USER), 500, "roles must alternate"),
    ],
)
def test_what_a_provider_refuses_is_refused_in_its_words(manner: str, reply: HttpReply, status: int, said: str) -> None:
    assert reply.status == status, manner
    assert said in json.loads(reply.body)["error"]["message"]


def test_what_it_wants_is_answered() -> None:
    back = {**CALLING, "reasoning_content": THOUGHT}
    assert choice(asked("wants_state_back", back, TOLD))["message"]["reasoning_content"] == THOUGHT
    assert asked("thinking_refuses_forced_tools", tool_choice="auto").status == 200
    assert asked("strict_roles", CALLING, TOLD).status == 200


def test_a_stream_comes_to_the_same_answer() -> None:
    reply = asked("stream_only", stream=True)
    whole = read_stream(HttpAnswer("POST /x", reply.status, {"content-type": reply.content_type}, reply.body))
    plain = json.loads(asked("think_tags").body)
    assert whole["choices"][0]["message"]["tool_calls"][0]["function"] == CALL["function"]
    assert whole["usage"]["prompt_tokens"] == plain["usage"]["prompt_tokens"]


def test_thoughts_stand_before_an_answer_and_calls_are_text() -> None:
    assert choice(asked("think_tags"))["message"]["content"].startswith(f"<think>\n{THOUGHT}\n</think>\n\nI am a ")
    written = choice(asked("text_calls"))
    assert written["finish_reason"] == "stop"
    assert written["message"]["content"].endswith('<tool_call>\n{"name": "ping", "arguments": {}}\n</tool_call>')
    assert "tool_calls" not in written["message"]


@pytest.mark.parametrize(("most", "reason", "came"), [(4_096, "length", 4_096), (16_000, "tool_calls", 6_060)])
def test_thoughts_count_and_an_answer_behind_them_may_be_cut_off(most: int, reason: str, came: int) -> None:
    body = json.loads(asked("thinks_first=6000", max_tokens=most).body)
    assert body["choices"][0]["finish_reason"] == reason
    assert body["usage"]["completion_tokens"] == pytest.approx(came, abs=60)
    assert ("tool_calls" in body["choices"][0]["message"]) == (reason == "tool_calls")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fault=think_tag", "did you mean 'think_tags'?"),
        ("fault=thinks_first", "is written as thinks_first=6000"),
        ("fault=thinks_first=0", "from 1 to 100,000, got '0'"),
        ("fault=think_tags=3", "'think_tags' is no manner, or"),
        ("fault=think_tags,times=3", "'times' needs a fault"),
        ("fault=slow+rate_limit", "one fault beside the manners of its forecasters"),
    ],
)
def test_a_manner_that_is_none_is_named(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        parse_options(text)


def test_several_manners_and_a_fault_go_together() -> None:
    options = parse_options("fault=slow+stream_only+thinks_first=6000,times=2")
    assert options.manners == ModelManners(frozenset({"stream_only", "thinks_first"}), 6_000)
    assert options.fault is not None
    assert (options.fault.kind, options.fault.times) == ("slow", 2)


def test_the_page_names_every_manner() -> None:
    page = (Path(__file__).parents[4] / "docs/venues.md").read_text("utf-8")
    for name, what in MANNERS.items():
        assert f"| `{name}{'=6000' if name == 'thinks_first' else ''}` | {what} |" in page
