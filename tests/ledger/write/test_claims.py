"""Claims: no work is done twice, none is lost."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import select

from predibot.domain.decision import ReasonKind, Subject
from predibot.domain.price import Quote
from predibot.errors import ClaimLost
from predibot.ledger.read.standing import open_retries
from predibot.ledger.store import Store
from predibot.ledger.write.claims import (
    RETRIES,
    RETRY_PAUSES,
    Claim,
    Retry,
    attempts,
    find_claim,
    release_claims,
    renew_claims,
)
from predibot.ledger.write.decisions import DecisionResult, StoredDecision, decisions, read_decisions
from tests.ledger.by_hand import (
    LEASE,
    NOW,
    a_run,
    abstained,
    claimant,
    event_of,
    failed,
    finished_with,
    put,
    rows_of,
    take,
)

EVENT = event_of(1)
DONE = finished_with(EVENT, {"m1a": (1.0, 0.5)})
SECOND = timedelta(seconds=1)
YEAR = timedelta(days=365)


class Asked:
    """The claims that are asked for on the one decision of a run, and how its attempts ended."""

    def __init__(self, store: Store) -> None:
        """Store the run."""
        self.store = store
        self.run = a_run(store, EVENT)

    def take(
        self,
        owner: str = "me",
        *,
        now: datetime = NOW,
        began_at: datetime = NOW,
        gone: str = "",
        retry: Iterable[Retry] = (),
    ) -> object:
        who = replace(claimant(owner, began_at=began_at, gone=gone), retry=frozenset(retry))
        return take(self.store, self.run, "a", EVENT, who, now=now)

    def claim(self, owner: str = "me", **more: Any) -> Claim:
        held = self.take(owner, **more)
        assert isinstance(held, Claim), held
        return held

    def put(self, held: Claim, finished: DecisionResult) -> None:
        put(self.store, self.run, "a", held, finished)

    def fail(self, at: datetime, *, retry: Iterable[Retry] = ()) -> None:
        """Try the decision at an instant, and fail."""
        self.put(self.claim(now=at, began_at=at, retry=retry), failed(EVENT, at=at))

    @property
    def outcomes(self) -> list[object]:
        """How each attempt ended, in order."""
        asked = select(attempts.c.outcome).order_by(attempts.c.number)
        return self.store.run_read(lambda connection: list(connection.execute(asked).scalars()))

    @property
    def stored(self) -> StoredDecision:
        (found,) = self.store.run_read(lambda connection: read_decisions(connection, self.run.id))
        return found


@pytest.fixture
def asked(store: Store) -> Asked:
    return Asked(store)


def test_a_claim_is_had_by_one_only(asked: Asked) -> None:
    asked.claim("me")
    assert [asked.take(owner) for owner in ("you", "me")] == ["claimed"] * 2


def test_what_is_done_is_not_done_again(asked: Asked) -> None:
    asked.put(asked.claim(), DONE)
    assert asked.take("later", began_at=NOW + LEASE) == "recorded"
    assert asked.outcomes == ["recorded"]


def test_the_claim_of_a_dead_process_is_taken_over_at_once(asked: Asked) -> None:
    asked.claim("dead")
    assert asked.claim(gone="dead", now=NOW + SECOND).attempt == 2
    assert asked.outcomes == ["lost", None]


def test_the_claim_of_another_machine_is_taken_over_only_after_its_lease(asked: Asked) -> None:
    asked.claim("far")
    assert asked.take(now=NOW + LEASE - SECOND) == "claimed"
    # A sign of life prolongs it.
    with asked.store.write() as connection:
        renew_claims(connection, "far", lease=LEASE, now=NOW + LEASE - SECOND)
    assert asked.take(now=NOW + 2 * LEASE - 2 * SECOND) == "claimed"
    asked.claim(now=NOW + 2 * LEASE - SECOND)


def test_a_late_result_finds_its_claim_gone_and_stores_nothing(asked: Asked) -> None:
    late, now = asked.claim("slow"), asked.claim(gone="slow")
    with pytest.raises(ClaimLost, match="taken over"):
        asked.put(late, DONE)
    assert asked.store.run_read(lambda connection: connection.execute(select(decisions)).all()) == []
    asked.put(now, DONE)
    assert asked.outcomes == ["lost", "recorded"]


def test_what_failed_is_tried_again_by_later_calls_only_and_at_most_three_times(asked: Asked) -> None:
    at = NOW
    for pause in (timedelta(0), *RETRY_PAUSES):
        at += pause + SECOND
        asked.fail(at)
        assert asked.take(began_at=at, now=at + YEAR) == "failed", "the same call"
    assert asked.take(began_at=at + YEAR, now=at + YEAR) == "failed"
    assert asked.outcomes == ["failed"] * 4


def test_four_calls_in_one_outage_leave_tries_for_after_it(asked: Asked) -> None:
    for call in range(2):
        asked.fail(NOW + call * SECOND)
    due = NOW + SECOND + RETRY_PAUSES[1]
    for early in (NOW + 2 * SECOND, due - SECOND):
        assert asked.take(began_at=early, now=early) == "failed"
    stored = asked.stored
    assert (stored.next_try_at, stored.failures, stored.failed_for_good) == (due, 2, False)
    asked.claim(began_at=due, now=due)


def test_who_asks_for_it_need_not_wait_and_has_one_more_try_a_call(asked: Asked) -> None:
    for call in range(6):
        at = NOW + call * SECOND
        asked.fail(at, retry=["failed"])
        assert asked.take(began_at=at, now=NOW + YEAR, retry=["failed"]) == "failed"
    stored = asked.stored
    assert (stored.failures, stored.failed_for_good, stored.next_try_at) == (6, True, None)
    assert asked.take(began_at=NOW + YEAR, now=NOW + YEAR) == "failed"


@pytest.mark.parametrize(("kind", "again"), [("budget", True), ("members", True), ("bot", False), (None, False)])
def test_an_abstention_is_asked_again_where_its_reason_may_have_passed(
    asked: Asked, kind: ReasonKind | None, again: bool
) -> None:
    shown = {"m1a": Quote(NOW, displayed=0.4)}
    asked.put(asked.claim(), replace(abstained(EVENT), reason_kind=kind, shown=shown))
    assert asked.take(began_at=NOW + YEAR, now=NOW + YEAR) == "abstained", "unasked"
    held = asked.take(began_at=NOW + YEAR, now=NOW + YEAR, retry=RETRIES)
    assert isinstance(held, Claim) is again
    if isinstance(held, Claim):
        asked.put(held, DONE)
        assert asked.stored.status == "recorded"


def test_what_failed_by_its_answers_is_tried_again_only_where_somebody_asks(asked: Asked) -> None:
    asked.put(asked.claim(), replace(failed(EVENT), reason_kind="answer"))
    stored = asked.stored
    assert (stored.failures, stored.failed_for_good, stored.next_try_at) == (1, True, None)
    assert asked.store.run_read(open_retries).open == 0
    assert asked.take(began_at=NOW + YEAR, now=NOW + YEAR) == "failed"
    # A failure of the provider is tried again as ever.
    asked.put(asked.claim(began_at=NOW + YEAR, now=NOW + YEAR, retry=["failed"]), failed(EVENT))
    assert asked.store.run_read(open_retries).open == 1


@pytest.mark.parametrize("finished", [DONE, replace(failed(EVENT), status="refused")])
def test_what_is_recorded_or_refused_is_never_made_again(asked: Asked, finished: DecisionResult) -> None:
    asked.put(asked.claim(), finished)
    assert asked.take(began_at=NOW + YEAR, now=NOW + YEAR, retry=RETRIES) == finished.status


def test_a_retry_that_succeeds_takes_the_place_of_the_failure(asked: Asked) -> None:
    asked.fail(NOW)
    asked.put(asked.claim(began_at=NOW + SECOND), DONE)
    assert asked.stored.status == "recorded"


def test_claims_that_are_given_back_are_free_and_do_not_count_as_failures(asked: Asked) -> None:
    asked.claim("me")
    with asked.store.write() as connection:
        assert [release_claims(connection, "me", now=NOW) for _ in range(2)] == [1, 0]
    asked.claim("you")
    assert asked.outcomes == ["interrupted", None]


def test_an_owner_finds_the_claim_it_holds_and_no_other(asked: Asked) -> None:
    bot_id, _ = rows_of(asked.store, asked.run, "a")
    held = asked.claim("me")
    with asked.store.read() as connection:
        found = [find_claim(connection, asked.run.id, bot_id, Subject("event", "e1"), who) for who in ("me", "you")]
    assert found == [held, None]


def test_who_was_faster_keeps_what_another_just_found_free(asked: Asked) -> None:
    if not asked.store.address.startswith("postgresql"):
        pytest.skip("SQLite lets one write at a time, from the look at a claim to its taking")
    asked.claim("dead")
    faster: list[object] = []

    def is_gone(owner: str) -> bool:
        faster.append(asked.take("faster", gone="dead", now=NOW + SECOND))
        return owner == "dead"

    who = replace(claimant("slower"), is_gone=is_gone)
    slower = take(asked.store, asked.run, "a", EVENT, who, now=NOW + SECOND)
    assert isinstance(faster[0], Claim)
    assert slower == "claimed"
