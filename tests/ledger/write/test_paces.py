"""Paces and permits: one limit for all processes of a ledger, whatever becomes of one of them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest

from predibot.contracts import Bucket
from predibot.ledger.store import Store
from predibot.ledger.write.paces import LedgerPermits, SharedPaces
from predibot.ledger.write.process_identity import new_owner
from tests.ledger.databases import address, postgres, store

__all__ = ["address", "postgres", "store"]

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOST = {"https://acme.example": Bucket(3.0, 2.0)}
ELSEWHERE = "other@1@2/77/1.00/{}"


def at(seconds: float = 0.0) -> Callable[[], datetime]:
    """Return a clock that stands."""
    return lambda: NOW + timedelta(seconds=seconds)


def permits(store: Store, name: str, seconds: float = 0.0) -> LedgerPermits:
    """Return those of a process of another machine."""
    return LedgerPermits(store, at(seconds), ELSEWHERE.format(name))


def held(store: Store, name: str, *, under_way: int = 0, wanted: int, ceiling: int = 10, seconds: float = 0.0) -> int:
    """Return how many calls a process may have under way."""
    share = permits(store, name, seconds).share(
        "acme", under_way=under_way, wanted=wanted, ceiling=ceiling, signal=None, began_at=NOW
    )
    return share.held


def test_two_processes_together_are_as_fast_as_one_may_be(store: Store) -> None:
    one, other = SharedPaces(at(), store), SharedPaces(at(), store)
    waits = [process.take(HOST, longest_seconds=60.0) for process in (one, other) * 3]
    assert waits == [0.0, 0.0, 0.0, 0.5, 1.0, 1.5]


def test_a_turn_that_comes_too_late_is_left_to_others(store: Store) -> None:
    paces = SharedPaces(at(), store)
    assert [paces.take(HOST, longest_seconds=0.6) for _ in range(6)] == [0.0, 0.0, 0.0, 0.5, None, None]
    assert SharedPaces(at(1.0), store).take(HOST, longest_seconds=0.6) == 0.0


def test_a_process_without_a_ledger_waits_for_nobody() -> None:
    assert SharedPaces().take(HOST, longest_seconds=0.0) == 0.0


def test_processes_share_a_ceiling_and_who_wants_less_leaves_the_rest(store: Store) -> None:
    assert held(store, "a", wanted=20) == 10
    # What is under way there is not called back; from now on they share.
    assert held(store, "b", wanted=20) == 0
    assert held(store, "a", under_way=5, wanted=20) == 5
    assert held(store, "b", wanted=20) == 5
    assert held(store, "a", under_way=2, wanted=2) == 2
    assert held(store, "b", under_way=5, wanted=20) == 8


def test_what_a_process_had_that_is_gone_is_free(store: Store) -> None:
    assert held(store, "a", wanted=20) == 10
    assert held(store, "b", wanted=20, seconds=14.0) == 0
    assert held(store, "b", wanted=20, seconds=15.0) == 10


def test_what_a_process_of_this_machine_had_that_is_gone_is_free_at_once(store: Store) -> None:
    machine, _, _, token = new_owner().split("/")
    gone = LedgerPermits(store, at(), f"{machine}/999999999/1.00/{token}")
    gone.share("acme", under_way=0, wanted=20, ceiling=10, signal=None, began_at=NOW)
    assert held(store, "b", wanted=20) == 10


def test_a_limit_that_one_process_lowers_holds_for_all(store: Store) -> None:
    assert held(store, "a", wanted=6, ceiling=64) == 6
    refused = permits(store, "b").share("acme", under_way=4, wanted=4, ceiling=64, signal="refused", began_at=NOW)
    assert refused.limit == pytest.approx(7.0)
    assert held(store, "a", under_way=3, wanted=20, ceiling=64) == 3


def test_many_at_once_never_have_more_than_there_is(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        shares = list(pool.map(lambda name: held(store, str(name), wanted=3), range(16)))
    assert sum(shares) <= 10
