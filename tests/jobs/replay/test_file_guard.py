"""The seal on a folder: who reads it meanwhile is found out."""

import os
from pathlib import Path

import pytest

from predibot.jobs.replay.look_ahead_check import Seal, SealBroken


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a file, and another beside it whose name begins the same."""
    for name in ("kept", "kept_beside"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text("text")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    return tmp_path


def test_whatever_way_python_opens_it_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    ways = [
        lambda: (folder / "kept" / "file").read_text(),
        lambda: Path("kept/file").read_bytes(),
        lambda: (folder / "link" / "file").read_text(),
        lambda: os.open(os.fsencode(folder / "kept" / "file"), os.O_RDONLY),
        lambda: list((folder / "kept").iterdir()),
        lambda: list(os.scandir("kept")),
    ]
    with Seal(folder / "kept"):
        for way in ways:
            with pytest.raises(SealBroken, match="was opened by the strategy itself"):
                way()


def test_what_lies_elsewhere_can_be_read(folder: Path) -> None:
    with Seal(folder / "kept"):
        assert (folder / "kept_beside" / "file").read_text() == "text"
        with (folder / "new").open("w") as file:
            assert file.write("text") == 4


def test_a_broken_seal_lets_everything_through_and_may_be_renewed(folder: Path) -> None:
    seal = Seal(folder / "kept")
    assert (folder / "kept" / "file").read_text() == "text"
    for _ in range(2):
        with seal, pytest.raises(SealBroken):
            (folder / "kept" / "file").read_text()
        assert (folder / "kept" / "file").read_text() == "text"
