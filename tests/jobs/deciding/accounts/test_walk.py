"""The walk of accounts through slots: settled, valued, filled a slot later, and the same however it is interrupted."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import update

from predibot.domain.clock import format_instant
from predibot.errors import UsageError
from predibot.ledger.schema.foreign_rows import foreign_rows
from predibot.ledger.schema.tables import FillRow, JournalEntryRow
from predibot.ledger.schema.upsert import table_of
from predibot.ledger.store import Store
from predibot.ledger.write.runs import void_run
from tests.jobs.deciding.accounts.walks import broken, rows
from tests.jobs.tiny import (
    DAY,
    canonical,
    clock,
    decide_on,
    paid,
    recipe_of,
    request_of,
    track_on,
    write_archive,
)
from tests.ledger.databases import other
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW, condition_of

__all__ = ["other"]

REQUEST = request_of(recipe_of("equal_weights", "buy_and_hold", "all_cash", game="portfolio_weights"))


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny archive."""
    return write_archive(tmp_path_factory.mktemp("archive"))


def walk(store: Store, archive: Path, *days: float) -> None:
    """Decide at instants so many days after the first snapshot."""
    for day in days:
        decide_on(store, archive, REQUEST, as_of=NOW + timedelta(days=day))


def test_orders_wait_for_the_next_slot_and_are_filled_at_its_prices_after_the_valuation(
    store: Store, archive: Path
) -> None:
    walk(store, archive, 0)
    pending = rows(store, "orders", bot="equal_weights")
    assert {(row["status"], row["ended_at"]) for row in pending} == {("pending", None)}
    assert rows(store, "fills") == []
    walk(store, archive, 1)
    ended = [row for row in rows(store, "orders", bot="equal_weights") if row["ended_at"] is not None]
    assert [row["status"] for row in ended] == ["filled"] * len(pending)
    prices = {row["instrument_id"]: row["price"] for row in rows(store, "marks", bot="equal_weights")}
    fills = rows(store, "fills", bot="equal_weights")
    assert [row["price"] for row in fills] == [prices[row["instrument_id"]] for row in fills]
    assert [row["value_usd"] for row in rows(store, "valuations", bot="equal_weights")] == [500.0, 500.0]
    assert broken(store) == []


@ONE_DATABASE
def test_deciding_and_tracking_again_change_nothing_and_a_run_that_accounts_rest_on_is_not_voided(
    store: Store, archive: Path
) -> None:
    receipt = decide_on(store, archive, REQUEST).receipt
    walk(store, archive, 1)
    before = canonical(store)
    # What was decided is in the receipt, and not what became of it.
    assert decide_on(store, archive, REQUEST).receipt == receipt is not None
    walk(store, archive, 1)
    assert canonical(store) == before
    # Each account is brought to a slot once.
    assert len(rows(store, "turns")) == 3 * 2
    of_accounts = [rows(store, table) for table in ("journal", "valuations", "marks", "orders")]
    track_on(store, archive)
    assert [rows(store, table) for table in ("journal", "valuations", "marks", "orders")] == of_accounts
    first, last = (row["run"] for row in rows(store, "runs"))
    for key, why in ((first, "went on with a later run"), (last, "traded or were settled in it")):
        with store.write() as connection, pytest.raises(UsageError, match=why):
            void_run(connection, key, reason="wrong", at=clock())


@ONE_DATABASE
def test_a_missed_slot_passes_the_orders_on(store: Store, archive: Path) -> None:
    walk(store, archive, 0, 2)
    at = {row["ended_at"] for row in rows(store, "orders", bot="buy_and_hold", status="filled")}
    assert at == {format_instant(NOW + 2 * DAY)}
    assert [row["slot_at"][:10] for row in rows(store, "turns", bot="buy_and_hold")] == ["2026-02-13", "2026-02-15"]


@ONE_DATABASE
def test_resolutions_pay_once_a_revision_and_what_is_corrected_is_paid_anew(store: Store, tmp_path: Path) -> None:
    corrected = write_archive(tmp_path / "archive")
    paid_twice = {condition_of(1): [paid(3, 1.0), paid(3, 0.0, effective_days=9)], condition_of(2): paid(5, 0.5)}
    (corrected / "resolutions.json").write_text(json.dumps(paid_twice))
    walk(store, corrected, 0, 1, 2, 4, 6, 10)
    followed = [row for row in rows(store, "journal", bot="buy_and_hold") if row["revision"] is not None]
    assert sorted((row["market_id"], row["kind"], row["revision"]) for row in followed) == [
        ("1", "reversal", 2),
        ("1", "settlement", 1),
        ("1", "settlement", 2),
        ("2", "settlement", 1),
    ]
    reversal = next(row for row in followed if row["kind"] == "reversal")
    settled = next(row for row in followed if (row["kind"], row["revision"]) == ("settlement", 1))
    assert (reversal["shares"], reversal["cash_usd"]) == (-settled["shares"], -settled["cash_usd"])
    assert rows(store, "journal", bot="all_cash") == rows(store, "journal", bot="all_cash", kind="deposit")
    assert broken(store) == []


@ONE_DATABASE
def test_a_run_of_which_nothing_was_filled_yet_is_voided_and_its_orders_are_never_filled(
    store: Store, archive: Path
) -> None:
    walk(store, archive, 0)
    voided_at = clock()
    with store.write() as connection:
        void_run(connection, rows(store, "runs")[0]["run"], reason="wrong", at=voided_at)
    ended = rows(store, "orders")
    assert {(row["status"], row["ended_at"], row["note"]) for row in ended} == {
        ("expired", format_instant(voided_at), "its run was voided")
    }
    assert broken(store) == []
    walk(store, archive, 1)
    assert rows(store, "fills") == []
    assert broken(store) == []


@ONE_DATABASE
def test_shares_of_a_market_that_costs_next_to_nothing_are_many(store: Store, archive: Path) -> None:
    walk(store, archive, 0, 1)
    for shares, are_ours in ((4e12, True), (4e16, False)):
        for table in (JournalEntryRow, FillRow):
            columns = table_of(table).c
            with store.write() as connection:
                connection.execute(update(table_of(table)).where(columns.shares != 0.0).values(shares=shares))
        with store.read() as connection:
            assert (list(foreign_rows(connection)) == []) is are_ours
