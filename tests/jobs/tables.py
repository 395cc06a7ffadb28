"""Tables: small files of anybody's making, as bytes and on disk."""

import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

from predibot.jobs.score_files.table import TableFile

HEADER = "forecaster,question,probability,outcome"


def csv_of(text: str) -> TableFile:
    """Return a CSV file that holds a text."""
    return TableFile("some.csv", "csv", text.encode())


def jsonl_of(*lines: str | Mapping[str, Any]) -> TableFile:
    """Return a file of JSON lines, each a text or what it is to say."""
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    return TableFile("some.jsonl", "jsonl", "\n".join(texts).encode())


def parquet_of(columns: Mapping[str, Sequence[Any]]) -> TableFile:
    """Return a Parquet file of some columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.table(dict(columns)), file)
    return TableFile("some.parquet", "parquet", file.getvalue())
