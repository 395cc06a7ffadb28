"""Fault: every misbehaviour of the sandbox, seen from the other end of the wire."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from predibot.sandbox.server.fault import FAULT_KINDS, Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World

Ask = Callable[..., httpx.Response]
KEYSET = "/gamma/events/keyset"
PARAMS = {"closed": "false", "limit": 10, "order": "volume1wk", "ascending": "false"}


@contextmanager
def misbehaving(world: World, fault: Fault | None) -> Iterator[Ask]:
    with SandboxServer(world, now=SANDBOX_OPENS_AT, options=SandboxOptions(fault=fault)) as server:
        base = server.gamma_url.removesuffix("/gamma")
        with httpx.Client(base_url=base, timeout=10, trust_env=False) as client:
            yield lambda path, **params: client.get(path, params=params)


@pytest.fixture(scope="module")
def page(world: World) -> dict[str, Any]:
    with misbehaving(world, None) as ask:
        content: dict[str, Any] = ask(KEYSET, **PARAMS).json()
    return content


def test_a_rate_limit_is_429_with_retry_after(world: World) -> None:
    with misbehaving(world, Fault("rate_limit", seconds=2.5)) as ask:
        reply = ask(KEYSET, **PARAMS)
    assert (reply.status_code, reply.headers["Retry-After"]) == (429, "3")


def test_a_fault_happens_so_many_times_and_only_where_it_should(world: World, page: dict[str, Any]) -> None:
    with misbehaving(world, Fault("server_error", times=2, path="/events")) as ask:
        assert ask("/clob/time").status_code == 200
        assert [ask(KEYSET, **PARAMS).status_code for _ in range(3)] == [500, 500, 200]
        assert ask(KEYSET, **PARAMS).json() == page
    # Without a number of times it never ends.
    with misbehaving(world, Fault("server_error")) as ask:
        assert [ask("/clob/time").status_code for _ in range(5)] == [500] * 5


def test_a_slow_answer_comes_late_and_is_right(world: World, page: dict[str, Any]) -> None:
    with misbehaving(world, Fault("slow", seconds=0.3)) as ask:
        started = time.monotonic()
        assert ask(KEYSET, **PARAMS).json() == page
    assert time.monotonic() - started >= 0.3


def test_truncated_json_arrives_whole_by_its_length(world: World) -> None:
    with misbehaving(world, Fault("truncated_json")) as ask:
        reply = ask(KEYSET, **PARAMS)
    assert reply.status_code == 200
    with pytest.raises(ValueError, match=r"."):
        reply.json()


def test_a_cut_connection_ends_before_its_length(world: World) -> None:
    with misbehaving(world, Fault("cut_connection", times=1)) as ask:
        with pytest.raises(httpx.RemoteProtocolError):
            ask(KEYSET, **PARAMS)
        assert ask(KEYSET, **PARAMS).status_code == 200


@pytest.mark.parametrize("kind", ["ignored_cursor", "repeated_cursor"])
def test_a_broken_cursor_gives_the_first_page_again_or_never_gets_beyond_the_second(
    world: World, page: dict[str, Any], kind: str
) -> None:
    with misbehaving(world, Fault(kind)) as ask:
        second = ask(KEYSET, **PARAMS, after_cursor=page["next_cursor"]).json()
        first = ask(KEYSET, **PARAMS | {"limit": 100}).json()
    assert (second == page) is (kind == "ignored_cursor")
    assert (second["events"][0]["id"] == page["events"][0]["id"]) is (kind == "ignored_cursor")
    assert second["next_cursor"] == page["next_cursor"]
    # It shows even where one page would hold everything.
    assert (len(first["events"]), bool(first["next_cursor"])) == (20, True)


def test_a_clamped_page_is_short_and_its_cursor_good(world: World, page: dict[str, Any]) -> None:
    with misbehaving(world, Fault("clamped_page")) as ask:
        first = ask(KEYSET, **PARAMS).json()
        second = ask(KEYSET, **PARAMS, after_cursor=first["next_cursor"]).json()
    assert len(first["events"]) == 7
    assert [event["id"] for event in first["events"] + second["events"]][:10] == [e["id"] for e in page["events"]]


def test_an_unordered_page_holds_the_right_events_in_a_wrong_order(world: World, page: dict[str, Any]) -> None:
    with misbehaving(world, Fault("unordered_page")) as ask:
        events = ask(KEYSET, **PARAMS).json()["events"]
    assert events == page["events"][::-1] != page["events"]


def test_missing_fields_are_missing_from_some_objects_only(world: World, page: dict[str, Any]) -> None:
    with misbehaving(world, Fault("missing_fields")) as ask:
        events = ask(KEYSET, **PARAMS).json()["events"]
    markets = [market for event in events for market in event["markets"]]
    for name in ("outcomes", "outcomePrices", "id"):
        assert sum(name not in market for market in markets) == 1
    assert [event["id"] for event in events] == [event["id"] for event in page["events"]]


def test_a_wrong_shape_is_a_list_for_an_object_and_the_reverse(world: World) -> None:
    with misbehaving(world, Fault("wrong_shape")) as ask:
        assert isinstance(ask(KEYSET, **PARAMS).json(), list)
        assert isinstance(ask("/gamma/events", **PARAMS).json(), dict)


def test_an_empty_history_is_a_history_without_points(world: World) -> None:
    number = world.maybe_open_numbers(int(SANDBOX_OPENS_AT.timestamp() // 60))[-10]
    token = world.names.token_id(number, 0, 0)
    params = {"market": token, "interval": "max", "fidelity": 60}
    with misbehaving(world, None) as ask:
        assert ask("/clob/prices-history", **params).json()["history"]
    with misbehaving(world, Fault("empty_history")) as ask:
        assert ask("/clob/prices-history", **params).json() == {"history": []}


@pytest.mark.parametrize("kind", FAULT_KINDS)
def test_no_fault_touches_the_health_check_of_another_path(world: World, kind: str) -> None:
    with misbehaving(world, Fault(kind, path="/events")) as ask:
        assert ask("/gamma/status").text == "OK"


def test_a_fault_that_waits_for_less_than_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="fault"):
        Fault("slow", seconds=-1.0)
