"""Table files: CSV, JSON or Parquet of anybody's making, as rows that know where in the file they are."""

import json
import time
from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, NamedTuple, Protocol, TextIO, TypeVar, cast, get_args

from predibot.domain.spelling import nearest
from predibot.errors import UsageError
from predibot.jobs.score_files.cells import shown
from predibot.jobs.score_files.table_child import MESSAGE_BYTES, Question
from predibot.jobs.score_files.table_reader import Cell, Found, Opened, TableFormat, TableUnreadable
from predibot.research.pages.deadline import Deadline
from predibot.research.pages.errors import PageUnavailable, PageUnreadable
from predibot.research.pages.parser_process import ParserDied, ParserLimits, ParserProcess

TABLE_FORMATS: tuple[TableFormat, ...] = get_args(TableFormat)
STANDARD_INPUT = "-"
MAX_BYTES = 256 * 2**20
MAX_ROWS = 400_000
"""Good or bad: what is made of a good one takes 600 bytes beside its texts, and scoring as much again."""
LISTED_BAD_ROWS = 1_000
_WORDS = "nan -nan na n/a <na> #n/a #na nat null none nil \\n 1.#qnan -1.#qnan 1.#ind -1.#ind"
MISSING = frozenset(("", *_WORDS.split()))
"""What programs write where they have nothing, in any letters: what pandas reads as missing, and what pandas, SQL and
Go write."""
_MIB = 2**20
_LIMITS = ParserLimits(resident_bytes=480 * _MIB, data_bytes=384 * _MIB)
_ENDINGS: dict[str, TableFormat] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
_PARQUET_MARK = b"PAR1"
_UTF8_MARK = b"\xef\xbb\xbf"


class Row(NamedTuple):
    """A row: where it is, and its cells in the order of the columns asked for."""

    number: int
    cells: tuple[Cell, ...]


class BadRow(NamedTuple):
    """A row that cannot be used."""

    number: int
    """Where it is, as `Opened.place` says."""
    reason: str
    """What is wrong, what was seen, and what to write."""


class _Numbered(Protocol):
    """Something that knows its row."""

    @property
    def number(self) -> int: ...


_T = TypeVar("_T", bound=_Numbered)


@dataclass(slots=True)
class BadRows:
    """How many rows are bad, and the first thousand of them."""

    count: int = 0
    _first: list[BadRow] = field(default_factory=list)

    def add(self, row: BadRow) -> None:
        """Count a row, in any order."""
        self.count += 1
        if len(self._first) < LISTED_BAD_ROWS or row < self._first[-1]:
            insort(self._first, row)
            del self._first[LISTED_BAD_ROWS:]

    def sifted(self, rows: Iterable[_T], refused: Iterable[tuple[_T, str]]) -> list[_T]:
        """Return the rows that are not refused for some reason, and count the others."""
        gone: set[int] = set()
        for row, reason in refused:
            # A line may hold several of them, of which the others stay.
            gone.add(id(row))
            self.add(BadRow(row.number, reason))
        return [row for row in rows if id(row) not in gone]

    @property
    def listed(self) -> tuple[BadRow, ...]:
        """Return the first of them, in the file's order."""
        return tuple(self._first)


@dataclass(frozen=True, slots=True)
class Columns:
    """What is asked of a table; other columns are passed over."""

    required: tuple[str, ...]
    optional: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Return all of them, in the order of a row's cells."""
        return self.required + self.optional


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table, and what messages call it."""

    label: str
    opened: Opened
    max_rows: int = MAX_ROWS
    remedy: str = "Score it in parts"
    """What to do with one that is too much."""
    remarks: tuple[str, ...] = ()
    """What is left out of it already, and other things to be said beside its scores."""

    @property
    def place(self) -> str:
        """Return what a row's number counts."""
        return self.opened.place

    def rows(self, columns: Columns) -> Iterator[Row | BadRow]:
        """Yield every row, or why it is none; a cell that is missing, and one of a column that is not there, is None.

        Spaces around a text do not count. Blank lines are no rows.

        Raises:
            UsageError: If the file is not what it is taken for, is too much, or a column is missing.
        """
        self.require(columns)
        try:
            for n_before, (number, found) in enumerate(self.opened.rows(columns.required, columns.optional)):
                if n_before == self.max_rows:
                    raise UsageError(f"{self.label} has more than {self.max_rows:,} rows. {self.remedy}")
                if isinstance(found, str):
                    yield BadRow(number, found)
                else:
                    yield Row(number, tuple(map(present, found)))
        except TableUnreadable as error:
            raise UsageError(f"{self.label}{error}") from None

    def require(self, columns: Columns) -> None:
        """Refuse a table without a column that must be there, or with one twice.

        Raises:
            UsageError: If it is such a table.
        """
        names = self.opened.names
        for name in columns.names:
            if (count := list(names).count(name)) > 1:
                raise UsageError(f"{self.label} has {count} columns {name!r}. Keep one")
        if missing := [name for name in columns.required if name not in names]:
            found = nearest(missing[0], names)
            seen = f"{shown(found)}; rename that, or add it" if found else f"{self.seen_names()}; rename, or add"
            raise UsageError(f"{self.label} has no column {', '.join(missing)}. It has {seen}")

    def seen_names(self) -> str:
        """Return the names of its columns as a message shows them."""
        return ", ".join(shown(name) for name in self.opened.names[:12]) or "none"


def present(cell: Cell) -> Cell:
    """Return a cell without spaces around it, None where it says that there is nothing."""
    if isinstance(cell, str):
        cell = cell.strip()
        return None if cell.casefold() in MISSING else cell
    return None if isinstance(cell, float) and isnan(cell) else cell


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
) -> Iterator[TableFile]:
    """Open the file somebody named, in a child process that reads it and may take 384 MiB.

    Args:
        argument: A path, or `-` for standard input.
        wanted: Its format; None takes what its ending or its first bytes say.
        standard_input: What `-` stands for; None where the program was started without.
        max_bytes: Of the file, and of what its rows come to.
        max_rows: Of all, bad ones too.
        seconds: Within which all of it is read, and taken from here.
        remedy: What to do with one that is too much.

    Raises:
        UsageError: If there is none, it cannot be read, is not what it is taken for, or is too large.
    """
    label = "standard input" if argument == STANDARD_INPUT else argument
    with NamedTemporaryFile("w+b") as copy:
        try:
            path, beginning = _path_of(argument, standard_input, cast(BinaryIO, copy), max_bytes)
        except FileNotFoundError:
            raise UsageError(
                f"no file {argument!r}. Name a CSV, JSON or Parquet file, or - for standard input"
            ) from None
        except IsADirectoryError:
            raise UsageError(f"{argument!r} is a folder. Name a file in it") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"{label} cannot be read: {reason}. Name a CSV, JSON or Parquet file") from None
        if path.stat().st_size > max_bytes:
            raise UsageError(f"{label} is larger than {max_bytes // _MIB} MiB. {remedy}")
        kind = wanted or _format_of(argument, beginning)
        try:
            with _Reading(kind, max_bytes, seconds, remedy) as reading:
                yield TableFile(label, reading.opened(path, kind), max_rows, remedy)
        except TableUnreadable as error:
            raise UsageError(f"{label}{error}") from None


def _path_of(argument: str, standard_input: TextIO | None, copy: BinaryIO, most: int) -> tuple[Path, bytes]:
    """Return where a file can be read by another process, and its first bytes; what is no file on disk is copied."""
    if argument == STANDARD_INPUT:
        if standard_input is None:
            raise ValueError("there is none")
        return _copied(standard_input.buffer, copy, most)
    with Path(argument).open("rb") as file:
        if not Path(argument).is_file():
            return _copied(file, copy, most)
        return Path(argument).absolute(), file.read(_MIB)


def _copied(file: BinaryIO, copy: BinaryIO, most: int) -> tuple[Path, bytes]:
    left = most + 1
    # One byte more than is allowed shows that there are more.
    while left > 0 and (piece := file.read(min(left, _MIB))):
        left -= copy.write(piece)
    copy.flush()
    copy.seek(0)
    return Path(copy.name), copy.read(_MIB)


def _format_of(argument: str, beginning: bytes) -> TableFormat:
    if beginning.startswith(_PARQUET_MARK):
        return "parquet"
    if found := _ENDINGS.get(Path(argument.lower()).suffix):
        return found
    return "json" if beginning.removeprefix(_UTF8_MARK).lstrip()[:1] in (b"{", b"[") else "csv"


class _Reading:
    """A child process that reads one file."""

    def __init__(self, kind: TableFormat, max_bytes: int, seconds: float, remedy: str) -> None:
        self._max_bytes = max_bytes
        self._remedy = remedy
        serve = "serve_parquet" if kind == "parquet" else "serve"
        self._deadline = Deadline.after(seconds, time.monotonic)
        try:
            self._process = ParserProcess(_LIMITS, ("predibot.jobs.score_files.table_child", serve))
        except PageUnavailable as error:
            raise TableUnreadable(f" cannot be read: {error}") from None

    def __enter__(self) -> "_Reading":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.end()

    def opened(self, path: Path, kind: TableFormat) -> Opened:
        """Return what the file says of itself."""
        self._ask(str(path), kind)
        names, place, beside, rows_name = json.loads(self._answer())
        return Opened(names, place, self._rows, beside, rows_name)

    def _rows(self, required: Sequence[str], optional: Sequence[str]) -> Iterator[Found]:
        self._ask(json.dumps([required, optional]))
        n_bytes = 0
        while message := self._answer():
            n_bytes += len(message)
            if n_bytes > self._max_bytes:
                raise TableUnreadable(f" unpacks to more than {self._max_bytes // _MIB} MiB. {self._remedy}")
            yield from json.loads(message)

    def _ask(self, *said: str) -> None:
        with self._translated():
            self._process.await_ready(self._deadline)
            self._process.ask(Question(self._deadline.left_seconds(), said).fields(), self._deadline)

    def _answer(self) -> str:
        """Return what the next answer says, nothing at the end.

        Raises:
            TableUnreadable: If it says that the file cannot be read, or there is none.
        """
        with self._translated():
            kind, *said = self._process.fields(self._deadline, max_bytes=self._max_bytes + 2 * MESSAGE_BYTES)
        if kind == b"unreadable":
            why = said[0].decode()
            raise TableUnreadable(self._too_much() if why == "TOO_MUCH_MEMORY" else why)
        return said[0].decode(errors="surrogatepass") if said else ""

    def _too_much(self) -> str:
        return f" takes more memory to read than the {_LIMITS.data_bytes // _MIB} MiB there are. {self._remedy}"

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Say in a sentence why the child has no answer."""
        try:
            yield
        except TimeoutError:
            raise TableUnreadable(f" takes more than {self._deadline.seconds:g} s to read. {self._remedy}") from None
        except (ParserDied, EOFError, OSError, ValueError):
            raise TableUnreadable(
                f" is broken, or takes too much memory to read. {self._remedy}, or write it again"
            ) from None
        except PageUnreadable:
            raise TableUnreadable(self._too_much()) from None
        except PageUnavailable as error:
            raise TableUnreadable(f" cannot be read: {error}") from None
