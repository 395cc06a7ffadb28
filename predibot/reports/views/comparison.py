"""Boards beside each other as data: rows, and tables for a screen."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, ends, table_of, words
from predibot.scoring.evaluation.comparison import Agreement, BoardFigures, SideBySide
from predibot.scoring.metrics.correlation import Correlations

_WRITERS: Mapping[str, Callable[[float | None], str]] = {
    "edge": figures.thousandths,
    "brier": figures.short_score,
    "sharpe": figures.ratio,
    "win_rate": figures.percent,
    "max_drawdown": figures.percent,
    "volatility": figures.percent,
}
_SHORT = {
    "cumulative_return": "return",
    "mean_return": "return",
    "max_drawdown": "drawdown",
    "win_rate": "wins",
    "brier": "Brier",
    "sharpe": "Sharpe",
}
_OF_EVENTS = "Of decisions on events, return is at the quote where there is one, and Sharpe of returns at the mid."
_RANGE = "Fisher's interval over bots; none for fewer than four, or where all stand in one line"


def comparison_document(comparison: SideBySide) -> Document:
    """Return a comparison as JSON has it; the values side by side only where there are several boards."""
    beside = {"side_by_side": list(side_by_side_rows(comparison.boards))} if len(comparison.boards) > 1 else {}
    points = (
        [{"bot": bot, "one": one, "other": other} for bot, (one, other) in each.points.items()]
        for each in comparison.agreements
    )
    rows = zip(agreement_rows(comparison.agreements), points, strict=True)
    return {**beside, "agreements": [{**row, "points": own} for row, own in rows]}


def side_by_side_rows(boards: Sequence[BoardFigures]) -> Iterator[Document]:
    """Yield a row for each bot of each board and game, with all its figures; None without a value."""
    for game in dict.fromkeys(game for board in boards for game in board.games):
        named = list(dict.fromkeys(figure for board in boards for figure in board.games.get(game, ())))
        for bot in dict.fromkeys(bot for board in boards for of in board.games.get(game, {}).values() for bot in of):
            for board in boards:
                values = {figure: board.games.get(game, {}).get(figure, {}).get(bot) for figure in named}
                if any(value is not None for value in values.values()):
                    about = {"game": game, "bot": bot, "board": board.name, "baseline": bot in board.baselines}
                    yield {**about, **values}


def agreement_rows(agreements: Sequence[Agreement]) -> Iterator[Document]:
    """Return a row for each agreement, with both coefficients and their intervals."""
    return (document(each, _AGREED) for each in agreements)


_AGREED = "game figure one other n=found.n " + " ".join(
    f"{name}=found.{name}.value {name}_low=found.{name}.low {name}_high=found.{name}.high"
    for name in ("pearson", "spearman")
)


def comparison_tables(comparison: SideBySide) -> Iterator[Table]:
    """Yield the tables of a comparison: the figures of each game side by side, and the agreements."""
    rows = list(side_by_side_rows(comparison.boards)) if len(comparison.boards) > 1 else []
    for game in dict.fromkeys(row["game"] for row in rows):
        own = [row for row in rows if row["game"] == game]
        shown = [figure for figure in own[0] if figure not in ("game", "bot", "board", "baseline")]
        columns = (
            Column("bot", "", lambda row: words(row["bot"]) + "*" * row["baseline"], 0, kind="name"),
            Column("board", "board", drop=0, kind="name"),
            *(Column(short_figure(figure), figure, writer_of(figure), index) for index, figure in enumerate(shown, 1)),
        )
        yield table_of(f"Side by side: {game}", columns, own, ("*: a baseline.", basis_note(shown)))
    if comparison.agreements:
        basis = basis_note(each.figure for each in comparison.agreements)
        yield table_of("Agreement", _AGREEMENT, comparison.agreements, (basis,))


def short_figure(figure: str) -> str:
    """Return a figure's name as a header has it, such as `Sharpe 7d` for `sharpe_7d`."""
    if figure in _SHORT:
        return _SHORT[figure]
    name, _, horizon = figure.partition("_")
    return " ".join(filter(None, (_SHORT.get(name, name), horizon)))


def basis_note(shown: Iterable[str]) -> str:
    """Return what the returns and Sharpe ratios of decisions on events are of; empty where no such ratio is shown."""
    return _OF_EVENTS if any(each.startswith("sharpe_") for each in shown) else ""


def correlation_note(correlations: Correlations) -> str:
    """Return a rank correlation in few words, such as `rho 0.80 (-0.82 to 1.00), 4 bots`."""
    found = correlations.spearman
    between = "" if found.low is None else f" ({figures.interval(found.low, found.high, decimals=2)})"
    return f"rho {figures.ratio(found.value)}{between}, {figures.things(correlations.n, 'bot')}"


def writer_of(figure: str) -> Callable[[float | None], str]:
    """Return how a figure is written; by default as a percentage with its sign."""
    return _WRITERS.get(figure, _WRITERS.get(figure.partition("_")[0], figures.signed_percent))


_END = ends(partial(figures.interval, decimals=2))
_AGREEMENT = (
    Column("figure", "", lambda each: short_figure(each.figure), kind="key"),
    Column("game", "game", drop=1, kind="name"),
    Column("of", "one", drop=6, kind="name"),
    Column("and", "other", drop=5, kind="name"),
    Column("bots", "found.n", figures.count),
    Column("Spearman", "found.spearman.value", figures.ratio).means("how far both rank the bots alike"),
    Column("95% of ranks", "found.spearman", _END).means(_RANGE),
    Column("Pearson", "found.pearson.value", figures.ratio, 3).means("how far the values lie on one line"),
    Column("95% of values", "found.pearson", _END, 2),
)
