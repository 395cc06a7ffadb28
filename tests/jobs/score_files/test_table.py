"""Table files: rows that know where in the file they are."""

import io
import sys
from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.table import BadRow, Columns, Row, TableFile, read_table_file
from tests.jobs.tables import csv_of, jsonl_of, parquet_of

COLUMNS = Columns(("a",), ("b",))


def test_a_row_of_csv_has_the_line_it_begins_on_whatever_stands_before_it() -> None:
    file = csv_of('b,a,note\n\n1,2,"two\nlines"\r\n   \n , 4 ,\n')
    assert list(file.rows(COLUMNS)) == [Row(3, ("2", "1")), Row(6, ("4", None))]


def test_rows_of_csv_that_are_broken_are_told_and_the_next_is_read() -> None:
    file = csv_of('a,b\n1\n2,3,4\n"x"y,1\n5,6\n')
    rows = list(file.rows(COLUMNS))
    assert [type(row) for row in rows] == [BadRow, BadRow, BadRow, Row]
    assert [row.number for row in rows] == [2, 3, 4, 5]
    assert rows[0] == BadRow(2, "it has 1 cells, the header 2; put quotes around commas")


def test_a_quotation_mark_that_is_never_closed_is_told_with_what_it_swallowed() -> None:
    rows = list(csv_of('a,b\n1,2\n"3,4\n5,6\n').rows(COLUMNS))
    assert rows == [Row(2, ("1", "2")), BadRow(3, "a quotation mark is never closed; lines 3 to 4 were passed over")]


def test_a_row_of_jsonl_has_its_line_and_null_is_empty() -> None:
    file = jsonl_of("", {"a": " x\u2028 ", "b": 0.5}, "", {"a": None, "c": 1}, {"a": ""})
    assert list(file.rows(COLUMNS)) == [Row(2, ("x", 0.5)), Row(4, (None, None)), Row(5, (None, None))]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{'a': 1}", "this is no JSON object: Expecting property name"),
        ("[1]", "this is [1], no JSON object; write one a line"),
        ('{"b": 1}', "it has no a; null stands for what is not known"),
        ('{"a": 1, "a": 2}', "this is no JSON object: it says something twice; write one a line"),
        ("[" * 200_000, "this is no JSON object: it is nested too deeply; write one a line"),
        ('{"a": ' + "9" * 5000 + "}", "this is no JSON object: a number has thousands of digits; write one a line"),
    ],
)
def test_a_line_that_is_no_object_is_told(line: str, reason: str) -> None:
    _, bad, good = jsonl_of({"a": 0}, line, {"a": 3}).rows(COLUMNS)
    assert isinstance(bad, BadRow) and bad.number == 2 and bad.reason.startswith(reason)
    assert good == Row(3, (3, None))


def test_rows_of_parquet_are_counted_from_one_over_all_batches() -> None:
    n = 25_000
    file = parquet_of({"a": list(range(n)), "b": [None] * n, "c": ["x"] * n})
    rows = list(file.rows(COLUMNS))
    assert rows == [Row(number, (number - 1, None)) for number in range(1, n + 1)]
    assert (file.place, csv_of("").place) == ("row", "line")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (csv_of("b,x\n1,2\n"), "some.csv has no column a. It has 'b', 'x'; rename, or add"),
        (csv_of("A,b\n1,2\n"), "some.csv has no column a. It has 'A'; rename that, or add it"),
        (csv_of("a;b\n1;2\n"), "some.csv has no column a. Separate columns with commas"),
        (csv_of("a,a\n1,2\n"), "some.csv has 2 columns 'a'. Keep one"),
        (csv_of("a,b\n1,\0\n"), "some.csv is no text"),
        (TableFile("f", "csv", "a\nb\né".encode("latin-1")), "f, line 3: this is not UTF-8. Save the file as UTF-8"),
        (jsonl_of('[{"a": 1}]'), "some.jsonl is one JSON array. Write one object a line"),
        (parquet_of({"b": [1]}), "some.parquet has no column a. It has 'b'; rename, or add"),
        (TableFile("f", "parquet", b"PAR1 and then nothing"), "f is no Parquet file that can be read"),
    ],
)
def test_a_file_that_is_not_what_it_is_taken_for_is_refused_in_a_line(file: TableFile, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        list(file.rows(COLUMNS))
    assert str(refused.value).startswith(message)


def test_a_byte_order_mark_is_no_part_of_the_first_name() -> None:
    assert list(TableFile("f", "csv", "\ufeffa\n1\n".encode()).rows(COLUMNS)) == [Row(2, ("1", None))]


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("x.csv", b"a\n1", "csv"),
        ("x.JSONL", b"{}", "jsonl"),
        ("x.txt", b"a\n1", "csv"),
        ("x.txt", b"\n {}", "jsonl"),
        ("x.csv", b"PAR1....", "parquet"),
        ("x.parquet", b"nothing", "parquet"),
    ],
)
def test_a_format_is_known_by_the_ending_or_by_the_first_bytes(
    tmp_path: Path, name: str, content: bytes, found: str
) -> None:
    (tmp_path / name).write_bytes(content)
    assert read_table_file(str(tmp_path / name), None, sys.stdin).format == found
    assert read_table_file(str(tmp_path / name), "jsonl", sys.stdin).format == "jsonl"


def test_a_dash_is_standard_input() -> None:
    file = read_table_file("-", None, io.TextIOWrapper(io.BytesIO(b'{"a": 1}\n')))
    assert (file.label, file.format) == ("standard input", "jsonl")
    with pytest.raises(UsageError, match="standard input cannot be read: there is none"):
        read_table_file("-", None, None)


def test_what_is_no_file_is_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "empty.csv").write_bytes(b"\xef\xbb\xbf \n")
    for name, message in (
        ("none.csv", "no file .*none.csv'. Name a CSV, JSONL or Parquet file"),
        ("", "is a folder. Name a file in it"),
        ("empty.csv", "empty.csv is empty. Give a header and one row a line"),
        ("a\0b", "cannot be read: embedded null"),
    ):
        with pytest.raises(UsageError, match=message):
            read_table_file(f"{tmp_path}/{name}", None, sys.stdin)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no device without an end")
def test_a_file_without_an_end_is_refused() -> None:
    with pytest.raises(UsageError, match="/dev/zero is larger than 256 MiB"):
        read_table_file("/dev/zero", None, sys.stdin)
