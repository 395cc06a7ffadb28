"""Opening search providers by the names that recipes use."""

from collections.abc import Callable, Sequence
from datetime import datetime

from predibot.domain.spelling import did_you_mean
from predibot.domain.terms import BUILT_IN_SEARCH, DDGS_BACKENDS
from predibot.errors import UsageError
from predibot.research.search.provider import SearchProvider
from predibot.research.search.providers.ddgs_provider import DdgsSearch
from predibot.research.search.providers.http_providers import OWN_URLS, HttpSearch
from predibot.research.search.providers.reddit_provider import TOKEN_URL, RedditSearch

PROVIDER_NAMES = BUILT_IN_SEARCH


def open_provider(
    name: str,
    *,
    clock: Callable[[], datetime],
    key: str | None = None,
    base_url: str | None = None,
    usd_per_call: float | None = None,
    backends: Sequence[str] = (),
) -> SearchProvider:
    """Return a search provider; raise `UsageError` if there is none, or it lacks a key or an address.

    The ages of results are counted from the `clock`. `base_url` is the user's own SearXNG, or replaces the provider's
    address. `usd_per_call` None is unknown, or 0 if the provider is free. `backends` are those of ddgs, in their order;
    those that its kind of search lacks are ignored.
    """
    if name not in PROVIDER_NAMES:
        raise UsageError(f"no search provider {name!r}. {did_you_mean(name, PROVIDER_NAMES)}")
    if name in ("ddgs", "ddgs_news"):
        known = DDGS_BACKENDS["text" if name == "ddgs" else "news"]
        return DdgsSearch(
            clock, "text" if name == "ddgs" else "news", tuple(each for each in backends if each in known)
        )
    if name == "searxng" and not base_url:
        raise UsageError("search provider 'searxng' needs the address of an instance; set its base URL")
    if name != "searxng" and not key:
        raise UsageError(f"search provider {name!r} needs a key; set it in the settings or the environment")
    if name == "reddit":
        return RedditSearch(clock, key or "", base_url, 0.0 if usd_per_call is None else usd_per_call)
    known_usd = 0.0 if name == "searxng" and usd_per_call is None else usd_per_call
    return HttpSearch(name, clock, base_url or OWN_URLS[name], key or "", known_usd)


def own_url(name: str) -> str | None:
    """Return the address of a provider that takes a key, None for others; only the operator may let its key go
    elsewhere.
    """
    return TOKEN_URL if name == "reddit" else OWN_URLS.get(name)
