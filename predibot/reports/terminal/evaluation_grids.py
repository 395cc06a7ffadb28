"""The tables of an evaluation: what each bot did, how good it was, and on how much that rests."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from predibot.domain.spelling import first_of
from predibot.reports import figures
from predibot.reports.table import LAST, Column, Table, ends, table_of, value_of
from predibot.reports.terminal.boards.accounts import account_grids, cohort_grids
from predibot.reports.terminal.text import plain
from predibot.reports.views.evaluation_csv import bot_rows
from predibot.reports.views.leaderboard import PAIR_VERDICTS, leaderboard
from predibot.reports.views.metrics import COLUMNS, bin_documents, short_more_events
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
_BOT = Column("bot", "0", kind="name")
_HORIZON = Column("horizon", kind="key")


def _thousandths_of(interval: tuple[float, float]) -> str:
    return figures.thousandths_interval(*interval)


def table_grids(evaluation: Evaluation, name: str) -> Iterator[Table]:
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


def asked_grids(evaluation: Evaluation) -> Iterator[Table]:
    """Yield the tables of what `--by`, `--delay` and `--sizing` asked for."""
    yield from _of_rankings(evaluation, _asked_grids)


def joined_grids(evaluation: Evaluation) -> Iterator[Table]:
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
        evidence = [{each.bot: each.forecasts.better.largest for each in of.evidence} for of in (alone, together)]
        other = {card.bot: card.edge for card in together.cards}
        rows = [
            (card.bot, card.edge, evidence[0].get(card.bot), other[card.bot], evidence[1].get(card.bot))
            for card in alone.leaderboard
        ]
        title = "Edge with each event by itself, beside related events joined"
        title = title if alone is evaluation else f"Cutoff unknown, ranked apart: {title}"
        yield table_of(title, _JOINED, rows, below)


_JOINED = (
    Column("bot", "0", kind="name"),
    Column("edge", "1.edge", figures.thousandths, 1),
    Column("by itself", "1.interval.interval", _thousandths_of),
    Column("events", "1.clusters", figures.count),
    Column("e", "2", figures.e_value),
    Column("joined", "3.interval.interval", _thousandths_of, 0),
    Column("clusters", "3.clusters", figures.count, 0),
    Column("e joined", "4", figures.e_value),
)


def _of_rankings(evaluation: Evaluation, grids_of: Callable[[Evaluation], Iterator[Table]]) -> Iterator[Table]:
    beside = [] if evaluation.joined is None else [(evaluation.joined.evaluation, "Related events joined: ")]
    for found, before in ((evaluation, ""), *beside):
        for ranking in found.rankings.values():
            for grid in grids_of(ranking):
                apart = "" if ranking is found else "Cutoff unknown, ranked apart: "
                yield replace(grid, title=f"{before}{apart}{grid.title}") if before or apart else grid


def _asked_grids(evaluation: Evaluation) -> Iterator[Table]:
    yield from _part_grids(evaluation)
    if evaluation.delays:
        yield _counterfactual_grid(
            "Carried out late: negative says that stale decisions hurt", "days", evaluation.delays
        )
    if evaluation.sizings:
        yield _counterfactual_grid("The same forecasts, bet by other rules", "sizing", evaluation.sizings)


def metric_grid(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[tuple[tuple[str, ...], object]],
    *,
    names: tuple[Column, ...] = (_BOT,),
    without: Collection[str] = (),
    below: tuple[str, ...] = (),
    days: str | None = None,
) -> Table:
    """Return a table of metrics; what is said of its columns holds on every screen.

    Args:
        title: Of the table.
        columns: Its metrics, such as one of `COLUMNS`, from the left.
        rows: What names each row, and what its metrics are of.
        names: The columns of those names.
        without: Headers of columns that say nothing here.
        below: What has to be said for it to be read.
        days: Of the horizon in a header.
    """
    shown = [replace(each, header=each.header.format(days=days)) for each in columns if each.header not in without]
    found = table_of(title, shown, [row for _, row in rows], below)
    named = tuple((*name, *cells) for (name, _), cells in zip(rows, found.rows, strict=True))
    return replace(found, columns=(*names, *found.columns), rows=named)


def _decisions(evaluation: Evaluation) -> Iterator[Table]:
    rows = [((plain(card.bot),), card) for card in evaluation.cards if card.decisions]
    if rows:
        # Where no model can have known an end, there is nothing to tell apart.
        known = any(card.clean < card.decisions for _, card in rows)
        yield metric_grid("Decisions", COLUMNS["decisions"], rows, without=() if known else KNOWLEDGE)


def _forecasts(evaluation: Evaluation) -> Iterator[Table]:
    board = leaderboard(evaluation)
    if any(row.edge is not None for row in board):
        found = {row.bot: row for row in bot_rows(evaluation)}
        yield metric_grid(
            "Edge over the price, on every market asked, in thousandths of squared error",
            COLUMNS["edge"],
            [((plain(row.bot),), found[row.bot]) for row in board],
        )
        yield Table(
            "Edge as it added up, from the first day to the last",
            (_BOT, Column("edge over time", kind="key")),
            tuple((plain(row.bot), figures.sparkline(row.curve, _CURVE_CELLS)) for row in board),
            ("Each line has its own scale, zero included.",),
        )
    cards = evaluation.cards
    if cards:
        title = "Forecasts on settled markets, beside the price at that time"
        yield metric_grid(title, COLUMNS["scores"], [((plain(card.bot),), card.forecast) for card in cards])
        yield metric_grid("All forecasts", COLUMNS["more"], [((plain(card.bot),), card) for card in cards])


def _returns(evaluation: Evaluation) -> Iterator[Table]:
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
        names=(_BOT, replace(_HORIZON, drop=0)),
        below=(below,) if below else (),
    )


def _settles_early(label: str, score: HorizonScore) -> bool:
    return label == SETTLED and (score.open_stakes or 0.0) > MOST_OPEN_STAKES


def _horizon_said(label: str, score: HorizonScore) -> str:
    said = _horizon(label)
    return f"{said}, {figures.percent(score.open_stakes)} open" if _settles_early(label, score) else said


def _by_horizon(cards: Sequence[Scorecard]) -> list[tuple[Scorecard, str, HorizonScore]]:
    return [(card, label, score) for card in cards for label, score in card.horizons.items()]


def _quote(evaluation: Evaluation) -> Iterator[Table]:
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


def _pairs(evaluation: Evaluation) -> Iterator[Table]:
    for metric, title, lower in (
        ("edge", "Pairs by edge, in thousandths: the first less the second", False),
        ("brier", "Pairs by Brier score: the first less the second", True),
    ):
        pairs = [pair for pair in evaluation.pairs if pair.metric == metric]
        if any(pair.n or pair.apart for pair in pairs):
            yield _pairs_grid(pairs, title, lower_is_better=lower)


def _pairs_grid(pairs: Sequence[Pair], title: str, *, lower_is_better: bool) -> Table:
    listed = (pair for pair in pairs if pair.n or pair.apart)
    likely = sorted(listed, key=lambda pair: (pair.n == 0, pair.p_adjusted is None, pair.p_adjusted))
    scaled = figures.signed_score if lower_is_better else figures.thousandths
    tested = sum(pair.p_adjusted is not None for pair in pairs)
    corrected = f", corrected for all {tested:,} pairs" if tested > 1 else ""
    columns = (
        Column("first", "first", kind="name"),
        Column("second", "second", drop=0, kind="name"),
        Column("difference", "difference", scaled, 6),
        Column("95% interval", "", ends(figures.interval if lower_is_better else figures.thousandths_interval), 0),
        Column("p", "p_adjusted", figures.p_value, 3, f"how easily luck gives as much{corrected}"),
        Column(
            "better", "", _better, 0, "said at a corrected p-value of at most 0.05, on at least 30 events", kind="key"
        ),
        Column(
            "more events",
            "",
            lambda pair: short_more_events(pair_verdict(pair)),
            2,
            "about how many more it takes to tell them apart, if the difference stays as it is",
        ),
        Column("n", "n", figures.count, 4),
        Column("events", "clusters", figures.count, 5),
        Column(
            "sees",
            "detectable",
            lambda found: scaled(found).lstrip("+"),
            1,
            "the smallest true difference that so many events show four times in five",
        ),
    )
    found = table_of(title, columns, likely, tuple(_apart(pairs, "market" if lower_is_better else "event")))
    # What a claim takes is said last.
    return replace(found, legend=tuple(sorted(columns, key=lambda each: each.header == "better")))


def _better(pair: Pair) -> str:
    return PAIR_VERDICTS[pair_verdict(pair).finding] if pair.n else "never near"


def _apart(pairs: Sequence[Pair], subject: str) -> Iterator[str]:
    apart = [pair.apart for pair in pairs if pair.apart]
    if apart:
        up_to = "" if min(apart) == max(apart) else "up to "
        yield (
            f"Not compared: on {up_to}{figures.things(max(apart), subject)} both decided, but never within "
            f"{NEAR_HOURS} hours of each other ({figures.things(len(apart), 'pair')})."
        )


def _calibration(evaluation: Evaluation) -> Iterator[Table]:
    cards = [card for card in evaluation.cards if card.forecast.n]
    if not cards:
        return
    title = "Calibration: how far stated probabilities lie from how often it happened"
    yield metric_grid(title, COLUMNS["calibration"], [((plain(card.bot),), card.forecast) for card in cards])
    bins = [(card.bot, each) for card in cards for each in bin_documents(card.forecast.calibration) if each["n"]]
    if bins:
        below = "95%: Wilson's interval of how often it happens, over as many events as the forecasts are worth."
        yield table_of("Bins: of forecasts from .. to .., how many came true", _BINS, bins, [below])


_BINS = (
    _BOT,
    Column("forecasts", "1", lambda each: f"{each['lower']:.1f} to {each['upper']:.1f}", kind="key"),
    Column("count", "1.n", figures.count),
    Column("mean said", "1.mean_probability", figures.probability, 1),
    Column("happened", "1.mean_outcome", figures.percent),
    Column(
        "95%", "1", lambda each: f"{figures.percent(each['outcome_low'])} to {figures.percent(each['outcome_high'])}"
    ),
)


TABLES: Mapping[str, Callable[[Evaluation], Iterator[Table]]] = {
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


def _part_grids(evaluation: Evaluation) -> Iterator[Table]:
    """Yield what was asked for by `--by`."""
    by = evaluation.question.grouping
    group = Column(by or "", kind="text")
    if evaluation.parts:
        rows = [(plain(each.group, _GROUP_CELLS), each.card.bot, each.card.forecast) for each in evaluation.parts]
        yield _part_scores_grid(f"Forecasts by {by}", group, rows)
        yield from _part_returns_grids(evaluation, group)
    scores = {"lead_time": evaluation.by_lead_time, "confidence": evaluation.by_confidence}.get(by or "", ())
    if scores:
        rows = [(plain(each.group), each.bot, each.score) for each in scores]
        yield _part_scores_grid(f"Forecasts by {_PARTED_BY[by or '']}", group, rows)


def _part_scores_grid(title: str, group: Column, rows: Sequence[tuple[str, str, ForecastScore]]) -> Table:
    named = [((part, plain(bot)), score) for part, bot, score in rows]
    columns = [replace(each, drop=LAST, meaning="") for each in COLUMNS["scores"][:_PART_CELLS]]
    return metric_grid(title, columns, named, names=(group, _BOT))


_PARTED_BY = {"lead_time": "days before the settlement", "confidence": "stated confidence, of 10"}


def _part_returns_grids(evaluation: Evaluation, group: Column) -> Iterator[Table]:
    """Yield the returns of parts at the quote, where any is known, and those at the mid."""
    cards = [each.card for each in evaluation.parts]
    labels = tuple(cards[0].horizons)
    names = [(plain(each.group, _GROUP_CELLS), plain(each.card.bot)) for each in evaluation.parts]
    columns = [Column(_horizon(label), f"1.{place}", figures.signed_percent) for place, label in enumerate(labels)]
    for at, name in (("quote", "quote_mean_return"), ("mid", "mean_return")):
        found = [(card.decisions, [getattr(card.horizons[label], name) for label in labels]) for card in cards]
        if at == "mid" or any(value is not None for _, values in found for value in values):
            title = f"Returns at the {at} by {evaluation.question.grouping}"
            rows = list(zip(names, found, strict=True))
            yield metric_grid(title, (Column("decisions", "0", figures.count), *columns), rows, names=(group, _BOT))


def _counterfactual_grid(title: str, change: str, found: Sequence[Counterfactual]) -> Table:
    columns = (
        Column("bot", "bot", kind="name"),
        Column(change, "change", kind="key"),
        Column("horizon", "horizon", _horizon, kind="key"),
        Column("return", "mean_return", figures.signed_percent),
        Column("as it was", "actual_mean_return", figures.signed_percent),
        Column("difference", "difference.estimate", figures.signed_percent),
        Column("95% interval", "difference", ends(figures.percent_interval)),
        Column("n", "", lambda each: figures.count(value_of(each, "difference.n") or 0)),
    )
    return table_of(title, columns, found)


def _horizon(label: str) -> str:
    if label in ("now", "settled"):
        return label
    return f"{label} day{'' if label == '1' else 's'}"
