"""Texts of others on a screen: harmless, and cut to the room there is."""

from collections.abc import Callable

from rich.cells import cell_len
from rich.text import Text

from predibot.domain.untrusted_text import one_line


def plain(text: str, limit: int | None = None) -> str:
    """Return a text as one harmless line, as `one_line` makes it, cut to `limit` terminal cells (at least 1).

    It may still look like markup: print it as `rich.text.Text`, or on a console
    of `terminal.console_for`, which parses none.

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
    # What is far beyond the room changes nothing, and graphemes of a long text are slow to tell apart.
    near = line[: 4 * limit]
    shortened = Text(near if cell_len(near) > limit else line)
    shortened.truncate(limit, overflow="ellipsis")
    return shortened.plain


def within(cells: int, empty: str = "") -> Callable[[str], str]:
    """Return a writer of texts of at most so many cells; `empty` stands for an empty text."""
    return lambda text: plain(text, cells) or empty


def sentence(text: str) -> str:
    """Return a message with a full stop, unless it has an end already.

    Examples:
        >>> sentence("no recipe 'dayly'. Did you mean 'daily'?"), sentence("the ledger is locked")
        ("no recipe 'dayly'. Did you mean 'daily'?", 'the ledger is locked.')
    """
    return text if not text or text[-1] in ".?!:…" else f"{text}."
