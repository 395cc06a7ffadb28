"""The search providers that are asked over HTTP: SearXNG, Brave, Tavily, Exa, Serper."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

from predibot.domain.budget import LEAST_SHARE
from predibot.research.search.dates import latest_instant, shortest_span
from predibot.research.search.http_client import SearchHttp
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchResult

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class SearxngSearch:
    """A SearXNG instance; it has to be set to answer JSON."""

    base_url: str
    """Without `/search`; may be private."""
    clock: Clock
    usd_per_call: float | None = 0.0
    name: str = "searxng"
    dates_results: bool = True
    """Of its engines some say a date; results without one are dropped in a replay."""
    takes_after: ClassVar = True
    http: SearchHttp = field(default_factory=SearchHttp)

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return results; SearXNG takes no dates, and how long ago in three steps only."""
        params = {"q": query, "format": "json"}
        if after is not None and (
            span := shortest_span(self.clock() - after, (("day", 1), ("month", 31), ("year", 366)))
        ):
            params["time_range"] = span
        content = self.http.ask(self.name, "GET", f"{self.base_url.rstrip('/')}/search", params=params)
        rows = _rows(self.name, content.get("results"))
        if not rows and content.get("unresponsive_engines"):
            raise SearchFailed(f"{self.name} has engines that do not answer, so that no results mean nothing")
        names = ("title", "url", "content", "publishedDate")
        return SearchAnswer(_results(self.name, rows, names, count, self.clock()), self.usd_per_call)


@dataclass(frozen=True, slots=True)
class BraveSearch:
    """Brave's web search."""

    key: str = field(repr=False)
    clock: Clock
    base_url: str = "https://api.search.brave.com"
    usd_per_call: float | None = None
    name: str = "brave"
    dates_results: bool = True
    takes_after: ClassVar = True
    http: SearchHttp = field(default_factory=SearchHttp)

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return results up to the day of `before`."""
        params = {"q": query, "count": str(min(count, 20)), "text_decorations": "false"}
        if before is not None or after is not None:
            first, last = after or datetime(2000, 1, 1, tzinfo=UTC), before or self.clock()
            params["freshness"] = f"{first:%Y-%m-%d}to{last:%Y-%m-%d}"
        headers = {"x-subscription-token": self.key}
        content = self.http.ask(self.name, "GET", f"{self.base_url}/res/v1/web/search", headers=headers, params=params)
        web = content.get("web")
        rows = _rows(self.name, web.get("results", []) if isinstance(web, Mapping) else [])
        names = ("title", "url", "description", "page_age")
        return SearchAnswer(_results(self.name, rows, names, count, self.clock()), self.usd_per_call)


@dataclass(frozen=True, slots=True)
class TavilySearch:
    """Tavily's search of news, whose results say a date."""

    key: str = field(repr=False)
    clock: Clock
    base_url: str = "https://api.tavily.com"
    topic: str = "news"
    usd_per_call: float | None = None
    name: str = "tavily"
    takes_after: ClassVar = True
    http: SearchHttp = field(default_factory=SearchHttp)

    @property
    def dates_results(self) -> bool:
        """Return whether results say a date: news do, general ones do not."""
        return self.topic == "news"

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return results up to the day of `before`."""
        asked: dict[str, object] = {"query": query, "topic": self.topic, "max_results": min(count, 20)}
        if before is not None:
            asked["end_date"] = f"{before:%Y-%m-%d}"
        if after is not None:
            asked["start_date"] = f"{after:%Y-%m-%d}"
        headers = {"authorization": f"Bearer {self.key}"}
        content = self.http.ask(self.name, "POST", f"{self.base_url}/search", headers=headers, content=asked)
        rows = _rows(self.name, content.get("results"))
        names = ("title", "url", "content", "published_date")
        return SearchAnswer(_results(self.name, rows, names, count, self.clock()), self.usd_per_call)


@dataclass(frozen=True, slots=True)
class ExaSearch:
    """Exa's search, which says what each call cost."""

    key: str = field(repr=False)
    clock: Clock
    base_url: str = "https://api.exa.ai"
    usd_per_call: float | None = None
    name: str = "exa"
    dates_results: bool = True
    takes_after: ClassVar = True
    http: SearchHttp = field(default_factory=SearchHttp)

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return results published up to `before`."""
        contents = {"text": {"maxCharacters": 400}}
        asked: dict[str, object] = {"query": query, "numResults": count, "contents": contents}
        for name, instant in (("startPublishedDate", after), ("endPublishedDate", before)):
            if instant is not None:
                asked[name] = instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        content = self.http.ask(
            self.name, "POST", f"{self.base_url}/search", headers={"x-api-key": self.key}, content=asked
        )
        rows = _rows(self.name, content.get("results"))
        costs = content.get("costDollars")
        total = costs.get("total") if isinstance(costs, Mapping) else None
        least_usd = LEAST_SHARE * (self.usd_per_call or 0.0)
        is_known = isinstance(total, int | float) and not isinstance(total, bool) and least_usd <= total < 1_000.0
        cost_usd = float(total) if is_known else self.usd_per_call  # type: ignore[arg-type]  # known to be a number
        names = ("title", "url", "text", "publishedDate")
        return SearchAnswer(_results(self.name, rows, names, count, self.clock()), cost_usd)


@dataclass(frozen=True, slots=True)
class SerperSearch:
    """Serper's search of Google; some results say a date or an age."""

    key: str = field(repr=False)
    clock: Clock
    base_url: str = "https://google.serper.dev"
    usd_per_call: float | None = None
    name: str = "serper"
    dates_results: bool = True
    takes_after: ClassVar = True
    http: SearchHttp = field(default_factory=SearchHttp)

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return results up to the day of `before`."""
        asked: dict[str, object] = {"q": query, "num": count}
        bounds = (("cd_min", after), ("cd_max", before))
        dates = [f"{name}:{each.month}/{each.day}/{each.year}" for name, each in bounds if each is not None]
        if dates:
            asked["tbs"] = ",".join(("cdr:1", *dates))
        content = self.http.ask(
            self.name, "POST", f"{self.base_url}/search", headers={"x-api-key": self.key}, content=asked
        )
        rows = _rows(self.name, content.get("organic"))
        names = ("title", "link", "snippet", "date")
        return SearchAnswer(_results(self.name, rows, names, count, self.clock()), self.usd_per_call)


def _rows(name: str, rows: object) -> list[Mapping[str, Any]]:
    """Return the rows of an answer."""
    if not isinstance(rows, list):
        raise SearchFailed(f"{name} answered something else than its format says")
    return [row for row in rows if isinstance(row, Mapping)]


def _results(
    name: str, rows: Iterable[Mapping[str, Any]], names: tuple[str, str, str, str], count: int, now: datetime
) -> tuple[SearchResult, ...]:
    """Return rows as results: those that have an address, at most so many."""
    title, url, snippet, date = names
    found = [
        SearchResult(
            title=_text(row.get(title)),
            url=str(row.get(url)),
            snippet=_text(row.get(snippet)),
            published_at=latest_instant(row.get(date), now=now),
            provider=name,
        )
        for row in rows
        if isinstance(row.get(url), str)
    ]
    return tuple(found[:count])


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


__all__ = ["BraveSearch", "ExaSearch", "SearxngSearch", "SerperSearch", "TavilySearch"]
