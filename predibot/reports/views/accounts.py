"""Boards of accounts as data: what a document, a table for programs and a screen say of each bot's account."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from predibot.reports import figures
from predibot.reports.document import Document, document, json_value, number
from predibot.scoring.accounts.board import AccountBoard, AccountPair
from predibot.scoring.accounts.rolling_delay import DELAYS
from predibot.scoring.accounts.score import AccountScore
from predibot.scoring.inference.bootstrap import Estimate

_INTERVALS = ("cumulative_return", "sharpe", "max_drawdown")
_HOW = ("periods_per_year", "ddof", "risk_free_rate", "value_at_risk_level")
"""What of an equity score says how it was made."""
_MOST_NAMED = 3
_NAMED = "recipe game mode subject"


def board_document(board: AccountBoard) -> Document:
    """Return the JSON document of a board, best account first."""
    return {
        **document(board, _NAMED),
        "leaderboard": [
            {**cells, "intervals": _intervals(score), "delays": _delays(score)}
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
        **{status: score.decisions.get(status, 0) for status in ("recorded", "abstained", "refused", "failed")},
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


def _intervals(score: AccountScore) -> Document:
    return {name: _interval(found) for name, found in score.intervals.items()}


def _interval(found: Estimate) -> Document:
    return {
        **document(found, "low high"),
        "dates": found.clusters,
        "few_dates": found.few_clusters,
        **document(found, "method resamples_without_value"),
    }


def _delays(score: AccountScore) -> list[Document]:
    return [
        {"delay_slots": delay, **document(found, "difference cumulative_return actual_return n")}
        for delay, found in score.delays.items()
    ]


def _pair(pair: AccountPair) -> Document:
    return {
        **document(pair, "bot baseline"),
        "difference": number(pair.difference.estimate),
        **document(pair, "beta correlation"),
        **_interval(pair.difference),
        "better": pair.better,
    }
