"""Writing archives: whole or not at all, and merged without losing what was known."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from predibot.domain.event import MarketRef
from predibot.domain.price import Instrument
from predibot.domain.resolution import Resolution
from predibot.errors import UsageError, VenueChanged
from predibot.venues.archive.layout import read_series
from predibot.venues.archive.reader import Archive
from predibot.venues.archive.writer import merge_history, merge_resolutions, write_snapshot
from tests.venues.payloads import NOW, condition_of, event_payload, history_of

DAY = timedelta(days=1)
SECOND = int(NOW.timestamp())


def files(folder: Path) -> list[str]:
    """Return the files and folders of an archive."""
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def paid(yes: float, **changes: object) -> Resolution:
    """Return a resolution the venue states for now."""
    return replace(Resolution(yes, NOW, "venue", NOW), **changes)  # type: ignore[arg-type] # any field


def test_a_snapshot_is_read_back_verbatim(tmp_path: Path) -> None:
    payloads = [event_payload(1, anything="ü\ud800"), event_payload(2)]
    place = write_snapshot(tmp_path, NOW, payloads)
    assert json.loads((place / "events.json").read_text()) == payloads
    assert [event.id for event in Archive(tmp_path).events(NOW).events] == ["1", "2"]
    assert files(tmp_path) == ["snapshots", f"snapshots/{place.name}", f"snapshots/{place.name}/events.json"]


def test_two_that_record_at_once_lose_nothing_of_each_other(tmp_path: Path) -> None:
    write_snapshot(tmp_path, NOW, [])

    def record(number: int) -> int:
        at, row = SECOND + number, {condition_of(number): paid(1.0)}
        changed = merge_resolutions(tmp_path, row, seen_at=NOW)
        return changed + merge_history(tmp_path, "10", [{"t": at, "p": 0.5}])

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(record, range(12))) == 24
    assert len(json.loads((tmp_path / "resolutions.json").read_text())) == 12
    assert len(read_series(tmp_path, tmp_path / "prices" / "10.json")) == 12


def test_a_snapshot_never_claims_to_be_older_than_it_is(tmp_path: Path) -> None:
    write_snapshot(tmp_path, NOW + timedelta(microseconds=1), [])
    assert Archive(tmp_path).instants == (NOW + timedelta(seconds=1),)


def test_a_snapshot_is_not_overwritten(tmp_path: Path) -> None:
    write_snapshot(tmp_path, NOW, [event_payload(1)])
    with pytest.raises(UsageError, match="not overwritten"):
        write_snapshot(tmp_path, NOW, [event_payload(2)])
    assert [event.id for event in Archive(tmp_path).events(NOW).events] == ["1"]


def test_an_unfinished_snapshot_is_none(tmp_path: Path) -> None:
    def cut() -> Iterator[object]:
        yield event_payload(1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_snapshot(tmp_path, NOW, cut())
    with pytest.raises(UsageError, match="holds no snapshots"):
        Archive(tmp_path)


def test_points_are_merged_what_is_recorded_stays_and_all_is_read_back(tmp_path: Path) -> None:
    write_snapshot(tmp_path, NOW, [])
    assert merge_history(tmp_path, "10", [{"t": SECOND, "p": 0.1}, {"t": SECOND + 60, "p": 0.2}]) == 2
    assert merge_history(tmp_path, "10", [{"t": SECOND - 60, "p": "0.3"}, {"t": SECOND, "p": 0.9}]) == 1
    stored = json.loads((tmp_path / "prices" / "10.json").read_text())
    assert stored == json.loads(history_of((SECOND - 60, 0.3), (SECOND, 0.1), (SECOND + 60, 0.2)))
    path = Archive(tmp_path).price_path(Instrument("polymarket", "binary_outcome", "10"), start=NOW - DAY, until=NOW)
    assert [point.price for point in path.points] == [0.3, 0.1]


def test_no_points_write_no_file(tmp_path: Path) -> None:
    assert merge_history(tmp_path, "10", []) == 0
    assert files(tmp_path) == []


@pytest.mark.parametrize("token_id", ["../x", "", "1:YES"])
def test_only_token_ids_name_price_files(tmp_path: Path, token_id: str) -> None:
    with pytest.raises(UsageError, match="not a token id"):
        merge_history(tmp_path, token_id, [{"t": SECOND, "p": 0.1}])


@pytest.mark.parametrize("point", [{"t": SECOND, "p": 1.5}, {"t": "x", "p": 0.5}, {}])
def test_a_point_that_cannot_be_read_is_not_recorded(tmp_path: Path, point: dict[str, object]) -> None:
    with pytest.raises(VenueChanged):
        merge_history(tmp_path, "10", [{"t": SECOND, "p": 0.1}, point])
    assert files(tmp_path) == []


def test_a_link_out_of_the_archive_is_not_written_through(tmp_path: Path) -> None:
    folder, outside = tmp_path / "archive", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "prices").symlink_to(outside)
    with pytest.raises(VenueChanged, match="leads out"):
        merge_history(folder, "10", [{"t": SECOND, "p": 0.1}])
    assert files(outside) == []


def test_the_same_resolution_twice_is_stored_once(tmp_path: Path) -> None:
    rows = {condition_of(1): paid(1.0)}
    assert merge_resolutions(tmp_path, rows, seen_at=NOW + DAY) == 1
    before = (tmp_path / "resolutions.json").read_bytes()
    assert merge_resolutions(tmp_path, rows, seen_at=NOW + 2 * DAY) == 0
    assert (tmp_path / "resolutions.json").read_bytes() == before
    assert json.loads(before) == {condition_of(1): {"resolved_at": SECOND, "payouts": [1.0, 0.0]}}


def test_a_corrected_payout_is_a_revision_from_when_it_was_seen(tmp_path: Path) -> None:
    write_snapshot(tmp_path, NOW, [])
    for days, payout in enumerate((1.0, 0.0, 1.0)):
        assert merge_resolutions(tmp_path, {condition_of(1): paid(payout)}, seen_at=NOW + days * DAY) == 1
    archive, ref = Archive(tmp_path), MarketRef("1", condition_of(1))
    for days in range(3):
        known = archive.resolutions([ref], as_of=NOW + days * DAY).found["1"]
        assert [revision.payout_yes for revision in known] == [1.0, 0.0, 1.0][: days + 1]


def test_a_first_sight_later_than_the_settlement_is_kept(tmp_path: Path) -> None:
    merge_resolutions(tmp_path, {condition_of(1): paid(0.5, effective_at=NOW + DAY)}, seen_at=NOW + DAY)
    stored = json.loads((tmp_path / "resolutions.json").read_text())
    assert stored[condition_of(1)]["effective_at"] == SECOND + 86_400


@pytest.mark.parametrize("name", ["", "../elsewhere", "a b", "-x", "x" * 101])
def test_only_ids_of_conditions_and_markets_name_resolutions(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="not the id of a condition or a market"):
        merge_resolutions(tmp_path, {name: paid(1.0)}, seen_at=NOW)


@pytest.mark.parametrize("text", ["[]", "{", f'{{"{condition_of(1)}": 7}}', f'{{"{condition_of(1)}": []}}'])
def test_a_broken_resolutions_file_is_not_overwritten(tmp_path: Path, text: str) -> None:
    (tmp_path / "resolutions.json").write_text(text)
    with pytest.raises(VenueChanged):
        merge_resolutions(tmp_path, {condition_of(1): paid(1.0)}, seen_at=NOW)
    assert (tmp_path / "resolutions.json").read_text() == text


def test_payouts_of_more_than_two_outcomes_are_written_and_corrected(tmp_path: Path) -> None:
    first = Resolution.of_payouts((0.0, 1.0, 0.0), NOW, "venue", NOW)
    assert merge_resolutions(tmp_path, {condition_of(1): first}, seen_at=NOW) == 1
    assert merge_resolutions(tmp_path, {condition_of(1): first}, seen_at=NOW) == 0
    second = Resolution.of_payouts((0.0, 0.0, 1.0), NOW, "venue", NOW)
    later = NOW + timedelta(days=1)
    assert merge_resolutions(tmp_path, {condition_of(1): second}, seen_at=later) == 1
    stored = json.loads((tmp_path / "resolutions.json").read_text())[condition_of(1)]
    assert [row["payouts"] for row in stored] == [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
