"""Untrusted text: titles, messages and answers of others, made harmless for a screen, a spreadsheet or a parser."""

import unicodedata

_JOINERS = "\u200c\u200d"
"""Invisible, but some scripts and symbols cannot be written without them."""
_REPLACEMENT = "\ufffd"
MAX_JSON_VALUES = 3_000_000
"""By its commas, colons and brackets; recorded files have one in twenty bytes, and one takes up to 75 in memory."""
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


def _harmless(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cs"):
        return _REPLACEMENT
    if category == "Cf" and character not in _JOINERS:
        return ""
    return character


def has_too_many_values(text: str | bytes, most: int = MAX_JSON_VALUES) -> bool:
    """Return whether a text of JSON may hold more values than are read; told before it is parsed.

    Examples:
        >>> has_too_many_values("{}," * 1_600_000), has_too_many_values(b'{"a": "x"}')
        (True, False)
    """
    if isinstance(text, str):
        return sum(map(text.count, ",:[{")) > most
    return sum(map(text.count, (b",", b":", b"[", b"{"))) > most
