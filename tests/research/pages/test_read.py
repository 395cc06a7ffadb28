"""Readings: what is kept of pages that were parsed lately."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from predibot.research.pages import read
from predibot.research.pages.errors import PageUnavailable
from predibot.research.pages.fetch import Page
from predibot.research.pages.parser_pool import ParserPool
from predibot.research.pages.read import reading_of

NOON = datetime(2026, 3, 3, 12, tzinfo=UTC)
PAGE = Page(
    "http://a.example/caf%C3%A9",
    "text/html",
    "utf-8",
    "<title>Café</title><p>The vote in the café is on Tuesday.</p>".encode(),
    NOON,
    None,
)


def test_a_page_is_parsed_once_for_all_who_get_the_same() -> None:
    pool = ParserPool()
    first = reading_of(PAGE, pool)
    others = [
        reading_of(each, pool)
        for each in (
            replace(PAGE, content_type="text/plain"),
            replace(PAGE, last_modified_at=NOON, content_type="text/plain"),
        )
    ]
    assert len({(each.text, each.date) for each in (first, *others)}) == 3
    pool.close()
    # Nothing can be parsed any more; when it was fetched is nothing that its text depends on.
    assert reading_of(replace(PAGE, fetched_at=NOON.replace(day=9)), pool) == first
    with pytest.raises(PageUnavailable):
        reading_of(replace(PAGE, body=PAGE.body + b"<p>More.</p>"), pool)


def test_only_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "_MOST_CHARACTERS", 90)
    pool = ParserPool()
    pages = [replace(PAGE, body=PAGE.body.replace(b"Tuesday", day)) for day in (b"Monday", b"Friday", b"Sunday")]
    for each in pages:
        reading_of(each, pool)
    assert sum(len(each.text) for each in read._kept.values()) <= 90
    pool.close()
    reading_of(pages[-1], pool)
    with pytest.raises(PageUnavailable):
        reading_of(pages[0], pool)
