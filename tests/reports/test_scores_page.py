"""The page of scores: it names everything that an evaluation says, so that no number is without a meaning."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from predibot.domain.sizing import SIZINGS
from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring import CONVENTIONS
from predibot.scoring.evaluation.evaluation import PARTINGS
from predibot.scoring.inference.uncertainty import CORRECTED
from tests.reports.made_evaluation import made_evaluation

PAGE = (Path(__file__).parents[2] / "docs" / "scores.md").read_text(encoding="utf-8")


def keys_of(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        for key, value in document.items():
            yield key
            yield from keys_of(value)
    elif isinstance(document, list):
        for each in document:
            yield from keys_of(each)


def test_every_key_of_the_document_is_explained() -> None:
    named = set(re.findall(r"`(\w+)`", PAGE))
    horizons = {"1", "7"}
    assert set(keys_of(evaluation_document(made_evaluation()))) - horizons - named == set()


def test_every_convention_part_and_sizing_is_explained() -> None:
    words = set(re.findall(r"\w+", PAGE))
    assert {*CONVENTIONS, *PARTINGS, *SIZINGS} <= words
    assert CORRECTED in PAGE
