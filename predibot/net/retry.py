"""The one retry layer of all models: jitter, `Retry-After`, a circuit breaker and a total deadline."""

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Protocol

from tenacity import RetryCallState, Retrying, retry_if_exception_type

from predibot.domain.chat import ChatReply
from predibot.errors import ModelError
from predibot.net.circuit_breaker import Breaker, Breakers
from predibot.net.failures import MAX_TRIES, AnswerLost, GivenUp, NotSent, TryAgain
from predibot.net.retry_after import wait_seconds

LONGEST_WAIT_SECONDS = 16.0

_log = logging.getLogger(__name__)


class Tries(Protocol):
    """Who pays for the tries of a call: told of each that failed, and asked before each further one."""

    def failed(self, failure: TryAgain) -> None:
        """Note that a try brought no answer; an `AnswerLost` may have been paid for."""
        ...

    def again(self) -> None:
        """Let a further try be made.

        Raises:
            BudgetSpent: If it must not be made.
            ModelUnavailable: If it cannot be made in time.
        """
        ...


_TRIES: ContextVar[Tries | None] = ContextVar("tries", default=None)
"""Of the call that is made in this thread: a model knows nothing of who pays for it."""


@contextmanager
def paid_by(tries: Tries) -> Iterator[None]:
    """Have every try of a call that is made in this block told to who pays for it."""
    token = _TRIES.set(tries)
    try:
        yield
    finally:
        _TRIES.reset(token)


class Retry:
    """Tries a call until there is an answer, a refusal, or no time left; thread-safe, shared by all models."""

    def __init__(
        self,
        *,
        breakers: Breakers | None = None,
        monotonic: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        """Make the layer.

        Args:
            breakers: One a provider; its own ones by default.
            monotonic: A clock in seconds that never goes back.
            sleep: Waits that many seconds.
            rng: For the jitter of the waits.
        """
        self._breakers = breakers or Breakers(monotonic=monotonic)
        self._monotonic = monotonic
        self._sleep = sleep
        self._rng = rng or random.Random()

    def call(self, once: Callable[[float], ChatReply], *, provider: str, deadline_seconds: float) -> ChatReply:
        """Return the first answer, with the seconds, retries and lost tries it took.

        Args:
            once: Makes one try within so many seconds; raises `TryAgain` or `ModelRefused`.
            provider: Whose breaker it is.
            deadline_seconds: For all tries and waits together.

        Raises:
            GivenUp: If no answer came.
            ModelRefused: If the provider refuses the request for good.
            BudgetSpent: If a further try is not to be paid for; see `paid_by`.
        """
        tries = _TRIES.get()
        started = self._monotonic()
        deadline = started + deadline_seconds
        breaker = self._breakers.of(provider)
        failed_tries = lost_tries = 0

        def attempt() -> ChatReply:
            nonlocal failed_tries, lost_tries
            # Before the breaker: who is let through as its probe must not wait for the others, who wait for the probe.
            if tries is not None and failed_tries:
                tries.again()
            self._wait_for(breaker, provider, deadline)
            try:
                with _watched(breaker):
                    left_seconds = deadline - self._monotonic()
                    if left_seconds <= 0.0:
                        raise NotSent
                    return once(left_seconds)
            except TryAgain as failure:
                failed_tries += 1
                lost_tries += isinstance(failure, AnswerLost)
                if tries is not None:
                    tries.failed(failure)
                raise

        retrying = Retrying(
            retry=retry_if_exception_type(TryAgain),
            wait=self._wait_seconds,
            stop=lambda state: self._is_last(state, deadline),
            sleep=self._sleep,
            reraise=True,
        )
        try:
            reply = retrying(attempt)
        except TryAgain as failure:
            seconds = self._monotonic() - started
            number = retrying.statistics["attempt_number"]
            # Without the cause: what foreign code keeps in its errors is not ours to show.
            raise GivenUp(_given_up(failure, number, seconds), lost_tries=lost_tries) from None
        retries = int(retrying.statistics["attempt_number"]) - 1
        return replace(reply, seconds=self._monotonic() - started, retries=retries, lost_tries=lost_tries)

    def _wait_for(self, breaker: Breaker, provider: str, deadline: float) -> None:
        """Wait until the breaker lets this call through, if that is before the deadline."""
        while (rest_seconds := breaker.admit()) > 0.0:
            # Those who waited for the same instant should not all come back at it.
            rest_seconds *= self._rng.uniform(1.0, 1.25)
            if self._monotonic() + rest_seconds >= deadline:
                said = f"{provider} failed again and again and is left alone for a while"
                raise TryAgain(said, wait_seconds=rest_seconds, tries=1, ill=False)
            self._sleep(rest_seconds)

    def _wait_seconds(self, state: RetryCallState) -> float:
        """Return how long to wait before the next try: what the provider asks for, else longer each time."""
        failure = state.outcome.exception() if state.outcome else None
        asked_seconds = failure.wait_seconds if isinstance(failure, TryAgain) else None
        return wait_seconds(state.attempt_number, asked_seconds, longest_seconds=LONGEST_WAIT_SECONDS, rng=self._rng)

    def _is_last(self, state: RetryCallState, deadline: float) -> bool:
        """Return whether a further try would be one too many or come too late."""
        failure = state.outcome.exception() if state.outcome else None
        tries = failure.tries if isinstance(failure, TryAgain) else MAX_TRIES
        _log.debug("try %d of a model call failed: %s", state.attempt_number, failure)
        return state.attempt_number >= tries or self._monotonic() + state.upcoming_sleep >= deadline


@contextmanager
def _watched(breaker: Breaker) -> Iterator[None]:
    """Tell the breaker how a try went."""
    try:
        yield
    except NotSent:
        breaker.abandoned()
        raise
    except TryAgain as failure:
        if failure.ill:
            breaker.failed()
        else:
            breaker.succeeded()
        raise
    except ModelError:
        breaker.succeeded()
        raise
    except BaseException:
        breaker.abandoned()
        raise
    breaker.succeeded()


def _given_up(failure: TryAgain, tries: int, seconds: float) -> str:
    """Return the message after the last try."""
    wait = "" if failure.wait_seconds is None else f", and it asks to wait {failure.wait_seconds:.0f} s"
    times = "try" if tries == 1 else "tries"
    return f"{failure}; given up after {tries} {times} in {seconds:.0f} s{wait}. Try again later"
