"""Deciding: every bot on every event, each once, on files and on a server."""

import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from predibot.config import Settings
from predibot.errors import VenueError
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_venue
from predibot.ledger.store import Store
from predibot.ledger.write.runs import read_runs
from tests.jobs.tiny import canonical, clock, decide_on, nobody, recipe_of, request_of, statuses
from tests.soaks import ONE_DATABASE

RECORDED, SKIPPED = ["recorded"] * 3, ["skipped"] * 3


def test_every_bot_decides_on_every_event(store: Store, archive: Path) -> None:
    report = decide_on(store, archive)
    assert statuses(report) == {"market_price": RECORDED, "random_bet": RECORDED}
    assert [event.id for event in report.events] == ["1", "2", "3"]
    with store.read() as connection:
        count = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM fills), (SELECT count(*) FROM quotes)"
        assert tuple(connection.execute(text(count)).one()) == (8, 8, 16)


def test_the_market_bot_bets_at_the_quotes_of_the_runs_instant(store: Store, archive: Path) -> None:
    report = decide_on(store, archive, request_of(recipe_of("market_price")))
    bets = {bet.market_id: bet for each in report.decisions for bet in each.stored.bets}
    assert {name: bet.price_yes for name, bet in bets.items()} == {"1": 0.41, "2": 0.2, "22": 0.7, "3": 0.55}
    assert {name: bet.bet_usd for name, bet in bets.items()} == {"1": -1.0, "2": -0.5, "22": 0.5, "3": 1.0}


@ONE_DATABASE
def test_deciding_again_changes_nothing(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    before = canonical(store)
    again = decide_on(store, archive)
    assert statuses(again) == {"market_price": SKIPPED, "random_bet": SKIPPED}
    assert {each.message for each in again.decisions} == {"recorded before"}
    assert canonical(store) == before


@ONE_DATABASE
def test_bots_may_be_added_to_a_run_and_decide_as_if_they_had_been_there(store: Store, archive: Path) -> None:
    decide_on(store, archive, request_of(recipe_of("market_price")))
    report = decide_on(store, archive, request_of(recipe_of("market_price", "random_bet")))
    assert statuses(report) == {"market_price": SKIPPED, "random_bet": RECORDED}


def test_the_order_of_deciding_leaves_no_trace(tmp_path: Path, archive: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as one, Store.open(f"sqlite:///{tmp_path}/b.db") as other:
        decide_on(one, archive, request_of(recipe_of("market_price", "random_bet", "favourite")))
        for bot in ("favourite", "random_bet", "market_price"):
            decide_on(other, archive, request_of(recipe_of(bot)))
        assert canonical(one) == canonical(other)


def test_files_and_servers_hold_the_same(tmp_path: Path, archive: Path, store: Store) -> None:
    with Store.open(f"sqlite:///{tmp_path}/file.db") as file:
        decide_on(file, archive)
        decide_on(store, archive)
        assert canonical(file) == canonical(store)


def test_another_seed_draws_otherwise(tmp_path: Path, archive: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as one, Store.open(f"sqlite:///{tmp_path}/b.db") as other:
        decide_on(one, archive, request_of(recipe_of("random_bet")))
        decide_on(other, archive, request_of(recipe_of("random_bet", seed=2**63 - 1)))
        assert canonical(one) != canonical(other)


def test_a_seed_of_any_size_fits(store: Store, archive: Path) -> None:
    assert decide_on(store, archive, request_of(recipe_of("random_bet", seed=2**63 - 1))).run.seed == 2**63 - 1


def test_threads_of_one_process_that_decide_at_once_decide_each_once(store: Store, archive: Path) -> None:
    reports = list[DecideReport]()
    threads = [threading.Thread(target=lambda: reports.append(decide_on(store, archive))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    made = [each for report in reports for each in report.decisions if each.status == "recorded"]
    assert len(reports) == 3
    assert len(made) == 6
    with store.read() as connection:
        assert connection.execute(text("SELECT count(*) FROM attempts")).scalar_one() == 6


def test_a_list_that_cannot_be_read_whole_leaves_no_run(store: Store) -> None:
    settings = Settings(call_deadline_seconds=0.5)
    venue = open_venue("sandbox:fault=server_error", settings, as_of=None, purpose="decide", clock=clock)
    with venue, pytest.raises(VenueError):
        decide(request_of(), venue, Resources(store, settings, clock, nobody))
    with store.read() as connection:
        assert read_runs(connection) == ()


@ONE_DATABASE
def test_the_sandbox_is_decided_on_as_an_archive_is(store: Store) -> None:
    settings = Settings()
    with open_venue("sandbox:events=12", settings, as_of=None, purpose="decide", clock=clock) as venue:
        request = request_of(recipe_of("market_price", "random_bet", "favourite", "underdog", "always_half"))
        report = decide(request, venue, Resources(store, settings, clock, nobody))
    assert len(report.events) > 3
    assert {status for found in statuses(report).values() for status in found} == {"recorded"}
