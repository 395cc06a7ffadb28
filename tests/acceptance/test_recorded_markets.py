"""Recorded markets: the whole main job over real data, against numbers from elsewhere."""

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import by_hand
from tests.acceptance.conftest import Predibot
from tests.soaks import few

LOOKED_BACK = "2026-07-01T00:00:00Z"
BOTS = ("market_price", "favourite", "underdog", "always_half")
HORIZONS = {"1": 1.0, "2": 2.0, "7": 7.0, "now": "now", "settled": "settled"}

# What was published played events past their end, and quiet ones.
AS_PUBLISHED = ("--min-volume-24h", "0", "--min-hours-left", "any")

EVENTS = "26004 16282 22862 20461 17823 22863 26313 17824 24383 22214"
PUBLISHED = {
    "2026-02-13T19:30:00Z": (
        (EVENTS, 45),
        (15, 0.0024782),
        [(-0.0037782, 2), (-0.0073075, 2), (-0.0020146, 2)],
    ),
    "2026-02-10T14:15:00Z": (
        ("28829 16282 26004 22862 20461 22863 16284", 20),
        (12, 0.0034551),
        [(-0.0007855, 4), (0.0011679, 5), (0.0049285, 5)],
    ),
    "2025-11-10T12:00:00Z": (
        None,
        (10, 0.0066444),
        [(-0.0031510, 10), (-0.0015051, 10), (0.0095556, 10)],
    ),
}
"""By instant what an independent script found: events and markets, settled with Brier, and mean returns."""

INSTANTS = [
    ("polymarket-2026-02", "2026-02-13T19:30:00Z"),
    ("polymarket-2026-02", "2026-02-10T14:15:00Z"),
    ("polymarket-2026-02", "2026-02-13T06:00:00Z"),
    ("polymarket-2026-02", "2026-02-12T20:00:00Z"),
    ("polymarket-daily", "2025-11-10T12:00:00Z"),
    ("polymarket-daily", "2025-09-03T00:00:00Z"),
    ("polymarket-daily", "2025-10-06T18:00:00Z"),
    ("polymarket-daily", "2025-12-29T12:00:00Z"),
    ("polymarket-daily", "2026-02-05T07:30:00Z"),
    ("polymarket-daily", "2026-03-02T12:00:00Z"),
]


def _played(predibot: Predibot, folder: Path, as_of: str) -> tuple[Any, Any]:
    """Return what `decide` and `evaluate` say about an instant of an archive."""
    venue = f"archive:{folder}"
    decided = predibot("decide", "--venue", venue, "--as-of", as_of, *AS_PUBLISHED, "--bots", ",".join(BOTS), "--json")
    evaluated = predibot("evaluate", "--venue", venue, "--as-of", LOOKED_BACK, "--json")
    assert (decided.code, evaluated.code) == (0, 0), decided.err + evaluated.err
    return decided.document, evaluated.document


@pytest.mark.parametrize(("archive", "as_of"), few(INSTANTS, INSTANTS[0], INSTANTS[1], INSTANTS[4], INSTANTS[-1]))
def test_every_number_is_that_of_plain_loops_over_the_archive_and_of_an_independent_script(
    predibot: Predibot, shared_data: Path, archive: str, as_of: str
) -> None:
    folder = shared_data / archive
    at, now = by_hand.seconds(as_of), by_hand.seconds(LOOKED_BACK)
    played = by_hand.selected(folder, at, min_volume_24h=0)
    decided, evaluated = _played(predibot, folder, as_of)
    assert [(event["event_id"], event["markets"]) for event in decided["selected"]] == [
        (event_id, len(prices)) for event_id, prices, _ in played
    ]
    _same_prices_and_bets(decided, played)
    for card in evaluated["bots"]:
        _same_scores(card, folder, at, now, played)
    if as_of in PUBLISHED:
        _as_published(decided["selected"], evaluated["bots"][0], *PUBLISHED[as_of])


def test_the_default_rules_of_volume_and_end_are_those_of_plain_loops_too(
    predibot: Predibot, shared_data: Path
) -> None:
    folder, as_of = shared_data / "polymarket-2026-02", "2026-02-13T19:30:00Z"
    said = predibot("select", "--venue", f"archive:{folder}", "--as-of", as_of, "--json")
    expected = by_hand.selected(folder, by_hand.seconds(as_of), min_volume_24h=1000, min_hours_left=1)
    assert [event["event_id"] for event in said.document["selected"]] == [event_id for event_id, _, _ in expected]
    past = {event["event_id"] for event in said.document["passed_over"] if event["rule"] == "min_hours_left"}
    assert len(past & set(EVENTS.split())) == 5


def _as_published(selected: Any, card: Any, events: Any, brier: Any, returns: Any) -> None:
    if events is not None:
        found = " ".join(event["event_id"] for event in selected), sum(event["markets"] for event in selected)
        assert found == events
    assert (card["bot"], (card["settled"], round(card["brier"], 7))) == ("market_price", brier)
    horizons = [card["horizons"][label] for label in ("1", "2", "7")]
    assert [(round(each["mean_return"], 7), each["n"]) for each in horizons] == returns


def _same_prices_and_bets(decided: Any, played: Any) -> None:
    for decision in decided["decisions"]:
        assert decision["status"] == "recorded", decision["message"]
        prices = next(prices for event_id, prices, _ in played if event_id == decision["event_id"])
        assert {bet["market_id"]: bet["price_yes"] for bet in decision["bets"]} == pytest.approx(prices, abs=1e-9)
        staked = {bet["market_id"]: bet["bet_usd"] for bet in decision["bets"] if bet["bet_usd"] != 0.0}
        assert staked == pytest.approx(by_hand.bets(decision["bot"], prices), abs=1e-9)


def _same_scores(card: Any, folder: Path, at: float, now: float, played: Any) -> None:
    expected = by_hand.probability_scores(folder, card["bot"], now, played)
    seen = (card["settled"], card["brier"], card["log_score"], card["skill_vs_market"])
    assert seen == pytest.approx(expected, abs=1e-9), card["bot"]
    edge = by_hand.edge(folder, card["bot"], at, now, played)
    assert (card["edge"]["edge"], card["edge"]["n"]) == pytest.approx(edge, abs=1e-9), card["bot"]
    for label, asked in HORIZONS.items():
        horizon = card["horizons"][label]
        expected = by_hand.mean_return(folder, card["bot"], at, now, asked, played)
        assert (horizon["mean_return"], horizon["n"]) == pytest.approx(expected, abs=1e-9), (card["bot"], label)
