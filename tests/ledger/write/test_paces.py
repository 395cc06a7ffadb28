"""Paces and permits: one limit for all processes of a ledger, whatever becomes of one of them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import update

from predibot.contracts import Bucket
from predibot.ledger.store import Store
from predibot.ledger.write.paces import LedgerPermits, SharedPaces, paces
from predibot.ledger.write.process_identity import new_owner
from predibot.net.concurrency import Share, Signal
from tests.ledger.databases import address, postgres, store
from tests.soaks import ONE_DATABASE

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


@dataclass
class Asking:
    """A process that asks a provider as fast as it may, on a clock that is moved by hand."""

    name: str
    ends: list[float] = field(default_factory=list)
    done: int = 0

    def look(self, store: Store, now: float, signal: Signal | None = None, began: float = 0.0) -> Share:
        """Return what it may have under way; it wants forty."""
        return permits(store, self.name, now).share(
            "acme",
            under_way=len(self.ends),
            wanted=40,
            ceiling=256,
            signal=signal,
            began_at=at(began)(),
        )


def asked_for(store: Store, *, seconds: float, bears: Callable[[float], int]) -> tuple[list[Asking], list[Any]]:
    """Have three processes ask with calls of 0.7 s; return them, and (instant, limit, under way) of each tenth."""
    processes, seen = [Asking(name) for name in "abc"], []
    for tenth in range(round(seconds * 10)):
        now, limit = tenth / 10, 0.0
        for each in processes:
            each.done += sum(end <= now for end in each.ends)
            each.ends = [end for end in each.ends if end > now]
        for each in processes:
            may_have = each.look(store, now).held
            while len(each.ends) < may_have:
                each.ends.append(now + 0.7)
                if sum(len(other.ends) for other in processes) > bears(now):
                    # It is refused at once, and as in a gate the process goes on with what it may have then.
                    may_have = each.look(store, now, "refused", now).held
                    each.ends.pop()
            limit = each.look(store, now).limit
        seen.append((now, limit, sum(len(each.ends) for each in processes)))
    return processes, seen


def test_a_burst_of_refusals_lowers_the_limit_of_several_processes_once_in_ten_seconds(store: Store) -> None:
    _, seen = asked_for(store, seconds=4.0, bears=lambda _: 20)
    limits = [limit for _, limit, _ in seen]
    assert limits[0] >= 0.7 * 20
    assert set(limits) == {limits[0]}
    assert all(under_way <= limits[0] for now, _, under_way in seen if now > 0.7)


@ONE_DATABASE
def test_a_limit_that_falls_to_one_is_obeyed_by_all_and_each_has_its_turn(store: Store) -> None:
    processes = [Asking(name, [0.7] * 10) for name in "abc"]
    for each in processes:
        each.look(store, 0.0)
    with store.write() as connection:
        connection.execute(update(paces).values(at_once=1.0))
    assert [each.look(store, 0.1).held for each in processes] == [0, 0, 0]
    most = 0
    for tenth in range(10, 130):
        for each in processes:
            each.done += sum(end <= tenth / 10 for end in each.ends)
            each.ends = [end for end in each.ends if end > tenth / 10]
            if len(each.ends) < each.look(store, tenth / 10).held:
                each.ends.append(tenth / 10 + 0.7)
        most = max(most, sum(len(each.ends) for each in processes))
    assert most == 1
    assert all(each.done - 10 >= 2 for each in processes)
