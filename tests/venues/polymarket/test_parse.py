"""The Polymarket parser: payloads become events, or skips with a reason."""

import json
from datetime import UTC, datetime
from operator import attrgetter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.event import Event, Market, OrderTerms, Skip
from predibot.domain.price import FeeSchedule, Quote
from predibot.domain.resolution import Resolution
from predibot.venues.polymarket.parse import PAYLOADS, parse_event, parse_market, parse_resolution, tokens_of
from tests.venues.payloads import NOW, condition_of, event_payload, market_payload, named_payload, paid, settled_payload


def parsed(payload: object) -> Market:
    """Return a market that has to be readable."""
    market = parse_market(payload, quoted_at=NOW)
    assert isinstance(market, Market), market
    return market


def event_of(*markets: dict[str, object], **changes: object) -> tuple[Event, list[Skip]]:
    """Return an event that has to be readable, and what of it is not."""
    event, skips = parse_event(event_payload(1, *markets, **changes), quoted_at=NOW)
    assert event is not None
    return event, list(skips)


def reason(payload: object) -> str:
    """Return why a market cannot be read."""
    skip = parse_market(payload, quoted_at=NOW, event_id="9")
    assert isinstance(skip, Skip)
    assert (skip.kind, skip.event_id) == ("market", "9")
    return skip.reason


def test_a_market_carries_what_is_needed_to_ask_for_it_later() -> None:
    market = parsed(market_payload(3))
    assert (market.ref.id, market.ref.condition_id, market.ref.token_ids) == ("3", condition_of(3), ("30", "31"))
    assert market.quote == Quote(at=NOW, bid=0.4, ask=0.42, displayed=0.41, last=0.43)
    assert market.closes_at == datetime(2026, 3, 1, tzinfo=UTC)


def test_both_encodings_of_each_list_give_the_same_market() -> None:
    payload = market_payload()
    fields = ("outcomes", "outcomePrices", "clobTokenIds")
    as_lists = payload | {field: json.loads(str(payload[field])) for field in fields}
    assert parsed(as_lists) == parsed(payload)


def test_numbers_may_be_texts() -> None:
    assert parsed(market_payload(bestBid="0.4", volume1wk="1234.5")) == parsed(market_payload())


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_market_without_tokens_prices_or_volume_is_read(nothing: object) -> None:
    fields = dict.fromkeys(
        ("clobTokenIds", "conditionId", "outcomePrices", "bestBid", "bestAsk", "lastTradePrice", "volume1wk"), nothing
    )
    market = parsed(market_payload(**fields))
    assert (market.ref.token_ids, market.ref.condition_id) == ((), None)
    assert (market.quote, market.volume_1wk_usd) == (None, None)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("id", None),
        ("id", "../7"),
        ("question", ""),
        ("bestBid", 1.2),
        ("bestAsk", "NaN"),
        ("bestAsk", float("inf")),
        ("lastTradePrice", True),
        ("outcomePrices", '["0.4"]'),
        ("outcomePrices", '["-0.1", "1.1"]'),
        ("outcomePrices", "[0.4, 0.6"),
        ("clobTokenIds", '["../../secret", "2"]'),
        ("clobTokenIds", '["7", "7"]'),
        ("conditionId", "0xABC"),
        ("outcomes", ["x"] * 200),
        ("endDate", "soon"),
        ("closed", "maybe"),
        ("feeSchedule", {"rate": 7}),
    ],
)
def test_a_field_that_cannot_be_read_skips_its_market_with_a_reason(field: str, value: object) -> None:
    assert field in reason(market_payload(**{field: value}))


@pytest.mark.parametrize("payload", [None, 7, "text", [], [1]])
def test_what_is_no_object_is_skipped(payload: object) -> None:
    assert reason(payload)


OTHERWISE: dict[str, object] = {"outcomePrices": None, "clobTokenIds": None}
OPEN: dict[str, object] = {"acceptingOrders": True}


@pytest.mark.parametrize(
    ("fields", "name", "value"),
    [
        *(({"outcomes": list(each), **OTHERWISE}, "outcomes", each) for each in ((), ("Only",), ("A", "B", "C"))),
        ({"startDate": "2026-01-02T03:04:05Z"}, "opened_at", datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)),
        *(({"startDate": each}, "opened_at", None) for each in (None, "", "soon", 7, "0001-01-01T00:00:00Z")),
        ({"feesEnabled": False}, "fees", FeeSchedule(0.0)),
        ({"feesEnabled": True}, "fees", None),
        ({"feesEnabled": None}, "fees", None),
        ({"feesEnabled": True, "feeSchedule": {"rate": "0.04", "exponent": 2}}, "fees", FeeSchedule(0.04, 2.0)),
        ({"feesEnabled": True, "feeSchedule": '{"rate": 0.04}'}, "fees", FeeSchedule(0.04, 1.0)),
        ({}, "exclusive_group", ""),
        ({"negRisk": False, "negRiskMarketID": "0x1"}, "exclusive_group", ""),
        ({"negRisk": True}, "exclusive_group", "negRisk"),
        ({"negRisk": True, "negRiskMarketID": "0x1"}, "exclusive_group", "0x1"),
        ({"volumeNum": 7.5, "volume": "9"}, "volume_usd", 7.5),
        ({"volume": "1234.5"}, "volume_usd", 1234.5),
        ({"volumeNum": "12"}, "volume_usd", 12.0),
        ({"volumeNum": ""}, "volume_usd", None),
        ({}, "volume_usd", None),
        ({"acceptingOrders": False}, "orders.accepted", False),
        ({"acceptingOrders": True}, "orders.accepted", True),
        ({"acceptingOrders": True, "active": False}, "orders.accepted", False),
        ({"acceptingOrders": None}, "orders.accepted", None),
        ({}, "orders.accepted", None),
        ({"orderPriceMinTickSize": 0.001, "orderMinSize": 5, **OPEN}, "orders", OrderTerms(True, 0.001, 5.0)),
        ({"orderPriceMinTickSize": "0.01", "orderMinSize": "15", **OPEN}, "orders", OrderTerms(True, 0.01, 15.0)),
        ({"orderPriceMinTickSize": "", "orderMinSize": None, "active": "yes", **OPEN}, "orders", OrderTerms(True)),
        ({"orderPriceMinTickSize": 0, "orderMinSize": -5, "acceptingOrders": "maybe"}, "orders", OrderTerms()),
        ({"orderPriceMinTickSize": "NaN", "orderMinSize": [5], **OPEN}, "orders", OrderTerms(True)),
        ({}, "is_other", False),
        ({"negRiskOther": True}, "is_other", True),
        ({"negRiskOther": 1}, "is_other", False),
    ],
)
def test_what_is_stated_of_a_market_is_read_and_what_is_not_is_unknown(
    fields: dict[str, object], name: str, value: object
) -> None:
    assert attrgetter(name)(parsed(market_payload(**fields))) == value


@pytest.mark.parametrize("second", [market_payload(2, bestBid=7), market_payload(1)], ids=["unreadable", "twice"])
def test_an_event_keeps_its_readable_markets_and_names_the_others(second: dict[str, object]) -> None:
    event, skips = event_of(market_payload(1), second)
    assert [market.id for market in event.markets] == ["1"]
    assert [(skip.kind, skip.id, skip.event_id) for skip in skips] == [("market", second["id"], "1")]


def test_an_event_that_cannot_be_read_is_one_skip() -> None:
    event, skips = parse_event(event_payload(5, title=None), quoted_at=NOW)
    assert event is None
    assert [(skip.kind, skip.id) for skip in skips] == [("event", "5")]


def test_a_market_without_an_end_has_that_of_its_event() -> None:
    event, _ = event_of(market_payload(1, endDate=None))
    assert event.markets[0].closes_at == event.closes_at == datetime(2026, 3, 2, tzinfo=UTC)


def test_the_payload_is_kept_verbatim_in_canonical_form() -> None:
    payload = event_payload(1, unknown="\ud800 ü")
    event, _ = event_of(unknown="\ud800 ü")
    assert json.loads(event.payload) == payload
    assert event.payload == json.dumps(payload, sort_keys=True, separators=(",", ":"))


RESULTS: dict[str, object] = {
    "eventMetadata": {"finalPrice": 97_123.4, "priceToBeat": 97_000.0},
    "score": "000-000|2-1|Bo3",
    "period": "3/3",
    "ended": True,
    "finishedTimestamp": "2026-02-12T00:31:53Z",
    "tweetCount": 270,
}


def test_no_field_that_states_a_result_is_kept_wherever_it_stands() -> None:
    stub = event_payload(1, **RESULTS)
    payload = event_payload(1, market_payload(1, events=[stub], tokens=[{"outcome": "Yes", "winner": True}]), **RESULTS)
    clean = event_payload(1, market_payload(1, events=[event_payload(1)], tokens=[{"outcome": "Yes"}]))
    before = json.dumps(payload)
    event, _ = parse_event(payload, quoted_at=NOW)
    assert event is not None
    assert json.loads(event.payload) == clean
    assert json.dumps(payload) == before
    stored = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    assert PAYLOADS.without_results(stored) == event.payload
    assert PAYLOADS.without_results(event.payload) is event.payload


def test_results_are_found_as_deep_as_json_goes() -> None:
    deep: object = {"eventMetadata": {"finalPrice": 1}}
    for _ in range(300):
        deep = [{"a": deep}]
    assert "finalPrice" not in event_of(deep=deep)[0].payload


def test_a_number_that_json_does_not_have_skips_its_market_and_spoils_no_payload() -> None:
    event, skips = event_of(market_payload(1, bestBid=float("nan")))
    assert (event.markets, len(skips)) == ((), 1)
    assert json.loads(event.payload, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    ("prices", "payout_yes"),
    [
        ('["1", "0"]', 1.0),
        ('["0", "1"]', 0.0),
        ('["0.9999989", "0.0000011"]', 1.0),
        ('["0.0000008", "0.9999992"]', 0.0),
        ('["0.5", "0.5"]', None),
        ('["0", "0"]', None),
        ('["1", "1"]', None),
        ('["0.9995", "0.0005"]', None),
        ('["0.4999", "0.5001"]', None),
        ('["1"]', None),
        ('["1", "0", "0"]', None),
        ("", None),
        ('["1.00001", "0"]', None),
    ],
)
def test_a_closed_market_is_settled_only_when_both_prices_fit(prices: str, payout_yes: float | None) -> None:
    assert paid(settled_payload(prices=prices)) == payout_yes


@pytest.mark.parametrize(
    ("said", "won", "late", "even"),
    [
        ({"umaResolutionStatus": "resolved"}, 1.0, 1.0, 0.5),
        ({"umaResolutionStatus": "Resolved", "umaResolutionStatuses": '["proposed", "disputed"]'}, 1.0, 1.0, 0.5),
        ({"umaResolutionStatuses": '["proposed", "resolved"]'}, 1.0, 1.0, 0.5),
        ({"umaResolutionStatus": "", "umaResolutionStatuses": ["proposed", "disputed", "resolved"]}, 1.0, 1.0, 0.5),
        ({}, 1.0, None, None),
        ({"umaResolutionStatus": None, "umaResolutionStatuses": "[]"}, 1.0, None, None),
        ({"umaResolutionStatuses": ""}, 1.0, None, None),
        *(
            ({"umaResolutionStatus": each}, None, None, None)
            for each in ("proposed", "disputed", "Challenged", "posed")
        ),
        ({"umaResolutionStatuses": '["resolved", "disputed"]'}, None, None, None),
        ({"umaResolutionStatuses": '["proposed", null, ""]'}, None, None, None),
        ({"umaResolutionStatuses": "[oops"}, None, None, None),
        ({"umaResolutionStatus": "resolved", "umaResolutionStatuses": "[oops"}, 1.0, 1.0, 0.5),
        ({"umaResolutionStatus": "proposed", "umaResolutionStatuses": '["resolved"]'}, None, None, None),
    ],
)
def test_what_the_venue_says_of_a_resolution_comes_before_its_prices(
    said: dict[str, object], won: float | None, late: float | None, even: float | None
) -> None:
    # 33 of 50 closed markets that were recorded are `resolved` beside a list that ends with proposed.
    assert paid(settled_payload(**said)) == won
    assert paid(settled_payload(prices='["0.9995", "0.0005"]', **said)) == late
    assert paid(settled_payload(prices='["0.5", "0.5"]', **said)) == even
    for never in ('["0", "0"]', '["1", "1"]', '["0.998", "0.002"]', '["0.9995", "0.5"]'):
        assert paid(settled_payload(prices=never, **said)) is None
    assert paid(settled_payload(closed=False, **said)) is None


@pytest.mark.parametrize("labels", ['["No", "Yes"]', '["NO", "yes"]', '[" no ", "Yes"]'])
def test_where_no_stands_first_yes_is_the_one_of_that_name(labels: str) -> None:
    payload = settled_payload(prices='["1", "0"]', outcomes=labels, clobTokenIds='["11", "22"]')
    assert paid(payload) == 0.0
    assert tokens_of(payload) == ("22", "11")
    market = parsed(market_payload(outcomes=labels, outcomePrices='["0.8", "0.2"]', clobTokenIds='["11", "22"]'))
    assert (market.ref.token_ids, market.quote) == (("22", "11"), Quote(at=NOW, displayed=0.2))
    assert [each.strip().casefold() for each in market.outcomes] == ["yes", "no"]


@pytest.mark.parametrize("prices", ['["1", "0"]', '["0.9995", "0.0005"]', '["0.5", "0.5"]'])
@pytest.mark.parametrize("closed", [False, None, ""])
def test_no_price_settles_an_open_market(prices: str, closed: object) -> None:
    status = '["proposed", "disputed"]'
    assert paid(market_payload(closed=closed, outcomePrices=prices, umaResolutionStatuses=status)) is None


@pytest.mark.parametrize("closed_time", [None, "", "0001-01-01T00:00:00Z"])
def test_a_settlement_without_an_instant_counts_from_first_sight(closed_time: object) -> None:
    resolution = parse_resolution(settled_payload(closedTime=closed_time), first_seen_at=NOW)
    assert resolution == Resolution(1.0, NOW, "first_sight", NOW)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


@given(field=st.sampled_from(sorted(market_payload())), value=ANYTHING, in_event=st.booleans())
def test_no_value_of_any_field_crashes_the_parser(field: str, value: object, in_event: bool) -> None:
    payload = event_payload(1, market_payload(1, **({field: value} if in_event else {})))
    event, skips = parse_event(payload if in_event else payload | {field: value}, quoted_at=NOW)
    assert isinstance(event, Event) or [skip.kind for skip in skips] == ["event"]
    assert event is None or len(event.markets) + len(skips) == 1
    parse_resolution(market_payload(**{field: value}), first_seen_at=NOW)


def test_a_market_of_more_than_two_outcomes_has_a_price_for_each_and_none_for_yes() -> None:
    market = parsed(named_payload(outcomePrices='["0.5", "1", "0"]'))
    assert (market.quote, market.is_named, market.ref.token_ids) == (None, True, ("101", "102", "103"))
    # What its fields bid and ask, of which outcome it is nobody says.
    assert market.outcome_quotes == tuple(Quote(at=NOW, displayed=price) for price in (0.5, 1.0, 0.0))


@pytest.mark.parametrize(
    ("prices", "payouts"),
    [
        ('["0", "1", "0"]', (0.0, 1.0, 0.0)),
        ('["0.0000008", "0.0000003", "0.999998"]', (0.0, 0.0, 1.0)),
        ('["0.333333", "0.333333", "0.333333"]', (1 / 3, 1 / 3, 1 / 3)),
        ('["0.9985", "0.0015", "0"]', None),
        ('["0", "0", "0"]', None),
        ('["1", "1", "0"]', None),
        ('["0.5", "0.5", "0"]', None),
    ],
)
def test_more_than_two_outcomes_are_settled_when_all_prices_fit(prices: str, payouts: tuple[float, ...] | None) -> None:
    payload = settled_payload(1, prices, outcomes='["Reds", "No", "Blues"]', umaResolutionStatus="resolved")
    found = parse_resolution(payload, first_seen_at=NOW)
    assert (found.payouts if isinstance(found, Resolution) else found) == payouts
    assert parse_resolution(payload | {"closed": False}, first_seen_at=NOW) is None


def test_groups_without_an_id_are_those_of_their_events() -> None:
    events = [parse_event(event_payload(n, market_payload(n, negRisk=True)), quoted_at=NOW)[0] for n in (1, 2)]
    assert [event.markets[0].exclusive_group for event in events if event] == ["negRisk:1", "negRisk:2"]
