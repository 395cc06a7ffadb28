"""What tests of reading may ask for."""

from collections.abc import Iterator

import pytest

from predibot.ledger.store import Store
from tests.ledger.by_hand import DAY, NOW, a_run, abstained, decide, event_of, failed, finished_with, settle
from tests.ledger.databases import opened_copy
from tests.worlds import Worlds


def fill(store: Store) -> None:
    """Have `a` decide twice, and `b` fail and abstain; one market paid, and then otherwise."""
    one, two = event_of(1, 2), event_of(2)
    run = a_run(store, one, two, bots=("a", "b"))
    decide(store, run, "a", finished_with(one, {"m1a": (0.5, 0.6), "m1b": (0.0, 0.2)}))
    decide(store, run, "a", finished_with(two, {"m2a": (-1.0, 0.3)}, at=NOW + DAY))
    decide(store, run, "b", failed(one))
    decide(store, run, "b", abstained(two))
    settle(store, "m1a", (3, 0.0), (5, 1.0))


def four_decisions() -> None:
    """Make `ledger.db` with these decisions."""
    with Store.open("sqlite:///ledger.db") as store:
        fill(store)


@pytest.fixture
def filled(address: str, worlds: Worlds) -> Iterator[Store]:
    """Open a ledger with these decisions, on each kind of database."""
    with opened_copy(address, worlds, four_decisions) as store:
        if not address.startswith("sqlite"):
            fill(store)
        yield store
