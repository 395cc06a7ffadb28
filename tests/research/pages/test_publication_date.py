"""Page dates: what a page says of itself, how sure it is, and the last instant it can mean."""

from datetime import UTC, datetime

import pytest

from predibot.research.pages.publication_date import date_of_headers, date_of_html, dated

URL = "http://www.news.example/a"
NOON = datetime(2026, 2, 13, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "latest"),
    [
        ("2026-02-13T12:00:00Z", "2026-02-13T12:00:00+00:00"),
        ("2026-02-13T12:00:00+05:00", "2026-02-13T07:00:00+00:00"),
        ("2026-02-13T12:00:00&#43;05:00", "2026-02-13T07:00:00+00:00"),
        ("2026-02-13T12:00:00", "2026-02-14T00:00:00+00:00"),
        ("2026-02-13", "2026-02-14T12:00:00+00:00"),
        ("20260213", "2026-02-14T12:00:00+00:00"),
    ],
)
def test_the_last_instant_a_date_can_mean_is_taken(text: str, latest: str) -> None:
    found = dated(text)
    assert found is not None
    assert found.latest_at.isoformat() == latest


@pytest.mark.parametrize(
    "value", ["", "yesterday", "2026-13-01", None, 20260213, ["2026-02-13"], "9999-12-31T23:00-20:00"]
)
def test_what_is_no_date_is_none(value: object) -> None:
    assert dated(value) is None


@pytest.mark.parametrize(
    "markup",
    [
        '<meta property="article:published_time" content="2026-02-13T12:00:00Z">',
        "<meta content='2026-02-13T12:00:00Z' name=datePublished>",
        '<time itemprop="datePublished" datetime="2026-02-13T13:00:00+01:00">',
        '<script type="application/ld+json">{"@graph":[{"@type":["NewsArticle"],"datePublished":"2026-02-13T12:00Z"}]}'
        "</script>",
    ],
)
def test_the_pages_own_data_state_its_date(markup: str) -> None:
    date = date_of_html(f"<html><head>{markup}</head><body><p>x</p></body></html>", URL)
    assert (date.confidence, date.latest_at) == ("stated", NOON)


def test_a_later_change_is_what_counts_last() -> None:
    html = (
        '<meta property="article:published_time" content="2026-02-01T00:00:00Z">'
        '<meta property="article:modified_time" content="2026-02-13T12:00:00Z">'
    )
    date = date_of_html(html, URL)
    assert date.latest_at == NOON
    assert date.published is not None
    assert date.published.text == "2026-02-01T00:00Z"


def test_an_address_with_a_day_in_it_is_a_date_that_was_found() -> None:
    date = date_of_html("<html><body><p>x</p></body></html>", "http://www.news.example/2026/02/13/vote")
    assert (date.confidence, date.published and date.published.text) == ("found", "2026-02-13")


def test_a_day_somewhere_in_the_text_proves_nothing() -> None:
    html = "<html><body><p>As of February 13, 2026 all was quiet in town.</p></body></html>"
    assert not date_of_html(html, URL).proves


def test_a_page_without_any_date_is_unknown() -> None:
    date = date_of_html("<html><body><p>x</p></body></html>", URL)
    assert (date.confidence, date.latest_at) == ("unknown", None)


@pytest.mark.parametrize(
    "html",
    [
        '<script type="application/ld+json">' + "[" * 5_000 + "</script>",
        "<meta " * 20_000,
        "",
        "<script>{</script>",
        '<script type="application/ld+json">' * 20_000,
    ],
    ids=["deep", "meta", "empty", "broken", "open"],
)
def test_hostile_data_are_no_date(html: str) -> None:
    assert date_of_html(html, URL).published is None


def test_a_file_is_dated_by_its_last_change() -> None:
    assert date_of_headers(NOON).latest_at == NOON
    assert not date_of_headers(None).proves
