"""Text of others on a screen, as wide as there is room for."""

from collections.abc import Callable

from rich.text import Text

from predibot.domain.untrusted_text import one_line


def plain(text: str, limit: int | None = None) -> str:
    """Return one line of text that can only be read, as `one_line` makes it.

    It may still look like markup: print it as `rich.text.Text`, or on a console
    of `terminal.console_for`, which parses none.

    Args:
        text: What somebody else wrote.
        limit: How many terminal cells it may take, at least 1; a longer text
            ends in an ellipsis. None for any.

    Examples:
        >>> plain("Will  it\\nrain?")
        'Will it rain?'
        >>> plain("a long title", 7)
        'a long…'
    """
    line = one_line(text)
    if limit is None:
        return line
    limit = max(limit, 1)
    if line.isascii():
        return line if len(line) <= limit else f"{line[: limit - 1]}…"
    shortened = Text(line)
    shortened.truncate(limit, overflow="ellipsis")
    return shortened.plain


def within(cells: int, empty: str = "") -> Callable[[str], str]:
    """Return what writes a text as `plain` does, at most so wide, or what stands where it is empty."""
    return lambda text: plain(text, cells) or empty


def sentence(text: str) -> str:
    """Return a message that ends as a sentence does; one that has an end already stays.

    Examples:
        >>> sentence("no recipe 'dayly'. Did you mean 'daily'?"), sentence("the ledger is locked")
        ("no recipe 'dayly'. Did you mean 'daily'?", 'the ledger is locked.')
    """
    return text if not text or text[-1] in ".?!:…" else f"{text}."
