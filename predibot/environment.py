"""What the environment holds besides settings: keys, other secrets, addresses of providers, and the state folder."""

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import unquote

from predibot.domain.terms import KEY_NAME

_SECRET_NAME = re.compile(r"[A-Z0-9_]*(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_ACCESS_KEY_ID)|AWS_BEARER_TOKEN_BEDROCK")
_API_BASE = re.compile(r"[A-Z0-9_]+_(?:API_BASE|BASE_URL)")


def api_keys() -> Mapping[str, str]:
    """Return the API keys of the environment by name; the caller keeps them out of every text."""
    return {name: value for name, value in os.environ.items() if value and KEY_NAME.fullmatch(name)}


def api_keys_present() -> tuple[str, ...]:
    """Return the names of the API keys in the environment, never their values."""
    return tuple(sorted(api_keys()))


def secrets_present() -> Collection[str]:
    """Return the values that may stand in no text: API keys, what else is named like a secret, proxies' passwords."""
    named = (value for name, value in os.environ.items() if _SECRET_NAME.fullmatch(name))
    proxies = (value for name, value in os.environ.items() if name.lower().endswith("_proxy"))
    return frozenset(named).union(otlp_headers().values(), *map(_passwords_of, proxies))


def otlp_headers() -> Mapping[str, str]:
    """Return what a collector of spans is sent besides them, such as a key, from `OTEL_EXPORTER_OTLP_HEADERS`."""
    pairs = (each.partition("=")[::2] for each in os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(","))
    return {name.strip().lower(): unquote(value.strip()) for name, value in pairs if name.strip() and value.strip()}


def _passwords_of(proxy: str) -> Collection[str]:
    """Return the password of an address, and the pair it is sent in; read by hand, as a broken address has one too."""
    head, _, _ = proxy.rpartition("@")
    pair = head.partition("://")[2] or head
    password = pair.partition(":")[2]
    return {form for value in (pair, password) for form in (value, unquote(value))}


def api_bases() -> Mapping[str, str]:
    """Return the addresses of providers that the operator set for litellm, such as `OPENAI_API_BASE`."""
    return {name: value for name, value in os.environ.items() if value and _API_BASE.fullmatch(name)}


def state_folder() -> Path:
    """Return the folder in which this user's programs keep their state; it may not be there.

    Raises:
        RuntimeError: If the user has no home.
    """
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".local" / "state"
