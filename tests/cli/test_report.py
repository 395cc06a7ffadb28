"""`predibot report`: runs and scores that are stored."""

import pytest

from tests.acceptance.conftest import Predibot


def test_runs_and_scores_are_printed_without_a_venue(tracked: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREDIBOT_GAMMA_URL", "http://127.0.0.1:1")
    document = tracked("report", "--json").document
    assert list(document)[:2] == ["runs", "as_of"]
    assert {**document, "runs": None} == {**tracked("evaluate", "--json").document, "runs": None}
    text = tracked("report").out
    assert "\nSimulated world as of " in text and "\nRuns: 1, which --full lists with every table. `" in text
    assert "No price is tracked" not in text
    full = tracked("report", "--full").out
    assert "\nReturns: mean of a decision of one dollar\n" in full and "\nRuns: 1\n" in full
    alone = tracked("report", "--table", "returns").out
    assert "\nReturns: mean of a decision of one dollar\n" in alone and "Runs: 1" not in alone


def test_recipe_and_bots_choose_what_is_shown(decided: Predibot) -> None:
    said = "No price is tracked yet: `predibot evaluate` collects prices and outcomes, and scores."
    assert said in decided("report").out.splitlines()
    document = decided("report", "daily", "--bots", "market_price", "--json").document
    assert ([card["bot"] for card in document["bots"]], len(document["runs"])) == (["market_price"], 1)


def test_csv_is_that_of_an_evaluation_without_the_runs_or_of_the_table_that_is_asked_for(tracked: Predibot) -> None:
    printed = tracked("report", "--csv")
    assert printed.out == tracked("evaluate", "--no-track", "--csv").out
    assert printed.out.startswith("bot,decisions,")
    assert (printed.code, tracked("report", "--csv", "--json").code) == (0, 2)
    header, *rows = tracked("report", "--csv", "--table", "pairs").out.splitlines()
    assert header.startswith("first,second,metric,n,") and rows
    assert tracked("evaluate", "--no-track", "--csv", "--table", "decisions").out.startswith("bot,decisions,refused,")


def test_no_line_of_a_pipe_ends_in_a_blank(tracked: Predibot) -> None:
    for command in (["report"], ["report", "--full"], ["report", "--worst", "2"], ["runs"], ["bots"]):
        assert not [line for line in tracked(*command).out.splitlines() if line.endswith(" ")]
