"""`predibot report`: runs and scores that are stored."""

import pytest

from tests.acceptance.conftest import Predibot


def test_runs_and_scores_are_printed_without_a_venue(tracked: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    decided = tracked
    monkeypatch.setenv("PREDIBOT_GAMMA_URL", "http://127.0.0.1:1")
    document = decided("report", "--json").document
    assert list(document)[:2] == ["runs", "as_of"]
    assert {**document, "runs": None} == {**decided("evaluate", "--json").document, "runs": None}
    text = decided("report").out
    assert "\nSimulated world as of " in text and "\nRuns: 1, which --full lists with every table. `" in text
    assert "No price is tracked" not in text
    full = decided("report", "--full").out
    assert "\nReturns: mean of a decision of one dollar\n" in full and "\nRuns: 1\n" in full
    alone = decided("report", "--table", "returns").out
    assert "\nReturns: mean of a decision of one dollar\n" in alone and "Runs: 1" not in alone


def test_recipe_and_bots_choose_what_is_shown(decided: Predibot) -> None:
    said = "No price is tracked yet: `predibot evaluate` collects prices and outcomes, and scores."
    assert said in decided("report").out.splitlines()
    document = decided("report", "daily", "--bots", "market_price", "--json").document
    assert ([card["bot"] for card in document["bots"]], len(document["runs"])) == (["market_price"], 1)


def test_csv_is_that_of_an_evaluation_without_the_runs(decided: Predibot) -> None:
    decided("track")
    printed = decided("report", "--csv")
    assert printed.out == decided("evaluate", "--no-track", "--csv").out
    assert printed.out.startswith("bot,decisions,")
    assert (printed.code, decided("report", "--csv", "--json").code) == (0, 2)


def test_csv_of_a_table_is_that_table(decided: Predibot) -> None:
    decided("track")
    header, *rows = decided("report", "--csv", "--table", "pairs").out.splitlines()
    assert header.startswith("first,second,metric,n,") and rows
    assert decided("evaluate", "--no-track", "--csv", "--table", "decisions").out.startswith("bot,decisions,refused,")


def test_no_line_of_a_pipe_ends_in_a_blank(decided: Predibot) -> None:
    decided("track")
    for command in (["report"], ["report", "--full"], ["report", "--worst", "2"], ["runs"], ["bots"]):
        assert not [line for line in decided(*command).out.splitlines() if line.endswith(" ")]
