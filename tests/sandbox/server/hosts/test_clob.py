"""CLOB: the dialect of books and price histories over real HTTP, trap by trap."""

import json
from itertools import pairwise
from typing import Any

import httpx
import pytest

from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.world import Stage, World

NOW = int(SANDBOX_OPENS_AT.timestamp())
DAY = 86_400


def place_of(world: World, stage: Stage) -> tuple[int, int]:
    """Return event and index of the oldest market in a stage that has both sides of its book, or had."""
    minute = minute_of(SANDBOX_OPENS_AT)
    for number in world.event_numbers(minute):
        for market, quote in zip(world.event(number, minute).markets, world.quotes(number, minute), strict=True):
            if market.stage is stage and (stage is not Stage.OPEN or quote.mid is not None):
                return number, market.plan.index
    raise LookupError(stage)


@pytest.fixture(scope="module")
def tokens(world: World) -> tuple[str, str]:
    number, index = place_of(world, Stage.OPEN)
    return world.names.token_id(number, index, 0), world.names.token_id(number, index, 1)


@pytest.fixture(scope="module")
def settled_token(world: World) -> str:
    return world.names.token_id(*place_of(world, Stage.SETTLED), 0)


def history(clob: httpx.Client, **params: Any) -> Any:
    return clob.get("/prices-history", params=params).json()["history"]


def test_the_best_prices_of_a_book_are_last_and_the_book_of_no_mirrors_that_of_yes(
    clob: httpx.Client, tokens: tuple[str, str]
) -> None:
    book, no = (clob.get("/book", params={"token_id": token}).json() for token in tokens)
    bids, asks = ([float(level["price"]) for level in book[side]] for side in ("bids", "asks"))
    assert bids == sorted(bids)
    assert asks == sorted(asks, reverse=True)
    assert bids[-1] < asks[-1]
    assert book["timestamp"] == str(NOW * 1000)
    assert all(isinstance(level["size"], str) and float(level["size"]) > 0 for level in book["bids"])
    mirrored = [(round(1 - float(level["price"]), 6), level["size"]) for level in book["asks"]]
    assert [(float(level["price"]), level["size"]) for level in no["bids"]] == mirrored
    middle = (bids[-1] + asks[-1]) / 2
    mids = [float(clob.get("/midpoint", params={"token_id": token}).json()["mid"]) for token in tokens]
    assert mids == [pytest.approx(middle), pytest.approx(1 - middle)]
    # The time is that of the server's own clock.
    assert clob.get("/time").json() == NOW


def test_a_book_that_does_not_exist_is_404_and_a_missing_token_400(clob: httpx.Client, settled_token: str) -> None:
    assert clob.get("/book", params={"token_id": "12345"}).status_code == 404
    assert clob.get("/book", params={"token_id": settled_token}).status_code == 404
    assert clob.get("/midpoint", params={"token_id": settled_token}).status_code == 404
    assert clob.get("/book").status_code == 400


def test_up_to_five_hundred_books_are_asked_for_by_post_only(clob: httpx.Client, tokens: tuple[str, str]) -> None:
    asked = [{"token_id": tokens[1]}, {"token_id": "12345"}, {"token_id": tokens[0]}]
    books = clob.post("/books", json=asked).json()
    assert [book["asset_id"] for book in books] == [tokens[1], tokens[0]]
    assert books[1] == clob.get("/book", params={"token_id": tokens[0]}).json()
    assert clob.get("/books", params={"token_id": tokens[0]}).status_code == 400
    assert clob.post("/books", json=[{"token_id": tokens[0]}] * 500).status_code == 200
    assert clob.post("/books", json=[{"token_id": tokens[0]}] * 501).status_code == 400
    assert clob.post("/books", content=b"[1]").status_code == 400
    assert clob.post("/books", content=b"{").status_code == 400


def test_a_history_ends_with_a_point_at_now_even_when_its_end_is_past(
    clob: httpx.Client, tokens: tuple[str, str]
) -> None:
    points = history(clob, market=tokens[0], startTs=NOW - 10 * DAY, endTs=NOW - 8 * DAY, fidelity=60)
    assert len(points) > 24
    assert points[-1]["t"] == NOW
    assert all(NOW - 10 * DAY <= point["t"] <= NOW - 8 * DAY for point in points[:-1])


def test_fifteen_days_is_the_longest_range(clob: httpx.Client, tokens: tuple[str, str]) -> None:
    params: dict[str, str | int] = {"market": tokens[0], "endTs": NOW, "fidelity": 60}
    assert clob.get("/prices-history", params=params | {"startTs": NOW - 15 * DAY}).status_code == 200
    assert clob.get("/prices-history", params=params | {"startTs": NOW - 15 * DAY - 1}).status_code == 400


def test_one_m_is_a_month_and_needs_a_coarser_fidelity(clob: httpx.Client, tokens: tuple[str, str]) -> None:
    params = {"market": tokens[0], "interval": "1m"}
    assert clob.get("/prices-history", params=params).status_code == 400
    assert clob.get("/prices-history", params=params | {"fidelity": 9}).status_code == 400
    points = history(clob, **params, fidelity=10)
    assert points[0]["t"] < NOW - 20 * DAY
    assert points[0]["t"] >= NOW - 30 * DAY


@pytest.mark.parametrize(
    "params",
    [{}, {"market": "1"}, {"market": "1", "interval": "1y"}, {"market": "1", "startTs": "x"}, {"interval": "1d"}],
)
def test_a_history_asked_for_wrongly_is_400_and_that_of_an_unknown_token_empty(
    clob: httpx.Client, params: dict[str, str]
) -> None:
    assert clob.get("/prices-history", params=params).status_code == 400
    assert history(clob, market="12345", interval="max") == []


def test_the_prices_of_no_are_one_less_those_of_yes(clob: httpx.Client, tokens: tuple[str, str]) -> None:
    yes, no = (history(clob, market=token, interval="1w", fidelity=60) for token in tokens)
    assert [point["t"] for point in yes] == [point["t"] for point in no]
    assert all(one["p"] + other["p"] == pytest.approx(1.0) for one, other in zip(yes, no, strict=True))


def test_fidelity_thins_a_history_and_changes_no_price(clob: httpx.Client, tokens: tuple[str, str]) -> None:
    fine = {point["t"]: point["p"] for point in history(clob, market=tokens[0], interval="max", fidelity=1)}
    coarse = {point["t"]: point["p"] for point in history(clob, market=tokens[0], interval="max", fidelity=1440)}
    assert len(fine) > 20 * len(coarse) > 0
    assert coarse.items() <= fine.items()


def test_a_settled_market_answers_nothing_finer_than_twelve_hours(clob: httpx.Client, settled_token: str) -> None:
    assert history(clob, market=settled_token, interval="max", fidelity=719) == []
    points = history(clob, market=settled_token, interval="max", fidelity=720)
    assert len(points) > 3
    steps = {(later["t"] - earlier["t"]) % 43_200 for earlier, later in pairwise(points[:-1])}
    assert steps == {0}


def test_the_last_price_of_a_history_is_the_one_gamma_shows(
    clob: httpx.Client, gamma: httpx.Client, tokens: tuple[str, str]
) -> None:
    (market,) = gamma.get("/markets", params={"clob_token_ids": tokens[0]}).json()
    prices = market["outcomePrices"]
    shown = json.loads(prices) if isinstance(prices, str) else prices
    for token, price in zip(tokens, shown, strict=True):
        assert history(clob, market=token, interval="1d", fidelity=60)[-1]["p"] == float(price)
