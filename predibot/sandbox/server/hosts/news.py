"""The news host of the sandbox: pages in HTML, with the noise around the text that real ones have."""

import json
from html import escape

from predibot.sandbox.server.reply import HttpReply
from predibot.sandbox.stocks.news import story_at
from predibot.sandbox.world.calendar import iso_text
from predibot.sandbox.world.news import page_at
from predibot.sandbox.world.news_text import Article, article_of
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
