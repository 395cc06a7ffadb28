"""An evaluation as CSV: texts of others are no formulas; its columns are in the golden files."""

import csv
import io
from dataclasses import replace

import pytest

from predibot.reports.views.evaluation import evaluation_csv
from predibot.scoring.evaluation.evaluation import PARTINGS, Evaluation, Question
from tests.reports.views_of import AS_OF, card, evaluation


def rows_of(found: Evaluation) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(evaluation_csv(found))))


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


@pytest.mark.parametrize("grouping", [None, *PARTINGS])
def test_of_nothing_there_is_a_header_and_no_row(grouping: str | None) -> None:
    found = Evaluation(AS_OF, (), (), replace(Question(), grouping=grouping))
    assert (rows_of(found), evaluation_csv(found)) == ([], "bot\n")
