"""Archives made to fill the memory or the day: bounded, and what cannot be read is counted.

Each is read by a process of its own, whose resident memory the system counts.
"""

import json
import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from predibot.venues.archive.layout import snapshot_name
from tests.cli.alone import Ended, predibot_alone
from tests.jobs.tiny import write_archive
from tests.soaks import few
from tests.venues.payloads import NOW

MOST_RESIDENT_BYTES = 450_000_000
AT_NOW = ("--venue", "archive:archive", "--bots", "market_price", "--ledger", "sqlite:///ledger.db")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a tiny archive in it."""
    write_archive(tmp_path / "archive")
    return tmp_path


def snapshot(folder: Path, content: str | bytes) -> None:
    """Put something else in the place of a snapshot."""
    written = content if isinstance(content, bytes) else content.encode()
    (folder / "archive" / "snapshots" / snapshot_name(NOW) / "events.json").write_bytes(written)


def decided(folder: Path, *more: str) -> Ended:
    """Decide on the archive, in bounded memory."""
    ended = predibot_alone(folder, "decide", *AT_NOW, "--as-of", NOW.isoformat(), *more)
    assert "Traceback" not in ended.err
    assert ended.resident_bytes < MOST_RESIDENT_BYTES
    return ended


@pytest.mark.parametrize(
    "content",
    [
        "[" + "1," * 2_990_000 + "1]",
        "[" + "{}," * 1_490_000 + "{}]",
        json.dumps([{"id": number, "title": "x", "markets": [{}] * 5_000} for number in range(4)]),
    ],
    ids=["numbers", "objects", "markets"],
)
def test_a_snapshot_of_too_many_events_and_markets_is_refused(folder: Path, content: str) -> None:
    snapshot(folder, content)
    ended = decided(folder)
    assert ended.code == 1
    assert "events.json lists more than 20,000 events and markets; take the snapshot out" in ended.err


def test_a_large_file_is_refused_for_one_wide_character(folder: Path) -> None:
    snapshot(folder, b'["' + b"x" * 60_000_000 + "\N{GRINNING FACE}".encode() + b'"]')
    ended = decided(folder)
    assert ended.code == 1
    assert (
        "events.json is larger than 32 MiB and has emoji or other wide characters; write them as escapes" in ended.err
    )


def test_what_cannot_be_read_is_listed_up_to_a_bound_and_counted_by_reason(folder: Path) -> None:
    snapshot(folder, json.dumps([1] * 10_000 + [{"id": "a b"}] * 5_000))
    notes = json.loads(decided(folder, "--json").out)["notes"]
    kinds = Counter(note.split(":", 1)[0] for note in notes)
    assert kinds["event ? could not be read"] == 1_000
    assert notes[-1] == (
        "14,000 more could not be read: 9000 because event it is no object; 5000 because event id: 'a b' is not an id"
    )
    assert len(notes) < 1_010


@pytest.mark.parametrize("link", few([os.symlink, os.link], os.link))
def test_a_price_file_with_many_names_is_read_once(folder: Path, link: Callable[[Path, Path], None]) -> None:
    prices = folder / "archive" / "prices"
    points = ",".join(f'{{"t":{1_700_000_000 + number},"p":0.5}}' for number in range(590_000))
    (prices / "1.json").write_text(f'{{"history":[{points}]}}')
    for number in range(1_000, 1_012):
        link(prices / "1.json", prices / f"{number}.json")
    ended = predibot_alone(folder, "replay", *AT_NOW)
    assert ended.code == 0, ended.err
    assert ended.resident_bytes < MOST_RESIDENT_BYTES


def test_what_is_wrong_a_million_times_in_one_list_is_told_once(folder: Path) -> None:
    market = {"id": 1, "question": "x", "clobTokenIds": ["x"] * 2_500_000}
    snapshot(folder, json.dumps([{"id": 1, "title": "x", "markets": [market]}]))
    notes = json.loads(decided(folder, "--json").out)["notes"]
    assert "market 1 could not be read: clobTokenIds.0: 'x' is not a token id" in notes


def test_an_archive_of_snapshots_alone_is_replayed(folder: Path) -> None:
    shutil.rmtree(folder / "archive" / "prices")
    (folder / "archive" / "resolutions.json").unlink()
    for later in sorted((folder / "archive" / "snapshots").iterdir())[1:]:
        shutil.rmtree(later)
    ended = predibot_alone(folder, "replay", *AT_NOW)
    assert ended.code == 0, ended.err
