"""Layouts: anybody's file under the names its columns have, and files with a column a forecaster."""

import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.forecasts import ForecastFile, Layout, read_forecasts
from tests.jobs.tables import csv_of

LONG = "qid,p_aia,p_mkt,y,note\nq1,0.7,0.6,1,x\nq2,0.2,0.3,0,y\n"
WIDE = "qid,y,gpt,human,price\nq1,1,0.7,0.6,0.5\nq2,0,0.2,,0.4\nq3,,0.9,0.8,0.5\n"
NAMED = {"qid": "question", "y": "outcome"}


def found(text: str, layout: Layout) -> ForecastFile:
    return read_forecasts(csv_of(text), layout)


def said(file: ForecastFile) -> list[tuple[str, str, float, float | None]]:
    """Return who said what of which question, and its outcome."""
    return [(each.forecaster, each.question, each.probability, each.outcome) for each in file.forecasts]


def test_columns_are_taken_by_the_names_they_have_and_a_lone_forecaster_is_its_column() -> None:
    layout = Layout({**NAMED, "p_aia": "probability", "p_mkt": "market_probability"})
    file = found(LONG, layout)
    assert said(file) == [("p_aia", "q1", 0.7, 1.0), ("p_aia", "q2", 0.2, 0.0)]
    assert [each.market_probability for each in file.forecasts] == [0.6, 0.3]


def test_a_column_that_is_named_wins_over_one_that_has_the_name() -> None:
    text = "forecaster,question,probability,p,outcome\na,q1,0.1,0.9,1\n"
    assert said(found(text, Layout({"p": "probability"}))) == [("a", "q1", 0.9, 1.0)]


def test_in_a_wide_file_each_column_is_a_forecaster_and_an_empty_cell_is_silence() -> None:
    file = found(WIDE, Layout({**NAMED, "price": "market_probability"}, wide=True))
    assert said(file) == [
        ("gpt", "q1", 0.7, 1.0),
        ("human", "q1", 0.6, 1.0),
        ("gpt", "q2", 0.2, 0.0),
        ("gpt", "q3", 0.9, None),
        ("human", "q3", 0.8, None),
    ]
    assert [each.market_probability for each in file.forecasts] == [0.5, 0.5, 0.4, 0.5, 0.5]
    assert file.n_open == {"gpt": 1, "human": 1}


def test_only_columns_that_are_named_forecasters_are() -> None:
    layout = Layout({**NAMED, "gpt": "probability", "human": "probability"}, wide=True)
    assert found(WIDE, layout).forecasters == ("gpt", "human")


def test_a_bad_cell_of_a_wide_file_spoils_no_other_of_its_line() -> None:
    text = "question,outcome,a,b\nq1,1,70%,0.5\n,1,0.1,0.2\nq2,0,0.4,0.5\nq2,0,,0.6\n"
    file = found(text, Layout(wide=True))
    assert said(file) == [("b", "q1", 0.5, 1.0), ("a", "q2", 0.4, 0.0), ("b", "q2", 0.5, 0.0)]
    assert [(bad.number, bad.reason.partition(" in line")[0]) for bad in file.file.bad_rows] == [
        (2, "probability is '70%'; write a number from 0 to 1, such as 0.7"),
        (3, "question is missing; write a text"),
        (5, "forecaster 'b' answered question 'q2'"),
    ]


def test_all_of_a_wide_line_is_dropped_whose_question_ended_in_two_ways() -> None:
    file = found("question,outcome,a,b\nq1,1,0.7,0.5\nq1,0,,0.5\nq2,1,0.5,0.5\n", Layout(wide=True))
    assert {each.question for each in file.forecasts} == {"q2"}
    assert file.file.n_bad_rows == 3


@pytest.mark.parametrize(
    ("text", "named", "wide", "message"),
    [
        (LONG, {"p_aia": "probabilty"}, False, "p_aia=probabilty: no column 'probabilty'. Did you mean 'probability'?"),
        (LONG, {**NAMED, "p_ai": "probability"}, False, "some.csv has no column 'p_ai'. Did you mean 'p_aia'?"),
        (LONG, {"p_aia": "probability", "p_mkt": "probability"}, False, "--wide takes a column a forecaster"),
        (LONG, {"y": "outcome", "p_mkt": "outcome"}, True, "2 columns are said to be outcome. Name one"),
        (LONG, {"note": "forecaster"}, True, "a wide file names its forecasters in the header"),
        (LONG, {"y": "outcome"}, False, "some.csv has no column forecaster, question, probability"),
        (LONG, {"y": "outcome"}, True, "some.csv has no column question"),
        ("question,outcome\nq,1\n", {}, True, "some.csv has no column of a forecaster beside question, outcome"),
    ],
)
def test_a_layout_that_does_not_fit_is_an_error_that_says_why(
    text: str, named: dict[str, str], wide: bool, message: str
) -> None:
    with pytest.raises(UsageError) as refused:
        found(text, Layout(named, wide=wide))
    assert message in str(refused.value)
