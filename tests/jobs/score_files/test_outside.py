"""Scores from outside: a small file of a user, read in a process of its own."""

from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.outside import read_outside_scores


def test_the_name_of_the_score_is_that_of_its_column(tmp_path: Path) -> None:
    file = tmp_path / "arena.csv"
    file.write_text("bot,arena\nx,1400\ny,-3.5\n", encoding="utf-8")
    found = read_outside_scores(str(file), None)
    assert (found.name, found.by_bot) == ("arena", {"x": 1400.0, "y": -3.5})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("bot,arena\nx,1\nx,2\n", "line 3: bot 'x' is there twice"),
        ("bot,arena\nx,nan\n", "line 2: arena is"),
        ("bot,arena\nx,inf\n", "line 2: arena is 'inf'"),
        ("bot,arena\nx,\n", "line 2: arena is missing"),
        ("bot,elo,votes\nx,1,2\n", "give it `bot` and `score`"),
        ("name,arena\nx,1\n", "give it `bot` and `score`"),
        ("bot,arena\n", "has no row"),
    ],
)
def test_what_is_no_score_is_refused_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        read_outside_scores(str(file), None)
