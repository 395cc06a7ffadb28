"""Table files: rows that know where in the file they are."""

import codecs
import gzip
import io
import json
import sys
from math import nan
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.table import BadRow, Columns, FileRow, InputTable
from predibot.jobs.score_files.table_file import open_table_file
from predibot.jobs.score_files.table_reader import TableFormat, TableUnreadable
from tests.jobs.tables import csv_of, jsonl_of, parquet_of, table_of

COLUMNS = Columns(("a",), ("b",))


SEPARATED = "a{0}b\r\n00123{0}0,5\r\n"
FOUND: dict[str, tuple[InputTable, list[FileRow | BadRow]]] = {
    # Excel writes separators alone below a table.
    "a row of CSV has the line it begins on, whatever stands before it": (
        csv_of('b,a,note\n\n1,2,"two\nlines"\r\n   \n , 4 ,\n,,\n , ,"",\n'),
        [FileRow(3, ("2", "1")), FileRow(6, ("4", None))],
    ),
    "a quotation mark that is never closed is told with what it swallowed": (
        csv_of('a,b\n1,2\n"3,4\n5,6\n'),
        [FileRow(2, ("1", "2")), BadRow(3, "a quotation mark is never closed; lines 3 to 4 were passed over")],
    ),
    "a row of JSONL has its line, and null is empty": (
        jsonl_of("", {"a": " x\u2028 ", "b": 0.5}, "", {"a": None, "c": 1}, {"a": ""}),
        [FileRow(2, ("x", 0.5)), FileRow(4, (None, None)), FileRow(5, (None, None))],
    ),
    # As Impala and older Spark write them.
    "texts that a Parquet file does not mark as such": (
        parquet_of({"a": [b"\xc3\xa9", None, b"x"]}),
        [FileRow(1, ("\xe9", None)), FileRow(2, (None, None)), FileRow(3, ("x", None))],
    ),
    "bytes that are no text": (parquet_of({"a": [b"\xff"]}), [FileRow(1, (b"\xff", None))]),
    "one object in a line": (jsonl_of({"a": 1}), [FileRow(1, (1, None))]),
    "one object over many lines": (table_of(b'{\n "a": 1\n}\n', "json"), [FileRow(1, (1, None))]),
    "no number in JSONL": (jsonl_of('{"a": NaN, "b": NaN}'), [FileRow(1, (None, None))]),
    "no number in Parquet": (parquet_of({"a": [nan], "b": [nan]}), [FileRow(1, (None, None))]),
    "semicolons": (csv_of(SEPARATED.format(";")), [FileRow(2, ("00123", "0,5"))]),
    "tabs": (csv_of(SEPARATED.format("\t")), [FileRow(2, ("00123", "0,5"))]),
    "bars": (csv_of(SEPARATED.format("|")), [FileRow(2, ("00123", "0,5"))]),
    # As Windows PowerShell writes what is sent to a file, and Excel its "Unicode text".
    "UTF-16 in CSV": (table_of("a\tb\nx\u2028y\t2\n".encode("utf-16"), "csv"), [FileRow(2, ("x\u2028y", "2"))]),
    "UTF-16 in JSON": (
        table_of(codecs.BOM_UTF16_BE + '[{"a": "\xe9"}]'.encode("utf-16-be"), "json"),
        [FileRow(1, ("\xe9", None))],
    ),
    "a comma behind each line of JSON": (
        table_of(b'{"a": 1},\n{"a": 2},\n', "jsonl"),
        [FileRow(1, (1, None)), FileRow(2, (2, None))],
    ),
    "a byte order mark in CSV": (csv_of("\ufeffa\n1\n"), [FileRow(2, ("1", None))]),
    "a byte order mark in JSONL": (jsonl_of('\ufeff{"a": 1}'), [FileRow(1, (1, None))]),
}


@pytest.mark.parametrize(("file", "rows"), FOUND.values(), ids=FOUND)
def test_rows_have_their_place_and_what_stands_in_them(file: InputTable, rows: list[FileRow | BadRow]) -> None:
    assert list(file.rows(COLUMNS)) == rows


def test_the_line_in_which_excel_says_what_separates_columns_is_no_row() -> None:
    assert list(csv_of("sep=;\r\na;b,c\r\n1;2\r\n").rows(Columns(("a", "b,c")))) == [FileRow(3, ("1", "2"))]


def test_rows_of_csv_that_are_broken_are_told_and_the_next_is_read() -> None:
    file = csv_of('a,b\n1\n2,3,4\n"x"y,1\n5,6\n')
    rows = list(file.rows(COLUMNS))
    assert [type(row) for row in rows] == [BadRow, BadRow, BadRow, FileRow]
    assert [row.number for row in rows] == [2, 3, 4, 5]
    assert rows[0] == BadRow(2, "it has 1 cells, the header 2; put quotes around separators")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{'a': 1}", "this is no JSON object: Expecting property name"),
        ("[1]", "this is [1], no JSON object; write one a line"),
        ('{"b": 1}', "it has no a; null stands for what is not known"),
        ('{"a": 1, "a": 2}', "this is no JSON object: it says 'a' twice; write one a line"),
        ("[" * 200_000, "this is no JSON object: it is nested too deeply; write one a line"),
        ('{"a": ' + "9" * 5000 + "}", "this is no JSON object: a number has thousands of digits; write one a line"),
    ],
)
def test_a_line_that_is_no_object_is_told(line: str, reason: str) -> None:
    _, bad, good = jsonl_of({"a": 0}, line, {"a": 3}).rows(COLUMNS)
    assert isinstance(bad, BadRow) and bad.number == 2 and bad.reason.startswith(reason)
    assert good == FileRow(3, (3, None))


def test_rows_of_parquet_are_counted_from_one_over_all_batches() -> None:
    n = 25_000
    file = parquet_of({"a": list(range(n)), "b": [None] * n, "c": ["x"] * n})
    rows = list(file.rows(COLUMNS))
    assert rows == [FileRow(number, (number - 1, None)) for number in range(1, n + 1)]
    assert (file.place, csv_of("a").place) == ("row", "line")


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (csv_of("b,x\n1,2\n"), "some.csv has no column a. It has 'b', 'x'; rename, or add"),
        (csv_of("A,b\n1,2\n"), "some.csv has no column a. It has 'A'; rename that, or add it"),
        (csv_of("a,a\n1,2\n"), "some.csv has 2 columns 'a'. Keep one"),
        (parquet_of({"b": [1]}), "some.parquet has no column a. It has 'b'; rename, or add"),
    ],
)
def test_a_file_that_is_not_what_it_is_taken_for_is_refused_in_a_line(file: InputTable, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        list(file.rows(COLUMNS))
    assert str(refused.value).startswith(message)


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"PAR1 and then nothing", "parquet", " is no Parquet file that can be read: "),
        (b" \n", "csv", " is empty. Give a header and one row a line"),
        (b"\xef\xbb\xbf\n", "json", " is empty"),
        (b'[{"a": 1},\n{"a": 2}', "json", " is no JSON that can be read: Expecting ',' delimiter: line 2"),
        (b'{\n "rows": [\n  {"a": 1},\n', "json", " is no JSON that can be read: "),
        (b"[" * 200_000, "json", " is no JSON that can be read: it is nested too deeply"),
        (b'{"a": [{"x": 1}], "b": [{"x": 2}]}', "json", " holds several arrays of rows: a, b. Give one"),
        (b'[["gpt", 0.7], ["q", 1]]', "json", " holds lists that do not say what their cells are"),
        (b'["gpt", 0.7]\n["q", 1]', "json", " holds lists that do not say what their cells are"),
        (b"17", "json", " is '17', no table. Give an array of JSON objects"),
        ("a,b\n1,2".encode("utf-16") + b"x", "csv", " is no UTF-16, as its first bytes say. Save the file as UTF-8"),
        ("a\nb\né".encode("latin-1"), "csv", ", line 3: this is not UTF-8. Save the file as UTF-8"),
        (b"a,b\n1,\0\n", "csv", " is no text"),
    ],
)
def test_what_holds_no_table_is_refused_as_it_is_read(content: bytes, kind: TableFormat, message: str) -> None:
    with pytest.raises(TableUnreadable) as refused:
        list(table_of(content, kind).rows(Columns(("a",))))
    assert str(refused.value).startswith(message)


ROWS = [{"a": "1", "b": 2}, {"a": "3", "b": None}]


DOCUMENTS: dict[str, Any] = {
    "array": ROWS,
    "object": {"forecasts": ROWS},
    "beside": {"made_at": "2026-07-19", "n": 2, "tags": ["x"], "forecasts": ROWS},
    "empty": {"forecasts": ROWS, "errors": []},
    "pandas table": {"schema": {"fields": [{"name": "a"}]}, "data": ROWS},
    "columns": {"a": ["1", "3"], "b": [2, None]},
    "pandas columns": {"a": {"0": "1", "1": "3"}, "b": {"0": 2, "1": None}},
    "pandas split": {"columns": ["a", "b"], "index": [0, 1], "data": [["1", 2], ["3", None]]},
    "by name": {"first": ROWS[0], "second": ROWS[1]},
    "split without index": {"columns": ["a", "b"], "data": [["1", 2], ["3", None]]},
    "inside": {"status": "ok", "result": {"n": 2, "forecasts": ROWS}},
    "deep inside": {"response": {"data": {"items": ROWS}, "meta": {"n": 2}}, "links": {"next": None}},
}


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("indent", [None, 1])
def test_one_json_document_is_the_rows_it_holds(document: Any, indent: int | None) -> None:
    for kind in ("json", "jsonl"):
        file = table_of(json.dumps(document, indent=indent).encode(), kind)
        assert list(file.rows(COLUMNS)) == [FileRow(1, ("1", 2)), FileRow(2, ("3", None))]
        assert file.place == "row"


def test_a_document_says_what_stands_beside_its_rows() -> None:
    table = table_of(b'{"model": "m", "n": 1, "more": {"x": 1}, "forecasts": [{"a": 1}, {"c": 2}]}', "json")
    assert (table.beside, table.rows_name) == ({"model": "m", "n": 1}, "forecasts")
    assert list(table.names) == ["a", "c"]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(json.dumps(row, indent=2) for row in ROWS),
        # As `gh api --paginate` writes pages, and RFC 7464 sequences.
        "".join(json.dumps([row]) for row in ROWS),
        "\n".join(json.dumps([row]) for row in ROWS),
        "".join(f"\x1e{json.dumps(row, indent=2)}\n" for row in ROWS),
    ],
)
def test_objects_and_arrays_behind_each_other_are_rows(text: str) -> None:
    assert list(table_of(text.encode(), "jsonl").rows(COLUMNS)) == [FileRow(1, ("1", 2)), FileRow(2, ("3", None))]


def test_a_first_line_that_is_broken_costs_that_line() -> None:
    first, second = jsonl_of('{"a": 1', {"a": 2}).rows(COLUMNS)
    assert isinstance(first, BadRow) and first.number == 1
    assert second == FileRow(2, (2, None))


@pytest.mark.parametrize(
    "word", ["NaN", "nan", "NA", "N/A", "n/a", "<NA>", "NaT", "null", "None", "#N/A", "#N/A N/A", "\\N", "nil", "  "]
)
def test_what_programs_write_for_nothing_is_nothing_in_every_format(word: str) -> None:
    for file in (csv_of(f"a,b\n1,{word}\n"), jsonl_of({"a": "1", "b": word}), parquet_of({"a": ["1"], "b": [word]})):
        ((_, cells),) = file.rows(COLUMNS)
        assert cells == ("1", None)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", b"a\n1"),
        ("x.JSONL", b'{"a": "1"}\n{"a": "1"}'),
        ("x.json", b'[\n{"a": "1"}]'),
        ("x.txt", b"a\n1"),
        ("x.txt", b'\xef\xbb\xbf\n {"a": "1"}'),
        ("x", b'[{"a": "1"}]'),
        ("x.tsv", b"a\tb\n1\t"),
        ("x.csv", None),
        ("x.jsonl.gz", gzip.compress(b'{"a": "1"}\n{"a": "1"}', mtime=0)),
        ("x.gz", gzip.compress(b'[{"a": "1"}]', mtime=0)),
        ("x", gzip.compress(b"a\n", mtime=0) + gzip.compress(b"1", mtime=0)),
    ],
)
def test_a_format_is_known_by_the_ending_or_by_the_first_bytes(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    if content is None:
        pq.write_table(pa.table({"a": ["1"]}), tmp_path / name)
    else:
        (tmp_path / name).write_bytes(content)
    with open_table_file(str(tmp_path / name), None, sys.stdin) as file:
        first, *_ = file.rows(COLUMNS)
    assert first[1] == ("1", None)


def test_a_dash_is_standard_input() -> None:
    text = b'{"a": 1}\n'
    for content in (text, gzip.compress(text)):
        with open_table_file("-", None, io.TextIOWrapper(io.BytesIO(content))) as file:
            assert (file.label, list(file.rows(COLUMNS))) == ("standard input", [FileRow(1, (1, None))])
    with (
        pytest.raises(UsageError, match="standard input cannot be read: there is none"),
        open_table_file("-", None, None),
    ):
        pass


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none.csv", "no file .*none.csv'. Name a CSV, JSON or Parquet file"),
        ("", "is a folder. Name a file in it"),
        ("empty.csv", "empty.csv is empty. Give a header and one row a line"),
        ("a\0b", "embedded null"),
        ("cut.csv.gz", "cut.csv.gz cannot be read: it is no gzip file that can be unpacked"),
        ("no.csv.gz", "no.csv.gz cannot be read: it is no gzip file that can be unpacked"),
        ("bomb.csv.gz", "bomb.csv.gz is larger than 1 MiB. Score it in parts"),
        ("/dev/zero", "/dev/zero cannot be read: it is no file, but a pipe or a device"),
    ],
)
def test_what_is_no_file_is_refused_in_a_line(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "empty.csv").write_bytes(b"\xef\xbb\xbf \n")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n1,2")[:-9])
    (tmp_path / "no.csv.gz").write_bytes(b"\x1f\x8b and no more")
    (tmp_path / "bomb.csv.gz").write_bytes(gzip.compress(b"\n" * (2**20 + 1)))
    path = name if name.startswith("/") else f"{tmp_path}/{name}"
    with pytest.raises(UsageError, match=message), open_table_file(path, None, sys.stdin, max_bytes=2**20):
        pass


def test_a_table_of_too_many_rows_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("a\n" + "1\n" * 11)
    with (
        pytest.raises(UsageError, match=r"f\.csv has more than 10 rows. Score it in parts"),
        open_table_file(str(tmp_path / "f.csv"), None, None, max_rows=10) as file,
    ):
        list(file.rows(COLUMNS))
