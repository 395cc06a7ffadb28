"""The most a request can cost, computed before it is sent."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from predibot.agents.budget.price import TokenPrice
from predibot.domain.budget import Spending
from predibot.domain.chat import ChatRequest, Message, ToolSchema, Usage

REQUEST_TOKENS = 64
"""What a chat template adds to a whole conversation, generously."""
MESSAGE_TOKENS = 16
TOOLS_TOKENS = 1_024
"""What a provider adds as soon as there are tools; the longest known preamble has about 800."""
SEARCHING_CONTEXT_TOKENS = 200_000
"""The context of a model whose searches can be limited; OpenAI's number for deep research."""
MOST_READ_TOKENS, MOST_WRITTEN_TOKENS = 2_000_000, 256_000
"""The longest context and twice the longest answer on the market. They bound what a false count can cost."""
MOST_BYTES_A_TOKEN = 16
"""A count by which a token has more bytes than this is not believed."""


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """A request that was sent, with the input tokens that its provider counted."""

    request: ChatRequest
    input_tokens: int
    tools_bytes: int


def input_tokens_bound(request: ChatRequest, before: CountedRequest | None = None) -> int:
    """Return an upper bound of the request's input tokens.

    Tokenizers make at most one token of each byte in UTF-8, in any language. The number of bytes is the bound, about
    four times the truth for English. Tool calls, tool results and schemas are counted escaped as JSON, as templates
    write them. Constants bound what templates add. If the provider counted an earlier request of the conversation, only
    new messages and tools are bounded in this way and its count stands for the rest. No token spans two messages, so
    one left out since then only lowers the truth.
    """
    whole = REQUEST_TOKENS + sum(map(_message_bytes, request.messages)) + _remembered_tools_bytes(request, before)
    whole += _answer_bytes(request)
    if before is None or before.input_tokens * MOST_BYTES_A_TOKEN < sum(map(_text_bytes, before.request.messages)):
        return whole
    new_messages = (Counter(request.messages) - Counter(before.request.messages)).elements()
    new_tools = [tool for tool in request.tools if tool not in before.request.tools]
    added = REQUEST_TOKENS + sum(map(_message_bytes, new_messages)) + _tools_bytes(new_tools)
    added += 0 if request.answer == before.request.answer else _answer_bytes(request)
    return min(whole, before.input_tokens + added)


def count_request(request: ChatRequest, usage: Usage, before: CountedRequest | None = None) -> CountedRequest | None:
    """Return the request with its count; None if the provider gave none."""
    if usage.input_tokens is None:
        return None
    return CountedRequest(request, usage.input_tokens, _remembered_tools_bytes(request, before))


def worst_case(
    request: ChatRequest, price: TokenPrice | None, *, deadline_seconds: float, before: CountedRequest | None = None
) -> Spending:
    """Return the most one answer to a request can cost.

    A model that searches by itself pays for its whole context after each search, and once more for its report. Without
    a price no dollars are set aside, so the budget must have no limit in dollars (see `require_price`).
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


def spending_by_usage(usage: Usage, price: TokenPrice | None) -> Spending:
    """Return the cost of a provider's counts, even if the request cannot explain them: some models search by
    themselves.
    """
    sent = _count_below(usage.input_tokens, MOST_READ_TOKENS)
    came = _count_below(usage.output_tokens, MOST_WRITTEN_TOKENS)
    usd = 0.0 if price is None else price.usd(sent, came, usage.searches or 0)
    return Spending(usd=usd, tokens=sent + came)


def _count_below(tokens: int | None, most: int) -> int:
    return 0 if tokens is None or tokens > most else tokens


def _message_bytes(message: Message) -> int:
    text_bytes = len(json.dumps(message.text)) if message.role == "tool" else _text_bytes(message)
    calls_bytes = sum(
        MESSAGE_TOKENS + len(json.dumps([call.id, call.name, call.arguments_json])) for call in message.tool_calls
    )
    state_bytes = len(json.dumps(message.state_json)) if message.state_json else 0
    return MESSAGE_TOKENS + text_bytes + calls_bytes + len((message.tool_call_id or "").encode()) + state_bytes


def _text_bytes(message: Message) -> int:
    return len(message.text.encode("utf-8", "surrogatepass"))


def _answer_bytes(request: ChatRequest) -> int:
    # Some providers put the schema into the prompt.
    return 0 if request.answer is None else MESSAGE_TOKENS + len(json.dumps(dict(request.answer.parameters)))


def _remembered_tools_bytes(request: ChatRequest, before: CountedRequest | None) -> int:
    if before is not None and request.tools == before.request.tools:
        return before.tools_bytes
    return _tools_bytes(request.tools)


def _tools_bytes(tools: Iterable[ToolSchema]) -> int:
    """Return the most tokens of tools; some templates indent them."""
    sizes = [
        MESSAGE_TOKENS + _indented_bytes(json.dumps([tool.name, tool.description, dict(tool.parameters)]))
        for tool in tools
    ]
    return TOOLS_TOKENS + 2 * sum(sizes) if sizes else 0


@lru_cache(maxsize=256)
def _indented_bytes(written: str) -> int:
    """Return the length of indented JSON; cached, because all requests of a conversation have the same tools."""
    return len(json.dumps(json.loads(written), indent=4))
