"""Whether a model is available, found out without spending anything."""

from urllib.parse import quote

from predibot.agents.models.clients.litellm_library import knows_provider
from predibot.agents.models.clients.openai_clients import Endpoint
from predibot.agents.models.failures import failure_of_status
from predibot.agents.models.manners import error_words
from predibot.agents.models.open_model import model_destination
from predibot.domain.terms import ModelTerms
from predibot.errors import ModelRefused, UsageError
from predibot.net.api_keys import ApiKeys
from predibot.net.failures import LostAnswer, TryAgain, one_line
from predibot.net.json_client import CONNECT_SECONDS

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
