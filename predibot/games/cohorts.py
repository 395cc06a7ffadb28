"""Cohorts: accounts that start together in one UTC week, their bots, and the weeks in which they decide."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from predibot.domain.clock import floor_to
from predibot.errors import UsageError

COHORT = "cohort"
"""The subject kind of cohorts; the subject's id is the cohort's name."""
WEEK = timedelta(weeks=1)
DECIDES_AFTER = timedelta(minutes=5)
"""How long after the week starts decisions are due: from Sunday 00:05 UTC on."""
_STARTS_WITHIN = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Member:
    """A bot as it was when its cohort started; later changes of the recipe do not change it."""

    bot_id: str
    """Stable; rows are joined by it."""
    display_name: str
    model: str = ""
    """Empty for a bot without a model."""
    input_usd_per_token: float | None = None
    output_usd_per_token: float | None = None
    prompt_version: str = ""


@dataclass(frozen=True, slots=True)
class Cohort:
    """A cohort as it is known at an instant."""

    start: datetime
    """Sunday 00:00 UTC."""
    archived: bool = False
    open_positions: int = 0
    open_markets: int = 1
    """Markets not known to be closed; they only matter where neither weeks nor newer cohorts end a window."""

    def __post_init__(self) -> None:
        """Refuse a start other than Sunday 00:00 UTC."""
        if self.start != week_of(self.start):
            raise UsageError(f"a cohort starts on a Sunday at 00:00 UTC, not at {self.start.isoformat()}")

    @property
    def name(self) -> str:
        """Return its name, such as `2026-03-01`."""
        return cohort_name(self.start)

    @property
    def decides_from(self) -> datetime:
        """Return the instant at which its first decisions are due."""
        return self.start + DECIDES_AFTER


@dataclass(frozen=True, slots=True)
class CohortRules:
    """Which cohorts of one game and methodology decide, on which markets, and when one is complete."""

    latest: int | None = None
    """How many of the latest cohorts decide; with None it does not depend on newer ones."""
    weeks: int | None = None
    """In how many weeks a cohort decides; with None, and no `latest`, all that are not complete decide."""
    fresh: bool = False
    """Whether a cohort plays the markets of each run, and not those of the run that started it."""
    least_cash_usd: float = 0.0
    """With less cash nothing can be bought."""

    def decides(self, cohort: Cohort, cohorts: Sequence[Cohort], at: datetime) -> bool:
        """Return whether a cohort decides at an instant; others are only tracked. `cohorts` are all that were ever
        started. Archived ones decide no more, and give their place to no older one.
        """
        is_playing = not cohort.archived and cohort.decides_from <= at
        return is_playing and not self._is_window_over(cohort, cohorts, at)

    def is_complete(self, cohort: Cohort, cohorts: Sequence[Cohort], at: datetime) -> bool:
        """Return whether nothing can happen in a cohort any more: its decision window is over, and nothing is open.

        The window ends after its `weeks`, or after `latest` newer cohorts have started. With neither it ends when no
        market of its universe is open, even if its members never bought anything.
        """
        is_open = cohort.open_positions > 0 or at < cohort.decides_from
        return not is_open and self._is_window_over(cohort, cohorts, at)

    def window_end(self, cohort: Cohort, cohorts: Sequence[Cohort]) -> datetime | None:
        """Return when the decision window of a cohort ends, None if neither weeks nor newer cohorts end it."""
        if self.weeks is not None:
            return cohort.start + self.weeks * WEEK
        newer = sorted({each.start for each in cohorts if each.start > cohort.start})
        return newer[self.latest - 1] if self.latest is not None and len(newer) >= self.latest else None

    def _is_window_over(self, cohort: Cohort, cohorts: Sequence[Cohort], at: datetime) -> bool:
        if self.weeks is None and self.latest is None:
            return cohort.open_positions == 0 and cohort.open_markets == 0
        ends_at = self.window_end(cohort, cohorts)
        return ends_at is not None and ends_at <= at


def week_of(instant: datetime) -> datetime:
    """Return Sunday 00:00 UTC of the week of an instant.

    Examples:
        >>> week_of(datetime(2026, 3, 7, 23, 59, tzinfo=UTC)).isoformat()
        '2026-03-01T00:00:00+00:00'
    """
    return floor_to(instant.astimezone(UTC), WEEK)


def cohort_name(start: datetime) -> str:
    """Return the name of the cohort of an instant's week."""
    return f"{week_of(start):%Y-%m-%d}"


def cohort_start(name: str) -> datetime:
    """Return the start of the cohort with a name; raise `UsageError` if the name is not a Sunday's date."""
    try:
        start = datetime.strptime(name, "%Y-%m-%d").replace(tzinfo=UTC)
        sunday = week_of(start)
    except (ValueError, OverflowError):
        raise UsageError(f"{name[:40]!r} is no cohort; write its Sunday like 2026-03-01") from None
    if start != sunday:
        raise UsageError(f"{name} is no Sunday; the cohort of that week is {cohort_name(start)}")
    return start


def decision_week(start: datetime, at: datetime) -> int:
    """Return the number of a cohort's week at an instant, 1 for the first; UsageError before its start."""
    if at < start:
        raise UsageError(f"the cohort {cohort_name(start)} has not started at {at.isoformat()}")
    return 1 + (at - start) // WEEK


def starts_cohort(slot_at: datetime) -> bool:
    """Return whether a run of this slot starts the cohort of its week: it lies in the week's first hour."""
    return slot_at - week_of(slot_at) < _STARTS_WITHIN
