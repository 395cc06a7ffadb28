"""Claims: no work is done twice, none is lost."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import select

from predibot.domain.decision import Subject
from predibot.errors import ClaimLost
from predibot.ledger.claims import MAX_RETRIES, Claim, Taken, attempts, held_claim, release, renew
from predibot.ledger.decisions import decisions
from predibot.ledger.store import Store
from tests.ledger.by_hand import LEASE, NOW, a_run, claimant, event_of, failed, finished_with, put, rows_of, take

EVENT = event_of(1)
SAID = {"m1a": (1.0, 0.5)}
SECOND = timedelta(seconds=1)


def outcomes(store: Store) -> Sequence[object]:
    """Return how each attempt ended, in order."""
    with store.read() as connection:
        return list(connection.execute(select(attempts.c.outcome).order_by(attempts.c.number)).scalars())


def test_a_claim_is_had_by_one_only(store: Store) -> None:
    run = a_run(store, EVENT)
    assert isinstance(take(store, run, "a", EVENT, claimant("me")), Claim)
    assert take(store, run, "a", EVENT, claimant("you")) == Taken("claimed")
    assert take(store, run, "a", EVENT, claimant("me")) == Taken("claimed")


def test_what_is_done_is_not_done_again(store: Store) -> None:
    run = a_run(store, EVENT)
    held = take(store, run, "a", EVENT, claimant())
    assert isinstance(held, Claim)
    put(store, run, "a", held, finished_with(EVENT, SAID))
    assert take(store, run, "a", EVENT, claimant("later", began_at=NOW + LEASE)) == Taken("recorded")
    assert outcomes(store) == ["recorded"]


def test_the_claim_of_a_dead_process_is_taken_over_at_once(store: Store) -> None:
    run = a_run(store, EVENT)
    take(store, run, "a", EVENT, claimant("dead"))
    taken = take(store, run, "a", EVENT, claimant("me", gone="dead"), now=NOW + SECOND)
    assert isinstance(taken, Claim)
    assert taken.attempt == 2
    assert outcomes(store) == ["lost", None]


def test_the_claim_of_another_machine_is_taken_over_only_after_its_lease(store: Store) -> None:
    run = a_run(store, EVENT)
    take(store, run, "a", EVENT, claimant("far"))
    assert take(store, run, "a", EVENT, claimant("me"), now=NOW + LEASE - SECOND) == Taken("claimed")
    assert isinstance(take(store, run, "a", EVENT, claimant("me"), now=NOW + LEASE), Claim)


def test_a_sign_of_life_prolongs_the_lease(store: Store) -> None:
    run = a_run(store, EVENT)
    take(store, run, "a", EVENT, claimant("far"))
    with store.write() as connection:
        renew(connection, "far", lease=LEASE, now=NOW + LEASE - SECOND)
    assert take(store, run, "a", EVENT, claimant("me"), now=NOW + LEASE) == Taken("claimed")


def test_a_late_result_finds_its_claim_gone_and_stores_nothing(store: Store) -> None:
    run = a_run(store, EVENT)
    late = take(store, run, "a", EVENT, claimant("slow"))
    now = take(store, run, "a", EVENT, claimant("me", gone="slow"))
    assert isinstance(late, Claim)
    assert isinstance(now, Claim)
    with pytest.raises(ClaimLost, match="taken over"):
        put(store, run, "a", late, finished_with(EVENT, SAID))
    with store.read() as connection:
        assert connection.execute(select(decisions)).all() == []
    put(store, run, "a", now, finished_with(EVENT, SAID))
    assert outcomes(store) == ["lost", "recorded"]


def test_what_failed_is_tried_again_by_later_calls_only_and_at_most_three_times(store: Store) -> None:
    run = a_run(store, EVENT)
    for call in range(1 + MAX_RETRIES):
        who = claimant(began_at=NOW + call * SECOND)
        held = take(store, run, "a", EVENT, who, now=NOW + call * SECOND)
        assert isinstance(held, Claim), call
        put(store, run, "a", held, failed(EVENT, at=NOW + call * SECOND))
        assert take(store, run, "a", EVENT, who) == Taken("failed"), "the same call"
    assert take(store, run, "a", EVENT, claimant(began_at=NOW + LEASE)) == Taken("failed")
    assert outcomes(store) == ["failed"] * 4


def test_a_retry_that_succeeds_takes_the_place_of_the_failure(store: Store) -> None:
    run = a_run(store, EVENT)
    first = take(store, run, "a", EVENT, claimant())
    assert isinstance(first, Claim)
    put(store, run, "a", first, failed(EVENT))
    again = take(store, run, "a", EVENT, claimant(began_at=NOW + SECOND))
    assert isinstance(again, Claim)
    put(store, run, "a", again, finished_with(EVENT, SAID))
    with store.read() as connection:
        assert list(connection.execute(select(decisions.c.status)).scalars()) == ["recorded"]


def test_claims_that_are_given_back_are_free_and_do_not_count_as_failures(store: Store) -> None:
    run = a_run(store, EVENT)
    take(store, run, "a", EVENT, claimant("me"))
    with store.write() as connection:
        assert release(connection, "me", now=NOW) == 1
        assert release(connection, "me", now=NOW) == 0
    assert isinstance(take(store, run, "a", EVENT, claimant("you")), Claim)
    assert outcomes(store) == ["interrupted", None]


def test_an_owner_finds_the_claim_it_holds_and_no_other(store: Store) -> None:
    run = a_run(store, EVENT)
    bot_id, _ = rows_of(store, run, "a")
    held = take(store, run, "a", EVENT, claimant("me"))
    with store.read() as connection:
        assert held_claim(connection, run.id, bot_id, Subject("event", "e1"), "me") == held
        assert held_claim(connection, run.id, bot_id, Subject("event", "e1"), "you") is None
