"""Untrusted text: titles, messages and answers of others, made harmless for a screen, a model or a parser."""

import re
import tomllib
import unicodedata
from functools import lru_cache
from typing import Any

_JOINERS = "\u200c\u200d"
"""Invisible, but some scripts and symbols cannot be written without them."""
_REPLACEMENT = "\ufffd"
MAX_JSON_VALUES = 3_000_000
"""By its commas, colons and brackets; recorded files have one in twenty bytes, and one takes up to 75 in memory."""
MAX_TITLE_CHARACTERS = 500
_MAX_TOML_DEPTH = 32
MAX_KEY_PARTS = 50
LONG_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}"""
)
"""A key of TOML that would take hours to read."""
# Also what turns the direction of text around, and half of a surrogate pair, which is no UTF-8.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
FORMULA = ("=", "+", "-", "@")
"""With which a cell begins that a spreadsheet would run, also where they are as wide as ideographs."""


def one_line(text: str) -> str:
    """Return one line of text that can only be read.

    White space becomes single spaces. Control characters and lone surrogates
    become the replacement character, so that an escape sequence stays visible
    and does nothing. Characters that reorder or hide text are dropped.

    Examples:
        >>> one_line("Will  it\\nrain?")
        'Will it rain?'
    """
    if text.isprintable():
        # Nothing but spaces is left to change; most text is of this kind, and tables have millions.
        return " ".join(text.split())
    return " ".join("".join(_harmless(character) for character in text).split())


def spreadsheet_cell(text: str) -> str:
    """Return a text as one cell, with a quote before what a spreadsheet would take for a formula.

    Examples:
        >>> spreadsheet_cell("=1+1")
        "'=1+1"
    """
    line = one_line(text)
    return f"'{line}" if unicodedata.normalize("NFKC", line[:1]) in FORMULA else line


@lru_cache(maxsize=4096)
def _harmless(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cs"):
        return _REPLACEMENT
    if category == "Cf" and character not in _JOINERS:
        return ""
    return character


def title_line(text: str) -> str:
    """Return a title as a model is shown it: on one line, without control characters, at most so long as a title is."""
    return bounded(" ".join(_CONTROL.sub(" ", text).split()), MAX_TITLE_CHARACTERS)


def bounded(text: str, characters: int) -> str:
    """Return a text without control characters, and its beginning where it is long."""
    harmless = _CONTROL.sub(" ", text)
    return harmless if len(harmless) <= characters else f"{harmless[:characters]} … (shortened)"


def paragraph(text: str, characters: int) -> str:
    """Return a text of so many characters without empty lines, the further ones indented: none looks like a heading."""
    lines = map(str.strip, bounded(text, characters).splitlines())
    return "\n  ".join(line for line in lines if line)


def why_no_json(error: ValueError | RecursionError) -> str:
    """Return what is wrong with a text that Python's decoder of JSON refuses, in words about the text.

    Examples:
        >>> why_no_json(RecursionError("maximum recursion depth exceeded"))
        'it is nested too deeply'
    """
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    # Python's own words on such a number are about a setting of Python.
    return "a number has thousands of digits" if "int_max_str_digits" in str(error) else str(error)


def toml_table(text: str) -> dict[str, Any]:
    """Return what a text of TOML says.

    Raises:
        ValueError: If it is none, or has keys or is nested beyond what anybody writes.
    """
    if LONG_KEY.search(text):
        raise ValueError(f"a key has more than {MAX_KEY_PARTS} parts")
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level: list[object] = [table]
    for _ in range(_MAX_TOML_DEPTH):
        level = [inner for each in level for inner in (each.values() if isinstance(each, dict) else each)]  # type: ignore[attr-defined]
        level = [each for each in level if isinstance(each, dict | list)]
        if not level:
            return table
    raise ValueError("it is nested too deeply")


def has_too_many_values(text: str | bytes, most: int = MAX_JSON_VALUES) -> bool:
    """Return whether a text of JSON may hold more values than are read; told before it is parsed.

    Examples:
        >>> has_too_many_values("{}," * 1_600_000), has_too_many_values(b'{"a": "x"}')
        (True, False)
    """
    if isinstance(text, str):
        return sum(map(text.count, ",:[{")) > most
    return sum(map(text.count, (b",", b":", b"[", b"{"))) > most
