"""A terminal: consoles, lines of harmless texts, and tables that have fewer columns where there is little room."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO, cast

from rich import table as rich_table
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from predibot.domain.untrusted_text import one_line
from predibot.environment import screen_columns
from predibot.reports import figures
from predibot.reports.table import LAST, Column, Table
from predibot.reports.terminal.hints import runnable

PIPE_WIDTH = 100
_BLANKS = re.compile(r" +$", re.MULTILINE)
_SHOWN_NOTES = 12
_PIPE_HEIGHT = 25
_GAPS = (2, 1)
_NARROWEST = {"text": 12, "name": 14}


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


def console_for(stream: TextIO, *, columns: int | None = None) -> Console:
    """Return a console that shows texts as they are: no markup, no highlighting, no emoji codes.

    Its width is `columns`, else what the variable `COLUMNS` says, else that of the terminal. A stream that is no
    terminal gets plain lines, 100 wide if nobody says otherwise, whatever terminal the program was started from.
    Under `NO_COLOR` nothing is bold or dim.
    """
    columns = columns or screen_columns()
    if not stream.isatty():
        columns, stream = columns or PIPE_WIDTH, cast(TextIO, _WithoutBlanks(stream))
    options: dict[str, Any] = {"file": stream, "width": columns, "markup": False, "highlight": False, "emoji": False}
    console = Console(**options)
    if console.is_dumb_terminal or not stream.isatty():
        # Without a height rich asks the terminal and `COLUMNS` for the width again, or takes it to be 80.
        options["height"] = _PIPE_HEIGHT
    return Console(**options, color_system=None if console.no_color else "auto")


class _WithoutBlanks:
    """A stream that drops blanks at the ends of lines, which files and programs would keep."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(_BLANKS.sub("", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def print_numbered(console: Console, table: Table, command: str) -> None:
    """Print a table whose first column has the numbers that a command takes, and how to show the first row."""
    print_grid(console, table)
    print_line(console, f"`{command} {table.rows[0][0]}` shows the first of them.")


def print_notes(console: Console, notes: Sequence[str], *, most: int = _SHOWN_NOTES) -> None:
    """Print the first notes, below an empty line."""
    if notes:
        console.print()
    for note in notes[:most]:
        print_line(console, f"note: {sentence(plain(note))}")
    if len(notes) > most:
        print_line(console, f"note: {len(notes) - most} more; --json has them all.")


def print_lines(console: Console, lines: Iterable[str], style: str = "") -> None:
    """Print each line whole."""
    for line in lines:
        print_line(console, line, style)


def print_line(console: Console, line: str, style: str = "") -> None:
    """Print a line whole: a terminal wraps it by words, a pipe gets it in one piece."""
    _print(console, runnable(line), style)


def print_grid(console: Console, table: Table) -> None:
    """Print a table; columns without room are left out and named below it.

    If room is short, gaps get narrower, texts wrap and names are shortened before a column goes. A number is never cut:
    a column that stays and is still too wide is folded.
    """
    if table.title:
        _print(console, table.title, "bold")
    shown, dropped = fit_columns(table, console.width)
    console.print(_rich_table(shown, console.width))
    if dropped:
        _print(console, f"no room for: {', '.join(dropped)}; a wider screen shows them", "dim")
    for line in (*table.below, *shown.legend_lines()):
        _print(console, line, "dim")


def print_grids(console: Console, tables: Iterable[Table]) -> None:
    """Print tables, each below an empty line."""
    for table in tables:
        console.print()
        print_grid(console, table)


def fit_columns(table: Table, room: int) -> tuple[Table, tuple[str, ...]]:
    """Return the table with the columns that fit, and the headers of the others in the order in which they go."""
    shown, dropped = table, []
    while _fit(shown, room) is None and (header := _next_to_drop(shown)) is not None:
        dropped.append(header)
        shown = shown.without(header)
    return shown, tuple(dropped)


def shorten_name(name: str, cells: int) -> str:
    """Return a name in at most so many cells, without its middle: names differ at the ends.

    Examples:
        >>> shorten_name("a_bot_with_a_rather_long_name", 14)
        'a_bot_wi…_name'
    """
    if cell_len(name) <= cells:
        return name
    tail = max(0, (cells - 1) * 2 // 5)
    end = name
    while cell_len(end) > tail:
        end = end[1:]
    return set_cell_size(name, max(cells - 1 - cell_len(end), 0)).rstrip() + "…" + end


def _next_to_drop(table: Table) -> str | None:
    """Return the header of the next column to leave out; None if all others stay."""
    loose = [(place, each) for place, each in enumerate(table.columns) if place and each.drop]
    empty = [each for place, each in loose if all(row[place] == figures.MISSING for row in table.rows)]
    ordered = sorted((each for _, each in loose if each.drop < LAST), key=lambda each: each.drop)
    return next((each.header for each in (*empty, *ordered, *(each for _, each in reversed(loose)))), None)


def _fit(table: Table, room: int) -> tuple[int, bool] | None:
    """Return the gap between columns, and whether names stay whole; None if there is too little room."""
    gaps = len(table.columns) - 1
    # Names stay whole for as long as a narrower gap is enough.
    for pliable, whole, wide in ((("text",), True, _GAPS), (("text", "name"), False, _GAPS[-1:])):
        least = sum(_least(column, width, pliable) for column, width in _column_widths(table))
        for gap in wide:
            if least + gap * gaps <= room:
                return gap, whole
    return None


def _least(column: Column, width: int, pliable: tuple[str, ...]) -> int:
    return min(width, max(_NARROWEST[column.kind], cell_len(column.header))) if column.kind in pliable else width


def _column_widths(table: Table) -> list[tuple[Column, int]]:
    return [
        (column, max(cell_len(cell) for cell in (column.header, *(row[index] for row in table.rows))))
        for index, column in enumerate(table.columns)
    ]


def _rich_table(table: Table, room: int) -> rich_table.Table:
    fit = _fit(table, room)
    gap, whole = fit or (_GAPS[-1], False)
    drawn = rich_table.Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="", show_edge=False)
    for column in table.columns:
        drawn.add_column(
            Text(column.header, style="dim"),
            justify="right" if column.kind == "number" else "left",
            # A column that stays and is still too wide is folded.
            no_wrap=column.kind != "text" and fit is not None,
            overflow="fold",
        )
    names = room if whole else _name_width(table, room, gap)
    for row in table.rows:
        drawn.add_row(
            *(
                Text(shorten_name(cell, names) if column.kind == "name" else cell)
                for column, cell in zip(table.columns, row, strict=True)
            )
        )
    return drawn


def _name_width(table: Table, room: int, gap: int) -> int:
    """Return the cells for each name that leave all other columns what they need."""
    names = sum(column.kind == "name" for column in table.columns)
    others = sum(_least(column, width, ("text",)) for column, width in _column_widths(table) if column.kind != "name")
    left = room - others - gap * (len(table.columns) - 1)
    return max(left // max(names, 1), 1)


def _print(console: Console, line: str, style: str) -> None:
    console.print(Text(line, style=style, overflow="fold"), soft_wrap=not console.is_terminal)
