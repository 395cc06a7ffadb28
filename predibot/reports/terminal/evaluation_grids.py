"""The tables of an evaluation: what each bot did, how good it was, and on how much that rests."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from predibot.domain.spelling import first_of
from predibot.reports import figures
from predibot.reports.terminal.boards.accounts import account_grids, cohort_grids
from predibot.reports.terminal.grid import Column, Grid
from predibot.reports.terminal.text import plain
from predibot.reports.views.evaluation_csv import bot_rows
from predibot.reports.views.leaderboard import PAIR_VERDICTS, leaderboard
from predibot.reports.views.metrics import COLUMNS, LAST, Shown, ends_of, short_more_events
from predibot.scoring.evaluation.counterfactual import Counterfactual
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.pairs import MOST_OPEN_STAKES, Pair
from predibot.scoring.evaluation.scorecard import HorizonScore, Scorecard
from predibot.scoring.evaluation.verdict import pair_verdict
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL
from predibot.scoring.records.horizon_returns import SETTLED
from predibot.scoring.records.knowledge import KNOWLEDGE
from predibot.scoring.records.moments import NEAR_HOURS

_GROUP_CELLS = 40
_NAMED = 10
_PART_CELLS = 6
"""Of a part the first scores are shown, up to the skill; all are in the JSON."""
_CURVE_CELLS = 40
_BOT = Column("bot", "name")
_HORIZON = Column("horizon", "key")


def table_grids(evaluation: Evaluation, name: str) -> Iterator[Grid]:
    """Yield the grids of a table, those of the ranking apart after the others; nothing where there is nothing to say.

    Raises:
        ValueError: If there is no such table.
    """
    if name not in TABLES and name not in ACCOUNT_TABLES:
        raise ValueError(f"no table {name!r}; there are: {', '.join(dict.fromkeys((*TABLES, *ACCOUNT_TABLES)))}")
    if name in TABLES:
        yield from _of_rankings(evaluation, TABLES[name])
    if name in ACCOUNT_TABLES:
        for board in evaluation.accounts:
            yield from account_grids(board, name)
    if name == COHORTS:
        for cohorts in evaluation.cohorts:
            yield from cohort_grids(cohorts)


def asked_grids(evaluation: Evaluation) -> Iterator[Grid]:
    """Yield the tables of what `--by`, `--delay` and `--sizing` asked for."""
    yield from _of_rankings(evaluation, _asked_grids)


def joined_grids(evaluation: Evaluation) -> Iterator[Grid]:
    """Yield each bot's edge and e-value, each event by itself beside related events joined, where it was asked for."""
    joined = evaluation.joined
    if joined is None:
        return
    below = [f"{figures.things(joined.events, 'event')} in {figures.things(joined.clusters, 'cluster')}"]
    below[0] += f", the largest of {joined.largest:,}."
    if few := joined.too_few:
        below.append(f"No interval below {FEWEST_FOR_AN_INTERVAL} clusters: {first_of([*map(plain, few)], _NAMED)}.")
    for knowledge, alone in evaluation.rankings.items():
        together = joined.evaluation.rankings[knowledge]
        # Whose evidence nobody wanted has none, in both.
        evidence = [
            {each.bot: figures.e_value(each.forecasts.better.largest) for each in found.evidence}
            for found in (alone, together)
        ]
        other = {card.bot: card.edge for card in together.cards}
        rows = []
        for card in alone.leaderboard:
            cells = [plain(card.bot), figures.thousandths(card.edge.edge)]
            for edge, of in zip((card.edge, other[card.bot]), evidence, strict=True):
                ends = (None, None) if edge.interval is None else edge.interval.interval or (None, None)
                cells += [
                    figures.thousandths_interval(*ends),
                    figures.count(edge.clusters),
                    of.get(card.bot, figures.MISSING),
                ]
            rows.append(tuple(cells))
        columns = (_BOT, *map(Column, ("edge", "by itself", "events", "e", "joined", "clusters", "e joined")))
        title = "Edge with each event by itself, beside related events joined"
        title = title if alone is evaluation else f"Cutoff unknown, ranked apart: {title}"
        yield Grid(title, columns, tuple(rows), tuple(below), ("edge",), ("joined", "clusters"))


def _of_rankings(evaluation: Evaluation, grids_of: Callable[[Evaluation], Iterator[Grid]]) -> Iterator[Grid]:
    beside = [] if evaluation.joined is None else [(evaluation.joined.evaluation, "Related events joined: ")]
    for found, before in ((evaluation, ""), *beside):
        for ranking in found.rankings.values():
            for grid in grids_of(ranking):
                apart = "" if ranking is found else "Cutoff unknown, ranked apart: "
                yield replace(grid, title=f"{before}{apart}{grid.title}") if before or apart else grid


def _asked_grids(evaluation: Evaluation) -> Iterator[Grid]:
    yield from _part_grids(evaluation)
    if evaluation.delays:
        yield _counterfactual_grid(
            "Carried out late: negative says that stale decisions hurt", "days", evaluation.delays
        )
    if evaluation.sizings:
        yield _counterfactual_grid("The same forecasts, bet by other rules", "sizing", evaluation.sizings)


def metric_grid(
    title: str,
    columns: Sequence[Shown],
    rows: Sequence[tuple[tuple[str, ...], object]],
    *,
    names: tuple[Column, ...] = (_BOT,),
    kept: tuple[str, ...] = (),
    without: Collection[str] = (),
    below: tuple[str, ...] = (),
    days: str | None = None,
) -> Grid:
    """Return a grid of metrics; what is said of its columns holds on every screen.

    Args:
        title: Of the grid.
        columns: Its metrics, such as one of `COLUMNS`, from the left.
        rows: What names each row, and what its metrics are of.
        names: The columns of those names.
        kept: Which of them never go, besides the first.
        without: Headers of columns that say nothing here.
        below: What has to be said for it to be read.
        days: Of the horizon in a header.
    """
    shown = [
        replace(each, header=each.header.format(days=days))
        for each in columns
        if each.header not in without
        and (each.only_with is None or any(_is_there(each.only_with(row)) for _, row in rows))
    ]
    return Grid(
        title,
        (*names, *(Column(each.header, each.kind) for each in shown)),
        tuple((*named, *(each.cell(row) for each in shown)) for named, row in rows),
        below,
        tuple(each.header for each in sorted(shown, key=lambda each: each.drop) if 0 < each.drop < LAST),
        (*kept, *(each.header for each in shown if each.drop == 0)),
        tuple((each.header, each.meaning) for each in shown if each.meaning),
    )


def _is_there(value: float | None) -> bool:
    """Return whether there is a number; a count of nothing is none."""
    return isinstance(value, float) or bool(value)


def _decisions(evaluation: Evaluation) -> Iterator[Grid]:
    rows = [((plain(card.bot),), card) for card in evaluation.cards if card.decisions]
    if rows:
        # Where no model can have known an end, there is nothing to tell apart.
        known = any(card.clean < card.decisions for _, card in rows)
        yield metric_grid("Decisions", COLUMNS["decisions"], rows, without=() if known else KNOWLEDGE)


def _forecasts(evaluation: Evaluation) -> Iterator[Grid]:
    board = leaderboard(evaluation)
    if any(row.edge is not None for row in board):
        found = {row.bot: row for row in bot_rows(evaluation)}
        yield metric_grid(
            "Edge over the price, on every market asked, in thousandths of squared error",
            COLUMNS["edge"],
            [((plain(row.bot),), found[row.bot]) for row in board],
        )
        yield Grid(
            "Edge as it added up, from the first day to the last",
            (_BOT, Column("edge over time", "key")),
            tuple((plain(row.bot), figures.sparkline(row.curve, _CURVE_CELLS)) for row in board),
            ("Each line has its own scale, zero included.",),
        )
    cards = evaluation.cards
    if cards:
        title = "Forecasts on settled markets, beside the price at that time"
        yield metric_grid(title, COLUMNS["scores"], [((plain(card.bot),), card.forecast) for card in cards])
        yield metric_grid("All forecasts", COLUMNS["more"], [((plain(card.bot),), card) for card in cards])


def _returns(evaluation: Evaluation) -> Iterator[Grid]:
    scores = _by_horizon(evaluation.cards)
    if not scores:
        return
    below = ""
    if any(_settles_early(label, score) for _, label, score in scores):
        below = (
            f"settled with more than {MOST_OPEN_STAKES:.0%} of the dollars on open markets is no fair sample: "
            "what settles early is not like the rest."
        )
    yield metric_grid(
        "Returns: mean of a decision of one dollar",
        COLUMNS["returns"],
        [((plain(card.bot), _horizon_said(label, score)), score) for card, label, score in scores],
        names=(_BOT, _HORIZON),
        kept=("horizon",),
        below=(below,) if below else (),
    )


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
    free = all(card.cost_usd == 0.0 for card, *_ in scores)
    grid = metric_grid(
        "What the mid hides, and where prices went",
        COLUMNS["quote"],
        [((plain(card.bot), _horizon(label)), score) for card, label, score in scores],
        names=(_BOT, _HORIZON),
        without=("net of cost", "n of cost") if free else (),
    )
    if len(grid.columns) > 2:
        yield grid


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
    ends = figures.interval if lower_is_better else figures.thousandths_interval
    rows = tuple(
        (
            plain(pair.first),
            plain(pair.second),
            scaled(pair.difference),
            ends(pair.low, pair.high),
            figures.p_value(pair.p_adjusted),
            PAIR_VERDICTS[pair_verdict(pair).finding] if pair.n else "never near",
            short_more_events(pair_verdict(pair)),
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
    title = "Calibration: how far stated probabilities lie from how often it happened"
    yield metric_grid(title, COLUMNS["calibration"], [((plain(card.bot),), card.forecast) for card in cards])
    bins = tuple(row for card in cards for row in _bin_rows(card))
    if bins:
        yield Grid(
            "Bins: of forecasts from .. to .., how many came true",
            (_BOT, Column("forecasts", "key"), *(Column(each) for each in ("count", "mean said", "happened", "95%"))),
            bins,
            ("95%: Wilson's interval of how often it happens, over as many events as the forecasts are worth.",),
            ("mean said",),
        )


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
ACCOUNTS = "accounts"
COHORTS = "cohorts"
ACCOUNT_TABLES = (ACCOUNTS, "risk", "behaviour", "delays", "pairs", COHORTS)
"""What it can name of games that have accounts: the first has all of a board but the pairs."""


def _part_grids(evaluation: Evaluation) -> Iterator[Grid]:
    """Yield what was asked for by `--by`."""
    by = evaluation.question.grouping
    group = Column(by or "", "text")
    if evaluation.parts:
        rows = [(plain(each.group, _GROUP_CELLS), each.card.bot, each.card.forecast) for each in evaluation.parts]
        yield _part_scores_grid(f"Forecasts by {by}", group, rows)
        yield from _part_returns_grids(evaluation, group)
    scores = {"lead_time": evaluation.by_lead_time, "confidence": evaluation.by_confidence}.get(by or "", ())
    if scores:
        rows = [(plain(each.group), each.bot, each.score) for each in scores]
        yield _part_scores_grid(f"Forecasts by {_PARTED_BY[by or '']}", group, rows)


def _part_scores_grid(title: str, group: Column, rows: Sequence[tuple[str, str, ForecastScore]]) -> Grid:
    shown = COLUMNS["scores"][:_PART_CELLS]
    cells = tuple((part, plain(bot), *(each.cell(score) for each in shown)) for part, bot, score in rows)
    return Grid(title, (group, _BOT, *(Column(each.header) for each in shown)), cells)


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
            figures.percent_interval(*ends_of(each.difference)),
            figures.count(0 if each.difference is None else each.difference.n),
        )
        for each in found
    )
    headers = ("return", "as it was", "difference", "95% interval", "n")
    return Grid(title, (_BOT, Column(change, "key"), _HORIZON, *(Column(header) for header in headers)), rows)


def _horizon(label: str) -> str:
    if label in ("now", "settled"):
        return label
    return f"{label} day{'' if label == '1' else 's'}"
