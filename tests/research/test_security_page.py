"""The security page: every test it names exists, in the file that it names."""

import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "security.md").read_text(encoding="utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith(("| attack", "| danger"))]


def named(row: str) -> Iterator[tuple[Path, str]]:
    """Yield the tests of a row with their files; one without a file is in that of the one before."""
    file = Path()
    for path, test in re.findall(r"`(?:([\w/]+\.py): )?(test_\w+)`", row.rpartition(" | ")[2]):
        file = TESTS / path if path else file
        yield file, test


def test_every_attack_of_the_security_page_has_its_test() -> None:
    assert len(ROWS) >= 35
    for row in ROWS:
        tests = list(named(row))
        assert tests, row
        for file, test in tests:
            assert f"def {test}(" in file.read_text(encoding="utf-8"), f"{test} is not in {file.name}"
