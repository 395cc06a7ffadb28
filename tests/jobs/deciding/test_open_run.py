"""The run of a slot: frozen once, resumed, in conflict, void."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from predibot.domain.budget import Limits
from predibot.errors import RunConflict, UsageError
from predibot.ledger.read.rows_for_python import select_runs
from predibot.ledger.store import Store
from predibot.ledger.write.claims import RETRIES
from predibot.ledger.write.runs import void_run
from tests.jobs.tiny import canonical, decide_on, opened, recipe_of, request_of, statuses, write_archive
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW

KEY = "tiny@2026-02-13T00:00Z"
HOUR = timedelta(hours=1)


@ONE_DATABASE
def test_the_run_of_a_slot_is_resumed_whatever_the_venue_lists_now(store: Store, archive: Path) -> None:
    first = decide_on(store, archive)
    write_archive(archive, future=0.5)
    (archive / "snapshots" / "2026-02-13T193000Z" / "events.json").write_text("[]")
    again = decide_on(store, archive, as_of=NOW + HOUR)
    assert again.run.key == first.run.key == KEY
    assert again.run.as_of == NOW
    assert [event.id for event in again.events] == ["1", "2", "3"]
    assert any("was frozen as of 2026-02-13T19:30Z" in note for note in again.notes)


def test_a_run_that_was_made_otherwise_is_a_conflict_that_names_the_difference(
    ledger: Store, tmp_path: Path, archive: Path
) -> None:
    decide_on(ledger, archive)
    elsewhere = write_archive(tmp_path / "elsewhere")
    for folder, request, named in (
        (archive, request_of(recipe_of(seed=7)), "seed is 7, was 0"),
        (archive, request_of(recipe_of(overstake="scale")), 'overstake is "scale", was "refuse"'),
        (archive, request_of(recipe_of().with_overrides(events=2)), r"selection\.events is 2, was 10"),
        (archive, request_of(event_id="3"), "--event is 3, was absent"),
        (elsewhere, request_of(), "--venue is archive:.*/elsewhere, was archive:.*/archive"),
    ):
        with pytest.raises(RunConflict, match=named) as caught:
            decide_on(ledger, folder, request)
        assert "--new-run" in str(caught.value)


def test_a_new_run_in_the_same_slot_has_a_key_of_its_own_and_is_resumed_by_what_it_is(
    store: Store, archive: Path
) -> None:
    decide_on(store, archive)
    seven = request_of(recipe_of(seed=7), new_run=True)
    assert decide_on(store, archive, seven).run.key == f"{KEY}+2"
    assert decide_on(store, archive, request_of(recipe_of(seed=7))).run.key == f"{KEY}+2"
    assert decide_on(store, archive).run.key == KEY
    assert decide_on(store, archive, seven).run.key == f"{KEY}+3"


def test_with_retry_a_run_goes_on_within_other_limits_and_one_with_the_very_same_comes_first(
    ledger: Store, archive: Path
) -> None:
    one, two, three = (request_of(replace(recipe_of(), limits={"run": Limits(steps=n)})) for n in (1, 2, 3))
    decide_on(ledger, archive, one)
    assert decide_on(ledger, archive, replace(two, new_run=True)).run.key == f"{KEY}+2"
    with pytest.raises(RunConflict, match="add --retry failed,abstained to go on within these limits"):
        decide_on(ledger, archive, three)
    asked = frozenset(RETRIES)
    assert decide_on(ledger, archive, replace(one, retry=asked)).run.key == KEY
    report = decide_on(ledger, archive, replace(three, retry=asked))
    assert report.run.key == f"{KEY}+2"
    assert any("goes on with other limits: limits.run.steps is 3, was 2" in note for note in report.notes)


def test_a_bot_cannot_change_what_it_is(store: Store, archive: Path) -> None:
    decide_on(store, archive, request_of(recipe_of('strategy = "market_price"\nname = "x"')))
    other = recipe_of('strategy = "market_price"\nname = "x"\nstake = "top_volume"')
    with pytest.raises(RunConflict, match=r"bot 'x' of run .* the recipe now says"):
        decide_on(store, archive, request_of(other))


@ONE_DATABASE
def test_a_void_run_frees_its_slot_also_beside_a_new_run_and_stays_on_record(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    assert decide_on(store, archive, request_of(recipe_of(seed=7), new_run=True)).run.key == f"{KEY}+2"
    with store.write() as connection:
        void_run(connection, KEY, reason="wrong recipe", at=NOW)
    again = decide_on(store, archive, request_of(recipe_of("random_bet", seed=8)))
    assert again.run.key == KEY
    assert statuses(again) == {"random_bet": ["recorded"] * 3}
    listed = {(each.run, each.void): (each.void_reason, each.recorded) for each in store.run_read(select_runs)}
    assert listed == {(KEY, 1): ("wrong recipe", 6), (KEY, 0): (None, 3), (f"{KEY}+2", 0): (None, 6)}
    assert '"void": 1' in canonical(store)


@ONE_DATABASE
def test_a_run_is_voided_once_and_for_a_reason(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    with store.write() as connection:
        with pytest.raises(UsageError, match="--reason"):
            void_run(connection, KEY, reason=" ", at=NOW)
        void_run(connection, KEY, reason="x", at=NOW)
        with pytest.raises(UsageError, match="no run holds the key"):
            void_run(connection, KEY, reason="x", at=NOW)


def test_an_event_can_be_named(store: Store, archive: Path) -> None:
    report = decide_on(store, archive, request_of(event_id="3"))
    assert [event.id for event in report.events] == ["3"]
    with opened(archive, NOW) as venue, pytest.raises(UsageError, match="no event '99'"):
        venue.venue.event("99", NOW)
