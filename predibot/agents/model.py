"""Models by name: which client a recipe's model gets, and what is known of its price."""

from typing import Literal

from predibot.agents.background import works_in_background
from predibot.agents.failure import RequestRefused
from predibot.agents.key import Key, Keys, find_key, key_names
from predibot.agents.litellm_library import table_price
from predibot.agents.litellm_model import LiteLLMModel
from predibot.agents.openai_model import OpenAICompatibleModel
from predibot.agents.price import Price, dearest
from predibot.agents.responses_model import ResponsesModel
from predibot.agents.retry import Retry
from predibot.contracts import ChatModel

ClientName = Literal["light", "litellm"]


def open_model(
    name: str,
    *,
    keys: Keys,
    retry: Retry,
    base_url: str | None = None,
    key_name: str | None = None,
    price: Price | None = None,
    client: ClientName = "light",
) -> ChatModel:
    """Return a model that can be talked to; nothing is sent or imported yet.

    Args:
        name: As litellm calls it, or as the server at `base_url` does.
        keys: Where keys are found.
        retry: The retry layer, one for all models of a process.
        base_url: A server that speaks the chat-completions dialect, or for a
            model that works in the background the Responses API; it may be
            private, and is sent no key unless `key_name` names one.
        key_name: The setting that holds the key, where it is not the usual one.
        price: As the recipe states it.
        client: What talks to `base_url`; without one it is always litellm.

    Raises:
        UsageError: If the base URL is none.
        ModelRefused: If the named key cannot be one, or a model that works in the background has none.
    """
    if works_in_background(name) and (base_url is None or client == "light"):
        key = _background_key(name, keys, base_url, key_name)
        return ResponsesModel(name, retry=retry, base_url=base_url, key=key, price=price)
    if base_url is None:
        return LiteLLMModel(name, keys=keys, retry=retry, key_name=key_name, price=price)
    if client == "litellm":
        sent_name = f"openai/{name.removeprefix('openai/')}"
        return LiteLLMModel(
            name, keys=keys, retry=retry, base_url=base_url, key_name=key_name, sent_name=sent_name, price=price
        )
    key = find_key((key_name,), keys) if key_name else None
    return OpenAICompatibleModel(name, base_url, retry=retry, key=key, price=price)


def _background_key(name: str, keys: Keys, base_url: str | None, key_name: str | None) -> Key | None:
    """Return the key a model that works in the background is asked with; at OpenAI there has to be one."""
    if base_url is not None:
        return find_key((key_name,), keys) if key_name else None
    names = (key_name,) if key_name else key_names("openai")
    key = find_key(names, keys)
    if key is None:
        raise RequestRefused(f"{name} needs a key; set {names[0]}", 401)
    return key


def worst_price(name: str, *, price: Price | None, base_url: str | None = None, shared: bool = False) -> Price | None:
    """Return the dearest a model's tokens can be: of the recipe's price and litellm's table, or None.

    A base URL is somebody else's server, of which the table knows nothing. The
    table is not looked at for a price of zero, which is a statement about one's
    own machine, unless it is shared by several models, of which another may be
    elsewhere; looking at it imports litellm. Of a model that works in the
    background the price of a search has to be known as well.
    """
    is_beyond_the_table = base_url is not None or (price is not None and price.free and not shared)
    known = price if is_beyond_the_table else dearest(price, table_price(name))
    if known is not None and works_in_background(name) and known.search_usd is None:
        return None
    return known
