"""Cases that only `make soak` tries: of a family the tests try a few, each of another kind."""

from collections.abc import Iterable
from typing import Any

import pytest

SOAK = pytest.mark.soak
ONE_DATABASE = pytest.mark.one_database
"""Where a file tells what any database would: PostgreSQL is left to soaks."""


def few(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """Return the cases of `parametrize`, a tuple for several arguments, of which soaks alone try those not kept."""
    return [case if case in kept else pytest.param(*_values(case), marks=SOAK) for case in cases]


def one_in(nth: int, cases: Iterable[Any]) -> list[Any]:
    """Return the cases of `parametrize`, of which soaks alone try all but the first, and each so many after it."""
    listed = list(cases)
    return few(listed, *listed[::nth])


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
