"""Deciding: every bot on every event, each once, on files and on a server."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import pytest

from predibot.config import Settings
from predibot.errors import VenueError
from predibot.jobs.decide import DecideReport, decide
from predibot.jobs.deciding.decide_one import WorkResult
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.open_venue import open_venue
from predibot.jobs.workers import dispatch
from predibot.ledger.store import Store
from predibot.ledger.write.runs import read_runs
from tests.jobs.tiny import canonical, clock, decide_on, nobody, recipe_of, request_of, statuses
from tests.ledger.databases import Postgres
from tests.ledger.statements import found

RECORDED, SKIPPED = ["recorded"] * 3, ["skipped"] * 3


def test_every_bot_decides_on_every_event_at_the_quotes_of_the_runs_instant_and_once(
    store: Store, archive: Path
) -> None:
    report = decide_on(store, archive)
    assert statuses(report) == {"market_price": RECORDED, "random_bet": RECORDED}
    assert [event.id for event in report.events] == ["1", "2", "3"]
    counts = "SELECT (SELECT count(*) FROM orders), (SELECT count(*) FROM fills), (SELECT count(*) FROM quotes)"
    assert found(store, counts) == [(8, 8, 16)]
    of_market_bot = [each.stored for each in report.decisions if each.stored.bot == "market_price"]
    bets = {bet.market_id: (bet.price_yes, bet.bet_usd) for each in of_market_bot for bet in each.bets}
    assert bets == {"1": (0.41, -1.0), "2": (0.2, -0.5), "22": (0.7, 0.5), "3": (0.55, 1.0)}
    before = canonical(store)
    again = decide_on(store, archive)
    assert statuses(again) == {"market_price": SKIPPED, "random_bet": SKIPPED}
    assert {each.message for each in again.decisions} == {"recorded before"}
    assert canonical(store) == before


def test_bots_may_be_added_to_a_run_and_decide_as_if_they_had_been_there(
    ledger: Store, tmp_path: Path, archive: Path
) -> None:
    everybody = ("market_price", "random_bet", "favourite")
    for bots in (everybody[2:], everybody[1:], everybody):
        report = decide_on(ledger, archive, request_of(recipe_of(*bots)))
        assert statuses(report) == {bots[0]: RECORDED, **dict.fromkeys(bots[1:], SKIPPED)}
    with Store.open(f"sqlite:///{tmp_path}/at_once.db") as at_once:
        decide_on(at_once, archive, request_of(recipe_of(*everybody)))
        assert canonical(at_once) == canonical(ledger)


def test_files_and_servers_hold_the_same(archive: Path, ledger: Store, postgres: Postgres) -> None:
    decide_on(ledger, archive)
    with Store.open(postgres.fresh()) as server:
        decide_on(server, archive)
        assert canonical(ledger) == canonical(server)


def test_a_seed_of_any_size_fits_and_draws_otherwise(store: Store, archive: Path) -> None:
    largest = decide_on(store, archive, request_of(recipe_of("random_bet", seed=2**63 - 1), new_run=True))
    assert largest.run.seed == 2**63 - 1
    usual = decide_on(store, archive, request_of(recipe_of("random_bet"), new_run=True))
    bets = [[bet.bet_usd for each in report.decisions for bet in each.stored.bets] for report in (largest, usual)]
    assert bets[0] != bets[1]


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
    assert found(store, "SELECT count(*) FROM attempts") == [6]


def test_the_time_of_a_decision_counts_from_its_claim(
    store: Store, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, begin = list[object](), dispatch.start_call

    def begin_to_decide(work: Callable[[], WorkResult]) -> "Future[WorkResult]":
        begun.extend(found(store, "SELECT count(*) FROM tasks WHERE status = 'claimed'"))
        return begin(work)

    monkeypatch.setattr(dispatch, "start_call", begin_to_decide)
    report = decide_on(store, archive)
    assert len(begun) == len(report.decisions) > 0
    assert 0 not in begun


def test_a_list_that_cannot_be_read_whole_leaves_no_run(ledger: Store) -> None:
    settings = Settings(call_deadline_seconds=0.5)
    venue = open_venue("sandbox:fault=server_error", settings, as_of=None, purpose="decide", clock=clock)
    with venue, pytest.raises(VenueError):
        decide(request_of(), venue, Resources(ledger, settings, clock, nobody))
    assert ledger.run_read(read_runs) == ()
