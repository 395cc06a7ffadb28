"""Resolutions: what is new in what a venue reports, and what was known when."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.resolution import Resolution, latest_known, unseen_revisions
from predibot.ledger.store import Store
from predibot.ledger.write.events import markets
from predibot.ledger.write.prices_and_resolutions import add_resolutions, read_resolutions
from tests.ledger.by_hand import DAY, NOW, a_run, event_of

payouts = st.sampled_from([0.0, 0.5, 1.0])


def revision(days: float, paid: float, *, settled_days: float = 0) -> Resolution:
    """Return a revision known so many days after `NOW`."""
    return Resolution(paid, NOW + settled_days * DAY, "venue", NOW + days * DAY)


@st.composite
def histories(draw: st.DrawFn) -> tuple[Resolution, ...]:
    """Return what a venue came to know: revisions of which each differs from the one before."""
    paid = draw(
        st.lists(payouts, min_size=1, max_size=4).map(
            lambda values: [value for index, value in enumerate(values) if index == 0 or value != values[index - 1]]
        )
    )
    days = draw(st.lists(st.integers(0, 30), min_size=len(paid), max_size=len(paid), unique=True).map(sorted))
    return tuple(revision(day, value) for day, value in zip(days, paid, strict=True))


def reported(history: tuple[Resolution, ...], day: int) -> tuple[Resolution, ...]:
    """Return what an archive reports of a history as of a day."""
    return tuple(each for each in history if each.effective_at <= NOW + day * DAY)


@given(histories(), st.lists(st.integers(0, 31), max_size=5).map(sorted))
def test_asking_often_or_once_stores_the_same(history: tuple[Resolution, ...], days: list[int]) -> None:
    stored: tuple[Resolution, ...] = ()
    for day in [*days, 31]:
        stored += unseen_revisions(stored, reported(history, day), NOW + day * DAY)
    assert stored == unseen_revisions((), history, NOW + 31 * DAY) == history


@given(histories(), st.integers(0, 31))
def test_asking_again_brings_nothing(history: tuple[Resolution, ...], day: int) -> None:
    as_of = NOW + day * DAY
    stored = unseen_revisions((), reported(history, day), as_of)
    assert unseen_revisions(stored, reported(history, day), as_of) == ()


@given(histories(), st.integers(0, 31), st.integers(0, 31))
def test_what_was_known_at_an_instant_never_changes(history: tuple[Resolution, ...], day: int, later: int) -> None:
    early = unseen_revisions((), reported(history, day), NOW + day * DAY)
    end = max(day, later)
    all_of_it = early + unseen_revisions(early, reported(history, end), NOW + end * DAY)
    assert latest_known(early, NOW + day * DAY) == latest_known(all_of_it, NOW + day * DAY)


def test_a_correction_without_an_instant_of_its_own_is_known_since_it_was_seen() -> None:
    stored, seen_at = (revision(1, 0.0),), NOW + 4 * DAY
    (unseen,) = unseen_revisions(stored, (revision(1, 1.0),), seen_at)
    assert (unseen.payout_yes, unseen.effective_at) == (1.0, seen_at)
    assert latest_known((*stored, unseen), seen_at - timedelta(seconds=1)) == stored[0]
    assert latest_known((*stored, unseen), seen_at) == unseen


def test_the_same_payout_reported_with_another_instant_is_no_news() -> None:
    assert unseen_revisions((revision(1, 1.0),), (revision(3, 1.0),), NOW + 4 * DAY) == ()


def test_two_trackers_that_bring_the_same_revision_store_it_once(store: Store) -> None:
    a_run(store, event_of(1))
    with store.write() as connection:
        row = connection.execute(markets.select()).first()
        assert row is not None
        for _ in range(2):
            add_resolutions(connection, row.id, [revision(1, 1.0)], stored=0, seen_at=NOW)
        assert read_resolutions(connection, "polymarket") == {row.id: (revision(1, 1.0),)}


def test_of_two_revisions_of_one_instant_the_later_entry_stands() -> None:
    first, second = revision(4, 0.0), revision(4, 1.0)
    assert latest_known((first, second), NOW + 4 * DAY) == second
    assert unseen_revisions((first, second), (revision(1, 1.0),), NOW + 4 * DAY) == ()


def test_an_early_revision_that_is_told_late_keeps_its_own_instant() -> None:
    early, late = revision(1, 0.0), revision(5, 1.0)
    assert unseen_revisions((late,), (early, late), NOW + 9 * DAY) == (early,)
