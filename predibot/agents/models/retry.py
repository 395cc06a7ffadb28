"""The retry layer of all models: a circuit breaker for each provider, and a payer for each try."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Protocol

from predibot._context import set_within
from predibot.agents.models.failures import GivenUp
from predibot.domain.chat import ChatReply
from predibot.errors import ModelError
from predibot.net.circuit_breaker import Breaker
from predibot.net.concurrency import Gates
from predibot.net.failures import LostAnswer, NoTimeToSend, TryAgain
from predibot.net.retry import RetryPolicy


class _Tries(Protocol):
    """The payer of a call's tries: it reserves each further try, and books the failed ones."""

    def failed(self, failure: TryAgain) -> None: ...

    def again(self) -> None: ...


_TRIES: ContextVar[_Tries | None] = ContextVar("tries", default=None)
"""The payer in this thread; models do not know who pays for them."""


def report_tries_to(tries: _Tries) -> AbstractContextManager[None]:
    """In this block, report every try of a call to its payer."""
    return set_within(_TRIES, tries)


@dataclass(frozen=True, slots=True)
class Retry:
    """Tries a call until there is an answer, a refusal, or no time left; thread-safe, shared by all models."""

    policy: RetryPolicy = field(default_factory=RetryPolicy)
    make_breaker: Callable[[], Breaker] = Breaker
    gates: Gates = field(default_factory=Gates)
    _breakers: dict[str, Breaker] = field(default_factory=dict)
    """By provider."""

    def call(self, once: Callable[[float], ChatReply], *, provider: str, deadline_seconds: float) -> ChatReply:
        """Return the first answer, with the seconds, retries and lost tries it took.

        `once` makes one try within so many seconds, and raises `TryAgain` or `ModelRefused`. The call raises `GivenUp`
        if no answer came, and `BudgetSpent` if a further try cannot be paid for; see `report_tries_to`.
        """
        tries = _TRIES.get()
        started = self.policy.monotonic()
        deadline = started + deadline_seconds
        breaker = self._breakers.setdefault(provider, self.make_breaker())
        failed_tries = lost_tries = 0

        def attempt() -> ChatReply:
            nonlocal failed_tries, lost_tries
            # Pay before asking the breaker: its probe must not wait for other calls, which wait for the probe.
            if tries is not None and failed_tries:
                tries.again()
            try:
                with self.gates.turn(provider, deadline):
                    self._wait_for(breaker, provider, deadline)
                    with _report_to(breaker):
                        left_seconds = deadline - self.policy.monotonic()
                        if left_seconds <= 0.0:
                            raise NoTimeToSend
                        return once(left_seconds)
            except TryAgain as failure:
                failed_tries += 1
                lost_tries += isinstance(failure, LostAnswer)
                if tries is not None:
                    tries.failed(failure)
                raise

        reply = self.policy.call(attempt, deadline=deadline, given_up=lambda text: GivenUp(text, lost_tries=lost_tries))
        seconds = self.policy.monotonic() - started
        return replace(reply, seconds=seconds, retries=failed_tries, lost_tries=lost_tries)

    def _wait_for(self, breaker: Breaker, provider: str, deadline: float) -> None:
        while (rest_seconds := breaker.admit()) > 0.0:
            # Spread the calls that wait for the same instant.
            rest_seconds *= self.policy.rng.uniform(1.0, 1.25)
            if self.policy.monotonic() + rest_seconds >= deadline:
                message = f"{provider} failed again and again and is left alone for a while"
                raise TryAgain(message, wait_seconds=rest_seconds, tries=1, ill=False)
            self.policy.sleep(rest_seconds)


@contextmanager
def _report_to(breaker: Breaker) -> Iterator[None]:
    """Report the result of a try to the breaker."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, NoTimeToSend) or not isinstance(error, TryAgain | ModelError):
            breaker.release()
        elif isinstance(error, TryAgain) and error.ill:
            breaker.record_failure()
        else:
            breaker.record_success()
        raise
    breaker.record_success()
