"""Who beats the price, and who is calibrated."""

from dataclasses import dataclass, replace

from predibot.errors import UsageError
from predibot.reports import figures
from predibot.reports.terminal.boards.accounts import board_grid
from predibot.reports.terminal.boards.cohorts import cohort_grid
from predibot.reports.terminal.evaluation_grids import ACCOUNTS, COHORTS, TABLES, table_grids
from predibot.reports.views.accounts import conclusions as conclusions_on_accounts
from predibot.reports.views.cohorts import cohort_conclusions
from predibot.reports.views.evaluation_csv import evaluation_rows
from predibot.reports.views.evaluation_json import all_notes
from predibot.reports.views.leaderboard import LeaderboardRow, conclusions, leaderboard, verdict_said
from predibot.scoring.evaluation.evaluation import Evaluation, Question
from predibot.web.curve import Curve, curve_of, reliability_of
from predibot.web.pages.page import Page, grids_page
from predibot.web.rendering import line
from predibot.web.shelf import Shelf


@dataclass(frozen=True, slots=True)
class Line:
    """A bot of the leaderboard, as it is shown."""

    row: LeaderboardRow
    verdict: str
    edge: str
    curve: Curve | None


def leaderboard_page(shelf: Shelf, recipe: str = "", venue: str = "") -> Page:
    """Return the ranking, its verdicts, and the boards of accounts and cohorts."""
    runs = shelf.runs()
    if not runs:
        return Page("message", {"said": "No run is stored yet. `predibot decide` makes the first."})
    found = shelf.evaluation(recipe, Question(wanted=("evidence", "curves")), venue)
    boards = [
        *((board_grid(each), list(conclusions_on_accounts(each))) for each in found.accounts),
        *((cohort_grid(each), list(cohort_conclusions(each))) for each in found.cohorts),
    ]
    return Page(
        "leaderboard",
        {
            "recipe": recipe,
            "recipes": sorted({run.recipe for run in runs}),
            "venue": venue or shelf.venues(recipe)[0],
            "venues": shelf.venues(),
            "as_of": found.as_of,
            "rankings": [
                (name, lines_of(ranking), conclusions(leaderboard(ranking)))
                for name, ranking in found.rankings.items()
                if leaderboard(ranking)
            ],
            "boards": boards,
            "notes": all_notes(found),
            "tables": (*TABLES, ACCOUNTS, COHORTS),
        },
        {"scores": lambda: evaluation_rows(found)},
    )


def lines_of(ranking: Evaluation) -> list[Line]:
    """Return the bots of a ranking, as they are shown."""
    return [
        Line(
            row,
            verdict_said(row),
            figures.thousandths_interval(row.edge_low, row.edge_high),
            curve_of(row.curve, f"edge of {line(row.bot)} as it added up"),
        )
        for row in leaderboard(ranking)
    ]


def table_page(shelf: Shelf, name: str, recipe: str = "", venue: str = "") -> Page:
    """Return a table of `predibot report` by its name."""
    if name not in (*TABLES, ACCOUNTS, COHORTS):
        raise UsageError(f"no table {name[:40]!r}; there are: {', '.join((*TABLES, ACCOUNTS, COHORTS))}")
    found = shelf.evaluation(recipe, Question(wanted=("evidence", "curves", "intervals", "adjusted", "pairs")), venue)
    page = grids_page(f"Table of {name}", list(table_grids(found, name)))
    # Whole numbers in place of what a screen shows of them.
    return replace(page, tables={**page.tables, name: lambda: evaluation_rows(found, name)})


def calibration_page(shelf: Shelf, recipe: str = "", venue: str = "") -> Page:
    """Return what each bot said beside how often it happened."""
    found = shelf.evaluation(recipe, Question(wanted=("evidence", "curves", "intervals")), venue)
    cards = [card for ranking in found.rankings.values() for card in ranking.cards]
    return Page(
        "calibration",
        {
            "diagrams": [
                reliability_of(card.bot, card.forecast.calibration)
                for card in cards
                if card.forecast.n and card.forecast.calibration is not None
            ],
            "grids": [grid for grid in table_grids(found, "calibration") if grid.rows],
        },
    )
