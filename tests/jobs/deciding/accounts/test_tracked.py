"""Accounts of a live venue between their slots: settled and valued as it is tracked, and nothing twice."""

from contextlib import ExitStack
from datetime import timedelta

from predibot.config import Settings
from predibot.contracts import OpenVenue
from predibot.domain.clock import format_instant
from predibot.jobs.decide import decide
from predibot.jobs.deciding.accounts.turn import track_accounts
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.track import track
from predibot.ledger.store import Store
from tests.jobs.deciding.accounts.walks import broken, request_with, rows
from tests.jobs.test_live import Live, live
from tests.jobs.tiny import DAY, nobody
from tests.soaks import ONE_DATABASE

__all__ = ["live"]

ACCOUNTS = ("journal", "valuations", "marks", "orders", "fills", "resolutions")


def decide_now(store: Store, live: Live) -> None:
    with OpenVenue("live", live.venue, live.now, ExitStack()) as opened:
        decide(
            request_with("", "equal_weights", "buy_and_hold", "all_cash"),
            opened,
            Resources(store, Settings(workers=1), lambda: live.now, nobody),
        )


def track_now(store: Store, live: Live) -> tuple[str, ...]:
    """Track the venue and the accounts, as the command does."""
    with OpenVenue("live", live.venue, live.now, ExitStack()) as opened:
        track(store=store, opened=opened, settings=Settings(), listener=nobody)
        return track_accounts(store=store, opened=opened, clock=lambda: live.now)


@ONE_DATABASE
def test_what_is_held_is_settled_and_valued_as_it_is_tracked_and_once(store: Store, live: Live) -> None:
    decide_now(store, live)
    live.now += DAY
    decide_now(store, live)
    assert rows(store, "fills") and rows(store, "journal", kind="settlement") == []
    live.now += timedelta(hours=5)
    assert track_now(store, live) == ()
    valued = [row for row in rows(store, "valuations") if row["at"] == format_instant(live.now)]
    assert {row["bot"] for row in valued} == {"equal_weights", "buy_and_hold", "all_cash"}
    live.now += 60 * DAY
    assert track_now(store, live) == ()
    settled = rows(store, "journal", bot="buy_and_hold", kind="settlement")
    assert settled and {row["at"] for row in settled} == {format_instant(live.now)}
    assert broken(store) == []
    before = [rows(store, table) for table in ACCOUNTS]
    assert track_now(store, live) == ()
    live.now += timedelta(seconds=61)
    assert track_now(store, live) == ()
    assert [rows(store, table) for table in ACCOUNTS[:1]] == before[:1]
    assert len(rows(store, "valuations")) == len(before[1])
    live.now += DAY
    decide_now(store, live)
    assert len(rows(store, "journal", bot="buy_and_hold", kind="settlement")) == len(settled)
    assert broken(store) == []


def test_an_account_that_cannot_be_valued_is_told_and_the_others_are(store: Store, live: Live) -> None:
    decide_now(store, live)
    live.now += DAY
    decide_now(store, live)
    live.now += timedelta(hours=5)
    with OpenVenue("live", live.venue, live.now, ExitStack()) as opened:
        live.server.__exit__(None, None, None)
        failures = track_accounts(store=store, opened=opened, clock=lambda: live.now)
    assert sorted(each.partition(" was")[0] for each in failures) == [
        "the account of buy_and_hold",
        "the account of equal_weights",
    ]
    assert [row["bot"] for row in rows(store, "valuations") if row["at"] == format_instant(live.now)] == ["all_cash"]
