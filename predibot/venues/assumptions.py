"""Assumptions on venues' hosts, each tested with a request; see `predibot doctor --live`."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlsplit

from predibot.contracts import Assumption
from predibot.errors import PredibotError
from predibot.net.failures import BadAddress, BadAnswer, TryAgain
from predibot.net.json_client import HttpAnswer, JsonClient

_SECONDS = 20.0
_MOST_SILENCES = 2
"""A host out of reach must not cost minutes."""


class Mismatch(Exception):
    """An assumption is wrong; the text says what was seen."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        """Keep the HTTP status that came instead of an answer."""
        super().__init__(message)
        self.status = status


_FAILURES = (
    *(Mismatch, TryAgain, BadAnswer, BadAddress, PredibotError),
    *(ValueError, LookupError, TypeError, AttributeError),
)


@dataclass(slots=True, kw_only=True)
class Hosts:
    """The hosts to ask, and what was seen so far."""

    client: JsonClient
    ends: str = ""
    """What the latest answer says about the end of its address."""
    silences: Counter[str] = field(default_factory=Counter)

    def answer(self, method: str, url: str, params: list[tuple[str, str]] | None = None, body: object = None) -> Any:
        """Return an address' JSON answer."""
        host = urlsplit(url).netloc
        if self.silences[host] >= _MOST_SILENCES:
            raise Mismatch(f"not tried: {host} gave no answer {_MOST_SILENCES} times before")
        try:
            received = self.client.ask(method, url, seconds=_SECONDS, params=params, body=body)
        except TryAgain:
            self.silences[host] += 1
            raise
        self.ends = _end_notice(received)
        if not received.is_success:
            raise Mismatch(f"{received.asked} answered {received.status}", status=received.status)
        return received.json()

    def rows(self, url: str, *params: tuple[str, str]) -> list[dict[str, Any]]:
        """Return the objects of an address' list; it must have one."""
        return require_objects(self.answer("GET", url, list(params)), url.rpartition("/")[2])


_H = TypeVar("_H", bound=Hosts)


def require_objects(listed: object, what: str) -> list[dict[str, Any]]:
    """Return the objects of a list; it must have one."""
    found = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    if not found:
        raise Mismatch(f"no list of {what} but {str(listed)[:80]!r}")
    return found


def try_assumptions(hosts: _H, checks: Mapping[str, Callable[[_H], str]]) -> Iterator[Assumption]:
    """Yield each assumption with what was seen: the result of its check, or its error."""
    for name, check in checks.items():
        hosts.ends = ""
        try:
            holds, seen = True, check(hosts)
        except _FAILURES as why:
            holds, seen = False, str(why) or type(why).__name__
        yield Assumption(name, holds, f"{seen}{hosts.ends}"[:300])


def _end_notice(received: HttpAnswer) -> str:
    said = [f"{name}: {received.headers[name]}" for name in ("deprecation", "sunset") if name in received.headers]
    return f" ({', '.join(said)})" if said else ""
