"""The providers of daily prices, opened with the operator's keys."""

from collections.abc import Callable, Mapping
from datetime import datetime
from importlib.util import find_spec

from predibot.contracts import VenueSettings
from predibot.domain.spelling import did_you_mean
from predibot.environment import api_keys, secrets_present
from predibot.errors import UsageError
from predibot.net.api_keys import ApiKeys, Key, key_names
from predibot.venues.stocks.alpha_vantage import AlphaVantage
from predibot.venues.stocks.tiingo import Tiingo
from predibot.venues.stocks.yahoo import Yahoo

Provider = Tiingo | AlphaVantage | Yahoo
_WITH_KEY: Mapping[str, type[Tiingo | AlphaVantage]] = {kind.name: kind for kind in (Tiingo, AlphaVantage)}
PROVIDERS = (*_WITH_KEY, Yahoo.name)
"""By name, those first that `stocks:live` prefers."""


def check_provider(name: str) -> str:
    """Return a provider's name; raise `UsageError` if there is none of it."""
    if name not in PROVIDERS:
        raise UsageError(f"no provider of stocks {name[:40]!r}. {did_you_mean(name, PROVIDERS)}")
    return name


def open_provider(name: str, settings: VenueSettings, clock: Callable[[], datetime]) -> Provider:
    """Return a provider; its key may go to its own host, this machine, or hosts that the operator named. Raises
    `UsageError` if there is no such provider, or it lacks its key or its library.
    """
    if check_provider(name) == Yahoo.name:
        return Yahoo()
    kind = _WITH_KEY[name]
    url = settings.urls.get(f"{name}_url", kind.own_url)
    key = _key_of(name, url, settings)
    if key is None:
        raise UsageError(f"{name} wants a key: set {' or '.join(key_names(name))} in the environment")
    return kind(key, url=url, now=clock, deadline_seconds=settings.call_deadline_seconds)


def choose_provider() -> str:
    """Return the first provider that has a key, or yfinance if it is installed; raise `UsageError` if there is none."""
    keys = api_keys()
    found = [name for name in _WITH_KEY if any(keys.get(each) for each in key_names(name))]
    found += [Yahoo.name] if find_spec("yfinance") is not None else []
    if not found:
        names = " or ".join(key_names(name)[0] for name in _WITH_KEY)
        raise UsageError(
            f"nobody states live prices of stocks: set {names} in the environment, or run "
            "`pip install 'predibot[stocks]'` for yfinance"
        )
    return found[0]


def _key_of(name: str, url: str, settings: VenueSettings) -> Key | None:
    return ApiKeys(api_keys(), settings.key_hosts, {}, secrets_present()).find(key_names(name), url)
