"""The tables of an evaluation: what each bot did, how good it was, and on how much that rests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from predibot.reports import figures
from predibot.reports.terminal.grid import Column, Grid
from predibot.reports.terminal.text import plain
from predibot.reports.views.leaderboard import (
    PAIR_VERDICTS,
    LeaderboardRow,
    far_apart,
    leaderboard,
    more_events,
    verdict_said,
)
from predibot.scoring.evaluation.counterfactual import Counterfactual
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.moments import NEAR_HOURS
from predibot.scoring.evaluation.pairs import MOST_OPEN_STAKES, Pair
from predibot.scoring.evaluation.scorecard import HorizonScore, Scorecard
from predibot.scoring.evaluation.verdict import Verdict, pair_verdict
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.records.horizon_returns import SETTLED
from predibot.scoring.records.knowledge import KNOWLEDGE

_GROUP_CELLS = 40
_PART_CELLS = 6
"""Of a part the first scores are shown, up to the skill; all are in the JSON."""
_CURVE_CELLS = 40
_BOT = Column("bot", "name")
_HORIZON = Column("horizon", "key")

_Cell = Callable[[HorizonScore], str]


def table_grids(evaluation: Evaluation, name: str) -> Iterator[Grid]:
    """Yield the grids of a table, those of the ranking apart after the others; nothing where there is nothing to say.

    Raises:
        ValueError: If there is no such table.
    """
    if name not in TABLES:
        raise ValueError(f"no table {name!r}; there are: {', '.join(TABLES)}")
    for ranking in evaluation.rankings.values():
        for grid in TABLES[name](ranking):
            yield grid if ranking is evaluation else replace(grid, title=f"Cutoff unknown, ranked apart: {grid.title}")


def asked_grids(evaluation: Evaluation) -> Iterator[Grid]:
    """Yield the tables of what `--by`, `--delay` and `--sizing` asked for."""
    for ranking in evaluation.rankings.values():
        for grid in _asked_grids(ranking):
            yield grid if ranking is evaluation else replace(grid, title=f"Cutoff unknown, ranked apart: {grid.title}")


def _asked_grids(evaluation: Evaluation) -> Iterator[Grid]:
    yield from _part_grids(evaluation)
    if evaluation.delays:
        yield _counterfactual_grid(
            "Carried out late: negative says that stale decisions hurt", "days", evaluation.delays
        )
    if evaluation.sizings:
        yield _counterfactual_grid("The same forecasts, bet by other rules", "sizing", evaluation.sizings)


def _decisions(evaluation: Evaluation) -> Iterator[Grid]:
    cards = [card for card in evaluation.cards if card.decisions]
    if not cards:
        return
    counted = ["decisions", "refused", "failed", "abstained"]
    # Where no model can have known an end, there is nothing to tell apart.
    known = any(card.clean < card.decisions for card in cards)
    counted += KNOWLEDGE if known else ()
    rows = tuple(
        (plain(card.bot), *(figures.count(getattr(card, each)) for each in counted), figures.cost_usd(card.cost_usd))
        for card in cards
    )
    yield Grid(
        "Decisions",
        (_BOT, *(Column(header) for header in (*counted, "cost"))),
        rows,
        dropped_first=("clean", "unknown", "abstained", "ahead", "contaminated", "refused", "failed"),
        kept=("decisions", "cost"),
        legend=(
            ("clean", "the models cannot know the end"),
            ("unknown", "their cutoff is not known, scored apart"),
            ("ahead", "they may know the end, in no score"),
            ("contaminated", "the end came before their cutoff, in no score"),
        ),
    )


def _forecasts(evaluation: Evaluation) -> Iterator[Grid]:
    board = leaderboard(evaluation)
    if any(row.edge is not None for row in board):
        yield _edge_grid(evaluation, board)
        yield _curve_grid(board)
    if evaluation.cards:
        yield _scores_grid(evaluation.cards)
        yield _more_grid(evaluation.cards)


def _edge_grid(evaluation: Evaluation, board: Sequence[LeaderboardRow]) -> Grid:
    cards = {card.bot: card for card in evaluation.cards}
    evidence = {each.bot: each.forecasts for each in evaluation.evidence}
    rows = []
    for row in board:
        edge, found = cards[row.bot].edge, evidence.get(row.bot)
        rows.append(
            (
                plain(row.bot),
                figures.thousandths(row.edge),
                _thousandths_interval(edge.interval),
                figures.count(edge.clusters),
                verdict_said(row),
                figures.e_value(None if found is None else found.better.largest),
                figures.e_value(None if found is None else found.worse.largest),
                _more_events(row.verdict),
                figures.thousandths(row.edge_by_event),
                figures.thousandths(edge.settled_part),
                figures.thousandths(None if edge.interval is None else edge.interval.without_best),
                figures.count(edge.asked),
                figures.count(edge.answered),
            )
        )
    headers = (
        *("edge", "95% interval", "events", "verdict", "E", "E worse", "more events", "by event", "settled"),
        *("without best", "asked", "said"),
    )
    grid = Grid(
        "Edge over the price, on every market asked, in thousandths of squared error",
        (_BOT, *(Column(each, "key" if each == "verdict" else "number") for each in headers)),
        tuple(rows),
        dropped_first=("said", "asked", "settled", "by event", "without best", "more events", "events", "E worse", "E"),
        kept=("edge", "95% interval", "verdict"),
        legend=(
            ("E", "the evidence that it beats the price, which may be read any day; from 20 on it is said"),
            ("E worse", "the same of the opposite"),
            ("more events", "how many more it would take to tell"),
            ("by event", "with every event counting once, where that is far off"),
            ("settled", "the part of markets that paid"),
            ("without best", "without the event that lifts it most"),
            ("said", "markets answered"),
        ),
    )
    return grid if any(row.edge_by_event is not None for row in board) else grid.without("by event")


def _curve_grid(board: Sequence[LeaderboardRow]) -> Grid:
    rows = tuple((plain(row.bot), figures.sparkline(row.curve, _CURVE_CELLS)) for row in board)
    return Grid(
        "Edge as it added up, from the first day to the last",
        (_BOT, Column("edge over time", "key")),
        rows,
        ("Each line has its own scale, zero included.",),
    )


def _scores_grid(cards: Sequence[Scorecard]) -> Grid:
    rows = tuple((plain(card.bot), *_score_cells(card.forecast)) for card in cards)
    return Grid(
        "Forecasts on settled markets, beside the price at that time",
        (_BOT, *_SCORE_COLUMNS),
        rows,
        dropped_first=("ECE", "95% of skill", "skill", "events", "n", "95% of Brier"),
        kept=("Brier", "price"),
        legend=(
            ("skill", "1 less the Brier score over that of the price on the same forecasts; above 0 it knew something"),
            ("ECE", "how far stated probabilities lie from how often it happened"),
        ),
    )


_SCORE_COLUMNS = tuple(
    Column(header) for header in ("n", "events", "Brier", "95% of Brier", "price", "skill", "95% of skill", "ECE")
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


def _more_grid(cards: Sequence[Scorecard]) -> Grid:
    by_event = {card.bot: _brier_by_event(card.forecast) for card in cards}
    rows = tuple(
        (
            plain(card.bot),
            *(figures.count(n) for n in (card.forecasts, card.settled, card.void)),
            figures.percent(card.forecast.accuracy),
            figures.score(card.log_score),
            figures.score(by_event[card.bot]),
            figures.score(card.forecast.adjusted_brier),
            figures.ratio(card.forecast.confidence_and_error),
            figures.score(card.brier_open),
            figures.count(card.n_brier_open),
        )
        for card in cards
    )
    headers = (
        "forecasts",
        "settled",
        "void",
        "right",
        "log score",
        "by event",
        "adjusted",
        "sure~error",
        "open",
        "n open",
    )
    grid = Grid(
        "All forecasts",
        (_BOT, *(Column(header) for header in headers)),
        rows,
        dropped_first=("sure~error", "adjusted", "n open", "open", "void", "settled"),
        legend=(
            ("void", "on markets that paid neither 0 nor 1"),
            ("right", "called rightly"),
            ("by event", "the Brier score with every event counting once, where that is far off"),
            ("adjusted", "Brier had all answered the same"),
            ("sure~error", "below 0, the surer were better"),
            ("open", "squared distance to the last price"),
        ),
    )
    if not any(card.n_brier_open for card in cards):
        grid = grid.without("open").without("n open")
    return grid if any(each is not None for each in by_event.values()) else grid.without("by event")


def _brier_by_event(score: ForecastScore) -> float | None:
    """Return the Brier score with every event counting once, where it says something else."""
    interval = score.intervals.get("brier")
    far = far_apart(score.brier, score.brier_by_event, None if interval is None else interval.interval)
    return score.brier_by_event if far else None


def _returns(evaluation: Evaluation) -> Iterator[Grid]:
    scores = _by_horizon(evaluation.cards)
    if not scores:
        return
    rows = tuple(
        (
            plain(card.bot),
            _horizon_said(label, score),
            figures.signed_percent(score.quote_mean_return),
            figures.percent_interval(*_ends(score.intervals.get("quote_mean_return"))),
            figures.count(score.n_quote),
            figures.signed_percent(score.mean_return),
            figures.percent_interval(*_ends(score.intervals.get("mean_return"))),
            figures.signed_percent(score.market_mean_return),
            figures.signed_percent(_return_by_event(score)),
            figures.count(score.n),
            figures.count(score.clusters),
            figures.percent(score.coverage),
            figures.ratio(score.sharpe),
        )
        for card, label, score in scores
    )
    quoted = ("at the quote", "95% at quote", "n quoted")
    headers = (*quoted, "at the mid", "95% at mid", "market", "by event", "n", "events", "coverage", "Sharpe")
    below = []
    if any(_settles_early(label, score) for _, label, score in scores):
        below.append(
            f"settled with more than {MOST_OPEN_STAKES:.0%} of the dollars on open markets is no fair sample: "
            "what settles early is not like the rest."
        )
    grid = Grid(
        "Returns: mean of a decision of one dollar",
        (_BOT, _HORIZON, *(Column(header) for header in headers)),
        rows,
        tuple(below),
        ("Sharpe", "coverage", "market", "by event", "events", "95% at mid", "n", "n quoted", "at the mid"),
        ("horizon",),
        (
            ("at the quote", "bought at the ask, sold at the bid, with fees"),
            ("n quoted", "all but decisions with money on a market without a book; 0 where no other has money"),
            ("at the mid", "between both, which nobody gets"),
            ("market", "market_price on the same decisions, at the mid"),
            ("by event", "with every event counting once, where that is far off"),
        ),
    )
    return_by_event = any(_return_by_event(score) is not None for *_, score in scores)
    yield grid if return_by_event else grid.without("by event")


def _return_by_event(score: HorizonScore) -> float | None:
    """Return the mean over events, at the quote where that is known, where it is far from the mean over decisions."""
    for name, mean, by_event in (
        ("quote_mean_return", score.quote_mean_return, score.quote_mean_return_by_event),
        ("mean_return", score.mean_return, score.mean_return_by_event),
    ):
        if mean is not None:
            interval = score.intervals.get(name)
            return by_event if far_apart(mean, by_event, None if interval is None else interval.interval) else None
    return None


def _settles_early(label: str, score: HorizonScore) -> bool:
    return label == SETTLED and (score.open_stakes or 0.0) > MOST_OPEN_STAKES


def _horizon_said(label: str, score: HorizonScore) -> str:
    said = _horizon(label)
    return f"{said}, {figures.percent(score.open_stakes)} open" if _settles_early(label, score) else said


def _by_horizon(cards: Sequence[Scorecard]) -> list[tuple[Scorecard, str, HorizonScore]]:
    return [(card, label, score) for card in cards for label, score in card.horizons.items()]


def _quote(evaluation: Evaluation) -> Iterator[Grid]:
    """Yield what the mid hides, as far as there is something."""
    scores = _by_horizon(evaluation.cards)
    shown: list[tuple[str, _Cell]] = []
    if any(score.n_quote for *_, score in scores):
        shown += [
            ("at the quote", lambda score: figures.signed_percent(score.quote_mean_return)),
            ("friction", lambda score: figures.signed_percent(score.friction)),
            ("n quoted", lambda score: figures.count(score.n_quote)),
        ]
    if any(card.cost_usd is None or card.cost_usd > 0.0 for card, *_ in scores):
        shown += [
            ("net of cost", lambda score: figures.signed_percent(score.net_mean_return)),
            ("n of cost", lambda score: figures.count(score.n_net)),
        ]
    if any(score.n_drift for *_, score in scores):
        shown += [
            ("drift", lambda score: figures.signed_score(score.drift)),
            ("95% of drift", lambda score: figures.interval(*_ends(score.intervals.get("drift")))),
            ("n of drift", lambda score: figures.count(score.n_drift)),
        ]
    if not shown:
        return
    rows = tuple((plain(card.bot), _horizon(name), *(cell(score) for _, cell in shown)) for card, name, score in scores)
    yield Grid(
        "What the mid hides, and where prices went",
        (_BOT, _HORIZON, *(Column(header) for header, _ in shown)),
        rows,
        dropped_first=("n of drift", "n of cost", "95% of drift", "n quoted"),
        legend=(
            ("friction", "what spread and fees take from the return at the mid"),
            ("net of cost", "at the mid, less what the models cost"),
            ("drift", "how far prices came toward the forecasts; above 0, the market came to agree"),
        ),
    )


def _pairs(evaluation: Evaluation) -> Iterator[Grid]:
    for metric, title, lower in (
        ("edge", "Pairs by edge, in thousandths: the first less the second", False),
        ("brier", "Pairs by Brier score: the first less the second", True),
    ):
        pairs = [pair for pair in evaluation.pairs if pair.metric == metric]
        if any(pair.n or pair.apart for pair in pairs):
            yield _pairs_grid(pairs, title, lower_is_better=lower)


def _pairs_grid(pairs: Sequence[Pair], title: str, *, lower_is_better: bool) -> Grid:
    listed = (pair for pair in pairs if pair.n or pair.apart)
    likely = sorted(listed, key=lambda pair: (pair.n == 0, pair.p_adjusted is None, pair.p_adjusted))
    scaled = figures.signed_score if lower_is_better else figures.thousandths
    rows = tuple(
        (
            plain(pair.first),
            plain(pair.second),
            scaled(pair.difference),
            figures.interval(pair.low, pair.high) if lower_is_better else _scaled_ends(pair.low, pair.high),
            figures.p_value(pair.p_adjusted),
            PAIR_VERDICTS[pair_verdict(pair).finding] if pair.n else "never near",
            _more_events(pair_verdict(pair)),
            figures.count(pair.n),
            figures.count(pair.clusters),
            scaled(pair.detectable).lstrip("+"),
        )
        for pair in likely
    )
    headers = ("more events", "n", "events", "sees")
    tested = sum(pair.p_adjusted is not None for pair in pairs)
    corrected = f", corrected for all {tested:,} pairs" if tested > 1 else ""
    return Grid(
        title,
        (
            Column("first", "name"),
            Column("second", "name"),
            *(Column(header) for header in ("difference", "95% interval", "p")),
            Column("better", "key"),
            *(Column(header) for header in headers),
        ),
        rows,
        tuple(_apart(pairs, "market" if lower_is_better else "event")),
        ("sees", "more events", "p", "n", "events", "difference"),
        ("second", "95% interval", "better"),
        (
            ("p", f"how easily luck gives as much{corrected}"),
            ("more events", "about how many more it takes to tell them apart, if the difference stays as it is"),
            ("sees", "the smallest true difference that so many events show four times in five"),
            ("better", "said at a corrected p-value of at most 0.05, on at least 30 events"),
        ),
    )


def _apart(pairs: Sequence[Pair], subject: str) -> Iterator[str]:
    apart = [pair.apart for pair in pairs if pair.apart]
    if apart:
        up_to = "" if min(apart) == max(apart) else "up to "
        yield (
            f"Not compared: on {up_to}{figures.things(max(apart), subject)} both decided, but never within "
            f"{NEAR_HOURS} hours of each other ({figures.things(len(apart), 'pair')})."
        )


def _calibration(evaluation: Evaluation) -> Iterator[Grid]:
    cards = [card for card in evaluation.cards if card.forecast.n]
    if not cards:
        return
    rows = tuple(
        (
            plain(card.bot),
            figures.count(card.forecast.n),
            *map(figures.short_score, _errors(card.forecast)),
            *map(figures.score, _murphy(card.forecast)),
        )
        for card in cards
    )
    headers = ("error", "by chance", "95% of chance", "reliability", "resolution", "uncertainty", "within bins")
    yield Grid(
        "Calibration: how far stated probabilities lie from how often it happened",
        (_BOT, *(Column(header) for header in ("n", *headers))),
        rows,
        dropped_first=("within bins", "uncertainty", "resolution", "reliability"),
        legend=(
            ("error", "the mean distance over ten bins"),
            ("by chance", "what a perfect forecaster with the same forecasts would show"),
            ("95% of chance", "what it would pass one time in twenty"),
            ("within bins", "the rest, so that Brier = reliability - resolution + uncertainty + within bins"),
        ),
    )
    bins = tuple(row for card in cards for row in _bin_rows(card))
    if bins:
        yield Grid(
            "Bins: of forecasts from .. to .., how many came true",
            (_BOT, Column("forecasts", "key"), *(Column(each) for each in ("count", "mean said", "happened", "95%"))),
            bins,
            ("95%: Wilson's interval of how often it happens, over as many events as the forecasts are worth.",),
            ("mean said",),
        )


def _errors(score: ForecastScore) -> tuple[float | None, float | None, float | None]:
    return score.calibration_error, score.calibration_error_by_chance, score.calibration_error_by_chance_high


def _murphy(score: ForecastScore) -> tuple[float | None, ...]:
    names = ("reliability", "resolution", "uncertainty", "within_bin")
    return tuple(None if score.murphy is None else getattr(score.murphy, name) for name in names)


def _bin_rows(card: Scorecard) -> Iterator[tuple[str, ...]]:
    bins = card.forecast.calibration
    for row in range(0 if bins is None else bins.count.size):
        if bins is not None and bins.count[row]:
            yield (
                plain(card.bot),
                f"{bins.lower[row]:.1f} to {bins.upper[row]:.1f}",
                figures.count(int(bins.count[row])),
                figures.probability(float(bins.mean_probability[row])),
                figures.percent(float(bins.mean_outcome[row])),
                f"{figures.percent(float(bins.outcome_low[row]))} to {figures.percent(float(bins.outcome_high[row]))}",
            )


TABLES: Mapping[str, Callable[[Evaluation], Iterator[Grid]]] = {
    "forecasts": _forecasts,
    "returns": _returns,
    "quote": _quote,
    "pairs": _pairs,
    "calibration": _calibration,
    "decisions": _decisions,
}
"""What `--table` can name, in the order of a reader's questions."""


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
        yield from _part_returns_grids(evaluation, group)
    scores = {"lead_time": evaluation.by_lead_time, "confidence": evaluation.by_confidence}.get(by or "", ())
    if scores:
        rows = tuple((plain(part.group), plain(part.bot), *_score_cells(part.score)[:_PART_CELLS]) for part in scores)
        yield Grid(f"Forecasts by {_PARTED_BY[by or '']}", (group, _BOT, *_SCORE_COLUMNS[:_PART_CELLS]), rows)


_PARTED_BY = {"lead_time": "days before the settlement", "confidence": "stated confidence, of 10"}


def _part_returns_grids(evaluation: Evaluation, group: Column) -> Iterator[Grid]:
    """Yield the returns of parts at the quote, where any is known, and those at the mid."""
    labels = tuple(evaluation.parts[0].card.horizons)
    columns = (group, _BOT, Column("decisions"), *(Column(_horizon(label)) for label in labels))
    for at, name in (("quote", "quote_mean_return"), ("mid", "mean_return")):
        found = [[getattr(part.card.horizons[label], name) for label in labels] for part in evaluation.parts]
        rows = tuple(
            (
                plain(part.group, _GROUP_CELLS),
                plain(part.card.bot),
                figures.count(part.card.decisions),
                *map(figures.signed_percent, values),
            )
            for part, values in zip(evaluation.parts, found, strict=True)
        )
        if at == "mid" or any(value is not None for values in found for value in values):
            yield Grid(f"Returns at the {at} by {evaluation.question.grouping}", columns, rows)


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
    headers = ("return", "as it was", "difference", "95% interval", "n")
    return Grid(title, (_BOT, Column(change, "key"), _HORIZON, *(Column(header) for header in headers)), rows)


def _more_events(found: Verdict) -> str:
    return more_events(found).replace("more than ", ">").removeprefix("about ")


def _horizon(label: str) -> str:
    if label in ("now", "settled"):
        return label
    return f"{label} day{'' if label == '1' else 's'}"


def _thousandths_interval(estimate: Estimate | None) -> str:
    return _scaled_ends(*_ends(estimate))


def _scaled_ends(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return figures.MISSING
    return f"{figures.thousandths(low)} to {figures.thousandths(high)}"


def _ends(estimate: Estimate | None) -> tuple[float | None, float | None]:
    return (None, None) if estimate is None else (estimate.low, estimate.high)
