"""Claims: no work is done twice, none is lost."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

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
from predibot.ledger.write.decisions import DecisionResult, decisions, read_decisions
from predibot.ledger.write.runs import StoredRun
from tests.ledger.by_hand import (
    LEASE,
    NOW,
    a_run,
    abstained,
    claimant,
    decide,
    event_of,
    failed,
    finished_with,
    put,
    rows_of,
    take,
)

EVENT = event_of(1)
SAID = {"m1a": (1.0, 0.5)}
SECOND = timedelta(seconds=1)
YEAR = timedelta(days=365)


def outcomes(store: Store) -> Sequence[object]:
    """Return how each attempt ended, in order."""
    with store.read() as connection:
        return list(connection.execute(select(attempts.c.outcome).order_by(attempts.c.number)).scalars())


def test_a_claim_is_had_by_one_only(store: Store) -> None:
    run = a_run(store, EVENT)
    assert isinstance(take(store, run, "a", EVENT, claimant("me")), Claim)
    assert take(store, run, "a", EVENT, claimant("you")) == "claimed"
    assert take(store, run, "a", EVENT, claimant("me")) == "claimed"


def test_what_is_done_is_not_done_again(store: Store) -> None:
    run = a_run(store, EVENT)
    held = take(store, run, "a", EVENT, claimant())
    assert isinstance(held, Claim)
    put(store, run, "a", held, finished_with(EVENT, SAID))
    assert take(store, run, "a", EVENT, claimant("later", began_at=NOW + LEASE)) == "recorded"
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
    assert take(store, run, "a", EVENT, claimant("me"), now=NOW + LEASE - SECOND) == "claimed"
    assert isinstance(take(store, run, "a", EVENT, claimant("me"), now=NOW + LEASE), Claim)


def test_a_sign_of_life_prolongs_the_lease(store: Store) -> None:
    run = a_run(store, EVENT)
    take(store, run, "a", EVENT, claimant("far"))
    with store.write() as connection:
        renew_claims(connection, "far", lease=LEASE, now=NOW + LEASE - SECOND)
    assert take(store, run, "a", EVENT, claimant("me"), now=NOW + LEASE) == "claimed"


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


def fail(store: Store, run: StoredRun, at: datetime, *, retry: frozenset[Retry] = frozenset()) -> None:
    """Try the decision at an instant, and fail."""
    held = take(store, run, "a", EVENT, replace(claimant(began_at=at), retry=retry), now=at)
    assert isinstance(held, Claim), at
    put(store, run, "a", held, failed(EVENT, at=at))


def test_what_failed_is_tried_again_by_later_calls_only_and_at_most_three_times(store: Store) -> None:
    run, at = a_run(store, EVENT), NOW
    for pause in (timedelta(0), *RETRY_PAUSES):
        at += pause + SECOND
        fail(store, run, at)
        assert take(store, run, "a", EVENT, claimant(began_at=at), now=at + YEAR) == "failed", "the same call"
    assert take(store, run, "a", EVENT, claimant(began_at=at + YEAR), now=at + YEAR) == "failed"
    assert outcomes(store) == ["failed"] * 4


def test_four_calls_in_one_outage_leave_tries_for_after_it(store: Store) -> None:
    run = a_run(store, EVENT)
    for call in range(2):
        fail(store, run, NOW + call * SECOND)
    due = NOW + SECOND + RETRY_PAUSES[1]
    for early in (NOW + 2 * SECOND, due - SECOND):
        assert take(store, run, "a", EVENT, claimant(began_at=early), now=early) == "failed"
    with store.read() as connection:
        (stored,) = read_decisions(connection, run.id)
    assert (stored.next_try_at, stored.failures, stored.failed_for_good) == (due, 2, False)
    assert isinstance(take(store, run, "a", EVENT, claimant(began_at=due), now=due), Claim)


def test_who_asks_for_it_need_not_wait_and_has_one_more_try_a_call(store: Store) -> None:
    run, asked = a_run(store, EVENT), frozenset[Retry](["failed"])
    for call in range(6):
        fail(store, run, NOW + call * SECOND, retry=asked)
        same_call = replace(claimant(began_at=NOW + call * SECOND), retry=asked)
        assert take(store, run, "a", EVENT, same_call, now=NOW + YEAR) == "failed"
    with store.read() as connection:
        (stored,) = read_decisions(connection, run.id)
    assert (stored.failures, stored.failed_for_good, stored.next_try_at) == (6, True, None)
    assert take(store, run, "a", EVENT, claimant(began_at=NOW + YEAR), now=NOW + YEAR) == "failed"


@pytest.mark.parametrize(("kind", "again"), [("budget", True), ("members", True), ("bot", False), (None, False)])
def test_an_abstention_is_asked_again_where_its_reason_may_have_passed(
    store: Store, kind: ReasonKind | None, again: bool
) -> None:
    run = a_run(store, EVENT)
    shown = {"m1a": Quote(NOW, displayed=0.4)}
    decide(store, run, "a", replace(abstained(EVENT), reason_kind=kind, shown=shown))
    later = claimant(began_at=NOW + YEAR)
    assert take(store, run, "a", EVENT, later, now=NOW + YEAR) == "abstained", "unasked"
    held = take(store, run, "a", EVENT, replace(later, retry=frozenset(RETRIES)), now=NOW + YEAR)
    assert isinstance(held, Claim) is again
    if isinstance(held, Claim):
        put(store, run, "a", held, finished_with(EVENT, SAID))
        with store.read() as connection:
            assert [each.status for each in read_decisions(connection, run.id)] == ["recorded"]


def test_what_failed_by_its_answers_is_tried_again_only_where_somebody_asks(store: Store) -> None:
    run = a_run(store, EVENT)
    later = claimant(began_at=NOW + YEAR)
    unreadable = replace(failed(EVENT), reason_kind="answer")
    decide(store, run, "a", unreadable)
    with store.read() as connection:
        (stored,) = read_decisions(connection, run.id)
        assert open_retries(connection).open == 0
    assert (stored.failures, stored.failed_for_good, stored.next_try_at) == (1, True, None)
    assert take(store, run, "a", EVENT, later, now=NOW + YEAR) == "failed"
    held = take(store, run, "a", EVENT, replace(later, retry=frozenset({"failed"})), now=NOW + YEAR)
    assert isinstance(held, Claim)
    # A failure of the provider is tried again as ever.
    put(store, run, "a", held, failed(EVENT))
    with store.read() as connection:
        assert open_retries(connection).open == 1


@pytest.mark.parametrize("finished", [finished_with(EVENT, SAID), replace(failed(EVENT), status="refused")])
def test_what_is_recorded_or_refused_is_never_made_again(store: Store, finished: DecisionResult) -> None:
    run = a_run(store, EVENT)
    decide(store, run, "a", finished)
    asked = replace(claimant(began_at=NOW + YEAR), retry=frozenset(RETRIES))
    assert take(store, run, "a", EVENT, asked, now=NOW + YEAR) == finished.status


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
        assert release_claims(connection, "me", now=NOW) == 1
        assert release_claims(connection, "me", now=NOW) == 0
    assert isinstance(take(store, run, "a", EVENT, claimant("you")), Claim)
    assert outcomes(store) == ["interrupted", None]


def test_an_owner_finds_the_claim_it_holds_and_no_other(store: Store) -> None:
    run = a_run(store, EVENT)
    bot_id, _ = rows_of(store, run, "a")
    held = take(store, run, "a", EVENT, claimant("me"))
    with store.read() as connection:
        assert find_claim(connection, run.id, bot_id, Subject("event", "e1"), "me") == held
        assert find_claim(connection, run.id, bot_id, Subject("event", "e1"), "you") is None


def test_who_was_faster_keeps_what_another_just_found_free(store: Store) -> None:
    if not store.address.startswith("postgresql"):
        pytest.skip("SQLite lets one write at a time, from the look at a claim to its taking")
    run = a_run(store, EVENT)
    take(store, run, "a", EVENT, claimant("dead"))
    faster: list[object] = []

    def is_gone(owner: str) -> bool:
        faster.append(take(store, run, "a", EVENT, claimant("faster", gone="dead"), now=NOW + SECOND))
        return owner == "dead"

    slower = take(store, run, "a", EVENT, replace(claimant("slower"), is_gone=is_gone), now=NOW + SECOND)
    assert isinstance(faster[0], Claim)
    assert slower == "claimed"
