"""Text from strangers: titles, messages and reasons, made harmless for any screen."""

import unicodedata

from rich.text import Text

_JOINERS = "\u200c\u200d"
"""Invisible, but some scripts and symbols cannot be written without them."""
_REPLACEMENT = "\ufffd"


def plain(text: str, limit: int | None = None) -> str:
    """Return one line of text that can only be read.

    White space becomes single spaces. Control characters and lone surrogates
    become the replacement character, so that an escape sequence stays visible
    and does nothing. Characters that reorder or hide text are dropped.

    It may still look like markup: print it as `rich.text.Text`, or on a console
    of `terminal.console_for`, which parses none.

    Args:
        text: What a stranger wrote.
        limit: How many terminal cells it may take, at least 1; a longer text
            ends in an ellipsis. None for any.

    Examples:
        >>> plain("Will  it\\nrain?")
        'Will it rain?'
        >>> plain("a long title", 7)
        'a long…'
    """
    line = " ".join("".join(_harmless(character) for character in text).split())
    if limit is None:
        return line
    shortened = Text(line)
    shortened.truncate(max(limit, 1), overflow="ellipsis")
    return shortened.plain


def sentence(text: str) -> str:
    """Return a message that ends as a sentence does; one that has an end already stays.

    Examples:
        >>> sentence("no recipe 'dayly'. Did you mean 'daily'?"), sentence("the ledger is locked")
        ("no recipe 'dayly'. Did you mean 'daily'?", 'the ledger is locked.')
    """
    return text if not text or text[-1] in ".?!:…" else f"{text}."


def _harmless(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cs"):
        return _REPLACEMENT
    if category == "Cf" and character not in _JOINERS:
        return ""
    return character
