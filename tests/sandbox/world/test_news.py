"""News: pages appear in their time, are of mixed quality, and know more than the price without spoiling it."""

from collections import Counter
from datetime import timedelta
from itertools import pairwise

import httpx
import numpy as np
import pytest
import trafilatura

from predibot.sandbox.server.hosts.searxng import render_article
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.news import NewsPage, page_at, pages_of, slug_of, statements_of
from predibot.sandbox.world.news_text import article_of
from predibot.sandbox.world.world import Stage, World
from tests.sandbox.calibration import assert_calibrated
from tests.sandbox.venues import open_numbers
from tests.soaks import few

OPENS = minute_of(SANDBOX_OPENS_AT)
LATE = OPENS + 400 * 1_440


def pages_by(world: World, number: int, minute: int) -> list[NewsPage]:
    return [page for page in pages_of(world.draws, world.plan(number)) if page.published_minute <= minute]


@pytest.fixture(scope="module")
def pages(large: World) -> list[NewsPage]:
    return [page for number in open_numbers(large) for page in pages_of(large.draws, large.plan(number))]


INSTANTS = [SANDBOX_OPENS_AT + timedelta(days=days, minutes=13) for days in (-20, 0, 40)]


@pytest.mark.parametrize("instant", few(INSTANTS, INSTANTS[1]))
def test_an_altered_future_changes_no_byte_of_any_page(instant: object) -> None:
    minute = minute_of(instant)  # type: ignore[arg-type]  # pytest gives objects
    plain, altered = (World.from_seed(7, events=16, altered_after=after) for after in (None, instant))  # type: ignore[arg-type]
    numbers = plain.event_numbers(minute)[-60:]
    seen = 0
    for number in numbers:
        pages = pages_by(plain, number, minute)
        assert pages == pages_by(altered, number, minute)
        for page in pages:
            seen += 1
            assert article_of(plain, page, minute) == article_of(altered, page, minute)
    assert seen > 200


def test_an_altered_future_changes_later_pages() -> None:
    later = OPENS + 40 * 1_440
    plain = World.from_seed(7, events=16)
    altered = World.from_seed(7, events=16, altered_after=SANDBOX_OPENS_AT)
    pages = [page for number in open_numbers(plain) for page in pages_by(plain, number, later)]
    new = [page for page in pages if page.published_minute > OPENS and page.kind == "analysis"]
    assert sum(article_of(plain, page, later) != article_of(altered, page, later) for page in new) > len(new) / 4


def test_a_page_is_not_there_before_its_time(large: World) -> None:
    for number in open_numbers(large)[:8]:
        for page in pages_of(large.draws, large.plan(number)):
            slug = slug_of(large, page)
            assert page_at(large, slug, page.published_minute - 1) is None
            assert page_at(large, slug, page.published_minute) == page


def test_an_updated_page_says_the_old_numbers_until_it_is_updated(large: World, pages: list[NewsPage]) -> None:
    updated = [page for page in pages if page.updated_minute is not None and page.kind == "rumour"][:20]
    assert updated
    changed = 0
    for page in updated:
        moment = page.updated_minute or 0
        first = statements_of(large, page, page.published_minute)
        assert statements_of(large, page, moment - 1) == first
        changed += statements_of(large, page, moment) != first
        assert article_of(large, page, moment - 1).updated_minute is None
    assert changed > 0.8 * len(updated)


def test_every_event_has_two_pages_at_once_and_more_as_it_goes_on(large: World) -> None:
    for number in open_numbers(large)[:40]:
        plan = large.plan(number)
        assert len(pages_by(large, number, plan.opens_hour * 60 + 30)) >= 2
        minutes = [page.published_minute for page in pages_of(large.draws, plan)]
        assert all(earlier <= later for earlier, later in pairwise(minutes))


def test_pages_are_of_mixed_quality(pages: list[NewsPage]) -> None:
    counts = Counter(page.kind for page in pages)
    assert counts["analysis"] > 0.4 * len(pages)
    assert all(counts[kind] > 0.02 * len(pages) for kind in ("rumour", "wrong", "filler", "hostile", "result"))
    assert 0.02 < sum(not page.is_dated for page in pages) / len(pages) < 0.15


def test_a_result_is_told_only_after_it_is_known_and_truly(large: World) -> None:
    seen = 0
    for number in large.event_numbers(OPENS)[-200:]:
        plan = large.plan(number)
        for page in pages_of(large.draws, plan):
            if page.market is None:
                continue
            assert page.published_minute > plan.markets[page.market].decided_hour * 60
            (statement,) = statements_of(large, page, page.published_minute)
            payout = large.event(number, LATE).markets[page.market].payout
            told = {
                0.5: "neither",
                1.0: plan.markets[page.market].outcomes[0],
                0.0: plan.markets[page.market].outcomes[1],
            }
            assert statement.result == told[payout or 0.0]
            seen += 1
    assert seen > 200


def informed(world: World) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Return (informed chance, price, payout) of one open market an event, shape (events, 3)."""
    rows = []
    for number in world.event_numbers(OPENS):
        plan = world.plan(number)
        minute = (plan.opens_hour + (plan.decided_hour - plan.opens_hour) // 3) * 60
        index = number % len(plan.markets)
        market = world.event(number, LATE).markets[index]
        if market.payout in (None, 0.5) or world.event(number, minute).markets[index].stage is not Stage.OPEN:
            continue
        price = world.quotes(number, minute)[index].shown
        rows.append((world.insider_chances(number, minute)[index], price, market.payout))
    return np.array(rows, dtype=float)


def test_what_pages_know_is_calibrated_and_beats_the_price_which_is_calibrated_all_the_same(large: World) -> None:
    chance, price, payout = informed(large).T
    assert len(chance) > 400
    assert_calibrated(chance, payout, [0.0, 0.2, 0.8, 1.01])
    assert_calibrated(price, payout, [0.0, 0.3, 0.7, 1.0])
    gain = (price - payout) ** 2 - (chance - payout) ** 2
    assert gain.mean() > 4 * gain.std() / np.sqrt(len(gain))


def test_prices_hide_what_pages_know_from_who_looks_at_prices_only(large: World) -> None:
    moves, earlier = [], []
    for number in large.event_numbers(OPENS):
        plan = large.plan(number)
        hours = plan.decided_hour - plan.opens_hour
        _, prices = large.price_history(number, 0, plan.markets[0].decided_hour * 60 - 60)
        if len(prices) > hours // 2 > 8:
            earlier.append(prices[hours // 4] - prices[0])
            moves.append(prices[hours // 2] - prices[hours // 4])
    assert abs(np.corrcoef(earlier, moves)[0, 1]) < 4 / np.sqrt(len(moves))


def test_the_text_of_a_page_is_found_among_its_noise(large: World) -> None:
    for number in open_numbers(large)[:10]:
        page = pages_by(large, number, OPENS)[0]
        article = article_of(large, page, OPENS)
        text = trafilatura.extract(render_article(article).decode()) or ""
        missing = [paragraph for paragraph in article.paragraphs if paragraph not in " ".join(text.split())]
        assert not missing
        assert "cookie" not in text.lower()
        assert "812 partners" not in text


def test_hostile_pages_try_every_trick(large: World, pages: list[NewsPage]) -> None:
    texts = [" ".join(article_of(large, page, LATE).paragraphs) for page in pages if page.kind == "hostile"][:40]
    whole = "\n".join(texts)
    for trick in ("Ignore all previous", "169.254.169.254", "SYSTEM:", "<|im_start|>", "end of untrusted"):
        assert trick in whole
    assert max(map(len, texts)) > 100_000


def test_the_server_serves_a_page_from_its_hour_on_and_not_before(world: World) -> None:
    number = open_numbers(world)[0]
    page = next(page for page in pages_of(world.draws, world.plan(number)) if page.published_minute > OPENS)
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server, httpx.Client(trust_env=False) as client:
        url = f"{server.search_url}/news/{slug_of(world, page)}"
        statuses = [client.get(url).status_code]
        server.now = SANDBOX_OPENS_AT + timedelta(minutes=page.published_minute - OPENS)
        reply = client.get(url)
    assert [*statuses, reply.status_code] == [404, 200]
    assert reply.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("slug", ["", "x", "999-1-a", "../gamma", "1000001-1-", "%00", "8000001-99999999999999-a"])
def test_an_address_that_leads_nowhere_is_404(server: SandboxServer, slug: str) -> None:
    assert httpx.get(f"{server.search_url}/news/{slug}", trust_env=False).status_code == 404
