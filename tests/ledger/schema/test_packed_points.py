"""Points: the prices of an instrument in one blob, each instant and source once, and nothing in it taken on trust."""

import struct
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest

from predibot.domain.price import Instrument, PricePoint
from predibot.errors import LedgerUnusable
from predibot.jobs.verify import verify
from predibot.ledger.read.export import export_rows
from predibot.ledger.schema.packed_points import POINT as PACKED
from predibot.ledger.schema.packed_points import unpack_points
from predibot.ledger.schema.tables import POINT_BYTES
from predibot.ledger.store import Store
from predibot.ledger.write.events import instrument_rows, instruments
from predibot.ledger.write.prices_and_resolutions import add_observations
from tests.ledger.by_hand import DAY, NOW, a_run, event_of

POINT = struct.Struct("<qBd")
TRACKERS, POINTS_EACH = 4, 25


def test_the_table_knows_how_long_a_point_is() -> None:
    assert POINT_BYTES == PACKED.itemsize == POINT.size


def instrument_of(store: Store) -> int:
    """Make a run, and return the row of an instrument it plays."""
    a_run(store, event_of(1))
    with store.read() as connection:
        rows = connection.execute(instruments.select().order_by(instruments.c.id)).scalars()
        return int(rows.all()[0])


def add(store: Store, row: int, *points: tuple[float, float], source: str = "history") -> int:
    """Store prices, each so many days after `NOW`, and return how many were new."""
    made = [PricePoint(NOW + days * DAY, price) for days, price in points]
    with store.write() as connection:
        return add_observations(connection, {row: made}, "quote" if source == "quote" else "history")


def seen(store: Store) -> list[tuple[str, str, float]]:
    """Return what is exported of the prices."""
    with store.read() as connection:
        return [(row["at"], row["source"], row["price"]) for row in export_rows(connection, "observations")]


def test_an_instant_and_source_is_stored_once_and_as_it_came_first(store: Store) -> None:
    row = instrument_of(store)
    assert add(store, row, (2, 0.2), (1, 0.1), (2, 0.9)) == 2
    assert add(store, row, (1, 0.9), (3, 0.3), (0, 0.0)) == 2
    assert add(store, row, (2, 0.7), source="quote") == 1
    assert add(store, row, (2, 0.7), source="quote") == 0
    assert [(source, price) for _, source, price in seen(store)] == [
        ("history", 0.0), ("history", 0.1), ("history", 0.2), ("quote", 0.7), ("history", 0.3),
    ]  # fmt: skip


def test_a_share_may_cost_more_than_a_dollar_and_an_outcome_may_not(store: Store) -> None:
    outcome, share = instrument_of(store), Instrument("stocks", "equity", "ACME")
    with store.write() as connection:
        row = instrument_rows(connection, [share])[share]
    assert add(store, row, (1, 191.5), (2, 0.0)) == 2
    assert add(store, row, (1, 191.5), (3, 400.0)) == 1
    assert [price for *_, price in seen(store)] == [191.5, 0.0, 400.0]
    add(store, outcome, (1, 191.5))
    broken = [each for each in verify(store).broken if each.check == "prices in order"]
    assert [each.row for each in broken] == [f"instrument {outcome}"]
    assert "one is no price in [0, 1]" in broken[0].seen


def test_trackers_at_once_lose_nothing_of_each_other(store: Store, address: str) -> None:
    row, together = instrument_of(store), Barrier(TRACKERS)

    def track(number: int) -> int:
        with Store.open(address) as own:
            together.wait()
            return sum(
                add(own, row, (number + point * TRACKERS, number / 10), (1000, 0.5)) for point in range(POINTS_EACH)
            )

    with ThreadPoolExecutor(TRACKERS) as threads:
        new = sum(threads.map(track, range(TRACKERS)))
    assert new == len(seen(store)) == TRACKERS * POINTS_EACH + 1


def test_what_is_not_committed_is_not_there_and_takes_nothing_with_it(store: Store) -> None:
    row = instrument_of(store)
    add(store, row, (1, 0.1))
    with pytest.raises(KeyboardInterrupt), store.write() as connection:
        add_observations(connection, {row: [PricePoint(NOW, 0.5)]}, "history")
        raise KeyboardInterrupt
    assert [price for *_, price in seen(store)] == [0.1]


@pytest.mark.parametrize(
    "blob",
    [
        b"",
        b"\x01" + POINT.pack(1, 0, 0.5)[:-1],
        b"\x02" + POINT.pack(1, 0, 0.5),
        b"\x01" + POINT.pack(1, 2, 0.5),
        b"\x01" + POINT.pack(1, 0, 1.5),
        b"\x01" + POINT.pack(1, 0, float("nan")),
    ],
)
def test_what_is_no_point_is_refused_on_reading(blob: bytes) -> None:
    with pytest.raises(LedgerUnusable, match="the prices in the ledger are not as predibot writes them"):
        unpack_points([b"\x01" + POINT.pack(1, 0, 0.5), blob])


def test_the_canonical_order_is_that_of_the_text_of_instants(store: Store) -> None:
    row = instrument_of(store)
    moments = [timedelta(), timedelta(seconds=1), timedelta(microseconds=5), timedelta(minutes=1), timedelta(days=-1)]
    with store.write() as connection:
        add_observations(connection, {row: [PricePoint(NOW + each, 0.5) for each in moments]}, "history")
        texts = [each["at"] for each in export_rows(connection, "observations", canonical=True)]
    assert texts == sorted(texts)
    assert len(set(texts)) == len(moments)
