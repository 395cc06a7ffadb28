"""What is assumed of the hosts: all of it holds in the sandbox, and each one that is broken there is told."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World
from predibot.venues.polymarket.assumptions import assumptions
from tests.venues.altering import Change, altering, changed

NAMES = [
    "events are listed by keyset",
    "a page holds at most 100",
    "closed=false lists what is open",
    "volume1wk is stated, its order a hint",
    "after_cursor leads on",
    "an event is read by id",
    "markets are listed by id",
    "markets name their events",
    "settlements and their statuses",
    "the old list of markets",
    "order books by token",
    "price history by token",
    "price history of a window",
]


@pytest.fixture(scope="module")
def world() -> World:
    return World.from_seed(7, events=30)


@contextmanager
def serving(world: World, fault: Fault | None = None) -> Iterator[SandboxServer]:
    with SandboxServer(world, now=SANDBOX_OPENS_AT, options=SandboxOptions(fault=fault)) as server:
        yield server


def broken(server: SandboxServer) -> dict[str, str]:
    found = list(assumptions(server.gamma_url, server.clob_url))
    assert [each.name for each in found] == NAMES
    return {each.name: each.seen for each in found if not each.holds}


def test_all_of_it_holds_in_the_sandbox(world: World) -> None:
    with serving(world) as server:
        assert broken(server) == {}


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("server_error", path="/events/keyset"), {*NAMES[:7], *NAMES[9:]}),
        (Fault("ignored_cursor", path="/events/keyset"), {NAMES[4]}),
        (Fault("server_error", path="/events/8"), {NAMES[5]}),
        (Fault("wrong_shape", path="/markets/keyset"), {NAMES[6], NAMES[7], NAMES[8]}),
        (Fault("server_error", path="/gamma/markets"), {NAMES[6], NAMES[7], NAMES[8]}),
        (Fault("wrong_shape", path="/books"), {NAMES[10]}),
        (Fault("empty_history"), {NAMES[11], NAMES[12]}),
        (Fault("disorder"), set()),
    ],
)
def test_what_is_broken_is_told_and_disorder_is_not(world: World, fault: Fault, told: set[str]) -> None:
    with serving(world, fault) as server:
        assert broken(server).keys() == told


def in_lists(**fields: object) -> Change:
    """Return what changes each object of a list of events or markets."""

    def change(_path: str, answer: Any) -> Any:
        lists = {name: changed(answer[name], **fields) for name in ("events", "markets") if name in answer}
        return {**answer, **lists} if lists and "id" not in answer else answer

    return change


def at(path: str, change: Callable[[Any], Any]) -> Change:
    return lambda asked, answer: change(answer) if asked == path else answer


CHANGES: dict[str, Change] = {
    NAMES[1]: at("/events/keyset", lambda page: {**page, "events": page["events"] * 4}),
    NAMES[2]: at("/events/keyset", lambda page: {**page, "events": changed(page["events"], closed=True)}),
    NAMES[3]: in_lists(volume1wk="many"),
    NAMES[5]: lambda asked, answer: answer if "keyset" in asked else {**answer, "markets": [None]},
    NAMES[7]: at("/markets/keyset", lambda page: {**page, "markets": changed(page["markets"], events=[])}),
    NAMES[8]: in_lists(umaResolutionStatus="escalated"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_host_that_answers_otherwise_is_told_by_name(world: World, name: str) -> None:
    with serving(world) as server, altering(server.gamma_url, CHANGES[name]) as gamma_url:
        found = {each.name: each for each in assumptions(gamma_url, server.clob_url)}
    assert not found[name].holds
    if name == NAMES[8]:
        assert "umaResolutionStatus is escalated" in found[name].seen


def test_prices_of_another_window_than_was_asked_for_are_told(world: World) -> None:
    def earlier(path: str, answer: Any) -> Any:
        points = answer.get("history", ()) if isinstance(answer, dict) else ()
        if len(points) < 2 or points[1]["t"] - points[0]["t"] > 3_600:
            return answer
        return {"history": [{**point, "t": point["t"] - 5 * 86_400} for point in points]}

    with serving(world) as server, altering(server.clob_url, earlier) as clob_url:
        found = {each.name: each for each in assumptions(server.gamma_url, clob_url)}
    assert [name for name, each in found.items() if not each.holds] == [NAMES[12]]
    assert "is of the window that was asked for" in found[NAMES[12]].seen


def test_rows_of_null_are_no_reason_to_call_anything_broken(world: World) -> None:
    def nulls(_path: str, answer: Any) -> Any:
        if not isinstance(answer, dict) or "id" in answer:
            return answer
        return {name: [None, *rows] if name in ("events", "markets") else rows for name, rows in answer.items()}

    with serving(world) as server, altering(server.gamma_url, nulls) as gamma_url:
        assert [each.seen for each in assumptions(gamma_url, server.clob_url) if not each.holds] == []


def test_a_host_out_of_reach_is_asked_twice_and_then_left(world: World) -> None:
    with serving(world) as server:
        gamma_url, clob_url = server.gamma_url, server.clob_url
    found = list(assumptions(gamma_url, clob_url))
    assert [each.name for each in found if each.holds] == []
    assert sum(not each.seen.startswith("not tried: ") for each in found) == 2
