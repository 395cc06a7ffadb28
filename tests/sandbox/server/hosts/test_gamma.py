"""Gamma: the dialect of events and markets over real HTTP, trap by trap."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import httpx
import pytest

from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World

OPEN: dict[str, str | int] = {"closed": "false", "limit": 100}


def pages(client: httpx.Client, path: str, params: dict[str, Any]) -> Iterator[list[Any]]:
    """Yield every page of a keyset list."""
    after: dict[str, Any] = {}
    while True:
        page = client.get(f"{path}/keyset", params=params | after).json()
        yield page[path.strip("/")]
        if "next_cursor" not in page:
            return
        after = {"after_cursor": page["next_cursor"]}


def listed(value: Any) -> Any:
    """Return a list that may be written as text within the JSON."""
    return json.loads(value) if isinstance(value, str) and value else value


@pytest.fixture(scope="module")
def events(gamma: httpx.Client) -> Any:
    return gamma.get("/events", params=OPEN).json()


@pytest.fixture(scope="module")
def closed_markets(gamma: httpx.Client) -> Any:
    return gamma.get("/markets", params={"closed": "true", "limit": 100, "order": "id", "ascending": "false"}).json()


def test_a_keyset_walk_sees_every_open_event_once(gamma: httpx.Client, events: list[Any]) -> None:
    params: dict[str, str | int] = {"closed": "false", "limit": 7}
    walked = list(pages(gamma, "/events", params))
    ids = [event["id"] for page in walked for event in page]
    assert len(ids) == len(set(ids))
    assert set(ids) == {event["id"] for event in events}
    assert all(len(page) == 7 for page in walked[:-1])
    # A page has a hundred at most, the last one has no cursor, and a parameter called cursor is passed over.
    markets = gamma.get("/markets/keyset", params={"closed": "false", "limit": 500}).json()
    assert (len(markets["markets"]), "next_cursor" in markets) == (100, True)
    assert "next_cursor" not in gamma.get("/events/keyset", params=OPEN).json()
    assert gamma.get("/events/keyset", params=OPEN | {"tag_slug": "nothing"}).json() == {"events": []}
    first = gamma.get("/events/keyset", params=params).json()
    assert gamma.get("/events/keyset", params=params | {"cursor": first["next_cursor"]}).json() == first


@pytest.mark.parametrize("ascending", ["true", "false"])
@pytest.mark.parametrize("order", ["volume24hr", "volume1wk", "volume", "endDate", "createdAt"])
def test_a_keyset_walk_keeps_the_order_with_missing_values_last(
    gamma: httpx.Client, order: str, ascending: str
) -> None:
    params = {"closed": "false", "limit": 9, "order": order, "ascending": ascending}
    values = [event.get(order) for page in pages(gamma, "/events", params) for event in page]
    known = [value for value in values if value is not None]
    if order == "createdAt":
        known = [datetime.fromisoformat(value).replace(second=0, microsecond=0) for value in known]
    assert known == sorted(known, reverse=ascending == "false")
    assert None not in values[: len(known)]


@pytest.mark.parametrize(
    "params",
    [
        {"order": "volume_24hr"},
        {"order": "end_date"},
        {"after_cursor": "???"},
        {"limit": "many"},
        {"limit": "0"},
        {"closed": "maybe"},
        {"end_date_max": "2026-01-01"},
        {"volume_min": "much"},
    ],
)
def test_what_it_does_not_understand_is_422(gamma: httpx.Client, params: dict[str, str]) -> None:
    reply = gamma.get("/events/keyset", params=params)
    assert reply.status_code == 422
    assert reply.json()["type"] == "validation error"


def test_offsets_continue_where_the_page_before_ended_up_to_two_thousand(
    gamma: httpx.Client, events: list[Any]
) -> None:
    first = gamma.get("/events", params={"closed": "false", "limit": 10}).json()
    second = gamma.get("/events", params={"closed": "false", "limit": 10, "offset": 10}).json()
    assert [event["id"] for event in first + second] == [event["id"] for event in events[:20]]
    for path, offset, status in (("/events", 2_000, 200), ("/events", 2_001, 422), ("/markets", 2_001, 422)):
        assert gamma.get(path, params={"closed": "true", "offset": offset}).status_code == status
    # Without a word on closed they are the closed ones.
    page = gamma.get("/events").json()
    assert len(page) == 20
    assert all(event["closed"] for event in page)


def test_filters_are_snake_case_and_do_filter(gamma: httpx.Client, events: list[Any]) -> None:
    sports = gamma.get("/events", params=OPEN | {"tag_slug": "sports"}).json()
    assert sports
    assert all("sports" in [tag["slug"] for tag in event["tags"]] for event in sports)
    tag_id = next(tag["id"] for tag in sports[0]["tags"] if tag["slug"] == "sports")
    assert gamma.get("/events", params=OPEN | {"tag_id": tag_id}).json() == sports
    assert len(gamma.get("/events", params=OPEN | {"exclude_tag_id": tag_id}).json()) == len(events) - len(sports)
    rich = gamma.get("/events", params=OPEN | {"volume_min": 100_000}).json()
    assert [event["id"] for event in rich] == [event["id"] for event in events if event["volume"] >= 100_000]


def test_a_filter_on_the_end_loses_events_without_one(gamma: httpx.Client, events: list[Any]) -> None:
    limit = "2026-02-01T00:00:00Z"
    soon = gamma.get("/events", params=OPEN | {"end_date_max": limit}).json()
    assert [event["id"] for event in soon] == [event["id"] for event in events if event.get("endDate", "~") <= limit]
    assert any("endDate" not in event for event in events)


def test_objects_are_found_by_id_slug_condition_and_token(gamma: httpx.Client, events: list[Any]) -> None:
    one, other = events[0], events[1]
    found = gamma.get("/events", params={"id": [one["id"], other["id"], "999"]}).json()
    assert {event["id"] for event in found} == {one["id"], other["id"]}
    assert gamma.get("/events", params={"slug": one["slug"]}).json() == [one]
    markets = [one["markets"][0], other["markets"][0]]
    ids = [market["id"] for market in markets]
    conditions = [market["conditionId"] for market in markets]
    tokens = [listed(market["clobTokenIds"])[1] for market in markets]
    for params in ({"id": ids}, {"condition_ids": conditions}, {"clob_token_ids": tokens}):
        assert [market["id"] for market in gamma.get("/markets", params=params).json()] == ids
        assert [market["id"] for market in gamma.get("/markets/keyset", params=params).json()["markets"]] == ids


def test_single_objects_are_read_by_id_and_unknown_ones_are_404(
    gamma: httpx.Client, server: SandboxServer, events: list[Any]
) -> None:
    event = events[0]
    assert gamma.get(f"/events/{event['id']}").json() == event
    assert gamma.get(f"/markets/{event['markets'][0]['id']}").json()["id"] == event["markets"][0]["id"]
    unborn = server.world.names.event_id(len(server.world.born_at_minutes) - 1)
    for path in ("/events/1", "/markets/1", "/elsewhere", f"/events/{unborn}"):
        assert gamma.get(path).status_code == 404
    assert gamma.get("/events", params={"id": unborn}).json() == []
    status = gamma.get("/status")
    assert (status.status_code, status.text) == (200, "OK")


def test_objects_of_markets_have_a_stub_of_their_event_and_no_tags(gamma: httpx.Client, events: list[Any]) -> None:
    market = gamma.get(f"/markets/{events[0]['markets'][0]['id']}").json()
    (stub,) = market.pop("events")
    assert market == events[0]["markets"][0]
    assert stub["id"] == events[0]["id"]
    assert not {"tags", "markets"} & {*stub, *market}


def test_arrays_are_mostly_text_within_the_json_and_sometimes_arrays(gamma: httpx.Client) -> None:
    markets = [market for page in pages(gamma, "/markets", OPEN) for market in page]
    for name in ("outcomes", "outcomePrices", "clobTokenIds", "umaResolutionStatuses"):
        as_text = sum(isinstance(market[name], str) for market in markets)
        assert 0.8 < as_text / len(markets) < 1.0
    assert {type(market["volume24hr"]) for market in markets} == {float, str}


def test_the_three_lists_of_a_market_correspond(events: list[Any]) -> None:
    for market in (market for event in events for market in event["markets"]):
        outcomes, prices, tokens = (listed(market[name]) for name in ("outcomes", "outcomePrices", "clobTokenIds"))
        assert len(outcomes) == len(prices) == len(tokens) == 2
        assert float(prices[0]) + float(prices[1]) == pytest.approx(1.0)


def test_instants_come_in_several_shapes(events: list[Any], closed_markets: list[Any]) -> None:
    assert len({len(event["createdAt"]) for event in events}) > 4
    texts = [event["createdAt"] for event in events] + [m["closedTime"] for m in closed_markets if "closedTime" in m]
    assert all(datetime.fromisoformat(text) <= SANDBOX_OPENS_AT for text in texts)
    assert any(text.endswith("+00") for text in texts)


def test_settled_markets_pay_one_nothing_or_half_and_stopped_ones_do_not_yet(closed_markets: list[Any]) -> None:
    settled = [m for m in closed_markets if m.get("umaResolutionStatus") == "resolved"]
    assert {tuple(listed(m["outcomePrices"])) for m in settled} == {("1", "0"), ("0", "1"), ("0.5", "0.5")}
    assert [m for m in closed_markets if "closedTime" in m] == settled
    assert all(m["active"] for m in closed_markets)


def test_a_market_that_stopped_shows_a_price_near_one_and_no_closing_time(world: World) -> None:
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server, httpx.Client(trust_env=False) as client:
        seen = set()
        for day in range(6, 12):
            server.now = SANDBOX_OPENS_AT.replace(day=day)
            page = client.get(f"{server.gamma_url}/markets", params=OPEN | {"closed": "true", "ascending": "false"})
            waiting = [m for m in page.json() if m.get("umaResolutionStatus") in {"proposed", "disputed"}]
            seen |= {listed(market["outcomePrices"])[0] for market in waiting}
            assert all("closedTime" not in market for market in waiting)
        assert {"0.9995", "0.0005"} <= seen


def test_a_market_is_listed_minutes_before_its_tokens_exist(world: World) -> None:
    number = next(n for n, minute in enumerate(world.born_at_minutes) if minute > SANDBOX_OPENS_AT.timestamp() / 60)
    born_seconds = int(world.born_at_minutes[number]) * 60
    with SandboxServer(world, now=datetime.fromtimestamp(born_seconds + 60, SANDBOX_OPENS_AT.tzinfo)) as server:
        address = f"{server.gamma_url}/events/{world.names.event_id(number)}"
        fresh = httpx.get(address, trust_env=False).json()["markets"][0]
        assert not fresh["clobTokenIds"]
        assert listed(fresh["outcomePrices"]) == ["0.5", "0.5"]
        server.now = datetime.fromtimestamp(born_seconds + 3_600, SANDBOX_OPENS_AT.tzinfo)
        assert len(listed(httpx.get(address, trust_env=False).json()["markets"][0]["clobTokenIds"])) == 2


def test_fees_are_stated_for_part_of_the_markets(events: list[Any]) -> None:
    markets = [market for event in events for market in event["markets"]]
    with_fees = [market for market in markets if market["feesEnabled"]]
    assert 0.3 < len(with_fees) / len(markets) < 0.7
    assert all(0.0 <= market["feeSchedule"]["rate"] <= 0.07 for market in with_fees)
    assert all("feeSchedule" not in market for market in markets if not market["feesEnabled"])
