"""Golden files: what is made must be what a file beside the test holds, byte by byte.

`make test PYTEST_ARGS="--golden tests/reports"` writes them again; what changed is then read in the difference of git.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

Golden = Callable[[str, str], None]


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Return a check of a text beside the file of some name in the folder `golden` beside the test."""
    folder = request.path.parent / "golden"

    def check(name: str, made: str) -> None:
        file = folder / name
        if request.config.getoption("golden"):
            folder.mkdir(exist_ok=True)
            file.write_text(made, encoding="utf-8", newline="")
        assert made == _read(file), f"{file.name} says something else; `pytest --golden` writes it again"

    return check


def _read(file: Path) -> str:
    with file.open(encoding="utf-8", newline="") as text:
        return text.read()
