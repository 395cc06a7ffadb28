"""Forecast files: what anybody's forecasters said, and the rows that cannot be counted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.jobs.score_files.forecasts import read_forecasts
from tests.jobs.tables import HEADER, csv_of, jsonl_of, parquet_of


def test_the_same_rows_are_the_same_forecasts_in_every_format() -> None:
    rows = [
        {"forecaster": "ann", "question": "q1", "probability": 0.9, "outcome": 1, "market_probability": 0.6},
        {"forecaster": "bob", "question": "q1", "probability": 0.25, "outcome": 1, "market_probability": None},
        {"forecaster": "ann", "question": "q2", "probability": 1e-3, "outcome": None, "market_probability": 0.0},
    ]
    as_csv = f"{HEADER},market_probability\nann,q1,0.9,1,0.6\nbob,q1,0.25,1,\nann,q2,1e-3,,0.0\n"
    files = (csv_of(as_csv), jsonl_of(*rows), parquet_of({name: [row[name] for row in rows] for name in rows[0]}))
    for file in files:
        found = read_forecasts(file)
        settled = found.to_arrays()
        assert (settled.forecasters, settled.forecaster.tolist()) == (("ann", "bob"), [0, 1])
        assert settled.probability.tolist() == [0.9, 0.25]
        assert settled.market_probability.tolist() == pytest.approx([0.6, np.nan], nan_ok=True)
        assert (found.file.rows, found.n_open, found.n_void, found.file.bad_rows) == (3, {"ann": 1}, {}, ())


def test_a_forecast_counts_whose_optional_columns_say_nothing_in_any_programs_words() -> None:
    rows = [
        '{"forecaster": "a", "question": "q1", "probability": 0.7, "outcome": true, "market_probability": NaN}',
        '{"forecaster": "a", "question": "q2", "probability": 0.2, "outcome": "NaN", "category": "NA", "date": "NaT"}',
        '{"forecaster": "a", "question": ["q3", "q4"], "probability": 0.2, "outcome": "No", "cluster": "None"}',
        '{"forecaster": "a", "question": "q5", "probability": "NA", "outcome": 0}',
    ]
    found = read_forecasts(jsonl_of(*rows))
    assert [(said.question, said.outcome) for said in found.forecasts] == [("q1", 1), ("q2", None), ('["q3", "q4"]', 0)]
    assert all((said.cluster, said.category, said.at) == (None, None, None) for said in found.forecasts)
    (bad,) = found.file.bad_rows
    assert bad.reason == "probability is missing; write a number from 0 to 1, such as 0.7"


def test_open_and_void_forecasts_are_counted_and_not_scored() -> None:
    found = read_forecasts(csv_of(f"{HEADER}\nann,q1,0.9,\nann,q2,0.9,0.5\nbob,q2,0.9,0.5\nbob,q3,0.9,0\n"))
    assert (found.n_open, found.n_void) == ({"ann": 1}, {"ann": 1, "bob": 1})
    settled = found.to_arrays()
    assert (settled.forecasters, settled.forecaster.tolist(), settled.outcome.tolist()) == (("ann", "bob"), [1], [0.0])


def test_bad_rows_are_told_with_line_and_reason_and_the_rest_is_kept() -> None:
    text = (
        f'{HEADER}\nann,q1,70%,1\nann,"q\n2",0.7,1\n,q3,0.7,1\nann,q4,0.7,won\nann,,0.7,1\nann,q5,nan,1\nann,q6,2,0\n'
    )
    found = read_forecasts(csv_of(text))
    assert [(row.number, row.reason.split(";")[0]) for row in found.file.bad_rows] == [
        (2, "probability is '70%'"),
        (5, "forecaster is missing"),
        (6, "outcome is 'won'"),
        (7, "question is missing"),
        (8, "probability is missing"),
        (9, "probability is '2'"),
    ]
    assert [(said.number, said.question) for said in found.forecasts] == [(3, "q\n2")]
    assert found.file.rows == 7


def test_who_answers_the_same_twice_is_counted_once_and_dates_are_other_occasions() -> None:
    text = f"{HEADER},date\nann,q1,0.9,1,2026-03-01\nann,q1,0.8,1,2026-03-02\nann,q1,0.7,1,2026-03-01T00:00Z\n"
    found = read_forecasts(csv_of(text))
    assert [said.probability for said in found.forecasts] == [0.9, 0.8]
    (bad,) = found.file.bad_rows
    assert bad.number == 4 and "answered question 'q1' in line 2 already" in bad.reason


def test_a_question_that_ended_in_two_ways_is_bad_in_all_its_rows() -> None:
    found = read_forecasts(csv_of(f"{HEADER}\nann,q1,0.9,1\nann,q2,0.9,1\nbob,q1,0.8,0\ncat,q1,0.7,0.5\n"))
    assert [said.question for said in found.forecasts] == ["q2"]
    assert [(row.number, row.reason.split(";")[0]) for row in found.file.bad_rows] == [
        (2, "outcome of question 'q1' is 1 here and 0 in line 4"),
        (4, "outcome of question 'q1' is 0 here and 1 in line 2"),
        (5, "outcome of question 'q1' is 0.5 here and 1 in line 2"),
    ]


def test_a_cluster_and_a_question_of_the_same_name_are_two_things() -> None:
    text = f"{HEADER},cluster,category\nann,a,0.9,1,b,sport\nann,b,0.9,1,,\nann,c,0.9,0,b,sport\n"
    settled = read_forecasts(csv_of(text)).to_arrays()
    assert settled.cluster.tolist() == [1, 0, 1]
    assert settled.category is not None
    assert [settled.categories[row] for row in settled.category] == ["sport", "no category", "sport"]


def test_without_clusters_the_dates_of_a_question_stay_together() -> None:
    text = f"{HEADER},date\nann,a,0.9,1,2026-03-01\nann,a,0.9,1,2026-03-02\nbob,a,0.9,1,2026-03-01\nann,b,0.9,1,\n"
    settled = read_forecasts(csv_of(text)).to_arrays()
    assert settled.question.tolist() == [0, 1, 0, 2]
    assert settled.cluster.tolist() == [0, 0, 0, 1]
    assert settled.category is None


_CELLS = st.sampled_from(["", "a", "b", "0", "1", "0.5", "nan", '"', ",", "70%", "\x1b[31m", "é"])


@given(st.lists(st.lists(_CELLS, min_size=4, max_size=4), max_size=12))
def test_every_row_is_kept_or_told_and_none_is_changed(rows: list[list[str]]) -> None:
    text = "\n".join(",".join(f'"{cell.replace(chr(34), chr(34) * 2)}"' for cell in row) for row in rows)
    found = read_forecasts(csv_of(f"{HEADER}\n{text}\n"))
    numbers = [said.number for said in found.forecasts] + [row.number for row in found.file.bad_rows]
    assert sorted(numbers) == [at for at, row in enumerate(rows, start=2) if any(map(str.strip, row))]
    for said in found.forecasts:
        forecaster, question, probability, outcome = rows[said.number - 2]
        assert (said.forecaster, said.question, said.probability) == (forecaster, question, float(probability))
        assert said.outcome == (float(outcome) if outcome not in ("", "nan") else None)
