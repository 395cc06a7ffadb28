"""The tables of an evaluation: what each bot did, how good it was, and on how much that rests."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from predibot.domain.spelling import first_of
from predibot.reports import figures
from predibot.reports.table import LAST, Column, Table, ends, table_of, value_of
from predibot.reports.terminal.boards.accounts import account_grids, cohort_grids, consistency_grid
from predibot.reports.terminal.terminal import plain, within
from predibot.reports.views.columns import COLUMNS, bin_documents, short_more_events
from predibot.reports.views.evaluation import bot_rows
from predibot.reports.views.leaderboard import EFFORT_WORDS, PAIR_VERDICTS, effort_board, leaderboard
from predibot.scoring.accounts.board import AccountBoard
from predibot.scoring.accounts.cohorts import CohortBoard
from predibot.scoring.evaluation.counterfactual import Counterfactual
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.pairs import MOST_OPEN_STAKES, Pair
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.evaluation.verdict import pair_verdict
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL
from predibot.scoring.records.consistency import UNCHANGED_PRICE
from predibot.scoring.records.horizon_returns import SETTLED
from predibot.scoring.records.knowledge import KNOWLEDGE
from predibot.scoring.records.moments import NEAR_HOURS

_GROUP_CELLS = 40
_NAMED = 10
_PART_CELLS = 6
"""Number of scores that are shown of a part, up to the skill; JSON has all."""
_CURVE_CELLS = 40
_BOT = Column("bot", "bot", kind="name")


_HORIZON = Column("horizon", "horizon", figures.horizon, kind="key")


def _thousandths_of(interval: tuple[float, float]) -> str:
    return figures.thousandths_interval(*interval)


def table_grids(evaluation: Evaluation, name: str) -> Iterator[Table]:
    """Yield the grids that have rows of one of `TABLES` or `ACCOUNT_TABLES`, of bots ranked apart last."""
    if name in TABLES:
        yield from _grids_of_rankings(evaluation, TABLES[name])
    if name in ACCOUNT_TABLES:
        for board in evaluation.accounts:
            yield from account_grids(board, name)
    if name == COHORTS:
        for cohorts in evaluation.cohorts:
            yield from cohort_grids(cohorts)


def option_grids(evaluation: Evaluation) -> Iterator[Table]:
    """Yield the tables of `--by`, `--delay` and `--sizing`."""
    yield from _grids_of_rankings(evaluation, _option_grids)


def clustered_grids(evaluation: Evaluation) -> Iterator[Table]:
    """Yield edges and e-values with events alone and with related events joined, if that was asked for."""
    joined = evaluation.joined
    if joined is None:
        return
    below = [f"{figures.things(joined.events, 'event')} in {figures.things(joined.clusters, 'cluster')}"]
    below[0] += f", the largest of {joined.largest:,}."
    if few := joined.too_few:
        below.append(f"No interval below {FEWEST_FOR_AN_INTERVAL} clusters: {first_of([*map(plain, few)], _NAMED)}.")
    for knowledge, alone in evaluation.rankings.items():
        together = joined.evaluation.rankings[knowledge]
        # Evidence that was not asked for is missing in both.
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


def _grids_of_rankings(evaluation: Evaluation, grids_of: Callable[[Evaluation], Iterator[Table]]) -> Iterator[Table]:
    beside = [] if evaluation.joined is None else [(evaluation.joined.evaluation, "Related events joined: ")]
    for found, before in ((evaluation, ""), *beside):
        for ranking in found.rankings.values():
            for grid in grids_of(ranking):
                apart = "" if ranking is found else "Cutoff unknown, ranked apart: "
                yield replace(grid, title=f"{before}{apart}{grid.title}") if before or apart else grid


def _option_grids(evaluation: Evaluation) -> Iterator[Table]:
    yield from _part_grids(evaluation)
    if evaluation.delays:
        yield _counterfactual_grid(
            "Carried out late: negative says that stale decisions hurt", "days", evaluation.delays
        )
    if evaluation.sizings:
        yield _counterfactual_grid("The same forecasts, bet by other rules", "sizing", evaluation.sizings)


def _decisions(evaluation: Evaluation) -> Iterator[Table]:
    rows = [row for row in bot_rows(evaluation) if row.card is not None and row.card.decisions]
    # If no model can have known an outcome, columns of knowledge say nothing.
    known = any(card.clean < card.decisions for card in evaluation.cards)
    columns = [each for each in COLUMNS["decisions"] if known or each.header not in KNOWLEDGE]
    if rows:
        yield table_of("Decisions", (_BOT, *columns), rows)


def _forecasts(evaluation: Evaluation) -> Iterator[Table]:
    board, rows = leaderboard(evaluation), tuple(bot_rows(evaluation))
    if any(row.edge is not None for row in board):
        found = {row.bot: row for row in rows}
        title = "Edge over the price, on every market asked, in thousandths of Brier"
        yield table_of(title, (_BOT, *COLUMNS["edge"]), [found[row.bot] for row in board])
        title = "Edge as it added up, from the first day to the last"
        yield table_of(title, (_BOT, _CURVE), board, ["Each line has its own scale, zero included."])
    if rows:
        title = "Forecasts on settled markets, beside the price at that time"
        yield table_of(title, (_BOT, *COLUMNS["scores"]), rows)
        yield table_of("All forecasts", (_BOT, *COLUMNS["more"]), rows)


_CURVE = Column("edge by day", "curve", partial(figures.sparkline, cells=_CURVE_CELLS), kind="key")


def _returns(evaluation: Evaluation) -> Iterator[Table]:
    rows = _by_horizon(evaluation.cards)
    early = (
        f"settled with more than {MOST_OPEN_STAKES:.0%} of the dollars on open markets is no fair sample: "
        "what settles early is not like the rest."
    )
    if rows:
        columns = (_BOT, Column("horizon", "", _horizon_and_open, 0, kind="key"), *COLUMNS["returns"])
        below = [early] if any(map(_settles_early, rows)) else ()
        yield table_of("Returns: mean of a decision of one dollar", columns, rows, below)


def _settles_early(row: Mapping[str, Any]) -> bool:
    return row["horizon"] == SETTLED and (row["score"].open_stakes or 0.0) > MOST_OPEN_STAKES


def _horizon_and_open(row: Mapping[str, Any]) -> str:
    open_stakes = f", {figures.percent(row['score'].open_stakes)} open" if _settles_early(row) else ""
    return f"{figures.horizon(row['horizon'])}{open_stakes}"


def _by_horizon(cards: Sequence[Scorecard]) -> list[Mapping[str, Any]]:
    return [
        {"bot": card.bot, "horizon": label, "score": score} for card in cards for label, score in card.horizons.items()
    ]


def _quote(evaluation: Evaluation) -> Iterator[Table]:
    free = all(card.cost_usd == 0.0 for card in evaluation.cards if card.horizons)
    columns = [each for each in COLUMNS["quote"] if not free or each.header not in ("net of cost", "n of cost")]
    rows = _by_horizon(evaluation.cards)
    found = table_of("What the mid hides, and where prices went", (_BOT, _HORIZON, *columns), rows)
    if len(found.columns) > 2:
        yield found


def _pairs(evaluation: Evaluation) -> Iterator[Table]:
    for metric, title, lower in (
        ("edge", "Pairs by edge, in thousandths of Brier: the first less the second", False),
        ("brier", "Pairs by Brier score: the first less the second", True),
    ):
        pairs = [pair for pair in evaluation.pairs if pair.metric == metric]
        if any(pair.n or pair.apart for pair in pairs):
            yield _pairs_grid(pairs, title, lower_is_better=lower)


_BETTER = (
    "named at a corrected p-value of at most 0.05, on at least 30 events, for one look on a day fixed beforehand; a "
    "verdict of the leaderboard may be read on any day, and takes more"
)


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
        Column("p", "p_adjusted", figures.p_value, 3).means(f"how easily luck gives as much{corrected}"),
        Column("better", "", _better, 0, kind="key").means(_BETTER),
        Column("more events", "", lambda pair: short_more_events(pair_verdict(pair)), 2).means(
            "about how many more it takes to tell them apart, if the difference stays as it is"
        ),
        Column("n", "n", figures.count, 4),
        Column("events", "clusters", figures.count, 5),
        Column("detects", "detectable", lambda found: scaled(found).lstrip("+"), 1).means(
            "the smallest true difference that so many events show four times in five"
        ),
    )
    found = table_of(title, columns, likely, tuple(_apart_lines(pairs, "market" if lower_is_better else "event")))
    # What a claim takes is said last.
    return replace(found, legend=tuple(sorted(columns, key=lambda each: each.header == "better")))


def _better(pair: Pair) -> str:
    return PAIR_VERDICTS[pair_verdict(pair).finding] if pair.n else "never near"


def _apart_lines(pairs: Sequence[Pair], subject: str) -> Iterator[str]:
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
    rows = [row for row in bot_rows(evaluation) if row.forecast.n]
    yield table_of(title, (_BOT, *COLUMNS["calibration"]), rows)
    bins = [(card.bot, each) for card in cards for each in bin_documents(card.forecast.calibration) if each["n"]]
    if bins:
        below = "95%: Wilson's interval of how often it happens, over as many events as the forecasts are worth."
        yield table_of("Bins: of forecasts from .. to .., how many came true", _BINS, bins, [below])


_BINS = (
    Column("bot", "0", kind="name"),
    Column("forecasts", "1", lambda each: f"{each['lower']:.1f} to {each['upper']:.1f}", kind="key"),
    Column("count", "1.n", figures.count),
    Column("mean forecast", "1.mean_probability", figures.probability, 1),
    Column("happened", "1.mean_outcome", figures.percent),
    Column(
        "95%", "1", lambda each: f"{figures.percent(each['outcome_low'])} to {figures.percent(each['outcome_high'])}"
    ),
)


def _consistency(evaluation: Evaluation) -> Iterator[Table]:
    if evaluation.consistency:
        below = f"Hardly moved: by at most {UNCHANGED_PRICE:g} between two days in a row on which it decided."
        title = "Consistency: how alike a bot answers when it is asked the same again"
        yield table_of(title, (_BOT, *COLUMNS["consistency"]), evaluation.consistency, [below])
    boards: list[AccountBoard | CohortBoard] = [*evaluation.accounts, *evaluation.cohorts]
    for board in boards:
        if board.consistency:
            yield consistency_grid(board)


def _effort(evaluation: Evaluation) -> Iterator[Table]:
    board = effort_board(evaluation)
    if not board.rows:
        return
    columns = (Column("bot", "effort.bot", kind="name"), *COLUMNS["effort"])
    yield table_of("Effort of a decision beside success", columns, board.rows, [f"return: {board.returns}."])
    below = "Of ranks over bots, with Fisher's interval, which takes bots for independent; none below 4 bots."
    yield table_of("How effort and success go together over bots", _CORRELATIONS, board.correlations, [below])


def _coherence(evaluation: Evaluation) -> Iterator[Table]:
    if evaluation.coherence:
        title = "Coherence: how far forecasts of one event break the rules of probability"
        more = "By rule, by event and over time: `predibot report --bot NAME`."
        yield table_of(title, (Column("bot", "name", kind="name"), *COLUMNS["coherence"]), evaluation.coherence, [more])


_CORRELATIONS = (
    Column("effort", "effort", lambda name: EFFORT_WORDS.get(name, name), kind="key"),
    Column("with", "success", lambda name: EFFORT_WORDS.get(name, name), 0, kind="key"),
    Column("Spearman", "found.spearman.value", figures.ratio, 0),
    Column("95% interval", "found.spearman", ends(partial(figures.interval, decimals=2)), 0),
    Column("bots", "found.n", figures.count),
)


TABLES: Mapping[str, Callable[[Evaluation], Iterator[Table]]] = {
    "forecasts": _forecasts,
    "returns": _returns,
    "quote": _quote,
    "pairs": _pairs,
    "calibration": _calibration,
    "decisions": _decisions,
    "consistency": _consistency,
    "effort": _effort,
    "coherence": _coherence,
}
"""What `--table` can name, in the order of a reader's questions."""
ACCOUNTS = "accounts"
COHORTS = "cohorts"
ACCOUNT_TABLES = (ACCOUNTS, "risk", "behaviour", "delays", "pairs", COHORTS)
"""What `--table` can name of games with accounts; the first has everything but the pairs."""


def _part_grids(evaluation: Evaluation) -> Iterator[Table]:
    """Yield the tables of `--by`: scores, and returns at the quote and at the mid if there are any."""
    by = evaluation.question.grouping or ""
    group = Column(by, "group", within(_GROUP_CELLS), kind="text")
    columns = (group, _BOT, *(replace(each, drop=LAST, meaning="") for each in COLUMNS["scores"][:_PART_CELLS]))
    of_forecasts = {"lead_time": evaluation.by_lead_time, "confidence": evaluation.by_confidence}.get(by, ())
    for words, parts in ((by, evaluation.parts), (_GROUP_WORDS.get(by, by), of_forecasts)):
        if parts:
            rows = [{"group": each.group, "bot": each.bot, "forecast": each.score} for each in parts]
            yield table_of(f"Forecasts by {words}", columns, rows)
        if cards := [(each.group, each.card) for each in parts if each.card]:
            yield from _part_returns_grids(by, group, cards)


_GROUP_WORDS = {"lead_time": "days before the settlement", "confidence": "stated confidence, of 10"}


def _part_returns_grids(by: str, group: Column, cards: Sequence[tuple[str, Scorecard]]) -> Iterator[Table]:
    labels = tuple(cards[0][1].horizons)
    columns = [
        Column(figures.horizon(label), f"returns.{place}", figures.signed_percent) for place, label in enumerate(labels)
    ]
    shown = (group, _BOT, Column("decisions", "decisions", figures.count), *columns)
    for at, name in (("quote", "quote_mean_return"), ("mid", "mean_return")):
        found = [[getattr(card.horizons[label], name) for label in labels] for _, card in cards]
        rows = [
            {"group": part, "bot": card.bot, "decisions": card.decisions, "returns": returns}
            for (part, card), returns in zip(cards, found, strict=True)
        ]
        if at == "mid" or any(value is not None for returns in found for value in returns):
            yield table_of(f"Returns at the {at} by {by}", shown, rows)


def _counterfactual_grid(title: str, change: str, found: Sequence[Counterfactual]) -> Table:
    columns = (
        _BOT,
        Column(change, "change", kind="key"),
        _HORIZON,
        Column("return", "mean_return", figures.signed_percent),
        Column("as it was", "actual_mean_return", figures.signed_percent),
        Column("difference", "difference.estimate", figures.signed_percent),
        Column("95% interval", "difference", ends(figures.percent_interval)),
        Column("n", "", lambda each: figures.count(value_of(each, "difference.n") or 0)),
    )
    return table_of(title, columns, found)
