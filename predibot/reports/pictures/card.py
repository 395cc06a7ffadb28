"""Cards: pictures of 1,200 by 630 pixels that other sites show beside a link."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from predibot.reports import figures
from predibot.reports.pictures.canvas import BLUE, GREEN, GREY, RED, label, render_figure, style
from predibot.reports.views.leaderboard import LeaderboardRow, verdict_text
from predibot.scoring.evaluation.verdict import Finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BOTS = 6
_INCHES, _DPI = (12.0, 6.3), 100
_TITLE_CELLS, _NAME_CELLS, _NOTE_CELLS = 40, 24, 110
_INK, _LINE = "#1b1f24", "#d0d7de"
_COLOURS = {Finding.BEATS_THE_PRICE: GREEN, Finding.WORSE_THAN_THE_PRICE: RED}


def card_note(row: LeaderboardRow) -> str:
    """Return the line of a bot's card: its verdict, its edge, and the number of events behind that."""
    edge = f"edge {figures.thousandths(row.edge)} thousandths" if row.edge is not None else "no edge yet"
    ends = "" if row.edge_low is None else f" ({figures.thousandths_interval(row.edge_low, row.edge_high)})"
    return f"{verdict_text(row)}: {edge}{ends}, {figures.things(row.events, 'event')}"


def draw_card(title: str, note: str, rows: Sequence[LeaderboardRow]) -> bytes:
    """Return a card as PNG: the edge of bots with its interval, and of a single bot how it added up.

    The title may be a text of others. There are at most `MOST_BOTS` rows, none for a card of words only.
    """
    from matplotlib.figure import Figure

    with style():
        figure = Figure(figsize=_INCHES)
        figure.text(0.06, 0.86, label(title, _TITLE_CELLS), fontsize=34, weight="bold", color=_INK, va="center")
        figure.text(0.06, 0.755, label(note, _NOTE_CELLS), fontsize=15, color=GREY, va="center")
        if len(rows) == 1 and len(rows[0].curve) > 1:
            _draw_curve(figure.add_axes((0.1, 0.16, 0.84, 0.5)), rows[0])
        elif rows:
            _draw_intervals(figure.add_axes((0.34, 0.15, 0.36, 0.53)), rows)
        figure.text(0.94, 0.045, "predibot", fontsize=15, weight="bold", color=BLUE, ha="right", va="center")
        return render_figure(figure, "png", dpi=_DPI)


def _draw_curve(axes: "Axes", row: LeaderboardRow) -> None:
    values = [1000.0 * each for each in row.curve]
    axes.axhline(0.0, color=GREY, linewidth=1.2, linestyle="--")
    axes.plot(values, color=BLUE, linewidth=4.0)
    axes.fill_between(range(len(values)), values, color=BLUE, alpha=0.12)
    axes.set_xlim(0, len(values) - 1)
    axes.set_xticks([])
    _frame(axes, "edge over the price as it added up, in thousandths of Brier")


def _draw_intervals(axes: "Axes", rows: Sequence[LeaderboardRow]) -> None:
    for place, row in enumerate(rows):
        colour = _COLOURS.get(row.verdict.finding, GREY)
        if row.edge_low is not None and row.edge_high is not None:
            axes.plot([1000.0 * row.edge_low, 1000.0 * row.edge_high], [place, place], color=colour, linewidth=5.0)
        if row.edge is not None:
            axes.plot([1000.0 * row.edge], [place], marker="o", markersize=13, color=colour)
        across = axes.get_yaxis_transform()
        name, said = label(row.bot, _NAME_CELLS), verdict_text(row)
        axes.text(-0.78, place, name, fontsize=17, color=_INK, va="center", transform=across)
        axes.text(1.05, place, said, fontsize=15, color=colour, va="center", transform=across)
    axes.axvline(0.0, color=GREY, linewidth=1.2, linestyle="--")
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_yticks([])
    _frame(axes, "edge over the price, in thousandths of Brier")


def _frame(axes: "Axes", words: str) -> None:
    axes.tick_params(labelsize=13, colors=GREY, length=0)
    axes.set_xlabel(words, fontsize=13, color=GREY)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_LINE)
