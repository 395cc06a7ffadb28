"""Replaying: the decisions that would have been made, one instant of the past after the other."""

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from predibot.config import Settings
from predibot.contracts import Past
from predibot.domain.schedule import Timetable
from predibot.errors import RunConflict, UsageError
from predibot.jobs.deciding.open_run import RunRequest
from predibot.jobs.deciding.worker import Resources
from predibot.jobs.evaluate import evaluate
from predibot.jobs.open_venue import open_past
from predibot.jobs.replay.replay import (
    ReplayInstant,
    ReplayPlan,
    evaluation_instant,
    look_back,
    other_runs,
    replay,
    timetable,
)
from predibot.ledger.store import Store
from predibot.scoring.records.part import Part
from tests.jobs.tiny import DAY, LATER, canonical, clock, decide_on, nobody, recipe_of, request_of, track_on
from tests.venues.payloads import NOW

FOUR_DAYS = Timetable(NOW, NOW + 3 * DAY, DAY)


@pytest.fixture
def past(archive: Path) -> Past:
    return open_past(f"archive:{archive}", Settings(), clock)


def replay_on(
    store: Store, past: Past, instants: Timetable = FOUR_DAYS, request: RunRequest | None = None
) -> tuple[ReplayInstant, ...]:
    told: list[ReplayInstant] = []
    plan = ReplayPlan(request or request_of(), past, instants, evaluation_instant(instants, past, None))
    played = replay(plan, Resources(store, Settings(), clock, nobody), told.append)
    assert told == list(played)
    return played


def test_another_replay_goes_on_where_an_earlier_one_was_stopped_with_the_same_recipe_alone(
    past: Past, ledger: Store
) -> None:
    replay_on(ledger, past, Timetable(NOW, NOW + DAY, DAY))
    assert [each.made_here for each in replay_on(ledger, past)] == [0, 0, 6, 4]
    assert [each.made_here for each in replay_on(ledger, past)] == [0, 0, 0, 0]
    with pytest.raises(RunConflict, match="seed is 7, was 0"):
        replay_on(ledger, past, request=request_of(recipe_of(seed=7)))


def test_the_clock_is_that_of_the_instant_whatever_was_opened_before(past: Past, ledger: Store, tmp_path: Path) -> None:
    replay_on(ledger, past)
    with Store.open(f"sqlite:///{tmp_path}/backwards.db") as backwards:
        for instant in reversed(list(FOUR_DAYS)):
            replay_on(backwards, past, Timetable(instant, instant, DAY))
        assert canonical(backwards) == canonical(ledger)


def test_an_instant_without_an_event_is_a_run_without_decisions(past: Past, ledger: Store) -> None:
    # Prices end ten days after the first snapshot; a day later none is recent enough to bet on.
    (idle,) = replay_on(ledger, past, Timetable(NOW + 12 * DAY, NOW + 12 * DAY, DAY))
    assert (idle.events, idle.statuses, idle.made_here) == (0, {}, 0)


def test_a_slot_that_was_decided_at_another_instant_is_gone_on_with_and_says_so(
    past: Past, archive: Path, ledger: Store
) -> None:
    earlier = NOW + timedelta(hours=1)
    decide_on(ledger, archive, as_of=earlier)
    first, *rest = replay_on(ledger, past)
    assert (first.as_of, first.made_here) == (earlier, 0)
    assert all(each.as_of == each.at for each in rest)
    assert any("frozen as of 2026-02-13T20:30Z" in note for note in first.notes)


def test_a_replay_leaves_the_ledger_of_as_many_single_decisions_and_is_scored_as_they_are(
    past: Past, archive: Path, ledger: Store, tmp_path: Path
) -> None:
    played = replay_on(ledger, past)
    assert [each.made_here for each in played] == [6, 6, 6, 4]
    assert [each.statuses for each in played] == [{"recorded": each.made_here} for each in played]
    at = evaluation_instant(FOUR_DAYS, past, None)
    assert at == NOW + 10 * DAY
    with Store.open(f"sqlite:///{tmp_path}/single.db") as single:
        for instant in FOUR_DAYS:
            decide_on(single, archive, as_of=instant)
        assert canonical(ledger) == canonical(single)
        seen = look_back(past, at, Resources(ledger, Settings(), lambda: at, nobody), recipe="tiny")
        track_on(single, archive, as_of=at)
        assert seen == evaluate(store=single, venue_name="polymarket", as_of=at, part=Part(recipe="tiny"))
    # Market 1 settles after three days, market 22 is open at each instant; market 2 is void.
    assert [card.settled for card in seen.cards] == [3 + 4, 3 + 4]


def test_other_runs_of_the_recipe_are_counted(past: Past, archive: Path, ledger: Store) -> None:
    decide_on(ledger, archive, as_of=NOW + 5 * DAY)
    played = replay_on(ledger, past)
    assert other_runs(ledger, "tiny", past, played) == 1
    assert other_runs(ledger, "else", past, played) == 0


def test_left_out_the_instants_are_all_that_the_past_has_one_a_slot(past: Past) -> None:
    recipe = recipe_of(every="12h")
    instants = timetable(recipe, past, first=None, last=None, every=None)
    assert (instants.first, instants.last, len(instants)) == (NOW, NOW + DAY, 3)


@pytest.mark.parametrize(
    ("first", "last", "every", "said"),
    [
        (NOW - DAY, None, None, "no snapshot at or before 2026-02-12T19:30Z; its first is of 2026-02-13T19:30Z"),
        (NOW, NOW - DAY, None, "no instants to replay: it would end at 2026-02-12T19:30Z, before it begins"),
        (NOW, NOW + 40_000 * DAY, None, "no instants to replay: every 1d makes 40,001 instants, above 10,000"),
        (NOW, LATER, timedelta(hours=6), "the recipe plays once in each 1d, so every 6h would decide nothing new"),
    ],
)
def test_instants_that_make_no_sense_are_refused(
    past: Past, first: datetime, last: datetime | None, every: timedelta | None, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        timetable(recipe_of(), past, first=first, last=last, every=every)


def test_it_is_not_evaluated_before_its_last_decision(past: Past) -> None:
    assert evaluation_instant(FOUR_DAYS, past, NOW + 3 * DAY) == NOW + 3 * DAY
    with pytest.raises(UsageError, match=r"the last is of 2026-02-16T19:30Z\. Name a later --as-of"):
        evaluation_instant(FOUR_DAYS, past, NOW + 2 * DAY)
