"""The pages in a real browser: nothing foreign, nothing on the console, and readable for everybody.

Where there is no Chromium they are skipped and counted; PREDIBOT_REQUIRE_BROWSER=1 makes that a failure.
Screenshots lie in the folder of the test.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.acceptance.conftest import said_here
from tests.conftest import NO_BROWSER
from tests.web.wide import RULES_OF_AXE, served

PAGES = (
    *("/", "/calibration", "/decisions", "/events", "/runs", "/accounts", "/cohorts", "/status", "/tables/pairs"),
    *(
        "/today",
        "/curves",
        "/compare",
        "/compare?one=script_sharp&other=random_bet",
        "/methods",
        "/account?bot=equal_weights",
    ),
    *("/bot?name=script_sharp", "/bot?name=equal_weights", "/bot?name=script_gullible"),
)
STOCK_LISTED = ("/decisions?bot=script_noisy", "/decision?")
STOCK_PAGES = ("/", "/today", "/accounts", "/account?bot=script_noisy", "/bot?name=script_noisy", "/bot?name=index_spy")
"""Of a ledger of portfolios of stocks, where every bot has decided on one portfolio."""
LISTED = (
    ("/decisions?bot=script_sharp", "/decision?"),
    ("/events", "/event?"),
    ("/", "/bot?"),
    ("/cohorts", "/cohort?"),
    ("/cohort?week=2026-01-11", "/account?"),
)
"""A page, and how the address of another begins that it leads to."""
_QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Return a browser of the machine."""
    found = next(
        (each for name in ("chromium", "chromium-browser", "google-chrome") if (each := shutil.which(name))), None
    )
    if found is None:
        if os.environ.get("PREDIBOT_REQUIRE_BROWSER") == "1":
            pytest.fail(NO_BROWSER)
        pytest.skip(NO_BROWSER)
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=found, args=[*_QUIET]) as browser:
        yield browser


@pytest.fixture(scope="module")
def address(played: str) -> Iterator[str]:
    """Serve the ledger, and return where."""
    with served(played) as address:
        yield address


# What is too wide is so in any colours, and what lacks contrast at any width; `make soak` looks at all four.
@pytest.mark.parametrize(("width", "scheme"), [(400, "light"), (1280, "dark")])
def test_every_page_can_be_read_by_everybody(
    chromium: Browser, address: str, of_stocks: str, tmp_path: Path, width: int, scheme: str
) -> None:
    with served(of_stocks) as stocks:
        for where, paths, listed in ((address, PAGES, LISTED), (stocks, STOCK_PAGES, (STOCK_LISTED,))):
            _walk(chromium, where, paths, listed, tmp_path, width, scheme)


def _walk(
    chromium: Browser,
    address: str,
    paths: Sequence[str],
    listed: Sequence[tuple[str, str]],
    shots: Path,
    width: int,
    scheme: str,
) -> None:
    """Look at pages, at those they lead to, and at the sources of the first of these."""
    said = list[str]()
    with chromium.new_context(
        bypass_csp=True,
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
    ) as context:
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith(address) else None)
        found = [_first(page, address, *each) for each in listed]
        found += [_first(page, address, found[0], "/source?")] if paths is PAGES else []
        for number, path in enumerate([*paths, *found]):
            answer = page.goto(address + path)
            assert answer is not None and answer.status == 200, path
            page.screenshot(path=shots / f"{len(paths)}-{number}.png", full_page=True)
            # A table that is wider than the page is moved by itself.
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1"), (
                path
            )
            broken = Axe().run(page, options=RULES_OF_AXE)
            assert broken.violations_count == 0, f"{path}: {broken.generate_report()}"
    assert said == []


def test_every_instant_says_what_it_is_where_the_reader_is(chromium: Browser, address: str) -> None:
    with chromium.new_context(timezone_id="America/New_York", locale="en-US") as context:
        page = context.new_page()
        said = list[str]()
        # What the policy refuses stands there, as nothing else is bypassed here.
        page.on("console", lambda message: said.append(message.text))
        for path in PAGES:
            page.goto(address + path)
        assert said == []
        page.goto(f"{address}/today")
        times = page.locator("time")
        assert times.count() > 10
        titles = times.evaluate_all("all => all.map(each => [each.dateTime, each.title])")
    assert ["2026-05-05T12:00:00+00:00", "May 5, 2026, 8:00:00 AM EDT, your time"] in titles
    assert all(title for _, title in titles)


def test_a_chart_tells_all_its_lines_at_the_day_that_is_pointed_at(chromium: Browser, address: str) -> None:
    page = chromium.new_page(viewport={"width": 1_280, "height": 900})
    page.goto(f"{address}/")
    chart, tip = page.locator("svg.chart").first, page.locator(".tip")
    chart.hover()
    day, *rows = filter(None, tip.locator("p").all_inner_texts())
    assert re.fullmatch(r"\d{4}-\d\d-\d\d( \d\d:\d\d)?", day)
    names = page.locator(".legend > span").all_text_contents()
    assert names and sorted(each.split("\n")[0] for each in rows) == sorted(names)
    page.mouse.move(1, 1)
    assert tip.count() == 0
    chart.focus()
    page.keyboard.press("ArrowRight")
    first = tip.inner_text()
    page.keyboard.press("ArrowRight")
    assert first < tip.inner_text()
    page.keyboard.press("Escape")
    assert tip.count() == 0


def test_a_long_list_is_searched_as_words_are_typed(chromium: Browser, address: str) -> None:
    page = chromium.new_page()
    page.goto(f"{address}/decisions")
    rows, words = page.locator("tbody tr:visible"), page.get_by_label(re.compile("^Search these"))
    every = rows.count()
    words.fill("script_sharp")
    assert 0 < rows.count() < every
    assert all("script_sharp" in each for each in rows.all_inner_texts())
    words.fill("no such words")
    assert rows.count() == 0
    words.fill("")
    assert rows.count() == every


@pytest.mark.parametrize("reader", ["away", "reading", "has stopped it"])
def test_today_looks_again_by_itself_unless_it_is_read_or_stopped(chromium: Browser, address: str, reader: str) -> None:
    with chromium.new_context() as context:
        page = context.new_page()
        page.clock.install()
        page.goto(f"{address}/today")
        box = page.get_by_role("checkbox", name="Look again every minute")
        assert box.is_checked()
        if reader == "reading":
            page.keyboard.press("PageDown")
            assert page.get_by_text("waits, because you are reading").is_visible()
        elif reader == "has stopped it":
            box.uncheck()
        asked = list[str]()
        page.on("request", lambda request: asked.append(request.url))
        page.clock.run_for(59_000)
        assert asked == []
        if reader == "away":
            with page.expect_navigation():
                page.clock.run_for(2_000)
        else:
            page.clock.run_for(600_000)
            assert asked == []
        if reader == "has stopped it":
            page.reload()
            assert not page.get_by_role("checkbox", name="Look again every minute").is_checked()


def _first(page: Page, address: str, path: str, begins: str) -> str:
    """Return the first address of a kind that a page leads to."""
    page.goto(address + path)
    found = page.locator(f'a[href^="{begins}"]').first.get_attribute("href")
    assert found is not None
    return found


@pytest.mark.parametrize("width", [400, 1280])
def test_the_pages_as_files_can_be_read_by_everybody(
    chromium: Browser, played: str, tmp_path: Path, width: int
) -> None:
    folder = tmp_path / "site"
    assert said_here("publish", folder, "--since", "2026-01-01", "--ledger", played).code == 0
    said = list[str]()
    own = folder.as_uri()
    with chromium.new_context(bypass_csp=False, viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: said.append(request.url) if not request.url.startswith(own) else None)
        for number, name in enumerate(["index.html", "events.html", "search.html", *_one_of_each(folder)]):
            page.goto(f"{own}/{name}")
            page.screenshot(path=tmp_path / f"{number}.png")
            # The stylesheet is there.
            assert page.evaluate("document.styleSheets.length") == 1
            assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth + 1")
        page.goto(f"{own}/search.html")
        page.fill("#words", "SHARP script")
        assert page.locator("#found a").all_inner_texts() == ["script_sharp"]
        page.click("#found a")
        assert page.inner_text("h1").startswith("script_sharp")
    assert said == []
    with chromium.new_context(bypass_csp=True, viewport={"width": width, "height": 900}) as context:
        page = context.new_page()
        page.goto(f"{own}/search.html")
        page.fill("#words", "the")
        found = Axe().run(page, options=RULES_OF_AXE)
        assert found.violations_count == 0, found.generate_report()


def _one_of_each(folder: Path) -> list[str]:
    firsts = [min(part.glob("*.html"), default=None) for part in folder.iterdir() if part.is_dir()]
    return [page.relative_to(folder).as_posix() for page in firsts if page is not None]
