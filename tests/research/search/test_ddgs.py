"""ddgs: who is asked in turn, where its addresses lead, and what its own extraction makes of recorded pages."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from predibot.tools.web_search import SearchPolicy, make_web_search

from predibot.contracts import ToolError, ToolText
from predibot.domain.trace import SearchStep
from predibot.research.search.addresses import landing_url
from predibot.research.search.provider import SearchFailed
from predibot.research.search.providers.ddgs_provider import DdgsSearch
from tests.tools.told import Steps

NOW = datetime(2026, 1, 9, 12, tzinfo=UTC)
PLAIN = "https://a.example/x?y=1&z=2"


REDIRECTS = [
    "//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&rut=0f1e",
    "https://html.duckduckgo.com/l/?kh=-1&uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "//duckduckgo.com/l/?uddg=https://a.example/x?y=1&z=2&rut=0f1e",
    "/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://www.bing.com/ck/a?!&&p=0a&u=a1aHR0cHM6Ly9hLmV4YW1wbGUveD95PTEmej0y&ntb=1",
    "https://r.search.yahoo.com/_ylt=Aw/RV=2/RE=17/RO=10/RU=https%3a%2f%2fa.example%2fx%3fy%3d1%26z%3d2/RK=2/RS=Q-",
    "https://www.google.com/url?sa=t&url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&ved=2",
    "/url?q=https://a.example/x%3Fy%3D1%26z%3D2&sa=U",
    "https://www.google.co.uk/url?q=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://yandex.com/clck/jsredir?from=yandex.com&url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://duckduckgo.com./l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://duckduckgo.com/l/?kh=1&amp;uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://www.bing.com/news/apiclick.aspx?ref=x&url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://r.search.yahoo.co.jp/RU=https%3a%2f%2fa.example%2fx%3fy%3d1%26z%3d2/RK=2",
    # Where else engines lead on: Google and Bing as Ghostery (prevent-serp-tracking.js) undoes it, others as the
    # tests of further public programs have them; Mojeek, Brave and Startpage document nothing of it.
    "https://www.google.com/url?sa=t&q=some+words&url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://www.google.de/imgres?imgurl=https%3A%2F%2Fb.example%2Fp.png&imgrefurl=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://translate.google.com/translate?hl=en&sl=de&u=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&prev=search",
    "https://search.aol.com/click/_ylt=A;/RV=2/RE=1/RO=10/RU=https%3a%2f%2fa.example%2fx%3fy%3d1%26z%3d2/RK=0/RS=a",
    "https://yandex.ru/clck/redir/AiuY0DBWFJ4*?url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&sig=z",
    "https://yandex.ru/clck/redir/AiuY0DBWFJ4*https%3A//a.example/x%3Fy=1%26z=2",
    "https://yandex.ru/turbo?text=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://translate.yandex.com/translate?url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&lang=ru-en",
    "https://translated.turbopages.org/proxy_u/en-ru.ru.a10e-67-74/https/a.example/x?y=1&z=2",
    "https://search.brave.com/redirect?source=web&url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://r.search.brave.com/redirect?url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://www.mojeek.com/redir?q=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://s3-us2.startpage.com/cgi-bin/serveimage?url=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&sp=1",
    "https://eu-browse.startpage.com/do/proxy?u=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2",
    "https://www.google.com/url?q=https%253A%252F%252Fa.example%252Fx%253Fy%253D1%2526z%253D2",
    # Copies: of AMP by its documents, translated ones by Google's Search Central (ad networks and translation).
    "https://a-example.cdn.ampproject.org/c/s/a.example/x?y=1&z=2",
    "https://a-example.cdn.ampproject.org/v/s/a.example/x?y=1&amp_gsa=1&amp_js_v=a9&z=2&usqp=mq331#aoh=1",
    "https://cdn.ampproject.org/wp/s/a.example/x%3Fy%3D1%26z%3D2",
    "https://a-example.www.bing-amp.com/c/s/a.example/x?y=1&z=2",
    "https://www.bing.com/amp/s/a.example/x?y=1&z=2",
    "https://www.google.com/amp/s/a.example/x%3fy%3d1%26z%3d2",
    "https://a-example.translate.goog/x?y=1&z=2&_x_tr_sl=auto&_x_tr_tl=en&_x_tr_hl=en&_x_tr_pto=sc",
    "https://www.google.com/url?q=https%3A%2F%2Fa-example.translate.goog%2Fx%3Fy%3D1%26z%3D2%26_x_tr_sl%3Dde",
    # One engine's redirect within another's.
    "//duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.bing.com%2Fck%2Fa%3Fu%3Da1aHR0cHM6Ly9hLmV4YW1wbGUveD95PTEmej0y",
    # Parameters whose names begin as an entity of HTML does.
    "//duckduckgo.com/l/?kh=-1&uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&notrut=duckduckgo",
    "/url?q=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&copy=1&sect=2",
    PLAIN,
]
ADS = [
    "https://duckduckgo.com/y.js?ad_domain=a.example&ad_provider=bingv7aa&u3=https%3A%2F%2Fwww.bing.com%2Faclick",
    "//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad_domain%3Da.example&rut=1",
    "https://www.bing.com/aclick?ld=e8&u=aHR0cHM",
    "https://www.bing.com/aclk?ld=e8",
    "https://r.search.yahoo.com/RU=https%3a%2f%2fwww.bing.com%2faclick%3fld%3de8/RK=2/RS=Q-",
    "https://r.search.yahoo.com/cbclk2/dWU9MD",
    "https://www.google.com/aclk?sa=l&adurl=https://a.example",
    "https://www.googleadservices.com/pagead/aclk?sa=L",
    "https://ad.doubleclick.net/ddm/clk/1",
    "https://yabs.yandex.ru/count/WX",
    "https://search.brave.com/a/redirect?click_url=https%3A%2F%2Fa.example",
]
ELSEWHERE = [
    "https://a.example/l/?uddg=https%3A%2F%2Fb.example",
    "https://duckduckgo.com.evil.example/l/?uddg=https%3A%2F%2Fb.example",
    "https://notgoogle.com/url?q=https://b.example",
    "https://www.bing.com/ck/a?u=a1%%%",
    "https://www.bing.com/ck/a",
    "https://duckduckgo.com/l/",
    "https://[broken/l/?uddg=x",
    "https://a.example/y.js",
    "https://www.google.com/url?q=/search%3Fq%3Dwords",
    "https://www.google.com/url?q=javascript:alert(1)",
    "https://www.google.com/amp/",
    "https://www.google.com/amp/s//b.example/x",
    "https://a.example/amp/s/b.example/x",
    "https://cdn.ampproject.org.evil.example/c/s/b.example/x",
    "https://cdn.ampproject.org/rtv/012345/v0.js",
    "https://a.translate.goog.evil.example/x?_x_tr_sl=de",
    "https://www.bing.com/ck/a?u=a1L2ltYWdlcy9zZWFyY2g",
    "https://www.bing.com/ck/a?u=a1amF2YXNjcmlwdDphbGVydCgxKQ",
    "https://yandex.com/clck/jsredir?from=yandex.com&data=UlNrNmk5WktYejR0eWJFYk1&b64e=2",
    "https://www.mojeek.com/search?q=https%3A%2F%2Fb.example",
    "https://search.brave.com/search?q=words",
    "https://www.baidu.com/link?url=7fJ0uVvQ",
    "https://translate.google.com/?sl=de&tl=en",
]


@pytest.mark.parametrize(
    ("url", "landed"),
    [
        *((url, PLAIN) for url in REDIRECTS),
        *((url, None) for url in ADS),
        *((url, url) for url in ELSEWHERE),
    ],
)
def test_a_redirect_of_an_engine_leads_on_an_advertisement_nowhere_and_any_other_address_to_itself(
    url: str, landed: str | None
) -> None:
    assert landing_url(url) == landed


@pytest.mark.parametrize(
    ("translated", "original"),
    [
        # The examples of Google's own document first.
        ("https://example-com.translate.goog/", "https://example.com/"),
        ("https://foo-example-com.translate.goog/", "https://foo.example.com/"),
        ("https://foo--example-com.translate.goog/", "https://foo-example.com/"),
        ("https://0-57hw060o-com.translate.goog/?_x_tr_enc=0", "https://xn--57hw060o.com/"),
        ("https://1-en--us-example-com.translate.goog/?_x_tr_enc=1", "https://en-us.example.com/"),
        (
            "https://0-en----w45as309w-com.translate.goog/?_x_tr_enc=0",
            "https://xn--en--w45as309w.com/",
        ),
        (
            "https://1-0-----16pw588q-com.translate.goog/?_x_tr_enc=0,1",
            "https://xn----16pw588q.com/",
        ),
        (
            "https://lanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch-co-uk.translate.goog/?_x_tr_hp=l",
            "https://llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch.co.uk/",
        ),
        (
            "https://a--aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-com.translate.goog/"
            "?_x_tr_hp=a--xn--xn--xn--xn--xn--------------------------a",
            "https://a-xn-xn-xn-xn-xn-------------aa-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com/",
        ),
        ("https://g5h3969n-com.translate.goog/?_x_tr_enc=0&_x_tr_hp=0-", "https://xn--g5h3969n.com/"),
        ("https://polymarket-com.translate.goog/event/x?_x_tr_sch=http", "http://polymarket.com/event/x"),
    ],
)
def test_a_translation_is_led_back_by_the_steps_of_googles_document(translated: str, original: str) -> None:
    assert landing_url(translated) == original


def test_what_leads_on_and_on_leads_nowhere() -> None:
    url = "https://polymarket.com/event/x"
    for _ in range(6):
        url = f"https://duckduckgo.com/l/?{urlencode({'uddg': url, 'kh': 1})}"
    assert landing_url(url) == ""


@dataclass
class Library:
    """What ddgs answers, by backend; an exception is raised."""

    answers: Mapping[str, Sequence[Mapping[str, Any]] | Exception]
    asked: list[str] = field(default_factory=list)

    def text(self, query: str, **options: Any) -> list[dict[str, Any]]:
        self.asked.append(options["backend"] + options.get("timelimit", ""))
        answer = self.answers.get(options["backend"], [])
        if isinstance(answer, Exception):
            raise answer
        return answer and [dict(row) for row in answer]

    news = text


def row(url: str) -> dict[str, str]:
    return {"title": "T", "href": url, "body": "B"}


def provider(library: Library, **changes: Any) -> DdgsSearch:
    return DdgsSearch(lambda: NOW, client=lambda: library, **changes)


def test_where_one_backend_shows_nothing_the_next_is_asked_and_that_is_said() -> None:
    from ddgs.exceptions import DDGSException, TimeoutException

    library = Library(
        {
            "duckduckgo": DDGSException("No results found."),
            "brave": TimeoutException("timed out"),
            "yahoo": [row("https://www.bing.com/aclick?ld=1"), row("javascript:alert(1)")],
            "mojeek": [row(PLAIN)],
        }
    )
    answer = provider(library).search("q", before=None, count=5)
    assert library.asked == ["duckduckgo", "brave", "yahoo", "mojeek"]
    assert [each.url for each in answer.results] == [PLAIN]
    assert answer.said == (
        "duckduckgo showed no results",
        "brave failed",
        "yahoo showed 2 results without an address",
    )


def test_all_backends_have_one_deadline_and_nothing_of_any_is_unknown_and_not_empty() -> None:
    seconds = iter([0.0, 0.0, 15.0, 19.5, 19.5])
    library = Library({})
    with pytest.raises(SearchFailed, match=r"mojeek was not asked for want of time\), which may as well mean"):
        provider(library, monotonic=lambda: next(seconds)).search("q", before=None, count=5)
    assert library.asked == ["duckduckgo", "brave"]


def test_the_backends_of_a_recipe_are_asked_and_one_that_ddgs_has_not_is_named() -> None:
    library = Library({"startpage": [row(PLAIN)]})
    assert provider(library, backends=("startpage",)).search("q", before=None, count=5).results[0].url == PLAIN
    asked = provider(library, backends=("google", "startpage")).search("q", before=None, count=5)
    assert "no backend 'google'" in asked.said[0]
    broken = Library(
        {"duckduckgo": ValueError("odd"), "brave": None, "yahoo": [row(f" {PLAIN.replace('https', 'HTTPS')}")]}
    )  # type: ignore[dict-item]
    answer = provider(broken, backends=("duckduckgo", "brave", "yahoo")).search("q", before=None, count=5)
    assert (answer.said[0], len(answer.results)) == ("duckduckgo failed (ValueError)", 1)
    with pytest.raises(SearchFailed, match="no backend 'google'"):
        provider(library, backends=("google",)).search("q", before=None, count=5)


@pytest.mark.parametrize(("days", "said"), [(1, "d"), (5, "w"), (30, "m"), (200, "y"), (500, "")])
def test_how_far_back_is_asked_for_in_the_steps_that_ddgs_takes(days: int, said: str) -> None:
    library = Library({"startpage": [row(PLAIN)]})
    after = NOW - timedelta(days=days)
    provider(library, backends=("startpage",)).search("q", before=None, count=5, after=after)
    assert library.asked == [f"startpage{said}"]


def test_news_say_a_date_and_the_text_does_not() -> None:
    from predibot.research.search.provider import SearchResult

    news = Library({"duckduckgo": [{"date": "2026-01-05T14:05:00+00:00", "title": "N", "url": PLAIN}]})
    found: SearchResult = provider(news, kind="news").search("q", before=None, count=5).results[0]
    assert (found.published_at, found.url) == (datetime(2026, 1, 5, 14, 5, tzinfo=UTC), PLAIN)
    assert (provider(news, kind="news").dates_results, provider(news).dates_results) == (True, False)


# ------------------------------------------------- pages, as ddgs itself extracts them


def extracted(engine: Any, html: str) -> list[dict[str, Any]]:
    """Return what an engine of ddgs makes of a page."""
    rows = engine.post_extract_results(engine.extract_results(html))
    return [{"title": each.title, "href": each.href, "body": each.body} for each in rows]


def searched(backend: str, html: str) -> tuple[ToolText | ToolError, SearchStep]:
    """Return what the tool says of a page of results, and the step that is written down."""
    from ddgs.engines import ENGINES

    trace = Steps()
    library = Library({backend: extracted(ENGINES["text"][backend](), html)})
    tool: Callable[[str], ToolText | ToolError] = make_web_search(
        [provider(library, backends=(backend,))],
        SearchPolicy(count=20),
        trace,
    )
    return tool("q"), trace.steps[0]


def recorded(shared_data: Path, name: str) -> str:
    return (shared_data / "web_pages" / "duckduckgo_html" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("page", "results"), [("ddg_results.html", 10), ("ddg_with_ad.html", 10)])
def test_the_results_of_a_recorded_page_have_addresses_of_their_own_and_no_advertisement(
    shared_data: Path, page: str, results: int
) -> None:
    said, step = searched("duckduckgo", recorded(shared_data, page))
    assert isinstance(said, ToolText), said
    assert len(step.results) == results
    assert not [hit.url for hit in step.results if "duckduckgo.com" in hit.url or not hit.url.startswith("http")]


def test_the_page_that_asks_for_a_proof_of_being_human_is_a_refusal_and_not_nothing(shared_data: Path) -> None:
    said, _ = searched("duckduckgo", recorded(shared_data, "ddg_captcha.html"))
    assert isinstance(said, ToolError)
    assert "duckduckgo showed no results" in said.text


WRAPPED = {
    "brave": (
        "<div data-type='web'><a href='{url}'><div class='title'>T</div></a></div>",
        PLAIN,
        "https://search.brave.com/a/redirect?click_url=https%3A%2F%2Fad.example",
    ),
    "duckduckgo": (
        "<div class='result__body'><h2><a>T</a></h2><a href='{url}'>B</a></div>",
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1%26z%3D2&amp;rut=1",
        "//duckduckgo.com/y.js?ad_domain=ad.example",
    ),
    "mojeek": (
        "<ul class='results-standard'><li><h2><a href='{url}'>T</a></h2><p class='s'>B</p></li></ul>",
        PLAIN,
        "https://www.bing.com/aclick?ld=1",
    ),
    "startpage": (
        "<div class='result css-1'><a href='{url}'><h2>T</h2></a><p>B</p></div>",
        PLAIN,
        "https://www.googleadservices.com/pagead/aclk?sa=L",
    ),
    "yahoo": (
        "<div class='relsrch'><div class='Title'><a href='{url}'><h3>T</h3></a></div><div class='Text'>B</div></div>",
        "https://r.search.yahoo.com/_ylt=A/RU=https%3a%2f%2fa.example%2fx%3fy%3d1%26z%3d2/RK=2/RS=Q-",
        "https://r.search.yahoo.com/_ylt=A/RU=https%3a%2f%2fwww.bing.com%2faclick%3fld%3d1/RK=2/RS=Q-",
    ),
}


@pytest.mark.parametrize("backend", sorted(WRAPPED))
def test_a_page_of_each_engine_gives_its_result_and_no_advertisement(backend: str) -> None:
    item, url, advertisement = WRAPPED[backend]
    html = f"<html><body>{item.format(url=advertisement)}{item.format(url=url)}</body></html>"
    _, step = searched(backend, html)
    assert [hit.url for hit in step.results] == [PLAIN]


@pytest.mark.parametrize(
    ("age", "days"), [("3 hours ago", 0), ("2 days ago", 1), ("2 weeks ago", 7), ("4 months ago", 89)]
)
def test_an_age_that_ddgs_made_a_date_of_means_one_unit_less_and_of_bing_nothing(age: str, days: int) -> None:
    from ddgs.engines import bing_news, yahoo_news

    def published_at(backend: str, date: str) -> datetime | None:
        asked = DdgsSearch(
            lambda: datetime.now(UTC),
            "news",
            (backend,),
            client=lambda: Library({backend: [{"date": date, "title": "N", "url": PLAIN}]}),
        )
        return asked.search("q", before=None, count=5).results[0].published_at

    said = published_at("yahoo", yahoo_news.extract_date(age))
    assert said is not None
    assert (datetime.now(UTC) - said).days == days
    # It takes 3 hours for 3 days.
    assert published_at("bing", bing_news.extract_date(age)) is None
    day = published_at("bing", bing_news.extract_date("01/05/2026"))
    assert day == datetime(2026, 1, 6, 12, tzinfo=UTC)
