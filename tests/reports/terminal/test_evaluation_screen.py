"""The summary that an evaluation opens with."""

from dataclasses import replace

import pytest

from predibot.reports.terminal.evaluation_screen import ScreenOptions, print_evaluation, required_parts
from predibot.scoring.evaluation.evaluation import WANTED, Evaluation
from tests.reports.made_evaluation import made_evaluation
from tests.reports.terminal.test_terminal import screen, shown
from tests.reports.views.test_leaderboard import LAZY, PRICE, RANDOM, SHARP, evaluated

BASELINES = (PRICE, RANDOM, *(replace(PRICE, bot=name) for name in ("favourite", "underdog")))
BOTS = (*BASELINES, *(replace(LAZY, bot=f"an_agent_with_a_name_{number}", failed=1) for number in range(5)), SHARP)


def board(*cards: object, width: int = 80, how: ScreenOptions | None = None, **changes: object) -> list[str]:
    """Return the lines of the summary of ten bots, of which one beats the price, or of others."""
    found = evaluated(*(cards or BOTS), sharp=410.0, random_bet=-50.0)  # type: ignore[arg-type]
    console = screen(width)
    print_evaluation(console, replace(found, **changes), how)  # type: ignore[arg-type]
    return [line.rstrip() for line in shown(console).splitlines()]


def test_ten_bots_fit_80_columns_and_22_lines_with_the_verdicts_first() -> None:
    lines = board()
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    title = lines.index("Leaderboard as of 2026-02-13T19:30Z, edge in thousandths of Brier")
    assert " ".join(lines[title + 1].split()) == "# bot edge low high verdict ▾ E events Brier price return cost"
    assert " ".join(lines[title + 2].split()) == "1 sharp +80 +10 +150 beats price 410 100 0.002 0.000 -88% $1.50"
    text = " ".join(lines[:title])
    assert text.startswith("sharp beats the price: E = 410. random_bet is worse than the price. Nothing is proven of")
    assert "Missing: 5 decisions failed." in lines
    assert lines[-2].startswith("`predibot report --explain`")
    simulated = board(how=ScreenOptions(simulated=True, next_steps=("  predibot serve",)))
    assert simulated[title].startswith("Simulated world as of ") and simulated[-1] == "  predibot serve"
    explained = board(how=ScreenOptions(explain=True))
    assert explained[: title + 12] == lines[: title + 12] and "price: that of the price." in explained


def test_a_place_that_may_surprise_is_explained() -> None:
    assert PRICE.edge.interval is not None
    certain = replace(
        PRICE, edge=replace(PRICE.edge, interval=replace(PRICE.edge.interval, cluster_standard_error=0.0))
    )
    broken = replace(
        PRICE, bot="broken", baseline=False, edge=replace(PRICE.edge, edge=None, interval=None, answered=0)
    )
    copy = replace(LAZY, bot="copy", edge=replace(LAZY.edge, distance=0.0049))
    lines = board(certain, LAZY, broken, copy, how=ScreenOptions(explain=True))
    head = next(place for place, line in enumerate(lines) if line.startswith("# bot"))
    assert [line.split()[:2] for line in lines[head + 1 : head + 5]] == [
        ["–", "copy="], ["–", "lazy"], ["–", "broken"], ["–", "market_price*"],
    ]  # fmt: skip
    assert "equals price: repeats the price, its edge is exactly 0." in lines
    assert "=: its forecasts are within 0.005 of the price in the mean." in lines
    assert "*: a baseline. =: repeats the price." in lines
    assert not any("equals price" in line or "repeats" in line for line in board(SHARP, LAZY))


def test_who_was_asked_a_part_of_the_board_is_shown_with_it() -> None:
    part, whole = (
        replace(LAZY, bot=bot, edge=replace(LAZY.edge, n=n, board_n=200)) for bot, n in (("a", 50), ("b", 200))
    )
    lines = board(part, whole, width=120)
    head = next(place for place, line in enumerate(lines) if line.startswith("# "))
    assert "asked" in lines[head]
    assert ["25%" in line for line in lines[head + 1 : head + 3]] == [True, False]
    assert "Not all were asked all 200 questions: see --table pairs." in lines
    assert not any("asked" in line for line in board(whole))


def test_full_has_every_row() -> None:
    cards = tuple(replace(LAZY, bot=f"bot_{number}") for number in range(60))
    assert sum("bot_" in line and "not proven" in line for line in board(*cards)) == 12
    found = evaluated(*cards)
    console = screen(100)
    print_evaluation(console, found, ScreenOptions(full=True))
    text = shown(console)
    assert "more row" not in text
    returns = text[text.index("Returns: mean of a decision") :]
    assert all(f"bot_{number} " in returns for number in range(60))


@pytest.mark.parametrize("width", [160, 100, 80, 60, 40, 25])
def test_no_line_is_wider_than_the_screen_and_the_best_bot_is_named(width: int) -> None:
    lines = board(width=width)
    assert max(map(len, lines)) <= width
    assert any("sharp beats" in line for line in lines)
    explained = board(width=width, how=ScreenOptions(explain=True))
    assert sum("no room for" in line for line in explained) == (width < 100)


def test_a_venue_out_of_reach_is_said_on_the_summary_and_notes_of_the_record_are_not() -> None:
    lines = board(SHARP, remarks=tuple(f"remark {n}" for n in range(5)), notes=("a detail",))
    assert [line for line in lines if line.startswith("note: ")] == [
        "note: remark 0.", "note: remark 1.", "note: remark 2.", "note: 2 more; --json has them all.",
    ]  # fmt: skip


@pytest.mark.parametrize("table", [None, "forecasts", "returns", "quote", "pairs", "calibration", "decisions"])
def test_a_screen_shows_the_same_where_only_what_it_shows_is_computed(table: str | None) -> None:
    """What is not wanted is empty; a screen that showed it would differ."""
    how = ScreenOptions(table=table)
    computed = required_parts(how)
    assert set(computed) <= set(WANTED)
    whole, bare = screen(200), screen(200)
    print_evaluation(whole, replace(made_evaluation(None), apart=None), how)
    print_evaluation(bare, _without(replace(made_evaluation(None), apart=None), set(WANTED) - set(computed)), how)
    assert shown(whole) == shown(bare)


def _without(found: Evaluation, names: set[str]) -> Evaluation:
    """Return an evaluation as it is where some names are not wanted."""
    cards = found.cards
    if "intervals" in names:
        cards = tuple(
            replace(
                card,
                forecast=replace(card.forecast, intervals={}),
                horizons={label: replace(score, intervals={}) for label, score in card.horizons.items()},
            )
            for card in cards
        )
    if "adjusted" in names:
        cards = tuple(replace(card, forecast=replace(card.forecast, adjusted_brier=None)) for card in cards)
    if "dollars" in names:
        found = replace(found, evidence=tuple(replace(each, dollars=None) for each in found.evidence))
    emptied = {name: () for name in names - {"intervals", "adjusted", "dollars"}}
    return replace(found, cards=cards, **emptied)


@pytest.mark.parametrize("table", ["pairs", "returns"])
def test_a_table_without_rows_says_why(table: str) -> None:
    console = screen(80)
    print_evaluation(console, replace(evaluated(SHARP), cards=()), ScreenOptions(table=table))
    assert shown(console).splitlines()[-1].startswith("No pairs: " if table == "pairs" else "No rows: ")
