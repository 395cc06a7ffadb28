"""ForecastBench's sets: forecasts joined with what became of their questions.

The form of the sets is that of forecastingresearch/forecastbench-datasets (`resolution_sets/2026-07-19_resolution_set
.json`, `question_sets/2026-07-19-llm.json`, `forecast_sets/2024-07-21`), and of `_io.upload_processed_forecast_file`
in forecastingresearch/forecastbench; what they say is made up. The rules are those of `src/resolve/_prepare.py`,
`_impute.py` and `score_models` of `src/leaderboard/main.py` there, and the numbers are computed by hand.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.forecastbench import read_sets
from predibot.jobs.score_files.forecasts import ForecastFile, read_forecasts
from tests.acceptance.conftest import said_here

DUE = "2026-07-19"


def resolution(name: str | list[str], source: str, date: str, to: float, resolved: bool = True) -> dict[str, Any]:
    direction = [1, -1] if isinstance(name, list) else None
    return {
        "id": name,
        "source": source,
        "direction": direction,
        "resolution_date": date,
        "resolved_to": to,
        "resolved": resolved,
    }


def forecast(name: str | list[str], source: str, probability: Any, date: Any, **more: Any) -> dict[str, Any]:
    said = {"id": name, "source": source, "forecast": probability, "resolution_date": date, "reasoning": "why"}
    return {**said, "direction": None, **more}


RESOLUTIONS = [
    resolution("AAPL", "yfinance", "2026-07-26", 1.0),
    resolution("AAPL", "yfinance", "2026-08-18", 0.0),
    resolution("0012", "infer", "2026-08-01", 1.0),
    # Another question under the same id.
    resolution("0012", "manifold", "2026-08-01", 0.0),
    resolution("later", "manifold", "2026-08-20", 0.37, resolved=False),
    resolution(["0012", "later"], "manifold", "2026-08-01", 0.0),
    resolution("unasked", "polymarket", "2026-08-01", 0.0),
]
FORECASTS = [
    forecast("AAPL", "yfinance", 0.7, "2026-07-26"),
    forecast("AAPL", "yfinance", 0.6, "2026-08-18T00:00:00"),
    forecast("AAPL", "yfinance", 0.6, "2027-07-19"),
    forecast("0012", "infer", 0.9, None),
    forecast("0012", "Manifold", 0.2, "2026-12-31"),
    forecast("later", "manifold", 0.2, None),
    forecast(["0012", "later"], "manifold", 0.2, None, direction=[1, -1]),
]


def write(folder: Path, name: str, kind: str, rows: Sequence[Mapping[str, Any]], **said: Any) -> str:
    """Write a set as it is published: one document over many lines."""
    asked = {"forecast_due_date": DUE, "question_set": f"{DUE}-llm.json", **said}
    (folder / name).write_text(json.dumps({**asked, kind: rows}, indent=4))
    return str(folder / name)


@pytest.fixture
def resolutions(tmp_path: Path) -> str:
    return write(tmp_path, f"{DUE}_resolution_set.json", "resolutions", RESOLUTIONS)


def forecasts(folder: Path, rows: Sequence[Mapping[str, Any]] = FORECASTS, **said: Any) -> str:
    name = f"{DUE}.{said.get('organization', 'Acme')}.json"
    return write(folder, name, "forecasts", rows, **{"organization": "Acme", "model": "m", **said})


def said(found: ForecastFile) -> list[tuple[str, float, float | None]]:
    return [(each.question, each.probability, each.outcome) for each in found.forecasts]


def test_forecasts_are_joined_by_source_and_id_and_those_of_series_by_date_too(
    tmp_path: Path, resolutions: str
) -> None:
    file = read_sets([forecasts(tmp_path), resolutions], None).table()
    found = read_forecasts(file)
    assert said(found) == [
        (f"yfinance AAPL, {DUE} to 2026-07-26", 0.7, 1.0),
        (f"yfinance AAPL, {DUE} to 2026-08-18", 0.6, 0.0),
        (f"yfinance AAPL, {DUE} to 2027-07-19", 0.6, None),
        ("infer 0012", 0.9, 1.0),
        ("manifold 0012", 0.2, 0.0),
        ("manifold later", 0.2, None),
    ]
    assert {each.cluster for each in found.forecasts[:3]} == {"yfinance AAPL"}
    assert (found.n_open, found.n_void, found.file.bad_rows) == ({"m": 2}, {}, ())


def test_combinations_are_left_out_and_counted_and_the_score_of_the_boards_is_told(
    tmp_path: Path, resolutions: str
) -> None:
    file = read_sets([resolutions, forecasts(tmp_path)], None).table()
    # Markets: (0.1^2 + 0.2^2 + 0.5^2) / 3 = 0.1; series: (0.3^2 + 0.6^2) / 2 = 0.225.
    assert file.remarks == (
        "m: 1 on combinations of questions left out.",
        "m: as ForecastBench counts, the Brier score is 0.1000 on 3 market questions and 0.2250 on 2 dataset "
        "questions, overall 0.1625 (their mean), where 1 without an answer count as 0.5.",
    )


def test_a_question_set_gives_prices_of_markets_and_says_what_was_asked(tmp_path: Path, resolutions: str) -> None:
    values = (("AAPL", "yfinance", "212.3"), ("0012", "infer", "0.8"), ("0012", "manifold", "N/A"))
    rows = [{"id": name, "source": source, "freeze_datetime_value": value} for name, source, value in values]
    asked = write(tmp_path, f"{DUE}-llm.json", "questions", [*rows, {**rows[0], "id": ["a", "b"]}])
    file = read_sets([asked, resolutions, forecasts(tmp_path)], None).table()
    found = read_forecasts(file)
    prices = {each.question: each.market_probability for each in found.forecasts if each.market_probability >= 0}
    assert prices == {"infer 0012": 0.8}
    assert [bad.reason for bad in found.file.bad_rows] == ["manifold later is not in the question set"]
    # Of the question that was not asked nothing is missing: (0.1^2 + 0.2^2) / 2 = 0.025.
    assert "0.0250 on 2 market questions" in file.remarks[-1] and "without an answer" not in file.remarks[-1]


def test_a_processed_set_brings_its_outcomes_and_what_was_put_in_is_left_out(tmp_path: Path) -> None:
    def processed(name: str, source: str, p: float, date: str, to: float, **more: Any) -> dict[str, Any]:
        row = {"forecast_due_date": "2026-07-19T00:00:00.000", "market_value_on_due_date": None, "imputed": False}
        return {**resolution(name, source, f"{date}T00:00:00.000", to), **row, "forecast": p, **more}

    rows = [
        processed("AAPL", "yfinance", 0.7, "2026-07-26", 1.0),
        processed("MSFT", "yfinance", 0.5, "2026-07-26", 1.0, imputed=True),
        processed("x", "manifold", 0.2, "2026-08-01", 0.0, market_value_on_due_date=0.3),
        processed("y", "manifold", 0.2, "2026-08-01", 0.4, resolved=False),
    ]
    file = read_sets([forecasts(tmp_path, rows, model_organization="A")], None).table()
    found = read_forecasts(file)
    assert said(found) == [
        (f"yfinance AAPL, {DUE} to 2026-07-26", 0.7, 1.0),
        ("manifold x", 0.2, 0.0),
        ("manifold y", 0.2, None),
    ]
    assert found.forecasts[1].market_probability == 0.3
    assert file.remarks[0] == "m: 1 left out that ForecastBench put in where there was no forecast."
    # (0.3^2 + 0.5^2) / 2 = 0.17
    assert "0.0400 on 1 market questions and 0.1700 on 2 dataset questions, overall 0.1050" in file.remarks[1]


def test_people_are_forecasters_of_their_own_and_models_of_one_name_have_their_teams(
    tmp_path: Path, resolutions: str
) -> None:
    people = [forecast("0012", "infer", p, None, user_id=name) for name, p in (("S1", 0.6), ("S2", 0.7))]
    file = read_sets([forecasts(tmp_path, people), resolutions], None).table()
    assert (read_forecasts(file).forecasters, file.remarks) == (("S1", "S2"), ())
    both = [forecasts(tmp_path, organization=name) for name in ("Acme", "Beta")]
    assert read_forecasts(read_sets([*both, resolutions], None).table()).forecasters == ("Acme m", "Beta m")


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (forecast("0012", "infer", 1.6, None), "probability is 1.6; write a number"),
        (forecast("0012", "infer", None, None), "probability is missing"),
        (forecast("AAPL", "yfinance", 0.5, None), "resolution_date of yfinance AAPL is missing"),
        (forecast("AAPL", "yfinance", 0.5, ["2026-07-26"]), "resolution_date is ['2026-07-26']; write a date"),
        ({"id": "0012", "forecast": 0.5}, "source of 0012 is missing"),
        ({"id": None, "forecast": 0.5, "source": "infer"}, "id is missing; write a text"),
    ],
)
def test_what_cannot_be_joined_is_a_bad_row(tmp_path: Path, resolutions: str, row: dict[str, Any], reason: str) -> None:
    found = read_forecasts(read_sets([forecasts(tmp_path, [row]), resolutions], None).table())
    (bad,) = found.file.bad_rows
    assert bad.number == 1 and bad.reason.startswith(reason)


def test_a_forecast_that_names_neither_source_nor_date_is_joined_where_only_one_can_be_meant(
    tmp_path: Path, resolutions: str
) -> None:
    path = forecasts(tmp_path, [{"id": "unasked", "forecast": 0.25}], forecast_due_date=None, question_set=None)
    assert said(read_forecasts(read_sets([path, resolutions], None).table())) == [("polymarket unasked", 0.25, 0.0)]


def test_before_anything_has_resolved_all_is_open(tmp_path: Path) -> None:
    nothing = write(tmp_path, "r.json", "resolutions", [])
    rows = [*FORECASTS, {"id": "0012", "source": "infer", "user_id": None}]
    found = read_forecasts(read_sets([forecasts(tmp_path, rows), nothing], None).table())
    assert found.n_open == {"m": 6}
    assert [bad.reason for bad in found.file.bad_rows] == [
        "probability is missing; write a number from 0 to 1, such as 0.7"
    ]


def test_a_row_of_a_resolution_set_that_says_nothing_costs_its_question(tmp_path: Path) -> None:
    rows = [resolution("0012", "infer", "2026-08-01", 1.0), resolution("0012", "manifold", "2026-08-01", 7.0)]
    other = write(tmp_path, "r.json", "resolutions", [*rows, {"id": "x"}, {"source": "infer", "resolved": True}])
    file = read_sets([forecasts(tmp_path, FORECASTS[3:5]), other], None).table()
    assert said(read_forecasts(file)) == [("infer 0012", 0.9, 1.0), ("manifold 0012", 0.2, None)]
    assert file.remarks[0].count("r.json, row ") == 3 and "row 2: resolved_to is 7.0" in file.remarks[0]


def test_sets_that_do_not_belong_together_are_refused_in_a_line(tmp_path: Path, resolutions: str) -> None:
    other = write(tmp_path, "o.json", "resolutions", RESOLUTIONS, forecast_due_date="2026-08-02")
    (tmp_path / "rows.json").write_text('[{"id": "a"}]')
    for paths, message in (
        ([forecasts(tmp_path)], "comes without resolutions. Give 2026-07-19_resolution_set.json beside it"),
        ([forecasts(tmp_path), other], "comes without resolutions. Give 2026-07-19_resolution_set.json beside it"),
        ([resolutions], "no forecast set is among the files. Give one beside its resolution set"),
        ([str(tmp_path / "rows.json")], "is no set of ForecastBench"),
    ):
        with pytest.raises(UsageError) as refused:
            read_sets(paths, None).table()
        assert message in str(refused.value)


def test_the_command_scores_sets_by_kind_of_question(tmp_path: Path, resolutions: str) -> None:
    asked = ("score", forecasts(tmp_path), resolutions, "--resamples", "100")
    document = said_here(*asked, "--format", "forecastbench", "--json").document
    assert (document["rows"], document["open"], document["n_bad_rows"]) == (6, 2, 0)
    (bot,) = document["bots"]
    # All together: (0.1^2 + 0.2^2 + 0.3^2 + 0.6^2) / 4.
    assert (bot["bot"], bot["brier"], bot["void"]) == ("m", pytest.approx(0.125), 0)
    by_kind = {each["group"]: each["brier"] for each in document["by_category"]}
    assert by_kind == {"market": pytest.approx(0.025), "dataset": pytest.approx(0.225)}
    assert "give one, or sets of ForecastBench with --format forecastbench" in said_here(*asked).err
    assert "leave --columns, --wide, --equity out" in said_here(*asked, "--format", "forecastbench", "--wide").err
