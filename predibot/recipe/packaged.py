"""Texts that come with predibot: its recipes, and the list of words about crypto."""

from importlib.resources import files
from importlib.resources.abc import Traversable

from predibot.domain.category import CryptoWords, parse_crypto_words

_STARTER = "starter"
_ENDING = ".toml"


def packaged_recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes that can be run by name alone."""
    found = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_ENDING) for name in found if name.endswith(_ENDING)))


def packaged_recipe_text(name: str) -> str:
    """Return the text of one of the packaged recipes."""
    return _folder().joinpath(f"{name}{_ENDING}").read_text(encoding="utf-8")


def starter_text() -> str:
    """Return a recipe to start from, with a comment on every line."""
    return packaged_recipe_text(_STARTER)


def packaged_crypto_words() -> CryptoWords:
    """Return the words that make an event one about crypto."""
    return parse_crypto_words(_folder().joinpath("crypto_words.txt").read_text(encoding="utf-8"))


def _folder() -> Traversable:
    return files("predibot").joinpath("recipes")
