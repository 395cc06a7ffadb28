"""Boards beside each other: of several venues or ledgers, and of scores from outside. No figures are added up."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

from predibot.scoring.accounts.score import AccountScore
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.metrics.correlation import Correlations, correlations
from predibot.scoring.metrics.equity import EquityScore

OF_ACCOUNTS = ("cumulative_return", "sharpe", "max_drawdown", "win_rate", "volatility")
EVENTS = "events"
"""The game of decisions on events."""

Figures = Mapping[str, Mapping[str, float]]
"""A value by figure and bot; a bot without a value has none."""


@dataclass(frozen=True, slots=True)
class BoardFigures:
    """The figures of all bots of one venue, of one ledger, or from outside."""

    name: str
    games: Mapping[str, Figures]
    """By game; a game that several recipes play has them in its name."""
    baselines: frozenset[str] = field(default_factory=frozenset)


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two boards agree about the same bots in one figure."""

    game: str
    figure: str
    one: str
    other: str
    points: Mapping[str, tuple[float, float]]
    """The values on both boards by bot; without baselines, unless a score from outside names them."""
    found: Correlations


def board_figures(name: str, evaluation: Evaluation) -> BoardFigures:
    """Return the figures of an evaluation; of a bot that is also ranked apart, those of its clean decisions."""
    cards: dict[str, Scorecard] = {}
    for ranking in evaluation.rankings.values():
        cards = {card.bot: card for card in ranking.cards} | cards
    found: dict[str, list[tuple[str, str, float | None]]] = {EVENTS: [*_of_cards(cards.values())]}
    baselines = {card.bot for card in cards.values() if card.baseline}
    played = [each.game for each in evaluation.accounts] + [each.game for each in evaluation.cohorts]
    for board in evaluation.accounts:
        game = board.game if played.count(board.game) == 1 else f"{board.game} {board.recipe} {board.mode}"
        found.setdefault(game, []).extend(_of_accounts(board.scores))
        baselines |= {each.bot for each in board.scores if each.baseline}
    for cohorts in evaluation.cohorts:
        named = f"{cohorts.game} {cohorts.recipe} {cohorts.mode} {cohorts.methodology}"
        game = cohorts.game if played.count(cohorts.game) == 1 else named
        for each in cohorts.scores:
            score = each.score
            found.setdefault(game, []).append(("mean_return", each.bot, score.returns.mean))
            found[game].append(("win_rate", each.bot, score.win_rate))
        baselines |= {each.bot for each in cohorts.scores if each.baseline}
    return BoardFigures(
        name, {game: rows for game, of in found.items() if (rows := _by_figure(of))}, frozenset(baselines)
    )


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Boards beside each other, and how far they agree with each other and with a score from outside."""

    boards: tuple[BoardFigures, ...]
    agreements: tuple[Agreement, ...]

    @property
    def bots(self) -> frozenset[str]:
        """Return the bots that have a figure on some board."""
        games = (figures for board in self.boards for figures in board.games.values())
        return frozenset(bot for figures in games for values in figures.values() for bot in values)


def compare(
    evaluations: Iterable[tuple[str, Evaluation]], outside: tuple[str, Mapping[str, float]] | None = None
) -> SideBySide:
    """Return evaluations beside each other, and the agreement in each figure that both of two boards have.

    Each comes with the name of its board; `outside` is a named score by bot, set beside each figure of each board.
    """
    boards = tuple(board_figures(name, evaluation) for name, evaluation in evaluations)
    found = [each for board in boards if outside is not None for each in _with_outside(board, *outside)]
    found += [each for one, other in combinations(boards, 2) for each in _between(one, other)]
    return SideBySide(boards, tuple(found))


def _with_outside(board: BoardFigures, name: str, scores: Mapping[str, float]) -> Iterator[Agreement]:
    for game, of_game in board.games.items():
        for figure, values in of_game.items():
            yield _agreement(game, figure, (name, scores), (board.name, values))


def _between(one: BoardFigures, other: BoardFigures) -> Iterator[Agreement]:
    left_out = one.baselines | other.baselines
    for game, of_game in one.games.items():
        there = other.games.get(game, {})
        for figure in of_game:
            if figure in there:
                first = {bot: value for bot, value in of_game[figure].items() if bot not in left_out}
                yield _agreement(game, figure, (one.name, first), (other.name, there[figure]))


def _agreement(
    game: str, figure: str, one: tuple[str, Mapping[str, float]], other: tuple[str, Mapping[str, float]]
) -> Agreement:
    points = {bot: (value, other[1][bot]) for bot, value in one[1].items() if bot in other[1]}
    return Agreement(game, figure, one[0], other[0], points, correlations(one[1], other[1]))


def _of_cards(cards: Iterable[Scorecard]) -> Iterator[tuple[str, str, float | None]]:
    for card in cards:
        yield "edge", card.bot, card.edge.edge
        yield "brier", card.bot, card.brier
        for label, score in card.horizons.items():
            name = label if score.days is None else f"{label}d"
            returned = score.mean_return if score.quote_mean_return is None else score.quote_mean_return
            yield f"return_{name}", card.bot, returned
            yield f"sharpe_{name}", card.bot, score.sharpe


def _of_accounts(scores: Iterable[AccountScore]) -> Iterator[tuple[str, str, float | None]]:
    for score in scores:
        equity: EquityScore | None = score.equity
        for figure in OF_ACCOUNTS:
            yield figure, score.bot, None if equity is None else getattr(equity, figure)


def _by_figure(rows: Iterable[tuple[str, str, float | None]]) -> Figures:
    found: dict[str, dict[str, float]] = {}
    for figure, bot, value in rows:
        if value is not None:
            found.setdefault(figure, {}).setdefault(bot, value)
    return found
