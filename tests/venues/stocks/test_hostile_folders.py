"""Folders of stocks as people and programs leave them: what is a price, what is none, what is refused with its line."""

import os
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from predibot.errors import UsageError, VenueChanged
from predibot.venues.stocks.folder import StockFolder, read_folder
from predibot.venues.stocks.past import write_cut

DAYS = ("2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08")
HEAD = "date,open,high,low,close,volume"
ACTIONS = "date,ticker,action,value"


def row(day: str, close: object) -> str:
    return f"{day},1,1,1,{close},100"


GOOD = "\n".join([HEAD, *(row(day, 10 + place) for place, day in enumerate(DAYS)), ""])


def folder_of(path: Path, aaa: str | bytes, actions: str | bytes = f"{ACTIONS}\n") -> Path:
    path.mkdir()
    (path / "AAA.csv").write_bytes(aaa.encode() if isinstance(aaa, str) else aaa)
    (path / "BBB.csv").write_text(GOOD)
    (path / "actions.csv").write_bytes(actions.encode() if isinstance(actions, str) else actions)
    return path


def closes(folder: StockFolder) -> list[float | None]:
    return [None if np.isnan(each) else each for each in folder.close[:, 0].tolist()]


@pytest.mark.parametrize(
    "written",
    [
        b"\xef\xbb\xbf" + GOOD.encode(),
        GOOD.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode(),
        GOOD.replace("\n", "\r").encode(),
        GOOD.replace("\n", "\n\n").encode(),
        GOOD.replace(",", ", ").encode(),
        GOOD.rstrip("\n").encode(),
        GOOD.replace(",10,", ',"10",').encode(),
    ],
    ids=["mark", "crlf", "mark and crlf", "cr", "blank lines", "spaces", "no last end", "quotes"],
)
def test_one_table_is_read_however_a_program_writes_it(written: bytes, tmp_path: Path) -> None:
    folder = read_folder(folder_of(tmp_path / "stocks", written))
    assert closes(folder) == [10.0, 11.0, 12.0, 13.0]
    assert folder.remarks == ()


@pytest.mark.parametrize(
    "close",
    ["0", "-5", "nan", "inf", "1e400", "1e308", "10000001", "0.00001", "1e-320", "1_0", "\u0661\u0662", "ten", ""],
)
def test_what_no_share_costs_is_no_price_and_is_told(close: str, tmp_path: Path) -> None:
    folder = read_folder(folder_of(tmp_path / "stocks", GOOD.replace(row(DAYS[2], 12), row(DAYS[2], close))))
    assert closes(folder) == [10.0, 11.0, None, 13.0]
    assert [each.text for each in folder.remarks] == [
        "AAA: the close of 2026-01-07 is no number from 0.0001 to 10,000,000; it has no price then"
    ]


@pytest.mark.parametrize(
    "day",
    ["01/07/2026", "20260107", "2026-1-7", "2026-01", "2026", "NaT", "today", "", "2026-01-07T00:00"],
)
def test_what_is_no_date_to_the_day_is_no_price_and_is_told(day: str, tmp_path: Path) -> None:
    folder = read_folder(folder_of(tmp_path / "stocks", GOOD.replace(row(DAYS[2], 12), row(day, 12))))
    assert closes(folder) == [10.0, 11.0, None, 13.0]
    assert [each.text for each in folder.remarks] == [f"AAA: {day!r} is no date (1 rows); it has no price"]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (GOOD.replace(row(DAYS[2], 12), "2026-01-07,1"), "AAA.csv, line 4, has not as many cells as its first line"),
        (GOOD.replace(row(DAYS[2], 12), row(DAYS[2], "12,5")), "AAA.csv, line 4, has not as many cells"),
        ("date,close,close\n2026-01-05,1,2\n", "AAA.csv names a column twice; keep one"),
        ("", "AAA.csv has no columns date and close"),
        (GOOD.encode("utf-16"), "AAA.csv cannot be read: 'utf-8' codec"),
    ],
)
def test_a_table_that_is_none_is_refused_with_where_it_is_wrong(
    written: str | bytes, said: str, tmp_path: Path
) -> None:
    with pytest.raises((UsageError, VenueChanged), match=said):
        read_folder(folder_of(tmp_path / "stocks", written))


def test_a_table_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    os.truncate(folder_of(tmp_path / "stocks", "") / "AAA.csv", 50_000_001)
    with pytest.raises(UsageError, match="it has more than 50,000,000 bytes"):
        read_folder(tmp_path / "stocks")


@pytest.mark.parametrize("table", [f"{HEAD}\n", GOOD.splitlines()[0], "\n".join([HEAD, row(DAYS[0], 0), ""])])
def test_a_folder_without_any_price_is_refused(table: str, tmp_path: Path) -> None:
    (tmp_path / "AAA.csv").write_text(table)
    with pytest.raises(UsageError, match="has no day with closes of half of its stocks; see whether its tables are"):
        read_folder(tmp_path)


def test_what_is_no_file_is_not_read(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "stocks", GOOD)
    for make in (Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")):
        (folder / "AAA.csv").unlink()
        make(folder / "AAA.csv")
        with pytest.raises(UsageError, match=r"AAA.csv cannot be read: it is no file"):
            read_folder(folder)
        if (folder / "AAA.csv").is_dir():
            (folder / "AAA.csv").rmdir()
            (folder / "AAA.csv").touch()
    (folder / "AAA.csv").unlink()
    (folder / "AAA.csv").symlink_to(folder / "AAA.csv")
    with pytest.raises(UsageError, match=r"AAA.csv cannot be read: .*symbolic links"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("2026-01-07,AAA,split,1e300", "a split of 1e\\+300; it is from 0.001 to 1,000"),
        ("2026-01-07,AAA,split,1e-300", "a split of 1e-300; it is from 0.001 to 1,000"),
        ("2026-01-07,AAA,dividend,1e308", "a dividend of 1e\\+308; it is from 0 to 10,000,000"),
        ("2026-01-07,AAA,delisting,1e9", "a delisting of 1e\\+09; it is from 0 to 10,000,000"),
        ("2026-01-07,AAA,split,nan", "the value of a split is nan"),
        ("20260107,AAA,split,2", "'20260107' is no date"),
        ("2026-13-07,AAA,split,2", "'2026-13-07' is no date"),
        ("2026-01-07,AAA,split,0", "the value of a split is 0.0"),
        ("2026-01-07,AAA,Split,2", "'Split' is no action; it is split, dividend, delisting"),
    ],
)
def test_an_action_that_nobody_does_is_refused_with_its_line(action: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"actions.csv, line 2, cannot be read: {said}"):
        read_folder(folder_of(tmp_path / "stocks", GOOD, f"{ACTIONS}\n{action}\n"))


def test_spaces_around_names_and_cells_mean_nothing_in_any_table(tmp_path: Path) -> None:
    actions = "date , ticker, action ,value\n 2026-01-06, AAA , split, 2 \n2026-01-08, AAA, split, 3\n"
    folder = folder_of(tmp_path / "stocks", GOOD.replace(",", " , "), actions)
    (folder / "sectors.csv").write_text("ticker, sector\nAAA , Energy \n")
    whole = read_folder(folder)
    assert closes(whole) == [10.0, 11.0, 12.0, 13.0]
    assert [each.value for each in whole.actions["AAA"]] == [2.0, 3.0]
    assert whole.sectors == {"AAA": "Energy"}
    assert whole.remarks == ()
    (tmp_path / "cut").mkdir()
    write_cut(folder, tmp_path / "cut", datetime(2026, 1, 7, 21, tzinfo=UTC))
    assert [each.value for each in read_folder(tmp_path / "cut").actions["AAA"]] == [2.0]


def test_what_stands_twice_among_actions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VenueChanged, match=r"actions.csv names a column twice"):
        read_folder(folder_of(tmp_path / "stocks", GOOD, f"{ACTIONS}, value\n2026-01-06,AAA,split,2,3\n"))
    twice = f"{ACTIONS}\n2026-01-06,AAA,split,2\n2026-01-06,AAA,split,3\n"
    with pytest.raises(UsageError, match=r"actions.csv, line .*two of split"):
        read_folder(folder_of(tmp_path / "more", GOOD, twice))


def test_an_action_of_a_stock_without_a_file_is_told_from_its_date_on(tmp_path: Path) -> None:
    written = f"{ACTIONS}\n2026-01-07,aaa,dividend,1\n2026-01-06,aaa,split,4\n"
    folder = read_folder(folder_of(tmp_path / "stocks", GOOD, written))
    (remark,) = folder.remarks
    assert remark.text == "actions.csv has actions of 'aaa', of which there is no file"
    assert str(remark.on) == "2026-01-06"


def test_a_row_without_a_date_is_told_once_the_row_above_it_is_known(tmp_path: Path) -> None:
    folder = read_folder(folder_of(tmp_path / "stocks", GOOD.replace(row(DAYS[2], 12), row("soon", 12))))
    assert [str(each.on) for each in folder.remarks] == ["2026-01-06"]


def test_a_cut_of_a_table_with_a_mark_has_all_its_rows_until_then(tmp_path: Path) -> None:
    marked = b"\xef\xbb\xbf"
    actions = marked + f"{ACTIONS}\r\n2026-01-06,AAA,split,2\r\n2026-01-08,AAA,split,3\r\n".encode()
    folder = folder_of(tmp_path / "stocks", marked + GOOD.encode(), actions)
    (tmp_path / "cut").mkdir()
    write_cut(folder, tmp_path / "cut", datetime(2026, 1, 7, 21, tzinfo=UTC))
    cut = read_folder(tmp_path / "cut")
    assert closes(cut) == [10.0, 11.0, 12.0]
    assert [each.value for each in cut.actions["AAA"]] == [2.0]


def test_a_folder_of_more_files_than_are_played_is_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = folder_of(tmp_path / "stocks", GOOD)
    monkeypatch.setattr("predibot.venues.stocks.recording.MAX_STOCK_FILES", 3)
    read_folder(folder)
    (folder / "CCC.csv").write_bytes(b"no table")
    with pytest.raises(
        UsageError, match="stocks cannot be read: it holds more than 3 files; keep in it what is played"
    ):
        read_folder(folder)
    monkeypatch.setattr("predibot.venues.stocks.recording.MAX_STOCK_FILES", 4)
    monkeypatch.setattr("predibot.venues.stocks.folder._MAX_FOLDER_BYTES", 100)
    with pytest.raises(UsageError, match="bytes, more than 100; keep in it"):
        read_folder(folder)
