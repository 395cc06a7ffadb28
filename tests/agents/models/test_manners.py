"""Manners: what a model was found to want or refuse, and how it is asked then."""

import json
from dataclasses import replace
from typing import Any

import pytest

from predibot.agents.models.clients.chat_wire import parse_count, read_answer, request_body
from predibot.agents.models.manners import Manners, error_words
from predibot.domain.chat import ChatRequest, Message, ToolCall
from predibot.sandbox.server.hosts.manners import THOUGHT
from tests.agents.clients import HELLO, PING
from tests.agents.providers.dialects import SIGNATURE

STATE = json.dumps(
    [{"model": "m", "reasoning_content": THOUGHT}, {"extra_content": {"google": {"thought_signature": SIGNATURE}}}]
)
TALK = ChatRequest(
    (
        Message("system", "Be careful."),
        Message("user", "Will it rain?"),
        Message("assistant", "", (ToolCall("c1", "ping", "{}"),), state_json=STATE),
        Message("tool", "pong", tool_call_id="c1"),
        Message("user", "Two searches so far."),
        Message("user", "Hand in your answer now."),
    ),
    (PING,),
    max_output_tokens=16_000,
)


def wire(manners: Manners, request: ChatRequest = TALK) -> list[dict[str, object]]:
    body = request_body(manners.fit(request)[0], "m", manners)
    return body["messages"]  # type: ignore[return-value]


def after(said: str, request: ChatRequest = TALK, *, status: int = 400, known: Manners | None = None) -> Manners:
    """Return what is known after a refusal that is learned."""
    found = (known or Manners("m")).learn(said, request, status=status)
    assert found is not None
    return found


def test_thoughts_are_sent_back_word_for_word_to_whom_documents_it_and_to_nobody_else() -> None:
    assert "reasoning_content" not in wire(Manners.of("m"))[2]
    for name in ("openai/deepseek-v4-pro", "moonshot/kimi-k2-thinking"):
        assert wire(replace(Manners.of(name), model="m"))[2]["reasoning_content"] == THOUGHT
    # A signature of a call goes back with its call.
    calls: Any = wire(Manners("m"))[2]["tool_calls"]
    assert calls[0]["extra_content"]["google"]["thought_signature"] == SIGNATURE


@pytest.mark.parametrize("thought", ["", "hm"])
def test_an_empty_thought_is_kept_and_is_none(thought: str) -> None:
    message = {"role": "assistant", "content": "yes", "reasoning_content": thought}
    reply = read_answer({"choices": [{"message": message}]}, "m")
    assert json.loads(reply.message.state_json)[0]["reasoning_content"] == thought
    assert reply.has_reasoning is bool(thought)


@pytest.mark.parametrize(
    ("beside", "kept"),
    [
        ({"thought_signatures": ["s"], "refusal": None}, {"provider_specific_fields": {"thought_signatures": ["s"]}}),
        ({"refusal": None, "reasoning_details": [{"text": "hm"}]}, {"reasoning_details": [{"text": "hm"}]}),
        ({"refusal": None}, {}),
    ],
)
def test_of_what_litellm_keeps_beside_a_message_signatures_and_thoughts_are_state(
    beside: dict[str, object], kept: dict[str, object]
) -> None:
    message = {"role": "assistant", "content": "yes", "provider_specific_fields": beside}
    state_json = read_answer({"choices": [{"message": message}]}, "m").message.state_json
    assert json.loads(state_json or "[{}]")[0] == ({"model": "m", **kept} if kept else {})


def test_state_of_another_model_is_sent_to_none() -> None:
    assert set(wire(Manners.of("openai/deepseek-v4-pro"))[2]) == {"role", "content", "tool_calls"}
    assert set(wire(Manners.of("another"))[2]["tool_calls"][0]) == {"id", "type", "function"}  # type: ignore[index]


@pytest.mark.parametrize("words", ["reasoning_content is missing", "The `reasoning_content` must be passed back"])
def test_a_field_is_learned_both_ways_and_once(words: str) -> None:
    wanted = after(words)
    assert wire(wanted)[2]["reasoning_content"] == THOUGHT
    assert wanted.learn(words, TALK) is None
    refused = after("property 'reasoning_content' is unsupported", known=replace(Manners.of("deepseek"), model="m"))
    assert "reasoning_content" not in wire(refused)[2]
    assert refused.learn(words, TALK) is None


def test_a_turns_state_is_kept_whole_or_not_at_all() -> None:
    def state(thought: str) -> str:
        message = {"role": "assistant", "content": "yes", "reasoning_content": thought, "audio": {"id": 1}}
        return read_answer({"choices": [{"message": message}]}, "m").message.state_json

    assert state("a \ud83d b") == json.dumps([{"model": "m", "reasoning_content": "a \ufffd b"}], ensure_ascii=False)
    assert (state("x" * 199_000) != "", state("x" * 201_000)) == (True, "")


@pytest.mark.parametrize(
    "thought",
    [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "thinking", "text": "hm"},
        {"type": "reasoning", "text": "hm", "summary": [{"type": "summary_text", "text": "hm"}]},
    ],
)
def test_a_part_of_a_content_that_is_a_thought_is_not_said(thought: dict[str, object]) -> None:
    parts = [thought, {"type": "text", "text": "y"}, {"type": "output_text", "text": "es"}]
    for content, said in ((parts, "yes"), ([thought, "y", "es"], "yes"), (parts[1], "y"), (thought, "")):
        answer = {"choices": [{"message": {"role": "assistant", "content": content}}]}
        assert read_answer(answer, "m").message.text == said


def test_the_empty_object_before_a_calls_arguments_is_left_out() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "web_search", "arguments": '{}{"query": "rain"}'}}
    (read,) = read_answer({"choices": [{"message": {"content": None, "tool_calls": [call]}}]}, "m").message.tool_calls
    assert read.arguments_json == '{"query": "rain"}'


def test_an_answer_says_how_long_it_could_be_where_that_is_less_than_was_asked_for() -> None:
    known = replace(Manners("m"), most_tokens=8_192)
    assert (known.own_token_limit(TALK), known.fit(TALK)[0].max_output_tokens) == (8_192, 8_192)
    assert known.own_token_limit(replace(TALK, max_output_tokens=500)) is None


def test_roles_alternate_on_the_wire() -> None:
    assert [each["role"] for each in wire(Manners("m"))] == ["system", "user", "assistant", "tool", "user"]
    assert wire(Manners("m"))[-1]["content"] == "Two searches so far.\n\nHand in your answer now."
    twice = ChatRequest((Message("user", "a"), Message("assistant", "b"), Message("assistant", "c")))
    assert [each["content"] for each in wire(Manners("m"), twice)] == ["a", "b\n\nc"]


@pytest.mark.parametrize(
    "words", ["Unexpected role 'user' after role 'tool'", "conversation roles must alternate user/assistant"]
)
def test_what_a_user_says_after_a_tool_ends_what_the_tool_said(words: str) -> None:
    sent = wire(after(words, status=500))
    assert sent[-1] == {
        "role": "tool",
        "content": "pong\n\nTwo searches so far.\n\nHand in your answer now.",
        "tool_call_id": "c1",
    }


@pytest.mark.parametrize(
    "words",
    [
        "System role not supported",
        "Developer instruction is not enabled for gemma",
        "role 'system' is unknown",
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        "Only user, assistant and tool roles are supported!",
    ],
)
def test_a_refused_system_role_goes_into_the_users_turn(words: str) -> None:
    assert wire(after(words))[0] == {"role": "user", "content": "Be careful.\n\nWill it rain?"}


def test_roles_that_alternate_without_a_tools_turn_leave_no_place_for_a_system() -> None:
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    plain = replace(TALK, messages=TALK.messages[:2])
    assert [each["role"] for each in wire(after(words, plain), plain)] == ["user"]
    first = after(words)
    assert [each["role"] for each in wire(first)] == ["system", "user", "assistant", "tool"]
    assert [each["role"] for each in wire(after(words, known=first))] == ["user", "assistant", "tool"]


@pytest.mark.parametrize(
    ("words", "most"),
    [
        ("max_tokens is too large: 16000. This model supports at most 4096 completion tokens", 4096),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
        ("max_tokens: 16000 > 8192, which is the maximum for claude-3-5-sonnet-20241022", 8192),
        ("`max_tokens` must be less than or equal to `8,192`", 8192),
        ("'max_tokens' is too large: 16000. This model's maximum context length is 8192 tokens", 4096),
        *(
            (words, 8_192)
            for words in (
                "'max_tokens' is too large: 16000. This model's maximum context length is 16384 tokens and your "
                "request has 1807 input tokens (16000 > 16384 - 1807).",
                "This model's maximum context length is 16384 tokens. However, your request has 1807 input tokens plus "
                "16000 'max_tokens'. Please reduce one or the other.",
                "This model's maximum context length is 16384 tokens. However, you requested 17807 tokens (1807 in the "
                "messages, 16000 in the completion). Please reduce the length of the messages or completion.",
                "Requested token count exceeds the model's maximum context length of 16,384 tokens. You requested a "
                "total of 17807 tokens: 1807 tokens from the input messages and 16000 tokens for the completion.",
                "`inputs` tokens + `max_new_tokens` must be <= 16384. Given: 1807 tokens and 16000 `max_new_tokens`",
            )
        ),
    ],
)
def test_the_longest_answer_a_model_writes_is_learned_from_its_refusal(words: str, most: int) -> None:
    fitting, _ = after(words).fit(TALK)
    assert fitting.max_output_tokens == most
    assert after(words).fit(replace(TALK, max_output_tokens=100))[0].max_output_tokens == 100


def test_a_context_that_has_room_for_the_answer_twice_is_no_limit_of_it() -> None:
    words = (
        "maximum context length is 32768 tokens. However, you requested 36000 tokens (20000 in the messages, 16000 in"
    )
    assert Manners("m").learn(f"{words} the completion)", TALK) is None
    assert Manners("m").learn("the request exceeds the available context size (8192 tokens)", TALK) is None
    assert Manners("m").learn(f"max_tokens exceeds {'9' * 5_000}", TALK) is None


def test_a_name_that_is_refused_is_no_limit() -> None:
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    assert request_body(TALK, "m", after(words))["max_completion_tokens"] == 16_000


def test_another_status_other_words_and_state_that_no_turn_has_teach_nothing() -> None:
    assert Manners("m").learn("reasoning_content is missing", HELLO) is None
    words = "Thinking mode does not support this tool_choice"
    forced = replace(TALK, forced_tool="ping")
    assert Manners("m").learn(words, forced, status=401) is Manners("m").learn("no", forced) is None
    assert Manners("m").learn(words, TALK) is None


def test_what_is_refused_for_ever_ends() -> None:
    known: Manners | None = Manners("m")
    words = "max_tokens, seed, reasoning_content, tool_choice, stream, system role, roles must alternate: 5 at most"
    lessons = -1
    while known is not None:
        known, lessons = known.learn(words, replace(TALK, forced_tool="ping", seed=1)), lessons + 1
    assert lessons < 12


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('[{"error": {"code": 400, "message": "Unknown name \\"seed\\""}}]', 'Unknown name "seed"'),
        ('{"error": {"message": "no", "param": "temperature"}}', "temperature: no"),
        ('{"error": "gemma does not support tools"}', "gemma does not support tools"),
        ('{"object": "error", "message": "too long"}', "too long"),
        ('{"Message": "too long"}', "too long"),
        ('{"type": "about:blank", "title": "too long", "status": 400}', "too long"),
        ('{"base_resp": {"status_code": 2013, "status_msg": "invalid params, seed"}}', "invalid params, seed"),
        ('{"detail": [{"loc": ["body", 1, "seed"], "msg": "no", "input": {"top_p": 1}}]}', "body: seed: no"),
        ('{"success": false, "errors": [{"code": 5006, "message": "no seed"}]}', "no seed"),
        ('{"error": [{"message": "no"}, {"msg": "no seed"}]}', "no: no seed"),
        ('{"title": "no", "errors": {"seed": ["is unknown"], "$.top_k": ["no"]}}', "no: seed: is unknown: $.top_k: no"),
        ('{"fault": {"faultstring": "no seed", "detail": {"errorcode": "x"}}}', "no seed"),
        ('{"error": "invalid_request", "error_description": "no seed"}', "no seed: invalid_request"),
        ('{"Response": {"Error": {"Code": "x", "Message": "no seed"}}}', "no seed"),
        ('{"status": {"code": "40001", "message": "no seed"}}', "no seed"),
        ('{"error": {"message": "no", "issues": [{"path": ["seed"], "message": "unknown"}]}}', "no: unknown: seed"),
        ('{"error": {"message": "no", "details": [{"fieldViolations": [{"field": "seed"}]}]}}', "no: seed"),
        ('{"error": {"message": "{\\"error\\": {\\"param\\": \\"seed\\"}}", "code": 400}}', "seed"),
        ('{"error": {"message": "no", "metadata": {"raw": "{\\"detail\\": \\"no seed\\"}"}}}', "no: no seed"),
        ('{"error": {"message": "no", "metadata": {"raw": "no seed", "provider_name": "top_p"}}}', "no: no seed"),
        ("unknown field `seed` at line 1", "unknown field `seed` at line 1"),
        ('"no seed"', "no seed"),
        *[('{"error": ' * deep + "1" + "}" * deep, "") for deep in (400, 900, 100_000)],
        ("[]", ""),
        ("[1]", ""),
        ("<html>seed</html>", ""),
    ],
)
def test_an_error_is_read_in_every_form_that_is_known(body: str, words: str) -> None:
    assert error_words(body) == words


def test_a_count_may_be_written_with_a_point() -> None:
    assert parse_count(100.0) == 100
    assert {parse_count(count) for count in (100.5, float("nan"), float("inf"))} == {None}


@pytest.mark.parametrize(
    "words",
    [
        "'response_format.type': value is not one of the allowed values ['text', 'json_object']",
        "Invalid value: 'json_schema'. Supported values are: 'json_object' and 'text'.",
    ],
)
def test_an_answer_is_held_to_be_json_where_a_refused_schema_names_that(words: str) -> None:
    asked = replace(HELLO, answer=PING)
    known = after(words, asked)
    assert request_body(known.fit(asked)[0], "m", known)["response_format"] == {"type": "json_object"}
    known = after("'messages' must contain the word 'json' to use the type 'json_object'", asked, known=known)
    assert "response_format" not in request_body(known.fit(asked)[0], "m", known)
    assert known.learn(words, asked) is None


@pytest.mark.parametrize(
    "words",
    ["This response_format type is unavailable now", "This model does not support response format `json_schema`."],
)
def test_an_answer_is_held_to_nothing_where_a_refused_schema_names_nothing_else(words: str) -> None:
    asked = replace(HELLO, answer=PING)
    known = after(words, asked)
    assert "response_format" not in request_body(known.fit(asked)[0], "m", known)
