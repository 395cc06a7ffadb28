"""Rows of a Parquet file, which may unpack to a million times its size: read in bounded memory, or refused.

Importing this module imports pyarrow, which only Parquet files pay for.
"""

import re
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from os import SEEK_END
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from predibot.errors import UsageError
from predibot.jobs.score_files.cells import Cell

MAX_UNPACKED_BYTES = 256 * 2**20
ROW_BYTES = 200
"""What a row costs beside its cells, so that ten million empty ones are not free."""
MAX_FOOTER_BYTES = 4 * 2**20
"""What a file says of itself; unpacked it is ten times as much, and pyarrow ends the program where that is too much."""
MAX_COLUMNS = 10_000
"""Of each pyarrow makes some kilobytes as it opens a file, and ends the program where that is too much."""
_FOOTER_BEGINS = re.compile(rb"\x15[\x80-\xff]{0,4}[\x00-\x7f]\x19(?:\xfc([\x80-\xff]{0,4}[\x00-\x7f])|[\x0c-\xec])")
"""The version and how many columns follow, the latter only where they are more than fourteen; Thrift, compact."""
_BATCH_ROWS = (1_000, 100, 10, 1)
"""How many rows are read at once, the next number where so many are too much."""
_READ_BYTES = 2**20
_BATCH_BYTES = 192 * 2**20
"""The most that reading one batch may take; what a page unpacks to, no other part of the file has to say."""
_ROW_MIB = _BATCH_BYTES // 4 // 2**20
"""As objects, a batch takes as much again, and where memory ends amid that, pyarrow ends the program."""
_BROKEN = (pa.ArrowException, OSError, ValueError, OverflowError)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY = 86_400_000_000


class ParquetTable:
    """A Parquet file that is open; its columns are read at most a thousand rows at a time."""

    def __init__(
        self,
        label: str,
        source: bytes | Path,
        *,
        max_unpacked_bytes: int = MAX_UNPACKED_BYTES,
        remedy: str = "Score it in parts",
    ) -> None:
        """Read what the file says of itself.

        Args:
            label: What messages call it.
            source: Its bytes, or where they are.
            max_unpacked_bytes: The most it may unpack to, all rows together; they are never held at once.
            remedy: What to do with one that is too much.

        Raises:
            UsageError: If it is no Parquet file, or too much.
        """
        self._label = label
        self._remedy = remedy
        size, footer_bytes, footer = _footer_of(source)
        if MAX_FOOTER_BYTES < footer_bytes <= size:
            raise UsageError(
                f"{label}: what it says of its columns takes {footer_bytes:,} bytes, and at most "
                f"{MAX_FOOTER_BYTES:,} are read. Write fewer columns"
            )
        begins = _FOOTER_BEGINS.match(footer)
        if begins is None:
            raise UsageError(f"{label} is no Parquet file that can be read: it has no footer. Write it again")
        # The first of them is the table itself.
        n_columns = -1 + sum((byte & 0x7F) << 7 * place for place, byte in enumerate(begins[1] or b""))
        if n_columns > MAX_COLUMNS:
            raise UsageError(f"{label} has {n_columns:,} columns, and at most {MAX_COLUMNS:,} are read. Write fewer")
        self._max_unpacked_bytes = max_unpacked_bytes
        try:
            self._open(source)
        except MemoryError:
            raise UsageError(
                f"{label}: what it says of its columns takes more than {_BATCH_BYTES // 2**20} MiB to read. "
                "Write fewer columns"
            ) from None

    def _open(self, source: bytes | Path) -> None:
        with self._translated():
            opened = pa.OSFile(str(source)) if isinstance(source, Path) else pa.BufferReader(source)
            self._file = pq.ParquetFile(opened, buffer_size=_READ_BYTES)
            self.names: list[str] = list(self._file.schema_arrow.names)

    def batches(self, wanted: Sequence[str]) -> Iterator[list[list[Cell]]]:
        """Yield some rows after the other, as lists of the cells of each wanted column.

        Raises:
            UsageError: If a column holds what is no cell, the file is broken, or unpacks to too much.
        """
        with self._translated():
            for name in wanted:
                self._require_cells(name)
            # What a column says that it unpacks to is not asked: where that is forged, pyarrow ends the program.
            self._require_small(ROW_BYTES * self._file.metadata.num_rows)
            n_groups = self._file.metadata.num_row_groups
        unpacked = 0
        for group in range(n_groups):
            for n_bytes, columns in self._batches_of(group, wanted):
                unpacked += n_bytes
                self._require_small(unpacked)
                yield columns

    def _batches_of(self, group: int, wanted: Sequence[str]) -> Iterator[tuple[int, list[list[Cell]]]]:
        """Yield the batches of a row group and what each unpacks to, fewer rows at once from where they are long."""
        n_done = 0
        for n_rows in _BATCH_ROWS:
            try:
                for n_more, n_bytes, found in self._read(group, wanted, n_rows, n_done):
                    n_done += n_more
                    yield n_bytes + ROW_BYTES * n_more, found
            except MemoryError:
                # The same rows again, fewer at once.
                continue
            return
        raise UsageError(
            f"{self._label}: row {n_done + 1} of row group {group + 1} takes more memory to read than there is for "
            f"one: {_ROW_MIB} MiB, and {_BATCH_BYTES // 2**20} MiB with what is packed with it. {self._remedy}"
        )

    def _read(
        self, group: int, wanted: Sequence[str], n_rows: int, n_done: int
    ) -> Iterator[tuple[int, int, list[list[Cell]]]]:
        """Yield the rows of a group after the first so many, some at a time: how many, their bytes and their cells.

        Raises:
            MemoryError: If so many rows are too much at once.
        """
        with self._translated():
            batches = self._file.iter_batches(n_rows, [group], list(wanted), use_threads=False)
        n_read = 0
        while True:
            with self._translated():
                batch = next(batches, None)
                if batch is None:
                    return
                n_read += batch.num_rows
                n_more = min(batch.num_rows, n_read - n_done)
                if n_more <= 0:
                    continue
                batch = batch.slice(batch.num_rows - n_more)
                n_bytes, found = _cells_of([batch.column(name) for name in wanted])
            yield n_more, n_bytes, found

    def _require_cells(self, name: str) -> None:
        """Refuse a column that is there twice or whose values are no cells, before any of it is unpacked."""
        if self.names.count(name) > 1:
            raise UsageError(f"{self._label} has {self.names.count(name)} columns {name!r}. Keep one")
        kind = self._file.schema_arrow.field(name).type
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_one(inner) for is_one in _CELLS):
            raise UsageError(
                f"{self._label}: column {name} holds {str(kind)[:60]}; write texts, numbers, dates or instants"
            )

    def _require_small(self, unpacked_bytes: int) -> None:
        if unpacked_bytes > self._max_unpacked_bytes:
            raise UsageError(
                f"{self._label} unpacks to more than {self._max_unpacked_bytes // 2**20} MiB, "
                f"{ROW_BYTES} bytes a row included. {self._remedy}"
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Hold a step of reading to its memory, and say in a sentence what is wrong with the file.

        Raises:
            MemoryError: If it takes more.
            UsageError: If the file is broken.
        """
        try:
            with _memory_bound(_BATCH_BYTES):
                yield
        except MemoryError:
            # Some of pyarrow's are exceptions of its own too.
            raise
        except _BROKEN as error:
            said = " ".join(str(error).split())[:200].rstrip(" .")
            raise UsageError(f"{self._label} is no Parquet file that can be read: {said}. Write it again") from None


def _footer_of(source: bytes | Path) -> tuple[int, int, bytes]:
    """Return how many bytes a file has, how many of them it says are its footer, and how that begins."""
    with BytesIO(source) if isinstance(source, bytes) else source.open("rb") as file:
        size = file.seek(0, SEEK_END)
        file.seek(max(0, size - 8))
        n_bytes = int.from_bytes(file.read(4), "little")
        file.seek(max(0, size - 8 - n_bytes))
        return size, n_bytes, file.read(min(n_bytes, 16))


_CELLS = (
    pa.types.is_string,
    pa.types.is_large_string,
    pa.types.is_string_view,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_decimal,
    pa.types.is_boolean,
    pa.types.is_timestamp,
    pa.types.is_date,
    pa.types.is_null,
)


@contextmanager
def _memory_bound(more_bytes: int) -> Iterator[None]:
    """Let the block take at most so much more memory; pyarrow takes it in C, where nothing else can stop it.

    Where the system does not say how much is taken, it does not keep to such a limit either.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limit = pages * resource.getpagesize() + more_bytes
    if soft != resource.RLIM_INFINITY:
        limit = min(limit, soft)
    resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _cells_of(columns: Sequence[Any]) -> tuple[int, list[list[Cell]]]:
    """Return how many bytes columns take, and the cells of each.

    Raises:
        MemoryError: If they are too much to be made into objects.
    """
    written = list(map(_decoded, columns))
    n_bytes = sum(column.nbytes for column in written)
    if n_bytes > _ROW_MIB * 2**20:
        raise MemoryError
    return n_bytes, list(map(_values, written))


def _decoded(column: Any) -> Any:
    """Return a column with each value written out, so that its size is known: a dictionary or view holds it once."""
    if pa.types.is_string_view(column.type):
        return column.cast(pa.large_string())
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _values(column: Any) -> list[Cell]:
    """Return the cells of a column; an instant that Python cannot hold stays the number it is."""
    if pa.types.is_timestamp(column.type):
        return [_instant(count, column.type.unit) for count in column.cast(pa.int64()).to_pylist()]
    if pa.types.is_date(column.type):
        is_days = pa.types.is_date32(column.type)
        counts = column.cast(pa.int32() if is_days else pa.int64()).to_pylist()
        return [_instant(count, "day" if is_days else "ms") for count in counts]
    values: list[Cell] = column.to_pylist()
    return values


def _instant(count: int | None, unit: str) -> Cell:
    """Return an instant counted in a unit since 1970; what is finer than a microsecond is none that Python can hold."""
    if count is None:
        return None
    if unit == "ns":
        count, unit = (count // 1_000, "us") if count % 1_000 == 0 else (count, "none")
    try:
        return _EPOCH + timedelta(microseconds=count * (_DAY if unit == "day" else _UNITS[unit]))
    except (OverflowError, KeyError):
        return count
