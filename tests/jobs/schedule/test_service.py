"""The service over a simulated clock: every slot is played once or has a row that says why not."""

import random
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from zoneinfo import ZoneInfo

import pytest

from predibot.api.schedule import pause
from predibot.config import Settings
from predibot.contracts import Past
from predibot.domain.clock import parse_instant
from predibot.errors import UsageError
from predibot.jobs.caller import Caller
from predibot.jobs.schedule.scheduled_recipe import (
    RETRY_PAUSE,
    ScheduledRecipe,
    ServiceLock,
    play_slot_once,
    simulated_instant,
)
from predibot.jobs.schedule.service import LONGEST_WAIT, STOPPED, ScheduleService
from predibot.ledger.schema.tables import SlotRow
from predibot.ledger.store import Store
from predibot.ledger.write.runs import void_run
from predibot.ledger.write.slots import (
    SlotResult,
    begin_slot,
    change_schedule,
    end_slot,
    lock_of_slot,
    read_schedules,
    read_slots,
)
from tests.ledger.by_hand import a_run

NOON = parse_instant("2026-11-22T12:00Z")
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
RECIPE = """
name = "daily"
venue = "sandbox"
[schedule]
cron = "5 12 * * *"
[[bots]]
strategy = "market_price"
"""


@dataclass
class Playing:
    """What goes on until an instant of the world's clock."""

    world: "World"
    until: datetime
    end: Callable[[], str]

    def exit_reason(self) -> str | None:
        return self.end() if self.world.now >= self.until else None


@dataclass
class World:
    """A clock, and a venue that is well or not."""

    recipe: Path
    store: Store
    now: datetime = NOON
    faults: random.Random | None = None
    takes: timedelta = MINUTE
    played: list[datetime] = field(default_factory=list)
    tracked: list[datetime] = field(default_factory=list)
    told: list[SlotRow] = field(default_factory=list)
    works: dict[str, Playing] = field(default_factory=dict)
    """What a recipe is at where it takes longer than a moment, by its name; all others are played at once."""

    def service(self, *others: Path) -> ScheduleService:
        """Return a service as a new process would start it."""
        arguments = [str(self.recipe), *map(str, others)]
        return ScheduleService(
            arguments, store=self.store, clock=lambda: self.now, start=self.start, on_slot=self.told.append
        )

    def look(self, *instants: datetime) -> None:
        """Look at the clock at each instant, as a new process would."""
        for self.now in instants:
            self.service().look()

    def start(self, recipe: ScheduledRecipe, slot: datetime | None) -> Playing:
        """Start what takes a while; the clock of the world goes on where nothing else is to be done."""
        if slot is None:
            self.tracked.append(self.now)
            return Playing(self, self.now, lambda: "")
        if recipe.name in self.works:
            return self.works[recipe.name]
        play_slot_once(recipe, slot, self.play, store=self.store, clock=lambda: self.now)
        return Playing(self, self.now, lambda: "")

    def play(self, recipe: ScheduledRecipe, slot: datetime) -> SlotResult:
        """Play a slot, which takes a while."""
        self.now += self.takes
        if self.faults is not None and self.faults.random() < 1 / 3:
            if self.faults.random() < 0.2:
                raise KeyboardInterrupt
            return SlotResult("failed", "the venue is away")
        self.played.append(slot)
        return SlotResult("done", run_key=f"{recipe.name}@{slot}")

    def rows(self, recipe: str = "daily") -> tuple[SlotRow, ...]:
        """Return what the ledger says of all slots."""
        return self.store.run_read(partial(read_slots, recipe=recipe))


@pytest.fixture
def world(tmp_path: Path, ledger: Store) -> World:
    recipe = tmp_path / "daily.toml"
    recipe.write_text(RECIPE, encoding="utf-8")
    return World(recipe, ledger)


def test_a_slot_is_played_when_it_is_due_and_only_then(world: World) -> None:
    service = world.service()
    assert service.look() == NOON + 5 * MINUTE
    assert world.rows() == ()
    world.now = NOON + 5 * MINUTE
    assert service.look() == world.now
    world.now += MINUTE
    service.look()
    (row,) = world.rows()
    assert (row.status, row.late, row.run_key is not None) == ("done", timedelta(0), True)
    assert world.played == [NOON + 5 * MINUTE]


def test_a_slot_is_made_up_within_its_window_and_missed_after_it(world: World) -> None:
    world.look(NOON, NOON + 2 * DAY + HOUR)
    assert [row.status for row in world.rows()] == ["missed", "missed", "done"]
    assert world.rows()[-1].late == 55 * MINUTE
    assert "6h" in world.rows()[0].reason


def test_what_failed_is_tried_again_until_its_window_ends(world: World) -> None:
    world.faults, world.takes = random.Random(), timedelta(0)
    world.faults.random = lambda: 0.25  # type: ignore[method-assign]
    service = world.service()
    service.look()
    world.now = NOON + 5 * MINUTE
    for _ in range(30):
        world.now = max(world.now, service.look())
    rows = world.rows()
    assert rows[0].tries == 6 * HOUR // RETRY_PAUSE + 1
    assert (rows[0].status, rows[0].reason, rows[0].next_try_at) == ("failed", "the venue is away", None)


def test_a_paused_recipe_has_a_row_for_what_it_left_out(world: World) -> None:
    world.look(NOON)
    world.store.run_write(lambda connection: change_schedule(connection, "daily", paused_at=NOON))
    world.look(NOON + HOUR)
    assert [(row.status, row.reason) for row in world.rows()] == [("missed", "paused since 2026-11-22T12:00Z")]


def test_slots_of_a_pause_that_nobody_looked_at_are_not_made_up_after_it(world: World) -> None:
    caller = Caller(Settings, lambda: world.now, lambda _: None, lambda: nullcontext(lambda _: None))
    paused = partial(pause, str(world.recipe), caller, ledger=world.store.address)
    world.look(NOON)
    paused(paused=True)
    world.now = NOON + 2 * HOUR
    paused(paused=False)
    world.look(world.now)
    assert [(row.status, row.reason) for row in world.rows()] == [("missed", "paused since 2026-11-22T12:00Z")]
    assert world.played == []
    world.look(NOON + DAY + HOUR)
    assert world.played == [NOON + DAY + 5 * MINUTE]


def test_a_broken_recipe_is_told_of_and_the_last_good_one_goes_on(world: World) -> None:
    service = world.service()
    service.look()
    world.recipe.write_text(RECIPE.replace("market_price", "market_prices"), encoding="utf-8")
    world.now = NOON + HOUR
    service.look()
    assert world.played == [NOON + 5 * MINUTE]
    (stored,) = world.store.run_read(read_schedules)
    assert "market_price" in stored.problem
    world.recipe.write_text(RECIPE.replace("5 12", "5 15"), encoding="utf-8")
    world.now = NOON + 3 * HOUR + 5 * MINUTE
    service.look()
    assert world.played == [NOON + 5 * MINUTE, NOON + 3 * HOUR + 5 * MINUTE]


def test_a_simulated_world_goes_on_after_the_days_that_were_played_by_hand(world: World) -> None:
    recipe = ScheduledRecipe.read(str(world.recipe))
    past = cast(Past, SimpleNamespace(first_at=NOON, last_at=NOON + 3 * DAY))

    def plays(slot: datetime) -> datetime:
        world.store.run_write(partial(begin_slot, recipe="daily", slot_at=slot, now=slot))
        at = simulated_instant(recipe, slot, past, world.store)
        if at not in by_slots:
            by_slots.append(at)
            a_run(world.store, key=f"daily@{at}", as_of=at, venue="sandbox", created_at=slot + MINUTE)
        return at

    by_slots: list[datetime] = []
    by_hand = {"as_of": NOON + HOUR, "venue": "sandbox", "created_at": NOON - HOUR}
    run = a_run(world.store, **by_hand)
    a_run(world.store, key="other@2026-03-01T00:00Z", recipe="other", **{**by_hand, "as_of": NOON + 2 * DAY})
    assert [plays(NOON + days * DAY) for days in (0, 1, 0)] == [NOON + HOUR + days * DAY for days in (1, 2, 1)]
    world.store.run_write(partial(void_run, key=run.key, reason="why", at=NOON + DAY))
    with pytest.raises(UsageError, match="the simulated world ends"):
        plays(NOON + 2 * DAY)


def test_prices_are_tracked_between_slots(world: World) -> None:
    service = world.service()
    service.look()
    while world.now < NOON + DAY:
        world.now = max(service.look(), world.now + MINUTE)
        assert service.next_run_at == NOON + 5 * MINUTE + (world.now > NOON + 5 * MINUTE) * DAY
    hours = [(after - before) / HOUR for before, after in zip(world.tracked, world.tracked[1:], strict=False)]
    assert 4 <= len(world.tracked) <= 6
    assert all(4.0 <= each < 4.1 for each in hours)


def test_a_clock_that_is_ahead_for_a_while_loses_no_slot(world: World) -> None:
    world.look(NOON, NOON + 30 * DAY)
    for slot in (NOON + 5 * MINUTE, NOON + DAY + 5 * MINUTE):
        world.look(slot)
        assert world.played[-1] == slot


def test_whatever_happens_every_slot_has_one_row(world: World) -> None:
    world.faults = random.Random(7)
    service, killed = world.service(), 0
    service.look()
    while world.now < NOON + 25 * DAY:
        try:
            at = service.look()
        except KeyboardInterrupt:
            killed += 1
            world.now += timedelta(hours=world.faults.choice([0, 1, 8, 100]))
            service = world.service()
            continue
        world.now = max(at, world.now + MINUTE)
    rows = world.rows()
    days = [row.slot_at for row in rows]
    assert days == [NOON + 5 * MINUTE + number * DAY for number in range(len(days))]
    assert len(days) >= 24
    assert killed > 2
    assert len(set(world.played)) == len(world.played)
    assert {row.slot_at for row in rows if row.status == "done"} == set(world.played)
    assert all(row.reason for row in rows if row.status != "done")


def test_a_slow_recipe_makes_no_other_one_late(world: World) -> None:
    slow = world.recipe.with_name("slow.toml")
    slow.write_text(RECIPE.replace("daily", "slow").replace("5 12", "0 12"), encoding="utf-8")
    world.now -= MINUTE
    service = world.service(slow)
    service.look()
    world.works["slow"] = Playing(world, NOON + 3 * HOUR, lambda: "was ended by SIGKILL")
    while world.now < NOON + HOUR:
        world.now = max(service.look(), world.now + MINUTE)
    assert [(row.status, row.late) for row in world.rows()] == [("done", timedelta(0))]
    assert (len(service.processes), world.rows("slow")) == (1, ())
    world.now = NOON + 3 * HOUR
    service.look()
    (row,) = world.rows("slow")
    assert (row.status, row.reason) == ("failed", "the process that played it was ended by SIGKILL")
    assert row.next_try_at == NOON + 3 * HOUR + RETRY_PAUSE
    assert [each.recipe for each in world.told] == ["daily", "slow"]


def test_a_slot_whose_process_was_stopped_before_it_began_goes_on_with_the_next_start(world: World) -> None:
    service = world.service()
    service.look()
    world.works["daily"] = Playing(world, NOON + HOUR, lambda: STOPPED)
    world.now = NOON + 5 * MINUTE
    service.look()
    world.now = NOON + HOUR
    service.collect()
    (row,) = world.rows()
    assert (row.reason, row.next_try_at) == ("the process that played it was stopped", world.now)


def test_a_slot_that_somebody_else_plays_is_left_to_it(world: World) -> None:
    service = world.service()
    service.look()
    world.now = slot = NOON + 5 * MINUTE
    with ServiceLock(world.store, lambda: world.now, lock_of_slot("daily", slot)):
        world.store.run_write(partial(begin_slot, recipe="daily", slot_at=slot, now=world.now))
        assert service.look() == world.now + LONGEST_WAIT
        world.now += MINUTE
    # It ended without a word, and left nothing behind.
    service.look()
    assert (world.rows()[0].tries, world.rows()[0].status) == (2, "done")


def test_a_slot_that_somebody_else_ends_at_that_moment_is_not_missed(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = world.service()
    service.look()
    slot = NOON + 5 * MINUTE
    world.store.run_write(partial(begin_slot, recipe="daily", slot_at=slot, now=slot))
    world.now = NOON + 8 * HOUR

    def end_it(*_: object) -> bool:
        played = SlotResult("done", run_key="it")
        world.store.run_write(
            partial(end_slot, recipe="daily", slot_at=slot, played=played, next_try_at=None, now=world.now)
        )
        return False

    monkeypatch.setattr(service, "_is_under_way", end_it)
    service.look()
    assert [(row.status, row.reason) for row in world.rows()] == [("done", "")]
    assert world.told == []


def test_what_was_missed_is_told_of(world: World) -> None:
    world.look(NOON, NOON + DAY)
    assert [(row.status, row.reason) for row in world.told] == [("missed", "nothing ran it for 6h after it")]


def test_a_recipe_that_changes_its_name_is_told_of(world: World) -> None:
    service = world.service()
    service.look()
    world.recipe.write_text(RECIPE.replace("daily", "nightly"), encoding="utf-8")
    service.look()
    (stored,) = world.store.run_read(read_schedules)
    assert "is named 'nightly' now, and was 'daily'. Start the service anew" in stored.problem


@pytest.mark.parametrize("start", ["2026-03-28T12:00Z", "2026-10-24T12:00Z", "2028-02-27T12:00Z"])
def test_a_turn_of_the_clock_and_a_leap_day_have_one_slot_a_day(world: World, start: str) -> None:
    """At 02:30 in Berlin: left out on 29 March 2026, shown twice on 25 October 2026."""
    recipe = RECIPE.replace('"5 12 * * *"', '"30 2 * * *"\ntimezone = "Europe/Berlin"')
    world.recipe.write_text(recipe, encoding="utf-8")
    world.now = begin = parse_instant(start)
    service = world.service()
    service.look()
    while world.now < begin + 3 * DAY:
        world.now = max(service.look(), world.now + MINUTE)
    zone = ZoneInfo("Europe/Berlin")
    local = [row.slot_at.astimezone(zone) for row in world.rows()]
    assert len({each.date() for each in local}) == len(local) == 3
    assert {each.strftime("%H:%M") for each in local} <= {"02:30", "03:00"}
    assert all(row.late is not None and row.late < HOUR for row in world.rows())
