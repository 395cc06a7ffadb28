"""Rows: typed one by one, and a table for pandas or polars."""

import os
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Literal

import pytest

from predibot.rows import Rows, rows_of

ROOT = Path(__file__).parents[1]
AT = datetime(2026, 1, 5, 12, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Cells:
    """One column of each kind, and some that may be missing."""

    name: str
    kind: Literal["a", "b"]
    count: int
    share: float | None
    good: bool | None
    at: datetime | None
    on: date | None
    words: tuple[str, ...] | None


@pytest.fixture
def rows() -> Rows[Cells]:
    """Return a row with everything, and one with what it must have."""
    whole = Cells("x", "a", 1, 0.5, True, AT, AT.date(), ("u", "v"))
    return rows_of(Cells, [whole, Cells("y", "b", 2, None, None, None, None, None)])


def test_rows_are_a_sequence_that_cannot_be_changed(rows: Rows[Cells]) -> None:
    assert (len(rows), rows[-1].name, [row.name for row in rows], rows[0] in rows) == (2, "y", ["x", "y"], True)
    assert isinstance(rows[1:], Rows)
    assert rows[1:].to_dicts() == rows.to_dicts()[1:]
    assert repr(rows) == "<2 rows: name, kind, count, share, good, at, on, words>"
    wide = Rows([1], dict.fromkeys((f"c{number}" for number in range(14)), int), lambda row: {})
    assert repr(wide).endswith(", c11, and 2 more>")
    with pytest.raises(TypeError):
        rows[0] = rows[1]  # type: ignore[index]


def test_columns_of_frames_have_the_types_of_the_fields(rows: Rows[Cells]) -> None:
    in_pandas = ["string", "string", "Int64", "float64", "boolean", "datetime64[us, UTC]", "object", "object"]
    at = "Datetime(time_unit='us', time_zone='UTC')"
    in_polars = ["String", "String", "Int64", "Float64", "Boolean", at, "Date", "List(String)"]
    for some in (rows, rows[1:], rows[:0]):
        assert [str(kind) for kind in some.to_pandas().dtypes] == in_pandas
        assert [str(kind) for kind in some.to_polars().dtypes] == in_polars
    assert rows.to_pandas().isna().sum(axis=1).tolist() == [0, 5]
    assert rows.to_polars().row(0) == ("x", "a", 1, 0.5, True, AT, AT.date(), ["u", "v"])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_not_installed_is_named_with_the_remedy(library: str) -> None:
    code = (
        "import sys\n"
        f"sys.modules[{library!r}] = None\n"
        "from predibot.rows import Rows\n"
        f"try: Rows((), {{}}, dict).to_{library}()\n"
        "except ImportError as error: print(error)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    said = f"to_{library} needs {library}, which is not installed; install it with `pip install {library}`\n"
    assert done.stdout == said
