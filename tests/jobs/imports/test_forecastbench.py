"""Importing ForecastBench: forecasts of its sets on markets as decisions of a ledger, and how these were settled.

The sets have the form of forecastingresearch/forecastbench-datasets; what they say is made up.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import said_here

DUE = "2026-07-19"


def write(name: str, kind: str, rows: list[dict[str, Any]], **said: Any) -> None:
    Path(name).write_text(json.dumps({"forecast_due_date": DUE, **said, kind: rows}, indent=4))


def resolution(name: str, to: float, resolved: bool = True, date: str = "2026-08-01") -> dict[str, Any]:
    return {"id": name, "source": "infer", "resolution_date": date, "resolved_to": to, "resolved": resolved}


@pytest.fixture(autouse=True)
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be in a folder with three sets."""
    monkeypatch.chdir(tmp_path)
    write_sets("f.json", "q.json", "r.json")


def write_sets(forecasts: str, questions: str, resolutions: str) -> None:
    """Write a forecast set, a question set and a resolution set."""
    said = (("a", 0.9), ("b", 0.2), ("c", 0.5), ("d", 0.5), ("a", 0.8), (["a", "b"], 0.3))
    rows: list[dict[str, Any]] = [{"id": name, "source": "infer", "forecast": p} for name, p in said]
    rows += [{"id": "AAPL", "source": "yfinance", "forecast": 0.6, "resolution_date": "2026-07-26"}]
    write(forecasts, "forecasts", rows, organization="Acme", model="m 1")
    asked = [
        {"id": name, "source": "infer", "question": f"Will {name}?", "freeze_datetime_value": price}
        for name, price in (("a", "0.7"), ("b", "0.3"), ("c", "0.5"), ("d", "N/A"))
    ]
    asked += [{"id": "AAPL", "source": "yfinance", "question": "Up?", "freeze_datetime_value": "212.3"}]
    for each in asked:
        each["freeze_datetime"] = "2026-07-09T00:00:00+00:00"
    write(questions, "questions", asked)
    write(resolutions, "resolutions", [resolution("a", 1.0), resolution("b", 0.4, resolved=False)])


def test_forecasts_on_markets_become_decisions_and_what_has_no_price_is_counted() -> None:
    shown = said_here("import", "forecastbench", "f.json", "q.json", "r.json")
    assert (shown.code, shown.out.splitlines()) == (
        0,
        [
            "read: 3 decisions, 3 forecasts, 1 bot, 3 events, 0 notes, in 1 file",
            "stored: 3 decisions with 3 forecasts in 1 new run",
            "left out: 1 on combinations of questions",
            "left out: 1 on markets without a price",
            "left out: 1 a second forecast of the same",
            "left out: 1 on series of data, which have no price",
            "settled: 1 new resolution",
        ],
    )
    found = said_here("evaluate", "--resamples", "100", "--json").document
    (bot,) = found["bots"]
    # Of what is settled: 0.1^2 beside a price 0.3 away.
    assert (bot["bot"], bot["brier"], bot["market_brier"]) == ("m-1", pytest.approx(0.01), pytest.approx(0.09))
    assert said_here("verify", "--rows", "--json").document["broken"] == []
    questions = said_here("export", "--table", "forecasts").out
    assert [json.loads(line)["probability"] for line in questions.splitlines()] == [0.9, 0.2, 0.5]


def test_a_later_resolution_set_settles_what_is_there() -> None:
    said_here("import", "forecastbench", "f.json", "q.json", "r.json")
    write("r.json", "resolutions", [resolution("a", 1.0), resolution("b", 0.0, date="2026-09-01")])
    again = said_here("import", "--format", "forecastbench", "f.json", "q.json", "r.json", "--json").document
    assert (again["stored_decisions"], again["known_decisions"], again["resolutions"]) == (0, 3, 1)
    once_more = said_here("import", "f.json", "q.json", "r.json", "--format", "forecastbench", "--json").document
    assert once_more["resolutions"] == 0


def test_sets_without_a_price_are_an_error_that_says_what_is_missing() -> None:
    shown = said_here("import", "forecastbench", "f.json", "r.json")
    assert (shown.code, shown.out) == (1, "")
    assert "on markets without a price" in shown.err and "Give the question set, which has prices" in shown.err


def test_nobody_can_decide_on_forecastbench() -> None:
    said_here("init", "--model", "none")
    shown = said_here("decide", "daily", "--venue", "forecastbench")
    assert shown.code != 0 and "predibot import forecastbench" in shown.err
