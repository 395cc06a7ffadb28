"""Cohorts: accounts that start together in one UTC week, who plays them, and until when they decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from predibot.errors import UsageError

COHORT = "cohort"
"""The kind of subjects that are cohorts; their id is the name of the cohort."""
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
    """A cohort as it is known at an instant."""

    start: datetime
    """Sunday 00:00 UTC."""
    archived: bool = False
    """Whether it is left out of scores, and decides no more."""
    open_positions: int = 0
    """Of all members, pending ones included."""
    open_markets: int = 1
    """Of its universe, as far as they are not known to be closed."""

    def __post_init__(self) -> None:
        """Refuse a start that is none."""
        if self.start != week_of(self.start):
            raise UsageError(f"a cohort starts on a Sunday at 00:00 UTC, not at {self.start.isoformat()}")

    @property
    def name(self) -> str:
        """Return what it is called, such as `2026-03-01`."""
        return cohort_name(self.start)

    @property
    def decides_from(self) -> datetime:
        """Return the instant from which its first decisions are due."""
        return self.start + DECIDES_AFTER


@dataclass(frozen=True, slots=True)
class CohortRules:
    """How the cohorts of a game go on; only of one game and methodology are they looked at together."""

    latest: int | None = None
    """How many of the latest cohorts decide; None where all do that are not complete."""
    least_cash_usd: float = 0.0
    """Cash below which nothing can be bought."""

    def deciding(self, cohorts: Sequence[Cohort], at: datetime) -> tuple[Cohort, ...]:
        """Return the cohorts that decide at an instant, the newest first; the others are only tracked.

        Archived ones decide no more, and make no room for older ones.
        """
        return tuple(
            cohort
            for cohort in _started(cohorts, at)[: self.latest]
            if not cohort.archived
            and cohort.decides_from <= at
            and not (self.latest is None and self.is_complete(cohort, cohorts, at))
        )

    def is_complete(self, cohort: Cohort, cohorts: Sequence[Cohort], at: datetime) -> bool:
        """Return whether nothing can happen in a cohort any more: its decision window is over, and nothing is open.

        The window is over when as many newer cohorts have started as decide, or, where all do, when no market of its
        universe is open. A cohort whose members all held is not complete before that.
        """
        if cohort.open_positions or at < cohort.decides_from:
            return False
        if self.latest is None:
            return cohort.open_markets == 0
        return sum(each.start > cohort.start for each in _started(cohorts, at)) >= self.latest


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


def _started(cohorts: Sequence[Cohort], at: datetime) -> list[Cohort]:
    """Return the cohorts that have started, the newest first."""
    return sorted((each for each in cohorts if each.start <= at), key=lambda each: each.start, reverse=True)
