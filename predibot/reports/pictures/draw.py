"""How pictures are drawn: small multiples of curves, reliability diagrams, bars, and prices with decisions."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from predibot.jobs.histories.event import MarketHistory
from predibot.reports.pictures import series
from predibot.reports.pictures.canvas import BLUE, GREEN, GREY, RED, WIDTH_INCHES, label
from predibot.reports.pictures.labels import LabelPlace, place_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3
_NAME_CELLS = 30
_TITLE_CELLS = 95
_NOTE_CHARACTERS = 130
_BELOW, _STRIP = 0.3, 0.16
"""How far below zero the strip of counts begins, and how high it is."""
_LOGARITHMIC_FROM = 20.0
_FAINT = "#aaaaaa"
_LEGEND_CELLS = 22
_PANEL_WIDTH, _PANEL_HEIGHT = 156.0, 130.0
"""Size of a scatter plot in hundredths of an inch; approximate, because the layout is made while it is drawn."""
_PANEL_CHARACTERS = 37
_SIDES = {"start": "left", "middle": "center", "end": "right"}
_SCATTER_MARGIN = 0.15
_COLOURS = (BLUE, RED, GREEN, "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d31")


def draw_picture(picture: series.Picture) -> "Figure":
    """Return a picture as a figure of matplotlib; to be called inside `canvas.style()`."""
    drawn: dict[type, Callable[[Any], Figure]] = {
        series.Curves: _curves,
        series.Calibrations: _calibrations,
        series.Returns: _returns,
        series.Cohorts: _cohorts,
        series.Scatter: _scatter,
        MarketHistory: _prices,
    }
    return drawn[type(picture)](picture)


def _curves(curves: series.Curves) -> "Figure":
    from matplotlib.ticker import FuncFormatter, NullFormatter

    figure, plots = _grid(curves, 1.6, curves.unit)
    for axes, panel in plots:
        at = _days([point.slot_at for point in panel.of])
        low, high = (
            np.array([math.nan if end is None else end for end in ends])
            for ends in ([point.low for point in panel.of], [point.high for point in panel.of])
        )
        axes.axhline(curves.level, color=GREY, linewidth=0.6)
        axes.fill_between(at, low, high, color=BLUE, alpha=0.18, linewidth=0.0)
        axes.plot(at, [point.total for point in panel.of], color=BLUE, marker="." if len(at) < 3 else "")
        for number, (marked_at, _) in enumerate(curves.marks, start=1):
            day = float(_days([marked_at])[0])
            axes.axvline(day, color=RED, linewidth=0.6, linestyle=(0, (1, 2)))
            axes.annotate(str(number), (day, 1.0), xycoords=("data", "axes fraction"), fontsize=4.5, color=RED)
        if curves.counted:
            axes.set_xlabel(f"{panel.of[-1].clusters:,} {curves.counted}", loc="left")
        if curves.level > 0.0:
            # Amounts are written in full, on a logarithmic scale if they grew or fell many times over.
            ends = [end for each in panel.of for end in (each.total, each.low, each.high) if end is not None]
            if min(ends) > 0.0 and max(ends) > _LOGARITHMIC_FROM * min(ends):
                axes.set_yscale("log")
                axes.yaxis.set_minor_formatter(NullFormatter())
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        axes.grid(axis="y")
        _format_dates(axes)
    return figure


def _calibrations(calibrations: series.Calibrations) -> "Figure":
    figure, plots = _grid(calibrations, 2.1, "happened")
    for axes, panel in plots:
        bins = panel.of
        full = bins.count > 0
        said, seen, count = bins.mean_probability[full], bins.mean_outcome[full], bins.count[full]
        # The counts stand in a strip below the diagram.
        heights = _STRIP * count / count.max()
        width = (bins.upper - bins.lower)[full]
        axes.bar(bins.lower[full], heights, width, -_BELOW, align="edge", color="#cccccc", edgecolor="white")
        middles = ((bins.lower + bins.upper)[full] / 2.0).tolist()
        for middle, height, n in zip(middles, heights.tolist(), count.tolist(), strict=True):
            axes.text(middle, height - _BELOW + 0.01, f"{n:,}", fontsize=4.5, color=GREY, ha="center")
        axes.plot([0.0, 1.0], [0.0, 1.0], color=GREY, linewidth=0.6, linestyle=(0, (4, 3)))
        reach = np.maximum([seen - bins.outcome_low[full], bins.outcome_high[full] - seen], 0.0)
        axes.errorbar(said, seen, yerr=reach, fmt="o", color=BLUE, markersize=3.0, elinewidth=0.9)
        axes.set_xlim(-0.02, 1.02)
        axes.set_ylim(-_BELOW, 1.02)
        axes.set_xticks([0.0, 0.5, 1.0], ["0%", "50%", "100%"])
        axes.set_yticks([0.0, 0.5, 1.0], ["0%", "50%", "100%"])
        axes.set_xlabel(f"forecast; {panel.note}")
        axes.set_aspect("equal")
    return figure


def _returns(returns: series.Returns) -> "Figure":
    names = [name for name, _ in returns.panels[0].of]
    height = 1.0 + 0.2 * len(names)
    figure = _figure(height, returns.title, returns.note)
    panels: Sequence[Axes] = figure.subplots(1, len(returns.panels), sharey=True, squeeze=False)[0]
    places = np.arange(len(names))[::-1]
    for axes, panel in zip(panels, returns.panels, strict=True):
        axes.axvline(0.0, color=GREY, linewidth=0.6)
        n = set()
        for place, (_, score) in zip(places, panel.of, strict=True):
            if score is None or (mean := getattr(score, returns.mean)) is None:
                continue
            n.add(score.n_quote if returns.at_quote else score.n)
            axes.barh(place, 100.0 * mean, height=0.62, color=BLUE if mean >= 0.0 else RED, alpha=0.55)
            found = score.intervals.get(returns.mean)
            if found is not None and found.interval is not None:
                axes.plot([100.0 * end for end in found.interval], [place, place], color="black", linewidth=0.9)
        decisions = f"{min(n):,}" if len(n) == 1 else f"{min(n, default=0):,} to {max(n, default=0):,}"
        axes.set_title(panel.name)
        axes.set_xlabel(f"%; n = {decisions}")
        axes.locator_params(axis="x", nbins=3)
        axes.tick_params(axis="y", length=0.0)
        axes.grid(axis="x")
    panels[0].set_yticks(places, [label(name, _NAME_CELLS) for name in names])
    panels[0].set_ylim(-0.6, len(names) - 0.4)
    return figure


def _cohorts(cohorts: series.Cohorts) -> "Figure":
    figure, plots = _grid(cohorts, 1.6, "return, %")
    for axes, panel in plots:
        at = _days([each.start.timestamp() for each in panel.of.results])
        percents = np.array([100.0 * (each.profit_usd / each.stake_usd) for each in panel.of.results])
        width = 0.6 * float(np.diff(at).min(initial=7.0))
        axes.bar(at, percents, width, color=[BLUE if value >= 0.0 else RED for value in percents], alpha=0.55)
        found = panel.of.score.score.returns
        if found.low is not None and found.high is not None:
            axes.axhspan(100.0 * found.low, 100.0 * found.high, color=GREY, alpha=0.12, linewidth=0.0)
        axes.axhline(100.0 * found.mean, color="black", linewidth=0.9)
        axes.axhline(0.0, color=GREY, linewidth=0.6)
        axes.grid(axis="y")
        _format_dates(axes)
    return figure


def _scatter(scatter: series.Scatter) -> "Figure":
    from textwrap import wrap

    figure, plots = _grid(scatter, 2.1)
    for axes, panel in plots:
        axes.plot(*zip(*panel.of.values(), strict=True), marker="o", color=BLUE, markersize=3.0, linestyle="")
        axes.margins(_SCATTER_MARGIN)
        names = [label(bot, _LEGEND_CELLS) for bot in panel.of]
        places = _label_places(list(panel.of.values()), names)
        for name, place in zip(names, places, strict=True):
            if place is not None:
                at = (place.x / _PANEL_WIDTH, 1.0 - place.y / _PANEL_HEIGHT)
                axes.annotate(name, at, xycoords="axes fraction", fontsize=4.5, color=GREY, ha=_SIDES[place.anchor])
        nameless = ", ".join(name for name, place in zip(names, places, strict=True) if place is None)
        note = f"{panel.note}; no room for the names of {nameless}" if nameless else panel.note
        axes.set_xlabel("\n".join([label(scatter.across, _NAME_CELLS), *wrap(note, _PANEL_CHARACTERS)]))
        axes.grid()
    return figure


def _label_places(points: Sequence[tuple[float, float]], names: Sequence[str]) -> tuple[LabelPlace | None, ...]:
    """Return where names stand in a panel, in hundredths of an inch from its upper left corner."""
    placed = []
    for values, size in zip(zip(*points, strict=True), (_PANEL_WIDTH, _PANEL_HEIGHT), strict=True):
        low, high = min(values), max(values)
        shares = [0.5 if low == high else (value - low) / (high - low) for value in values]
        placed.append([size * (_SCATTER_MARGIN + share) / (1.0 + 2.0 * _SCATTER_MARGIN) for share in shares])
    at = [(x, _PANEL_HEIGHT - y) for x, y in zip(*placed, strict=True)]
    return place_labels(at, names, width=_PANEL_WIDTH, height=_PANEL_HEIGHT, letter=3.0, line=6.5)


def _prices(market: MarketHistory) -> "Figure":
    asked = market.market
    note = "Line: the price. Rings: forecasts. Crosses: prices at which bets were booked. Diamond: what it paid."
    figure = _figure(2.7, label(asked.question or asked.title, _TITLE_CELLS), note)
    axes = figure.subplots()
    at = _days([seconds for seconds, _ in market.prices])
    axes.step(at, [price for _, price in market.prices], where="post", color=GREY, linewidth=1.0)
    shown = [each for each in market.decisions if each.probability is not None or each.bet_usd != 0.0]
    handles, names = [], []
    for name, colour, of in _groups({each.bot: each.baseline for each in shown}):
        own = [each for each in shown if each.bot in of]
        booked = [(each.decided_at, each.price_yes) for each in own if each.bet_usd != 0.0]
        forecasts = [(each.decided_at, each.probability) for each in own if each.probability is not None]
        at, prices = np.array(booked).reshape(-1, 2).T
        axes.plot(_days(at), prices, marker="x", color=colour, markersize=3.5, linestyle="")
        at, stated = np.array(forecasts).reshape(-1, 2).T
        # Rings, through which the crosses are seen.
        handles += axes.plot(_days(at), stated, marker="o", color=colour, markersize=3.5, linestyle="")
        handles[-1].set_markerfacecolor("none")
        handles[-1].set_markeredgewidth(0.9)
        names.append(name)
    if market.payout_yes is not None and market.settled_at is not None:
        settled = float(_days([market.settled_at])[0])
        axes.plot([settled], [market.payout_yes], marker="D", color="black", markersize=4.0, linestyle="")
        paid = {1.0: "YES", 0.0: "NO"}.get(market.payout_yes, f"paid {market.payout_yes:.2f}")
        axes.annotate(paid, (settled, market.payout_yes), (5, 0), textcoords="offset points", va="center")
    axes.set_ylim(-0.04, 1.04)
    # Room for the words beside the last mark.
    axes.margins(x=0.1)
    axes.set_ylabel("price of YES")
    axes.grid(axis="y")
    _format_dates(axes)
    if handles:
        legend = axes.legend(handles, [""] * len(handles), loc="center left", bbox_to_anchor=(1.04, 0.5))
        # Set here, as `legend` would leave out names that begin with an underscore.
        for text, name in zip(legend.get_texts(), names, strict=True):
            text.set_text(name)
    return figure


def _groups(bots: Mapping[str, bool]) -> Iterator[tuple[str, str, Collection[str]]]:
    """Yield label, colour and bots of each group that is drawn alike, baselines first."""
    baselines = [bot for bot, knows_nothing in bots.items() if knows_nothing]
    others = [bot for bot, knows_nothing in bots.items() if not knows_nothing]
    if baselines:
        # A baseline that is alone is named.
        yield ("baselines" if others or len(baselines) > 1 else label(baselines[0], _LEGEND_CELLS)), _FAINT, baselines
    alone = others if len(others) <= len(_COLOURS) else others[: len(_COLOURS) - 1]
    for bot, colour in zip(alone, _COLOURS, strict=False):
        yield label(bot, _LEGEND_CELLS), colour, (bot,)
    if rest := others[len(alone) :]:
        yield f"{len(rest)} others", _COLOURS[-1], rest


def _grid(
    picture: series.Panels[series.PlotT_co], row_inches: float, left: str = ""
) -> "tuple[Figure, list[tuple[Axes, series.Plot[series.PlotT_co]]]]":
    """Return a figure with the axes of each panel, which have its name; `left` is the label of the first of a row."""
    columns = min(len(picture.panels), _COLUMNS)
    rows = -(-len(picture.panels) // columns)
    height = 2.4 if len(picture.panels) == 1 else row_inches * rows
    figure = _figure(height + 0.6, picture.title, picture.note)
    flat = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in flat[len(picture.panels) :]:
        axes.set_visible(False)
    plots = list(zip(flat, picture.panels, strict=False))
    for number, (axes, panel) in enumerate(plots):
        axes.set_title(label(panel.name, _NAME_CELLS))
        axes.set_ylabel("" if number % _COLUMNS else left)
    return figure, plots


def _figure(height_inches: float, title: str, note: str) -> "Figure":
    from textwrap import wrap

    from matplotlib.figure import Figure

    lines = wrap(note, _NOTE_CHARACTERS)
    figure = Figure(figsize=(WIDTH_INCHES, height_inches + 0.12 * len(lines)), layout="constrained")
    figure.suptitle(label(title, _TITLE_CELLS), x=0.01, ha="left")
    figure.supxlabel("\n".join(lines), x=0.01, ha="left", fontsize=6.5, color=GREY)
    return figure


def _format_dates(axes: "Axes") -> None:
    from matplotlib import dates

    # matplotlib.dates has no types.
    make: Any = dates
    locator = make.AutoDateLocator(minticks=2, maxticks=5, tz=UTC)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(make.ConciseDateFormatter(locator, tz=UTC))


def _days(seconds: ArrayLike) -> NDArray[np.float64]:
    """Return instants as matplotlib counts them: days since 1970."""
    return np.asarray(seconds, dtype=np.float64) / 86_400.0
