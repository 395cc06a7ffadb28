"""API keys: their names, the hosts they may be sent to, and how they are masked in texts."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType

import httpx

from predibot.domain.secret_values import MASK
from predibot.errors import ModelRefused, UsageError

SECRET_RUN_CHARACTERS = 8
"""Shorter runs of a key may be an accident; runs of this length are masked."""
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "alpha_vantage": ("ALPHA_VANTAGE_API_KEY", "ALPHAVANTAGE_API_KEY"),
        "fireworks_ai": ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
        "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
        "nvidia_nim": ("NVIDIA_NIM_API_KEY", "NVIDIA_API_KEY"),
        "perplexity": ("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY"),
        "together_ai": ("TOGETHER_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY"),
    }
)
_OWN_HOSTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "anthropic": ("api.anthropic.com",),
        "cerebras": ("api.cerebras.ai",),
        "cohere": ("api.cohere.com", "api.cohere.ai"),
        "deepinfra": ("api.deepinfra.com",),
        "deepseek": ("api.deepseek.com",),
        "fireworks_ai": ("api.fireworks.ai",),
        "gemini": ("generativelanguage.googleapis.com",),
        "groq": ("api.groq.com",),
        "huggingface": ("router.huggingface.co", "api-inference.huggingface.co"),
        "mistral": ("api.mistral.ai",),
        "moonshot": ("api.moonshot.ai", "api.moonshot.cn"),
        "nvidia_nim": ("integrate.api.nvidia.com",),
        "openai": ("api.openai.com", "eu.api.openai.com", "us.api.openai.com"),
        "openrouter": ("openrouter.ai",),
        "perplexity": ("api.perplexity.ai",),
        "sambanova": ("api.sambanova.ai",),
        "together_ai": ("api.together.xyz", "api.together.ai"),
        "xai": ("api.x.ai",),
        "brave": ("api.search.brave.com",),
        "exa": ("api.exa.ai",),
        "reddit": ("www.reddit.com", "oauth.reddit.com"),
        "serper": ("google.serper.dev",),
        "tavily": ("api.tavily.com",),
        "alpha_vantage": ("www.alphavantage.co",),
        "tiingo": ("api.tiingo.com",),
    }
)
"""The hosts of providers, by litellm's names, and of search and stock prices. Other keys go to a base URL only if the
operator says so.
"""
_THIS_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})
"""No client of ours uses a proxy for these names."""
_PORTS = MappingProxyType({"http": 80, "https": 443})


@dataclass(frozen=True, slots=True)
class Key:
    """A key, and the name of the setting that holds it."""

    name: str
    value: str = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse a malformed key before any message quotes it."""
        if not (self.value.isascii() and self.value.isprintable() and self.value == self.value.strip() != ""):
            raise ModelRefused(f"the key in {self.name} has a blank or an unreadable character; set it anew")


def key_names(provider: str) -> tuple[str, ...]:
    """Return the names of the settings that may hold a provider's key, the likeliest first.

    Examples:
        >>> key_names("openai")
        ('OPENAI_API_KEY',)
    """
    return _OTHER_NAMES.get(provider, (f"{provider.upper().replace('-', '_')}_API_KEY",))


def host_of(url: str) -> str:
    """Return an address as an operator binds a key to it: the host, with scheme and port unless they are usual.

    Raises:
        UsageError: If it is not a web address.

    Examples:
        >>> host_of("https://api.acme.com/v1"), host_of("http://10.0.0.5:8000/v1")
        ('api.acme.com', 'http://10.0.0.5:8000')
    """
    scheme, host, port = _origin(url)
    name = f"[{host}]" if ":" in host else host
    return f"{'' if scheme == 'https' else 'http://'}{name}{'' if port == _PORTS[scheme] else f':{port}'}"


def _origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port of an address, parsed by the library that will connect to it."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL()
    host = parsed.raw_host.decode("ascii").lower()
    if parsed.scheme not in _PORTS or not host:
        raise UsageError("a base URL looks like https://api.acme.com/v1; fix it")
    return parsed.scheme, host, parsed.port or _PORTS[parsed.scheme]


@dataclass(frozen=True, slots=True)
class ApiKeys:
    """The operator's keys. A key is only handed out for a host that it may be sent to.

    Recipes are shared, so a recipe cannot give permission: a key goes to its provider's own hosts over TLS, to this
    machine, and to hosts that the operator bound it to.
    """

    # From the settings: this module never reads the environment.
    values: Mapping[str, str] = field(default_factory=dict, repr=False)
    bound: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Further hosts by the key's name, in the form of `host_of`."""
    bases: Mapping[str, str] = field(default_factory=dict)
    """The operator's addresses of litellm's providers, such as `OPENAI_API_BASE`; litellm reads them itself."""
    others: Collection[str] = field(default=(), repr=False)
    """Further values to mask, such as tokens of other programs; they are never handed out."""

    def secrets(self) -> Collection[str]:
        """Return every value, for masking only."""
        return (*self.values.values(), *self.others)

    def find(self, names: Iterable[str], url: str, *, own_url: str | None = None) -> Key | None:
        """Return the first key that is set under these names, or None.

        It raises `UsageError` if the key may not be sent to `url`. `own_url` is the address of the key's provider; only
        code may state it, never a recipe.
        """
        name = next((name for name in names if self.values.get(name)), None)
        if name is None:
            return None
        own = [*_own_hosts(name), *([] if own_url is None else [host_of(own_url)])]
        self._require_permission(name, url, own)
        return Key(name, self.values[name])

    def of_plugin(self, name: str) -> Key | None:
        """Return the key for the operator's own code, which decides where to send it; None if it is not set."""
        return Key(name, self.values[name]) if self.values.get(name) else None

    def get_named(self, name: str, url: str) -> Key:
        """Return the key that a recipe names; raise `UsageError` if it is not set or may not be sent there."""
        self._require_set(name)
        self._require_permission(name, url, _own_hosts(name))
        return Key(name, self.values[name])

    def of_provider(self, provider: str, name: str | None) -> Key | None:
        """Return the key for one of litellm's providers, at the address that litellm or the operator knows.

        `name` is the setting in a recipe; raises `UsageError` if it is not set or is another provider's. None looks up
        the usual names, and returns None if no key is set.
        """
        usual = key_names(provider)
        if name is None:
            found = next((each for each in usual if self.values.get(each)), None)
            return None if found is None else Key(found, self.values[found])
        self._require_set(name)
        if name in usual:
            return Key(name, self.values[name])
        hosts = _OWN_HOSTS.get(provider)
        if hosts is None:
            raise UsageError(f"{name} is no key of provider {provider!r}; put its key into {usual[0]}")
        return self.get_named(name, f"https://{hosts[0]}")

    def place_of(self, provider: str) -> str:
        """Return the host of one of litellm's providers, for messages."""
        prefix = provider.upper().replace("-", "_")
        for variable in (f"{prefix}_BASE_URL", f"{prefix}_API_BASE"):
            if base := self.bases.get(variable):
                # Without a scheme it is for litellm to interpret.
                return host_of(base) if "://" in base else f"the address in {variable}"
        return _OWN_HOSTS.get(provider, (f"the host litellm has for {provider}",))[0]

    def is_own_host(self, provider: str, place: str) -> bool:
        """Return whether a place is one of a provider's own hosts, which all require a key."""
        return place in _OWN_HOSTS.get(provider, ())

    def _require_set(self, name: str) -> None:
        if not self.values.get(name):
            raise UsageError(f"credential {name} is not set; set it in the environment, or take it out of the recipe")

    def _require_permission(self, name: str, url: str, own: Sequence[str]) -> None:
        """Refuse to hand a key out for a host that only a recipe names."""
        place = host_of(url)
        if _origin(url)[1] in _THIS_MACHINE or place in own or place in self.bound.get(name, ()):
            return
        belongs = f"it belongs to {own[0]}" if own else "nobody bound it to a host"
        raise UsageError(
            f"{name} may not be sent to {place}: {belongs}. "
            f'If you trust that host with it, set PREDIBOT_KEY_HOSTS="{name}={place}"'
        )


def _own_hosts(name: str) -> tuple[str, ...]:
    return next((hosts for provider, hosts in _OWN_HOSTS.items() if name in key_names(provider)), ())


def mask_text(text: str, key: Key | None) -> str:
    """Return a text without the key, or any run of eight or more of its characters; shorter keys are placeholders.

    Examples:
        >>> mask_text("Bearer sk-0123456789 is wrong", Key("K", "sk-0123456789"))
        'Bearer *** is wrong'
    """
    if key is None:
        return text
    starts = range(len(key.value) - SECRET_RUN_CHARACTERS + 1)
    runs = [run for run in {key.value[at : at + SECRET_RUN_CHARACTERS] for at in starts} if run in text]
    return _mask_runs(text, runs) if runs else text


def _mask_runs(text: str, runs: list[str]) -> str:
    covered = bytearray(len(text))
    for run in runs:
        at = text.find(run)
        while at >= 0:
            covered[at : at + len(run)] = b"\x01" * len(run)
            at = text.find(run, at + 1)
    pieces = groupby(zip(covered, text, strict=True), key=lambda pair: pair[0])
    return "".join(MASK if hidden else "".join(character for _, character in piece) for hidden, piece in pieces)


def mask_json(value: object, key: Key | None) -> object:
    """Return decoded JSON with the key masked in all its texts."""
    if key is None:
        return value
    if isinstance(value, str):
        return mask_text(value, key)
    if isinstance(value, list):
        return [mask_json(each, key) for each in value]
    if isinstance(value, dict):
        return {mask_text(str(name), key): mask_json(each, key) for name, each in value.items()}
    return value
