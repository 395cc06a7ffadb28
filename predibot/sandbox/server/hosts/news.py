"""The HTML of a news page, with the noise around the text that real ones have."""

import json
from html import escape

from predibot.sandbox.world.calendar import iso_text
from predibot.sandbox.world.news_text import Article

_SECTIONS = ("Home", "World", "Politics", "Markets", "Sport", "Culture", "Weather", "Newsletters")
_NOTE = "This page belongs to a simulation: its places, people and numbers are invented."


def html_of(article: Article) -> bytes:
    """Return a whole page."""
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
            f'<p class="byline">By our desk{_shown_dates(article)}</p>',
            *(f"<p>{escape(paragraph)}</p>" for paragraph in article.paragraphs),
            "</article></main>",
            '<aside class="ad"><h2>Most read</h2><ul><li><a href="#">Ten walks by the sea</a></li>'
            '<li><a href="#">The crossword of the week</a></li><li><a href="#">Soup, ranked</a></li></ul></aside>',
            f"<footer><p>© {escape(article.outlet)}. {_NOTE}</p>{_navigation()}</footer></body></html>",
        ]
    ).encode()


def _head_dates(article: Article) -> list[str]:
    """Return the dates as machines read them."""
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


def _shown_dates(article: Article) -> str:
    """Return the dates as readers see them."""
    if article.published_minute is None:
        return ""
    published = iso_text(article.published_minute)
    shown = f' · <time datetime="{published}" itemprop="datePublished">{published}</time>'
    if article.updated_minute is None:
        return shown
    updated = iso_text(article.updated_minute)
    return f'{shown} · updated <time datetime="{updated}" itemprop="dateModified">{updated}</time>'


def _navigation() -> str:
    """Return the links every page has."""
    items = "".join(f'<li><a href="#{name.lower()}">{name}</a></li>' for name in _SECTIONS)
    return f"<nav><ul>{items}</ul></nav>"
