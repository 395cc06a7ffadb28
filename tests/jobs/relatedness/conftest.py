"""What these tests may ask for."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from predibot.ledger.store import Store
from tests.jobs.relatedness.related_world import bent_until_later, bent_until_then, play, related
from tests.ledger.databases import address, opened_copy, postgres, store
from tests.soaks import few
from tests.worlds import Worlds

__all__ = ["address", "postgres", "store"]


@pytest.fixture
def played(address: str, worlds: Worlds) -> Iterator[Store]:
    """Open a ledger in which three bots bet on all twelve events."""
    with opened_copy(address, worlds, related) as opened:
        if not address.startswith("sqlite"):
            play(opened, worlds(related) / "archive")
        yield opened


@pytest.fixture(params=few([bent_until_then, bent_until_later], bent_until_later))
def bent(request: pytest.FixtureRequest, worlds: Worlds) -> Path:
    """Return a folder with an archive whose future is another, and the ledger of the same bots on it."""
    return worlds(request.param)
