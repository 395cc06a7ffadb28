"""Price histories of the CLOB: windows put together, the appended point of now dropped."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.price import Instrument, PricePath
from predibot.errors import UsageError, VenueChanged, VenueUnavailable
from predibot.venues.polymarket.price_history import WINDOW, windows
from tests.venues.payloads import NOW, venue_of

TOKEN = Instrument("polymarket", "binary_outcome", "123")


def seconds(instant: datetime) -> int:
    """Return an instant as venues write it."""
    return int(instant.timestamp())


def clob_of(
    points: Sequence[tuple[datetime, float]], *, settled: bool = False, now: datetime = NOW
) -> Callable[[httpx.Request], object]:
    """Return a CLOB with its habits: bounds of 15 days, a point of now appended, settled markets coarse."""

    def answer(request: httpx.Request) -> object:
        start, end, fidelity = (int(request.url.params[name]) for name in ("startTs", "endTs", "fidelity"))
        if end - start > 15 * 86_400:
            return httpx.Response(400, json={"error": "'startTs' and 'endTs' interval is too long"})
        served = [] if settled and fidelity < 720 else points
        history = [{"t": seconds(at), "p": price} for at, price in served if start <= seconds(at) <= end]
        return {"history": [*history, {"t": seconds(now), "p": 0.99}]}

    return answer


def hourly(count: int, *, before: datetime = NOW) -> list[tuple[datetime, float]]:
    """Return a price for each of the last hours, oldest first."""
    newest = before.replace(minute=0)
    return [(newest - timedelta(hours=hours), 0.25 + hours % 7 / 100) for hours in reversed(range(count))]


def path_of(answer: Callable[[httpx.Request], object], start: datetime, until: datetime) -> PricePath:
    """Return the path of a token."""
    return venue_of(answer)[0].price_path(TOKEN, start=start, until=until)


def test_a_long_range_is_read_in_windows_and_put_together() -> None:
    points = hourly(24 * 40)
    venue, asked = venue_of(clob_of(points))
    path = venue.price_path(TOKEN, start=NOW - timedelta(days=41), until=NOW)
    assert [(point.at, point.price) for point in path.points] == points
    assert len(asked.requests) == 3
    assert {request.url.params["market"] for request in asked.requests} == {"123"}


@pytest.mark.parametrize("until", [NOW - timedelta(days=5), NOW - timedelta(minutes=2), NOW, NOW + timedelta(days=1)])
def test_the_appended_point_of_now_is_never_taken(until: datetime) -> None:
    path = path_of(clob_of(hourly(240)), NOW - timedelta(days=9), until)
    assert path.points
    assert 0.99 not in {point.price for point in path.points}


def test_the_appended_point_is_no_history_so_a_settled_market_is_asked_in_steps_of_12_hours() -> None:
    points = [(NOW - timedelta(days=30) + timedelta(hours=12 * step), 0.5) for step in range(20)]
    venue, asked = venue_of(clob_of(points, settled=True))
    path = venue.price_path(TOKEN, start=NOW - timedelta(days=31), until=NOW)
    assert len(path.points) == 20
    assert [request.url.params["fidelity"] for request in asked.requests] == ["60"] * 3 + ["720"] * 3


def test_the_start_is_left_out_the_end_is_taken_and_of_two_points_at_one_time_the_last_counts() -> None:
    points = hourly(10)
    again = [(points[5][0], 0.9)]
    path = path_of(clob_of([*points, *again]), points[2][0], points[6][0])
    assert [(point.at, point.price) for point in path.points] == [*points[3:5], *again, points[6]]
    at = seconds(NOW) - 7_200
    history = {"history": [{"t": at, "p": 0.1}, {"t": str(at), "p": "0.2"}]}
    path = path_of(lambda request: history, NOW - timedelta(days=3), NOW)
    assert [point.price for point in path.points] == [0.2]


@pytest.mark.parametrize("until", [NOW - timedelta(days=2), NOW - timedelta(days=3)])
def test_an_empty_range_asks_nothing(until: datetime) -> None:
    venue, asked = venue_of(clob_of([]))
    assert venue.price_path(TOKEN, start=NOW - timedelta(days=2), until=until).points == ()
    assert asked.requests == []


def test_a_market_without_a_token_has_no_prices_and_asks_nothing() -> None:
    venue, asked = venue_of(clob_of(hourly(5)))
    instrument = Instrument("polymarket", "binary_outcome", "123:YES")
    assert venue.price_path(instrument, start=NOW - timedelta(days=1), until=NOW) == PricePath(instrument)
    assert asked.requests == []
    with pytest.raises(UsageError, match="not a token id"):
        venue.raw_history("123:YES", NOW - timedelta(days=1), NOW)
    # One that the CLOB does not know yet has none either.
    assert path_of(lambda request: httpx.Response(404), NOW - timedelta(days=1), NOW).points == ()


@pytest.mark.parametrize(
    "answer",
    [
        {"error": "no"},
        [],
        {"history": {}},
        {"history": [[1, 2]]},
        {"history": [{"t": 1_770_000_000, "p": 1.2}]},
        {"history": [{"t": 1_770_000_000, "p": None}]},
        {"history": [{"t": 1_770_000_000_000, "p": 0.5}]},
        {"history": [{"p": 0.5}]},
    ],
)
def test_a_history_of_another_shape_is_a_changed_venue(answer: object) -> None:
    with pytest.raises(VenueChanged):
        path_of(lambda request: httpx.Response(200, json=answer), NOW - timedelta(days=1), NOW)


@pytest.mark.parametrize("odd", [None, [1, 2], {"p": 0.5}, {"t": None, "p": 0.5}, {"t": 1_771_000_000, "p": "NaN"}])
def test_a_point_that_cannot_be_read_costs_itself_only(odd: object) -> None:
    points = hourly(3)
    history = [odd, *({"t": seconds(at), "p": price} for at, price in points), odd]
    path = path_of(lambda request: {"history": history}, NOW - timedelta(days=1), NOW)
    assert [(point.at, point.price) for point in path.points] == points


def test_a_window_that_cannot_be_read_leaves_no_half_history() -> None:
    clob = clob_of(hourly(24 * 40))
    broken_from = seconds(NOW - timedelta(days=20))

    def answer(request: httpx.Request) -> object:
        return httpx.Response(503) if int(request.url.params["startTs"]) > broken_from else clob(request)

    with pytest.raises(VenueUnavailable):
        path_of(answer, NOW - timedelta(days=41), NOW)


@given(start=st.integers(0, 10**9), length=st.integers(1, 10**8))
def test_windows_cover_a_range_without_gaps_and_none_is_too_long(start: int, length: int) -> None:
    begin = datetime.fromtimestamp(start, UTC)
    bounds = list(windows(begin, begin + timedelta(seconds=length)))
    assert (bounds[0][0], bounds[-1][1]) == (start, start + length)
    assert all(earlier[1] == later[0] for earlier, later in pairwise(bounds))
    assert all(0 < to - since <= WINDOW.total_seconds() for since, to in bounds)
