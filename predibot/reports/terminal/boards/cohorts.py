"""A board of cohorts on a screen: what bots made of their stakes, and how good their probabilities were."""

from collections.abc import Iterator

from predibot.reports import figures
from predibot.reports.terminal.grid import Column, Grid
from predibot.reports.terminal.text import plain
from predibot.scoring.accounts.cohort_board import CohortBoard, CohortBotScore


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
        tuple(_row(score, ranks.get((score.bot, score.knowledge))) for score in board.scores),
        dropped_first=("cost", "resolved"),
        kept=("bot", "return", "low", "high", "cohorts"),
        legend=(
            ("return", f"mean over cohorts of what was made of the {figures.money_sign()}10,000 of each"),
            ("low", "with high the 95 % interval of it, for cohorts that overlap; it places those that gain"),
            ("P/L", "over all cohorts"),
            ("wins", "share of positions that won, of those that won or lost"),
            ("resolved", "positions that won, lost or were cancelled"),
        ),
        below=tuple(_below(board)),
    )


def _row(score: CohortBotScore, rank: int | None) -> tuple[str, ...]:
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


def _below(board: CohortBoard) -> Iterator[str]:
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
    if any(each.baseline for each in board.scores):
        yield "*: a baseline."
    if out:
        yield f"!: {'; '.join(out)}."
    if any(each.knowledge == "unknown" for each in board.scores):
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
