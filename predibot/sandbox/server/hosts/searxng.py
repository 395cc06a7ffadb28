"""The simulated web as hosts: pages of news in HTML, with the noise of real ones, and SearXNG's JSON API over them."""

import json
import math
import re
from collections import Counter
from functools import cache
from html import escape

from predibot.research.search.blocked_domains import first_blocked_domain
from predibot.sandbox.server.reply import HttpReply, Query, error_reply, json_reply
from predibot.sandbox.stocks.companies import TICKER
from predibot.sandbox.stocks.news import stories_of, story_at
from predibot.sandbox.stocks.trading_days import day_of
from predibot.sandbox.world.calendar import MINUTES_A_DAY, instant_of, iso_text
from predibot.sandbox.world.news import NewsPage, page_at, pages_of, slug_of
from predibot.sandbox.world.news_text import Article, article_of, headline_of, snippet_of
from predibot.sandbox.world.world import World

_HTML = "text/html; charset=utf-8"
_SECTIONS = ("Home", "World", "Politics", "Markets", "Sport", "Culture", "Weather", "Newsletters")
_NOTE = "This page belongs to a simulation: its places, people and numbers are invented."


def answer_news(world: World, slug: str, *, minute: int) -> HttpReply:
    """Return the page with this address, or a 404 where none is published by a minute."""
    story = story_at(world.draws, slug, minute)
    if story is not None:
        return HttpReply(200, render_article(story.article), _HTML)
    page = page_at(world, slug, minute)
    if page is None:
        return HttpReply(404, b"<!DOCTYPE html><title>Not found</title><p>There is no such page.</p>", _HTML)
    return HttpReply(200, render_article(article_of(world, page, minute)), _HTML)


def render_article(article: Article) -> bytes:
    """Return an article as a page."""
    headline = escape(article.headline)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            f"<title>{headline} | {escape(article.outlet)}</title>",
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            *_head_dates(article),
            "<style>body{font:17px Georgia}nav li{display:inline}.ad{float:right}</style>",
            "<script>window.dataLayer=[];function track(e){dataLayer.push(e)}</script></head><body>",
            f'<header><a href="/">{escape(article.outlet)}</a>{_navigation()}</header>',
            '<div class="cookie-banner" role="dialog">We and 812 partners value your privacy. '
            "<button>Accept all</button> <button>Manage choices</button></div>",
            f"<main><article><h1>{headline}</h1>",
            f'<p class="byline">By our desk{_byline_dates(article)}</p>',
            *(f"<p>{escape(paragraph)}</p>" for paragraph in article.paragraphs),
            "</article></main>",
            '<aside class="ad"><h2>Most read</h2><ul><li><a href="#">Ten walks by the sea</a></li>'
            '<li><a href="#">The crossword of the week</a></li><li><a href="#">Soup, ranked</a></li></ul></aside>',
            f"<footer><p>© {escape(article.outlet)}. {_NOTE}</p>{_navigation()}</footer></body></html>",
        ]
    ).encode()


def _head_dates(article: Article) -> list[str]:
    if article.published_minute is None:
        return []
    published = iso_text(article.published_minute)
    modified = iso_text(article.updated_minute or article.published_minute)
    linked = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": article.headline,
        "datePublished": published,
        "dateModified": modified,
    }
    return [
        f'<meta property="article:published_time" content="{published}">',
        f'<meta property="article:modified_time" content="{modified}">',
        f'<script type="application/ld+json">{json.dumps(linked).replace("<", chr(92) + "u003c")}</script>',
    ]


def _byline_dates(article: Article) -> str:
    if article.published_minute is None:
        return ""
    published = iso_text(article.published_minute)
    shown = f' · <time datetime="{published}" itemprop="datePublished">{published}</time>'
    if article.updated_minute is None:
        return shown
    updated = iso_text(article.updated_minute)
    return f'{shown} · updated <time datetime="{updated}" itemprop="dateModified">{updated}</time>'


def _navigation() -> str:
    items = "".join(f'<li><a href="#{name.lower()}">{name}</a></li>' for name in _SECTIONS)
    return f"<nav><ul>{items}</ul></nav>"


PAGE_SIZE = 10
BEST_EVENT_PAGES = 24
OTHER_EVENT_PAGES = 2
OTHER_EVENTS = 4
LEAST_MATCH = 0.3
"""The share of a query's weight that an event has to match."""
OLDEST_STOCK_NEWS_DAYS = 90
_STOCK = re.compile(rf"({TICKER.pattern}) stock news\b")
_WORD = re.compile(r"\w+")
_STOP_WORDS = frozenset(
    _WORD.findall("a an and are at be by for in is it latest news of on or the to what when who will")
)
_RANGES = {"day": MINUTES_A_DAY, "week": 7 * MINUTES_A_DAY, "month": 30 * MINUTES_A_DAY, "year": 365 * MINUTES_A_DAY}


class NewsIndex:
    """The news pages of a world, found by the words of their events."""

    def __init__(self, world: World) -> None:
        """Index each event when it is first searched."""
        self._world = world
        self._words_about = cache(lambda number: _event_words(world, number))
        self._pages = cache(lambda number: pages_of(world.draws, world.plan(number)))

    def search(self, query: str, minute: int) -> list[NewsPage]:
        """Return the pages published by a minute: those of the best event first, each event's newest first."""
        wanted = _search_words(query)
        events = self._world.maybe_open_numbers(minute)
        counts = Counter(word for number in events for word in wanted & self._words_about(number))
        weights = {word: math.log(1.0 + len(events) / counts[word]) for word in counts}
        whole = sum(weights.values()) + math.log(1.0 + len(events)) * len(wanted - weights.keys())
        scores = [(sum(weights[word] for word in wanted & self._words_about(number)), number) for number in events]
        best = sorted((pair for pair in scores if pair[0] > LEAST_MATCH * whole), key=lambda pair: (-pair[0], pair[1]))
        pages = [
            self._pages_until(number, minute)[: OTHER_EVENT_PAGES if rank else BEST_EVENT_PAGES]
            for rank, (_, number) in enumerate(best[: 1 + OTHER_EVENTS])
        ]
        return [page for group in pages for page in group]

    def _pages_until(self, number: int, minute: int) -> list[NewsPage]:
        return [page for page in reversed(self._pages(number)) if page.published_minute <= minute]


def answer_search(index: NewsIndex, world: World, query: Query, *, minute: int, base_url: str) -> HttpReply:
    """Return the results of a query at a minute; `TICKER stock news` finds news of a simulated stock."""
    text = query.get("q", [""])[-1].strip()
    if query.get("format", ["html"])[-1] != "json":
        return error_reply(403, "Forbidden")
    number = query.get("pageno", ["1"])[-1]
    if not text or not (number.isascii() and number.isdigit() and 1 <= int(number[:6]) <= 1_000):
        return error_reply(400, "No query")
    within = _RANGES.get(query.get("time_range", [""])[-1])
    stock = _STOCK.match(text)
    if stock:
        stories = stories_of(
            world.draws, stock.group(1), day_of(minute - OLDEST_STOCK_NEWS_DAYS * MINUTES_A_DAY), day_of(minute)
        )
        results = [
            _result_row(f"{base_url}/news/{story.slug}", story.headline, story.summary, story.minute)
            for story in reversed(stories)
            if story.minute <= minute and (within is None or story.minute > minute - within)
        ]
    else:
        pages = index.search(text, minute)
        if within is not None:
            pages = [page for page in pages if page.is_dated and page.published_minute > minute - within]
        results = [_page_result(world, page, base_url) for page in pages]
        if pages:
            results.insert(1, _market_result(world, pages[0].event))
    start = (int(number) - 1) * PAGE_SIZE
    return json_reply(
        {
            "query": text,
            "number_of_results": len(results),
            "results": results[start : start + PAGE_SIZE],
            "answers": [],
            "corrections": [],
            "infoboxes": [],
            "suggestions": [],
            "unresponsive_engines": [],
        }
    )


def _page_result(world: World, page: NewsPage, base_url: str) -> dict[str, object]:
    title = world.plan(page.event).wording.title
    url = f"{base_url}/news/{slug_of(world, page)}"
    minute = page.published_minute if page.is_dated else None
    return _result_row(url, headline_of(page, title), snippet_of(title), minute)


def _market_result(world: World, number: int) -> dict[str, object]:
    """Return a result on a market's own site, which agents must not copy from."""
    plan = world.plan(number)
    slug = re.sub(r"[^a-z0-9]+", "-", plan.wording.title.lower()).strip("-")
    url = f"https://{first_blocked_domain()}/event/{slug}"
    return _result_row(url, plan.wording.title, "Trade on this market.", plan.born_minute)


def _result_row(url: str, title: str, content: str, published_minute: int | None) -> dict[str, object]:
    return {
        "url": url,
        "title": title,
        "content": content,
        "publishedDate": None if published_minute is None else instant_of(published_minute).isoformat(),
        "engine": "sandbox news",
        "engines": ["sandbox news"],
        "template": "default.html",
        "category": "general",
        "score": 1.0,
    }


def _event_words(world: World, number: int) -> set[str]:
    wording = world.plan(number).wording
    return _search_words(" ".join([wording.title, *wording.questions]))


def _search_words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold())) - _STOP_WORDS
