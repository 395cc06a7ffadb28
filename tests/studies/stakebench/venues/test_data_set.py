"""A data set of comments: damaged rows are refused by their line before anything is drawn from them."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from predibot.errors import UsageError, VenueChanged, VenueMissing
from predibot.studies.data_set import DataSet
from predibot.studies.stakebench.venues.comments import COMMENTS
from tests.studies.stakebench.rows import a_comment, a_window

HELD = {"side": "YES", "size": 5.0, "action": "hold"}


def written(folder: Path, name: str, *changes: dict[str, Any]) -> DataSet:
    row = asdict(a_comment(1, 1, **HELD) if name == "comments" else a_window(1, ["c"]))
    lines = [json.dumps(row | change) for change in ({}, *changes)]
    (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    return DataSet([folder], COMMENTS)


def test_whole_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    assert list(written(tmp_path, "comments", {}).rows("comments")) == [a_comment(1, 1, **HELD)] * 2
    assert list(written(tmp_path, "windows").rows("windows")) == [a_window(1, ["c"])]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("comments", {"size": float("nan")}, "size is nan"),
        ("comments", {"size": 1e308}, r"size is 1e\+308"),
        ("comments", {"volume": float("inf")}, "volume inf"),
        ("comments", {"at": "yesterday"}, "at is 'yesterday'"),
        ("comments", {"at": "2026-01-01T00:00:00"}, "an instant in UTC"),
        ("comments", {"closed": ""}, "closed is ''"),
        ("comments", {"actions": ["hold"]}, "actions are 1, action is hold"),
        ("comments", {"side": None}, "nothing is held"),
        ("comments", {"resolved": 5}, "resolved: "),
        ("comments", {"resolved": 10**400}, "resolved: "),
        ("comments", {"platform": "elsewhere"}, "platform: "),
        ("windows", {"comments": []}, "of 0 comments"),
        ("windows", {"price_before": float("nan")}, "prices are nan and 0.5"),
        ("windows", {"price_after": 7}, "prices are 0.4 and 7"),
        ("windows", {"days": 0}, "over 0 days"),
        ("windows", {"start": "now"}, "start is 'now'"),
    ],
)
def test_a_damaged_row_is_named_by_its_line(tmp_path: Path, name: str, change: dict[str, Any], said: str) -> None:
    venue = written(tmp_path, name, change)
    with pytest.raises(VenueChanged, match=rf"{name}\.jsonl, line 2: .*{said}.*Make the data set again"):
        list(venue.rows(name))


def test_folders_are_one_data_set_in_any_order(tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("poly", "mani", "a,b")]
    for number, name in enumerate(names):
        Path(name).mkdir()
        written(Path(name), "comments", {"comment": str(number)})
        written(Path(name), "windows")
    poly, mani, comma = map(Path, names)
    assert COMMENTS.folders(names[2]) == (comma,)
    assert COMMENTS.folders(f"{comma},{poly},{comma}/../mani") == (comma, mani, poly)
    assert COMMENTS.folders(f"{poly},{mani}") == COMMENTS.folders(f"{mani},{poly}") == (mani, poly)
    one, other = DataSet([poly, mani], COMMENTS), DataSet([mani, poly], COMMENTS)
    assert {row.comment for row in one.rows("comments")} >= {"0", "1"}
    assert one.digest == other.digest != DataSet([mani], COMMENTS).digest
    with pytest.raises(UsageError, match="names a folder twice"):
        COMMENTS.folders(f"{poly},{poly}")
    with pytest.raises(VenueMissing, match=r"there is no data set of comments in .*none"):
        COMMENTS.folders(f"{poly},{tmp_path / 'none'}")
