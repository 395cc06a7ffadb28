"""The canvas of pictures: one style, texts of others made harmless, and the same bytes for the same picture."""

import io
import re
from contextlib import AbstractContextManager
from importlib.resources import files
from typing import TYPE_CHECKING

from predibot.errors import UsageError
from predibot.reports.terminal.terminal import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png")
WIDTH_INCHES = 6.9
"""The width of two columns of a paper."""
BLUE, RED, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#666666"
"""Colours that colour-blind readers can tell apart (Okabe and Ito)."""
_FONT = "DejaVu Sans"
"""It comes with matplotlib, so that all machines draw the same."""
_UNKNOWN = "\ufffd"
_COMMENT = re.compile(r"<!--.*?-->\s*", re.DOTALL)
_METADATA = re.compile(r"\s*<metadata>.*?</metadata>", re.DOTALL)
_REFERENCE = re.compile(r'(\bid="|url\(#|href="#)')


def require_matplotlib() -> None:
    """Raise `UsageError` if matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise UsageError("pictures need matplotlib. Install it with: pip install 'predibot[plots]'") from error


def style() -> AbstractContextManager[None]:
    """Draw in our style, whatever the user's settings of matplotlib say."""
    from matplotlib.style import context

    return context(str(files("predibot.reports.pictures").joinpath("predibot.mplstyle")), after_reset=True)


def label(text: str, cells: int) -> str:
    """Return a text of others as it may be drawn: one line, bounded, of letters the font has."""
    from matplotlib import font_manager

    # Combining marks have no width, so there may be any number of them.
    line = plain(plain(text[: 8 * cells], cells)[: 2 * cells])
    known = font_manager.get_font(font_manager.findfont(_FONT)).get_charmap()
    return "".join(character if ord(character) in known else _UNKNOWN for character in line)


def render_figure(figure: "Figure", form: str, dpi: int | None = None) -> bytes:
    """Return a figure as a file of one of `FORMATS`, without date and author; `dpi` is that of our style by itself."""
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type") if form == "svg" else ("Software",))
    if figure.get_layout_engine() is not None:
        # What is placed once stays there in all forms; each of them would be drawn twice for it.
        figure.draw_without_rendering()
        figure.set_layout_engine(None)
    buffer = io.BytesIO()
    figure.savefig(buffer, format=form, metadata=metadata, dpi=dpi)
    return buffer.getvalue()


def inline(svg: bytes, number: int, title: str) -> str:
    """Return an SVG file as an element of a page; its number there keeps ids unique, its escaped title is spoken."""
    text = svg.decode()
    text = _METADATA.sub("", _COMMENT.sub("", text[text.index("<svg") :]))
    text = _REFERENCE.sub(rf"\g<1>p{number}-", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{title}" ', 1)
