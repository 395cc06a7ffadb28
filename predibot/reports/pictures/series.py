"""What pictures show, as plain series, without matplotlib."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from textwrap import shorten
from typing import Generic, TypeVar

from predibot.jobs.histories.bot import AccountHistory, BotHistory, CohortsHistory, points_of
from predibot.jobs.histories.event import MarketHistory
from predibot.jobs.histories.ledger import LedgerHistory, WeightsHistory
from predibot.reports import figures
from predibot.reports.table import value_of
from predibot.reports.views.comparison import basis_note, correlation_note, short_figure
from predibot.reports.views.leaderboard import EFFORT_WORDS, effort_board
from predibot.rows import grouped
from predibot.scoring.accounts.market_weights import mean_of_bots
from predibot.scoring.evaluation.comparison import Agreement
from predibot.scoring.evaluation.effort import EFFORTS, EffortCorrelation
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.horizon_series import EDGE, GAIN, GAIN_AT_QUOTE, RunningPoint
from predibot.scoring.evaluation.scorecard import HorizonScore, Scorecard
from predibot.scoring.metrics.calibration import CalibrationBins
from predibot.scoring.records.knowledge import Knowledge

MOST_PANELS = 12
_MOST_BARS = 24
_TITLE_CHARACTERS = 90
_BAND = "Band: 95% interval of the sum, were it looked at on that day alone."


PlotT_co = TypeVar("PlotT_co", covariant=True)
BoardT = TypeVar("BoardT", AccountHistory, CohortsHistory)


@dataclass(frozen=True, slots=True)
class Plot(Generic[PlotT_co]):
    """A panel of a picture, such as that of one bot."""

    name: str
    """It may be a text of others."""
    of: PlotT_co
    """What is drawn."""
    note: str = ""
    """What stands below it, such as a correlation."""


@dataclass(frozen=True, slots=True)
class Panels(Generic[PlotT_co]):
    """Plots of one kind beside each other."""

    title: str
    panels: tuple[Plot[PlotT_co], ...]
    note: str


@dataclass(frozen=True, slots=True)
class Curves(Panels[tuple[RunningPoint, ...]]):
    """Curves with their bands."""

    unit: str
    """Label of the vertical axis."""
    level: float = 0.0
    """Height of the line of no gain: of an account, its deposit."""
    counted: str = ""
    """Noun of what the points add up, such as events; empty to leave it out."""
    marks: tuple[tuple[float, str], ...] = ()
    """Instants in seconds since 1970, shown in each panel, with their words, which are a text of others."""


class Calibrations(Panels[CalibrationBins]):
    """Reliability diagrams of forecasters; the notes of the panels say how much each rests on."""


@dataclass(frozen=True, slots=True)
class Returns(Panels[tuple[tuple[str, HorizonScore | None], ...]]):
    """Mean returns of bots at horizons; all panels have the same bots in the same order, None for one without."""

    at_quote: bool
    """Whether the returns are those at the quote; else they are those at the mid."""

    @property
    def mean(self) -> str:
        """Return the field of a score that is drawn."""
        return "quote_mean_return" if self.at_quote else "mean_return"


class Cohorts(Panels[CohortsHistory]):
    """Returns of bots by cohort."""


@dataclass(frozen=True, slots=True)
class Scatter(Panels[Mapping[str, tuple[float, float]]]):
    """Figures of bots against another one: its value and theirs, by bot."""

    across: str
    """Label of the horizontal axis."""


Picture = Scatter | Curves | Calibrations | Returns | Cohorts | MarketHistory


def ledger_pictures(history: LedgerHistory) -> Iterator[tuple[str, Picture]]:
    """Yield the pictures of a ledger with the names of their files; empty pictures are left out."""
    yield from _pictures(
        [
            (
                _panel_name(card.bot, knowledge),
                card,
                {what: of[card.bot] for what, of in history.running[knowledge].items() if card.bot in of},
            )
            for knowledge, ranking in history.evaluation.rankings.items()
            for card in ranking.leaderboard
        ],
        history,
    )
    yield from effort_pictures(history.evaluation)


def effort_pictures(evaluation: Evaluation) -> Iterator[tuple[str, Scatter]]:
    """Yield a picture of each effort against success; an effort that is the same of all bots is left out."""
    for knowledge, ranking in evaluation.rankings.items():
        board = effort_board(ranking)
        for effort in EFFORTS:
            found = [each for each in board.correlations if each.effort == effort and each.across > 1]
            panels = tuple(
                Plot(EFFORT_WORDS.get(each.success, each.success), _as_read(each), correlation_note(each.found))
                for each in found
            )
            if panels:
                word = EFFORT_WORDS.get(effort, effort)
                title = _panel_name(f"{word.capitalize()} of a decision against success", knowledge)
                note = (
                    "Rank correlation (Spearman) over bots, with its 95% interval. Edge: in thousandths of Brier. "
                    f"Return: {board.returns}."
                )
                suffix = "" if knowledge == "clean" else f"-{knowledge}"
                yield f"effort-{word}{suffix}", Scatter(title, panels, note, word)


def _as_read(correlation: EffortCorrelation) -> Mapping[str, tuple[float, float]]:
    """Return the points of a correlation as people read them: edges in thousandths."""
    unit = 1_000.0 if correlation.success == "edge" else 1.0
    return {bot: (effort, unit * success) for bot, (effort, success) in correlation.points.items()}


def agreement_pictures(agreements: Sequence[Agreement]) -> Iterator[tuple[str, Picture]]:
    """Yield a picture of each game's figures against a score from outside; without two bots a figure has no panel."""
    for number, (game, of_game) in enumerate(groupby(agreements, key=attrgetter("game")), start=1):
        shown = [each for each in of_game if len(each.points) > 1]
        panels = tuple(
            Plot(short_figure(each.figure), each.points, correlation_note(each.found)) for each in shown[:MOST_PANELS]
        )
        if panels:
            found = "Rank correlation (Spearman) over bots, with its 95% interval where there is one."
            note = f"{found} {basis_note(each.figure for each in shown)}".rstrip()
            name = "agreement" if number == 1 else f"agreement-{number}"
            yield name, Scatter(f"{shown[0].one} against {game}", panels, note, shown[0].one)


def bot_pictures(history: BotHistory) -> Iterator[tuple[str, Picture]]:
    """Yield the pictures of one bot with the names of their files; empty pictures are left out."""
    scored = [(_panel_name(each.card.bot, each.knowledge), each.card, each.running) for each in history.scored]
    return _pictures(scored, history)


def _panel_name(name: str, knowledge: Knowledge) -> str:
    return name if knowledge == "clean" else f"{name} (cutoff unknown)"


def _pictures(
    scored: Sequence[tuple[str, Scorecard, Mapping[str, tuple[RunningPoint, ...]]]], history: LedgerHistory | BotHistory
) -> Iterator[tuple[str, Picture]]:
    cards = [(name, card) for name, card, _ in scored]
    yield from _sums([(name, running) for name, _, running in scored])
    yield from _calibration(cards)
    yield from _returns(cards)
    yield from _accounts(history.accounts)
    if isinstance(history, LedgerHistory):
        for number, weights in enumerate(history.weights, start=1):
            yield f"weights-{number}", _weights(weights)
    yield from _cohorts(history.cohorts)
    for number, market in enumerate(history.markets, start=1):
        yield f"price-{number}", market


def _sums(bots: Sequence[tuple[str, Mapping[str, tuple[RunningPoint, ...]]]]) -> Iterator[tuple[str, Picture]]:
    """Yield edges, and gains: at the quote if any bot has one there, else at the mid."""
    gained = GAIN_AT_QUOTE if any(GAIN_AT_QUOTE in running for _, running in bots) else GAIN
    where = "at the quote, with fees" if gained == GAIN_AT_QUOTE else "at the mid"
    for name, title, unit, what in (
        ("edge", "Edge over the price, added up", "thousandths of Brier", EDGE),
        ("gain", f"Gain of a dollar a decision, added up, {where}", figures.money_noun(), gained),
    ):
        scale = 1000.0 if what == EDGE else 1.0
        panels = [Plot(bot, _scale(running[what], scale)) for bot, running in bots if what in running]
        # A bot that always states the price has a flat line.
        moving = [each for each in panels if any(point.total != 0.0 for point in each.of)]
        if moving:
            flat = len(panels) - len(moving)
            note = _note(_BAND, moving, f"Left out: {flat} that never left zero." if flat else "")
            yield name, Curves(title, tuple(moving[:MOST_PANELS]), note, unit, counted="events")


def _scale(points: Sequence[RunningPoint], by: float) -> tuple[RunningPoint, ...]:
    return tuple(
        replace(
            point,
            total=by * point.total,
            low=None if point.low is None else by * point.low,
            high=None if point.high is None else by * point.high,
        )
        for point in points
    )


def _calibration(cards: Sequence[tuple[str, Scorecard]]) -> Iterator[tuple[str, Picture]]:
    panels = [
        Plot(name, card.forecast.calibration, f"{card.forecast.n:,} of {card.forecast.clusters:,} events")
        for name, card in cards
        if card.forecast.calibration is not None
    ]
    if panels:
        note = "Lines: Wilson's 95% interval, over the events forecasts are worth. Bars and numbers: how many."
        yield "calibration", Calibrations("Calibration", tuple(panels[:MOST_PANELS]), _note(note, panels, scaled=False))


def _returns(cards: Sequence[tuple[str, Scorecard]]) -> Iterator[tuple[str, Picture]]:
    labels = list(dict.fromkeys(label for _, card in cards for label in card.horizons))
    at_quote = any(score.n_quote for _, card in cards for score in card.horizons.values())
    panels = tuple(
        Plot(figures.horizon(label), tuple((name, card.horizons.get(label)) for name, card in cards[:_MOST_BARS]))
        for label in labels
    )
    where = "at the quote, with fees" if at_quote else "at the mid"
    lines = "Lines: 95% intervals. No bar: no value. Each panel has its own scale."
    note = _note(lines, cards, scaled=False, most=_MOST_BARS)
    found = Returns(f"Mean return of a decision of one dollar, {where}", panels, note, at_quote)
    if any(value_of(score, found.mean) is not None for panel in panels for _, score in panel.of):
        yield "returns", found


def _accounts(accounts: Sequence[AccountHistory]) -> Iterator[tuple[str, Picture]]:
    for suffix, found in _boards(accounts, attrgetter("board.recipe", "board.game", "board.mode", "board.subject")):
        panels = [Plot(each.score.bot, each.values) for each in found]
        note = _note("Band: 95%, what the value could have been by the scatter of its own returns up to then.", panels)
        title, start_usd = f"Account value: {_board(found[0])}", found[0].score.start_usd
        shown = tuple(panels[:MOST_PANELS])
        yield f"account-value{suffix}", Curves(title, shown, note, figures.money_noun(), start_usd)
        for name, title, unit, what in (
            ("cash", "Cash share after the fills of each decision", "share of the account", "cash_shares"),
            ("drawdown", "Drawdown below the highest value so far", "share of that value", "drawdowns"),
        ):
            series = {each.score.bot: getattr(each, what) for each in found}
            baselines = {each.score.bot: each.score.baseline for each in found}
            yield f"{name}{suffix}", _shares(f"{title}: {_board(found[0])}", unit, series, baselines)


def _boards(found: Iterable[BoardT], board_of: Callable[[BoardT], Hashable]) -> Iterator[tuple[str, list[BoardT]]]:
    """Yield what is on each board with the end of the names of its files, which is empty for the only board."""
    boards = grouped((board_of(each), each) for each in found)
    for number, own in enumerate(boards.values(), start=1):
        yield "" if len(boards) == 1 else f"-{number}", own


def _shares(
    title: str, unit: str, series: Mapping[str, Sequence[tuple[float, float]]], baselines: Mapping[str, bool]
) -> Curves:
    """Return a panel for each bot, behind one of their mean where there are several."""
    models = [bot for bot in series if not baselines[bot]] or list(series)
    panels = [Plot(bot, _points(points)) for bot, points in series.items()]
    if len(models) > 1:
        panels.insert(0, Plot(_mean_name(len(models)), _points(_mean(series, models))))
    note = _note("Baselines are not in the mean." if 1 < len(models) < len(series) else "", panels)
    return Curves(title, tuple(panels[:MOST_PANELS]), note, unit)


def _mean_name(bots: int) -> str:
    return f"mean of {bots} bots"


def _mean(series: Mapping[str, Sequence[tuple[float, float]]], bots: Sequence[str]) -> list[tuple[float, float]]:
    values = grouped(point for bot in bots for point in series[bot])
    return [(at, sum(found) / len(found)) for at, found in sorted(values.items())]


def _points(values: Sequence[tuple[float, float]]) -> tuple[RunningPoint, ...]:
    return tuple(RunningPoint(at, value, None, None, row, row) for row, (at, value) in enumerate(values, start=1))


def _weights(history: WeightsHistory) -> Curves:
    """Return the mean weights of the sides of a market, its price, and the net weight of each bot."""
    found, at = history.weights, history.at
    models = [bot for bot, is_baseline in history.bots.items() if not is_baseline] or list(history.bots)
    has_sides = any(side.any() for side in found.short.values())
    means = [("YES" if has_sides else "weight", found.long), *([("NO", found.short)] if has_sides else [])]
    panels = [
        Plot(f"{side}, {_mean_name(len(models))}", _points(points_of(at, mean_of_bots([of[b] for b in models]))))
        for side, of in means
    ]
    panels.append(Plot("price of YES" if has_sides else "price", _points(points_of(at, found.price))))
    holders = [bot for bot in history.bots if (found.net(bot) != 0.0).any()]
    for bot in holders:
        panels.append(Plot(f"{bot}, YES less NO" if has_sides else bot, _points(points_of(at, found.net(bot)))))
    never = len(history.bots) - len(holders)
    left_out = f" Left out: {figures.things(never, 'bot')} that never held it." if never else ""
    note = _note(f"Shares of the account after the fills of each decision.{left_out}", panels)
    news = [
        f"{number}: {shorten(title, _TITLE_CHARACTERS, placeholder=' …')}"
        for number, (_, title) in enumerate(history.news, start=1)
    ]
    if news:
        note += f" Dotted lines: the last news before the decisions at which bots moved most. {'; '.join(news)}"
    title, shown = f"Weights over time: {history.question}", tuple(panels[:MOST_PANELS])
    return Curves(title, shown, note, "share of the account", marks=history.news)


def _cohorts(cohorts: Sequence[CohortsHistory]) -> Iterator[tuple[str, Picture]]:
    for suffix, found in _boards(cohorts, attrgetter("board.recipe", "board.game", "board.mode", "board.methodology")):
        panels = tuple(
            Plot(_panel_name(each.score.display_name or each.score.bot, each.score.knowledge), each)
            for each in found[:MOST_PANELS]
        )
        note = _note("Bars: cohorts by their start. Line and band: the mean and its 95% interval.", found)
        yield f"cohorts{suffix}", Cohorts(f"Cohorts: {_board(found[0])}", panels, note)


def _board(of: AccountHistory | CohortsHistory) -> str:
    return f"{of.board.game} of {of.board.recipe}, {of.board.mode}"


def _note(
    before: str, panels: Sequence[object], after: str = "", *, scaled: bool = True, most: int = MOST_PANELS
) -> str:
    """Return what is said below a picture: between two texts that it is `scaled` by panel, last how many fit in."""
    scale = "Each panel has its own scale." if scaled and len(panels) > 1 else ""
    cut = f"The first {most} of {len(panels)}; --bots chooses others." if len(panels) > most else ""
    return " ".join(filter(None, (before, scale, after, cut)))
