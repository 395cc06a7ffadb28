"""Page dates: what a page says of itself, how sure it is, and the last instant it can mean."""

from datetime import UTC, datetime

import pytest

from predibot.research.pages.content.publication_date import date_of_file, date_of_html, parse_date

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
    found = parse_date(text)
    assert found is not None
    assert found.latest_at.isoformat() == latest


@pytest.mark.parametrize(
    "value", ["", "yesterday", "2026-13-01", None, 20260213, ["2026-02-13"], "9999-12-31T23:00-20:00"]
)
def test_what_is_no_date_is_none(value: object) -> None:
    assert parse_date(value) is None


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


def test_an_address_with_a_day_in_it_is_a_date_that_was_found_and_a_day_in_the_text_proves_nothing() -> None:
    bare = "<html><body><p>x</p></body></html>"
    date = date_of_html(bare, "http://www.news.example/2026/02/13/vote")
    assert (date.confidence, date.published and date.published.text) == ("found", "2026-02-13")
    date = date_of_html(bare, URL)
    assert (date.confidence, date.latest_at) == ("unknown", None)
    html = "<html><body><p>As of February 13, 2026 all was quiet in town.</p></body></html>"
    assert not date_of_html(html, URL).proves


OWN = '<meta property="article:published_time" content="2026-02-01T10:00:00Z">'
LATER = "2026-03-03T10:00Z"
MODIFIED = "<meta property='article:modified_time' content='2026-02-01T11:00:00Z'>"
WORDS = "<p>The Senate passed the budget with 54 votes after a recount of all ballots.</p>" * 3


def page(body: str, head: str = "", title: str = "Budget passed") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


def linked(*things: str) -> str:
    return "".join(f'<script type="application/ld+json">{thing}</script>' for thing in things)


def news(address: str, on: str, more: str = "") -> str:
    return f'{{"@type": "NewsArticle", "url": "{address}", "datePublished": "{on}"{more}}}'


def old(markup: str = "time", more: str = "") -> str:
    return f'<{markup} itemprop="datePublished" datetime="2025-01-04" {more}>4 January</{markup}>'


@pytest.mark.parametrize(
    "html",
    [
        page(f"<aside>{old()} Old</aside><article><h1>B</h1>{WORDS}</article>"),
        page(f"<nav><ul><li>{old()}</ul></nav><article><h1>B</h1>{WORDS}</article>"),
        page(f"<h1>B</h1>{WORDS}<div class=card>{old()} Old</div>"),
        page(f"<h1>B</h1>{WORDS}<ul><li>{old('span')} Old</ul>"),
        page(
            f"<article><h1>B</h1>{WORDS}</article><section class=related-stories><article>{old()}</article></section>"
        ),
        page(f"<article><h1>B</h1>{WORDS}</article><section><article><h2>Old</h2>{old()}</article></section>"),
        page(f"<article><h1>B</h1>{WORDS}<div itemscope itemtype=http://schema.org/Comment>{old()}</div></article>"),
        page(f"<article><h1>B</h1>{WORDS}<table><tr><td>{old()}<td>45</table></article>"),
        page("".join(f"<article><h2>{n}</h2>{old()}{WORDS}</article>" for n in range(3))),
        page(WORDS, linked(news("https://www.news.example/old", "2025-01-04"))),
        page(WORDS, linked(f'{{"@type": "ItemList", "itemListElement": [{news("/old", "2025-01-04")}]}}')),
        page(WORDS, linked(f"[{news('/old', '2025-01-04')}, {news('/older', '2024-01-04')}]")),
        page(
            WORDS,
            "<meta property=og:url content=/>"
            + linked('{"@type": "WebPage", "url": "/", "dateModified": "2025-01-04"}'),
        ),
        page(WORDS, linked('{"@type": "Product", "review": {"@type": "Review", "datePublished": "2025-01-04"}}')),
        page(WORDS, linked('{"@type": "Event", "startDate": "2025-01-04", "datePublished": "2025-01-04"}')),
        page("<table><tr><td>2025-01-04<td>45.1<tr><td>2025-01-05<td>45.2</table>"),
        page(f"<article><h1>B</h1><p>Published 4 January 2025</p>{WORDS}</article>"),
    ],
)
def test_a_neighbours_date_is_not_the_pages(html: str) -> None:
    assert not date_of_html(html, URL).proves


@pytest.mark.parametrize(
    ("html", "latest"),
    [
        (page(f"<aside>{old()}</aside><article><h1>B</h1>{WORDS}</article>", OWN), "2026-02-01T10:00"),
        (page(WORDS, linked(news("/old", "2025-01-04"), news(URL, "2026-02-13T12:00Z"))), "2026-02-13T12:00"),
        (page(WORDS, OWN + '<meta name="date" content="2026-02-13T12:00:00Z">'), "2026-02-13T12:00"),
        (page(WORDS, OWN + '<meta name="last-modified" content="Fri, 13 Feb 2026 12:00:00 GMT">'), "2026-02-13T12:00"),
        (page(WORDS, OWN + '<meta property="og:updated_time" content="1770984000">'), "2026-02-13T12:00"),
        (page(WORDS, linked(news(URL, "2026-02-01", ', "dateModified": "2026-02-13T12:00Z"'))), "2026-02-13T12:00"),
        (
            page(WORDS, linked(news(URL, "2026-02-01", f', "liveBlogUpdate": [{news("#1", "2026-02-13T12:00Z")}]'))),
            "2026-02-13T12:00",
        ),
        (
            page(f"<main><h1>B</h1>Changed <time datetime=2026-02-13T12:00Z>now</time>{WORDS}</main>", OWN),
            "2026-02-13T12:00",
        ),
        (
            page(WORDS, OWN + linked('{"@type": "NewsArticle", "dateModified": "2026-02-13T12:00Z",}')),
            "2026-02-13T12:00",
        ),
        # The day alone says no more than the instant, and related posts nothing.
        (page(f"<article><h1>B</h1><time>February 1, 2026</time>{WORDS}</article>", OWN), "2026-02-01T10:00"),
        (
            page(f"<article>{WORDS}<div class=jp-relatedposts><time datetime={LATER}>x</time></div></article>", OWN),
            "2026-02-01T10:00",
        ),
        (page(f"<article><p>Updated an hour ago</p>{WORDS}</article>", OWN + MODIFIED), "2026-02-01T11:00"),
    ],
)
def test_of_several_dates_of_an_article_the_latest_counts(html: str, latest: str) -> None:
    date = date_of_html(html, URL)
    assert date.proves
    assert date.latest_at is not None
    assert date.latest_at.isoformat().startswith(latest)


@pytest.mark.parametrize("said", ["13 hours ago", "2026", "13.13.2026", '{"@value": 7}'])
def test_a_date_of_its_own_that_cannot_be_read_leaves_a_page_unproved(said: str) -> None:
    tag = f"<meta property='article:modified_time' content='{said}'>"
    assert not date_of_html(page(WORDS, OWN + tag), URL).proves


@pytest.mark.parametrize(
    "address",
    ["/2026/02/13/vote", "/2026-02-13-vote", "/vote-20260213", "/2026/feb/13/vote", "/a/2025/01/04/2026/2/13"],
)
def test_the_day_in_an_address_is_found(address: str) -> None:
    date = date_of_html(page(WORDS), f"http://www.news.example{address}")
    assert (date.confidence, date.published and date.published.text) == ("found", "2026-02-13")


@pytest.mark.parametrize("address", ["/2026/02/", "/vote?day=2026-02-13", "/id/120260213", "/2026/13/40"])
def test_what_is_no_day_in_an_address_proves_nothing(address: str) -> None:
    assert not date_of_html(page(WORDS), f"http://www.news.example{address}").proves


def test_the_first_page_of_a_site_is_not_as_old_as_its_template() -> None:
    for head in (linked('{"@type": "WebPage", "url": "http://www.news.example/", "dateModified": "2021-01-01"}'), OWN):
        assert not date_of_html(page(WORDS, head), "http://www.news.example/").proves
    assert date_of_html(page(WORDS, OWN), "http://www.news.example/?p=17").proves


def test_a_page_whose_text_is_younger_proves_nothing() -> None:
    for body, title in (("<p>Updated 3 March: A has won.</p>", "B"), (WORDS, "Results of 3 March 2026")):
        assert not date_of_html(page(f"<article>{body}</article>", OWN, title), URL).proves
    byline = "<div class=byline>Last updated: March 3, 2026</div>"
    caption = "<figure><img src=a><figcaption>Voters on 3 March 2026.</figcaption></figure>"
    for more in (byline, caption, f"<footer>{byline}</footer>"):
        assert not date_of_html(page(f"<article>{WORDS}{more}</article>", OWN), URL).proves
    assert date_of_html(page(f"<article>{WORDS}</article><div class=comments>{byline}</div>", OWN), URL).proves


@pytest.mark.parametrize(
    "html",
    [
        page(f"<h1>Results of 3 March 2026</h1><article>{WORDS}</article>", OWN),
        page(f"<article><h1>B</h1><p><time>March 3, 2026</time></p>{WORDS}</article>", OWN),
        page(f"<div class=head><h1>B</h1><p><time datetime={LATER}>x</time></p></div><div>{WORDS}</div>", OWN),
        page(f"<article><h1>B</h1><abbr class=updated title={LATER}>now</abbr>{WORDS}</article>", OWN),
        page(f"<article><h1>B</h1><b property=schema:dateModified content={LATER}>x</b>{WORDS}</article>", OWN),
        page(f"<article><h1>B</h1><aside class=note>Updated March 3, 2026</aside>{WORDS}</article>", OWN),
        page(f"<article><h1>B</h1><p class=latest-change>Updated March 3, 2026</p>{WORDS}</article>", OWN),
        page(f"<div class='elementor-widget byline'>Updated March 3, 2026</div><h1>B</h1>{WORDS}", OWN),
        page(f"<article><h1>B</h1><p class=byline>Updated 3 hours ago</p>{WORDS}</article>", OWN),
        page(f"<h1>B</h1><div>By A. B. | March 3, 2026</div><div>{WORDS}</div>", OWN),
        page(f"<h1>B</h1>{WORDS}<div itemtype=x/Answer itemscope><time datetime={LATER}>x</time>A.</div>", OWN),
        page(f"<h1>B</h1>{WORDS}<div><b><time datetime={LATER}>9:00</time></b><p>Candidate A. has won.</div>", OWN),
        page(WORDS, OWN + f"<meta itemprop=uploadDate content={LATER}>"),
        page(WORDS, OWN + f"<meta property='bt:modDate' content='{LATER}'>"),
        page(WORDS, OWN + linked(f'{{"@type": "schema:NewsArticle", "schema:dateModified": "{LATER}"}}')),
        page(WORDS, OWN + linked(f'{{"@type": "Dataset", "dateModified": "{LATER}"}}')),
        page(WORDS, OWN + linked("{}") * 40 + linked(f'{{"@type": "NewsArticle", "dateModified": "{LATER}"}}')),
        page(WORDS, OWN + linked(f'{{"@type": "NewsArticle", "hasPart": {{"dateModified": "{LATER}"}}}}')),
        page(WORDS, OWN + linked(f'{{"mainEntity": {{"acceptedAnswer": {{"dateCreated": "{LATER}"}}}}}}')),
        page(WORDS, OWN + linked(f'{{"@type": "DiscussionForumPosting", "comment": [{news("/c", LATER)}]}}')),
        page(f'<script id=__NEXT_DATA__>{{"text": "{"A vote was held. " * 9}", "updatedAt": "{LATER}"}}</script>', OWN),
    ],
)  # fmt: skip
def test_a_later_date_beside_the_pages_own_leaves_no_page_of_that_day(html: str) -> None:
    date = date_of_html(html, URL)
    assert not date.proves or (date.latest_at is not None and date.latest_at > datetime(2026, 3, 3, tzinfo=UTC))


def test_a_title_that_is_no_date_does_not_hide_the_text_of_an_element() -> None:
    html = page(
        f"<article><h1>B</h1><time itemprop=datePublished title=Posted>February 1, 2026</time>{WORDS}</article>"
    )
    assert date_of_html(html, URL).proves


def test_an_address_does_not_prove_a_page_with_younger_rows() -> None:
    rows = "".join(f"<tr><td>2026-02-{day}<td>45.{day}" for day in range(10, 28))
    assert not date_of_html(
        page(f"<main><table>{rows}</table></main>"), "http://www.news.example/2026/02/13/polls"
    ).proves


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
    assert date_of_file(NOON, "Counted by hand.").latest_at == NOON
    assert not date_of_file(None, "Counted by hand.").proves
    assert not date_of_file(NOON, "Counted by hand on 14 February 2026.").proves
