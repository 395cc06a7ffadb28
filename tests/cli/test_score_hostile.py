"""`predibot score` on files made to fill the memory or to break a number: one sentence each, and bounded memory.

What could fill the memory is scored by a process of its own, whose resident memory the system counts.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.acceptance.conftest import said_here
from tests.cli.alone import Ended, predibot_alone
from tests.forked import ROOT
from tests.worlds import Worlds

MOST_RESIDENT_BYTES = 600_000_000
HEADER = "forecaster,question,probability,outcome\n"
GOOD = "ann,q,0.5,1\n"
TEXTS = {"forecaster": pa.string(), "question": pa.string(), "probability": pa.float64(), "outcome": pa.int64()}


@pytest.fixture
def score(tmp_path: Path) -> Callable[..., Ended]:
    """Return the program, which scores a file in a process of its own."""

    def run(file: Path, *options: str) -> Ended:
        return predibot_alone(tmp_path, "score", str(file), "--resamples", "100", *options)

    return run


@pytest.fixture
def score_here() -> Callable[..., Ended]:
    """Return the program, run in this process, for files that are small however they are read."""

    def run(file: Path, *options: str) -> Ended:
        said = said_here("score", str(file), "--resamples", "100", *options)
        return Ended(said.code, said.out, said.err, 0)

    return run


def one_sentence(ended: Ended, said: str) -> None:
    """Check that a file was refused in a line, within the memory there is for it."""
    *_, last = ended.err.splitlines()
    assert (ended.code, ended.out) == (1, "")
    assert last.startswith("error: ") and said in last
    assert "Traceback" not in ended.err
    assert ended.resident_bytes < MOST_RESIDENT_BYTES


def table(n: int, **changed: Any) -> pa.Table:
    """Return the same forecast over and over, but for some columns."""
    cells: dict[str, Any] = {"forecaster": "ann", "question": "q", "probability": 0.5, "outcome": 1, **changed}
    arrays = {
        name: cell if isinstance(cell, pa.Array | pa.ChunkedArray) else pa.repeat(pa.scalar(cell, TEXTS.get(name)), n)
        for name, cell in cells.items()
    }
    return pa.table(arrays)


N_ROWS = 400_001


def write_bombs() -> None:
    """Write files that unpack to a hundred times their size, here."""
    write_bomb("page", table(1, question=pa.array(["x" * 280_000_000])), use_dictionary=False)
    write_bomb("rows", table(N_ROWS, **{name: pa.nulls(N_ROWS, kind) for name, kind in TEXTS.items()}))
    word = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0), 20_000).cast(pa.int32()), ["x" * 1_000_000])
    write_bomb("word", table(20_000, question=word))
    numbers = pa.ListArray.from_arrays([0, 40_000_000], pa.nulls(40_000_000, pa.float64()))
    write_bomb("list", table(1, question=numbers))


def write_bomb(name: str, made: pa.Table, **options: Any) -> None:
    pq.write_table(made, f"{name}.parquet", write_statistics=False, compression="zstd", **options)


def bombs() -> None:
    """Write them in a process of its own: that needs gigabytes, which this one would keep."""
    write = "from tests.cli.test_score_hostile import write_bombs; write_bombs()"
    subprocess.run([sys.executable, "-c", write], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True)


@pytest.mark.parametrize(
    ("bomb", "said"),
    [
        ("rows", "has more than 400,000 rows. Score it in parts"),
        ("word", "takes more memory to read than the 384 MiB there are. Score it in parts"),
        ("page", "takes more memory to read than the 384 MiB there are. Score it in parts"),
        ("list", "takes more memory to read than the 384 MiB there are. Score it in parts"),
    ],
)
def test_a_small_parquet_file_does_not_fill_the_memory(
    worlds: Worlds, score: Callable[..., Ended], bomb: str, said: str
) -> None:
    one_sentence(score(worlds(bombs) / f"{bomb}.parquet"), said)


def test_the_largest_file_that_is_scored_is_not_in_memory(tmp_path: Path, score: Callable[..., Ended]) -> None:
    file = tmp_path / "wide.csv"
    passed_over = "x" * 100_000
    rows = (f"ann,q{n},0.5,1,{passed_over}\n" for n in range(2_600))
    with file.open("w", encoding="utf-8") as opened:
        opened.write(HEADER.replace("\n", ",more\n"))
        opened.writelines(rows)
    ended = score(file)
    assert (ended.code, ended.err) == (0, "")
    assert ended.resident_bytes < MOST_RESIDENT_BYTES // 2


def test_a_file_of_too_many_forecasters_is_one_sentence(tmp_path: Path, score_here: Callable[..., Ended]) -> None:
    file = tmp_path / "who.csv"
    file.write_text(HEADER + "".join(f"{n:x},q,0.5,1\n" for n in range(20_001)))
    one_sentence(score_here(file), "has 20,001 forecasters, and at most 20,000 are scored. Score it in parts")


def test_a_parquet_file_of_too_many_columns_is_one_sentence(tmp_path: Path, score: Callable[..., Ended]) -> None:
    file = tmp_path / "wide.parquet"
    pq.write_table(table(10, **{f"c{number}": pa.nulls(10) for number in range(100_000)}), file)
    one_sentence(score(file), "wide.parquet is broken, or takes too much memory to read. Score it in parts, or write")


def varint(number: int) -> bytes:
    """Return a number as Thrift's compact protocol writes it."""
    left, said = number << 1, b""
    while left > 0x7F:
        said, left = said + bytes([left & 0x7F | 0x80]), left >> 7
    return said + bytes([left])


def test_a_column_that_is_passed_over_may_have_a_name_that_is_no_text(
    tmp_path: Path, score_here: Callable[..., Ended]
) -> None:
    file = tmp_path / "f.parquet"
    pq.write_table(table(1, more="x"), file, store_schema=False)
    # Of the two places that say it, the one beside the pages.
    before, after = file.read_bytes().rsplit(b"more", 1)
    file.write_bytes(before + b"\xff\xff\xff\xff" + after)
    assert score_here(file).code == 0


def understated(content: bytes, number: int) -> bytes:
    """Return a Parquet file whose footer says 1 wherever it said a number, in as many bytes."""
    length = int.from_bytes(content[-8:-4], "little")
    body, footer = content[: -8 - length], content[-8 - length :]
    honest = varint(number)
    lie = b"\x82" + b"\x80" * (len(honest) - 2) + b"\x00"
    assert honest in footer
    return body + footer.replace(honest, lie)


def test_a_parquet_file_that_lies_about_its_size_is_stopped_as_it_unpacks(
    tmp_path: Path, worlds: Worlds, score: Callable[..., Ended]
) -> None:
    file, honest = tmp_path / "lie.parquet", worlds(bombs) / "page.parquet"
    group = pq.ParquetFile(honest).metadata.row_group(0)
    content = understated(honest.read_bytes(), group.column(1).total_uncompressed_size)
    file.write_bytes(understated(content, group.total_byte_size))
    assert pq.ParquetFile(file).metadata.row_group(0).column(1).total_uncompressed_size == 1
    one_sentence(score(file), "lie.parquet takes more memory to read than the 384 MiB there are")


@pytest.mark.parametrize(
    ("stated", "kind"),
    [
        (2**62, pa.timestamp("us", "UTC")),
        (-(2**60), pa.timestamp("ms", "Mars/Olympus")),
        (2**31 - 1, pa.date32()),
    ],
    ids=["us", "ms", "days"],
)
def test_an_instant_that_nobody_can_hold_is_a_bad_row(
    tmp_path: Path, score_here: Callable[..., Ended], stated: int, kind: pa.DataType
) -> None:
    dates = pa.array([stated, 0], kind)
    pq.write_table(table(2, date=dates), tmp_path / "f.parquet")
    ended = score_here(tmp_path / "f.parquet", "--json")
    document = json.loads(ended.out)
    assert (ended.code, document["rows"], document["n_bad_rows"]) == (0, 2, 1)
    assert document["bad_rows"][0]["row"] == 1
    assert document["bad_rows"][0]["reason"].startswith("date is '")
    pq.write_table(pa.table({"date": dates, "value": [1.0, 2.0]}), tmp_path / "e.parquet")
    equity = json.loads(score_here(tmp_path / "e.parquet", "--equity", "--json").out)
    assert equity["n_bad_rows"] == 1 or "error" in equity


@pytest.mark.parametrize(
    ("column", "cells", "said"),
    [
        ("question", pa.array([b"q", b"r"]), "question is {'bytes': \"b'q'\"}; write a text"),
        ("question", pa.array([{"a": 1}, {"a": 2}]), "question is {'a': 1}; write a text"),
        ("probability", pa.array([[0.5], []]), "probability is [0.5]; write a number"),
        ("date", pa.array([5, 6], pa.time64("us")), "date is {'time': '00:00:00.000005'}; write a date"),
        ("date", pa.array([5, 6], pa.duration("s")), "date is {'timedelta': '0:00:05'}; write a date"),
    ],
)
def test_what_is_no_cell_is_a_bad_row(
    tmp_path: Path, score_here: Callable[..., Ended], column: str, cells: pa.Array, said: str
) -> None:
    pq.write_table(table(2, **{column: cells}), tmp_path / "f.parquet")
    one_sentence(score_here(tmp_path / "f.parquet"), said)


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.999])
def test_a_parquet_file_that_is_damaged_is_one_sentence(
    tmp_path: Path, score_here: Callable[..., Ended], cut: float
) -> None:
    file = tmp_path / "f.parquet"
    pq.write_table(table(5_000, question=pa.array([f"question {n}" for n in range(5_000)])), file)
    content = bytearray(file.read_bytes())
    at = int(len(content) * cut)
    content[at : at + 40] = b"\xff" * len(content[at : at + 40])
    file.write_bytes(bytes(content))
    ended = score_here(file)
    assert "Traceback" not in ended.err and ended.resident_bytes < MOST_RESIDENT_BYTES
    if ended.code:
        one_sentence(ended, "f.parquet")


def bad_csv() -> bytes:
    return (HEADER + "x\n" * 400_000).encode()


def contradicted_csv() -> bytes:
    return (HEADER + "".join(f"{n:x},q,1,{n % 2}\n" for n in range(400_000))).encode()


@pytest.mark.parametrize("made", [bad_csv, contradicted_csv])
def test_as_many_bad_rows_as_there_can_be_are_counted_and_the_first_thousand_listed(
    tmp_path: Path, score: Callable[..., Ended], made: Callable[[], bytes]
) -> None:
    (tmp_path / "f.csv").write_bytes(made())
    ended = score(tmp_path / "f.csv", "--json")
    document = json.loads(ended.out)
    assert document["n_bad_rows"] == 400_000
    assert [row["line"] for row in document["bad_rows"]] == list(range(2, 1_002))
    assert ended.resident_bytes < 330_000_000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("f.csv", lambda: f"{HEADER}{GOOD}{'c' * 100_000_000},q,0.5,1\n", "line 3: field larger than field limit"),
        ("f.jsonl", lambda: '{"forecaster": [' + "[]," * 30_000_000 + "[]]}", "takes more memory to read than"),
        ("f.json", lambda: "[" * 900_000, "is no JSON that can be read: it is nested too deeply"),
        ("f.jsonl", lambda: '{"a": ' * 150_000, "is no JSON that can be read: it is nested too deeply"),
        ("f.csv", lambda: "x" * 100_000_000, "line 1: field larger than field limit"),
    ],
    ids=["cell", "list", "brackets", "deep", "header"],
)
def test_a_text_that_is_one_endless_line_is_one_sentence(
    tmp_path: Path, score: Callable[..., Ended], name: str, content: Callable[[], str], said: str
) -> None:
    (tmp_path / name).write_text(content())
    ended = score(tmp_path / name, "--strict")
    assert said in ended.err
    one_sentence(ended, name)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ('"ann", "probability": 1' + "0" * 400, "probability is a very large number"),
        ('"ann", "probability": 1e999', "probability is inf"),
        ('"ann", "probability": -Infinity', "probability is -inf"),
        (
            '"ann", "probability": ' + "9" * 5_000,
            "this is no JSON object: a number has thousands of digits; write one a line",
        ),
        ("[" * 800 + "]" * 800 + ', "probability": 0.5', ""),
        ('{"a": {"b": [1, 2, 3]}}, "probability": 0.5', "forecaster is {'a': {'b': [1, 2, 3]}}; write a text"),
    ],
    ids=["huge", "inf", "minus", "digits", "deep", "nested"],
)
def test_a_cell_that_overflows_is_a_bad_row(
    tmp_path: Path, score_here: Callable[..., Ended], cells: str, said: str
) -> None:
    good = '{"forecaster": "bob", "question": "q", "probability": 0.5, "outcome": 1}\n'
    (tmp_path / "f.jsonl").write_text(good + f'{{"question": "q", "outcome": 1, "forecaster": {cells}}}\n')
    ended = score_here(tmp_path / "f.jsonl", "--json")
    document = json.loads(ended.out)
    assert (ended.code, document["rows"], document["n_bad_rows"]) == (0, 2, 1)
    assert said in document["bad_rows"][0]["reason"]
