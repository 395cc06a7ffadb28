"""Table files: a user's file, read by a child process with limits."""

import codecs
import gzip
import json
import time
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO, TextIO, cast, get_args

from predibot.errors import UsageError
from predibot.jobs.score_files.table import MAX_ROWS, BadRow, Columns, FileRow, InputTable
from predibot.jobs.score_files.table_reader import MESSAGE_BYTES, TableFormat, open_table
from predibot.plain_file import open_plain, pipe_pieces
from predibot.research.pages.errors import Deadline, PageUnavailable, PageUnreadable
from predibot.research.pages.parser_messages import PageSource
from predibot.research.pages.parser_process import ParserCrash, ParserLimits, ParserProcess

TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
STANDARD_INPUT = "-"
_MIB = 2**20
MAX_BYTES = 256 * _MIB
LIMITS = ParserLimits(resident_bytes=480 * _MIB, data_bytes=384 * _MIB)
_GZIP_MARK = b"\x1f\x8b"
_ENDINGS: dict[str, TableFormat] = {f".{each}": each for each in TABLE_FORMATS} | {".tsv": "csv", ".ndjson": "jsonl"}


@contextmanager
def open_table_file(
    argument: str,
    wanted: TableFormat | None,
    standard_input: TextIO | None,
    *,
    max_bytes: int = MAX_BYTES,
    max_rows: int = MAX_ROWS,
    seconds: float = 600.0,
    remedy: str = "Score it in parts",
    limits: ParserLimits = LIMITS,
    process: ParserProcess | None = None,
) -> Iterator[InputTable]:
    """Open a user's file in a child process that reads it.

    Args:
        argument: A path, or `-` for standard input.
        wanted: Its format; None derives it from its ending or first bytes.
        max_bytes: For the file, unpacked where gzip packed it, and for its unpacked rows.
        seconds: For reading the file and taking its rows.
        process: A process of `table_process` for several files; None starts one.

    Raises:
        UsageError: If it does not exist, cannot be read, has another format, or is too large.
    """
    label = "standard input" if argument == STANDARD_INPUT else argument
    with NamedTemporaryFile() as copy, NamedTemporaryFile() as unpacked:
        try:
            path = _on_disk(argument, standard_input, cast(BinaryIO, copy), max_bytes)
            path = _unpack(path, cast(BinaryIO, unpacked), max_bytes)
            kind = wanted or _guess_format(argument, path)
        except FileNotFoundError:
            raise UsageError(
                f"no file {argument!r}. Name a CSV, JSON or Parquet file, or - for standard input"
            ) from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"{label} cannot be read: {reason}. Name a CSV, JSON or Parquet file") from None
        if path.stat().st_size > max_bytes:
            raise UsageError(f"{label} is larger than {max_bytes // _MIB} MiB. {remedy}")
        # A request for the file's columns; with a body it asks for rows of some columns.
        question, deadline = PageSource(kind, None, str(path), 0.0, b""), Deadline.after(seconds, time.monotonic)
        with table_process(kind, limits) if process is None else nullcontext(process) as its_process:

            def rows(columns: Columns) -> Iterator[FileRow | BadRow]:
                asked = replace(question, body=json.dumps(columns).encode())
                for number, found in chain.from_iterable(
                    _answers(its_process, asked, deadline, max_bytes, label, remedy)
                ):
                    yield BadRow(number, found) if isinstance(found, str) else FileRow(number, found)

            names, place, beside, rows_name = next(_answers(its_process, question, deadline, max_bytes, label, remedy))
            yield InputTable(names, place, rows, beside, rows_name, label, max_rows, remedy)


@contextmanager
def table_process(kind: TableFormat, limits: ParserLimits = LIMITS) -> Iterator[ParserProcess]:
    """Start a child process that reads one file of a format after the other."""
    try:
        process = ParserProcess(limits, (open_table.__module__, "serve_parquet" if kind == "parquet" else "serve"))
    except PageUnavailable as error:
        raise UsageError(f"no file can be read: {error}") from None
    try:
        yield process
    finally:
        process.end()


def _on_disk(argument: str, standard_input: TextIO | None, copy: BinaryIO, most: int) -> Path:
    """Return a path for another process; a pipe or standard input is copied."""
    path = Path(argument)
    piped = argument == STANDARD_INPUT
    if path.is_file() and not piped:
        return path.absolute()
    if piped and standard_input is None:
        raise ValueError("there is none")
    if path.is_dir():
        raise UsageError(f"{argument!r} is a folder. Name a file in it")
    read = partial(standard_input.buffer.read, _MIB) if standard_input and piped else None
    return _copy(pipe_pieces(path) if read is None else iter(read, b""), copy, most)


def _unpack(path: Path, copy: BinaryIO, most: int) -> Path:
    """Return the path of a file's content; one that gzip packed is unpacked, as its size bounds nothing."""
    with open_plain(path) as packed:
        if packed.read(len(_GZIP_MARK)) != _GZIP_MARK:
            return path
        packed.seek(0)
        try:
            return _copy(iter(partial(gzip.GzipFile(fileobj=packed).read, _MIB), b""), copy, most)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise ValueError("it is no gzip file that can be unpacked") from None


def _copy(pieces: Iterable[bytes], copy: BinaryIO, most: int) -> Path:
    for piece in pieces:
        # One piece above the bound is enough to see that the file is too large.
        copy.write(piece)
        if copy.tell() > most:
            break
    copy.flush()
    return Path(copy.name)


def _guess_format(argument: str, path: Path) -> TableFormat:
    with open_plain(path) as file:
        beginning = file.read(_MIB)
    for mark in (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        beginning = beginning.removeprefix(mark)
    # Every other byte of UTF-16 is zero.
    beginning = beginning.lstrip(b" \t\r\n\v\f\0")
    if beginning.startswith(b"PAR1"):
        return "parquet"
    return _ENDINGS.get(Path(argument.lower().removesuffix(".gz")).suffix) or (
        "json" if beginning[:1] in (b"{", b"[") else "csv"
    )


def _answers(
    process: ParserProcess, question: PageSource, deadline: Deadline, max_bytes: int, label: str, remedy: str
) -> Iterator[Any]:
    n_bytes = 0
    too_much = f" takes more memory to read than the {process.limits.data_bytes // _MIB} MiB there are"
    try:
        for kind, content in process.answers(question, deadline, max_bytes + 2 * MESSAGE_BYTES):
            n_bytes += len(content)
            if kind == b"end":
                return
            if kind == b"unreadable":
                raise UsageError(f"{label}{content.decode() or f'{too_much}. {remedy}'}")
            if n_bytes > max_bytes:
                raise UsageError(f"{label} unpacks to more than {max_bytes // _MIB} MiB. {remedy}")
            yield json.loads(content)
    except TimeoutError:
        why = f" takes more than {deadline.seconds:g} s to read. {remedy}"
    except (ParserCrash, ValueError):
        why = f" is broken, or takes too much memory to read. {remedy}, or write it again"
    except PageUnreadable:
        why = f"{too_much}. {remedy}"
    except PageUnavailable as error:
        why = f" cannot be read: {error}"
    raise UsageError(f"{label}{why}")
