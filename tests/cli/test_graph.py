"""`predibot graph`: the picture is written, and what it shows is told."""

from pathlib import Path

from predibot.domain.clock import format_instant
from tests.acceptance.conftest import Predibot
from tests.jobs.relatedness.related_world import write_related
from tests.venues.payloads import NOW


def test_an_archive_is_drawn_into_a_file(predibot: Predibot, tmp_path: Path) -> None:
    archive, file = str(write_related(tmp_path / "archive")), tmp_path / "g.svg"
    asked = ("graph", "--archive", archive, "--no-filters", "--as-of", "2026-05-24T19:30Z", "--svg", str(file))
    told = predibot(*asked)
    assert told.code == 0 and "in 4 groups. Drawn into" in " ".join(told.out.split())
    assert file.read_text("utf-8").startswith("<svg")
    found = predibot(*asked, "--chain", "1,3", "--json").document
    assert list(found) == [
        "as_of", "events", "edges", "groups", "chain", "longest_chains", "at_least", "markets", "left_out", "news",
    ]  # fmt: skip
    assert found["chain"][0] == "1" and len(found["groups"]) == 4 and found["news"] == []


def test_nothing_related_is_said_and_not_drawn(predibot: Predibot, tmp_path: Path) -> None:
    archive, file = str(write_related(tmp_path / "archive")), tmp_path / "g.svg"
    # On the first day nothing has jumped, so S is below 1.
    asked = (
        "--archive",
        archive,
        "--at-least",
        "1",
        "--as-of",
        format_instant(NOW),
        "--no-filters",
        "--svg",
        str(file),
    )
    told = predibot("graph", *asked)
    assert told.code == 0 and "There is nothing to draw." in " ".join(told.out.split()) and not file.exists()
