"""The screen that evaluations open with, in a real terminal, in a pipe and without colours."""

from pathlib import Path

import pytest

from predibot.reports import figures
from tests.acceptance.conftest import Predibot
from tests.cli.terminal import on_a_terminal, screen_after, without_colours
from tests.plain_words import private_words

AS_OF = "2026-02-20T12:00Z"
EVALUATE = ("evaluate", "--no-track", "--as-of", AS_OF)


@pytest.mark.parametrize("columns", [60, 100])
def test_a_terminal_of_any_width_shows_one_table_and_no_line_is_wider(played: Predibot, columns: int) -> None:
    code, sent = on_a_terminal(*EVALUATE, columns=columns)
    lines = without_colours(sent)
    assert code == 0
    assert "\x1b[1mSimulated world as of 2026-02-20T12:00Z" in sent
    assert max(map(len, lines)) <= columns
    rows = [line for line in lines if line.split()[1:2] and line.split()[1].endswith("*")]
    assert [row.split()[1] for row in rows] == [
        "favourite*", "market_price*", "underdog*", "always_half*", "random_bet*",
    ]  # fmt: skip
    head = next(line for line in lines if line.startswith("# bot"))
    assert [" cost" in head, "edge by day" in head] == [columns >= 100] * 2


def test_without_colours_a_terminal_gets_plain_text(played: Predibot) -> None:
    plain, coloured = (on_a_terminal(*EVALUATE, columns=80, **more)[1] for more in ({"NO_COLOR": "1"}, {}))
    assert "\x1b" not in plain and "\x1b" in coloured
    assert without_colours(plain) == without_colours(coloured)


def test_a_pipe_gets_plain_text_with_sentences_in_one_piece(played: Predibot) -> None:
    said = played(*EVALUATE).out
    assert "\x1b" not in said
    rows = [line for line in said.splitlines() if line.startswith(("#", "–"))]
    assert len(rows) == 6 and max(map(len, rows)) <= 100
    assert "\nalways_half and random_bet" in said or "Nobody beats the price" in said


@pytest.mark.parametrize("columns", [40, 80])
def test_errors_and_last_lines_are_broken_between_words(played: Predibot, columns: int) -> None:
    code, sent = on_a_terminal("report", "--ledger", "sqlite:///none.db", columns=columns, errors=True)
    lines = without_colours(sent)
    assert code == 1 and max(map(len, lines)) <= columns
    whole = " ".join(line.strip() for line in lines)
    # A process says how it was called, with its ledger.
    said = played("report", "--ledger", "sqlite:///none.db").err.strip()
    assert said.replace("predibot decide", "predibot decide --ledger sqlite:///none.db") in whole


@pytest.mark.parametrize("table", ["forecasts", "returns", "quote", "pairs", "calibration", "decisions"])
def test_each_table_can_be_asked_for_alone(played: Predibot, table: str) -> None:
    said = played(*EVALUATE, "--table", table).out
    assert said.startswith("as of 2026-02-20T12:00Z · 95% intervals") and "market_price" in said
    assert "Leaderboard" not in said


def test_screens_have_no_word_that_only_we_know(played: Predibot) -> None:
    for command in (
        (*EVALUATE, "--full", "--explain"),
        (*EVALUATE, "--by", "month"),
        ("report", "--bot", "random_bet", "--worst", "1", "--as-of", AS_OF),
        ("status",),
    ):
        # Reasons of bots are texts of others.
        shown = played(*command).out.partition("\nWorst decisions")[0]
        assert shown and private_words(shown) == []


def test_what_a_screen_shows_is_in_the_document(played: Predibot) -> None:
    document = played(*EVALUATE, "--json").document
    said = played(*EVALUATE, "--explain").out
    assert all(sentence in said for sentence in document["conclusions"])
    assert all(piece in said for piece in document["missing"])
    assert [row["bot"] for row in document["leaderboard"]] == [
        "favourite", "market_price", "underdog", "always_half", "random_bet",
    ]  # fmt: skip


@pytest.mark.parametrize("command", [EVALUATE, ("report", "--as-of", AS_OF)])
def test_the_worst_decisions_are_listed_with_what_was_asked_and_why(played: Predibot, command: tuple[str, ...]) -> None:
    said = played(*command, "--worst", "3", "--bots", "random_bet")
    document = played(*command, "--worst", "3", "--bots", "random_bet", "--json").document
    worst = document["worst"]
    assert len(worst) == 3
    assert [each["gain_usd"] for each in worst] == sorted(each["gain_usd"] for each in worst)
    for place, each in enumerate(worst, start=1):
        assert each["bot"] == "random_bet" and each["gain_usd"] < 0.0
        assert f"{place}. random_bet -$" in said.out and each["question"] in said.out
        prices = [figures.probability(each[name]) for name in ("price_yes", "probability")]
        assert "price {}, forecast {}".format(*prices) in said.out


_BASELINE = ("--bots", "market_price", "--events", "1", "--ledger", "sqlite:///bars.db")


@pytest.mark.parametrize(
    ("columns", "command", "line"),
    [
        (80, ("decide", "--venue", "sandbox", *_BASELINE), "market_price: "),
        (120, ("replay", "sandbox", "--from", "2026-01-05", "--to", "2026-01-06", *_BASELINE), "2026-01-05T00:00Z: "),
        (80, ("collect", "comments", "sandbox:polymarket", "comments", "--markets", "1"), "markets taken "),
    ],
)  # fmt: skip
def test_nothing_of_a_bar_is_left_and_what_is_printed_meanwhile_has_its_own_line(
    columns: int, command: tuple[str, ...], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, sent = on_a_terminal(*command, columns=columns, errors=True)
    screen = screen_after(sent, columns)
    assert code == 0
    assert "\x1b[2K" in sent and not any("━" in each or "doing" in each for each in screen)
    assert any(each.startswith(line) for each in screen)
    assert max(map(len, screen)) <= columns
