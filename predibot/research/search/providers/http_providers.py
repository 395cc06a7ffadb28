"""The search providers with an HTTP API: SearXNG, Brave, Tavily, Exa, Serper."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

import httpx

from predibot.domain.budget import LEAST_SHARE
from predibot.errors import UsageError
from predibot.net.failures import BadAddress, BadAnswer, LateAnswer, LostAnswer, TryAgain
from predibot.net.json_client import HttpAnswer, JsonClient
from predibot.research.search.dates import latest_instant, shortest_span
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchResult

DEADLINE_SECONDS = 15.0
MAX_BODY_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class ProviderRequests:
    """Makes requests to a provider. Its base address may be private, and redirects are not followed."""

    deadline_seconds: float = DEADLINE_SECONDS
    max_body_bytes: int = MAX_BODY_BYTES
    transport: httpx.BaseTransport | None = None

    def ask(
        self,
        name: str,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        params: Mapping[str, str] | None = None,
        content: Mapping[str, object] | None = None,
        form: Mapping[str, str] | None = None,
    ) -> dict[str, object]:
        """Return the JSON object that a provider answers, or raise `SearchFailed` with its `name`. `headers` carry the
        key, which is sent nowhere else. `content` is sent as JSON, `form` as a form.
        """
        seconds = self.deadline_seconds
        try:
            # Closed in this thread, so that a server that drips its headers does not keep the waiting thread.
            with JsonClient(max_bytes=self.max_body_bytes, transport=self.transport) as client:
                received = client.ask(
                    method, url, headers=headers, params=params, body=content, form=form, seconds=seconds, asked=name
                )
        except UsageError as error:
            raise SearchFailed(f"{name} was not asked: {error}", was_asked=False) from None
        except LateAnswer:
            raise SearchFailed(f"{name} gave no whole answer in {seconds:g} s") from None
        except TryAgain as failure:
            raise SearchFailed(f"{name} could not be reached ({failure.cause})") from None
        except BadAddress as failure:
            raise SearchFailed(f"{name} has an address or a key that cannot be sent ({failure.cause})") from None
        except BadAnswer as failure:
            raise SearchFailed(str(failure)) from None
        return _read_object(name, received)


def _read_object(name: str, received: HttpAnswer) -> dict[str, object]:
    status = received.status
    if status in (401, 403):
        raise SearchFailed(f"{name} refuses us ({status}); see its key, or whether it is set to answer JSON")
    if status in (402, 429, 432, 433):
        raise SearchFailed(f"{name} says that we ask too much ({status})")
    if 300 <= status < 400:
        raise SearchFailed(f"{name} sends us elsewhere ({status}); give its final address")
    if not received.is_success:
        raise SearchFailed(f"{name} answered {status}")
    try:
        content = received.json()
    except (LostAnswer, BadAnswer):
        raise SearchFailed(f"{name} answered no JSON") from None
    if not isinstance(content, dict):
        raise SearchFailed(f"{name} answered something else than its format says")
    return content


OWN_URLS = {
    "brave": "https://api.search.brave.com",
    "tavily": "https://api.tavily.com",
    "exa": "https://api.exa.ai",
    "serper": "https://google.serper.dev",
}
_SPANS = (("day", 1), ("month", 31), ("year", 366))
_FIELDS = {
    "searxng": ("results", "title", "url", "content", "publishedDate"),
    "brave": ("results", "title", "url", "description", "page_age"),
    "tavily": ("results", "title", "url", "content", "published_date"),
    "exa": ("results", "title", "url", "text", "publishedDate"),
    "serper": ("organic", "title", "link", "snippet", "date"),
}
"""A provider's names for its results, and for the title, address, snippet and date of each."""


@dataclass(frozen=True, slots=True)
class HttpSearch:
    """One of the providers, by its name. A replay drops results without a date."""

    name: str
    clock: Callable[[], datetime]
    base_url: str
    """Without `/search`. SearXNG's is the user's own, set to answer JSON, and may be private."""
    key: str = field(default="", repr=False)
    usd_per_call: float | None = None
    dates_results: ClassVar = True
    takes_after: ClassVar = True
    http: ProviderRequests = field(default_factory=ProviderRequests)

    def search(self, query: str, *, before: datetime | None, count: int, after: datetime | None = None) -> SearchAnswer:
        """Return results up to the day of `before`. SearXNG takes no dates, and `after` in three steps only."""
        answered = self._answer(query, before, after, count)
        rows_name, title, url, snippet, date = _FIELDS[self.name]
        if self.name == "brave":
            web = answered.get("web")
            answered = {"results": [], **web} if isinstance(web, Mapping) else {"results": []}
        rows = answered.get(rows_name)
        if not isinstance(rows, list):
            raise SearchFailed(f"{self.name} answered something else than its format says")
        rows = [row for row in rows if isinstance(row, Mapping)]
        if self.name == "searxng" and not rows and answered.get("unresponsive_engines"):
            raise SearchFailed(f"{self.name} has engines that do not answer, so that no results mean nothing")
        now = self.clock()
        found = [
            SearchResult(
                title=_text(row.get(title)),
                url=row[url],
                snippet=_text(row.get(snippet)),
                published_at=latest_instant(row.get(date), now=now),
                provider=self.name,
            )
            for row in rows
            if isinstance(row.get(url), str)
        ]
        return SearchAnswer(tuple(found[:count]), self._cost_usd(answered))

    def _answer(self, query: str, before: datetime | None, after: datetime | None, count: int) -> Mapping[str, object]:
        bounds = (("start", after), ("end", before))
        if self.name == "searxng":
            span = None if after is None else shortest_span(self.clock() - after, _SPANS)
            params = {"q": query, "format": "json"} | ({} if span is None else {"time_range": span})
            return self._ask("GET", "/search", params=params)
        if self.name == "brave":
            params = {"q": query, "count": str(min(count, 20)), "text_decorations": "false"}
            if before is not None or after is not None:
                first, last = after or datetime(2000, 1, 1, tzinfo=UTC), before or self.clock()
                params["freshness"] = f"{first:%Y-%m-%d}to{last:%Y-%m-%d}"
            return self._ask("GET", "/res/v1/web/search", {"x-subscription-token": self.key}, params=params)
        content: dict[str, object]
        if self.name == "tavily":
            # Only the topic `news` has results with dates.
            content = {"query": query, "topic": "news", "max_results": min(count, 20)}
            content |= {f"{end}_date": f"{at:%Y-%m-%d}" for end, at in bounds if at is not None}
            return self._ask("POST", "/search", {"authorization": f"Bearer {self.key}"}, content=content)
        if self.name == "exa":
            content = {"query": query, "numResults": count, "contents": {"text": {"maxCharacters": 400}}}
            content |= {
                f"{end}PublishedDate": at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
                for end, at in bounds
                if at is not None
            }
        else:
            content = {"q": query, "num": count}
            names = {"start": "cd_min", "end": "cd_max"}
            dates = [f"{names[end]}:{at.month}/{at.day}/{at.year}" for end, at in bounds if at is not None]
            content |= {"tbs": ",".join(("cdr:1", *dates))} if dates else {}
        return self._ask("POST", "/search", {"x-api-key": self.key}, content=content)

    def _ask(
        self, method: str, path: str, headers: Mapping[str, str] | None = None, **asked: Any
    ) -> Mapping[str, object]:
        return self.http.ask(self.name, method, f"{self.base_url.rstrip('/')}{path}", headers=headers, **asked)

    def _cost_usd(self, answered: Mapping[str, object]) -> float | None:
        """Return the cost of a call; Exa states it for each."""
        costs = answered.get("costDollars") if self.name == "exa" else None
        total = costs.get("total") if isinstance(costs, Mapping) else None
        least_usd = LEAST_SHARE * (self.usd_per_call or 0.0)
        is_known = isinstance(total, int | float) and not isinstance(total, bool) and least_usd <= total < 1_000.0
        return float(total) if is_known else self.usd_per_call  # type: ignore[arg-type]  # known to be a number


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
