"""The world: a seeded population of events with prices, volumes, outcomes and closings of markets, at any minute."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import cache
from math import ceil
from typing import Self

import numpy as np
from numpy.typing import NDArray

from predibot.sandbox.world.calendar import (
    MINUTES_A_DAY,
    MINUTES_AN_HOUR,
    SANDBOX_BEGINS_AT,
    SANDBOX_ENDS_AT,
    minute_of,
)
from predibot.sandbox.world.draws import Draws
from predibot.sandbox.world.ids import MAX_EVENTS, Names
from predibot.sandbox.world.plan import EventPlan, MarketPlan, plan_event
from predibot.sandbox.world.quotes import (
    LONGEST_TRADE_LAG_HOURS,
    BookQuote,
    Walk,
    chances,
    insider_chances,
    is_yes,
    last_quotes,
    quote_after_decision,
    quotes_of,
    walk_of,
)

VOID_SHARE = 0.04
"""The share of events whose markets pay one half."""
_DISPUTED_SHARE = 0.05
LONGEST_CLOSING_MINUTES = 12 * MINUTES_A_DAY


class Stage(StrEnum):
    """A stage of a market's life."""

    OPEN = "open"
    PROPOSED = "proposed"
    """Its outcome is known and proposed; it still trades."""
    STOPPED = "stopped"
    """It trades no more and is not paid yet."""
    SETTLED = "settled"


@dataclass(frozen=True, slots=True)
class Closing:
    """The minutes of a market's last stages, and whether it is void, which pays one half."""

    decided_minute: int
    stopped_minute: int
    settled_minute: int
    is_disputed: bool
    is_void: bool

    def stage(self, minute: int) -> Stage:
        """Return the stage at a minute."""
        if minute < self.decided_minute:
            return Stage.OPEN
        if minute < self.stopped_minute:
            return Stage.PROPOSED
        return Stage.STOPPED if minute < self.settled_minute else Stage.SETTLED


def closings_of(draws: Draws, plan: EventPlan) -> tuple[Closing, ...]:
    """Return how each market ends; known at the minute its outcome is. Exclusive markets are void together, others
    alone.
    """
    decided = np.array([[market.decided_hour * MINUTES_AN_HOUR] for market in plan.markets])
    rows = np.arange(len(plan.markets))[:, np.newaxis]
    uniforms = draws.uniform("closing", event=plan.number, item=rows * 8 + np.arange(6), known_at_minute=decided)
    if plan.is_exclusive:
        uniforms[:, 5] = uniforms[0, 5]
    found = []
    for (decided_minute,), row in zip(decided.tolist(), uniforms.tolist(), strict=True):
        lateness, stop, settle, dispute, late_settle, void = row
        is_disputed = dispute < _DISPUTED_SHARE
        stopped_minute = decided_minute + (0 if lateness < 0.5 else int(60 + 240 * stop))
        wait_minutes = (3 + 3 * late_settle) * MINUTES_A_DAY if is_disputed else (2 + 28 * settle) * MINUTES_AN_HOUR
        settled_minute = stopped_minute + int(wait_minutes)
        found.append(Closing(decided_minute, stopped_minute, settled_minute, is_disputed, void < VOID_SHARE))
    return tuple(found)


_WINDOWS_DAYS = (1, 7, 30, 365)
_DAYS_A_MARKET = 100_000


@dataclass(frozen=True, slots=True)
class Volume:
    """Dollars traded in the windows that end now; a longer window holds at least as much."""

    day_usd: float
    week_usd: float
    month_usd: float
    year_usd: float
    total_usd: float


Floats = NDArray[np.float64]


def daily_usd_of(draws: Draws, plan: EventPlan, *, until_minute: int) -> Floats:
    """Return the dollars that markets trade on each day of life, shape (markets, days), known as each day begins."""
    days = np.arange(1 + max(0, until_minute - plan.born_minute) // MINUTES_A_DAY)
    rows = np.arange(len(plan.markets))[:, np.newaxis]
    noise = draws.normal(
        "turnover",
        event=plan.number,
        item=rows * _DAYS_A_MARKET + days,
        known_at_minute=np.where(days == 0, plan.known_at_minute, plan.born_minute + days * MINUTES_A_DAY),
    )
    shares = np.array([[market.share] for market in plan.markets])
    return plan.daily_volume_usd * shares * np.exp(0.7 * noise)


def volumes_at(
    plan: EventPlan, daily_usd: Floats, *, minute: int, stopped_minutes: NDArray[np.int64]
) -> tuple[list[Volume], Volume]:
    """Return the volume of each market and their sum at a minute; a stopped market trades no more."""
    starts = np.array([minute - days * MINUTES_A_DAY for days in _WINDOWS_DAYS] + [plan.born_minute])
    traded_usd = _usd_before(plan, daily_usd, np.minimum(minute, stopped_minutes)[:, np.newaxis])
    earlier_usd = _usd_before(plan, daily_usd, np.minimum(starts, stopped_minutes[:, np.newaxis]))
    windows = np.round(traded_usd - earlier_usd, 6)
    return [Volume(*row) for row in windows.tolist()], Volume(*np.round(windows.sum(axis=0), 6).tolist())


def _usd_before(plan: EventPlan, daily_usd: Floats, minutes: NDArray[np.int64]) -> Floats:
    """Return the dollars traded before some minutes, shape (markets, instants); steady within a day."""
    age_minutes = np.maximum(minutes - plan.born_minute, 0)
    day = np.minimum(age_minutes // MINUTES_A_DAY, daily_usd.shape[1] - 1)
    part = age_minutes / MINUTES_A_DAY - day
    rows = np.arange(len(daily_usd))[:, np.newaxis]
    earlier_usd = np.concatenate((np.zeros((len(daily_usd), 1)), np.cumsum(daily_usd, axis=1)), axis=1)
    traded: Floats = earlier_usd[rows, day] + daily_usd[rows, day] * part
    return traded


_LIFE_BANDS = ((0.60, 2.0, 14.0), (0.28, 14.0, 45.0), (0.12, 45.0, 150.0))
"""(share of the events, fewest days, most days); uniform within a band."""
_LONGEST_LIFE_DAYS = 150
_MEAN_LIFE_DAYS = sum(share * (least + most) / 2 for share, least, most in _LIFE_BANDS)


def births_of(draws: Draws, *, open_events: int) -> NDArray[np.int64]:
    """Return when each event becomes known to the world, when it is born, and its hours of life, shape (3, events). An
    event's number is its column.

    Births are spaced so that about `open_events` events are open at any instant of the calendar. The first is one
    longest life before the calendar begins, so that their number is steady from the first day.
    """
    spacing_minutes = _MEAN_LIFE_DAYS * MINUTES_A_DAY / open_events
    first_minute = minute_of(SANDBOX_BEGINS_AT) - _LONGEST_LIFE_DAYS * MINUTES_A_DAY
    count = ceil((minute_of(SANDBOX_ENDS_AT) - first_minute) / spacing_minutes)
    numbers = np.arange(count)
    known_at = first_minute + np.floor(numbers * spacing_minutes).astype(np.int64)
    late, band, length = (
        draws.uniform("roster", event=numbers, item=item, known_at_minute=known_at) for item in range(3)
    )
    upper_shares = np.cumsum([share for share, _, _ in _LIFE_BANDS])
    chosen = np.minimum(np.searchsorted(upper_shares, band), len(_LIFE_BANDS) - 1)
    least = np.array([least for _, least, _ in _LIFE_BANDS])[chosen]
    most = np.array([most for _, _, most in _LIFE_BANDS])[chosen]
    born_at = known_at + np.floor(late * spacing_minutes).astype(np.int64)
    return np.array([known_at, born_at, np.floor((least + length * (most - least)) * 24).astype(np.int64)])


DEFAULT_OPEN_EVENTS = 60
CORRECTED_AFTER_MINUTES = 3 * MINUTES_A_DAY
"""How long the wrong winner of a disputed market of several outcomes stands."""
MARKETS_AN_EVENT = 4.1
"""Average markets of an open event, by which `markets=` is divided."""
NAMED_MARKETS_AN_EVENT = 2.0
"""The same where exclusive markets are one market."""


@dataclass(frozen=True, slots=True)
class MarketState:
    """A market at a minute."""

    plan: MarketPlan
    stage: Stage
    volume: Volume
    payout: float | None
    is_disputed: bool
    """Known once an outcome is proposed."""
    settled_minute: int | None

    @property
    def is_closed(self) -> bool:
        """Return whether trading has stopped."""
        return self.stage in {Stage.STOPPED, Stage.SETTLED}


@dataclass(frozen=True, slots=True)
class EventState:
    """An event at a minute."""

    plan: EventPlan
    minute: int
    volume: Volume
    markets: tuple[MarketState, ...]

    @property
    def is_closed(self) -> bool:
        """Return whether trading has stopped in every market."""
        return all(market.is_closed for market in self.markets)


class World:
    """A simulated venue: the same seed makes the same world, and every answer is as of a minute. The history of an
    event is computed on first use and kept.
    """

    def __init__(self, draws: Draws, births: NDArray[np.int64], *, named: bool = False) -> None:
        """Take the draws and the events' births; see `from_seed`."""
        self.draws = draws
        self.named = named
        self.known_at_minutes, self.born_at_minutes, self.life_hours = births
        self.names = Names(draws.seed)
        self.plan: Callable[[int], EventPlan] = cache(self._make_plan)
        """The plan of an event by its number; its public parts may be shown from its birth on."""
        # At a minute, only what is known by then may be read of these.
        self._closings: Callable[[int], tuple[Closing, ...]] = cache(self._make_closings)
        self._stopped_minutes: Callable[[int], NDArray[np.int64]] = cache(
            lambda number: np.array([closing.stopped_minute for closing in self._closings(number)])
        )
        # Computed late: lists of events need neither, and volumes need no walk.
        self._daily_usd: Callable[[int], Floats] = cache(
            lambda number: daily_usd_of(draws, self.plan(number), until_minute=int(self._stopped_minutes(number).max()))
        )
        self._walk: Callable[[int], Walk] = cache(lambda number: walk_of(draws, self.plan(number)))
        last_hours = -(-self.born_at_minutes // MINUTES_AN_HOUR) + self.life_hours
        self._last_minutes = last_hours * MINUTES_AN_HOUR + LONGEST_CLOSING_MINUTES

    @classmethod
    def from_seed(
        cls,
        seed: int,
        *,
        events: int | None = None,
        markets: int | None = None,
        named: bool = False,
        altered_after: datetime | None = None,
    ) -> Self:
        """Return the world of a seed, 0 or more, with about so many open `events` (60 by default) or `markets`.

        With `named`, exclusive markets are one market with an outcome each; all else stays the same. `altered_after` is
        for tests: draws that become known after this instant differ. Raises `ValueError` for an impossible number of
        events.
        """
        if events is None:
            events = (
                DEFAULT_OPEN_EVENTS
                if markets is None
                else ceil(markets / (NAMED_MARKETS_AN_EVENT if named else MARKETS_AN_EVENT))
            )
        if not 1 <= events <= 10_000:
            raise ValueError(f"a sandbox has 1 to 10,000 open events, got {events}")
        draws = Draws(seed, None if altered_after is None else minute_of(altered_after))
        births = births_of(draws, open_events=events)
        if (count := births.shape[1]) > MAX_EVENTS:
            raise ValueError(f"{events} open events make {count} in all, above {MAX_EVENTS}; ask for fewer")
        return cls(draws, births, named=named)

    def event_numbers(self, minute: int) -> list[int]:
        """Return the numbers of the events listed by a minute, oldest first."""
        last = min(minute, minute_of(SANDBOX_ENDS_AT))
        return [int(number) for number in np.flatnonzero(self.born_at_minutes <= last)]

    def maybe_open_numbers(self, minute: int) -> list[int]:
        """Return the events listed by a minute that may still trade, oldest first."""
        last = min(minute, minute_of(SANDBOX_ENDS_AT))
        found = (self.born_at_minutes <= last) & (self._last_minutes >= minute)
        return [int(number) for number in np.flatnonzero(found)]

    def is_born(self, number: int, minute: int) -> bool:
        """Return whether the event is listed by a minute."""
        last = min(minute, minute_of(SANDBOX_ENDS_AT))
        return 0 <= number < len(self.born_at_minutes) and bool(self.born_at_minutes[number] <= last)

    def is_closed(self, number: int, minute: int) -> bool:
        """Return whether trading has stopped in every market; faster than `event`."""
        return bool(self._stopped_minutes(number).max() <= minute)

    def event(self, number: int, minute: int) -> EventState:
        """Return a listed event at a minute."""
        plan, stopped_minutes = self.plan(number), self._stopped_minutes(number)
        volumes, total = volumes_at(plan, self._daily_usd(number), minute=minute, stopped_minutes=stopped_minutes)
        markets = tuple(self._market(plan, index, minute=minute, volume=volume) for index, volume in enumerate(volumes))
        return EventState(plan=plan, minute=minute, volume=total, markets=markets)

    def quotes(self, number: int, minute: int) -> list[BookQuote]:
        """Return the quote of each market of a listed event at a minute."""
        plan = self.plan(number)
        hour = max(minute // MINUTES_AN_HOUR, plan.opens_hour) - plan.opens_hour
        hours = np.arange(max(0, hour - LONGEST_TRADE_LAG_HOURS), hour + 1)
        quotes = last_quotes(quotes_of(plan.markets, chances(plan, plan.markets, self._walk(plan.number), hours)))
        return [
            quote
            if minute < closing.decided_minute
            else quote_after_decision(market, quote, self._payout(number, market.index))
            for market, closing, quote in zip(plan.markets, self._closings(number), quotes, strict=True)
        ]

    def is_named(self, plan: EventPlan) -> bool:
        """Return whether the event is one market, whose outcomes are the plan's markets."""
        return self.named and plan.is_exclusive

    def payouts(self, number: int, minute: int) -> tuple[float, ...] | None:
        """Return what the outcomes of a named event paid, None until it is settled. After a dispute the wrong one wins
        first.
        """
        closings = self._closings(number)
        closing, count = closings[0], len(closings)
        if minute < closing.settled_minute:
            return None
        if closing.is_void:
            return (1.0 / count,) * count
        paid = tuple(self._payout(number, index) for index in range(count))
        is_wrong = closing.is_disputed and minute < closing.settled_minute + CORRECTED_AFTER_MINUTES
        return (*paid[1:], paid[0]) if is_wrong else paid

    def insider_chances(self, number: int, minute: int) -> list[float]:
        """Return each market's chance of YES as insiders know it at a minute; the event is listed."""
        plan = self.plan(number)
        hour = max(minute // MINUTES_AN_HOUR, plan.opens_hour) - plan.opens_hour
        found: list[float] = insider_chances(plan, self._walk(plan.number), hour).tolist()
        return found

    def outcome(self, number: int, index: int, minute: int) -> float | None:
        """Return what a market will pay, 0, 0.5 or 1; None until it is decided."""
        return None if minute < self._closings(number)[index].decided_minute else self._payout(number, index)

    def price_history(
        self, number: int, index: int, minute: int, *, since_hour: int = 0, until_hour: int | None = None
    ) -> tuple[int, list[float]]:
        """Return the first hour of a market's price history and its hourly prices, as of a minute."""
        plan, closing = self.plan(number), self._closings(number)[index]
        market = plan.markets[index]
        first_hour = max(since_hour, plan.opens_hour)
        last_hour = min(minute, closing.stopped_minute) // MINUTES_AN_HOUR
        if until_hour is not None:
            last_hour = min(last_hour, until_hour)
        if last_hour < first_hour:
            return first_hour, []
        hours = np.arange(max(first_hour - LONGEST_TRADE_LAG_HOURS, plan.opens_hour), last_hour + 1) - plan.opens_hour
        quotes = quotes_of([market], chances(plan, [market], self._walk(plan.number), hours))
        prices: list[float] = quotes.shown[0, first_hour - last_hour - 1 :].tolist()
        if last_hour >= market.decided_hour and not closing.is_void:
            undecided = max(market.decided_hour - first_hour, 0)
            decided = quote_after_decision(market, last_quotes(quotes)[0], self._payout(number, index)).shown
            prices[undecided:] = [decided] * (len(prices) - undecided)
        return first_hour, prices

    def _make_plan(self, number: int) -> EventPlan:
        return plan_event(
            self.draws,
            number=number,
            known_at_minute=int(self.known_at_minutes[number]),
            born_minute=int(self.born_at_minutes[number]),
            life_hours=int(self.life_hours[number]),
        )

    def _make_closings(self, number: int) -> tuple[Closing, ...]:
        closings = closings_of(self.draws, self.plan(number))
        # Outcomes of one market end together.
        return closings[:1] * len(closings) if self.is_named(self.plan(number)) else closings

    def _payout(self, number: int, index: int) -> float:
        if self._closings(number)[index].is_void:
            return 0.5
        plan = self.plan(number)
        return float(is_yes(plan, plan.markets[index], self._walk(number)))

    def _market(self, plan: EventPlan, index: int, *, minute: int, volume: Volume) -> MarketState:
        closing = self._closings(plan.number)[index]
        stage = closing.stage(minute)
        is_settled = stage is Stage.SETTLED
        return MarketState(
            plan=plan.markets[index],
            stage=stage,
            volume=volume,
            payout=self._payout(plan.number, index) if is_settled else None,
            is_disputed=stage is not Stage.OPEN and closing.is_disputed,
            settled_minute=closing.settled_minute if is_settled else None,
        )
