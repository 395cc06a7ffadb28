"""An evaluation as CSV: a row a bot, or a row a part of what it did."""

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from predibot.reports.terminal.evaluation_grids import TABLES
from predibot.reports.views.evaluation_csv import evaluation_csv
from predibot.reports.views.evaluation_json import evaluation_document
from predibot.scoring.evaluation.evaluation import PARTINGS, Evaluation, Question, evaluation_of
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.reports.views_of import card, evaluation
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of

AS_OF = datetime(1970, 1, 20, tzinfo=UTC)


def rows_of(found: Evaluation) -> list[dict[str, str]]:
    """Return the table as a program reads it."""
    return list(csv.DictReader(io.StringIO(evaluation_csv(found))))


def table_of(found: Evaluation, table: str) -> list[dict[str, str]]:
    """Return one of the tables as a program reads it."""
    return list(csv.DictReader(io.StringIO(evaluation_csv(found, table))))


@pytest.fixture(scope="module")
def by() -> dict[str | None, Evaluation]:
    """Return the evaluations of one small record, by every kind of part."""
    made = [
        Made(bot, at=at, event=event, category=("sports", "weather")[event % 2], bets=(_bet(event, said),))
        for bot, said in (("a", 0.7), ("b", 0.4))
        for at, event in enumerate(range(6))
    ]
    paid = {market: Paid(10, float(market % 2)) for market in range(6)}
    record = record_of(made, seen=[Seen(0, 1, 0.6)], paid=paid, as_of=19)
    asked = Question(horizons_days=(1,), uncertainty=Uncertainty(resamples=200))
    return {each: evaluation_of(record, AS_OF, replace(asked, grouping=each)) for each in (None, *PARTINGS)}


def _bet(market: int, said: float) -> Bet:
    return Bet(market, 0.5, 0.5, said, confidence=5.0 + market % 3)


def test_there_is_a_row_a_bot_with_its_numbers_and_the_ends_of_their_intervals() -> None:
    first, second = rows_of(evaluation("market_price", "random_bet"))
    assert (first["bot"], second["bot"]) == ("market_price", "random_bet")
    assert {name: first[name] for name in ("decisions", "refused", "void", "n", "clusters")} == {
        "decisions": "12", "refused": "1", "void": "1", "n": "15", "clusters": "12",
    }  # fmt: skip
    assert (first["brier"], first["brier_low"], first["brier_high"]) == ("0.0024782", "0.0012", "0.0135")
    assert (first["1d_mean_return"], first["settled_mean_return"], first["1d_n"]) == ("-0.0037782", "12.3456", "2")


def test_a_row_has_the_place_on_the_leaderboard(by: dict[str | None, Evaluation]) -> None:
    rows = rows_of(by[None])
    assert [(row["bot"], row["rank"], row["baseline"], row["verdict"]) for row in rows] == [
        ("a", "", "False", "too few events"),
        ("b", "", "False", "too few events"),
    ]


def test_what_has_no_value_is_an_empty_cell() -> None:
    (row,) = rows_of(evaluation("a"))
    for name in ("7d_mean_return", "cost_usd", "brier_open", "accuracy_low", "adjusted_brier", "1d_friction"):
        assert row[name] == ""
    odd = replace(card(), forecast=replace(card().forecast, brier=float("nan")))
    assert rows_of(replace(evaluation(), cards=(odd,)))[0]["brier"] == ""


def test_a_row_has_the_evidence_of_its_bot_and_what_chance_makes_of_its_calibration(
    by: dict[str | None, Evaluation],
) -> None:
    whole = by[None]
    for row, card_, found in zip(rows_of(whole), whole.cards, whole.evidence, strict=True):
        assert row["bot"] == card_.bot == found.bot
        better, worse = found.forecasts.better, found.forecasts.worse
        assert [float(row[name]) for name in ("e_value", "e_value_largest", "p_value_any_day")] == [
            better.now, better.largest, 1 / better.largest,
        ]  # fmt: skip
        assert [float(row[name]) for name in ("e_value_worse", "e_value_worse_largest")] == [worse.now, worse.largest]
        assert better.now * worse.now != 1.0
        chance = card_.forecast.calibration_error_by_chance
        assert float(row["calibration_error_by_chance"]) == chance
        assert float(row["calibration_error_by_chance_high"]) >= float(row["calibration_error_by_chance"]) > 0.0


def test_every_row_has_every_column() -> None:
    text = evaluation_csv(evaluation("a", "b"))
    assert {len(row) for row in csv.reader(io.StringIO(text))} == {len(text.splitlines()[0].split(","))}
    assert text.endswith("\n")
    assert "\r" not in text


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\u200b=1"])
def test_a_name_is_never_a_formula(name: str) -> None:
    (row,) = rows_of(replace(evaluation(), cards=(card(name),)))
    assert row["bot"].startswith("'")


@pytest.mark.parametrize("name", ["a,b", 'say "so"', "two\nlines", "müller", "a=b"])
def test_a_name_comes_back_on_one_line_as_it_was(name: str) -> None:
    (row,) = rows_of(replace(evaluation(), cards=(card(name),)))
    assert row["bot"] == " ".join(name.split())


def test_its_numbers_are_those_of_the_document(by: dict[str | None, Evaluation]) -> None:
    found, document = by[None], json.loads(json.dumps(evaluation_document(by[None])))
    for row, bot in zip(rows_of(found), document["bots"], strict=True):
        for name in ("brier", "log_score", "skill_vs_market", "adjusted_brier", "decisions"):
            assert float(row[name]) == bot[name]
        settled = bot["horizons"]["settled"]
        assert float(row["settled_mean_return"]) == settled["mean_return"]
        interval = settled["intervals"]["mean_return"]
        for end in ("low", "high"):
            assert row[f"settled_mean_return_{end}"] == ("" if interval[end] is None else repr(interval[end]))


@pytest.mark.parametrize("grouping", PARTINGS)
def test_parts_are_rows_of_their_own(by: dict[str | None, Evaluation], grouping: str) -> None:
    rows = rows_of(by[grouping])
    parts = [(row[grouping], row["bot"]) for row in rows]
    assert len(parts) == len(set(parts)) >= 2
    # Of six forecasts a bot each is in one part.
    assert sum(int(row["n"]) for row in rows) == 12
    assert next(iter(rows[0])) == grouping


def test_the_names_of_parts_are_guarded_too(by: dict[str | None, Evaluation]) -> None:
    found = by["category"]
    part = replace(found.parts[0], group="=cmd()")
    assert rows_of(replace(found, parts=(part,)))[0]["category"] == "'=cmd()"


@pytest.mark.parametrize("grouping", [None, *PARTINGS])
def test_of_nothing_there_is_a_header_and_no_row(grouping: str | None) -> None:
    found = Evaluation(AS_OF, (), (), replace(Question(), grouping=grouping))
    assert (rows_of(found), evaluation_csv(found)) == ([], "bot\n")


def test_each_table_of_a_screen_is_there_alone_with_its_numbers(by: dict[str | None, Evaluation]) -> None:
    found = by[None]
    document = json.loads(json.dumps(evaluation_document(found)))
    first = document["bots"][0]
    pairs = table_of(found, "pairs")
    assert [(row["first"], row["second"], row["metric"]) for row in pairs] == [
        (each["first"], each["second"], each["metric"]) for each in document["comparisons"]
    ]
    assert [row["difference"] for row in pairs] == [
        "" if each["difference"] is None else str(each["difference"]) for each in document["comparisons"]
    ]
    assert {row["verdict"] for row in pairs} == {each["verdict"]["finding"] for each in document["comparisons"]}
    returns = table_of(found, "returns")
    assert [(row["bot"], row["horizon"]) for row in returns] == [
        (bot["bot"], horizon) for bot in document["bots"] for horizon in bot["horizons"]
    ]
    assert returns[0]["mean_return"] == str(first["horizons"]["1"]["mean_return"])
    assert table_of(found, "quote") == returns
    bins = table_of(found, "calibration")
    assert len(bins) == 20 and [row["n"] for row in bins[:10]] == [str(each["n"]) for each in first["calibration"]]
    assert table_of(found, "forecasts")[0]["edge"] == str(first["edge"]["edge"])
    assert [row["decisions"] for row in table_of(found, "decisions")] == ["6", "6"]


def test_every_table_that_a_screen_can_name_can_be_written() -> None:
    assert all(evaluation_csv(evaluation(), table) for table in TABLES)


def test_tables_tell_apart_what_is_ranked_apart(by: dict[str | None, Evaluation]) -> None:
    rows = table_of(replace(by[None], apart=by[None]), "decisions")
    assert [(row["knowledge"], row["bot"]) for row in rows] == [
        ("clean", "a"), ("clean", "b"), ("unknown", "a"), ("unknown", "b"),
    ]  # fmt: skip
