"""DuckDuckGo and others through the ddgs library, which needs no key and guarantees nothing."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType
from typing import Any, ClassVar, Literal

from predibot.net.deadline import call_within
from predibot.research.search.addresses import landing_url
from predibot.research.search.dates import latest_instant, latest_instant_of_ddgs, shortest_span
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchResult

BACKENDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"text": ("duckduckgo", "brave", "yahoo", "mojeek"), "news": ("duckduckgo", "yahoo", "bing")}
)
"""Tried in turn, because one often answers nothing (deedy5/ddgs#390); `auto` shuffles them, encyclopedias first."""
_MAKES_DATES = ("yahoo", "bing")
"""For the news of these, ddgs computes dates from ages such as "2 weeks ago"."""
_SPANS = (("d", 1), ("w", 7), ("m", 31), ("y", 366))
_TRY_SECONDS = 6.0
_LEAST_SECONDS = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DdgsSearch:
    """ddgs. It reports refusals as "No results found.", so no results count as a failure."""

    clock: Callable[[], datetime]
    kind: Literal["text", "news"] = "text"
    backends: tuple[str, ...] = ()
    """Asked in turn until one has results; by default those of `BACKENDS`."""
    usd_per_call: float | None = 0.0
    deadline_seconds: float = 20.0
    """For all backends together."""
    client: Callable[[], Any] | None = None
    monotonic: Callable[[], float] = time.monotonic
    takes_after: ClassVar = True

    @property
    def name(self) -> str:
        """Return the name that recipes use."""
        return "ddgs" if self.kind == "text" else "ddgs_news"

    @property
    def dates_results(self) -> bool:
        """Return whether results have dates."""
        return self.kind == "news"

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return the results of the first backend that has any. ddgs takes `after` in four steps only."""
        span = None if after is None else shortest_span(self.clock() - after, _SPANS)
        limit = {} if span is None else {"timelimit": span}
        ends, failures = self.monotonic() + self.deadline_seconds, list[str]()
        for backend in self.backends or BACKENDS[self.kind]:
            seconds = min(_TRY_SECONDS, ends - self.monotonic())
            if seconds < _LEAST_SECONDS:
                failures.append(f"{backend} was not asked for want of time")
                continue
            try:
                rows = call_within(lambda b=backend, s=seconds: self._ask_backend(query, count, b, s, limit), seconds)  # type: ignore[misc]
            except TimeoutError:
                failures.append(f"{backend} gave no answer in {seconds:.3g} s")
                continue
            except SearchFailed as failure:
                failures.append(str(failure))
                continue
            found = self._results(rows, backend)
            if found:
                return SearchAnswer(found[:count], self.usd_per_call, tuple(failures))
            failures.append(f"{backend} showed {len(rows) or 'no'} results{' without an address' if rows else ''}")
        raise SearchFailed(
            f"{self.name} found nothing out ({'; '.join(failures)}), which may as well mean that it is refused"
        )

    def _results(self, rows: Sequence[Mapping[str, Any]], backend: str) -> tuple[SearchResult, ...]:
        """Return the results that lead to a page, without advertisements."""
        now = self.clock()
        found = []
        for row in rows:
            url = landing_url(str(row.get("href") or row.get("url") or "").strip())
            if url is not None and url.lower().startswith(("http://", "https://")):
                title, snippet = str(row.get("title") or ""), str(row.get("body") or "")
                if backend in _MAKES_DATES:
                    published_at = latest_instant_of_ddgs(row.get("date"), now=now, units_are_known=backend != "bing")
                else:
                    published_at = latest_instant(row.get("date"), now=now)
                found.append(SearchResult(title, url, snippet, published_at, self.name))
        return tuple(found)

    def _ask_backend(
        self, query: str, count: int, backend: str, seconds: float, limit: Mapping[str, str]
    ) -> list[dict[str, Any]]:
        # Imported here: not every bot searches, and not every one that does uses ddgs.
        from ddgs import DDGS
        from ddgs.engines import ENGINES
        from ddgs.exceptions import DDGSException

        if backend not in ENGINES[self.kind]:
            # The library would warn, and ask all its backends.
            raise SearchFailed(f"this ddgs has no backend {backend!r}; it has {', '.join(sorted(ENGINES[self.kind]))}")
        try:
            client: Any = self.client() if self.client is not None else DDGS(timeout=max(1, int(seconds)))
            search = client.news if self.kind == "news" else client.text
            return search(query, max_results=count, backend=backend, **limit) or []
        except DDGSException as error:
            _log.debug("%s: %s: %s", self.name, backend, error)
            if "No results" in str(error):
                return []
            raise SearchFailed(f"{backend} failed") from error
        except Exception as error:
            # The library does not document what its engines and its client raise.
            _log.debug("%s: %s: %s", self.name, backend, error)
            raise SearchFailed(f"{backend} failed ({type(error).__name__})") from error
