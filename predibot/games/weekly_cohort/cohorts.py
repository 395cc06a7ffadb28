"""Cohorts: the competition that starts in one UTC week, who plays it, and until when it decides."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from predibot.errors import UsageError
from predibot.games.weekly_cohort.methodology import Version, methodology_of

WEEK = timedelta(weeks=1)
DECIDES_AFTER = timedelta(minutes=5)
"""The start of the week: decisions are due from Sunday 00:05 UTC on."""
_STARTS_WITHIN = timedelta(hours=1)
_FIRST_SUNDAY = datetime(1970, 1, 4, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Member:
    """A bot of a cohort as it was when the cohort started; what a recipe says later changes nothing of it."""

    bot_id: str
    """Stable: what rows are joined by."""
    display_name: str
    model: str = ""
    """Empty for a bot without one."""
    input_usd_per_token: float | None = None
    """None where nobody knows."""
    output_usd_per_token: float | None = None
    prompt_version: str = ""


@dataclass(frozen=True, slots=True)
class Cohort:
    """A cohort as it is frozen when it starts."""

    start: datetime
    """Sunday 00:00 UTC."""
    version: Version = "v2"
    members: tuple[Member, ...] = ()
    universe: tuple[str, ...] = ()
    """The ids of its markets."""
    archived: bool = field(default=False, compare=False)
    """Whether it is left out of scores, and decides no more."""

    def __post_init__(self) -> None:
        """Refuse a start that is none, and two members of one id."""
        methodology_of(self.version)
        if self.start != week_of(self.start):
            raise UsageError(f"a cohort starts on a Sunday at 00:00 UTC, not at {self.start.isoformat()}")
        ids = [member.bot_id for member in self.members]
        if len(set(ids)) < len(ids):
            raise UsageError(f"two members of a cohort have one id; they are {', '.join(sorted(ids))}")

    @property
    def name(self) -> str:
        """Return what it is called, such as `2026-03-01`."""
        return cohort_name(self.start)

    @property
    def decides_from(self) -> datetime:
        """Return the instant from which its first decisions are due."""
        return self.start + DECIDES_AFTER


@dataclass(frozen=True, slots=True)
class CohortState:
    """What is known of a cohort at an instant, beside what was frozen."""

    cohort: Cohort
    open_positions: int
    """Of all members, pending ones included."""
    open_markets: int
    """Of its universe, as far as they are not known to be closed."""


def week_of(instant: datetime) -> datetime:
    """Return the Sunday 00:00 UTC that begins the week of an instant.

    Examples:
        >>> week_of(datetime(2026, 3, 7, 23, 59, tzinfo=UTC)).isoformat()
        '2026-03-01T00:00:00+00:00'
    """
    return instant.astimezone(UTC) - (instant - _FIRST_SUNDAY) % WEEK


def cohort_name(start: datetime) -> str:
    """Return the name of the cohort of the week of an instant."""
    return f"{week_of(start):%Y-%m-%d}"


def cohort_start(name: str) -> datetime:
    """Return when the cohort of a name starts.

    Raises:
        UsageError: If it is no Sunday.
    """
    try:
        start = datetime.strptime(name, "%Y-%m-%d").replace(tzinfo=UTC)
        sunday = week_of(start)
    except (ValueError, OverflowError):
        raise UsageError(f"{name[:40]!r} is no cohort; write its Sunday like 2026-03-01") from None
    if start != sunday:
        raise UsageError(f"{name} is no Sunday; the cohort of that week is {cohort_name(start)}")
    return start


def decision_week(start: datetime, at: datetime) -> int:
    """Return the number of the week of a cohort that an instant lies in, 1 for the first.

    Raises:
        UsageError: If the cohort has not started.
    """
    if at < start:
        raise UsageError(f"the cohort {cohort_name(start)} has not started at {at.isoformat()}")
    return 1 + (at - start) // WEEK


def starts_cohort(slot_at: datetime) -> bool:
    """Return whether a run of this slot starts the cohort of its week: the slot lies in the week's first hour."""
    return slot_at - week_of(slot_at) < _STARTS_WITHIN


def deciding(states: Sequence[CohortState], at: datetime, version: Version) -> tuple[Cohort, ...]:
    """Return the cohorts that decide at an instant, the newest first; the others are only tracked.

    With `v2` they are the latest five that have started, with `v1` all that are not complete.
    Archived ones decide no more, and make no room for older ones.
    """
    started = _started(states, at, version)
    latest = {state.cohort.start for state in started[: methodology_of(version).deciding_cohorts]}
    return tuple(
        state.cohort
        for state in started
        if not state.cohort.archived
        and state.cohort.start in latest
        and state.cohort.decides_from <= at
        and not (version == "v1" and is_complete(state, states, at))
    )


def is_complete(state: CohortState, states: Sequence[CohortState], at: datetime) -> bool:
    """Return whether nothing can happen in a cohort any more: its decision window is over, and nothing is open.

    The window of `v2` is over when five newer cohorts have started, that of `v1`
    when no market of its universe is open. A cohort whose members all held is
    not complete before that.
    """
    cohort = state.cohort
    if state.open_positions or at < cohort.decides_from:
        return False
    if cohort.version == "v1":
        return state.open_markets == 0
    newer = [each for each in _started(states, at, cohort.version) if each.cohort.start > cohort.start]
    return len(newer) >= (methodology_of(cohort.version).deciding_cohorts or 0)


def _started(states: Sequence[CohortState], at: datetime, version: Version) -> list[CohortState]:
    """Return the cohorts of a version that have started, the newest first."""
    found = [state for state in states if state.cohort.version == version and state.cohort.start <= at]
    return sorted(found, key=lambda state: state.cohort.start, reverse=True)
