"""Layouts: anybody's file under the names its columns have, and files with a column a forecaster."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.forecasts import ForecastFile, Layout, read_forecasts
from predibot.jobs.score_files.table import TableFormat, read_table_file

LONG = "qid,p_aia,p_mkt,y,note\nq1,0.7,0.6,1,x\nq2,0.2,0.3,0,y\n"
WIDE = "qid,y,gpt,human,price\nq1,1,0.7,0.6,0.5\nq2,0,0.2,,0.4\nq3,,0.9,0.8,0.5\n"
NAMED = {"qid": "question", "y": "outcome"}


def found(folder: Path, text: str, layout: Layout) -> ForecastFile:
    """Read a CSV file."""
    (folder / "f.csv").write_text(text, encoding="utf-8")
    return read_forecasts(read_table_file(str(folder / "f.csv"), None, None), layout)


def said(file: ForecastFile) -> list[tuple[str, str, float, float | None]]:
    """Return who said what of which question, and its outcome."""
    return [(each.forecaster, each.question, each.probability, each.outcome) for each in file.said]


def test_columns_are_taken_by_the_names_they_have_and_a_lone_forecaster_is_its_column(tmp_path: Path) -> None:
    layout = Layout({**NAMED, "p_aia": "probability", "p_mkt": "market_probability"})
    file = found(tmp_path, LONG, layout)
    assert said(file) == [("p_aia", "q1", 0.7, 1.0), ("p_aia", "q2", 0.2, 0.0)]
    assert [each.market_probability for each in file.said] == [0.6, 0.3]


def test_a_column_that_is_named_wins_over_one_that_has_the_name(tmp_path: Path) -> None:
    text = "forecaster,question,probability,p,outcome\na,q1,0.1,0.9,1\n"
    assert said(found(tmp_path, text, Layout({"p": "probability"}))) == [("a", "q1", 0.9, 1.0)]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_in_a_wide_file_each_column_is_a_forecaster_and_an_empty_cell_is_silence(tmp_path: Path, kind: str) -> None:
    header, *lines = [line.split(",") for line in WIDE.split()]
    values = [
        [cell if place == 0 else float(cell) if cell else None for place, cell in enumerate(row)] for row in lines
    ]
    rows = [dict(zip(header, row, strict=True)) for row in values]
    path = tmp_path / f"f.{kind}"
    if kind == "csv":
        path.write_text(WIDE, encoding="utf-8")
    elif kind == "jsonl":
        path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    layout = Layout({**NAMED, "price": "market_probability"}, wide=True)
    file = read_forecasts(read_table_file(str(path), None, None), layout)
    assert said(file) == [
        ("gpt", "q1", 0.7, 1.0),
        ("human", "q1", 0.6, 1.0),
        ("gpt", "q2", 0.2, 0.0),
        ("gpt", "q3", 0.9, None),
        ("human", "q3", 0.8, None),
    ]
    assert [each.market_probability for each in file.said] == [0.5, 0.5, 0.4, 0.5, 0.5]
    assert file.n_open == {"gpt": 1, "human": 1}


def test_only_columns_that_are_named_forecasters_are(tmp_path: Path) -> None:
    layout = Layout({**NAMED, "gpt": "probability", "human": "probability"}, wide=True)
    assert found(tmp_path, WIDE, layout).forecasters == ("gpt", "human")


def test_a_bad_cell_of_a_wide_file_spoils_no_other_of_its_line(tmp_path: Path) -> None:
    text = "question,outcome,a,b\nq1,1,70%,0.5\n,1,0.1,0.2\nq2,0,0.4,0.5\nq2,0,,0.6\n"
    file = found(tmp_path, text, Layout(wide=True))
    assert said(file) == [("b", "q1", 0.5, 1.0), ("a", "q2", 0.4, 0.0), ("b", "q2", 0.5, 0.0)]
    assert [(bad.number, bad.reason.partition(" in line")[0]) for bad in file.bad_rows] == [
        (2, "probability is '70%'; write a number from 0 to 1, such as 0.7"),
        (3, "question is empty; write a text"),
        (5, "forecaster 'b' answered question 'q2'"),
    ]


def test_all_of_a_wide_line_is_dropped_whose_question_ended_in_two_ways(tmp_path: Path) -> None:
    file = found(tmp_path, "question,outcome,a,b\nq1,1,0.7,0.5\nq1,0,,0.5\nq2,1,0.5,0.5\n", Layout(wide=True))
    assert {each.question for each in file.said} == {"q2"}
    assert file.n_bad_rows == 3


@pytest.mark.parametrize(
    ("text", "named", "wide", "message"),
    [
        (LONG, {"p_aia": "probabilty"}, False, "p_aia=probabilty: no column 'probabilty'. Did you mean 'probability'?"),
        (LONG, {**NAMED, "p_ai": "probability"}, False, "f.csv has no column 'p_ai'. Did you mean 'p_aia'?"),
        (LONG, {"p_aia": "probability", "p_mkt": "probability"}, False, "--wide takes a column a forecaster"),
        (LONG, {"y": "outcome", "p_mkt": "outcome"}, True, "2 columns are said to be outcome. Name one"),
        (LONG, {"note": "forecaster"}, True, "a wide file names its forecasters in the header"),
        (LONG, {"y": "outcome"}, False, "f.csv has no column forecaster, question, probability"),
        (LONG, {"y": "outcome"}, True, "f.csv has no column question"),
        ("question,outcome\nq,1\n", {}, True, "f.csv has no column of a forecaster beside question, outcome"),
        ('{"question": \n', {}, True, "its first row cannot be read"),
    ],
)
def test_a_layout_that_does_not_fit_is_an_error_that_says_why(
    tmp_path: Path, text: str, named: dict[str, str], wide: bool, message: str
) -> None:
    (tmp_path / "f.csv").write_text(text, encoding="utf-8")
    kind: TableFormat | None = "jsonl" if text.startswith("{") else None
    with pytest.raises(UsageError) as refused:
        read_forecasts(read_table_file(str(tmp_path / "f.csv"), kind, None), Layout(named, wide=wide))
    assert message in str(refused.value)
