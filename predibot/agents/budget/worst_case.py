"""The most a request can cost, known before it is sent."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from predibot.agents.budget.price import TokenPrice
from predibot.domain.budget import Spending
from predibot.domain.chat import ChatRequest, Message, ToolSchema, Usage

REQUEST_TOKENS = 64
"""What a chat template puts around a whole conversation, generously."""
MESSAGE_TOKENS = 16
"""What it puts around a message: role, begin and end."""
TOOLS_TOKENS = 1_024
"""What a provider says about tools as soon as there are any; the longest known preamble has about 800."""
SEARCHING_CONTEXT_TOKENS = 200_000
"""What a model that can be told how often to search reads at once; OpenAI says it of those for deep research."""
MOST_READ_TOKENS, MOST_WRITTEN_TOKENS = 2_000_000, 256_000
"""Of a call; the longest context and twice the longest answer that are sold, so that more is no hint of what was spent.

What a call is booked at that counts what it cannot have, because a model that searches by itself reads what it was
not sent, and a server may not keep what was asked for: a false count can cost a limited run no more than this for
each call that is under way at once.
"""
MOST_BYTES_A_TOKEN = 16
"""A provider that counts fewer tokens than this means is not believed."""


@dataclass(frozen=True, slots=True)
class Counted:
    """A request that was sent, and the input tokens its provider counted."""

    request: ChatRequest
    input_tokens: int
    tools_bytes: int
    """Of its tools; the next request of the conversation has the same ones."""


def input_tokens_bound(request: ChatRequest, before: Counted | None = None) -> int:
    """Return a number of tokens that the request's input cannot pass.

    Byte-level tokenizers, and those that fall back to bytes, never make more
    tokens than the text has bytes in UTF-8, whatever the language; that is the
    bound, about four times the truth for English. Tool calls, tool results and
    schemas are counted as templates write them, escaped as JSON. What templates
    add is bounded by constants.

    If an earlier request of the conversation was counted by the provider, only
    messages and tools that were not in it are bounded this way and its count is
    taken for the rest: messages are separate to a tokenizer, so what was left
    out since can only make it less.
    """
    whole = REQUEST_TOKENS + sum(map(_message_bytes, request.messages)) + _bytes_of_tools(request, before)
    whole += _answer_bytes(request)
    if before is None or before.input_tokens * MOST_BYTES_A_TOKEN < sum(map(_text_bytes, before.request.messages)):
        return whole
    new_messages = (Counter(request.messages) - Counter(before.request.messages)).elements()
    new_tools = [tool for tool in request.tools if tool not in before.request.tools]
    added = REQUEST_TOKENS + sum(map(_message_bytes, new_messages)) + _tools_bytes(new_tools)
    added += 0 if request.answer == before.request.answer else _answer_bytes(request)
    return min(whole, before.input_tokens + added)


def counted(request: ChatRequest, usage: Usage, before: Counted | None = None) -> Counted | None:
    """Return the request with its count, or None where the provider gave none."""
    if usage.input_tokens is None:
        return None
    return Counted(request, usage.input_tokens, _bytes_of_tools(request, before))


def worst_case(
    request: ChatRequest, price: TokenPrice | None, *, deadline_seconds: float, before: Counted | None = None
) -> Spending:
    """Return the most one answer to a request can cost.

    A model that searches by itself is charged for what it reads: after each
    search, and once more for its report, that can be all it can read at once.

    Args:
        request: What will be sent.
        price: None where it is unknown: no dollars are set aside, and only a
            budget without a limit in dollars may be used (see `require_price`).
        deadline_seconds: How long it may take.
        before: The last request of the conversation that was counted.
    """
    input_tokens = input_tokens_bound(request, before)
    searches = request.max_searches or 0
    if request.max_searches is not None:
        input_tokens = max(input_tokens, (searches + 1) * SEARCHING_CONTEXT_TOKENS)
    return Spending(
        usd=0.0 if price is None else price.usd(input_tokens, request.max_output_tokens, searches),
        tokens=input_tokens + request.max_output_tokens,
        steps=1,
        seconds=deadline_seconds,
    )


def counted_spending(usage: Usage, price: TokenPrice | None) -> Spending:
    """Return what a provider's counts come to, also those that the request cannot have.

    A model that searches by itself, and whose name does not tell, counts what it read and was not sent.
    """
    sent = _possible(usage.input_tokens, MOST_READ_TOKENS)
    came = _possible(usage.output_tokens, MOST_WRITTEN_TOKENS)
    usd = 0.0 if price is None else price.usd(sent, came, usage.searches or 0)
    return Spending(usd=usd, tokens=sent + came)


def _possible(tokens: int | None, most: int) -> int:
    return 0 if tokens is None or tokens > most else tokens


def _message_bytes(message: Message) -> int:
    """Return how many tokens a message can be at most."""
    text_bytes = len(json.dumps(message.text)) if message.role == "tool" else _text_bytes(message)
    calls_bytes = sum(
        MESSAGE_TOKENS + len(json.dumps([call.id, call.name, call.arguments_json])) for call in message.tool_calls
    )
    state_bytes = len(json.dumps(message.state_json)) if message.state_json else 0
    return MESSAGE_TOKENS + text_bytes + calls_bytes + len((message.tool_call_id or "").encode()) + state_bytes


def _text_bytes(message: Message) -> int:
    """Return the length of a message's text in UTF-8."""
    return len(message.text.encode("utf-8", "surrogatepass"))


def _answer_bytes(request: ChatRequest) -> int:
    """Return how many tokens the schema of an answer can be at most, where its provider puts it into the prompt."""
    return 0 if request.answer is None else MESSAGE_TOKENS + len(json.dumps(dict(request.answer.parameters)))


def _bytes_of_tools(request: ChatRequest, before: Counted | None) -> int:
    """Return how many tokens a request's tools can be at most, as worked out before where they are the same."""
    if before is not None and request.tools == before.request.tools:
        return before.tools_bytes
    return _tools_bytes(request.tools)


def _tools_bytes(tools: Iterable[ToolSchema]) -> int:
    """Return how many tokens tools can be at most; some templates indent them."""
    sizes = [
        MESSAGE_TOKENS + _indented_bytes(json.dumps([tool.name, tool.description, dict(tool.parameters)]))
        for tool in tools
    ]
    return TOOLS_TOKENS + 2 * sum(sizes) if sizes else 0


@lru_cache(maxsize=256)
def _indented_bytes(written: str) -> int:
    """Return how long JSON is where it is indented; every request has the tools of the one before."""
    return len(json.dumps(json.loads(written), indent=4))
