"""Web search: titles, addresses, dates and snippets from the first provider that has something to show.

In a replay nothing is shown that cannot prove that it is older than the
replay's instant; the market's own site and its mirrors are never shown. What is
left out is counted and said.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

from predibot.contracts import Meter, ToolError, ToolResult, ToolText, TraceWriter, WebSearch
from predibot.domain.account_past import NewsItem
from predibot.domain.budget import Spending
from predibot.domain.clock import format_instant
from predibot.domain.trace import SearchHit, SearchStep
from predibot.research.pages.dates_in_text import was_changed
from predibot.research.search.addresses import landing_url
from predibot.research.search.blocked_domains import blocked_domain, blocked_domains
from predibot.research.search.provider import (
    SearchAnswer,
    SearchFailed,
    SearchProvider,
    SearchResult,
    asked_after,
    replay_complaint,
)

MAX_QUERY_CHARACTERS = 400
_TITLE_CHARACTERS = 200
_SNIPPET_CHARACTERS = 400
_URL_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class SearchPolicy:
    """What a run's agents may find."""

    before: datetime | None = None
    """In a replay: results that are later, or do not prove their date, are dropped."""
    after: datetime | None = None
    """Results that are earlier are dropped; for news of a window."""
    blocked_domains: frozenset[str] = field(default_factory=blocked_domains)
    """With everything below them."""
    count: int = 8
    """The most results that are shown."""

    def __post_init__(self) -> None:
        """Refuse an instant without a zone, and no results."""
        if self.before is not None and self.before.tzinfo is None:
            raise ValueError("before needs a time zone")
        if not 1 <= self.count <= 50:
            raise ValueError(f"a search shows 1 to 50 results, got {self.count}")


@dataclass(slots=True)
class _Tally:
    """What happened while one search went from provider to provider."""

    costs_usd: list[float | None] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    has_answer: bool = False


def make_web_search(
    providers: Sequence[SearchProvider],
    policy: SearchPolicy,
    trace: TraceWriter | None = None,
    *,
    meter: Meter | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> WebSearch:
    """Return the search of one agent.

    Args:
        providers: Asked in this order until one has something to show.
        policy: What may be found.
        trace: Where each search is written down.
        meter: Reserved before each call that leaves the machine, settled after.
        clock: What the age of a result is counted from; in a replay it is the policy's instant.

    Returns:
        A function of a query. It raises nothing but what the meter raises: an
        error is a `ToolError` of one sentence.
    """

    desk = _Desk(tuple(providers), policy, meter)
    told: set[str] = set()

    def web_search(query: str, *, recent_days: int | None = None, by_date: bool = False) -> ToolResult:
        """Search the web. Returns titles, addresses, dates and snippets; read a page before you rely on it."""
        wanted = _plain(query, MAX_QUERY_CHARACTERS)
        if not wanted:
            return ToolError("the query is empty; give a few words")
        tally = _Tally()
        since = None if recent_days is None else (policy.before or clock()) - timedelta(days=recent_days)
        shown = desk.first_results(wanted, tally, since=since, by_date=by_date)
        if trace is not None:
            trace.write(_step(wanted, shown, tally))
        said = _said(wanted, shown, tally, told)
        told.update(result.url for result in shown)
        return said

    return web_search


def find_news(
    providers: Sequence[SearchProvider], query: str, policy: SearchPolicy, *, meter: Meter | None = None
) -> tuple[NewsItem, ...]:
    """Return the first dated results of the first provider that has any, as plain text.

    Args:
        providers: Asked in this order.
        query: What is searched for.
        policy: With the window that the news are of, in `after` and `before`.
        meter: As for `make_web_search`.

    Raises:
        SearchFailed: If no provider gave an answer.
        BudgetSpent: If a search does not fit the budget any more.
    """
    tally = _Tally()
    shown = _Desk(tuple(providers), policy, meter).first_results(_plain(query, MAX_QUERY_CHARACTERS), tally)
    if not shown and not tally.has_answer:
        raise SearchFailed("; ".join(tally.failures) or "no search provider is set")
    return tuple(
        NewsItem(
            _plain(each.title, _TITLE_CHARACTERS),
            _plain(each.snippet, _SNIPPET_CHARACTERS),
            each.published_at,
            each.url,
        )
        for each in shown
        if each.published_at is not None
    )


@dataclass(frozen=True, slots=True)
class _Desk:
    """Goes from provider to provider for one agent."""

    providers: tuple[SearchProvider, ...]
    policy: SearchPolicy
    meter: Meter | None

    def first_results(
        self, query: str, tally: _Tally, *, since: datetime | None = None, by_date: bool = False
    ) -> tuple[SearchResult, ...]:
        """Return what the first provider has that may be shown; the tally says what else happened."""
        is_replay = self.policy.before is not None
        if is_replay and (complaint := replay_complaint(self.providers)) is not None:
            tally.failures.append(complaint)
            return ()
        for provider in self.providers:
            if is_replay and not provider.dates_results:
                continue
            try:
                answer = self._answer(provider, query, tally, since)
            except SearchFailed as failure:
                tally.failures.append(str(failure))
                continue
            tally.has_answer = True
            tally.failures += answer.said
            shown = _allowed(answer.results, self.policy, tally.dropped, since)
            if shown:
                return (_latest_first(shown) if by_date else shown)[: self.policy.count]
        return ()

    def _answer(self, provider: SearchProvider, query: str, tally: _Tally, since: datetime | None) -> SearchAnswer:
        """Return a provider's answer, paid for by the meter."""
        worst = Spending(usd=provider.usd_per_call or 0.0, searches=1)
        reservation = self.meter.reserve(worst) if self.meter is not None else None
        actual = worst
        try:
            # More than are shown, because some will be dropped.
            most = min(20, 2 * self.policy.count)
            answer = provider.search(query, before=self.policy.before, count=most, **asked_after(since, provider))
            actual = Spending(usd=worst.usd if answer.cost_usd is None else answer.cost_usd, searches=1)
            tally.costs_usd.append(answer.cost_usd)
        except SearchFailed as failure:
            # An answer that was lost may have been charged all the same.
            actual = worst if failure.was_asked else Spending()
            tally.costs_usd.append(provider.usd_per_call if failure.was_asked else 0.0)
            raise
        finally:
            if reservation is not None:
                reservation.settle(actual)
        return answer


def _latest_first(results: Sequence[SearchResult]) -> tuple[SearchResult, ...]:
    """Return results by their date, those without one last and in their order."""
    return tuple(sorted(results, key=lambda each: -each.published_at.timestamp() if each.published_at else math.inf))


def _allowed(
    results: Sequence[SearchResult], policy: SearchPolicy, dropped: Counter[str], since: datetime | None
) -> tuple[SearchResult, ...]:
    """Return the results that may be shown, each address once; count the others."""
    kept: dict[str, SearchResult] = {}
    for listed in results:
        url = landing_url(listed.url)
        result = listed if url is None else replace(listed, url=url)
        reason = "that are advertisements" if url is None else _why_not(result, policy)
        if since is not None and result.published_at is not None and result.published_at < since:
            reason = reason or "older than was asked for"
        if reason:
            dropped[reason] += 1
        else:
            kept.setdefault(result.url, result)
    return tuple(kept.values())


def _why_not(result: SearchResult, policy: SearchPolicy) -> str:
    """Return why a result may not be shown, empty where it may."""
    try:
        parts = urlsplit(result.url)
        is_web = parts.scheme in ("http", "https") and len(result.url) <= _URL_CHARACTERS
        # A host that is written otherwise than it is asked for might be any.
        is_web = is_web and re.search(r"[%\\\s]", parts.netloc) is None and bool(parts.hostname)
    except ValueError:
        is_web = False
    if not is_web or _plain(result.url, _URL_CHARACTERS) != result.url or " " in result.url:
        return "without a usable address"
    if blocked_domain(result.url, policy.blocked_domains) is not None:
        return "on a blocked site"
    if policy.before is not None and result.published_at is None:
        return "without a provable date"
    if policy.before is not None and result.published_at is not None and result.published_at > policy.before:
        return "later than the replay's instant"
    said = f"{result.title}\n{result.snippet}"[: 4 * _SNIPPET_CHARACTERS]
    if policy.before is not None and was_changed(said, policy.before.date(), is_known=True):
        # The date is the first publication's, and the snippet is of today.
        return "changed after the replay's instant"
    if policy.after is not None and (result.published_at is None or result.published_at < policy.after):
        return "before the window"
    return ""


def _said(query: str, shown: Sequence[SearchResult], tally: _Tally, told: Collection[str]) -> ToolResult:
    """Return what a model is told; of an address that it was told before, only that."""
    counts = ", ".join(f"{count} {reason}" for reason, count in sorted(tally.dropped.items()))
    dropped = f" ({sum(tally.dropped.values())} dropped: {counts})" if counts else ""
    if not shown and not tally.has_answer:
        return ToolError(f"nothing was found out: {'; '.join(tally.failures) or 'no search provider is set'}")
    if not shown:
        return ToolText(f'no results for "{query}"{dropped}; try other words')
    lines = [f'{len(shown)} results for "{query}"{dropped}']
    for number, result in enumerate(shown, start=1):
        lines += [f"{number}. {_plain(result.title, _TITLE_CHARACTERS) or 'untitled'}", f"   url: {result.url}"]
        if result.url in told:
            lines.append("   as in an earlier search")
        else:
            published = f"   published: {_date(result.published_at)} on {urlsplit(result.url).hostname}"
            lines += [published, f"   {_plain(result.snippet, _SNIPPET_CHARACTERS)}"]
    return ToolText("\n".join(lines))


def _date(instant: datetime | None) -> str:
    """Return a date for a model."""
    return "unknown" if instant is None else format_instant(instant.astimezone(UTC))


def _plain(text: str, longest: int) -> str:
    """Return a text on one line, without control and invisible characters, cut to a length."""
    text = unicodedata.normalize("NFC", text[: 4 * longest])
    if not text.isprintable():
        text = "".join(character for character in text if character.isprintable() or character.isspace())
    return " ".join(text.split())[:longest]


def _step(query: str, shown: Sequence[SearchResult], tally: _Tally) -> SearchStep:
    """Return a search as it is written down: what was found, what was dropped and what it cost."""
    hits = (
        SearchHit(
            _plain(result.title, _TITLE_CHARACTERS),
            result.url,
            None if result.published_at is None else format_instant(result.published_at),
            result.provider,
        )
        for result in shown
    )
    known = [cost for cost in tally.costs_usd if cost is not None]
    cost_usd = sum(known) if len(known) == len(tally.costs_usd) else None
    return SearchStep(query, tuple(hits), dict(tally.dropped), tuple(tally.failures), cost_usd)


__all__ = ["SearchPolicy", "find_news", "make_web_search"]
