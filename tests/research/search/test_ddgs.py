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
from predibot.research.search.ddgs_provider import DdgsSearch
from predibot.research.search.provider import SearchFailed

NOW = datetime(2026, 1, 9, 12, tzinfo=UTC)
PLAIN = "https://a.example/x?y=1&z=2"


@pytest.mark.parametrize(
    "url",
    [
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
        # One engine's redirect within another's.
        "//duckduckgo.com/l/?uddg=https%3A%2F%2Fwww.bing.com%2Fck%2Fa%3Fu%3Da1aHR0cHM6Ly9hLmV4YW1wbGUveD95PTEmej0y",
        PLAIN,
    ],
)
def test_a_redirect_of_an_engine_is_the_address_that_it_leads_to(url: str) -> None:
    assert landing_url(url) == PLAIN


@pytest.mark.parametrize(
    "url",
    [
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
    ],
)
def test_what_somebody_paid_for_is_an_advertisement(url: str) -> None:
    assert landing_url(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://a.example/l/?uddg=https%3A%2F%2Fb.example",
        "https://duckduckgo.com.evil.example/l/?uddg=https%3A%2F%2Fb.example",
        "https://notgoogle.com/url?q=https://b.example",
        "https://www.bing.com/ck/a?u=a1%%%",
        "https://www.bing.com/ck/a",
        "https://duckduckgo.com/l/",
        "https://[broken/l/?uddg=x",
        "https://a.example/y.js",
    ],
)
def test_what_is_no_redirect_of_an_engine_stays_as_it_is(url: str) -> None:
    assert landing_url(url) == url


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

    steps: list[Any] = []

    class Trace:
        def write(self, step: object) -> None:
            steps.append(step)

    library = Library({backend: extracted(ENGINES["text"][backend](), html)})
    tool: Callable[[str], ToolText | ToolError] = make_web_search(
        [provider(library, backends=(backend,))],
        SearchPolicy(count=20),
        Trace(),  # type: ignore[arg-type]
    )
    return tool("q"), steps[0]


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
