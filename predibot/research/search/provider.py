"""Search providers: what each one is, and what it answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result, as the provider told it; every text is untrusted."""

    title: str
    url: str
    snippet: str
    published_at: datetime | None
    """The latest instant that the stated date can mean; None where none is stated."""
    provider: str


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """What a provider found, and what that cost."""

    results: tuple[SearchResult, ...]
    cost_usd: float | None
    """None where nobody knows it."""
    said: tuple[str, ...] = ()
    """What was tried before in vain, each a clause."""


class SearchFailed(Exception):
    """A provider gave no answer: it could not be reached, refuses, or shows nothing that proves that it searched.

    The message is a clause without a trailing full stop and never names a key.
    """

    def __init__(self, message: str, *, was_asked: bool = True) -> None:
        """Keep whether the provider was asked at all, and may want its money."""
        super().__init__(message)
        self.was_asked = was_asked


class SearchProvider(Protocol):
    """Something that can be searched.

    One that can be asked for nothing earlier too has `takes_after = True`, and
    an argument `after` of `search` beside `before`.
    """

    @property
    def name(self) -> str:
        """Return the word recipes use."""
        ...

    @property
    def dates_results(self) -> bool:
        """Return whether results say when they were published, which a replay needs."""
        ...

    @property
    def usd_per_call(self) -> float | None:
        """Return what a call costs at most; None where nobody knows."""
        ...

    def search(self, query: str, *, before: datetime | None, count: int) -> SearchAnswer:
        """Return results, best first.

        Args:
            query: Not empty.
            before: Asks for nothing later, where the provider can be asked that;
                what comes back has to be checked all the same.
            count: The most results.

        Raises:
            SearchFailed: If there is no answer; no results is one only where
                the provider means it.
        """
        ...


def asked_after(after: datetime | None, provider: SearchProvider) -> dict[str, datetime]:
    """Return the argument by which a provider is asked for nothing earlier; nothing where it cannot be asked that."""
    return {"after": after} if after is not None and getattr(provider, "takes_after", False) else {}


def replay_complaint(providers: Sequence[SearchProvider]) -> str | None:
    """Return why these providers cannot be searched in a replay, or None where one of them can."""
    if any(provider.dates_results for provider in providers):
        return None
    names = ", ".join(provider.name for provider in providers) or "none"
    return f"no search provider says when its results were published ({names}); a replay would drop every one"
