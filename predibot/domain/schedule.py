"""Schedules: the instants at which a recipe is played, and those that are due; pure, so that any clock can be tried."""

import calendar
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from predibot.domain.clock import format_instant, format_length
from predibot.domain.decision import seeded_random

SlotStatus = Literal["running", "done", "partly", "failed", "missed"]
SLOT_STATUSES: tuple[SlotStatus, ...] = get_args(SlotStatus)
"""`partly`: some decisions failed; `failed`: none is recorded; `missed`: the service did not run."""
CATCH_UP = timedelta(hours=6)
TRACK_EVERY = timedelta(hours=4)
MOST_INSTANTS = 10_000
"""The most decisions of a replay."""
_MINUTE, _DAY = timedelta(minutes=1), timedelta(days=1)
_LONGEST_WAIT = 41 * 366 * _DAY
"""Two 29ths of February on one weekday can be so far apart, over a century without one."""
_PART = re.compile(
    r"(?:(?P<all>\*)|(?P<first>[0-9]{1,2}|[a-z]{3})(?:-(?P<last>[0-9]{1,2}|[a-z]{3}))?)(?:/(?P<step>[0-9]{1,2}))?"
)
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name}
_WEEKDAYS = {name: number for number, name in enumerate(("sun", "mon", "tue", "wed", "thu", "fri", "sat"))}
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of the month", 1, 31, {}),
    ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 7, _WEEKDAYS),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields of cron: minute, hour, day of the month, month, day of the week.

    As in Vixie's cron, days 0 and 7 are Sunday, and where both kinds of days are restricted, either will do.

    Examples:
        >>> Cron.of("5 12 * * mon,wed,fri").on(date(2026, 11, 23))
        (datetime.datetime(2026, 11, 23, 12, 5),)
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """Sunday is 0."""
    is_either_day: bool

    @classmethod
    def of(cls, text: str) -> "Cron":
        """Return the fields of a text; raise `ValueError` if they are not five, or not valid."""
        words = text.lower().split()
        if len(words) != len(_FIELDS):
            raise ValueError(
                f"{text[:60]!r} has {len(words)} fields; write five: minute, hour, day of the month, month, "
                "day of the week, such as '5 12 * * mon-fri'"
            )
        minutes, hours, days, months, weekdays = (
            _numbers(word, *field) for word, field in zip(words, _FIELDS, strict=True)
        )
        # 29 February is a day of some year, here of 2000.
        if words[4][0] == "*" and not any(
            day <= calendar.monthrange(2000, month)[1] for day in days for month in months
        ):
            raise ValueError(f"{text[:60]!r} names a day that no year has; write another day or month")
        return cls(
            text,
            tuple(sorted(minutes)),
            tuple(sorted(hours)),
            days,
            months,
            frozenset(number % 7 for number in weekdays),
            is_either_day=words[2][0] != "*" and words[4][0] != "*",
        )

    @classmethod
    def daily(cls, text: str) -> "Cron":
        """Return the fields that name a time of every day, such as `12:05`; raise `ValueError` if it is no time."""
        found = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])", text)
        if found is None:
            raise ValueError(f"{text[:40]!r} is no time of a day; write one such as '12:05'")
        return cls.of(f"{int(found[2])} {int(found[1])} * * *")

    def on(self, day: date) -> tuple[datetime, ...]:
        """Return the minutes of a day on a clock of the wall, without a zone, in order."""
        by_month, by_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        fits = (by_month or by_week) if self.is_either_day else (by_month and by_week)
        if day.month not in self.months or not fits:
            return ()
        return tuple(datetime.combine(day, time(hour, minute)) for hour in self.hours for minute in self.minutes)


def _numbers(word: str, name: str, least: int, most: int, names: dict[str, int]) -> frozenset[int]:
    """Return what a field of cron names: numbers, names, ranges, steps, with commas."""
    numbers: set[int] = set()
    for part in word.split(","):
        found = _PART.fullmatch(part)
        said = [found[key] for key in ("first", "last") if found[key]] if found else []
        ends = [int(each) if each.isdigit() else names.get(each, -1) for each in said]
        if found and found["all"]:
            ends = [least, most]
        elif found and found["step"] and len(ends) == 1:
            ends.append(most)
        elif said[1:] == ["sun"] and ends[0]:
            ends[1] = most
        step = int(found["step"] or 1) if found else 0
        if not step or not least <= ends[0] <= ends[-1] <= most:
            wanted = f"{least} to {most}" + (f" or {', '.join(names)}" if names else "")
            raise ValueError(f"{part[:20]!r} is no {name}; write * or numbers from {wanted}, such as {least}-{most}/2")
        numbers.update(range(ends[0], ends[-1] + 1, step))
    return frozenset(numbers)


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a recipe is played. A slot is the instant that the schedule names, in UTC.

    Of a local time that a clock shows twice the first is meant; one that it leaves out moves to the next valid minute.
    """

    crons: tuple[Cron, ...]
    """An instant that several name is one slot."""
    zone: ZoneInfo
    jitter: timedelta = timedelta(0)
    """A slot begins later by up to this, by a draw of its own."""
    catch_up: timedelta = CATCH_UP
    """A missed slot is still played so long after it."""
    deadline: timedelta = CATCH_UP
    """A decision made so long after its slot is not scored."""
    track_every: timedelta | None = TRACK_EVERY
    """Between slots; None tracks only with slots."""

    def __post_init__(self) -> None:
        """Refuse a jitter that can make slots too old before they begin."""
        if self.jitter >= self.catch_up:
            raise ValueError("it must be shorter than catch_up, or a run would be too late before it begins")

    def slots(self, after: datetime, until: datetime) -> Iterator[datetime]:
        """Yield the slots after an instant up to another, that one included, in order."""
        # A zone is at most a day off UTC, and a gap of a clock at most a day long.
        day, last, found = after.astimezone(UTC).date() - 2 * _DAY, until.astimezone(UTC).date() + 2 * _DAY, after
        while day <= last:
            # In the night of a gap several minutes become one, maybe one of the next day.
            for slot in sorted({self._instant(local) for cron in self.crons for local in cron.on(day)}):
                if found < slot <= until:
                    found = slot
                    yield slot
            day += _DAY

    def next_slot(self, after: datetime) -> datetime:
        """Return the first slot after an instant."""
        return next(self.slots(after, after + _LONGEST_WAIT))

    def begins_at(self, slot: datetime, seed: str) -> datetime:
        """Return when a slot begins to be played: the slot and its draw of the jitter."""
        return slot + self.jitter * seeded_random(seed, "jitter", slot.isoformat()).random()

    def _instant(self, local: datetime) -> datetime:
        """Return the UTC instant when the clock of the zone first shows a minute, or skips it."""
        instant = local.replace(tzinfo=self.zone).astimezone(UTC)
        if instant.astimezone(self.zone).replace(tzinfo=None) == local:
            return instant
        # The clock leaves it out: find when it was set forward, between what the two offsets make of it.
        early, late = local.replace(tzinfo=self.zone, fold=1).astimezone(UTC), instant
        offset = early.astimezone(self.zone).utcoffset()
        while late - early > _MINUTE:
            middle = early + (late - early) // _MINUTE // 2 * _MINUTE
            is_before = middle.astimezone(self.zone).utcoffset() == offset
            early, late = (middle, late) if is_before else (early, middle)
        return late


@dataclass(frozen=True, slots=True)
class DueSlots:
    """The slots to play or to give up at an instant."""

    play: tuple[datetime, ...]
    """The oldest first: a later one waits for it."""
    missed: tuple[datetime, ...]
    """Too old to be played."""
    next_at: datetime


def due_slots(
    schedule: Schedule, since: datetime, ended: Collection[datetime], now: datetime, *, seed: str = ""
) -> DueSlots:
    """Return which slots are due, from the schedule, the rows and the clock alone.

    Only slots after `since`, when the schedule was first seen, count. Slots that `ended` are not played again, even if
    they are after `now` because the clock was set back. `seed` is that of the jitter.
    """
    open_slots = [slot for slot in schedule.slots(since, now) if slot not in ended]
    missed = tuple(slot for slot in open_slots if now - slot > schedule.catch_up)
    waiting = open_slots[len(missed) :]
    # A later slot waits for an earlier one, whatever its own draw.
    play = tuple(takewhile(lambda slot: schedule.begins_at(slot, seed) <= now, waiting))
    following = [*waiting, schedule.next_slot(now)][len(play)]
    return DueSlots(play, missed, schedule.begins_at(following, seed))


@dataclass(frozen=True, slots=True)
class Timetable:
    """The instants at which a replay decides: from the first on one every so long, up to the last that is allowed.

    Examples:
        >>> from predibot.domain.clock import parse_instant, parse_length
        >>> weekly = Timetable(parse_instant("2025-09-01"), parse_instant("2025-09-20"), parse_length("7d"))
        >>> [f"{instant:%d}" for instant in weekly]
        ['01', '08', '15']
    """

    first: datetime
    last: datetime
    """None is later; the last one may be earlier."""
    every: timedelta
    skipped: frozenset[datetime] = frozenset()
    """Instants without decisions, such as days without trading."""

    def __post_init__(self) -> None:
        """Refuse a timetable that ends before it begins, has no step, or has more than 10,000 instants."""
        if self.every <= timedelta(0):
            raise ValueError("the time between two instants is zero or less; write a length like '1d'")
        if self.last < self.first:
            ends, begins = format_instant(self.last), format_instant(self.first)
            raise ValueError(f"it would end at {ends}, before it begins at {begins}; swap the two")
        if len(self) > MOST_INSTANTS:
            raise ValueError(
                f"every {format_length(self.every)} makes {len(self):,} instants, above {MOST_INSTANTS:,}; "
                "ask for fewer, or in parts"
            )

    def __len__(self) -> int:
        """Return how many instants there are."""
        return (self.last - self.first) // self.every + 1 - len(self.skipped)

    def __iter__(self) -> Iterator[datetime]:
        """Yield the instants, the earliest first."""
        instants = (self.first + number * self.every for number in range(len(self) + len(self.skipped)))
        return (instant for instant in instants if instant not in self.skipped)
