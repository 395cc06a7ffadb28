"""The page that compares two bots, question by question."""

from dataclasses import replace

from predibot.errors import UsageError
from predibot.jobs.histories.pair import shared_questions
from predibot.reports.table import Table
from predibot.reports.terminal.evaluation_grids import table_grids
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.records.part import Part
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import WebPage, paginate, records
from predibot.web.rendering import line


def compare_page(
    cache: LedgerCache, one: str = "", other: str = "", recipe: str = "", venue: str = "", page_: int = 1
) -> WebPage:
    """Return a form to choose two bots, and what they said where both answered."""
    bots = cache.bots("event")
    for name in (one, other):
        if name and name not in bots:
            raise UsageError(f"no bot {name[:60]!r} has decided on an event")
    asked = {"one": one, "other": other, "recipe": recipe, "venue": venue}
    # Names that cannot be shown as they are cannot be chosen in a form.
    shown = {**asked, "bots": [name for name in bots if name == line(name)], "grids": []}
    if not one or not other or one == other:
        return WebPage("compare", {**shown, **paginate([], 1, "/compare")})
    part = Part(recipe=recipe, venue=venue)
    found = cache.evaluation(Question(wanted=("pairs",)), part)
    both = {one, other}
    rankings = {
        name: replace(each, apart=None, pairs=tuple(pair for pair in each.pairs if {pair.first, pair.second} == both))
        for name, each in found.rankings.items()
    }
    grids = [
        _of_two(grid, apart=name != "clean")
        for name, each in rankings.items()
        for grid in table_grids(replace(each, accounts=()), "pairs")
    ]
    # The meanings of headers stand below the last table only.
    grids = [*(replace(grid, legend=()) for grid in grids[:-1]), *grids[-1:]]
    questions = cache.compute_on_part(shared_questions, one, other, part=part)
    return WebPage(
        "compare",
        {**shown, "grids": grids, **paginate(questions, page_, "/compare", **asked)},
        {"questions": records(questions)},
    )


def _of_two(grid: Table, *, apart: bool) -> Table:
    """Return the table of pairs with both names in its title: on a narrow screen columns of names leave no room."""
    first, second = grid.rows[0][:2]
    named = {"the first": first, "the second": second}
    rows = tuple(tuple(named.get(cell, cell) for cell in row) for row in grid.rows)
    unknown = "Cutoff unknown, ranked apart: " if apart else ""
    title = f"{unknown}{grid.title.partition(':')[0]}: {first} less {second}"
    return replace(grid, title=title, rows=rows).without("first").without("second")
