"""Boards of accounts and cohorts as data: what a document, a table for programs and a screen say of each bot."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from predibot.reports import figures
from predibot.reports.document import Document, document, json_value, number
from predibot.scoring.accounts.board import AccountBoard, AccountPair
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBotScore
from predibot.scoring.accounts.rolling_delay import DELAYS
from predibot.scoring.accounts.score import AccountScore
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.overlap import ENOUGH_TO_RANK

_INTERVALS = ("cumulative_return", "sharpe", "max_drawdown")
_HOW = ("periods_per_year", "ddof", "risk_free_rate", "value_at_risk_level")
"""What of an equity score says how it was made."""
_MOST_NAMED = 3
_NAMED, _OF_COHORTS = "recipe game mode subject", "recipe game mode methodology"
_STATUSES = ("recorded", "abstained", "refused", "failed")


def board_document(board: AccountBoard) -> Document:
    """Return the JSON document of a board, best account first."""
    return {
        **document(board, _NAMED),
        "leaderboard": [
            {
                **cells,
                "intervals": {name: _interval(found) for name, found in score.intervals.items()},
                "delays": [
                    {"delay_slots": delay, **document(found, "difference cumulative_return actual_return n")}
                    for delay, found in score.delays.items()
                ],
            }
            | ({} if score.behaviour.sectors is None else {"sectors": dict(score.behaviour.sectors)})
            | {"periods_basis": score.periods_basis, "values_usd": list(score.values)}
            for score, cells in zip(board.scores, account_cells(board), strict=True)
        ],
        "comparisons": [_pair(pair) for pair in board.pairs],
        "delay_bands": [asdict(band) for band in board.delay_bands],
        "conclusions": list(conclusions(board)),
        "notes": list(board.notes),
    }


def account_rows(boards: Sequence[AccountBoard]) -> Iterator[Document]:
    """Yield one row an account, whose columns are those of every other; ends of intervals beside what they are of."""
    for board in boards:
        for score, cells in zip(board.scores, account_cells(board), strict=True):
            ends: Document = {}
            for name in _INTERVALS:
                found = score.intervals.get(name)
                ends[f"{name}_low"] = None if found is None else number(found.low)
                ends[f"{name}_high"] = None if found is None else number(found.high)
            delays = {
                f"delay_{delay}": None if (late := score.delays.get(delay)) is None else number(late.difference)
                for delay in DELAYS
            }
            yield {**document(board, _NAMED), **cells, **ends, **delays}


def account_pairs(boards: Sequence[AccountBoard]) -> Iterator[Document]:
    """Yield one row a pair of a bot and a baseline."""
    for board in boards:
        yield from ({**document(board, _NAMED), **_pair(pair)} for pair in board.pairs)


def account_cells(board: AccountBoard) -> Iterator[Document]:
    """Yield the plain figures of each account of a board; one without a value is None."""
    ranks, standings, least = board.ranks, board.standings, board.least
    for score in board.scores:
        bot = score.bot
        told = {
            "rank": ranks.get(bot),
            "bot": bot,
            "standing": standings[bot],
            "least_difference": number(least.get(bot)),
        }
        yield {**told, **_cells(score)}


def _cells(score: AccountScore) -> Document:
    equity = {} if score.equity is None else asdict(score.equity)
    behaviour = score.behaviour
    return {
        "growth_over_half": number(score.told),
        "repeats": score.repeats or None,
        "implied_deviation": number(score.implied.deviation),
        "dependence": number(score.implied.dependence),
        "most_in_one_event": number(score.implied.most_in_one_event),
        **document(score, "baseline knowledge"),
        **document(score, "first_at last_at dates start_usd"),
        "value_usd": score.last_usd,
        "cash_usd": score.last_cash_usd,
        "owing_usd": score.owing_usd,
        **{name: json_value(equity.get(name)) for name in (*_EQUITY, *_HOW)},
        **document(behaviour, "cash_share turnover concentration net_exposure slots_in_drawdown"),
        "slots_priced": behaviour.slots,
        **{status: score.decisions.get(status, 0) for status in _STATUSES},
        "missed": score.missed,
        "failed_share": number(score.failed_share),
        "pending_orders": score.pending,
        "stale_marks": score.unpriced_marks,
        **document(score, "cost_usd cost_known_usd"),
    }


_EQUITY = (
    *("cumulative_return", "annualized_return", "volatility", "sharpe", "sortino", "max_drawdown", "calmar"),
    *("win_rate", "value_at_risk", "longest_losing_run"),
)


def conclusions(board: AccountBoard) -> Iterator[str]:
    """Yield what may be said of the bots, with the interval that says it."""
    told = board.standings
    if "baseline" not in told.values() or all(standing == "baseline" for standing in told.values()):
        return
    better = [_nearest(bot, board) for bot, standing in told.items() if standing == "better"]
    worse = [_own(score) for score in board.scores if told[score.bot] == "worse"]
    for said, words in ((better, "better than every baseline"), (worse, "worse than cash")):
        if said:
            more = f", and {len(said) - _MOST_NAMED} more" if len(said) > _MOST_NAMED else ""
            yield f"Did {words}: {'; '.join(said[:_MOST_NAMED])}{more}."
    if not better:
        few = ": there are fewer than 30 dates." if {*told.values()} == {"too few", "baseline"} else "."
        yield f"No bot can be said to do better than every baseline{few}"


def _nearest(bot: str, board: AccountBoard) -> str:
    pair = min((each for each in board.pairs if each.bot == bot), key=lambda each: each.difference.low or 0.0)
    low, high = pair.difference.interval or (None, None)
    return f"{bot} (from the nearest, {pair.baseline}: {figures.percent_interval(low, high)})"


def _own(score: AccountScore) -> str:
    found = score.intervals["cumulative_return"]
    return f"{score.bot} ({figures.percent_interval(found.low, found.high)})"


def _interval(found: Estimate) -> Document:
    return {
        **document(found, "low high"),
        "dates": found.clusters,
        "few_dates": found.few_clusters,
        **document(found, "method resamples_without_value"),
    }


def _pair(pair: AccountPair) -> Document:
    return {
        **document(pair, "bot baseline"),
        "difference": number(pair.difference.estimate),
        **document(pair, "beta correlation"),
        **_interval(pair.difference),
        "better": pair.better,
    }


def cohort_board_document(board: CohortBoard) -> Document:
    """Return the JSON document of a board of cohorts, in its order."""
    return {
        **document(board, f"{_OF_COHORTS} cohorts complete"),
        "archived_left_out": board.archived,
        "leaderboard": [_cohort_cells(board, score) for score in board.scores],
        "conclusions": list(cohort_conclusions(board)),
        "notes": list(board.notes),
    }


def cohort_rows(boards: Sequence[CohortBoard]) -> Iterator[Document]:
    """Yield one row a bot of each board of cohorts, whose columns are those of every other."""
    for board in boards:
        yield from ({**document(board, _OF_COHORTS), **_cohort_cells(board, score)} for score in board.scores)


def cohort_conclusions(board: CohortBoard) -> Iterator[str]:
    """Yield what may be said of the bots' returns: nothing below 30 effective cohorts."""
    if not board.scores:
        return
    for verdict, words in (("gains", "Gains"), ("loses", "Loses")):
        if found := [_with_interval(each) for each in board.scores if each.verdict == verdict]:
            yield f"{words} over cohorts: {'; '.join(found)}."
    if all(each.verdict == "too few" for each in board.scores):
        most = max((each.score.returns for each in board.scores), key=lambda each: each.effective)
        overlap = f", of which up to {most.overlap} overlap," if most.overlap > 1 else ""
        yield (
            f"Nobody can be said to gain, to lose or to be better: {figures.things(most.cohorts, 'cohort')}{overlap} "
            f"{'counts' if most.cohorts == 1 else 'count'} as {most.effective:.3g}, and {ENOUGH_TO_RANK:g} are needed."
        )
    elif unclear := [each.bot for each in board.scores if each.verdict == "unclear"]:
        yield f"May gain or lose: {', '.join(unclear)}."


def _cohort_cells(board: CohortBoard, score: CohortBotScore) -> Document:
    """Return every figure of a bot, in the order of columns; what is missing is None."""
    found = score.score
    returns = found.returns
    briers = {"brier_stated": score.stated, "brier_implied_confidence": score.implied}
    return {
        "rank": board.ranks.get((score.bot, score.knowledge)),
        **document(score, "bot display_name strategy baseline knowledge"),
        "mean_return": number(returns.mean),
        "mean_return_low": number(returns.low),
        "mean_return_high": number(returns.high),
        **document(found, "profit_usd return_on_stakes win_rate cohorts"),
        "overlap": returns.overlap,
        "effective_cohorts": number(returns.effective),
        "waves": returns.waves,
        "resolved": found.resolved,
        **{
            key: value
            for name, brier in briers.items()
            for key, value in (
                (name, None if brier is None else number(brier.score)),
                (f"{name}_n", 0 if brier is None else brier.n),
            )
        },
        **document(score, "cannot_bet bankrupt owing"),
        **{status: score.decisions.get(status, 0) for status in _STATUSES},
        **document(score, "failed_share cost_usd cost_known_usd verdict"),
    }


def _with_interval(each: CohortBotScore) -> str:
    returns = each.score.returns
    return f"{each.bot} ({figures.percent_interval(returns.low, returns.high)} a cohort)"
