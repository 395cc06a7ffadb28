"""Boards of accounts and cohorts as data: documents, rows and conclusions."""

from collections.abc import Iterable, Iterator, Sequence

from predibot.reports import figures
from predibot.reports.table import Document, document, number, under, value_of
from predibot.scoring.accounts.board import AccountBoard
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBotScore
from predibot.scoring.accounts.rolling_delay import DELAYS
from predibot.scoring.inference.overlap import ENOUGH_TO_RANK

_MOST_NAMED = 3
_NAMED, _OF_COHORTS = "recipe game mode subject", "recipe game mode methodology"
_STATUSES = ("recorded", "abstained", "refused", "failed")


def board_document(board: AccountBoard) -> Document:
    """Return a board as JSON has it, best account first."""
    return {
        **document(board, _NAMED),
        "leaderboard": [
            {
                **cells,
                "intervals": {name: document(found, _INTERVAL) for name, found in score.intervals.items()},
                "delays": [
                    {"delay_slots": delay, **document(found, "difference cumulative_return actual_return n")}
                    for delay, found in score.delays.items()
                ],
            }
            | ({} if score.behaviour.sectors is None else {"sectors": dict(score.behaviour.sectors)})
            | {"periods_basis": score.periods_basis, "values_usd": list(score.values)}
            | document(score, "replicates")
            for score, cells in zip(board.scores, account_cells(board), strict=True)
        ],
        "comparisons": [document(pair, _PAIR) for pair in board.pairs],
        "consistency": [document(each, _CONSISTENCY) for each in board.consistency],
        **document(board, "delay_bands"),
        "conclusions": list(conclusions(board)),
        "notes": list(board.notes),
    }


def account_rows(boards: Sequence[AccountBoard]) -> Iterator[Document]:
    """Yield a row for each account, all with the same columns; ends of intervals stand beside their figure."""
    for board in boards:
        for score, cells in zip(board.scores, account_cells(board), strict=True):
            delays = {f"delay_{each}": number(value_of(score.delays.get(each), "difference")) for each in DELAYS}
            yield {**document(board, _NAMED), **cells, **document(score, f"{_ENDS} {_REPLICATES}"), **delays}


def account_pairs(boards: Sequence[AccountBoard]) -> Iterator[Document]:
    """Yield a row for each pair of a bot and a baseline."""
    for board in boards:
        yield from ({**document(board, _NAMED), **document(pair, _PAIR)} for pair in board.pairs)


def consistency_rows(boards: Iterable[AccountBoard | CohortBoard]) -> Iterator[Document]:
    """Yield a row for each bot of each board that was asked the same again, and way in which it was."""
    for board in boards:
        yield from (
            {**document(board, "recipe game mode"), **document(each, _CONSISTENCY)} for each in board.consistency
        )


def account_cells(board: AccountBoard) -> Iterator[Document]:
    """Yield the plain figures of each account; None without a value."""
    ranks, standings, least = board.ranks, board.standings, board.least
    for score in board.scores:
        bot = score.bot
        fields = {
            "rank": ranks.get(bot),
            "bot": bot,
            "standing": standings[bot],
            "least_difference": number(least.get(bot)),
        }
        statuses = {status: score.decisions.get(status, 0) for status in _STATUSES}
        cells = {**document(score, _BEFORE), "repeats": score.repeats or None}
        yield {**fields, **cells, **statuses, **document(score, _AFTER)}


_INTERVALS = ("cumulative_return", "sharpe", "max_drawdown")
_ENDS = " ".join(f"{each}_{end}=intervals.{each}.{end}" for each in _INTERVALS for end in ("low", "high"))
_REPLICATES = (
    "replicates=replicates.count replicates_return_low=replicates.cumulative_return.low "
    "replicates_return_high=replicates.cumulative_return.high"
)
_EQUITY = (
    "cumulative_return annualized_return volatility sharpe sortino max_drawdown calmar win_rate value_at_risk "
    "longest_losing_run periods_per_year ddof risk_free_rate value_at_risk_level"
)
_BEFORE = (
    "growth_over_half=told repeats implied_deviation=implied.deviation "
    f"{under('implied', 'dependence most_in_one_event')} baseline knowledge first_at last_at dates start_usd "
    f"value_usd=last_usd cash_usd=last_cash_usd owing_usd {under('equity', _EQUITY)} "
    f"{under('behaviour', 'cash_share turnover concentration net_exposure slots_in_drawdown')} "
    "slots_priced=behaviour.slots"
)
"""The plain figures of an account, as `document` reads them, before those of its decisions."""
_AFTER = "missed failed_share pending_orders=pending stale_marks=unpriced_marks cost_usd cost_known_usd"
_CONSISTENCY = (
    "bot between n clusters difference=difference.estimate difference_low=difference.low "
    "difference_high=difference.high in_common=in_common.estimate in_common_low=in_common.low "
    "in_common_high=in_common.high weight_deviation"
)
_INTERVAL = "low high dates=clusters few_dates=few_clusters method resamples_without_value"
_PAIR = (
    "bot baseline difference=difference.estimate beta correlation low=difference.low high=difference.high "
    "dates=difference.clusters few_dates=difference.few_clusters "
    f"{under('difference', 'method resamples_without_value')} better"
)


def conclusions(board: AccountBoard) -> Iterator[str]:
    """Yield conclusions about the bots, with the intervals they rest on."""
    standings = board.standings
    if "baseline" not in standings.values() or all(standing == "baseline" for standing in standings.values()):
        return
    better = [_with_nearest_baseline(bot, board) for bot, standing in standings.items() if standing == "better"]
    own = [(each.bot, each.intervals["cumulative_return"]) for each in board.scores if standings[each.bot] == "worse"]
    worse = [f"{bot} ({figures.percent_interval(of.low, of.high)})" for bot, of in own]
    for said, words in ((better, "better than every baseline"), (worse, "worse than cash")):
        if said:
            more = f", and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
            yield f"Did {words}: {'; '.join(said[:_MOST_NAMED])}{more}."
    if not better:
        few = ": there are fewer than 30 dates." if {*standings.values()} == {"too few", "baseline"} else "."
        yield f"No bot is proven to do better than every baseline{few}"


def _with_nearest_baseline(bot: str, board: AccountBoard) -> str:
    pair = min((each for each in board.pairs if each.bot == bot), key=lambda each: each.difference.low or 0.0)
    low, high = pair.difference.interval or (None, None)
    return f"{bot} (from the nearest, {pair.baseline}: {figures.percent_interval(low, high)})"


def cohort_board_document(board: CohortBoard) -> Document:
    """Return a board of cohorts as JSON has it, in its order."""
    return {
        **document(board, f"{_OF_COHORTS} cohorts complete"),
        "archived_left_out": board.archived,
        "leaderboard": [{**_cohort_cells(board, each), **document(each, "replicates")} for each in board.scores],
        "consistency": [document(each, _CONSISTENCY) for each in board.consistency],
        "conclusions": list(cohort_conclusions(board)),
        "notes": list(board.notes),
    }


def cohort_rows(boards: Sequence[CohortBoard]) -> Iterator[Document]:
    """Yield a row for each bot of each board, all with the same columns."""
    for board in boards:
        named = document(board, _OF_COHORTS)
        yield from ({**named, **_cohort_cells(board, each), **document(each, _OF_REPLICATES)} for each in board.scores)


def cohort_conclusions(board: CohortBoard) -> Iterator[str]:
    """Yield conclusions about the bots' returns; below 30 effective cohorts there are none."""
    if not board.scores:
        return
    for verdict, words in (("gains", "Gains"), ("loses", "Loses")):
        own = [(each.bot, each.score.returns) for each in board.scores if each.verdict == verdict]
        if found := [f"{bot} ({figures.percent_interval(of.low, of.high)} a cohort)" for bot, of in own]:
            yield f"{words} over cohorts: {'; '.join(found)}."
    if all(each.verdict == "too few" for each in board.scores):
        most = max((each.score.returns for each in board.scores), key=lambda each: each.effective)
        overlap = f", of which up to {most.overlap} overlap," if most.overlap > 1 else ""
        yield (
            f"Nobody is proven to gain, to lose or to be better: {figures.things(most.cohorts, 'cohort')}{overlap} "
            f"{'counts' if most.cohorts == 1 else 'count'} as {most.effective:.3g}, and {ENOUGH_TO_RANK:g} are needed."
        )
    elif unclear := [each.bot for each in board.scores if each.verdict == "unclear"]:
        yield f"May gain or lose: {', '.join(unclear)}."


def _cohort_cells(board: CohortBoard, score: CohortBotScore) -> Document:
    sizes = {
        f"{name}_n": 0 if of is None else of.n
        for name, of in (("brier_stated", score.stated), (_IMPLIED, score.implied))
    }
    statuses = {status: score.decisions.get(status, 0) for status in _STATUSES}
    rank = {"rank": board.ranks.get((score.bot, score.knowledge))}
    return {**rank, **document(score, _COHORT), **sizes, **statuses, **document(score, _COHORT_AFTER)}


_IMPLIED = "brier_implied_confidence"
_COHORT = (
    "bot display_name strategy baseline knowledge mean_return=score.returns.mean mean_return_low=score.returns.low "
    f"mean_return_high=score.returns.high {under('score', 'profit_usd return_on_stakes win_rate cohorts')} "
    "overlap=score.returns.overlap effective_cohorts=score.returns.effective waves=score.returns.waves "
    "resolved=score.resolved brier_stated=stated.score brier_stated_n=stated.n "
    f"{_IMPLIED}=implied.score {_IMPLIED}_n=implied.n cannot_bet bankrupt owing"
)
_OF_REPLICATES = (
    "replicates=replicates.count replicates_return_low=replicates.mean_return.low "
    "replicates_return_high=replicates.mean_return.high"
)
_COHORT_AFTER = "failed_share cost_usd cost_known_usd verdict"
