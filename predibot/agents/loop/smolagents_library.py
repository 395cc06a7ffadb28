"""smolagents as we use it: imported late, and without the `.env` file that it reads on the way."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from predibot.errors import UsageError

_NO_DOTENV = "PYTHON_DOTENV_DISABLED"


def load_smolagents() -> None:
    """Import smolagents, and leave the environment as it is.

    It costs 0.3 s, which only a loop that runs pays. On the way it would read
    the `.env` file of the current folder, or of the project it is installed in:
    keys that nobody gave to this program.

    Raises:
        UsageError: If Python leaves out assertions, by which smolagents checks answers.
    """
    if not __debug__:
        raise UsageError("agents with tools check answers by assertions, which python -O leaves out; run without -O")
    if "smolagents" not in sys.modules:
        with _without_dotenv():
            import smolagents  # noqa: F401


@contextmanager
def _without_dotenv() -> Iterator[None]:
    """Have dotenv read nothing; it takes that from the environment when it is called, and in no other way."""
    if _NO_DOTENV in os.environ:  # noqa: TID251
        yield
        return
    os.environ[_NO_DOTENV] = "1"  # noqa: TID251
    try:
        yield
    finally:
        # Another thread may have come in meanwhile and be done already.
        os.environ.pop(_NO_DOTENV, None)  # noqa: TID251
