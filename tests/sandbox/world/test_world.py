"""World: the laws its events, prices, volumes and endings keep."""

from collections import Counter

import numpy as np
import pytest

from predibot.sandbox.world.calendar import (
    SANDBOX_BEGINS_AT,
    SANDBOX_ENDS_AT,
    SANDBOX_OPENS_AT,
    date_text,
    minute_of,
)
from predibot.sandbox.world.plan import EventPlan
from predibot.sandbox.world.world import EventState, Stage, World
from tests.sandbox.calibration import assert_calibrated

OPENS = minute_of(SANDBOX_OPENS_AT)
HOUR, DAY = 60, 1_440
LATE = OPENS + 400 * DAY
"""By now everything is settled."""


@pytest.fixture(scope="module")
def settled(large: World) -> list[EventState]:
    return [large.event(number, LATE) for number in large.event_numbers(LATE)]


def open_events(world: World, minute: int) -> list[EventState]:
    events = [world.event(number, minute) for number in world.maybe_open_numbers(minute)]
    return [event for event in events if not event.is_closed]


def prices_before(world: World, plan: EventPlan, index: int, hours: int) -> float | None:
    """Return the shown price so many hours before a market is decided, None if it was not listed then."""
    minute = (plan.markets[index].decided_hour - hours) * HOUR
    return world.quotes(plan.number, minute)[index].shown if minute // HOUR > plan.opens_hour else None


@pytest.mark.parametrize("hours", [1, 24, 240])
def test_prices_are_calibrated_at_any_distance_from_the_end(
    large: World, settled: list[EventState], hours: int
) -> None:
    seen = [
        (price, event.markets[index].payout)
        for event in settled
        # One market of each event, so that they are independent of each other.
        for index in [event.plan.number % len(event.markets)]
        if event.markets[index].payout != 0.5
        if (price := prices_before(large, event.plan, index, hours)) is not None
    ]
    prices, outcomes = np.array(seen, dtype=float).T
    assert len(prices) > 400
    assert_calibrated(prices, outcomes, [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])


def test_prices_are_a_martingale_and_move_nowhere_on_average(large: World, settled: list[EventState]) -> None:
    moves, starts = [], []
    for event in settled:
        start, end = (prices_before(large, event.plan, 0, hours) for hours in (72, 24))
        if start is not None and end is not None:
            moves.append(end - start)
            starts.append(start)
    error = np.std(moves) / np.sqrt(len(moves))
    assert abs(np.mean(moves)) < 4 * error
    assert abs(np.corrcoef(starts, moves)[0, 1]) < 4 / np.sqrt(len(moves))
    # Some hours bring news, and most bring little.
    event = max(open_events(large, OPENS), key=lambda event: OPENS - event.plan.born_minute)
    steps = np.abs(np.diff(large.price_history(event.plan.number, 0, OPENS)[1]))
    assert steps.max() > 8 * steps.mean()


def test_the_prices_of_exclusive_markets_add_up_to_about_one(large: World) -> None:
    exclusive = [event for event in open_events(large, OPENS) if event.plan.is_exclusive]
    assert len(exclusive) > 10
    for event in exclusive:
        total = sum(quote.shown for quote in large.quotes(event.plan.number, OPENS))
        assert total == pytest.approx(1.0, abs=0.02)


def test_each_market_of_a_series_is_named_after_the_date_of_its_own_end(settled: list[EventState]) -> None:
    series = [event.plan for event in settled if event.plan.wording.title.endswith("on...?")]
    dates = [
        (name, date_text(market.end_minute))
        for plan in series
        for name, market in zip(plan.wording.names, plan.markets, strict=True)
        # An end before its event was known is moved to that instant, and the question is not.
        if market.end_minute is not None and market.end_minute > plan.born_minute
    ]
    assert len(dates) > 100
    assert all(name == date for name, date in dates)
    # Some say an end that is not the true one.
    assert any(market.end_minute != market.decided_hour * HOUR for plan in series for market in plan.markets)


def test_exactly_one_of_the_exclusive_markets_pays_or_all_are_void(settled: list[EventState]) -> None:
    exclusive = [event for event in settled if event.plan.is_exclusive]
    for event in exclusive:
        payouts = sorted(market.payout or 0.0 for market in event.markets)
        assert payouts == [0.0] * (len(payouts) - 1) + [1.0] or set(payouts) == {0.5}


def test_a_higher_rung_of_a_ladder_is_never_dearer(large: World) -> None:
    ladders = [event for event in open_events(large, OPENS) if "___" in event.plan.wording.title]
    assert ladders
    for event in ladders:
        lows = [market.plan.low for market in event.markets]
        assert lows == sorted(lows)
        payouts = [market.payout for market in large.event(event.plan.number, LATE).markets if market.payout != 0.5]
        assert payouts == sorted(payouts, key=lambda payout: -(payout or 0.0))


def test_about_one_market_in_twenty_five_is_void(settled: list[EventState]) -> None:
    payouts = [market.payout for event in settled for market in event.markets]
    assert None not in payouts
    assert 0.02 < payouts.count(0.5) / len(payouts) < 0.06


def test_volumes_fit_together_and_grow_by_what_was_traded(large: World) -> None:
    for event in open_events(large, OPENS)[:40]:
        for volume in [event.volume, *(market.volume for market in event.markets)]:
            windows = [volume.day_usd, volume.week_usd, volume.month_usd, volume.year_usd, volume.total_usd]
            assert windows == sorted(windows)
        assert event.volume.total_usd == pytest.approx(sum(market.volume.total_usd for market in event.markets))
        tomorrow = large.event(event.plan.number, OPENS + DAY)
        grown = tomorrow.volume.total_usd - event.volume.total_usd
        assert grown == pytest.approx(tomorrow.volume.day_usd, abs=1e-4)


def test_volume_is_heavy_tailed_over_events(large: World) -> None:
    volumes = np.sort([event.volume.week_usd for event in open_events(large, OPENS)])[::-1]
    assert volumes[: len(volumes) // 10].sum() > 0.4 * volumes.sum()
    assert np.median(volumes) > 1_000


def test_a_market_is_open_then_closed_and_only_then_settled(settled: list[EventState], large: World) -> None:
    order = [Stage.OPEN, Stage.PROPOSED, Stage.STOPPED, Stage.SETTLED]
    seen: Counter[Stage] = Counter()
    for event in settled[:30]:
        decided = event.markets[0].plan.decided_hour * HOUR
        events = [large.event(event.plan.number, decided + step * HOUR) for step in range(-2, 200)]
        assert all(large.is_closed(each.plan.number, each.minute) is each.is_closed for each in events)
        states = [each.markets[0] for each in events]
        places = [order.index(state.stage) for state in states]
        assert places == sorted(places)
        assert (places[0], places[-1]) == (0, 3)
        assert all((state.payout is not None) == (state.stage is Stage.SETTLED) for state in states)
        seen.update({state.stage for state in states})
    assert all(seen[stage] > 5 for stage in order)
    # A market can close while its siblings trade on.
    assert any(market.is_closed for event in open_events(large, OPENS) for market in event.markets)


def test_the_number_of_open_events_is_steady_over_the_whole_calendar() -> None:
    world = World.from_seed(5)
    before, after = SANDBOX_OPENS_AT - SANDBOX_BEGINS_AT, SANDBOX_ENDS_AT - SANDBOX_OPENS_AT
    assert (before.days, after.days) == (60, 120)
    begins, ends = minute_of(SANDBOX_BEGINS_AT), minute_of(SANDBOX_ENDS_AT)
    counts = [len(open_events(world, minute)) for minute in range(begins, ends, 15 * DAY)]
    assert 45 <= min(counts) <= max(counts) <= 80
    assert world.event_numbers(ends + 30 * DAY) == world.event_numbers(ends)


def test_a_number_of_markets_can_be_asked_for_and_a_world_without_any_is_refused() -> None:
    world = World.from_seed(3, markets=400)
    count = sum(not market.is_closed for event in open_events(world, OPENS) for market in event.markets)
    assert 280 < count < 520
    with pytest.raises(ValueError, match="sandbox"):
        World.from_seed(1, events=0)


def test_there_is_something_to_exclude_and_something_beyond_sixty_days(large: World) -> None:
    events = open_events(large, OPENS)
    crypto = sum(event.plan.wording.category == "crypto" for event in events)
    beyond = sum((event.plan.end_minute or 0) > OPENS + 60 * DAY for event in events)
    assert 0.03 < crypto / len(events) < 0.2
    assert beyond / len(events) > 0.05
    assert any(event.plan.end_minute is None for event in events)
    assert any((event.plan.end_minute or OPENS) < OPENS for event in events)


def test_some_books_are_wide_and_some_have_one_side(large: World) -> None:
    quotes = [quote for event in open_events(large, OPENS) for quote in large.quotes(event.plan.number, OPENS)]
    both = [quote for quote in quotes if quote.bid is not None and quote.ask is not None]
    wide = sum((quote.ask or 0.0) - (quote.bid or 0.0) > 0.10 for quote in both)
    assert all(0.0 < (quote.bid or 0.0) < (quote.ask or 0.0) < 1.0 for quote in both)
    assert 0.01 < wide / len(quotes) < 0.2
    assert 0.01 < 1 - len(both) / len(quotes) < 0.5


def test_the_same_seed_gives_the_same_world_whatever_is_asked_first() -> None:
    one, other = World.from_seed(9), World.from_seed(9)
    numbers = one.maybe_open_numbers(OPENS)[:20]
    late_first = {number: (other.event(number, OPENS + DAY), other.quotes(number, OPENS)) for number in numbers[::-1]}
    assert [one.quotes(number, OPENS) for number in numbers] == [late_first[number][1] for number in numbers]
    assert one.event(numbers[0], OPENS) == other.event(numbers[0], OPENS)


def test_a_price_once_published_is_never_rewritten(large: World, settled: list[EventState]) -> None:
    for event in settled[:20]:
        minute = event.markets[0].plan.decided_hour * HOUR - 30
        for _ in range(12):
            _, before = large.price_history(event.plan.number, 0, minute)
            _, after = large.price_history(event.plan.number, 0, minute + 3 * HOUR)
            assert after[: len(before)] == before
            if large.event(event.plan.number, minute).markets[0].stage is Stage.OPEN:
                assert before[-1] == large.quotes(event.plan.number, minute)[0].shown
            minute += HOUR
