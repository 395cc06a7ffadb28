"""API keys: under which names they are found, and how they are kept out of every text."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from types import MappingProxyType

from predibot.errors import ModelRefused

Keys = Mapping[str, str] | Callable[[str], str | None]
"""The keys there are, by name; settings make it, and nothing here reads the environment."""

MASK = "***"
SECRET_RUN_CHARACTERS = 8
"""A run of a key that is shorter may be an accident; one as long is masked."""
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "fireworks_ai": ("FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"),
        "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        "huggingface": ("HF_TOKEN", "HUGGINGFACE_API_KEY"),
        "nvidia_nim": ("NVIDIA_NIM_API_KEY", "NVIDIA_API_KEY"),
        "perplexity": ("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY"),
        "together_ai": ("TOGETHER_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_AI_API_KEY"),
    }
)


@dataclass(frozen=True, slots=True)
class Key:
    """A key and the name of the setting that holds it."""

    name: str
    value: str = field(repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be a key before anything quotes it."""
        if not (self.value.isascii() and self.value.isprintable() and self.value == self.value.strip() != ""):
            raise ModelRefused(f"the key in {self.name} has a blank or an unreadable character; set it anew")


def key_names(provider: str) -> tuple[str, ...]:
    """Return the names a provider's key is looked up under, the likeliest first.

    Examples:
        >>> key_names("openai")
        ('OPENAI_API_KEY',)
    """
    return _OTHER_NAMES.get(provider, (f"{provider.upper().replace('-', '_')}_API_KEY",))


def find_key(names: tuple[str, ...], keys: Keys) -> Key | None:
    """Return the first key there is under these names, or None.

    Raises:
        ModelRefused: If it cannot be a key.
    """
    look_up = keys if callable(keys) else keys.get
    for name in names:
        value = look_up(name)
        if value:
            return Key(name, value)
    return None


def masked_text(text: str, key: Key | None) -> str:
    """Return a text without the key, nor any run of eight or more of its characters.

    What is shorter than eight characters is a placeholder such as `none`, and no secret.

    Examples:
        >>> masked_text("Bearer sk-0123456789 is wrong", Key("K", "sk-0123456789"))
        'Bearer *** is wrong'
    """
    if key is None:
        return text
    starts = range(len(key.value) - SECRET_RUN_CHARACTERS + 1)
    runs = [run for run in {key.value[at : at + SECRET_RUN_CHARACTERS] for at in starts} if run in text]
    return _without(text, runs) if runs else text


def _without(text: str, runs: list[str]) -> str:
    """Return a text with every place that one of these runs covers masked."""
    covered = bytearray(len(text))
    for run in runs:
        at = text.find(run)
        while at >= 0:
            covered[at : at + len(run)] = b"\x01" * len(run)
            at = text.find(run, at + 1)
    pieces = groupby(zip(covered, text, strict=True), key=lambda pair: pair[0])
    return "".join(MASK if hidden else "".join(character for _, character in piece) for hidden, piece in pieces)


def masked(value: object, key: Key | None) -> object:
    """Return decoded JSON with the key masked in every text of it."""
    if key is None:
        return value
    if isinstance(value, str):
        return masked_text(value, key)
    if isinstance(value, list):
        return [masked(each, key) for each in value]
    if isinstance(value, dict):
        return {masked_text(str(name), key): masked(each, key) for name, each in value.items()}
    return value
