"""litellm as predibot uses it: imported late, silent, without network access of its own, its prices checked."""

import logging
import math
import os
import time
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import httpx

from predibot._context import set_within
from predibot.agents.budget.price import TokenPrice
from predibot.agents.models.background_models import searches_by_itself, works_in_background
from predibot.agents.models.clients.chat_wire import error_of, json_or_none, load_json, parse_count
from predibot.domain.chat import Usage
from predibot.net.json_client import MAX_BYTES, open_client

IMPLAUSIBLE_USD_PER_TOKEN = 0.001
"""The table has chat models at $0.20 a token; the dearest real one costs $0.0006."""
KEEPS_TASKS = "anthropic"
"""The provider with a cache for the task: writing it costs more once, then reading costs a tenth each turn."""
_SENT_BEFORE: ContextVar[float] = ContextVar("sent_before", default=math.inf)
_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")
_OTHER_TARIFFS = ("priority", "flex", "batch", "audio", "image", "video", "character", "second", "1hr")


def load_litellm() -> Any:
    """Import litellm and configure it: silent, private, and without retries. It takes 2 to 4 s and 200 MB."""
    # litellm reads these two from the environment on import, and in no other way. They keep it from fetching a price
    # table and from reading an .env file of the current folder.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # noqa: TID251
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")  # noqa: TID251
    import litellm

    # Warnings about unknown answers, such as a cost that is an object, about its own types, and about streams.
    for message in ("Pydantic serializer warnings", "Item '.*' on TypedDict class", "Accessing the 'model_"):
        warnings.filterwarnings("ignore", message=message)
    if litellm.client_session is None:
        litellm.suppress_debug_info = True
        litellm.telemetry = False
        litellm.num_retries = 0
        for name in _LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        # For everything that litellm sends through OpenAI's library, requests to base URLs included.
        hooks = {"request": [_require_time], "response": [_limit_response, _restore_status]}
        headers = {"accept-encoding": "identity"}
        litellm.client_session = open_client(headers=headers, event_hooks=hooks, timeout=600.0)
        _bind_other_clients(litellm)
    return litellm


def _bind_other_clients(litellm: Any) -> None:
    """Keep litellm's other clients from following redirects, with keys, and from late calls. litellm has no setting for
    this, so the one function that makes these clients is wrapped.
    """
    from litellm.llms.custom_httpx import http_handler

    handlers: Any = http_handler.HTTPHandler
    made = handlers.create_client

    def create_client(handler: Any) -> httpx.Client:
        client: httpx.Client = made(handler)
        client.follow_redirects = False
        client.event_hooks = {**client.event_hooks, "request": [_require_time], "response": [_restore_status]}
        return client

    handlers.create_client = create_client
    litellm.module_level_client.client.follow_redirects = False


def send_deadline(instant: float) -> AbstractContextManager[None]:
    """In this block and thread, keep litellm from sending anything at or after an instant of `time.monotonic`. litellm
    may take seconds before its first call is sent; its caller has given up by then.
    """
    return set_within(_SENT_BEFORE, instant)


def _require_time(request: httpx.Request) -> None:
    """Refuse a late request, in the same way as a connection that timed out."""
    if time.monotonic() >= _SENT_BEFORE.get():
        raise httpx.ConnectTimeout("no time was left, so that nothing was sent", request=request)


def openai_error() -> type[Exception]:
    """Return the base class of litellm's errors, which is OpenAI's."""
    import openai

    return openai.OpenAIError


def knows_provider(name: str) -> bool:
    """Return whether litellm knows the provider of a model."""
    litellm = load_litellm()
    # Asked for more, litellm would fetch a token of some providers.
    if name.partition("/")[0] in litellm.provider_list:
        return True
    try:
        litellm.get_llm_provider(name)
    except openai_error():
        return False
    return True


def table_price(name: str) -> TokenPrice | None:
    """Return the dearest price of a model's tokens by litellm's table; None if it is unknown or implausible. A price of
    zero is more often an error of the table than a gift; one above $1,000 a million tokens always is an error.
    """
    entry = _entry(load_litellm().model_cost, name)
    input_usd = _dearest(entry, "input_cost_per_token")
    if entry.get("litellm_provider") == KEEPS_TASKS:
        input_usd = max(input_usd, _dearest(entry, "cache_creation_input_token_cost"))
    output_usd = max(_dearest(entry, "output_cost_per_token"), _dearest(entry, "output_cost_per_reasoning_token"))
    if not all(0.0 < usd <= IMPLAUSIBLE_USD_PER_TOKEN for usd in (input_usd, output_usd)):
        return None
    # A model that searches by itself is charged for each call, or for each search if it makes many.
    fees = (entry.get("search_context_cost_per_query") or {}) if searches_by_itself(name) else {}
    fee_usd = max((float(fee) for fee in fees.values()), default=0.0)
    fee: dict[str, Any] = {"search_usd": fee_usd or None} if works_in_background(name) else {"call_usd": fee_usd}
    return TokenPrice(input_usd * 1e6, output_usd * 1e6, source="litellm", **fee)


def table_tokens(name: str, limit: str) -> int | None:
    """Return `max_input_tokens` or `max_output_tokens` of a model by litellm's table, or None."""
    most = _entry(load_litellm().model_cost, name).get(limit)
    return most if isinstance(most, int) and most > 0 else None


def table_takes_schema(name: str) -> bool | None:
    """Return whether a model supports answers by a JSON schema, by litellm's table, or None."""
    takes = _entry(load_litellm().model_cost, name).get("supports_response_schema")
    return takes if isinstance(takes, bool) else None


def table_usd(name: str, usage: Usage) -> float | None:
    """Return the cost of a call by litellm's table, or None if a part of it is unknown."""
    price = table_price(name)
    sent, came = usage.input_tokens, usage.output_tokens
    if price is None or sent is None or came is None or not price.covers(usage.searches):
        return None
    asked_usd, answered_usd = load_litellm().cost_per_token(
        model=name,
        prompt_tokens=sent,
        completion_tokens=came,
        cache_read_input_tokens=usage.cached_tokens,
        cache_creation_input_tokens=parse_count(usage.raw.get("cache_creation_input_tokens")) or 0,
    )
    return float(asked_usd + answered_usd + price.call_usd + (usage.searches or 0) * (price.search_usd or 0.0))


def _entry(table: Mapping[str, Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    """Return the table's entry for a model, under its whole name or under the part after the provider."""
    if name in table:
        return table[name]
    provider, _, bare = name.partition("/")
    entry = table.get(bare, {})
    return entry if str(entry.get("litellm_provider", "")).startswith(provider) else {}


def _dearest(entry: Mapping[str, Any], prefix: str) -> float:
    """Return the highest of a price and its tiers for long contexts, without tariffs that are never requested."""
    prices = [
        price
        for name, price in entry.items()
        if name.startswith(prefix) and not any(word in name for word in _OTHER_TARIFFS) and isinstance(price, float)
    ]
    return max(prices, default=0.0)


class _BoundedStream(httpx.SyncByteStream):
    """A body that is refused once it is too long."""

    def __init__(self, stream: httpx.SyncByteStream) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        length = 0
        for piece in self._stream:
            length += len(piece)
            if length > MAX_BYTES:
                raise httpx.DecodingError(f"more than {MAX_BYTES:,} bytes")
            yield piece

    def close(self) -> None:
        self._stream.close()


def _limit_response(response: httpx.Response) -> None:
    """Bound a response before it is read, refuse a compressed one, and decode its JSON within our bounds."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx.DecodingError("compressed, which was not asked for")
    if isinstance(response.stream, httpx.SyncByteStream):
        response.stream = _BoundedStream(response.stream)
    response.json = lambda **_: load_json(response.content)  # type: ignore[method-assign]


def _restore_status(response: httpx.Response) -> None:
    """Give an error that comes as a success its status, so that litellm keeps its message."""
    if response.is_success and "json" in response.headers.get("content-type", ""):
        status, _ = error_of(json_or_none(response.read())) or (None, "")
        response.status_code = status or response.status_code
