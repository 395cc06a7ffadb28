"""What is assumed of Manifold's host: all of it holds in the sandbox, and each one that is broken there is told."""

from collections.abc import Callable
from typing import Any

import pytest

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World
from predibot.venues.manifold.assumptions import assumptions
from tests.venues.altering import Change, altering, changed

NAMES = [
    "open markets are listed",
    "what a day traded is stated",
    "offset leads on",
    "a market is read by id",
    "bets of a market, the latest first",
    "bets before one",
    "resolutions",
]
OPEN, DAY, OFFSET, WHOLE, BETS, BEFORE, RESOLVED = NAMES


@pytest.fixture(scope="module")
def world() -> World:
    return World.from_seed(7, events=45)


def broken(url: str) -> dict[str, str]:
    found = list(assumptions(url))
    assert [each.name for each in found] == NAMES
    return {each.name: each.seen for each in found if not each.holds}


def test_all_of_it_holds_in_the_sandbox(world: World) -> None:
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server:
        assert broken(server.mana_url) == {}


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Fault("server_error", path="/search-markets"), set(NAMES)),
        (Fault("wrong_shape", path="/search-markets"), set(NAMES)),
        (Fault("server_error", path="/market/"), {WHOLE, RESOLVED}),
        (Fault("missing_fields", path="/market/"), {WHOLE}),
        (Fault("server_error", path="/bets"), {BETS, BEFORE}),
        (Fault("empty_history"), {BETS, BEFORE}),
        (Fault("ignored_cursor", path="/bets"), {BEFORE}),
        (Fault("ignored_cursor", path="/search-markets"), {OFFSET}),
        (Fault("clamped_page"), set()),
    ],
)
def test_what_is_broken_is_told(world: World, fault: Fault, told: set[str]) -> None:
    with SandboxServer(world, now=SANDBOX_OPENS_AT, options=SandboxOptions(fault=fault)) as server:
        assert broken(server.mana_url).keys() == told


def at(path: str, change: Callable[[Any], Any]) -> Change:
    return lambda asked, answer: change(answer) if path in asked and isinstance(answer, list) else answer


def undecided(path: str, answer: Any) -> Any:
    """Return a market that says of itself, and of its answers, that it is resolved to what nobody knows."""
    if "/market/" not in path or not answer.get("isResolved"):
        return answer
    return {**answer, "resolution": "PERHAPS", "answers": changed(answer.get("answers", ()), resolution="PERHAPS")}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (at("/search-markets", lambda rows: changed(rows, isResolved=True)), {OPEN}),
        (at("/search-markets", lambda rows: changed(rows, volume24Hours=-1.0)), {DAY}),
        (at("/search-markets", lambda rows: changed(rows, outcomeType="POLL")), {*NAMES} - {OFFSET}),
        (at("/bets", lambda rows: changed(rows, contractId="another")), {BETS, BEFORE}),
        (at("/bets", lambda rows: rows[::-1]), {BETS}),
        (at("/bets", lambda rows: changed(rows, probAfter=None)), {BETS}),
        (at("/search-markets", lambda rows: [None, *rows]), set()),
        (undecided, {RESOLVED}),
    ],
)
def test_a_host_that_answers_otherwise_is_told_by_name(world: World, change: Change, told: set[str]) -> None:
    with SandboxServer(world, now=SANDBOX_OPENS_AT) as server, altering(server.mana_url, change) as url:
        assert broken(url).keys() == told
