"""An evaluation on a screen: what each bot did, how good it was, and on how much that rests."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from rich.console import Console

from predibot.domain.clock import format_instant
from predibot.reports import figures
from predibot.reports.evaluation import all_notes
from predibot.reports.grid import Column, Grid, print_grid
from predibot.reports.terminal import print_line, print_notes
from predibot.reports.text import plain
from predibot.scoring.bootstrap import Estimate
from predibot.scoring.counterfactual import Counterfactual
from predibot.scoring.evaluation import Evaluation
from predibot.scoring.forecast_score import ForecastScore
from predibot.scoring.knowledge import KNOWLEDGE
from predibot.scoring.leaderboard import Pair
from predibot.scoring.scorecard import HorizonScore, Scorecard

_SHOWN_PAIRS = 12
_SHOWN_ROWS = 50
_GROUP_CELLS = 40
_PART_CELLS = 6
"""Of a part the first scores are shown, up to the skill; all are in the JSON."""
_BOT = Column("bot", "text")
_HORIZON = Column("horizon", "key")


def print_evaluation(console: Console, evaluation: Evaluation, *, every: bool = True) -> None:
    """Print scorecards, each score with its interval and what it rests on, the pairs, and the notes.

    Args:
        console: Where to print.
        evaluation: What is printed.
        every: Whether tables have all their rows; else the first fifty, and a line says how many there are.
    """
    print_line(console, _head(evaluation))
    if evaluation.first_results_at is not None:
        first = format_instant(evaluation.first_results_at)
        print_line(console, f"nothing has settled yet; first results about {first}, earlier where a market settles")
    if not evaluation.cards and evaluation.apart is None:
        print_line(console, "no decisions recorded")
    for grid in _grids(evaluation):
        console.print()
        rows = grid.rows if every else grid.rows[:_SHOWN_ROWS]
        print_grid(console, replace(grid, rows=rows))
        if left := len(grid.rows) - len(rows):
            print_line(console, f"{left:,} more rows; --all shows them, --csv and --json have them all")
    print_notes(console, all_notes(evaluation))


def _head(evaluation: Evaluation) -> str:
    """Return of when this is, and how intervals and annual figures were made."""
    asked = evaluation.question
    parts = [
        "" if evaluation.as_of is None else f"as of {format_instant(evaluation.as_of)}",
        f"{asked.uncertainty.confidence:.0%} intervals over events",
        f"up to {asked.uncertainty.resamples:,} resamples, seed {asked.uncertainty.seed}",
        f"convention {asked.convention.name}",
    ]
    return " · ".join(part for part in parts if part)


def _grids(evaluation: Evaluation) -> Iterator[Grid]:
    """Yield the tables that have something to say, in the order of a reader's questions, one ranking after another."""
    apart = () if evaluation.apart is None else evaluation.apart.cards
    listed = {card.bot for card in evaluation.cards}
    # A bot with a card in both has all its decisions counted on the first.
    cards = (*evaluation.cards, *(card for card in apart if card.bot not in listed))
    if any(card.decisions for card in cards):
        yield _decisions_grid(cards)
    yield from _score_grids(evaluation)
    if evaluation.apart is not None:
        for grid in _score_grids(evaluation.apart):
            yield replace(grid, title=f"Cutoff unknown, ranked apart: {grid.title}")


def _score_grids(evaluation: Evaluation) -> Iterator[Grid]:
    cards = evaluation.cards
    if cards:
        yield _scores_grid(cards)
        yield _forecasts_grid(cards)
    if any(card.horizons for card in cards):
        yield _returns_grid(cards)
    if frictions := _frictions_grid(cards):
        yield frictions
    if pairs := [pair for pair in evaluation.pairs if pair.metric == "brier" and pair.n]:
        yield _pairs_grid(pairs)
    yield from _part_grids(evaluation)
    if evaluation.delays:
        yield _counterfactual_grid(
            "Carried out late: negative says that stale decisions hurt", "days", evaluation.delays
        )
    if evaluation.sizings:
        yield _counterfactual_grid("The same forecasts, bet by other rules", "sizing", evaluation.sizings)


def _decisions_grid(cards: Sequence[Scorecard]) -> Grid:
    counted = ["decisions", "refused", "failed", "abstained"]
    # Where no model can have known an end, there is nothing to tell apart.
    if any(card.clean < card.decisions for card in cards):
        counted += KNOWLEDGE
    rows = tuple(
        (plain(card.bot), *(figures.count(getattr(card, each)) for each in counted), figures.cost_usd(card.cost_usd))
        for card in cards
    )
    headers = (*counted, "cost")
    return Grid("Decisions", (_BOT, *(Column(header) for header in headers)), rows)


def _scores_grid(cards: Sequence[Scorecard]) -> Grid:
    rows = tuple((plain(card.bot), *_score_cells(card.forecast)) for card in cards)
    return Grid("Forecasts on settled markets, beside the price at that time", (_BOT, *_SCORE_COLUMNS), rows)


_SCORE_COLUMNS = tuple(
    Column(header) for header in ("n", "events", "Brier", "interval", "market", "skill", "interval", "ECE")
)


def _score_cells(score: ForecastScore) -> tuple[str, ...]:
    return (
        figures.count(score.n),
        figures.count(score.clusters),
        figures.score(score.brier),
        figures.interval(*_ends(score.intervals.get("brier"))),
        figures.score(score.market_brier),
        figures.ratio(score.skill_vs_market),
        figures.interval(*_ends(score.intervals.get("skill_vs_market")), decimals=2),
        figures.probability(score.calibration_error),
    )


def _forecasts_grid(cards: Sequence[Scorecard]) -> Grid:
    rows = tuple(
        (
            plain(card.bot),
            *(figures.count(n) for n in (card.forecasts, card.settled, card.void)),
            figures.percent(card.forecast.accuracy),
            figures.score(card.log_score),
            figures.score(card.forecast.adjusted_brier),
            figures.ratio(card.forecast.confidence_and_error),
            figures.score(card.brier_open),
            figures.count(card.n_brier_open),
        )
        for card in cards
    )
    headers = ("forecasts", "settled", "void", "right", "log", "adjusted", "sure~error", "open", "n open")
    return Grid(
        "All forecasts: called right, log score, Brier adjusted for difficulty, confidence against error, where open",
        (_BOT, *(Column(header) for header in headers)),
        rows,
    )


def _returns_grid(cards: Sequence[Scorecard]) -> Grid:
    rows = tuple(
        (
            plain(card.bot),
            _horizon(label),
            figures.signed_percent(score.mean_return),
            figures.percent_interval(*_ends(score.intervals.get("mean_return"))),
            figures.signed_percent(score.market_mean_return),
            figures.count(score.n),
            figures.count(score.clusters),
            figures.percent(score.coverage),
            figures.ratio(score.sharpe),
        )
        for card in cards
        for label, score in card.horizons.items()
    )
    headers = ("return", "interval", "market", "n", "events", "coverage", "Sharpe")
    return Grid(
        "Returns at the mid: mean a decision, beside market_price on the same decisions",
        (_BOT, _HORIZON, *(Column(header) for header in headers)),
        rows,
    )


def _frictions_grid(cards: Sequence[Scorecard]) -> Grid | None:
    """Return what the mid hides, as far as there is something; None where there is nothing."""
    scores = [(card, label, score) for card in cards for label, score in card.horizons.items()]
    shown: list[tuple[str, Callable[[HorizonScore], str]]] = []
    if any(score.n_quote for *_, score in scores):
        shown += [
            ("at quote", lambda score: figures.signed_percent(score.quote_mean_return)),
            ("friction", lambda score: figures.signed_percent(score.friction)),
            ("n", lambda score: figures.count(score.n_quote)),
        ]
    if any(card.cost_usd is None or card.cost_usd > 0.0 for card, *_ in scores):
        shown += [
            ("net of cost", lambda score: figures.signed_percent(score.net_mean_return)),
            ("n", lambda score: figures.count(score.n_net)),
        ]
    if any(score.n_drift for *_, score in scores):
        shown += [
            ("drift", lambda score: figures.signed_score(score.drift)),
            ("interval", lambda score: figures.interval(*_ends(score.intervals.get("drift")))),
            ("n", lambda score: figures.count(score.n_drift)),
        ]
    if not shown:
        return None
    rows = tuple(
        (plain(card.bot), _horizon(label), *(cell(score) for _, cell in shown)) for card, label, score in scores
    )
    return Grid(
        "Beside the mid: bought at the quote with fees, less models' cost, and how far prices came toward forecasts",
        (_BOT, _HORIZON, *(Column(header) for header, _ in shown)),
        rows,
    )


def _pairs_grid(pairs: Sequence[Pair]) -> Grid:
    likely = sorted(pairs, key=lambda pair: (pair.p_adjusted is None, pair.p_adjusted))
    rows = tuple(
        (
            plain(pair.first),
            plain(pair.second),
            figures.count(pair.n),
            figures.count(pair.clusters),
            figures.signed_score(pair.difference),
            figures.interval(pair.low, pair.high),
            figures.p_value(pair.p_adjusted),
            figures.score(pair.detectable),
        )
        for pair in likely[:_SHOWN_PAIRS]
    )
    shown = f"; {_SHOWN_PAIRS} of {len(pairs)}" if len(pairs) > _SHOWN_PAIRS else ""
    columns = (
        Column("first", "text"),
        Column("second", "text"),
        *(Column(header) for header in ("n", "events", "less", "interval", "p", "sees")),
    )
    return Grid(
        f"Pairs: Brier of the first less the second, where both forecast; p for all pairs; what could be seen{shown}",
        columns,
        rows,
    )


def _part_grids(evaluation: Evaluation) -> Iterator[Grid]:
    """Yield what was asked for by `--by`."""
    by = evaluation.question.grouping
    group = Column(by or "", "text")
    if evaluation.parts:
        rows = tuple(
            (plain(part.group, _GROUP_CELLS), plain(part.card.bot), *_score_cells(part.card.forecast)[:_PART_CELLS])
            for part in evaluation.parts
        )
        yield Grid(f"Forecasts by {by}", (group, _BOT, *_SCORE_COLUMNS[:_PART_CELLS]), rows)
        yield _part_returns_grid(evaluation, group)
    scores = {"lead_time": evaluation.by_lead_time, "confidence": evaluation.by_confidence}.get(by or "", ())
    if scores:
        rows = tuple((plain(part.group), plain(part.bot), *_score_cells(part.score)[:_PART_CELLS]) for part in scores)
        yield Grid(f"Forecasts by {_PARTED_BY[by or '']}", (group, _BOT, *_SCORE_COLUMNS[:_PART_CELLS]), rows)


_PARTED_BY = {"lead_time": "days before the settlement", "confidence": "stated confidence, of 10"}


def _part_returns_grid(evaluation: Evaluation, group: Column) -> Grid:
    labels = tuple(evaluation.parts[0].card.horizons)
    rows = tuple(
        (
            plain(part.group, _GROUP_CELLS),
            plain(part.card.bot),
            figures.count(part.card.decisions),
            *(figures.signed_percent(part.card.horizons[label].mean_return) for label in labels),
        )
        for part in evaluation.parts
    )
    columns = (group, _BOT, Column("decisions"), *(Column(_horizon(label)) for label in labels))
    return Grid(f"Returns at the mid by {evaluation.question.grouping}", columns, rows)


def _counterfactual_grid(title: str, change: str, found: Sequence[Counterfactual]) -> Grid:
    rows = tuple(
        (
            plain(each.bot),
            each.change,
            _horizon(each.horizon),
            figures.signed_percent(each.mean_return),
            figures.signed_percent(each.actual_mean_return),
            figures.signed_percent(None if each.difference is None else each.difference.estimate),
            figures.percent_interval(*_ends(each.difference)),
            figures.count(0 if each.difference is None else each.difference.n),
        )
        for each in found
    )
    headers = ("return", "as it was", "difference", "interval", "n")
    return Grid(title, (_BOT, Column(change, "key"), _HORIZON, *(Column(header) for header in headers)), rows)


def _horizon(label: str) -> str:
    if label in ("now", "settled"):
        return label
    return f"{label} day{'' if label == '1' else 's'}"


def _ends(estimate: Estimate | None) -> tuple[float | None, float | None]:
    return (None, None) if estimate is None else (estimate.low, estimate.high)
