"""What these tests may ask for."""

from collections.abc import Iterator

import pytest

from predibot.ledger.store import Store
from tests.jobs.relatedness.related_world import play, related
from tests.ledger.databases import address, opened_copy, postgres, store
from tests.worlds import Worlds

__all__ = ["address", "postgres", "store"]


@pytest.fixture
def played(address: str, worlds: Worlds) -> Iterator[Store]:
    """Open a ledger in which three bots bet on all twelve events."""
    with opened_copy(address, worlds, related) as opened:
        if not address.startswith("sqlite"):
            play(opened, worlds(related) / "archive")
        yield opened
