"""A whole file: there when all of it is written, not at all where that fails, and never behind a link."""

import os
from pathlib import Path

import pytest

from predibot.whole_file import remove_unfinished_files, whole_file


def test_a_file_that_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a", "before")]


@pytest.mark.parametrize("name", ["folder", "missing/a"])
def test_a_file_that_cannot_be_written_is_named_as_it_was_asked_for(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match=f"'{tmp_path / name}'$") as failed, whole_file(tmp_path / name) as file:
        file.write(b"whole")
    assert failed.value.filename == str(tmp_path / name)


@pytest.mark.parametrize("durable", [False, True])
def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path, durable: bool) -> None:
    (tmp_path / "mine").write_text("mine")
    path = tmp_path / "a"
    path.symlink_to(tmp_path / "mine")
    with whole_file(path, durable=durable) as file:
        file.write(b"whole")
        assert path.read_text() == "mine"
    assert (path.is_symlink(), path.read_text(), (tmp_path / "mine").read_text()) == (False, "whole", "mine")


def test_what_killed_ones_left_is_cleared_and_what_is_being_written_or_is_somebody_elses_stays(tmp_path: Path) -> None:
    left = f".unfinished-{'0' * 32}"
    for name in (left, f"{left}-wal", f"{left}-shm", ".unfinished-mine", ".unfinished-", "unfinished-1"):
        (tmp_path / name).write_text("left")
    (tmp_path / f".unfinished-{'1' * 32}").mkdir()
    os.mkfifo(tmp_path / f".unfinished-{'2' * 32}")
    (tmp_path / f".unfinished-{'3' * 32}").symlink_to(tmp_path / "unfinished-1")
    with whole_file(tmp_path / "a") as file:
        remove_unfinished_files(tmp_path)
        file.write(b"whole")
    assert (tmp_path / "a").read_text() == "whole"
    left_over = {path.name[:13] for path in tmp_path.iterdir()}
    assert left_over == {
        "a",
        ".unfinished-",
        ".unfinished-m",
        ".unfinished-1",
        ".unfinished-2",
        ".unfinished-3",
        "unfinished-1",
    }
