"""Boards of accounts and of cohorts on a screen: the leaderboard first, then what lies behind it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from predibot.reports import figures
from predibot.reports.table import Column, Table, ends, table_of, value_of
from predibot.reports.terminal.terminal import plain
from predibot.scoring.accounts.board import AccountBoard, RankAgreement
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBotScore
from predibot.scoring.accounts.record import AccountReplicates, CohortReplicates
from predibot.scoring.accounts.score import AccountScore
from predibot.scoring.records.consistency import UNCHANGED_PRICE

_CURVE_CELLS = 6
_STANDING_WORDS: Mapping[str, str] = {"worse": "worse", "too few": "few"}


def board_grid(board: AccountBoard) -> Table:
    """Return the leaderboard of a game of accounts; it fits 80 columns."""
    ranks, standings = board.ranks, board.standings
    rows = [
        {"place": _STANDING_WORDS.get(standings[score.bot], figures.count(ranks.get(score.bot))), "score": score}
        for score in board.scores
    ]
    return table_of(_title(board), _BOARD, rows, tuple(_account_footnotes(board)))


def account_grids(board: AccountBoard, table: str = "accounts") -> Iterator[Table]:
    """Yield the grids of a table of a board: `accounts` is all but the pairs, the leaderboard first."""
    if table == "accounts":
        yield board_grid(board)
    if table in ("accounts", "risk"):
        yield table_of("Risk", _RISK, board.scores)
    if table in ("accounts", "behaviour"):
        yield table_of("Behaviour, means over decisions", _BEHAVIOUR, board.scores)
        if beside := [pair for pair in board.pairs if pair.beta is not None]:
            yield table_of("Returns beside the indices, on the same dates", _INDICES, beside)
        yield from _sectors(board)
    if table in ("accounts", "delays") and board.delay_bands:
        yield _delays(board)
    if table == "pairs" and board.pairs:
        yield table_of("Returns beside baselines, on the same dates", _PAIRS, board.pairs)


def agreement_lines(agreements: Sequence[RankAgreement]) -> Iterator[str]:
    """Yield how far the rankings of bots agree."""
    for each in agreements:
        if each.correlation is not None:
            text = f"{plain(each.one)} and {plain(each.other)}: {figures.ratio(each.correlation)}"
            yield f"Ranks agree (Spearman, {each.bots} bots): {text}."


def _title(board: AccountBoard) -> str:
    starts = {score.start_usd for score in board.scores}
    began = f"{figures.usd(starts.pop())} at the start" if len(starts) == 1 else "starts differ"
    returns = max((score.dates for score in board.scores), default=0)
    until = max((figures.instant(score.last_at) for score in board.scores), default=figures.MISSING)
    of = f"{plain(board.game)} of {plain(board.recipe)}, {board.mode}"
    return f"{of}: {began}, {figures.things(returns, 'return')} to {until}"


def _bounded_percent(value: float | None) -> str:
    """Return a share in percent, ten or more as `>999%`."""
    return ">999%" if value is not None and value >= 9.995 else figures.short_percent(value)


def _account_footnotes(board: AccountBoard) -> Iterator[str]:
    if any(score.baseline for score in board.scores):
        yield "*: a baseline."
    if copies := [f"{plain(score.bot)} repeats {plain(score.repeats)}" for score in board.scores if score.repeats]:
        yield f"=: {'; '.join(copies)}."
    if any(score.knowledge == "unknown" for score in board.scores):
        yield "?: its models' knowledge cutoff is not known; ranked apart."
    if stale := sum(score.unpriced_marks for score in board.scores):
        yield f"{figures.things(stale, 'position')} valued at the last price there was: see stale in --full."


def _bot_with_marks(score: AccountScore) -> str:
    mark = "*" * score.baseline + "=" * bool(score.repeats) + "?" * (score.knowledge == "unknown")
    return plain(score.bot) + mark


def _share(value: float | None) -> str:
    return figures.MISSING if value is None else f"{100.0 * value:,.1f}%"


def _curve(score: AccountScore) -> str:
    return figures.sparkline([value - score.start_usd for value in score.values], _CURVE_CELLS)


_BOT = Column("bot", "bot", kind="name")


def _replicates(found: AccountReplicates | CohortReplicates) -> str:
    spread = found.cumulative_return if isinstance(found, AccountReplicates) else found.mean_return
    if spread is None:
        return f"{found.count}: {figures.MISSING}"
    return f"{found.count}: {figures.short_percent(spread.low)} to {figures.short_percent(spread.high)}"


_REPLICATES = "how many were asked independently, and their lowest and highest return; all else is of the mean of them"
_BOARD = (
    Column("#", "place").means(
        "the place among those better than every baseline, else worse than cash, few dates, or – not proven"
    ),
    Column("bot", "score", _bot_with_marks, 0, kind="name"),
    Column("value", "score", lambda score: figures.usd(score.last_usd) + " owing" * bool(score.owing_usd), 0).means(
        "cash and positions at the last prices"
    ),
    Column("return", "score.cumulative_return", _bounded_percent, 0).means("last value beside the cash at the start"),
    Column(
        "replicates", "score.replicates", _replicates, 6, only_with=lambda row: row["score"].replicates is not None
    ).means(_REPLICATES),
    Column("low", "score.intervals.cumulative_return.low", _bounded_percent, 0).means(
        "with high the 95 % interval of the return, had other dates or outcomes come, by their prices"
    ),
    Column("high", "score.intervals.cumulative_return.high", _bounded_percent),
    Column("Sharpe", "score.equity.sharpe", figures.ratio, 2).means("mean return over its deviation, a year"),
    Column("fell", "score.equity.max_drawdown", figures.percent, 4).means(
        "the deepest fall below the highest value until then"
    ),
    Column("fail", "score.failed_share", figures.percent, 5).means(
        "decisions refused or failed, which keep the shares as they were"
    ),
    Column("cost", "score.cost_usd", figures.cost_usd, 3).means("what models and searches cost"),
    Column("curve", "score", _curve, 1, kind="key").means("the value beside the cash at the start"),
)
_RISK = (
    _BOT,
    Column("Sharpe", "equity.sharpe", figures.ratio),
    Column("its interval", "intervals.sharpe", ends(partial(figures.interval, decimals=1))),
    Column("Sortino", "equity.sortino", figures.ratio),
    Column("Calmar", "equity.calmar", figures.ratio),
    Column("drawdown", "equity.max_drawdown", _share),
    Column("from, to", "intervals.max_drawdown", ends(figures.percent_interval)),
    Column("volatility", "equity.volatility", _share),
    Column("wins", "equity.win_rate", figures.percent),
    Column("VaR 5%", "equity.value_at_risk", _share),
)
_BEHAVIOUR = (
    _BOT,
    Column("cash", "behaviour.cash_share", _share),
    Column("turnover", "behaviour.turnover", _share),
    Column("concentration", "behaviour.concentration", figures.probability),
    Column("yes - no", "behaviour.net_exposure", figures.signed_percent),
    Column("in drawdown", "", lambda score: f"{score.behaviour.slots_in_drawdown} of {len(score.values)}"),
    Column("decided", "decisions", lambda decisions: figures.count(sum(decisions.values()))),
    Column("missed", "missed", figures.count),
    Column("stale", "unpriced_marks", figures.count),
    Column("pending", "pending", figures.count),
)
_DIFFERENCE = (
    Column("difference", "difference.estimate", figures.signed_percent),
    Column("95 % interval", "difference", ends(figures.percent_interval)),
)
_PAIRS = (_BOT, Column("baseline", "baseline", kind="name"), *_DIFFERENCE, Column("better", "better", kind="name"))
_CONSISTENCY = (
    _BOT,
    Column("again", "between", drop=0, kind="key").means(
        "by replicates at one time, in a cohort when it starts, or on days between which the prices of what "
        "was asked for hardly moved"
    ),
    Column("difference", "difference.estimate", figures.score, 0).means(
        "half the sum of the differences of weights, cash too: 0 the same, 1 nothing in common"
    ),
    Column("95% of it", "difference", ends(figures.interval), 3),
    Column("in common", "in_common.estimate", figures.percent, 0).means("of what either puts money into, what both do"),
    Column("95% of common", "in_common", ends(figures.share_interval), 2),
    Column("sd of weights", "weight_deviation", figures.score, 4).means("of one weight"),
    Column("pairs", "n", figures.count, 5),
    Column("dates", "clusters", figures.count, 6),
)
_INDICES = (
    _BOT,
    Column("index", "baseline", kind="name"),
    *_DIFFERENCE,
    Column("beta", "beta", figures.ratio),
    Column("correlation", "correlation", figures.ratio),
)


def _sectors(board: AccountBoard) -> Iterator[Table]:
    held = {score.bot: score.behaviour.sectors for score in board.scores if score.behaviour.sectors}
    rows = [
        {"sector": name, "shares": [sectors.get(name) for sectors in held.values()]}
        for name in sorted({name for sectors in held.values() for name in sectors})
    ]
    if rows:
        shares = [Column(plain(bot), f"shares.{place}", figures.percent) for place, bot in enumerate(held)]
        columns = (Column("sector", "sector", kind="name"), *shares)
        yield table_of("Exposure by sector, shares of the account, means over decisions", columns, rows)


def _delays(board: AccountBoard) -> Table:
    """Return what holdings of earlier slots would have changed, with the middle half of the bots."""
    bands = board.delay_bands
    rows = [
        (
            plain(score.bot),
            *(figures.signed_percent(value_of(score.delays.get(each.delay_slots), "difference")) for each in bands),
            figures.count(next((found.n for found in score.delays.values()), None)),
        )
        for score in board.scores
    ]
    bots = figures.count(bands[0].bots)
    rows.append(("mean of bots", *(figures.signed_percent(each.mean) for each in bands), bots))
    rows.append(("25 to 75 %", *(figures.percent_interval(each.low, each.high) for each in bands), bots))
    columns = (_BOT, *(Column(f"{each.delay_slots} late") for each in bands), Column("dates"))
    title = "Return with the holdings of earlier decisions, less the actual: negative says that stale decisions hurt"
    return Table(title, columns, tuple(rows))


def cohort_grids(board: CohortBoard) -> Iterator[Table]:
    """Yield the leaderboard and the table of forecasts; both fit 80 columns."""
    yield cohort_grid(board)
    title = "Brier scores: of what was stated, and of the confidence that sizes of bets imply"
    yield table_of(title, _FORECASTS, board.scores)


def cohort_grid(board: CohortBoard) -> Table:
    """Return the leaderboard of a game of weekly cohorts."""
    ranks = board.ranks
    of = f"{plain(board.game)} {plain(board.methodology)} of {plain(board.recipe)}, {board.mode}"
    stakes = f"mean over cohorts of what was made of the {figures.money_sign()}10,000 of each"
    ends_of_it = "with high the 95 % interval of it, for cohorts that overlap; it places those that gain"
    columns = (
        Column("#", "", lambda each: figures.count(ranks.get((each.bot, each.knowledge)))),
        Column("bot", "", _cohort_bot_with_marks, 0, kind="name"),
        Column("return", "score.returns.mean", figures.short_percent, 0).means(stakes),
        Column("replicates", "replicates", _replicates, 3, only_with=lambda each: each.replicates is not None).means(
            _REPLICATES
        ),
        Column("low", "score.returns.low", figures.short_percent, 0).means(ends_of_it),
        Column("high", "score.returns.high", figures.short_percent, 0),
        Column("P/L", "score.profit_usd", figures.whole_gain_usd).means("over all cohorts"),
        Column("wins", "score.win_rate", figures.percent).means(
            "share of positions that won, of those that won or lost"
        ),
        Column("cohorts", "score.cohorts", figures.count, 0),
        Column("resolved", "score.resolved", figures.count, 2).means("positions that won, lost or were cancelled"),
        Column("cost", "cost_usd", figures.cost_usd, 1),
    )
    title = f"{of}: {figures.things(board.cohorts, 'cohort')}, {board.complete} complete"
    return table_of(title, columns, board.scores, tuple(_cohort_footnotes(board)))


def consistency_grid(board: AccountBoard | CohortBoard) -> Table:
    """Return how alike the bots of a board divided their money when they were asked the same again."""
    of = f"{plain(board.game)} of {plain(board.recipe)}, {board.mode}"
    below = f"Hardly moved: by at most {UNCHANGED_PRICE:g} in the mean by weight, of shares {UNCHANGED_PRICE:.0%}."
    days = any(each.between == "days" for each in board.consistency)
    title = f"Consistency, {of}: how alike a bot divides its money when asked the same again"
    return table_of(title, _CONSISTENCY, board.consistency, [below] if days else [])


def _cohort_bot_with_marks(score: CohortBotScore) -> str:
    mark = "*" * score.baseline + "!" * bool(score.cannot_bet or score.bankrupt) + "?" * (score.knowledge == "unknown")
    return plain(score.bot) + mark


def _cohort_footnotes(board: CohortBoard) -> Iterator[str]:
    out = [
        f"{plain(each.bot)} {' and '.join(texts)}"
        for each in board.scores
        if (
            texts := [
                f"{words} in {n} of {each.accounts}"
                for words, n in (("bankrupt", each.bankrupt), ("cannot bet", each.cannot_bet), ("owing", each.owing))
                if n
            ]
        )
    ]
    if any(score.baseline for score in board.scores):
        yield "*: a baseline."
    if out:
        yield f"!: {'; '.join(out)}."
    if any(score.knowledge == "unknown" for score in board.scores):
        yield "?: its models' knowledge cutoff is not known; ranked apart."


def _display_name(score: CohortBotScore) -> str:
    return figures.MISSING if score.display_name == score.bot else plain(score.display_name)


_FORECASTS = (
    _BOT,
    Column("name", "", _display_name, 3, kind="text"),
    Column("stated", "stated.score", figures.score).means(
        "Brier score of the probabilities that bots stated, over n of them; 0.25 is no knowledge"
    ),
    Column("n", "", lambda each: figures.count(value_of(each, "stated.n") or 0)),
    Column("by size", "implied.score", figures.score).means(
        "of min(1, bet / 25 % of the cash before it) against whether the bet won, over so many bets"
    ),
    Column("bets", "", lambda each: figures.count(value_of(each, "implied.n") or 0)),
    Column("decided", "decisions", lambda decisions: figures.count(sum(decisions.values())), 2),
    Column("failed", "failed_share", figures.percent, 1),
)
