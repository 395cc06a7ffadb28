"""A whole file: there when all of it is written, not at all where that fails, and never behind a link."""

from pathlib import Path

import pytest

from predibot.whole_file import whole_file


def test_a_file_that_fails_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError), whole_file(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("a", "before")]


@pytest.mark.parametrize("durable", [False, True])
def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path, durable: bool) -> None:
    (tmp_path / "mine").write_text("mine")
    path = tmp_path / "a"
    path.symlink_to(tmp_path / "mine")
    with whole_file(path, durable=durable) as file:
        file.write(b"whole")
        assert path.read_text() == "mine"
    assert (path.is_symlink(), path.read_text(), (tmp_path / "mine").read_text()) == (False, "whole", "mine")
