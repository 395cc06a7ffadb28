"""Boards of accounts and of cohorts on a screen: the leaderboard first, then what lies behind it."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from predibot.domain.clock import format_instant
from predibot.reports import figures
from predibot.reports.terminal.grid import Column, Grid
from predibot.reports.terminal.text import plain
from predibot.scoring.accounts.board import AccountBoard, RankAgreement
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBotScore
from predibot.scoring.accounts.score import AccountScore

_CURVE_CELLS = 6
_UNTOLD: Mapping[str, str] = {"worse": "worse", "too few": "few"}


def board_grid(board: AccountBoard) -> Grid:
    """Return the leaderboard of a game of accounts; it fits 80 columns."""
    columns = (
        *(Column("#"), Column("bot", "name"), Column("value"), Column("return"), Column("low"), Column("high")),
        *(Column("Sharpe"), Column("fell"), Column("fail"), Column("cost"), Column("curve", "key")),
    )
    ranks, standings = board.ranks, board.standings
    return Grid(
        _title(board),
        columns,
        tuple(_row(score, ranks.get(score.bot), standings[score.bot]) for score in board.scores),
        dropped_first=("curve", "Sharpe", "cost", "fell", "fail"),
        kept=("bot", "value", "return", "low"),
        legend=(
            ("#", "the place among those better than every baseline, else worse than cash, few dates, or – not proven"),
            ("value", "cash and positions at the last prices"),
            ("return", "value at the last slot beside the cash at the start"),
            (
                "low",
                "with high the 95 % interval of the return, had other dates or outcomes come, by their prices",
            ),
            ("Sharpe", "mean return over its deviation, a year"),
            ("fell", "the deepest fall below the highest value until then"),
            ("fail", "decisions refused or failed, which keep the shares as they were"),
            ("cost", "what models and searches cost"),
            ("curve", "the value beside the cash at the start"),
        ),
        below=tuple(_below(board)),
    )


def account_grids(board: AccountBoard, table: str = "accounts") -> Iterator[Grid]:
    """Yield the grids of a table of a board: `accounts` is all but the pairs, the leaderboard first."""
    if table == "accounts":
        yield board_grid(board)
    if table in ("accounts", "risk"):
        yield _figures(board, "Risk", _RISK)
    if table in ("accounts", "behaviour"):
        yield _figures(board, "Behaviour, means over slots", _BEHAVIOUR)
    if table in ("accounts", "behaviour"):
        yield from _beside_indices(board)
        yield from _sectors(board)
    if table in ("accounts", "delays") and board.delay_bands:
        yield _delays(board)
    if table == "pairs" and board.pairs:
        rows = tuple(
            (
                plain(pair.bot),
                plain(pair.baseline),
                figures.signed_percent(pair.difference.estimate),
                figures.percent_interval(pair.difference.low, pair.difference.high),
                plain(pair.better or figures.MISSING),
            )
            for pair in board.pairs
        )
        headers = ("bot", "name"), ("baseline", "name"), ("difference", "number"), ("95 % interval", "number")
        columns = tuple(Column(header, kind) for header, kind in (*headers, ("better", "name")))  # type: ignore[arg-type]
        yield Grid("Returns beside baselines, on the same dates", columns, rows)


def agreement_lines(agreements: Sequence[RankAgreement]) -> Iterator[str]:
    """Yield how far orders of bots agree."""
    for each in agreements:
        if each.correlation is not None:
            said = f"{plain(each.one)} and {plain(each.other)}: {figures.ratio(each.correlation)}"
            yield f"Ranks agree (Spearman, {each.bots} bots): {said}."


def _title(board: AccountBoard) -> str:
    starts = {score.start_usd for score in board.scores}
    began = f"{figures.usd(starts.pop())} at the start" if len(starts) == 1 else "starts differ"
    dates = max((score.dates for score in board.scores), default=0)
    until = max((format_instant(score.last_at) for score in board.scores), default=figures.MISSING)
    of = f"{plain(board.game)} of {plain(board.recipe)}, {board.mode}"
    return f"{of}: {began}, {figures.things(dates, 'date')} to {until}"


def _row(score: AccountScore, rank: int | None, standing: str) -> tuple[str, ...]:
    found = score.intervals.get("cumulative_return")
    ends = (None, None) if found is None else (found.low, found.high)
    mark = (
        ("*" if score.baseline else "") + ("=" if score.repeats else "") + ("?" if score.knowledge == "unknown" else "")
    )
    curve = [value - score.start_usd for value in score.values]
    return (
        _UNTOLD.get(standing, figures.count(rank)),
        plain(score.bot) + mark,
        figures.usd(score.last_usd) + (" owing" if score.owing_usd else ""),
        _bounded_percent(score.cumulative_return),
        *map(_bounded_percent, ends),
        figures.ratio(None if score.equity is None else score.equity.sharpe),
        figures.percent(None if score.equity is None else score.equity.max_drawdown),
        figures.percent(score.failed_share),
        figures.cost_usd(score.cost_usd),
        figures.sparkline(curve, _CURVE_CELLS),
    )


def _bounded_percent(value: float | None) -> str:
    """Return a share in percent; beyond ten times the cash at the start, only that it is."""
    return ">999%" if value is not None and value >= 9.995 else figures.short_percent(value)


def _below(board: AccountBoard) -> Iterator[str]:
    if any(score.baseline for score in board.scores):
        yield "*: a baseline."
    if copies := [f"{plain(score.bot)} repeats {plain(score.repeats)}" for score in board.scores if score.repeats]:
        yield f"=: {'; '.join(copies)}."
    if any(score.knowledge == "unknown" for score in board.scores):
        yield "?: its models' knowledge cutoff is not known; ranked apart."
    if stale := sum(score.unpriced_marks for score in board.scores):
        yield f"{figures.things(stale, 'position')} valued at the last price there was: see stale in --full."


_Write = Callable[[AccountScore], str]


def _of_equity(name: str, write: Callable[[float | None], str]) -> _Write:
    return lambda score: write(None if score.equity is None else getattr(score.equity, name))


def _of_behaviour(name: str, write: Callable[[float | None], str]) -> _Write:
    return lambda score: write(getattr(score.behaviour, name))


def _ends(name: str, write: Callable[[float | None, float | None], str]) -> _Write:
    return lambda score: write(*((found.low, found.high) if (found := score.intervals.get(name)) else (None, None)))


def _share(value: float | None) -> str:
    return figures.MISSING if value is None else f"{100.0 * value:,.1f}%"


_RISK: Sequence[tuple[str, _Write]] = (
    ("Sharpe", _of_equity("sharpe", figures.ratio)),
    ("its interval", _ends("sharpe", lambda low, high: figures.interval(low, high, decimals=1))),
    ("Sortino", _of_equity("sortino", figures.ratio)),
    ("Calmar", _of_equity("calmar", figures.ratio)),
    ("drawdown", _of_equity("max_drawdown", _share)),
    ("from, to", _ends("max_drawdown", figures.percent_interval)),
    ("volatility", _of_equity("volatility", _share)),
    ("wins", _of_equity("win_rate", figures.percent)),
    ("VaR 5%", _of_equity("value_at_risk", _share)),
)
_BEHAVIOUR: Sequence[tuple[str, _Write]] = (
    ("cash", _of_behaviour("cash_share", _share)),
    ("turnover", _of_behaviour("turnover", _share)),
    ("concentration", _of_behaviour("concentration", figures.probability)),
    ("yes - no", _of_behaviour("net_exposure", lambda value: figures.signed_percent(value))),
    ("in drawdown", lambda score: f"{score.behaviour.slots_in_drawdown} of {len(score.values)}"),
    ("decided", lambda score: figures.count(sum(score.decisions.values()))),
    ("missed", lambda score: figures.count(score.missed)),
    ("stale", lambda score: figures.count(score.unpriced_marks)),
    ("pending", lambda score: figures.count(score.pending)),
)


def _figures(board: AccountBoard, title: str, shown: Sequence[tuple[str, _Write]]) -> Grid:
    columns = (Column("bot", "name"), *(Column(header) for header, _ in shown))
    rows = tuple((plain(score.bot), *(write(score) for _, write in shown)) for score in board.scores)
    return Grid(title, columns, rows)


def _beside_indices(board: AccountBoard) -> Iterator[Grid]:
    """Yield how each account did beside each index fund, where there is one."""
    columns = (
        *(Column("bot", "name"), Column("index", "name"), Column("difference"), Column("95 % interval")),
        *(Column("beta"), Column("correlation")),
    )
    rows = tuple(
        (
            plain(pair.bot),
            plain(pair.baseline),
            figures.signed_percent(pair.difference.estimate),
            figures.percent_interval(pair.difference.low, pair.difference.high),
            figures.ratio(pair.beta),
            figures.ratio(pair.correlation),
        )
        for pair in board.pairs
        if pair.beta is not None
    )
    if rows:
        yield Grid("Returns beside the indices, on the same dates", columns, rows)


def _sectors(board: AccountBoard) -> Iterator[Grid]:
    """Yield the mean exposure of each account by sector, where shares were held."""
    names = sorted({name for score in board.scores for name in score.behaviour.sectors or {}})
    if names:
        bots = [score for score in board.scores if score.behaviour.sectors]
        columns = (Column("sector", "name"), *(Column(plain(score.bot)) for score in bots))
        rows = tuple(
            (plain(name), *(figures.percent((score.behaviour.sectors or {}).get(name)) for score in bots))
            for name in names
        )
        yield Grid("Exposure by sector, shares of the account, means over slots", columns, rows)


def _delays(board: AccountBoard) -> Grid:
    """Return what stale holdings would have changed, with the middle half of the bots."""
    slots = [band.delay_slots for band in board.delay_bands]
    rows = [
        (
            plain(score.bot),
            *(
                figures.signed_percent(None if (found := score.delays.get(delay)) is None else found.difference)
                for delay in slots
            ),
            figures.count(next((found.n for found in score.delays.values()), None)),
        )
        for score in board.scores
    ]
    bands = [figures.percent_interval(band.low, band.high) for band in board.delay_bands]
    means = [figures.signed_percent(band.mean) for band in board.delay_bands]
    columns = (Column("bot", "name"), *(Column(f"{delay} late") for delay in slots), Column("dates"))
    bots = figures.count(board.delay_bands[0].bots)
    below = (("mean of bots", *means, bots), ("25 to 75 %", *bands, bots))
    title = "Return with the holdings of slots before, less the actual: negative says that stale decisions hurt"
    return Grid(title, columns, (*rows, *below))


def cohort_grids(board: CohortBoard) -> Iterator[Grid]:
    """Yield the leaderboard and the table of forecasts; both fit 80 columns."""
    yield cohort_grid(board)
    yield _forecasts(board)


def cohort_grid(board: CohortBoard) -> Grid:
    """Return the leaderboard of a game of weekly cohorts."""
    columns = (
        *(Column("#"), Column("bot", "name"), Column("return"), Column("low"), Column("high"), Column("P/L")),
        *(Column("wins"), Column("cohorts"), Column("resolved"), Column("cost")),
    )
    ranks = board.ranks
    of = f"{plain(board.game)} {plain(board.methodology)} of {plain(board.recipe)}, {board.mode}"
    return Grid(
        f"{of}: {figures.things(board.cohorts, 'cohort')}, {board.complete} complete",
        columns,
        tuple(_cohort_row(score, ranks.get((score.bot, score.knowledge))) for score in board.scores),
        dropped_first=("cost", "resolved"),
        kept=("bot", "return", "low", "high", "cohorts"),
        legend=(
            ("return", f"mean over cohorts of what was made of the {figures.money_sign()}10,000 of each"),
            ("low", "with high the 95 % interval of it, for cohorts that overlap; it places those that gain"),
            ("P/L", "over all cohorts"),
            ("wins", "share of positions that won, of those that won or lost"),
            ("resolved", "positions that won, lost or were cancelled"),
        ),
        below=tuple(_below_cohorts(board)),
    )


def _cohort_row(score: CohortBotScore, rank: int | None) -> tuple[str, ...]:
    found = score.score
    mark = (
        ("*" if score.baseline else "")
        + ("!" if score.cannot_bet or score.bankrupt else "")
        + ("?" if score.knowledge == "unknown" else "")
    )
    return (
        figures.count(rank),
        plain(score.bot) + mark,
        *map(figures.short_percent, (found.returns.mean, found.returns.low, found.returns.high)),
        figures.whole_gain_usd(found.profit_usd),
        figures.percent(found.win_rate),
        figures.count(found.cohorts),
        figures.count(found.resolved),
        figures.cost_usd(score.cost_usd),
    )


def _below_cohorts(board: CohortBoard) -> Iterator[str]:
    out = [
        f"{plain(each.bot)} {' and '.join(said)}"
        for each in board.scores
        if (
            said := [
                f"{words} in {n} of {each.score.cohorts}"
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


def _forecasts(board: CohortBoard) -> Grid:
    columns = (
        *(Column("bot", "name"), Column("name", "text"), Column("stated"), Column("n"), Column("by size")),
        *(Column("bets"), Column("decided"), Column("failed")),
    )
    rows = tuple(
        (
            plain(each.bot),
            figures.MISSING if each.display_name == each.bot else plain(each.display_name),
            figures.score(None if each.stated is None else each.stated.score),
            figures.count(0 if each.stated is None else each.stated.n),
            figures.score(None if each.implied is None else each.implied.score),
            figures.count(0 if each.implied is None else each.implied.n),
            figures.count(sum(each.decisions.values())),
            figures.percent(each.failed_share),
        )
        for each in board.scores
    )
    return Grid(
        "Brier scores: of what was stated, and of the confidence that sizes of bets imply",
        columns,
        rows,
        dropped_first=("failed", "decided", "name"),
        legend=(
            ("stated", "Brier score of the probabilities that bots stated, over n of them; 0.25 is no knowledge"),
            ("by size", "of min(1, bet / 25 % of the cash before it) against whether the bet won, over so many bets"),
        ),
    )
