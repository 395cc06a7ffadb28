"""An evaluation on a screen: verdicts, the leaderboard, what limits them, then the tables that were asked for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from predibot.reports import figures
from predibot.reports.table import Column, Table, table_of
from predibot.reports.terminal import evaluation_grids
from predibot.reports.terminal.boards.accounts import agreement_lines, board_grid, cohort_grid
from predibot.reports.terminal.terminal import fit_columns, plain, print_grid, print_line, print_lines, print_notes
from predibot.reports.views.accounts import cohort_conclusions
from predibot.reports.views.accounts import conclusions as conclusions_on_accounts
from predibot.reports.views.columns import COLUMNS
from predibot.reports.views.evaluation import all_notes
from predibot.reports.views.leaderboard import (
    LeaderboardRow,
    caveats,
    lacks_prices,
    leaderboard,
    market_conclusions,
    missing,
    verdict_sentences,
)
from predibot.scoring.evaluation.evaluation import WANTED, Evaluation
from predibot.scoring.evaluation.verdict import REPEATS_BELOW, Finding

_SHOWN_ROWS = 50
_SUMMARY_ROWS = 12
"""Bots that fit a screen of 24 lines beside verdicts, notes and the next commands."""
_ROOM_FOR_CURVES = 100
"""Least width of a screen that has the curves in the summary."""
_SHOWN_REMARKS = 3
_NO_PAIRS = "No pairs: no two bots have a value on the same event yet."
_NO_ROWS = "No rows: no bot has a value for this table yet."
_APART = "Cutoff unknown, ranked apart"


@dataclass(frozen=True, slots=True)
class ScreenOptions:
    """How much of an evaluation is shown."""

    full: bool = False
    """Every table, and all that is missing in sentences."""
    table: str | None = None
    """One of `TABLES`, and nothing else."""
    every_row: bool = False
    """All rows of long tables, as with `full`; else the first, and a line says how many others there are."""
    explain: bool = False
    """What headers and marks of the summary mean, and all that is missing."""
    simulated: bool = False
    """The title says that the world is simulated."""
    next_steps: tuple[str, ...] = (
        "`predibot report --explain` says what figures mean; --full has every table, --worst N the worst decisions.",
    )
    """Lines below the summary."""


def required_parts(shown: ScreenOptions, grouping: str | None = None) -> tuple[str, ...]:
    """Return the parts of an evaluation that a screen needs, names of `WANTED`.

    Examples:
        >>> required_parts(ScreenOptions(table="pairs")), required_parts(ScreenOptions(), "lead_time")
        (('pairs',), ('evidence', 'curves', 'by_lead_time'))
    """
    if shown.full:
        return WANTED
    computed = {
        None: ("evidence", "curves"),
        "forecasts": ("evidence", "curves", "intervals", "adjusted"),
        "pairs": ("pairs",),
        "decisions": (),
        "consistency": ("consistency",),
        "effort": ("evidence", "effort"),
        "coherence": ("coherence",),
    }
    of_parts = f"by_{grouping}"
    asked = (of_parts,) if shown.table is None and of_parts in WANTED and grouping != "category" else ()
    return (*computed.get(shown.table, ("intervals",)), *asked)


def print_evaluation(console: Console, evaluation: Evaluation, shown: ScreenOptions | None = None) -> None:
    """Print what `shown` names, else the summary and the tables of options such as `--by`.

    Raises `ValueError` for no table.
    """
    shown = shown or ScreenOptions()
    if shown.table is not None:
        print_line(console, _method_line(evaluation))
        if not _print_table(console, evaluation, shown.table, shown):
            print_line(console, _NO_PAIRS if shown.table == "pairs" else _NO_ROWS)
        return
    _print_summary(console, evaluation, shown)
    _print_grids(console, tuple(evaluation_grids.clustered_grids(evaluation)), shown, "--all or --json")
    if shown.full:
        console.print()
        print_line(console, _method_line(evaluation))
    else:
        print_notes(console, evaluation.remarks, most=_SHOWN_REMARKS)
    for name in (*evaluation_grids.TABLES, evaluation_grids.ACCOUNTS, evaluation_grids.COHORTS) if shown.full else ():
        _print_table(console, evaluation, name, shown)
    _print_grids(console, tuple(evaluation_grids.option_grids(evaluation)), shown, "--all or --json")
    if shown.full:
        notes = all_notes(evaluation)
        print_notes(console, notes, most=len(notes))


SCORED = ("intervals", "adjusted", "pairs")
"""Costly parts of an evaluation that `print_file_scores` shows."""


def print_file_scores(console: Console, evaluation: Evaluation, *, every_row: bool) -> None:
    """Print the tables of forecasts from a file, and all that is missing in sentences."""
    print_line(console, _method_line(evaluation))
    if said := market_conclusions(evaluation):
        print_line(console, plain(" ".join(said)))
    grids = [grid for name in ("forecasts", "pairs") for grid in evaluation_grids.table_grids(evaluation, name)]
    _print_grids(console, grids, ScreenOptions(every_row=every_row), "--all or --json")
    print_notes(console, all_notes(evaluation))


def _print_summary(console: Console, evaluation: Evaluation, shown: ScreenOptions) -> None:
    at = "" if evaluation.as_of is None else f" as of {figures.instant(evaluation.as_of)}"
    board = "Simulated world" if shown.simulated else "Leaderboard"
    boards = [(ranking, rows) for ranking in evaluation.rankings.values() if (rows := leaderboard(ranking))]
    if not boards and not evaluation.accounts and not evaluation.cohorts:
        none = "no decisions that have scores" if evaluation.notes else "no decisions recorded"
        print_line(console, f"Leaderboard{at}: {none}")
    for ranking, rows in boards:
        if said := verdict_sentences(rows):
            print_line(console, f"{f'{_APART}: ' if ranking is not evaluation else ''}{plain(' '.join(said))}")
    for ranking, rows in boards:
        title = f"{board if ranking is evaluation else _APART}{at}, edge in thousandths of Brier"
        grid, dropped = fit_columns(
            replace(summary_grid(rows, title, curves=console.width >= _ROOM_FOR_CURVES), legend=()), console.width
        )
        if dropped and shown.explain:
            grid = replace(grid, below=(f"no room for: {', '.join(dropped)}; a wider screen shows them",))
        console.print()
        _print_some(console, grid, shown, "--all, --json or --csv", most=_SUMMARY_ROWS)
    if boards:
        _print_below_boards(console, evaluation, [row for _, rows in boards for row in rows], shown)
    if evaluation.accounts or evaluation.cohorts:
        if boards:
            console.print()
        _print_accounts(console, evaluation, shown)
    if not boards:
        print_notes(console, evaluation.notes)
    if shown.explain:
        console.print()
        print_lines(console, _meanings([row for _, rows in boards for row in rows]))
    print_lines(console, () if shown.full else shown.next_steps)


def _print_below_boards(
    console: Console, evaluation: Evaluation, rows: Sequence[LeaderboardRow], shown: ScreenOptions
) -> None:
    """Print what limits the verdicts: marks, other questions, what is missing."""
    limits = dict.fromkeys(line for ranking in evaluation.rankings.values() for line in caveats(leaderboard(ranking)))
    if line := " ".join([*_marks(rows), *limits]):
        print_line(console, plain(line), "dim")
    if evaluation.first_results_at is not None:
        first = figures.instant(evaluation.first_results_at)
        print_line(console, f"Nothing has settled yet; first results about {first}, earlier where a market settles.")
    if found := missing(evaluation):
        room = min(console.width, 80) - len("Missing: ; --explain names 9 more gaps.")
        fits = sum(len(", ".join(found[:n])) <= room for n in range(2, len(found) + 1))
        listed = found if shown.full or shown.explain else found[: 1 + fits]
        left = figures.things(len(found) - len(listed), "more gap")
        more = f"; --explain names {left}" if len(found) > len(listed) else ""
        print_line(console, f"Missing: {plain(', '.join(listed))}{more}.")
    if lacks_prices(evaluation):
        print_line(console, "No price is tracked yet: `predibot evaluate` collects prices and outcomes, and scores.")


def _print_accounts(console: Console, evaluation: Evaluation, shown: ScreenOptions) -> None:
    if shown.simulated:
        print_line(console, "A simulated world: its prices and outcomes are invented.")
    boards = [
        *(
            (board_grid(each), conclusions_on_accounts(each), each.notes, evaluation_grids.ACCOUNTS)
            for each in evaluation.accounts
        ),
        *(
            (cohort_grid(each), cohort_conclusions(each), each.notes, evaluation_grids.COHORTS)
            for each in evaluation.cohorts
        ),
    ]
    for number, (grid, conclusions_on_it, notes, table) in enumerate(boards):
        if number:
            console.print()
        if said := " ".join(conclusions_on_it):
            print_line(console, plain(said))
            console.print()
        legend = grid.legend_lines() if shown.explain else ()
        _print_some(console, replace(grid, legend=()), shown, f"--all, --json or --csv --table {table}")
        print_lines(console, legend, "dim")
        print_notes(console, notes)
    print_lines(console, agreement_lines(evaluation.agreements))


def summary_grid(rows: Sequence[LeaderboardRow], title: str, *, curves: bool) -> Table:
    """Return the table of the summary; all but the curves fit 80 columns."""
    shown = [each for each in COLUMNS["summary"] if curves or each.header != "edge by day"]
    return table_of(title, (Column("#", "rank", figures.count), _BOT, *shown), rows)


def _repeats(row: LeaderboardRow) -> bool:
    # Of a baseline its name tells it.
    return row.repeats_price and not row.baseline


_BOT = Column("bot", "", lambda row: plain(row.bot) + "*" * row.baseline + "=" * _repeats(row), 0, kind="name")


def _marks(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    """Yield the marks of names, and edges that another count of events would change."""
    if any(row.baseline for row in rows):
        yield "*: a baseline."
    if any(map(_repeats, rows)):
        yield "=: repeats the price."
    if apart := [row for row in rows if row.edge_by_event is not None]:
        listed = ", ".join(f"{plain(row.bot)} {figures.thousandths(row.edge_by_event)}" for row in apart[:3])
        yield f"Counting every event once, the edge is another: {listed}."


def _meanings(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    for column in summary_grid(rows, "", curves=True).columns if rows else ():
        if column.meaning:
            yield f"{column.header}: {column.meaning}."
    if any(map(_repeats, rows)):
        yield f"=: its forecasts are within {REPEATS_BELOW:g} of the price in the mean."
    if any(row.verdict.finding == Finding.NEVER_DIFFERED for row in rows):
        yield "equals price: repeats the price, its edge is exactly 0."


def _method_line(evaluation: Evaluation) -> str:
    asked = evaluation.question
    parts = [
        "" if evaluation.as_of is None else f"as of {figures.instant(evaluation.as_of)}",
        f"{asked.uncertainty.confidence:.0%} intervals over events",
        f"up to {asked.uncertainty.resamples:,} resamples, seed {asked.uncertainty.seed}",
        f"convention {asked.convention.name}",
    ]
    return " · ".join(part for part in parts if part)


def _print_table(console: Console, evaluation: Evaluation, name: str, shown: ScreenOptions) -> bool:
    """Print a table; return whether there was anything in it."""
    grids = tuple(evaluation_grids.table_grids(evaluation, name))
    _print_grids(console, grids, shown, f"--all, --json or --csv --table {name}")
    return bool(grids)


def _print_grids(console: Console, grids: Sequence[Table], shown: ScreenOptions, elsewhere: str) -> None:
    for grid in grids:
        console.print()
        _print_some(console, grid, shown, elsewhere)


def _print_some(
    console: Console, grid: Table, shown: ScreenOptions, elsewhere: str, *, most: int = _SHOWN_ROWS
) -> None:
    """Print a grid; of a long one the first rows, and where to find the others."""
    rows = grid.rows if shown.every_row or shown.full else grid.rows[:most]
    left = len(grid.rows) - len(rows)
    more = (f"{figures.things(left, 'more row')}; all of them: {elsewhere}",) if left else ()
    print_grid(console, replace(grid, rows=rows, below=(*more, *grid.below)))
