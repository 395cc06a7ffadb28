"""The worst case of a request: never below the truth, and close to it once a provider has counted."""

import json

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from predibot.agents.budget.price import TokenPrice
from predibot.agents.budget.worst_case import CountedRequest, count_request, input_tokens_bound, worst_case
from predibot.agents.models.clients.litellm_library import load_litellm
from predibot.domain.chat import ChatRequest, Message, ToolCall, ToolSchema, Usage
from tests.agents.clients import PING

TEXT = st.text(max_size=200)
MESSAGES = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant", "tool"]), TEXT), min_size=1, max_size=6
).map(tuple)


def bytes_of(*messages: Message) -> int:
    """Return a count of tokens by a tokenizer that makes one of every byte: the worst there is."""
    return sum(len(message.text.encode("utf-8", "surrogatepass")) + 4 for message in messages)


@given(MESSAGES)
def test_the_bound_is_not_below_the_worst_tokenizer(messages: tuple[Message, ...]) -> None:
    assert input_tokens_bound(ChatRequest(messages)) >= bytes_of(*messages)


@settings(max_examples=30)
@given(MESSAGES, MESSAGES, st.integers(1, 4))
def test_a_counted_request_makes_the_bound_closer_and_still_a_bound(
    old: tuple[Message, ...], new: tuple[Message, ...], bytes_a_token: int
) -> None:
    """A conversation goes on; old messages are dropped or kept, and tokens have so many bytes."""
    # The same text cannot have fewer tokens the first time than the second, as these counts would have it.
    assume(not set(old) & set(new))
    kept = old[::2]
    before = CountedRequest(ChatRequest(old), -(-bytes_of(*old) // bytes_a_token), 0)
    request = ChatRequest((*kept, *new))
    truth = -(-bytes_of(*kept) // bytes_a_token) + bytes_of(*new)
    assert truth <= input_tokens_bound(request, before) <= input_tokens_bound(request)


@pytest.mark.parametrize(
    "text", ["plain words, more of them", "日本の選挙", "🦆🦆🦆", '{"a": "\\n"}', "x" * 5_000, "ẞ\u200d\x00"]
)
def test_the_bound_holds_for_a_real_tokenizer(text: str) -> None:
    # litellm carries the vocabulary of OpenAI's cl100k_base, so nothing is fetched.
    tokens = load_litellm().encoding.encode(text, disallowed_special=())
    assert 0 < len(tokens) < input_tokens_bound(ChatRequest((Message("user", text),)))


def test_tools_and_calls_count_as_templates_write_them() -> None:
    request = ChatRequest((Message("assistant", "", (ToolCall("c", "ping", '{"word": "\n"}'),)),), (PING,))
    written = json.dumps([PING.name, PING.description, PING.parameters], indent=4)
    bare = input_tokens_bound(ChatRequest((Message("assistant", ""),)))
    assert input_tokens_bound(request) >= bare + len(written)


def test_a_tool_that_is_new_counts_although_the_rest_was_counted() -> None:
    messages = (Message("user", "hi"),)
    before = count_request(ChatRequest(messages, (PING,)), Usage(30, 1))
    other = ToolSchema("other", "x" * 3_000, {})
    assert input_tokens_bound(ChatRequest(messages, (PING, other)), before) >= 3_030
    assert input_tokens_bound(ChatRequest(messages, (PING,)), before) < 200


def test_the_schema_of_an_answer_counts_once() -> None:
    asked = ChatRequest((Message("user", "?"),), answer=PING)
    plain = ChatRequest(asked.messages)
    schema_bytes = len(json.dumps(dict(PING.parameters)))
    assert input_tokens_bound(asked) >= input_tokens_bound(plain) + schema_bytes
    assert input_tokens_bound(asked, count_request(asked, Usage(50, 5))) < 50 + schema_bytes + 64
    assert input_tokens_bound(asked, count_request(plain, Usage(20, 5))) > 20 + schema_bytes


def test_a_count_that_cannot_be_true_is_not_believed_and_the_same_message_twice_counts_twice() -> None:
    page = Message("user", "word " * 1_000)
    once = ChatRequest((page,))
    assert input_tokens_bound(once, CountedRequest(once, 1, 0)) == input_tokens_bound(once)
    before = CountedRequest(once, 1_000, 0)
    assert input_tokens_bound(ChatRequest((page, page)), before) >= 6_000


def test_the_worst_case_by_hand() -> None:
    request = ChatRequest((Message("user", "x" * 920),), max_output_tokens=500)
    worst = worst_case(request, TokenPrice(10.0, 20.0, call_usd=0.01), deadline_seconds=30.0)
    # 64 for the conversation, 16 for the message, 920 for its bytes.
    assert (worst.tokens, worst.steps, worst.seconds) == (1_500, 1, 30.0)
    assert worst.usd == pytest.approx(1_000 * 10e-6 + 500 * 20e-6 + 0.01)
    # An unknown price sets no dollars aside.
    assert worst_case(request, None, deadline_seconds=1.0).usd == 0.0
