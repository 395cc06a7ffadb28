"""Rows of a Parquet file, which may unpack to a million times its size: read in bounded memory, or refused.

Importing this module imports pyarrow, which only Parquet files pay for.
"""

import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
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
_BATCH_ROWS = 1_000
_READ_BYTES = 2**20
_BATCH_BYTES = 192 * 2**20
"""The most that reading one batch may take; what a page unpacks to, no other part of the file has to say."""
_BROKEN = (pa.ArrowException, OSError, ValueError, OverflowError)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_UNITS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY = 86_400_000_000


class ParquetTable:
    """A Parquet file that is open; its columns are read a thousand rows at a time."""

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
        end, size = _end_of(source)
        footer_bytes = int.from_bytes(end[:4], "little")
        if MAX_FOOTER_BYTES < footer_bytes <= size:
            raise UsageError(
                f"{label}: what it says of its columns takes {footer_bytes:,} bytes, and at most "
                f"{MAX_FOOTER_BYTES:,} are read. Write fewer columns"
            )
        self._max_unpacked_bytes = max_unpacked_bytes
        with self._translated():
            opened = pa.OSFile(str(source)) if isinstance(source, Path) else pa.BufferReader(source)
            self._file = pq.ParquetFile(opened, buffer_size=_READ_BYTES)
            self.names: list[str] = list(self._file.schema_arrow.names)

    def batches(self, wanted: Sequence[str]) -> Iterator[list[list[Cell]]]:
        """Yield some rows after the other, as lists of the cells of each wanted column.

        Raises:
            UsageError: If a column holds what is no cell, the file is broken, or unpacks to too much.
        """
        for name in wanted:
            self._require_cells(name)
        self._require_small(self._stated_bytes(wanted) + ROW_BYTES * self._file.metadata.num_rows)
        with self._translated():
            batches = self._file.iter_batches(batch_size=_BATCH_ROWS, columns=list(wanted), use_threads=False)
        unpacked = 0
        while True:
            with self._translated():
                batch = next(batches, None)
                if batch is None:
                    return
                columns = [_decoded(batch.column(name)) for name in wanted]
                of_batch = sum(column.nbytes for column in columns)
                unpacked += of_batch + ROW_BYTES * batch.num_rows
                self._require_small(unpacked)
                if of_batch > _BATCH_BYTES // 4:
                    # As objects it takes as much again: where memory ends amid that, pyarrow ends the program.
                    raise self._too_large()
                found = list(map(_values, columns))
            yield found

    def _require_cells(self, name: str) -> None:
        """Refuse a column whose values are no texts, numbers or instants, before any of it is unpacked."""
        kind = self._file.schema_arrow.field(name).type
        inner = kind.value_type if pa.types.is_dictionary(kind) else kind
        if not any(is_one(inner) for is_one in _CELLS):
            raise UsageError(
                f"{self._label}: column {name} holds {str(kind)[:60]}; write texts, numbers, dates or instants"
            )

    def _stated_bytes(self, wanted: Sequence[str]) -> int:
        """Return what the wanted columns say they unpack to."""
        metadata = self._file.metadata
        if not metadata.num_row_groups:
            return 0
        first = metadata.row_group(0)
        places = [at for at in range(first.num_columns) if first.column(at).path_in_schema in wanted]
        groups = (metadata.row_group(at) for at in range(metadata.num_row_groups))
        return sum(max(0, group.column(at).total_uncompressed_size) for group in groups for at in places)

    def _require_small(self, unpacked_bytes: int) -> None:
        if unpacked_bytes > self._max_unpacked_bytes:
            raise self._too_large()

    def _too_large(self) -> UsageError:
        return UsageError(
            f"{self._label} unpacks to more than {self._max_unpacked_bytes // 2**20} MiB, "
            f"{ROW_BYTES} bytes a row included. {self._remedy}"
        )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Hold a step of reading to its memory, and say in a sentence what is wrong with the file."""
        try:
            with _memory_bound(_BATCH_BYTES):
                yield
        except MemoryError:
            raise self._too_large() from None
        except _BROKEN as error:
            said = " ".join(str(error).split())[:200].rstrip(" .")
            raise UsageError(f"{self._label} is no Parquet file that can be read: {said}. Write it again") from None


def _end_of(source: bytes | Path) -> tuple[bytes, int]:
    """Return the last eight bytes of a file, and how many it has."""
    if isinstance(source, bytes):
        return source[-8:], len(source)
    with source.open("rb") as file:
        size = file.seek(0, SEEK_END)
        file.seek(max(0, size - 8))
        return file.read(8), size


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


def _decoded(column: Any) -> Any:
    """Return a column with each value written out, so that its size is known: a dictionary holds a long one once."""
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
