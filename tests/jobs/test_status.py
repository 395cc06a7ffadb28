"""The status of a ledger: what somebody has to look at, and what is merely so."""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from predibot.domain.budget import Limits, Spending
from predibot.domain.clock import parse_instant
from predibot.jobs.schedule.scheduled_recipe import ScheduledRecipe
from predibot.jobs.status import LedgerStatus, status_of
from predibot.ledger.store import Store
from predibot.ledger.write.process_identity import new_owner
from predibot.ledger.write.slots import (
    SERVICE,
    SlotResult,
    add_schedule,
    begin_slot,
    change_schedule,
    end_slot,
    miss_slots,
    take_service,
)
from predibot.ledger.write.spending import Holder, LedgerAccount
from predibot.reports.terminal.status import headline, status_lines
from predibot.reports.views.schedule import status_document, status_metrics
from tests.acceptance.conftest import said_here
from tests.cli.terminal import on_a_terminal
from tests.jobs.tiny import NOW, decide_on, track_on
from tests.ledger.statements import altered
from tests.soaks import ONE_DATABASE

NOON = parse_instant("2026-11-22T12:05Z")
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
RECIPE = """
name = "daily"
venue = "sandbox"
[schedule]
cron = "5 12 * * *"
[limits.day]
usd = 2.0
[[bots]]
strategy = "market_price"
"""


@pytest.fixture
def recipe(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "daily.toml").write_text(RECIPE, encoding="utf-8")
    yield str(tmp_path / "daily.toml")


def scheduled(store: Store, recipe: str) -> None:
    """Make the schedule known since a minute before noon."""
    store.run_write(partial(add_schedule, recipe="daily", argument=recipe, now=NOON - MINUTE))


def slot(store: Store, status: Any, reason: str = "", *, days: int = 0, late: timedelta = MINUTE) -> None:
    """Store that a slot was played."""
    at = NOON + days * DAY
    with store.write() as connection:
        begin_slot(connection, "daily", at, now=at + late)
        end_slot(connection, "daily", at, SlotResult(status, reason), next_try_at=None, now=at + late + MINUTE)
        change_schedule(connection, "daily", since=at)


def found(store: Store, days: float = 0.1) -> LedgerStatus:
    """Return the status some time after noon."""
    return status_of(store, lambda: NOON + days * DAY)


def test_all_is_well_where_the_last_slot_is_done(store: Store, recipe: str) -> None:
    scheduled(store, recipe)
    slot(store, "done", late=7 * MINUTE)
    status = found(store)
    (each,) = status.schedules
    assert (status.problems, each.expected_at, each.next_at) == ((), None, NOON + DAY)
    assert (each.slots.counts, each.slots.latest, each.cost.known_usd) == ({"done": 1}, 7 * MINUTE, 0.0)


@pytest.mark.parametrize("status", ["failed", "partly"])
def test_a_slot_that_is_not_done_is_a_problem_until_a_later_one_is(store: Store, recipe: str, status: str) -> None:
    scheduled(store, recipe)
    slot(store, status, "the venue is away")
    said = f"recipe daily: the run of 2026-11-22T12:05Z is {status}: the venue is away"
    assert found(store).problems == (said,)
    slot(store, "done", days=1)
    status = found(store, 1.1)
    assert status.problems == ()
    quiet = "No service runs: the run of daily at 2026-11-24T12:05Z begins only if `predibot schedule` runs."
    assert (headline(status), headline(replace(status, schedules=()))) == (
        quiet,
        "All is well: nothing needs attention.",
    )


def test_a_slot_that_nobody_began_is_a_problem_and_a_paused_recipe_is_none(store: Store, recipe: str) -> None:
    scheduled(store, recipe)
    assert found(store, 0.005).problems == ()
    (problem,) = found(store, 1.05).problems
    assert "the run of 2026-11-22T12:05Z has not begun, 1512m after it" in problem
    # That the next one has only begun is no reason to say that all is well.
    assert "the run of 2026-11-22T12:05Z has not begun" in found(store, 1.001).problems[0]
    store.run_write(partial(miss_slots, recipe="daily", slots=[NOON], reason="it was off", now=NOON + DAY))
    assert found(store, 0.5).problems[-1].endswith("is missed: it was off")
    store.run_write(partial(change_schedule, recipe="daily", paused_at=NOON))
    assert found(store, 1.05).problems == ()


def test_a_slot_is_overdue_by_the_instant_that_was_drawn_for_it(store: Store, recipe: str) -> None:
    # The seed of a draw that is late enough.
    jittery = "seed = 1\n" + RECIPE.replace('"5 12 * * *"', '"5 12 * * *"\njitter = "50m"')
    Path(recipe).write_text(jittery, encoding="utf-8")
    scheduled(store, recipe)
    read = ScheduledRecipe.read(recipe)
    begins_at = read.schedule.begins_at(NOON, read.seed)
    assert begins_at - NOON > 15 * MINUTE
    assert status_of(store, lambda: begins_at + MINUTE).problems == ()
    assert len(status_of(store, lambda: begins_at + 16 * MINUTE).problems) == 1


def test_a_broken_recipe_and_a_dead_service_are_problems(store: Store, recipe: str) -> None:
    scheduled(store, recipe)
    slot(store, "done")
    Path(recipe).write_text(RECIPE.replace("market_price", "market_prices"), encoding="utf-8")
    machine, _, birth, token = new_owner().split("/")
    dead = f"{machine}/4194304/{birth}/{token}"
    take = partial(take_service, name=SERVICE, owner=dead, lease=DAY, is_gone=lambda _: False, now=NOON)
    store.run_write(take)
    of_service, of_recipe = found(store).problems
    assert "the service that ran since 2026-11-22T12:05Z is gone" in of_service
    assert "did you mean 'market_price'" in of_recipe.lower()


def test_what_is_spent_stands_beside_the_limit(store: Store, recipe: str) -> None:
    scheduled(store, recipe)
    slot(store, "done")
    machine, _, birth, token = new_owner().split("/")
    gone = Holder(f"{machine}/4194304/{birth}/{token}", DAY, lambda: NOON)
    account = LedgerAccount(store, "day/2026-11-22", "day", Limits(usd=2.0), gone)
    account.replace(Spending(), Spending(usd=1.25))
    assert account.try_add(Spending(usd=0.5))
    status = found(store)
    assert (status.spent.usd, status.problems) == (pytest.approx(1.75), ())
    assert [(held.claims, held.set_aside_usd) for held in status.left_behind.values()] == [(0, pytest.approx(0.5))]
    account.replace(Spending(usd=0.5), Spending(usd=0.8))
    assert "the $2.00 that a day may cost are spent" in found(store).problems[0]
    assert found(store, 1.0).spent.usd == 0.0
    Path(recipe).write_text(RECIPE.replace("2.0", "0.004"), encoding="utf-8")
    low = found(store)
    assert "the $0.004 that" in low.problems[0] and "of $0.004 for daily." in list(status_lines(low))[-1]


@ONE_DATABASE
def test_open_markets_without_new_prices_are_a_problem(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    # As if it had been decided on the live venue.
    altered(store, "UPDATE runs SET venue = 'polymarket'")

    def markets(days: float) -> tuple[int, int, int]:
        seen = status_of(store, lambda: NOW + days * DAY).markets
        return seen.markets, seen.stale, seen.unreadable

    assert markets(0.5) == (4, 0, 0)
    assert markets(2) == (4, 0, 4)
    altered(store, "UPDATE runs SET venue = :venue", venue=f"archive:{archive}")
    track_on(store, archive, as_of=NOW + 4 * DAY)
    altered(store, "UPDATE runs SET venue = 'polymarket'")
    # The first market is settled by then.
    assert markets(4.5) == (3, 0, 0)
    assert markets(6) == (3, 3, 0)
    assert "of 3 open markets 3 have no price of the last 1d" in status_of(store, lambda: NOW + 6 * DAY).problems[-1]


def test_prometheus_and_programs_read_the_same(store: Store, recipe: str) -> None:
    scheduled(store, recipe)
    slot(store, "failed", "x", late=90 * MINUTE)
    status = found(store)
    text_format = status_metrics(status)
    sample = r'predibot_[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+'
    lines = text_format.splitlines()
    assert all(re.fullmatch(sample, line) for line in lines if not line.startswith("#"))
    assert 'predibot_last_slot_late_seconds{recipe="daily"} 5400.0' in lines
    assert 'predibot_slots{recipe="daily",status="failed"} 1.0' in lines
    assert 'predibot_day_limit_usd{recipe="daily"} 2.0' in lines
    document: Any = status_document(status)
    assert document["schedules"][0]["last"]["late_seconds"] == 5400.0
    assert document["problems"] == list(status.problems)


def test_the_exit_code_says_whether_somebody_has_to_look(
    tmp_path: Path, recipe: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs" / "out").mkdir(parents=True)
    with Store.open("sqlite:///runs/out/predibot.db") as store:
        scheduled(store, recipe)
        slot(store, "failed", "the venue is away, as it was all day, and nobody knows for how long it will be")
    code, screen = on_a_terminal("status", columns=80)
    assert code == 1
    assert "Look at this: recipe daily: the run of 2026-11-22T12:05Z is failed" in " ".join(screen.split())
    assert all(len(line) <= 80 for line in re.sub(r"\x1b\[[0-9;]*m", "", screen).splitlines())
    assert "daily" in screen and "2026-11-22T12:05Z" in screen
    said = said_here("status", "--json")
    assert (said.code, said.document["exit_code"]) == (1, 1)
