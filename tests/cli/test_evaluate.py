"""`predibot evaluate`: its document, and questions that have no answer."""

import pytest

from tests.acceptance.conftest import Predibot

CARD = (
    "bot decisions forecasts settled void brier n_brier brier_open n_brier_open log_score skill_vs_market horizons "
    "cost_usd cost_known_usd refused failed abstained clean contaminated unknown"
)


def test_the_document_has_the_keys_of_the_contract_in_their_order(decided: Predibot) -> None:
    document = decided("evaluate", "--json").document
    assert list(document) == ["as_of", "bots", "notes"]
    assert [" ".join(card) for card in document["bots"]] == [CARD, CARD]
    horizons = document["bots"][0]["horizons"]
    assert list(horizons) == ["1", "2", "7", "settled"]
    assert list(horizons["1"]) == ["mean_return", "n", "coverage", "sharpe", "market_mean_return"]


def test_other_horizons_may_be_asked_for_each_once(decided: Predibot) -> None:
    said = decided("evaluate", "--no-track", "--horizons", "0.5,3,3", "--json")
    assert list(said.document["bots"][0]["horizons"]) == ["0.5", "3", "settled"]


def test_a_missing_number_is_a_dash_and_null(decided: Predibot) -> None:
    assert decided("evaluate", "--no-track", "--json").document["bots"][0]["brier"] is None
    assert "–" in decided("evaluate", "--no-track").out


def test_recipe_and_bots_choose_what_is_shown(decided: Predibot) -> None:
    said = decided("evaluate", "daily", "--no-track", "--bots", "random_bet", "--json")
    assert [card["bot"] for card in said.document["bots"]] == ["random_bet"]
    assert said.err == "ledger: sqlite:///runs/out/predibot.db\nrecipe: daily\n"


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--bots", "nonsense"], 1, "error: no bot 'nonsense' in these runs. Valid are: market_price, random_bet"),
        (["sandbox"], 1, "error: the ledger has no run of recipe 'sandbox'. It has runs of daily"),
        (["dayly"], 1, "error: no recipe 'dayly'. Did you mean 'daily'?"),
        (["--horizons", "inf"], 2, "'inf' is not a list of days"),
        (["--horizons", ","], 2, "',' is not a list of days"),
        (["--ledger", ""], 2, "it is empty"),
        (["--ledger", "sqlite:///none.db"], 1, "error: there is no ledger at none.db. Run `predibot decide` first"),
    ],
)
def test_what_is_not_there_is_said(decided: Predibot, arguments: list[str], code: int, message: str) -> None:
    said = decided("evaluate", *arguments)
    assert (said.code, said.out) == (code, "")
    assert message in said.err.splitlines()[-1]
