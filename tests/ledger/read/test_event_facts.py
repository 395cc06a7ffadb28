"""Played events: what scoring wants to know of the events that runs played, beside their prices."""

from dataclasses import replace

import numpy as np
import pytest

from predibot.domain.event import Event, Tag
from predibot.domain.price import FeeSchedule
from predibot.ledger.read.event_facts import (
    NO_CATEGORY,
    PlayedEvent,
    event_categories,
    events_of_ids,
    find_played_events,
    read_run_markets,
)
from predibot.ledger.store import Store
from predibot.ledger.write.events import markets
from tests.ledger.by_hand import DAY, NOW, a_run, event_of, void


def tagged(number: int, *labels: str, fees: FeeSchedule | None = None) -> Event:
    """Return an event of two markets with tags; the first of them states fees."""
    event = event_of(number, 2)
    first, second = event.markets
    tags = tuple(Tag(label, label.lower()) for label in labels)
    return replace(event, markets=(replace(first, fees=fees), second), tags=tags)


def played(store: Store, days: float = 10, venue: str = "polymarket") -> dict[str, PlayedEvent]:
    """Return what was played so many days after `NOW`, by title."""
    with store.read() as connection:
        return {each.title: each for each in find_played_events(connection, venue, NOW + days * DAY).values()}


def test_an_event_has_its_title_and_its_field(store: Store) -> None:
    a_run(store, tagged(1, "World", "Politics"), tagged(2))
    assert played(store) == {
        "Event 1": PlayedEvent("Event 1", "Politics"),
        "Event 2": PlayedEvent("Event 2", NO_CATEGORY),
    }


def test_the_last_run_that_played_it_by_the_instant_counts(store: Store) -> None:
    a_run(store, tagged(1, "Politics"))
    a_run(store, tagged(1, "Sports"), key="daily@2026-03-03T00:00Z", as_of=NOW + 2 * DAY, slot_at=NOW + 2 * DAY)
    assert [played(store, days)["Event 1"].category for days in (1, 2, 10)] == ["Politics", "Sports", "Sports"]
    assert played(store, -1) == {}


def test_the_list_of_events_has_them_as_the_last_run_that_counts_froze_them(store: Store) -> None:
    a_run(store, tagged(1, "Politics"), tagged(2))
    later = a_run(store, tagged(1, "Sports"), key="daily@2026-03-03T00:00Z", as_of=NOW + 2 * DAY, slot_at=NOW + 2 * DAY)
    first, second = (("polymarket", event_of(number, 2).id) for number in (1, 2))
    assert store.run_read(event_categories) == {first: "Sports", second: NO_CATEGORY}
    void(store, later.key)
    assert store.run_read(event_categories) == {first: "Politics", second: NO_CATEGORY}
    with store.read() as connection:
        assert events_of_ids(connection, [second[1], "nothing"]) == {second: tagged(2)}


def test_void_runs_and_other_venues_say_nothing(store: Store) -> None:
    run = a_run(store, tagged(1, "Politics"))
    assert played(store, venue="sandbox") == {}
    void(store, run.key)
    assert played(store) == {}


@pytest.mark.parametrize("fees", [FeeSchedule(0.05), FeeSchedule(0.0, 0.0), FeeSchedule(0.05, 2.0)])
def test_fees_are_those_that_each_run_froze_whatever_later_ones_state(store: Store, fees: FeeSchedule) -> None:
    first = a_run(store, tagged(1, fees=fees))
    later = tagged(1, fees=FeeSchedule(0.5))
    changed = a_run(store, later, key="daily@2026-03-03T00:00Z", as_of=NOW + 2 * DAY, slot_at=NOW + 2 * DAY)
    gone = replace(later, markets=later.markets[1:])
    a_run(store, gone, key="daily@2026-03-05T00:00Z", as_of=NOW + 4 * DAY, slot_at=NOW + 4 * DAY)
    with store.read() as connection:
        row = connection.execute(markets.select().where(markets.c.market_id == "m1a")).one().id
        asked = read_run_markets(connection, "polymarket").rows
    stated = asked[~np.isnan(asked["fee_rate"])][["run", "market", "fee_rate", "fee_exponent"]].tolist()
    assert stated == [(first.id, row, fees.rate, fees.exponent), (changed.id, row, 0.5, 1.0)]
