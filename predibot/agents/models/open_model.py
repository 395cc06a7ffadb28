"""Opening models by name: which client, key and price a recipe's model gets, and whether it is available at all."""

import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from predibot.agents.budget.price import TokenPrice, dearest
from predibot.agents.models.background_models import works_in_background
from predibot.agents.models.clients.chat_completions import Endpoint, OpenAICompatibleModel
from predibot.agents.models.clients.litellm_library import knows_provider, table_price
from predibot.agents.models.clients.litellm_model import LiteLLMModel, provider_of
from predibot.agents.models.clients.responses import OPENAI_URL, ResponsesModel
from predibot.agents.models.failures import failure_of_status
from predibot.agents.models.manners import error_words
from predibot.agents.models.retry import Retry
from predibot.contracts import ChatModel
from predibot.domain.terms import ModelTerms
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import ApiKeys, Key, host_of, key_names
from predibot.net.failures import LostAnswer, TryAgain, one_line
from predibot.net.json_client import CONNECT_SECONDS

_NO_TERMS = ModelTerms()


def uses_responses_api(name: str, terms: ModelTerms) -> bool:
    """Return whether the Responses API is used, the only one with a limit on searches."""
    return works_in_background(name) and (terms.base_url is None or terms.client == "light")


def open_model(name: str, terms: ModelTerms = _NO_TERMS, *, keys: ApiKeys, retry: Retry) -> ChatModel:
    """Return a model; nothing is sent or imported yet.

    `name` is as litellm names it, or the server at the `base_url` of the terms does. That server speaks the
    chat-completions protocol, or for a model that works in the background the Responses API; it may be private, and
    gets no key unless the terms name the setting of one. Their client is for a `base_url`; without one it is always
    litellm. Raises `UsageError` if the base URL is malformed, or the named key is not set or may not be sent there, and
    `ModelRefused` if the named key is malformed, or a model that works in the background has none.
    """
    base_url, extra_body = terms.base_url, json.loads(terms.settings.extra_body or "{}")
    common: dict[str, Any] = {"retry": retry, "price": recipe_price(name, terms), "extra_body": extra_body}
    is_report = uses_responses_api(name, terms)
    if not is_report and (base_url is None or terms.client == "litellm"):
        sent_name = name if base_url is None else f"openai/{name.removeprefix('openai/')}"
        return LiteLLMModel(
            name, keys=keys, base_url=base_url, key_name=terms.credential, sent_name=sent_name, **common
        )
    key = _light_key(keys, terms)
    if key is None and base_url is None:
        raise ModelRefused(f"{name} needs a key; set {key_names('openai')[0]}")
    kind = ResponsesModel if is_report else OpenAICompatibleModel
    return kind(name, Endpoint(base_url or OPENAI_URL, key=key), **common)


def recipe_price(name: str, terms: ModelTerms) -> TokenPrice | None:
    """Return the price of a model in the recipe, or None."""
    if terms.input_usd_per_million_tokens is None or terms.output_usd_per_million_tokens is None:
        return None
    return TokenPrice(
        terms.input_usd_per_million_tokens,
        terms.output_usd_per_million_tokens,
        search_usd=terms.usd_per_search if works_in_background(name) else None,
        cached_usd_per_million_tokens=terms.cached_usd_per_million_tokens,
    )


@dataclass(frozen=True, slots=True)
class Destination:
    """The host that gets a model's requests, and the key in them."""

    host: str
    key_name: str | None
    key_is_set: bool
    needs_key: bool = False
    """Whether the host is known to require one."""


def model_destination(name: str, terms: ModelTerms, keys: ApiKeys) -> Destination:
    """Return the host of a model's requests and their key; nothing is sent.

    Raises `UsageError` if the named key is not set or may not be sent there, and `ModelRefused` if the key is malformed
    or the model's provider is unknown.
    """
    if terms.base_url is not None:
        return Destination(host_of(terms.base_url), terms.credential, _light_key(keys, terms) is not None)
    if uses_responses_api(name, terms):
        provider, host, key = "openai", host_of(OPENAI_URL), _light_key(keys, terms)
    else:
        provider = provider_of(name)
        host, key = keys.place_of(provider), keys.of_provider(provider, terms.credential)
    name_of_key = key_names(provider)[0] if key is None else key.name
    return Destination(host, name_of_key, key is not None, needs_key=keys.is_own_host(provider, host))


def _light_key(keys: ApiKeys, terms: ModelTerms) -> Key | None:
    """Return the key for a base URL, which gets only a named one, or for OpenAI."""
    if terms.credential:
        return keys.get_named(terms.credential, terms.base_url or OPENAI_URL)
    return None if terms.base_url else keys.find(key_names("openai"), OPENAI_URL)


def worst_price(
    name: str, *, price: TokenPrice | None, base_url: str | None = None, shared: bool = False
) -> TokenPrice | None:
    """Return the dearest price of a model's tokens by the recipe and litellm's table, or None if it is unknown.

    The table knows nothing of the server at a base URL. A price of zero means one's own machine, so the table is not
    read, unless several models share the price and another may be elsewhere. Reading the table imports litellm. For a
    model that works in the background the price of a search must be known too.
    """
    is_beyond_the_table = base_url is not None or (price is not None and price.free and not shared)
    known = price if is_beyond_the_table else dearest(price, table_price(name))
    if known is not None and works_in_background(name) and known.search_usd is None:
        return None
    return known


_NO_LEAVE = ("scope", "permission")
"""In the message to a key that may be used, but may not list models."""


def why_unavailable(name: str, terms: ModelTerms, keys: ApiKeys) -> str:
    """Return why a model is not available, and what to fix; empty if it is, or if only a call would tell.

    A server of the user's own is asked for the model by name, which costs nothing: OpenAI's "Retrieve model", `GET
    /models/{model}`. Servers without that page answer 404 without naming the model, which says nothing. litellm's
    providers are not asked: only an unknown provider or a missing key is found there.
    """
    try:
        at = model_destination(name, terms, keys)
        if terms.base_url is None:
            if at.needs_key:
                return "" if at.key_is_set else f"{name} needs a key; set {at.key_name}"
            unknown = "litellm knows no such provider; write provider/model, such as openai/gpt-5, or set base_url"
            return "" if knows_provider(name) else f"nobody can be asked for {name}: {unknown}"
        key = keys.get_named(terms.credential, terms.base_url) if terms.credential else None
        endpoint = Endpoint(terms.base_url, key=key)
    except (UsageError, ModelRefused) as error:
        return str(error)
    sent_name = name.removeprefix("openai/")
    try:
        received = endpoint.ask("GET", f"/models/{quote(sent_name)}", seconds=CONNECT_SECONDS)
    except (LostAnswer, ModelRefused):
        return ""
    except TryAgain as error:
        return f"{error}; start the server, or fix base_url"
    message = error_words(received.text())
    is_refused = received.status == 401 and not any(word in message.lower() for word in _NO_LEAVE)
    is_unknown = received.status == 404 and sent_name in message and f"models/{quote(sent_name)}" not in message
    if not is_refused and not is_unknown:
        return ""
    words = f"{endpoint.host} answered {received.status} {one_line(message)!r}"
    return str(failure_of_status(received.status, words, key_name=endpoint.key_name))
