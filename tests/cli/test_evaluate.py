"""`predibot evaluate`: its document, and questions that have no answer."""

import csv
from io import StringIO
from operator import itemgetter
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot

AS_OF = "2026-02-20T12:00Z"
ASKED = ("evaluate", "--no-track", "--as-of", AS_OF, "--bots", "market_price,random_bet")


def test_every_score_of_a_bot_has_its_interval(played: Predibot) -> None:
    for bot in played(*ASKED, "--json").document["bots"]:
        assert bot["n_brier"] > 0
        for name in ("brier", "log_score", "accuracy", "market_brier", "skill_vs_market"):
            assert bot["intervals"][name]["n"] == bot["n_brier"]
        settled = bot["horizons"]["settled"]
        low, high = (settled["intervals"]["mean_return"][end] for end in ("low", "high"))
        assert low < settled["mean_return"] < high


def test_asked_again_it_says_the_same_to_the_letter_and_with_another_seed_other_intervals(played: Predibot) -> None:
    one, two, other = (played(*ASKED, "--json", "--seed", seed) for seed in ("0", "0", "1"))
    assert one.out == two.out != other.out
    first, second = (said.document["bots"][1] for said in (one, other))
    assert first["brier"] == second["brier"]
    assert first["intervals"]["log_score"]["low"] != second["intervals"]["log_score"]["low"]


def test_an_export_whose_lines_are_in_another_order_is_evaluated_alike(played: Predibot) -> None:
    assert played("export", "out", "--format", "jsonl").code == 0
    for file in Path("out").iterdir():
        file.write_text("".join(file.read_text().splitlines(keepends=True)[::-1]))
    assert played("import", "ledger", "out", "--ledger", "sqlite:///turned.db").code == 0
    one, other = (played(*ASKED, "--json", *at).document for at in ((), ("--ledger", "sqlite:///turned.db")))
    for bot, same in zip(*(sorted(each["bots"], key=itemgetter("bot")) for each in (one, other)), strict=True):
        assert bot["intervals"]["log_score"]["low"] is not None
        for name, interval in bot["intervals"].items():
            assert interval == pytest.approx(same["intervals"][name])
    (pair,), (turned,) = ([pair for pair in each["comparisons"] if pair["metric"] == "brier"] for each in (one, other))
    assert pair["p_value"] == turned["p_value"] < 1.0
    assert sorted(map(abs, (pair["low"], pair["high"]))) == pytest.approx(
        sorted(map(abs, (turned["low"], turned["high"])))
    )


def test_what_is_asked_for_is_in_the_document(played: Predibot) -> None:
    asked = ("--by", "month", "--delay", "1,4", "--sizing", "kelly,flat", "--convention", "predibench")
    document = played(*ASKED, *asked, "--horizons", "1", "--resamples", "200", "--json").document
    assert (document["by"], document["convention"], document["resamples"]) == ("month", "predibench", 200)
    assert {part["group"] for part in document["parts"]} == {"2026-01"}
    assert {(each["delay_days"], each["horizon"]) for each in document["delays"]} == {
        (days, horizon) for days in (1.0, 4.0) for horizon in ("1", "now", "settled")
    }
    assert {each["sizing"] for each in document["sizings"]} == {"kelly", "flat"}
    assert {pair["metric"] for pair in document["comparisons"]} == {
        "edge", "brier", "return_1", "return_now", "return_settled",
    }  # fmt: skip


@pytest.mark.parametrize("by", ["bot", "event", "category", "month", "lead_time", "confidence"])
def test_every_part_can_be_asked_for_on_the_screen_and_as_csv(played: Predibot, by: str) -> None:
    seen, table = played(*ASKED, "--by", by), played(*ASKED, "--by", by, "--csv")
    assert (seen.code, table.code) == (0, 0)
    # The sandbox's bots do not say how sure they are.
    rows = list(csv.DictReader(StringIO(table.out)))
    assert ({row["bot"] for row in rows}) == (set() if by == "confidence" else {"market_price", "random_bet"})
    assert ("Forecasts by" in seen.out) is (by not in ("bot", "confidence"))


def test_other_horizons_may_be_asked_for_each_once(decided: Predibot) -> None:
    said = decided("evaluate", "--no-track", "--horizons", "0.5,3,3", "--json")
    assert list(said.document["bots"][0]["horizons"]) == ["0.5", "3", "now", "settled"]
    plain = decided("evaluate", "--json").document
    assert list(plain["bots"][0]["horizons"]) == ["1", "2", "7", "now", "settled"]
    assert (next(reversed(plain)), plain["exit_code"]) == ("exit_code", 0)


def test_a_missing_number_is_a_dash_and_null(decided: Predibot) -> None:
    assert decided("evaluate", "--no-track", "--json").document["bots"][0]["brier"] is None
    assert "–" in decided("evaluate", "--no-track").out


def test_recipe_and_bots_choose_what_is_shown(decided: Predibot) -> None:
    said = decided("evaluate", "daily", "--no-track", "--bots", "random_bet", "--json")
    assert [card["bot"] for card in said.document["bots"]] == ["random_bet"]
    assert said.err.splitlines() == [
        "ledger: sqlite:///runs/out/predibot.db",
        "recipe: daily",
        "the simulated world is looked at when its markets have settled, 2026-05-05T12:00Z; --as-of looks earlier",
    ]


def test_a_document_and_a_table_are_not_both_printed(decided: Predibot) -> None:
    said = decided("evaluate", "--json", "--csv")
    assert said.code == 2
    assert "--json and --csv are two answers; ask for one" in said.document["error"]["message"]


def test_the_first_day_says_when_there_will_be_results(predibot: Predibot) -> None:
    world = ("--venue", "sandbox:seed=3,events=40")
    at = predibot("decide", *world, "--as-of", "2026-01-05T12:00Z", "--json").document["run"]["as_of"]
    assert at == "2026-01-05T12:00Z"
    early = predibot("evaluate", *world, "--as-of", "2026-01-05T13:00Z", "--horizons", "2,7").out
    assert "Nothing has settled yet; first results about 2026-01-07T12:00Z" in early
    later = predibot("evaluate", *world, "--as-of", "2026-02-05T13:00Z")
    assert "Nothing has settled" not in later.out
