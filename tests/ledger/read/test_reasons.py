"""Markets by their names, and what is told of one event."""

from predibot.ledger.read.details.decisions import list_markets
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import select_decisions, select_forecasts
from predibot.ledger.store import Store
from tests.ledger.by_hand import NOW, a_run, abstained, decide, event_of, finished_with


def test_markets_are_named_in_the_order_of_a_record(store: Store) -> None:
    a_run(store, event_of(2, 2), event_of(1))
    with store.read() as connection:
        found = list_markets(connection, "polymarket")
        assert list_markets(connection, "kalshi") == []
    assert [(each.market_id, each.event_id, each.title) for each in found] == [
        ("m2a", "e2", "Event 2"),
        ("m2b", "e2", "Event 2"),
        ("m1a", "e1", "Event 1"),
    ]


def test_of_one_event_nothing_else_is_told(store: Store) -> None:
    one, two = event_of(1), event_of(2)
    run = a_run(store, one, two, bots=("a", "b"))
    decide(store, run, "a", finished_with(one, {"m1a": (0.5, 0.7)}))
    decide(store, run, "a", finished_with(two, {"m2a": (0.5, 0.7)}))
    decide(store, run, "b", abstained(one))
    asked = RowFilter(event="e1", as_of=NOW)
    with store.read() as connection:
        assert [(each.bot, each.subject_id) for each in select_decisions(connection, asked)] == [
            ("a", "e1"),
            ("b", "e1"),
        ]
        assert [(each.bot, each.market_id) for each in select_forecasts(connection, asked)] == [("a", "m1a")]
        assert select_decisions(connection, RowFilter(event="e3")) == ()
