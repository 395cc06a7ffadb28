"""Hostile tables: files made to fill the memory or to break a number are one sentence or bad rows.

Where a child reads them here it may take a third of what it may take elsewhere, so that small files show the same.
"""

import io
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from predibot.errors import UsageError
from predibot.jobs.score_files.forecasts import ForecastFile, read_forecasts
from predibot.jobs.score_files.score import read_equity
from predibot.jobs.score_files.table import Columns, InvalidCell, parse_text
from predibot.jobs.score_files.table_file import LIMITS, open_table_file
from predibot.research.pages.parser_process import ParserLimits
from tests.acceptance.conftest import said_here
from tests.cli.alone import predibot_alone
from tests.jobs.tables import HEADER, jsonl_of, table_of

LITTLE = ParserLimits(resident_bytes=224 * 2**20, data_bytes=128 * 2**20)
TOO_MUCH = "takes more memory to read than the 128 MiB there are. Score it in parts"
TEXTS = {"forecaster": pa.string(), "question": pa.string(), "probability": pa.float64(), "outcome": pa.int64()}


def table(n: int, **changed: Any) -> pa.Table:
    """Return the same forecast over and over, but for some columns."""
    cells: dict[str, Any] = {"forecaster": "ann", "question": "q", "probability": 0.5, "outcome": 1, **changed}
    arrays = {
        name: cell if isinstance(cell, pa.Array) else pa.repeat(pa.scalar(cell, TEXTS.get(name)), n)
        for name, cell in cells.items()
    }
    return pa.table(arrays)


def parquet(made: pa.Table, **options: Any) -> bytes:
    file = io.BytesIO()
    pq.write_table(made, file, write_statistics=False, compression="zstd", **options)
    return file.getvalue()


def page() -> bytes:
    return parquet(table(1, question=pa.array(["x" * 40_000_000])), use_dictionary=False)


def word() -> bytes:
    return parquet(table(2_000, question=pa.DictionaryArray.from_arrays(pa.array([0] * 2_000), ["x" * 200_000])))


def numbers() -> bytes:
    n = 8_000_000
    return parquet(table(1, question=pa.ListArray.from_arrays([0, n], pa.nulls(n, pa.float64()))))


def varint(number: int) -> bytes:
    """Return a number as Thrift's compact protocol writes it."""
    left, said = number << 1, b""
    while left > 0x7F:
        said, left = said + bytes([left & 0x7F | 0x80]), left >> 7
    return said + bytes([left])


def lie() -> bytes:
    """Return a page whose footer says 1 wherever it said how large it is, in as many bytes."""
    content = page()
    length = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - length], content[-8 - length :]
    group = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0)
    for honest in map(varint, (group.column(1).total_uncompressed_size, group.total_byte_size)):
        assert honest in footer
        footer = footer.replace(honest, b"\x82" + b"\x80" * (len(honest) - 2) + b"\x00")
    assert pq.ParquetFile(io.BytesIO(body + footer)).metadata.row_group(0).column(1).total_uncompressed_size == 1
    return body + footer


def damaged() -> bytes:
    content = parquet(table(5_000, question=pa.array([f"question {n}" for n in range(5_000)])))
    return content[: len(content) // 2] + b"\xff" * 40 + content[len(content) // 2 + 40 :]


def columns() -> bytes:
    # On one core half as many would fit, as the C library keeps memory for each.
    return parquet(table(10, **{f"c{number}": pa.nulls(10) for number in range(40_000)}))


@pytest.mark.parametrize(
    ("ending", "content", "said"),
    [
        ("parquet", page, TOO_MUCH),
        ("parquet", word, TOO_MUCH),
        ("parquet", numbers, TOO_MUCH),
        ("parquet", lie, TOO_MUCH),
        ("parquet", columns, "file.parquet"),
        ("parquet", damaged, "is no Parquet file that can be read: "),
        ("jsonl", lambda: b'{"question": [' + b"[]," * 3_000_000 + b"[]]}", TOO_MUCH),
        ("jsonl", lambda: b'{"a": ' * 150_000, "is no JSON that can be read: it is nested too deeply"),
        ("csv", lambda: b"x" * 10_000_000, "line 1: field larger than field limit"),
    ],
    ids=["page", "word", "numbers", "lie", "columns", "damaged", "list", "deep", "header"],
)
def test_a_file_that_would_fill_the_memory_is_one_sentence(
    tmp_path: Path, ending: str, content: Any, said: str
) -> None:
    (tmp_path / f"file.{ending}").write_bytes(content())
    with (
        pytest.raises(UsageError) as refused,
        open_table_file(str(tmp_path / f"file.{ending}"), None, None, limits=LITTLE) as opened,
    ):
        list(opened.rows(Columns(("question",))))
    assert said in str(refused.value) and "\n" not in str(refused.value)


def test_a_file_is_not_in_memory_and_one_endless_cell_is_one_bad_row(tmp_path: Path) -> None:
    passed_over = "x" * 100_000
    with (tmp_path / "wide.csv").open("w", encoding="utf-8") as file:
        file.write("question,more\n")
        file.writelines(f"q{n},{passed_over}\n" for n in range(600))
        file.write(f"{passed_over * 10},\n")
    least = ParserLimits(resident_bytes=LIMITS.resident_bytes, data_bytes=24 * 2**20)
    with open_table_file(str(tmp_path / "wide.csv"), None, None, limits=least) as opened:
        *rows, last = opened.rows(Columns(("question",)))
    assert len(rows) == 600 and "field larger than field limit" in str(last)


def test_a_command_refuses_what_takes_more_memory_than_there_is_and_takes_little_itself(tmp_path: Path) -> None:
    (tmp_path / "f.jsonl").write_text('{"forecaster": [' + "[]," * 7_000_000 + "[]]}")
    ended = predibot_alone(tmp_path, "score", "f.jsonl", "--strict")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == ("error: f.jsonl takes more memory to read than the 384 MiB there are. Score it in parts.\n")
    assert ended.resident_bytes < LIMITS.resident_bytes


@pytest.mark.parametrize("row", ["x\n", "{:x},q,1,{}\n"], ids=["bad", "contradicted"])
def test_very_many_bad_rows_are_counted_and_the_first_thousand_listed(tmp_path: Path, row: str) -> None:
    n = 60_000
    (tmp_path / "f.csv").write_text(f"{HEADER}\n" + "".join(row.format(number, number % 2) for number in range(n)))
    ended = predibot_alone(tmp_path, "score", "f.csv", "--json")
    assert ended.document["n_bad_rows"] == n
    assert [row["line"] for row in ended.document["bad_rows"]] == list(range(2, 1_002))
    # The program itself, and 600 bytes a row: 400,000 of them take less than 600 MB.
    assert ended.resident_bytes < 200_000_000 + 600 * n


def test_a_file_of_too_many_forecasters_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "who.csv").write_text(f"{HEADER}\n" + "".join(f"{n:x},q,0.5,1\n" for n in range(20_001)))
    said = said_here("score", str(tmp_path / "who.csv"))
    assert "has 20,001 forecasters, and at most 20,000 are scored. Score it in parts" in said.err


def forecasts(made: pa.Table) -> ForecastFile:
    return read_forecasts(table_of(parquet(made), "parquet"))


def test_a_column_that_is_passed_over_may_have_a_name_that_is_no_text() -> None:
    content = parquet(table(10, more="x"), store_schema=False)
    # Of the two places that say it, the one beside the pages.
    before, after = content.rsplit(b"more", 1)
    assert read_forecasts(table_of(before + b"\xff\xff\xff\xff" + after, "parquet")).file.rows == 10


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        (2**62, pa.timestamp("us", "UTC")),
        (-(2**60), pa.timestamp("ms", "Mars/Olympus")),
        (2**31 - 1, pa.date32()),
    ],
    ids=["us", "ms", "days"],
)
def test_an_instant_that_nobody_can_hold_is_a_bad_row(stated: int, kind: pa.DataType) -> None:
    dates = pa.array([stated, 0], kind)
    account = parquet(pa.table({"date": dates, "value": [1.0, 2.0]}))
    for file in (forecasts(table(2, date=dates)).file, read_equity(table_of(account, "parquet")).file):
        (bad,) = file.bad_rows
        assert (file.rows, bad.number) == (2, 1) and bad.reason.startswith("date is '")


def test_what_json_cannot_hold_comes_from_the_child_by_its_kind(tmp_path: Path) -> None:
    cells = {
        "bytes": pa.array([b"\xff"]),
        "object": pa.array([{"a": 1}]),
        "list": pa.array([[0.5]]),
        "time": pa.array([5], pa.time64("us")),
        "duration": pa.array([5], pa.duration("s")),
    }
    (tmp_path / "f.parquet").write_bytes(parquet(pa.table(cells)))
    with open_table_file(str(tmp_path / "f.parquet"), None, None) as opened:
        ((_, found),) = opened.rows(Columns(tuple(cells)))
    assert found == (
        {"bytes": "b'\\xff'"},
        {"a": 1},
        [0.5],
        {"time": "00:00:00.000005"},
        {"timedelta": "0:00:05"},
    )
    with pytest.raises(InvalidCell, match=r"question is .*bytes.*; write a text"):
        parse_text("question", found[0])


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ('"ann", "probability": 1' + "0" * 400, "probability is a very large number"),
        ('"ann", "probability": 1e999', "probability is inf"),
        ('"ann", "probability": -Infinity', "probability is -inf"),
        ("[" * 800 + "]" * 800 + ', "probability": 0.5', ""),
        ('{"a": {"b": [1, 2, 3]}}, "probability": 0.5', "forecaster is {'a': {'b': [1, 2, 3]}}; write a text"),
    ],
    ids=["huge", "inf", "minus", "deep", "nested"],
)
def test_a_cell_that_overflows_is_a_bad_row(cells: str, said: str) -> None:
    good = '{"forecaster": "bob", "question": "q", "probability": 0.5, "outcome": 1}'
    found = read_forecasts(jsonl_of(good, f'{{"question": "q", "outcome": 1, "forecaster": {cells}}}'))
    (bad,) = found.file.bad_rows
    assert found.file.rows == 2 and said in bad.reason
