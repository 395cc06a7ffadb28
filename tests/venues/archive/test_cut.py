"""The cut of an archive: the same up to an instant, and nothing after it."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from predibot.domain.price import Instrument
from predibot.errors import UsageError
from predibot.venues.archive.reader import Archive, write_cut
from tests.jobs.tiny import DAY, PRICES, at, paid, write_archive
from tests.venues.payloads import NOW, condition_of

CUT_AT = NOW + timedelta(days=4, hours=1)
INSTANTS = [NOW, NOW + DAY, NOW + 3 * DAY, CUT_AT]


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    """Return an archive of three days of snapshots and ten of prices."""
    return write_archive(tmp_path / "whole")


def cut_of(folder: Path, instant: datetime) -> Path:
    into = folder.with_name(f"cut-{at(instant)}")
    into.mkdir()
    write_cut(folder, into, instant)
    return into


def said(folder: Path, instant: datetime) -> object:
    """Return everything an archive says as of an instant."""
    archive = Archive(folder)
    page = archive.events(instant)
    refs = [market.ref for event in page.events for market in event.markets]
    instruments = [Instrument("polymarket", "binary_outcome", str(10 * number)) for number in PRICES]
    paths = [archive.price_path(each, start=NOW - 30 * DAY, until=instant) for each in instruments]
    return page, paths, archive.resolutions(refs, as_of=instant)


@pytest.mark.parametrize("instant", INSTANTS)
def test_up_to_its_instant_a_cut_says_what_the_whole_says(whole: Path, instant: datetime) -> None:
    assert said(cut_of(whole, CUT_AT), instant) == said(whole, instant)


@pytest.mark.parametrize("instant", INSTANTS)
def test_nothing_in_a_cut_is_later_than_its_instant(whole: Path, instant: datetime) -> None:
    cut = cut_of(whole, instant)
    assert instant - DAY < Archive(cut).known_until() <= instant
    assert Archive(whole).known_until() == NOW + 10 * DAY
    later = [point for path in (cut / "prices").iterdir() for point in json.loads(path.read_text())["history"]]
    assert all(point["t"] <= at(instant) for point in later)
    assert later


def test_a_correction_that_was_not_known_yet_is_gone_and_the_first_revision_stays(whole: Path) -> None:
    known = json.loads((cut_of(whole, NOW + 6 * DAY) / "resolutions.json").read_text())
    assert sorted(known) == [condition_of(1), condition_of(2), condition_of(22)]
    assert known[condition_of(22)] == [paid(5, 0.0)]


def test_a_cut_at_the_end_is_the_whole(whole: Path) -> None:
    end = Archive(whole).known_until()
    assert said(cut_of(whole, end), end) == said(whole, end)


def test_what_cannot_be_read_is_taken_over_as_it_is(whole: Path) -> None:
    (whole / "prices" / "10.json").write_text("{ not JSON")
    resolutions = json.loads((whole / "resolutions.json").read_text())
    (whole / "resolutions.json").write_text(json.dumps({**resolutions, condition_of(1): "it won"}))
    cut = cut_of(whole, NOW)
    assert (cut / "prices" / "10.json").read_text() == "{ not JSON"
    assert json.loads((cut / "resolutions.json").read_text()) == {condition_of(1): "it won"}
    assert Archive(whole).known_until() == NOW + 10 * DAY


def test_the_archive_itself_stays_as_it_is(whole: Path) -> None:
    def contents() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in sorted(whole.rglob("*.json"))}

    before = contents()
    cut = cut_of(whole, NOW)
    for path in sorted(cut.rglob("*.json"), reverse=True):
        path.unlink()
    assert contents() == before


def test_a_folder_that_cannot_be_written_is_said(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="cannot be written"):
        write_cut(whole, tmp_path / "file", NOW)
