"""The interface of search providers, and their answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result in the provider's words; every text is untrusted."""

    title: str
    url: str
    snippet: str
    published_at: datetime | None
    """The latest instant that the stated date can mean; None without a date."""
    provider: str


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """The results of a search, and its cost."""

    results: tuple[SearchResult, ...]
    cost_usd: float | None
    said: tuple[str, ...] = ()
    """Failures of earlier attempts, each a clause."""


class SearchFailed(Exception):
    """A provider could not be reached, refused, or gave no proof that it searched. The message is a clause without a
    full stop and never names a key.
    """

    def __init__(self, message: str, *, was_asked: bool = True) -> None:
        """Keep whether the provider got the request, and may charge for it."""
        super().__init__(message)
        self.was_asked = was_asked


class SearchProvider(Protocol):
    """A search provider; one that can look for results after a date has `takes_after = True`, and `search` takes
    `after`.
    """

    @property
    def name(self) -> str:
        """Return the name that recipes use."""

    @property
    def dates_results(self) -> bool:
        """Return whether results state when they were published, which a replay needs."""

    @property
    def usd_per_call(self) -> float | None:
        """Return the most that a call costs, None if that is unknown."""

    def search(self, query: str, *, before: datetime | None, count: int) -> SearchAnswer:
        """Return at most `count` results, best first; raise `SearchFailed` if there is no answer.

        `before` asks for nothing later, if the provider supports that; results must be checked all the same. No results
        are an answer only if the provider says so reliably.
        """


def asked_after(after: datetime | None, provider: SearchProvider) -> dict[str, datetime]:
    """Return the argument `after` for a provider that supports it; empty otherwise."""
    return {"after": after} if after is not None and getattr(provider, "takes_after", False) else {}


def replay_complaint(providers: Sequence[SearchProvider]) -> str | None:
    """Return why these providers cannot be searched in a replay, or None if one can."""
    if any(provider.dates_results for provider in providers):
        return None
    names = ", ".join(provider.name for provider in providers) or "none"
    return f"no search provider says when its results were published ({names}); a replay would drop every one"
