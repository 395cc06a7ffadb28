"""The environment apart from settings: keys, other secrets, addresses of providers, and the user's folders."""

import os
import re
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import unquote

from predibot.domain.terms import KEY_NAME, SECRET_ADDRESS_NAME, SECRET_NAME

_LEAST_TELLING_CHARACTERS = 16
"""Shorter parts of an address, such as `services`, stand in many addresses and give nothing away."""
DEFAULT_LEDGER = "sqlite:///runs/out/predibot.db"
"""Where the ledger is, where nobody names one."""
SAFE_PATH = "PYTHONSAFEPATH"
"""With this variable Python imports nothing from the current folder or a script's."""
_API_BASE = re.compile(r"[A-Z0-9_]+_(?:API_BASE|BASE_URL)")


def screen_columns() -> int | None:
    """Return the width that `COLUMNS` asks for; None if it names none from 20 to 9,999."""
    asked = os.environ.get("COLUMNS", "")
    return int(asked) if re.fullmatch("[0-9]{2,4}", asked) and int(asked) >= 20 else None


def api_keys() -> Mapping[str, str]:
    """Return the API keys in the environment by name; the caller keeps them out of every text."""
    return {name: value for name, value in os.environ.items() if value and KEY_NAME.fullmatch(name)}


def api_keys_present() -> tuple[str, ...]:
    """Return the names of the API keys in the environment, never their values."""
    return tuple(sorted(api_keys()))


def secrets_present() -> Collection[str]:
    """Return values that no text may show: keys, variables named like secrets, passwords, secret parts of addresses."""
    named = (value for name, value in os.environ.items() if SECRET_NAME.fullmatch(name))
    proxies = (value for name, value in os.environ.items() if name.lower().endswith("_proxy"))
    addresses = (value for name, value in os.environ.items() if SECRET_ADDRESS_NAME.fullmatch(name))
    parts = (part for value in addresses for each in value.split() for part in _secret_parts_of(each))
    return frozenset(named).union(parts, otlp_headers().values(), *map(_passwords_of, proxies))


def otlp_headers() -> Mapping[str, str]:
    """Return the headers for a collector of spans, such as a key, from `OTEL_EXPORTER_OTLP_HEADERS`."""
    pairs = (each.partition("=")[::2] for each in os.environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(","))
    return {name.strip().lower(): unquote(value.strip()) for name, value in pairs if name.strip() and value.strip()}


def _passwords_of(proxy: str) -> Collection[str]:
    """Return the password in an address, alone and with the user; parsed by hand, to find it in broken addresses."""
    head, _, _ = proxy.rpartition("@")
    pair = head.partition("://")[2] or head
    password = pair.partition(":")[2]
    return {form for value in (pair, password) for form in (value, unquote(value))}


def _secret_parts_of(address: str) -> Collection[str]:
    """Return the secret parts of an address: everything behind its host, and each long piece of that."""
    scheme, _, rest = address.rpartition("://")
    # Addresses of apprise have tokens in the place of the host.
    secret = rest.partition("/")[2] if scheme in ("http", "https") else rest
    long_parts = (part for part in re.split("[/?&=@:]", secret) if len(part) >= _LEAST_TELLING_CHARACTERS)
    return {secret, *long_parts, *_passwords_of(address)}


def read_secret(name: str) -> str | None:
    """Return the value of a variable that the settings name; None where it is unset or empty."""
    return os.environ.get(name, "").strip() or None


def environment_of_command(names: Collection[str]) -> Mapping[str, str]:
    """Return the environment for an operator's command; secrets are left out unless they are named."""
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
    """Return the folder of this user's state, which may not exist; raise `RuntimeError` if the user has no home."""
    named = Path(os.environ.get("XDG_STATE_HOME", ""))
    return named if named.is_absolute() else Path.home() / ".local" / "state"


def cache_folder() -> Path:
    """Return the folder for what can be computed again, which may not exist; raise `RuntimeError` if the user has no
    home.
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
    """Return the digests of folders that `PREDIBOT_TRUST` lists, with commas between them."""
    return {each.strip().lower() for each in os.environ.get("PREDIBOT_TRUST", "").split(",") if each.strip()}
