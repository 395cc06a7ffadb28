"""The retry layer and its circuit breaker: how long, how often, and when not at all."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.agents.models.failures import GivenUp
from predibot.agents.models.retry import report_tries_to
from predibot.domain.chat import ChatReply
from predibot.errors import BudgetSpent, ModelRefused
from predibot.net.circuit_breaker import PROBE_WAIT_SECONDS, Breaker
from predibot.net.failures import MAX_ASKED_TRIES, LostAnswer, TryAgain
from predibot.net.retry import LONGEST_WAIT_SECONDS
from tests.agents.clients import Clock, reply_of, retry_of


def failing(*failures: Exception) -> Callable[[float], ChatReply]:
    """Return a try that fails so often and then answers."""
    left = list(failures)

    def once(seconds: float) -> ChatReply:
        if left:
            raise left.pop(0)
        return reply_of()

    return once


def always(failure: Exception) -> Callable[[float], ChatReply]:
    """Return a try that never answers."""

    def once(seconds: float) -> ChatReply:
        raise failure

    return once


def test_each_try_gets_what_is_left_of_the_deadline() -> None:
    clock, given_seconds = Clock(), []

    def once(seconds: float) -> ChatReply:
        given_seconds.append(seconds)
        clock.seconds += 4.0
        raise TryAgain("busy", wait_seconds=1.0)

    with pytest.raises(GivenUp):
        retry_of(clock).call(once, provider="p", deadline_seconds=11.0)
    assert given_seconds[0] == 11.0
    assert 5.8 <= given_seconds[1] <= 6.0
    assert 0.0 < given_seconds[2] < 1.0
    assert len(given_seconds) == 3


@given(st.lists(st.sampled_from(["try", "lost", "asked"]), max_size=8), st.floats(0.1, 30.0))
def test_waits_never_pass_the_deadline(kinds: list[str], deadline_seconds: float) -> None:
    failures = {"try": TryAgain("a"), "lost": LostAnswer("b"), "asked": TryAgain("c", wait_seconds=3.0)}
    clock = Clock()
    try:
        once = failing(*(failures[kind] for kind in kinds))
        retry_of(clock).call(once, provider="p", deadline_seconds=deadline_seconds)
    except GivenUp:
        assert kinds
    assert clock.seconds < deadline_seconds
    assert all(wait <= max(LONGEST_WAIT_SECONDS, 3.0 + 0.2 * LONGEST_WAIT_SECONDS) for wait in clock.waits)


def test_tries_whose_answer_was_lost_are_counted_also_where_one_came_in_the_end() -> None:
    once = failing(LostAnswer("cut"), LostAnswer("cut"), TryAgain("busy"))
    reply = retry_of(Clock()).call(once, provider="p", deadline_seconds=100.0)
    assert (reply.retries, reply.lost_tries) == (3, 2)


def test_a_rate_limit_that_says_when_is_asked_until_the_deadline() -> None:
    clock = Clock()
    busy = TryAgain("busy", wait_seconds=10.0, tries=MAX_ASKED_TRIES, ill=False)
    with pytest.raises(GivenUp, match="9 tries in 90 s"):
        retry_of(clock).call(always(busy), provider="p", deadline_seconds=101.0)


def breaker_of(clock: Clock) -> Breaker:
    """Return a breaker that opens at the second failure, for ten seconds."""
    return Breaker(failures=2, rest_seconds=10.0, monotonic=clock.monotonic)


def test_a_breaker_opens_after_failures_in_a_row_only() -> None:
    breaker = breaker_of(Clock())
    for happened in (breaker.record_failure, breaker.record_success, breaker.record_failure):
        breaker.admit()
        happened()
    assert breaker.admit() == 0.0
    breaker.record_failure()
    assert breaker.admit() == 10.0


@pytest.mark.parametrize(
    ("end", "rests_seconds"), [(Breaker.record_success, 0.0), (Breaker.record_failure, 10.0), (Breaker.release, 0.0)]
)
def test_after_its_rest_one_call_finds_out_for_all_or_leaves_its_place_to_another(
    end: Callable[[Breaker], None], rests_seconds: float
) -> None:
    clock = Clock()
    breaker = breaker_of(clock)
    breaker.record_failure()
    breaker.record_failure()
    clock.seconds = 10.0
    assert (breaker.admit(), breaker.admit()) == (0.0, PROBE_WAIT_SECONDS)
    end(breaker)
    assert breaker.admit() == rests_seconds


def test_a_call_outlives_an_open_breaker_if_its_deadline_allows() -> None:
    clock = Clock()
    retry = retry_of(clock, failures=2)
    once = failing(TryAgain("down"), TryAgain("down"), TryAgain("down"))
    reply = retry.call(once, provider="p", deadline_seconds=120.0)
    assert (reply.message.text, reply.retries) == ("yes", 3)
    assert clock.seconds >= 40.0


def test_many_who_wait_for_a_provider_are_as_patient_as_their_deadline() -> None:
    clock = Clock()
    retry = retry_of(clock, failures=1)
    with pytest.raises(GivenUp):
        retry.call(always(TryAgain("down", tries=1)), provider="p", deadline_seconds=5.0)
    waits_before = len(clock.waits)

    def probe(seconds: float) -> ChatReply:
        with pytest.raises(GivenUp, match="left alone"):
            retry.call(failing(), provider="p", deadline_seconds=100.0)
        return reply_of()

    assert retry.call(probe, provider="p", deadline_seconds=300.0).retries == 0
    assert len(clock.waits) - waits_before > MAX_ASKED_TRIES


def test_breakers_are_one_a_provider() -> None:
    clock = Clock()
    retry = retry_of(clock, failures=1)
    with pytest.raises(GivenUp):
        retry.call(always(TryAgain("down")), provider="p", deadline_seconds=5.0)
    assert clock.waits == sorted(clock.waits)
    with pytest.raises(GivenUp, match="left alone"):
        retry.call(failing(), provider="p", deadline_seconds=5.0)
    assert retry.call(failing(), provider="q", deadline_seconds=5.0).retries == 0


@pytest.mark.parametrize("failure", [ModelRefused("no"), TryAgain("busy", tries=1, ill=False)])
def test_refusals_and_rate_limits_say_nothing_against_a_providers_health(failure: Exception) -> None:
    retry = retry_of(Clock(), failures=1)
    with pytest.raises(type(failure) if isinstance(failure, ModelRefused) else GivenUp):
        retry.call(always(failure), provider="p", deadline_seconds=5.0)
    assert retry.call(failing(), provider="p", deadline_seconds=5.0).retries == 0


class Payer:
    """Notes what it is told, and pays for so many further tries."""

    def __init__(self, further: int) -> None:
        self.further = further
        self.told: list[str] = []

    def failed(self, failure: TryAgain) -> None:
        self.told.append(type(failure).__name__)

    def again(self) -> None:
        self.told.append("again")
        self.further -= 1
        if self.further < 0:
            raise BudgetSpent("no more")


def test_who_pays_is_told_of_each_try_and_asked_before_each_further_one() -> None:
    payer, retry = Payer(9), retry_of(Clock())
    with report_tries_to(payer):
        retry.call(failing(LostAnswer("cut"), TryAgain("busy")), provider="p", deadline_seconds=100.0)
    retry.call(failing(LostAnswer("cut")), provider="p", deadline_seconds=100.0)
    assert payer.told == ["LostAnswer", "again", "TryAgain", "again"]


def test_a_try_that_nobody_pays_for_is_not_made() -> None:
    payer, tries = Payer(1), iter([LostAnswer("a"), LostAnswer("b"), AssertionError("was asked")])

    def once(seconds: float) -> ChatReply:
        raise next(tries)

    with report_tries_to(payer), pytest.raises(BudgetSpent):
        retry_of(Clock()).call(once, provider="p", deadline_seconds=100.0)
    assert payer.told == ["LostAnswer", "again", "LostAnswer", "again"]


def test_who_finds_out_for_all_whether_a_provider_is_back_waits_for_nobody_then() -> None:
    clock = Clock()
    retry = retry_of(clock, failures=1)
    asked_at: list[float] = []

    class Patient(Payer):
        def again(self) -> None:
            asked_at.append(clock.seconds)

    with report_tries_to(Patient(9)):
        retry.call(failing(TryAgain("down")), provider="p", deadline_seconds=100.0)
    # It was asked before the twenty seconds for which the provider is left alone, not after them.
    assert asked_at[0] < 5.0
    assert clock.seconds > 20.0


def test_a_call_without_time_is_not_made_and_says_nothing_of_the_provider() -> None:
    clock = Clock()
    retry = retry_of(clock, failures=1)
    with pytest.raises(GivenUp, match="no connection"):
        retry.call(always(TryAgain("no connection", tries=1)), provider="p", deadline_seconds=1.0)
    clock.seconds += 60.0
    late = pytest.raises(GivenUp, match="no time was left, so that nothing was sent; given up after 1 try")
    with late as caught:
        # It was to find out whether the provider is back; the next one does that, and at once.
        retry.call(failing(), provider="p", deadline_seconds=0.0)
    assert caught.value.lost_tries == 0
    assert retry.call(failing(), provider="p", deadline_seconds=0.5).retries == 0
