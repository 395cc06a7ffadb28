"""What the ledger tells a reader, on each kind of database."""

from dataclasses import replace

import pytest

from predibot.ledger.read.decision_traces import latest_of_bot
from predibot.ledger.read.event_lists import list_decisions, list_events, open_positions
from predibot.ledger.read.row_filter import OUTCOMES, RowFilter
from predibot.ledger.read.rows_for_python import (
    SORTED_BY,
    LedgerDecision,
    LedgerForecast,
    count_decisions,
    newest_decisions,
    select_decisions,
    select_events,
    select_forecasts,
    select_runs,
    sort_decisions,
)
from predibot.ledger.store import Store
from predibot.ledger.write.decisions import decisions
from predibot.ledger.write.runs import void_run
from predibot.reports.terminal.trace import market_line
from tests.ledger.by_hand import DAY, NOW, a_run, decide, event_of, failed, observe, settle, void
from tests.soaks import ONE_DATABASE

ONE, TWO = event_of(1, 2), event_of(2)


def forecasts(store: Store, asked: RowFilter) -> tuple[LedgerForecast, ...]:
    with store.read() as connection:
        return select_forecasts(connection, asked)


def test_a_forecast_is_told_with_its_bet(filled: Store) -> None:
    told = forecasts(filled, RowFilter())
    assert [(row.market_id, row.probability, row.booked_usd, row.price_yes, row.title) for row in told] == [
        ("m1a", 0.6, 0.5, 0.4, "Event 1"),
        ("m1b", 0.2, 0.0, 0.4, "Event 1"),
        ("m2a", 0.3, -1.0, 0.4, "Event 2"),
    ]


@ONE_DATABASE
def test_a_payout_is_the_last_that_was_known_at_the_instant(filled: Store) -> None:
    for days, paid in ((2, None), (3, 0.0), (4, 0.0), (5, 1.0)):
        (told,) = [row for row in forecasts(filled, RowFilter(as_of=NOW + days * DAY)) if row.market_id == "m1a"]
        assert (told.payout_yes, told.settled_at) == (paid, None if paid is None else NOW + 3 * DAY)
    assert forecasts(filled, RowFilter())[0].payout_yes == 1.0
    settle(filled, "m1a", (6, None), stored=2)
    before, after = (forecasts(filled, RowFilter(as_of=NOW + days * DAY))[0] for days in (5, 6))
    assert [(each.payout_yes, each.settled_at, each.refunded) for each in (before, after)] == [
        (1.0, NOW + 3 * DAY, False),
        (None, None, True),
    ]
    ends = [market_line(each).partition(":")[0].rpartition(", ")[2] for each in (before, after)]
    assert ends == ["paid 1.00", "stakes given back"]
    assert [row.market_id for row in forecasts(filled, RowFilter(as_of=NOW))] == ["m1a", "m1b"]


def test_a_decision_that_came_to_nothing_is_told_with_its_reason(filled: Store) -> None:
    with filled.read() as connection:
        told = select_decisions(connection, RowFilter(bots=["b"]))
    assert [(row.subject_id, row.status, row.message, row.unallocated_usd) for row in told] == [
        ("e1", "failed", "broke", None),
        ("e2", "abstained", "no idea", None),
    ]


def test_what_decisions_came_to_is_listed_filtered_and_held_at_the_last_price(filled: Store) -> None:
    observe(filled, "m2a", (2, 0.5), (3, 0.1))
    with filled.read() as connection:
        found = list_decisions(connection, RowFilter(bots=("a",)), limit=9, by="about", rising=True)
        one, two = (each for each in found if each.decision.status == "recorded")
        assert [each.probability for each in one.forecasts] == [0.6, 0.2]
        assert (one.settled, one.staked_usd, one.gain_usd) == pytest.approx((1, 0.5, 0.75))
        assert (two.settled, two.staked_usd, two.gain_usd) == (0, 1.0, None)
        counts = {each: sum(count_decisions(connection, RowFilter(outcome=each)).values()) for each in OUTCOMES}
        assert counts == {"open": 2, "settled": 0, "gained": 1, "lost": 0}
        (held,) = open_positions(connection, RowFilter(bots=("a",)))
        assert (held.event_id, held.side, held.bets, held.staked_usd) == (TWO.id, "NO", 1, 1.0)
        assert (held.price_then, held.price_now) == pytest.approx((0.6, 0.9))
        assert held.gain_usd == pytest.approx(0.9 / 0.6 - 1.0)
        before = RowFilter(bots=("a",), as_of=NOW + 2 * DAY)
        positions = open_positions(connection, before)
        assert [(each.event_id, each.side, each.price_now) for each in positions] == [
            (TWO.id, "NO", 0.5),
            (ONE.id, "YES", None),
        ]
        assert not open_positions(connection, replace(before, venue_name="manifold"))
        numbers = {each.event_id: each.number for each in select_events(connection)}
        listed = list_events(connection, list(numbers.values()))
        lead = listed[numbers[ONE.id]].markets[0]
        assert (lead.payout_yes, lead.price_then, listed[numbers[ONE.id]].settled) == (1.0, 0.4, 1)
        assert (listed[numbers[TWO.id]].bots, listed[numbers[TWO.id]].markets[0].price_now) == (1, 0.1)


def test_void_runs_of_one_key_are_told_apart(store: Store) -> None:
    for _ in range(3):
        run = a_run(store, ONE, bots=("a#1",))
        decide(store, run, "a#1", failed(ONE))
        if len(store.run_read(select_runs)) < 3:
            void(store, reason="why")
    told = store.run_read(select_runs)
    assert [(row.run, row.void, row.void_reason, row.failed) for row in told] == [
        ("daily@2026-03-01T00:00Z", 1, "why", 1),
        ("daily@2026-03-01T00:00Z", 2, "why", 1),
        ("daily@2026-03-01T00:00Z", 0, None, 1),
    ]
    with store.read() as connection:
        assert [row.void for row in select_decisions(connection, RowFilter())] == [0]
        assert [row.void for row in select_decisions(connection, RowFilter(void=True))] == [1, 2, 0]
    with store.write() as connection:
        connection.execute(decisions.update().values(trace_sha256="0" * 64))
        latest = latest_of_bot(connection, "a")
        assert latest is not None and (latest.bot, latest.void) == ("a#1", False)
        void_run(connection, "daily@2026-03-01T00:00Z", reason="why", at=NOW)
        assert latest_of_bot(connection, "a") is None


def test_lists_hold_what_is_told_in_any_order_and_part(filled: Store) -> None:
    with filled.read() as connection:
        whole = select_decisions(connection, RowFilter())
        for by in SORTED_BY:
            for rising in (False, True):
                found = [
                    row
                    for skip in range(0, len(whole) + 1, 2)
                    for row in sort_decisions(connection, RowFilter(), limit=2, skip=skip, by=by, rising=rising)
                ]
                assert sorted(found, key=repr) == sorted(whole, key=repr)
        newest = sort_decisions(connection, RowFilter(), limit=100)
        assert [row.slot_at for row in newest] == sorted((row.slot_at for row in whole), reverse=True)
        assert sum(count_decisions(connection, RowFilter()).values()) == len(whole)
        first = whole[0]
        for asked in (
            RowFilter(run=first.run),
            RowFilter(bots=(first.bot,)),
            RowFilter(status=first.status),
            RowFilter(subject=first.subject_id),
            RowFilter(event=first.subject_id),
            RowFilter(since=first.slot_at),
            RowFilter(until=first.slot_at),
            RowFilter(recipe="no such recipe"),
        ):
            assert sorted(sort_decisions(connection, asked, limit=100), key=repr) == sorted(
                select_decisions(connection, asked), key=repr
            )
            assert sum(count_decisions(connection, asked).values()) == len(select_decisions(connection, asked))
        assert {row.event_id for row in select_events(connection)} == {row.subject_id for row in whole}


@pytest.mark.parametrize("ended", ["first to last", "last to first"])
def test_decisions_of_one_instant_are_listed_alike_whichever_thread_ended_first(store: Store, ended: str) -> None:
    run = a_run(store, ONE, TWO, bots=("a", "b"))
    made = [(bot, event) for bot in "ab" for event in (ONE, TWO)]
    for bot, event in made if ended == "first to last" else reversed(made):
        decide(store, run, bot, failed(event))
    with store.read() as connection:
        found = sort_decisions(connection, RowFilter(), limit=9)
    assert [(each.bot, each.subject_id) for each in found] == [(bot, event.id) for bot, event in made]


def test_a_list_that_is_read_on_repeats_and_leaves_out_nothing(filled: Store) -> None:
    with filled.read() as connection:
        whole = select_decisions(connection, RowFilter())
        found, before = list[LedgerDecision](), None
        while True:
            rows, before = newest_decisions(connection, RowFilter(), limit=1, before=before)
            found += rows
            if before is None:
                break
    assert sorted(found, key=repr) == sorted(whole, key=repr)
    assert len(found) == len(whole) > 1
