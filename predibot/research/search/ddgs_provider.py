"""DuckDuckGo and its like through ddgs, which needs no key and promises nothing."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from predibot.net.deadline import in_time
from predibot.research.search.dates import latest_instant
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchResult

_log = logging.getLogger(__name__)


class DdgsClient(Protocol):
    """What we use of `ddgs.DDGS`."""

    def text(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """Return results of the web."""
        ...

    def news(self, query: str, **options: Any) -> list[dict[str, Any]]:
        """Return results among the news."""
        ...


@dataclass(frozen=True, slots=True)
class DdgsSearch:
    """ddgs. Refusals read "No results found." there, so that no results are unknown and never none."""

    clock: Callable[[], datetime]
    kind: Literal["text", "news"] = "text"
    """Only news say a date."""
    backend: str = "duckduckgo"
    """Pinned: with `auto` the library shuffles."""
    usd_per_call: float | None = 0.0
    deadline_seconds: float = 15.0
    client: Callable[[], DdgsClient] | None = None
    """Instead of the library's own, in tests."""

    @property
    def name(self) -> str:
        """Return the word recipes use."""
        return "ddgs" if self.kind == "text" else "ddgs_news"

    @property
    def dates_results(self) -> bool:
        """Return whether results say a date."""
        return self.kind == "news"

    def search(self, query: str, *, before: datetime | None, count: int) -> SearchAnswer:
        """Return results; ddgs takes no last date."""
        try:
            rows = in_time(lambda: self._rows(query, count), self.deadline_seconds)
        except TimeoutError:
            raise SearchFailed(f"{self.name} gave no answer in {self.deadline_seconds:g} s") from None
        if not rows:
            raise SearchFailed(_UNKNOWN.format(name=self.name))
        now = self.clock()
        found = [
            SearchResult(
                title=str(row.get("title") or ""),
                url=str(row.get("href") or row.get("url")),
                snippet=str(row.get("body") or ""),
                published_at=latest_instant(row.get("date"), now=now),
                provider=self.name,
            )
            for row in rows
            if row.get("href") or row.get("url")
        ]
        return SearchAnswer(tuple(found[:count]), self.usd_per_call)

    def _rows(self, query: str, count: int) -> list[dict[str, Any]]:
        """Return what the library finds."""
        # Imported here: not every bot searches, and not every one that does uses ddgs.
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException

        try:
            client: DdgsClient = self.client() if self.client is not None else DDGS(timeout=int(self.deadline_seconds))
            search = client.news if self.kind == "news" else client.text
            return search(query, max_results=count, backend=self.backend)
        except DDGSException as error:
            _log.debug("%s: %s", self.name, error)
            raise SearchFailed(_UNKNOWN.format(name=self.name)) from error


_UNKNOWN = "{name} showed no results, which may as well mean that it refuses us"
