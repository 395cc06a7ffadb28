"""What the environment holds besides settings: keys, other secrets, addresses of providers, and the user's folders."""

import os
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import unquote

from predibot.domain.terms import KEY_NAME, SECRET_ADDRESS_NAME, SECRET_NAME

_LEAST_TELLING_CHARACTERS = 16
"""Of a part of an address; a shorter one, such as `services`, is in many and says nothing."""
DEFAULT_LEDGER = "sqlite:///runs/out/predibot.db"
"""Where the ledger is, where nobody names one."""
SAFE_PATH = "PYTHONSAFEPATH"
"""By which Python imports nothing from the current folder, or the one of a script."""
_API_BASE = re.compile(r"[A-Z0-9_]+_(?:API_BASE|BASE_URL)")


def api_keys() -> Mapping[str, str]:
    """Return the API keys of the environment by name; the caller keeps them out of every text."""
    return {name: value for name, value in os.environ.items() if value and KEY_NAME.fullmatch(name)}


def api_keys_present() -> tuple[str, ...]:
    """Return the names of the API keys in the environment, never their values."""
    return tuple(sorted(api_keys()))


def secrets_present() -> Collection[str]:
    """Return the values that may stand in no text: API keys, what else is named like a secret, proxies' passwords,
    and addresses that anybody who knows them may use.
    """
    named = (value for name, value in os.environ.items() if SECRET_NAME.fullmatch(name))
    proxies = (value for name, value in os.environ.items() if name.lower().endswith("_proxy"))
    addresses = (value for name, value in os.environ.items() if SECRET_ADDRESS_NAME.fullmatch(name))
    parts = (part for value in addresses for each in value.split() for part in _secret_parts_of(each))
    return frozenset(named).union(parts, otlp_headers().values(), *map(_passwords_of, proxies))


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


def _secret_parts_of(address: str) -> Collection[str]:
    """Return what of an address is secret: all behind its host, and each long part of it alone."""
    scheme, _, rest = address.rpartition("://")
    # What apprise takes has tokens in the place of the host.
    secret = rest.partition("/")[2] if scheme in ("http", "https") else rest
    long_parts = (part for part in re.split("[/?&=@:]", secret) if len(part) >= _LEAST_TELLING_CHARACTERS)
    return {secret, *long_parts, *_passwords_of(address)}


def secret_named(name: str) -> str | None:
    """Return the value of a variable that the settings name; None where it is not set or empty."""
    return os.environ.get(name, "").strip() or None


def environment_of_command(names: Collection[str]) -> Mapping[str, str]:
    """Return the environment for a command of the operator's: of what is secret, or set by us, only what is named."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in names
        or not (name == SAFE_PATH or SECRET_NAME.fullmatch(name) or SECRET_ADDRESS_NAME.fullmatch(name))
    }


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


def cache_folder() -> Path:
    """Return the folder in which predibot keeps for this user what it can work out anew; it may not be there.

    Raises:
        RuntimeError: If the user has no home.
    """
    named, usual = (Path(os.environ.get(name, "")) for name in ("PREDIBOT_CACHE", "XDG_CACHE_HOME"))
    if named.is_absolute():
        return named
    home = Path("Library/Caches" if sys.platform == "darwin" else ".cache")
    return (usual if usual.is_absolute() else Path.home() / home) / "predibot"


def configuration_folder() -> Path | None:
    """Return the folder in which this user configures programs; None where the user has no home."""
    named = Path(os.environ.get("XDG_CONFIG_HOME", ""))
    try:
        return named if named.is_absolute() else Path.home() / ".config"
    except RuntimeError:
        return None


def trusted_digests() -> Collection[str]:
    """Return the digests of folders that the environment trusts, with commas between them in `PREDIBOT_TRUST`."""
    return {each.strip().lower() for each in os.environ.get("PREDIBOT_TRUST", "").split(",") if each.strip()}
