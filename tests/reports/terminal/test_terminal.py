"""The terminal: how views look on a screen, in a pipe, and where there is little room."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from rich.console import Console

from predibot.reports.table import Column, Table
from predibot.reports.terminal.decisions import print_decisions, print_runs, print_selection
from predibot.reports.terminal.evaluation_screen import ScreenOptions, print_evaluation
from predibot.reports.terminal.terminal import console_for, print_grid
from predibot.reports.views.decide import ChosenView, DecisionView, SelectionView
from predibot.selection import Rejection
from tests.reports.views_of import AS_OF, BET, CHOSEN, PASSED_OVER, decided, evaluation, run_row

WIDTHS = [120, 100, 80, 50, 40]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def screen(width: int) -> Console:
    """Return a console on a colourful terminal of some width."""
    return Console(file=Terminal(), width=width, force_terminal=True, color_system="truecolor", _environ={})


def shown(console: Console) -> str:
    """Return what was printed, without colours."""
    assert isinstance(console.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;]*m", "", console.file.getvalue())


def printed(show: Callable[..., None], *what: object, width: int = 80, **how: object) -> str:
    """Return what is seen of something on a screen of some width."""
    console = screen(width)
    show(console, *what, **how)
    return shown(console)


FULL = ScreenOptions(full=True)


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_wider_than_the_screen(width: int) -> None:
    console = screen(width)
    print_evaluation(console, evaluation("market_price", "random_bet", notes=("a rather long note " * 9,)), FULL)
    print_selection(console, SelectionView(AS_OF, "archive", (CHOSEN,), (PASSED_OVER,)))
    print_runs(console, [run_row("a wrong recipe", recorded=19)])
    assert max(len(line) for line in shown(console).splitlines()) <= width


def test_what_a_model_may_have_known_is_shown_where_some_decision_is_not_clean() -> None:
    view, table = evaluation("market_price", "an_agent"), ScreenOptions(table="decisions")
    agent = replace(view.cards[1], clean=2, ahead=5_555, contaminated=7_777, unknown=3_333)
    told = printed(print_evaluation, replace(view, cards=(view.cards[0], agent)), table, width=120)
    assert {"7,777", "5,555", "3,333"} <= set(told.split())
    plain = printed(print_evaluation, view, table, width=120)
    assert not {"clean", "ahead", "contaminated", "unknown"} & set(plain.split())


def test_numbers_of_a_column_end_in_the_same_place() -> None:
    columns = (Column("who", kind="text"), Column("a"), Column("b"))
    assert printed(
        print_grid, Table("title", columns, (("x", "–", "1"), ("y", "123", "–"))), width=100
    ).splitlines() == [
        "title",
        "who    a  b",
        "x      –  1",
        "y    123  –",
    ]


def test_a_pipe_gets_plain_text_of_100_columns_with_notes_in_one_piece() -> None:
    pipe = io.StringIO()
    note = "a note that goes on and on " * 8
    console = console_for(pipe)
    print_evaluation(console, evaluation("random_bet", notes=(note,)), FULL)
    assert console.width == 100
    assert "\x1b" not in pipe.getvalue()
    assert f"note: {note.strip()}.\n" in pipe.getvalue()


def test_a_pipe_may_be_given_another_width(monkeypatch: pytest.MonkeyPatch) -> None:
    assert console_for(io.StringIO(), columns=60).width == 60
    for asked, width in (("80", 80), ("19", 100), ("wide", 100), ("9" * 5_000, 100)):
        monkeypatch.setenv("COLUMNS", asked)
        assert console_for(io.StringIO()).width == width


def test_no_color_leaves_plain_text_neither_coloured_nor_bold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    print_evaluation(console_for(stream, columns=80), evaluation("random_bet"))
    assert "random_bet" in stream.getvalue() and "\x1b[" not in stream.getvalue()


def test_ten_events_passed_over_are_shown_and_the_rest_counted_by_rule() -> None:
    events = tuple(
        Rejection(str(number), f"title {number}", "exclude" if number % 3 else "ends_within_days", "why")
        for number in range(25)
    )
    view = SelectionView(AS_OF, "archive", (), events)
    brief, whole = (printed(print_selection, view, width=100, **more) for more in ({}, {"most": None}))
    assert "title 9 " in brief and "title 10" not in brief
    assert "all 25 by rule: exclude 16, ends_within_days 9; --all lists them" in brief
    assert "title 24" in whole and "--all" not in whole


def test_texts_of_a_data_set_are_counted_by_task_and_listed_if_asked() -> None:
    texts = tuple(
        ChosenView(f"G{number % 2 + 1}/{number}", f"text {number}", 0, None, item=f"G{number % 2 + 1}")
        for number in range(3_000)
    )
    view = SelectionView(AS_OF, "comments:all", (*texts, ChosenView("O2/polymarket/crypto", "O2", 0, None)), ())
    brief, whole = (printed(print_selection, view, width=100, **more) for more in ({}, {"most": None}))
    assert "Selected: 3,000 texts" in brief
    assert re.search(r"^G2 +1,500", brief, re.MULTILINE)
    assert len(brief.splitlines()) < 12
    assert "text 2999" in whole


def test_pairs_are_counted_as_texts_too() -> None:
    pairs = tuple(ChosenView(f"{number}~{number + 1}", f"pair {number}", 0, None, item="pair") for number in range(50))
    text = printed(print_selection, SelectionView(AS_OF, "pairs:all", pairs, ()), width=100)
    assert "Selected: 50 texts" in text and "pair 7" not in text


def test_of_many_reasons_the_most_frequent_are_shown() -> None:
    refused = [DecisionView("reader", str(n), "refused", message=f"reason {n % 9}") for n in range(20)]
    text = printed(print_decisions, decided(*refused), width=500)
    assert "reason 0, 3 times; reason 1, 3 times; reason 2, 2 times; " in text
    assert "reason 4, 2 times; and 4 other reasons)" in text


def test_what_a_stranger_wrote_neither_colours_nor_moves_anything() -> None:
    event = ChosenView("1", "[red]\x1b[2Jgone[/red] :smile: \u202eevil", 1, None)
    passed = Rejection("2", "[/]", "exclude", "[link=x]why[/link]\x07")
    text = printed(
        print_selection, SelectionView(AS_OF, "archive", (event,), (passed,), ("[bold]note[/bold]",)), width=120
    )
    assert "[red]\ufffd[2Jgone[/red] :smile: evil" in text
    assert "[/]" in text and "[link=x]why[/link]\ufffd" in text and "note: [bold]note[/bold]" in text
    assert not re.search("[\x00-\x09\x0b-\x1a\x1c-\x1f\u202e]", text)


def test_a_line_a_bot_says_what_became_of_its_decisions() -> None:
    recorded = [DecisionView(bot, str(n), "recorded", (BET,)) for bot in ("random_bet", "tool_agent") for n in range(8)]
    recorded.append(DecisionView("random_bet", "8", "recorded", (BET,)))
    # A forecast without a bet is no bet.
    recorded.append(DecisionView("tool_agent", "8", "recorded", (replace(BET, bet_usd=0.0),)))
    refused = DecisionView("tool_agent", "9", "refused", message="staked $1.20 of $1.00")
    assert printed(
        print_decisions, decided(*recorded, DecisionView("random_bet", "9", "recorded", (BET,)), refused), width=100
    ).splitlines() == [
        "random_bet: 10 forecasts and 10 bets recorded on 10 events",
        "tool_agent: 9 forecasts and 8 bets recorded on 9 events, 1 answer refused (staked $1.20 of $1.00)",
        "next: `predibot evaluate` looks up prices and outcomes, and scores the bots",
    ]


def test_failures_say_why_once_and_how_often() -> None:
    messages = ("timed out", "timed out", "[no] key")
    failed = [DecisionView("a", str(n), "failed", message=text) for n, text in enumerate(messages)]
    abstained = DecisionView("a", "8", "abstained", message="no idea")
    assert printed(print_decisions, decided(*failed, abstained, DecisionView("a", "9", "skipped")), width=200) == (
        "a: 3 decisions failed (timed out, 2 times; [no] key), 1 abstained (no idea), 1 before: 1 recorded\n"
    )


def test_what_may_be_tried_again_is_said_with_when_and_how() -> None:
    due = [AS_OF + timedelta(minutes=minutes) for minutes in (30, 31)]
    waiting = [DecisionView("a", str(n), "skipped", stored_status="failed", next_try_at=at) for n, at in enumerate(due)]
    for_good = DecisionView("a", "7", "failed", stored_status="failed", failed_for_good=True, message="down")
    at_once = DecisionView("a", "8", "failed", stored_status="failed", message="down")
    lacking = DecisionView("a", "9", "skipped", stored_status="abstained", reason_kind="members")
    own = DecisionView("a", "10", "skipped", stored_status="abstained", reason_kind="bot")
    assert printed(print_decisions, decided(*waiting, for_good, at_once, lacking, own), width=200).splitlines() == [
        "a: 2 decisions failed (down), 4 before: 2 failed, 2 abstained",
        "1 decision failed for good; the same command with --retry failed tries once more",
        "the next call tries 1 failed decision again",
        "the next try of 2 failed decisions is due at 2026-02-13T20:00Z; "
        "the same command with --retry failed tries now",
        "1 decision abstained for want of members; --retry abstained asks again",
    ]


def test_who_failed_by_unreadable_answers_is_told_how_to_try_again() -> None:
    failed = DecisionView("a", "1", "skipped", stored_status="failed", reason_kind="answer", failed_for_good=True)
    before = decided(*(replace(failed, event_id=str(n)) for n in range(5)))
    assert printed(print_decisions, before, width=200) == (
        "a: 5 before: 5 failed (unreadable answers); the same command with --retry failed tries again\n"
    )
    now = decided(replace(failed, status="failed", message="cut off"))
    assert printed(print_decisions, now, width=200).splitlines() == [
        "a: 1 decision failed (cut off)",
        "1 decision failed by unreadable answers; the same command with --retry failed tries again",
    ]


@pytest.mark.parametrize(
    ("cost_usd", "known_usd", "said"), [(0.25, 0.25, "$0.250"), (None, 0.5, "$0.500 known, the rest unknown")]
)
def test_money_spent_is_said_and_so_is_what_is_not_known(cost_usd: float | None, known_usd: float, said: str) -> None:
    spent = DecisionView("a", "1", "recorded", (BET,), cost_usd=cost_usd, cost_known_usd=known_usd)
    assert printed(print_decisions, decided(spent)).splitlines()[-2] == f"cost: {said}"


def test_of_nothing_it_is_said_that_there_is_nothing() -> None:
    assert "no decisions recorded" in printed(print_evaluation, evaluation())
    assert "no event selected" in printed(print_selection, SelectionView(AS_OF, "archive", ()))
    assert printed(print_runs, []) == "no runs recorded\n"
    nothing = printed(print_decisions, decided(notes=("no event passed",)))
    assert nothing == "nothing decided\n\nnote: no event passed.\n"


def test_a_selection_shows_each_event_passed_over_with_rule_and_reason() -> None:
    text = printed(print_selection, SelectionView(AS_OF, "archive", (CHOSEN,), (PASSED_OVER,)), width=120)
    assert re.search(r"26004 +Next Prime Minister of the Netherlands +3 +\$1,234,568", text)
    assert re.search(r'77 +MegaETH market cap \(FDV\)\? +exclude +crypto: the word "megaeth"', text)
    assert "Selected: 1 event, 3 markets" in text and "Passed over: 1 event" in text


def test_a_long_title_is_shortened_and_the_figures_beside_it_are_not() -> None:
    text = printed(
        print_selection, SelectionView(AS_OF, "archive", (ChosenView("1", "long " * 60, 3, 1_234_567.0),)), width=60
    )
    assert "…" in text and "$1,234,567" in text.split()


def test_runs_are_listed_and_a_void_one_says_why() -> None:
    expected = r"daily/2026-02-13 +2026-02-13T19:30Z +archive +2 +10 +19 +1 refused, void: a wrong"
    assert re.search(expected, printed(print_runs, [run_row("a wrong recipe", recorded=19, refused=1)], width=120))


def test_runs_stand_on_a_line_each_on_a_narrow_screen() -> None:
    lines = printed(
        print_runs, [run_row("a wrong recipe, as was seen a week later", recorded=19, refused=1)]
    ).splitlines()
    assert len([line for line in lines if not line.startswith(("Runs", "# ", "no room for: ", "`"))]) == 1
    assert re.search(r"^0 +daily/2026-02-13 .* 19 +1 refused, void: a wrong recipe, as was seen", lines[2])


def test_a_dumb_terminal_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "60")
    assert console_for(Terminal()).width == 60
