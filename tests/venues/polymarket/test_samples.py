"""Recorded Gamma objects from 2020 to 2026: all are read or skipped with a reason, settled ones are told apart."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from predibot.domain.event import Market
from predibot.venues.polymarket.parse import RESULT_FIELDS, parse_event, parse_market
from tests.venues.payloads import NOW, paid


def loaded(path: Path) -> list[dict[str, Any]]:
    """Return a recorded list."""
    return list(json.loads(path.read_text()))


def payout_by_hand(market: dict[str, Any]) -> float | None:
    """Return the payout by the rule of `venue-apis.md`, written a second time."""
    prices = [float(price) for price in json.loads(market.get("outcomePrices") or "[]")]
    if market["closed"] is not True or len(prices) != 2:
        return None
    for outcome in ([1.0, 0.0], [0.0, 1.0]):
        if all(abs(price - paid) <= 1e-4 for price, paid in zip(prices, outcome, strict=True)):
            return outcome[0]
    return 0.5 if prices == [0.5, 0.5] else None


@pytest.mark.parametrize("name", ["closed-markets", "oldest-markets"])
def test_every_recorded_market_is_read(shared_data: Path, name: str) -> None:
    for payload in loaded(shared_data / "gamma-samples" / f"{name}.json"):
        market = parse_market(payload, quoted_at=NOW)
        assert isinstance(market, Market), market
        assert len(market.outcomes) == len(market.ref.token_ids) == 2


def test_every_recorded_event_is_read_with_all_its_markets(shared_data: Path) -> None:
    for payload in loaded(shared_data / "gamma-samples" / "closed-events.json"):
        event, skips = parse_event(payload, quoted_at=NOW)
        assert event is not None
        assert (len(event.markets), skips, event.closed) == (len(payload["markets"]), (), True)
        assert {tag.slug for tag in event.tags} == {tag["slug"] for tag in payload["tags"]}


def test_no_event_ever_recorded_still_states_a_result(shared_data: Path) -> None:
    markets = loaded(shared_data / "gamma-samples" / "closed-markets.json")
    raw = [{**market["events"][0], "markets": [market]} for market in markets]
    assert {"score", "ended", "finishedTimestamp"} <= {name for payload in raw for name in payload}
    for file in shared_data.glob("polymarket-*/snapshots/*/events.json"):
        raw += loaded(file)
    for payload in raw:
        event, _ = parse_event(payload, quoted_at=NOW)
        assert event is not None
        assert not RESULT_FIELDS.intersection(re.findall(r'"(\w+)":', event.payload))


@pytest.mark.parametrize(
    ("name", "yes", "no", "unsettled"), [("closed-markets", 13, 36, 51), ("oldest-markets", 1, 4, 15)]
)
def test_settled_markets_are_told_from_the_rest(
    shared_data: Path, name: str, yes: int, no: int, unsettled: int
) -> None:
    payloads = loaded(shared_data / "gamma-samples" / f"{name}.json")
    counts = Counter(paid(payload) for payload in payloads)
    assert (counts[1.0], counts[0.0], counts[None]) == (yes, no, unsettled)
    assert [paid(payload) for payload in payloads] == [payout_by_hand(payload) for payload in payloads]


def test_every_recorded_snapshot_is_read_without_a_skip(shared_data: Path) -> None:
    for path in sorted(shared_data.glob("polymarket-2026-02/snapshots/*/events.json")):
        for payload in loaded(path):
            event, skips = parse_event(payload, quoted_at=NOW)
            assert event is not None
            assert (len(event.markets), skips) == (len(payload["markets"]), ())
