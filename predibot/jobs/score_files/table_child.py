"""The child process that reads a table: it is asked for its columns, then for its rows, and is held to limits."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Self, cast

from predibot.jobs.score_files.table_reader import Opened, TableFormat, TableUnreadable, open_table
from predibot.research.pages.errors import Unreadable
from predibot.research.pages.parser_child import answer_questions
from predibot.research.pages.parser_messages import refusal_fields

MESSAGE_BYTES = 2**20
"""Rows are handed over together until they are as much."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which file's columns, or which columns' rows are wanted."""

    seconds: float
    said: tuple[str, ...]

    def fields(self) -> tuple[bytes, ...]:
        """Return it as fields."""
        return repr(self.seconds).encode(), json.dumps(self.said).encode()

    @classmethod
    def of(cls, fields: Sequence[bytes]) -> Self:
        """Return a question from its fields."""
        return cls(float(fields[0]), tuple(json.loads(fields[1])))


def serve(data_bytes: int) -> None:
    """Read a table of text."""
    answer_questions(data_bytes, (), Question.of, _Answers().to)


def serve_parquet(data_bytes: int) -> None:
    """Read one of Parquet."""
    import pyarrow as pa  # heavy

    # The other pools take address space in advance, and threads their stacks.
    pa.set_memory_pool(pa.system_memory_pool())
    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    answer_questions(data_bytes, ("pyarrow.parquet",), Question.of, _Answers().to)


class _Answers:
    """What is said of one file."""

    def __init__(self) -> None:
        self._opened: Opened | None = None

    def to(self, question: Question) -> Iterator[Sequence[bytes]]:
        """Yield the columns, or the rows some at a time and then `end`; or why they cannot be read."""
        try:
            if self._opened is None:
                path, kind = question.said
                # For as long as the process lives.
                file = Path(path).open("rb")  # noqa: SIM115
                self._opened = found = open_table(file, cast(TableFormat, kind))
                yield b"table", _packed([found.names, found.place, found.beside, found.rows_name])
            else:
                yield from _messages(self._opened, *json.loads(question.said[0]))
        except TableUnreadable as error:
            yield b"unreadable", str(error).encode(errors="replace")
        except MemoryError:
            yield refusal_fields(Unreadable.TOO_MUCH_MEMORY)


def _messages(opened: Opened, required: Sequence[str], optional: Sequence[str]) -> Iterator[Sequence[bytes]]:
    rows, n_bytes = list[bytes](), 0
    for row in opened.rows(required, optional):
        rows.append(_packed(row))
        n_bytes += len(rows[-1])
        if n_bytes > MESSAGE_BYTES:
            yield b"rows", b"[" + b",".join(rows) + b"]"
            rows, n_bytes = [], 0
    yield b"rows", b"[" + b",".join(rows) + b"]"
    yield (b"end",)


def _packed(value: object) -> bytes:
    # Half a surrogate pair, as JSON may write it.
    return _ENCODE(value).encode(errors="surrogatepass")


def _plain(value: object) -> object:
    """Return what of Parquet JSON cannot hold: an instant or a decimal as text, else what kind it is."""
    if isinstance(value, date):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else {type(value).__name__: str(value)[:40]}


_ENCODE = json.JSONEncoder(default=_plain, check_circular=False, ensure_ascii=False).encode
"""Made once: `dumps` would make one a row."""
