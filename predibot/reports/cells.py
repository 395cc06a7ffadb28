"""Pictures of studies: a table whose cells are shaded or have bars, as SVG without script, for a page or a file."""

from dataclasses import dataclass
from typing import ClassVar, Literal
from xml.sax.saxutils import escape

from predibot.domain.untrusted_text import one_line

_LETTER, _CELL_WIDTH, _CELL_HEIGHT, _HEAD = 6.8, 84.0, 22.0, 46.0
_NAME, _HEADER = 28, 12
"""Most characters of the name of a row, and of a column."""
STYLE = (
    ".cells{font:12px system-ui,sans-serif;color-scheme:light dark;background:#fff}.cells text{fill:#1b1f24}"
    ".cells .shade,.cells .good{fill:#0969da}.cells .bad{fill:#bc4c00}.cells .zero{stroke:#8c959f}"
    "@media(prefers-color-scheme:dark){.cells{background:#0d1117}.cells text{fill:#e6edf3}"
    ".cells .shade,.cells .good{fill:#58a6ff}.cells .bad{fill:#f0883e}.cells .zero{stroke:#6e7681}}"
)
"""What a file brings along, and a page has in its style sheet."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A table of numbers; its names may be texts of others."""

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    """By row and column; None for a missing one, which is left empty."""
    marked: frozenset[tuple[int, int]] = frozenset()
    """Row and column, from 0, of the numbers that have an asterisk."""


@dataclass(frozen=True, slots=True)
class CellPicture:
    """Panels below each other."""

    name: str
    """The name of its file."""
    title: str
    panels: tuple[Panel, ...]
    drawn: Literal["shade", "bar"]
    """Shaded from 0 to 1, or with bars from zero to the left and right."""
    note: str
    reach: float | None = None
    """What a bar over half a cell stands for; None for the largest value."""
    folded: ClassVar = False

    @property
    def is_empty(self) -> bool:
        """Return whether there is no number in it."""
        return all(value is None for panel in self.panels for row in panel.values for value in row)

    @property
    def name_width(self) -> float:
        """Return the width of the names of rows."""
        longest = max((len(row) for panel in self.panels for row in panel.rows), default=0)
        return 10.0 + _LETTER * min(longest, _NAME)

    @property
    def width(self) -> float:
        """Return the width of the drawing."""
        return self.name_width + _CELL_WIDTH * max((len(panel.columns) for panel in self.panels), default=0)

    @property
    def height(self) -> float:
        """Return the height of the drawing."""
        return sum(_HEAD + _CELL_HEIGHT * len(panel.rows) for panel in self.panels)

    def svg(self) -> str:
        """Return the drawing as an SVG element without style."""
        parts, top = [], 0.0
        largest = max((abs(v) for p in self.panels for row in p.values for v in row if v is not None), default=0.0)
        reach, begins = self.reach or largest or 1.0, self.name_width
        for panel in self.panels:
            parts.append(f'<text x="4" y="{top + 16:g}" font-weight="bold">{_text(panel.name, 60)}</text>')
            for place, column in enumerate(panel.columns):
                x = begins + (place + 0.5) * _CELL_WIDTH
                parts.append(f'<text x="{x:g}" y="{top + 38:g}" text-anchor="middle">{_text(column, _HEADER)}</text>')
            for number, (row, values) in enumerate(zip(panel.rows, panel.values, strict=True)):
                y = top + _HEAD + number * _CELL_HEIGHT
                parts.append(f'<text x="4" y="{y + 15:g}">{_text(row, _NAME)}</text>')
                for place, (column, value) in enumerate(zip(panel.columns, values, strict=True)):
                    if value is not None:
                        said = _text(f"{row}, {column}: {value:.3f}", 200)
                        words = f"{value:.2f}{'*' if (number, place) in panel.marked else ''}"
                        box = _cell(begins + place * _CELL_WIDTH, y, value, words, reach, self.drawn)
                        parts.append(f"<g><title>{said}</title>{box}</g>")
            top += _HEAD + _CELL_HEIGHT * len(panel.rows)
        label = _text(self.title, 200).replace('"', "&quot;")
        size = f'viewBox="0 0 {self.width:g} {self.height:g}" width="{self.width:g}" height="{self.height:g}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" class="cells" {size} role="img" aria-label="{label}">'
        return "\n".join([head, *parts, "</svg>"])

    def file(self) -> str:
        """Return the drawing as an SVG file for light and dark, with its title and note in it."""
        title = f"<title>{_text(f'{self.title}. {self.note}', 600)}</title><style>{STYLE}</style>"
        head, _, rest = self.svg().partition("\n")
        return f"{head}\n{title}\n{rest}\n"


def _cell(x: float, y: float, value: float, said: str, reach: float, drawn: str) -> str:
    height, middle = _CELL_HEIGHT - 4.0, x + _CELL_WIDTH / 2.0
    if drawn == "shade":
        # Never so dark that the number on it could not be read.
        opacity = 0.05 + 0.55 * min(1.0, max(0.0, value))
        shade = f'width="{_CELL_WIDTH - 4:g}" height="{height:g}" fill-opacity="{opacity:.2f}"'
        words = f'<text x="{middle:g}" y="{y + 15:g}" text-anchor="middle">{said}</text>'
        return f'<rect class="shade" x="{x + 2:g}" y="{y + 2:g}" {shade}/>{words}'
    wide = min(1.0, abs(value) / reach) * (_CELL_WIDTH / 2.0 - 3.0)
    is_up = value >= 0.0
    left = middle if is_up else middle - wide
    size = f'width="{wide:.1f}" height="{height:g}" fill-opacity="0.45"'
    # The number stands on the other side of the line, where there is no bar.
    end = f'x="{middle - 4:g}" text-anchor="end"' if is_up else f'x="{middle + 4:g}" text-anchor="start"'
    return (
        f'<rect class="{"good" if is_up else "bad"}" x="{left:.1f}" y="{y + 2:g}" {size}/>'
        f'<line class="zero" x1="{middle:g}" x2="{middle:g}" y1="{y:g}" y2="{y + _CELL_HEIGHT:g}"/>'
        f'<text {end} y="{y + 15:g}">{said}</text>'
    )


def _text(words: str, most: int) -> str:
    """Return a text of others as XML may hold it, cut if it is too long."""
    line = "".join(each if each.isprintable() else "\ufffd" for each in one_line(words[: 4 * most]))
    return escape(line if len(line) <= most else line[: most - 1] + "…")
