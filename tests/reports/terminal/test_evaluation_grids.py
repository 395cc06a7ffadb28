"""Tables of an evaluation: which there are, what goes where there is no room; how each looks is in the golden files."""

from dataclasses import replace

import pytest

from predibot.reports.terminal.evaluation_grids import TABLES, table_grids
from predibot.reports.terminal.evaluation_screen import ScreenOptions, print_evaluation
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.pairs import Pair
from tests.reports.made_evaluation import made_evaluation
from tests.reports.terminal.test_terminal import screen, shown


def printed(found: Evaluation, width: int = 200, how: ScreenOptions | None = None) -> str:
    """Return what is seen on a screen of some width, in full where nothing else is said."""
    console = screen(width)
    print_evaluation(console, found, how or ScreenOptions(full=True))
    return shown(console)


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_asked_for_stands_alone(table: str) -> None:
    found = made_evaluation()
    text = printed(found, how=ScreenOptions(table=table))
    titles = {grid.title for name in TABLES for grid in table_grids(found, name)}
    own = {grid.title for grid in table_grids(found, table)}
    assert own and own == titles & set(text.splitlines())
    assert "Leaderboard" not in text and "note:" not in text


def test_how_many_more_events_a_pair_takes_goes_before_how_many_there_are() -> None:
    for width in (60, 90, 120):
        text = printed(made_evaluation(), width, ScreenOptions(table="pairs"))
        for header in (line.split() for line in text.splitlines() if line.startswith("first ")):
            assert "more" not in header or {"n", "events"} <= set(header)
        assert ("more events: about" in " ".join(text.split())) is (" more events " in text)


def test_on_a_narrow_screen_the_cost_stays_among_the_decisions() -> None:
    cards = tuple(replace(card, clean=card.clean - 1, unknown=1, cost_usd=1.25) for card in made_evaluation().cards)
    text = printed(replace(made_evaluation(), cards=cards, apart=None), 60, ScreenOptions(table="decisions"))
    (header,) = (line.split() for line in text.splitlines() if line.startswith("bot "))
    assert header[-1] == "cost" and "decisions" in header and text.count("$1.25") == len(cards)
    assert "no room for: clean" in text and "clean: " not in text


def test_of_many_rows_fifty_are_shown_and_it_is_said() -> None:
    pairs = tuple(Pair("a", f"b{n}", "brier", 50, 40, 0.1, 0.0, 0.2, 0.001 * n, 0.001 * n, 0.1) for n in range(60))
    found = replace(made_evaluation(), pairs=pairs[::-1])
    text, whole = printed(found, how=ScreenOptions(table="pairs")), printed(found, how=ScreenOptions(full=True))
    assert " b49 " in text and " b50 " not in text and " b59 " in whole
    assert "10 more rows; all of them: --all, --json or --csv --table pairs" in text
    assert "more rows" not in whole


def test_what_was_not_asked_for_has_no_table() -> None:
    found = made_evaluation(None)
    text = printed(replace(found, delays=(), sizings=(), pairs=(), parts=(), apart=None))
    for title in ("Forecasts by", "Pairs", "Carried out late", "bet by other rules"):
        assert title not in text


def test_titles_of_events_cannot_write_on_the_screen() -> None:
    found = made_evaluation("event")
    parts = tuple(replace(part, group="\x1b[2Jevil\nline") for part in found.parts)
    text = printed(replace(found, parts=parts))
    assert "\x1b" not in text
    assert "evil line" in text
