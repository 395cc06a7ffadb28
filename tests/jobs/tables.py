"""Tables: small files of anybody's making, as bytes and on disk."""

import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from predibot.jobs.score_files.table import InputTable
from predibot.jobs.score_files.table_reader import TableFormat, open_table

HEADER = "forecaster,question,probability,outcome"


def table_of(content: bytes, kind: TableFormat) -> InputTable:
    """Return a table of a file's bytes, read by this process."""
    return replace(open_table(io.BytesIO(content), kind), label=f"some.{kind}")


def csv_of(text: str) -> InputTable:
    """Return a CSV file that holds a text."""
    return table_of(text.encode(), "csv")


def jsonl_of(*lines: str | Mapping[str, Any]) -> InputTable:
    """Return a file of JSON lines, each a text or what it is to say."""
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    return table_of("\n".join(texts).encode(), "jsonl")


def parquet_of(columns: Mapping[str, Sequence[Any]]) -> InputTable:
    """Return a Parquet file of some columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), file)
    return table_of(file.getvalue(), "parquet")
