"""Untrusted text: strangers' titles, messages and answers, made harmless for a screen, a model or a parser."""

import re
import tomllib
import unicodedata
from functools import lru_cache
from typing import Any

_JOINERS = "\u200c\u200d"
"""Invisible, but some scripts and emoji need them."""
_REPLACEMENT = "\ufffd"
MAX_JSON_VALUES = 3_000_000
"""The most values of one JSON text, counted before it is parsed; each takes up to 75 bytes of memory."""
MAX_JSON_DEPTH = 600
_NO_BRACKETS = bytes({*range(256)} - {*b"[]{}"})
MAX_TITLE_CHARACTERS = 500
_MAX_TOML_DEPTH = 32
MAX_KEY_PARTS = 50
LONG_KEY = re.compile(
    rf"""(?<![\w-])(?:(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_KEY_PARTS}}}"""
)
"""A key of TOML that would take hours to parse."""
# Also characters that reverse the direction of text, and lone surrogates, which are no UTF-8.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
FORMULA = ("=", "+", "-", "@")
"""The first characters of cells that a spreadsheet would run, also in their full-width forms."""

_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def one_line(text: str) -> str:
    """Return text on one line that can only be read.

    White space becomes single spaces; control characters and lone surrogates become the replacement character, so that
    an escape sequence stays visible and does nothing. Characters that reorder or hide text are dropped.
    """
    if text.isprintable():
        # The common case: only spaces can change; tables have millions of texts.
        return " ".join(text.split())
    # A text has few different characters, however long strangers make it.
    harmless = {ord(character): _harmless(character) for character in {*text}}
    return " ".join(text.translate(harmless).split())


def cut_line(text: str, characters: int) -> str:
    """Return the beginning of a text as `one_line` returns it, at most so many characters."""
    return one_line(text[: 4 * characters])[:characters]


def spreadsheet_cell(text: str) -> str:
    """Return a text as one cell, with a quote before what a spreadsheet would run as a formula.

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
    return "" if category == "Cf" and character not in _JOINERS else character


def title_line(text: str) -> str:
    """Return a title for a model: one line without control characters, at most `MAX_TITLE_CHARACTERS` long."""
    return shorten(" ".join(_CONTROL.sub(" ", text).split()), MAX_TITLE_CHARACTERS)


def shorten(text: str, characters: int) -> str:
    """Return a text without control characters, shortened to so many of them."""
    harmless = _CONTROL.sub(" ", text)
    return harmless if len(harmless) <= characters else f"{harmless[:characters]} … (shortened)"


def xml_text(text: str) -> str:
    """Return a text whose characters XML may hold; each other one is replaced."""
    return _NO_XML.sub(_REPLACEMENT, text)


def paragraph(text: str, characters: int) -> str:
    """Return a shortened text without empty lines, all but the first line indented: none looks like a heading."""
    lines = map(str.strip, shorten(text, characters).splitlines())
    return "\n  ".join(line for line in lines if line)


def why_no_json(error: ValueError | RecursionError) -> str:
    """Return what is wrong with a text that Python's JSON decoder refuses, in words about the text."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    # Python's own message on such a number is about a setting of Python.
    return "a number has thousands of digits" if "int_max_str_digits" in str(error) else str(error)


def toml_table(text: str) -> dict[str, Any]:
    """Return the table of a TOML text; raise `ValueError` if it is invalid, or has longer keys or deeper nesting than
    needed.
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


def require_shallow(text: str | bytes) -> None:
    """Raise `RecursionError` if a JSON text nests deeper than `MAX_JSON_DEPTH`. Python's decoder notices only the end
    of the stack, where the garbage collector's finalizers fail too.
    """
    if is_deep(text):
        raise RecursionError("it is nested too deeply")


def is_deep(text: str | bytes) -> bool:
    """Return whether a JSON text nests deeper than `MAX_JSON_DEPTH`."""
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if data.count(b"[") + data.count(b"{") <= MAX_JSON_DEPTH:
        return False
    # Without escapes, every second piece between quotes is a string.
    pieces = data.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')
    depth = 0
    for bracket in b"".join(pieces[::2]).translate(None, _NO_BRACKETS):
        depth = depth + 1 if bracket in b"[{" else max(depth - 1, 0)
        if depth > MAX_JSON_DEPTH:
            return True
    return False


def has_too_many_values(text: str | bytes, most: int = MAX_JSON_VALUES) -> bool:
    """Return whether a JSON text may contain more values than predibot reads, without parsing it."""
    if isinstance(text, str):
        return sum(map(text.count, ",:[{")) > most
    return sum(map(text.count, (b",", b":", b"[", b"{"))) > most
