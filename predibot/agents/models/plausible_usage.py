"""Plausibility: which counts of tokens can be true of what was sent and of what came."""

import re
from dataclasses import replace

from predibot.agents.budget.worst_case import input_tokens_bound
from predibot.agents.models.chat_wire import count_of
from predibot.domain.chat import ChatReply, ChatRequest, Usage

MOST_OUTPUT_TIMES = 4
"""Of what was asked for: some servers stop late, or leave a model's thoughts out of what they bound."""
MOST_BYTES_A_TOKEN = 32
"""Over a whole text without its runs; real tokenizers come to 3 to 6, in any language."""
MOST_BYTES_A_TOKEN_OF_A_RUN = 256
"""Of one character again and again; the longest such tokens known are 128 spaces."""
_MOST_BYTES_A_CHARACTER = 4
_CACHED = ("cache_read_input_tokens", "cache_creation_input_tokens")
"""What some count beside the input, not in it."""
_UTF_8 = ("utf-8", "surrogatepass")
_RUN = re.compile(r"(.)\1+")


def plausible_usage(reply: ChatReply, request: ChatRequest, *, reads_more: bool = False) -> tuple[Usage, str]:
    """Return a reply's usage without the counts that cannot be, and a sentence about each of these.

    Args:
        reads_more: Whether the model reads what it was not sent, so that no count of input tokens is too high.
    """
    usage, most_came = stated_usage(reply, request), MOST_OUTPUT_TIMES * request.max_output_tokens
    most_sent = None if reads_more else input_tokens_bound(request)
    sent, came = usage.input_tokens, usage.output_tokens
    sent_doubt = _doubt("input", sent, _least_sent(request, sent), most_sent)
    came_doubt = _doubt("output", came, _least_came(reply), most_came)
    usage = replace(usage, input_tokens=None if sent_doubt else sent, output_tokens=None if came_doubt else came)
    return usage, " ".join(filter(None, (sent_doubt, came_doubt)))


def stated_usage(reply: ChatReply, request: ChatRequest) -> Usage:
    """Return what was counted; input that is too little without them, together with the tokens read from a cache."""
    usage = reply.usage
    if usage.input_tokens is None or usage.input_tokens >= _least_sent(request, usage.input_tokens):
        return usage
    cached = sum(count_of(usage.raw.get(name)) or 0 for name in _CACHED)
    return replace(usage, input_tokens=usage.input_tokens + cached)


def least_usage(reply: ChatReply, request: ChatRequest) -> Usage:
    """Return the fewest tokens that the texts of a request and its reply can be, tools and templates left out."""
    return Usage(_least_sent(request), _least_came(reply))


def _least_sent(request: ChatRequest, counted: int | None = None) -> int:
    """Return the fewest tokens of what was sent, or something below a count where that is surely enough.

    The texts of a long conversation are read only where a count is doubtful.
    """
    texts = [each.text for each in request.messages]
    bound = max(1, _MOST_BYTES_A_CHARACTER * (sum(map(len, texts)) + len(texts)) // MOST_BYTES_A_TOKEN)
    return bound if counted is not None and counted >= bound else _least_tokens("\n".join(texts))


def _least_came(reply: ChatReply) -> int:
    calls = (call.name + call.arguments_json for call in reply.message.tool_calls)
    return _least_tokens("".join((reply.message.text, *calls)))


def _least_tokens(text: str) -> int:
    if not text:
        return 0
    without_runs = _RUN.sub(r"\1", " ".join(text.split()))
    return max(
        1,
        len(without_runs.encode(*_UTF_8)) // MOST_BYTES_A_TOKEN,
        len(text.encode(*_UTF_8)) // MOST_BYTES_A_TOKEN_OF_A_RUN,
    )


def _doubt(which: str, tokens: int | None, least: int, most: int | None) -> str:
    if tokens is None or (least <= tokens and (most is None or tokens <= most)):
        return ""
    why = f"more than {most:,}, the most" if tokens > least else f"fewer than {least:,}, the least"
    return f"A count of {tokens:,} {which} tokens is not believed: {why} that the call can have."
