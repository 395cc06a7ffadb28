"""What is assumed of the hosts of comments: all of it holds for a simulated crowd, and what is broken is told."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT
from predibot.sandbox.world.world import World
from predibot.studies.stakebench.crowd import crowd
from predibot.studies.stakebench.crowd_host import CrowdHost
from predibot.studies.stakebench.venues.comments.assumptions import assumptions
from tests.venues.altering import Change, altering, changed

NAMES = [
    "closed markets by volume",
    "comments of an event",
    "activity of a user in a market",
    "comments of Manifold's markets",
]
CLOSED, COMMENTS, ACTIVITY, MANIFOLD = NAMES


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return where a crowd is served."""
    host = CrowdHost(crowd(1, manifold=False, markets=4, comments=80))
    with SandboxServer(World.from_seed(1, events=1), now=SANDBOX_ENDS_AT, site=host.reply) as server:
        yield server.search_url


def told(address: str, change: Change) -> set[str]:
    with altering(address, change) as url:
        found = list(assumptions(gamma_url=f"{url}/gamma", data_url=f"{url}/data", manifold_url=f"{url}/manifold"))
    assert [each.name for each in found] == NAMES
    return {each.name for each in found if not each.holds}


def at(path: str, change: Callable[[Any], Any]) -> Change:
    return lambda asked, answer: change(answer) if asked == path else answer


def test_all_of_it_holds_for_a_crowd(address: str) -> None:
    assert told(address, lambda _, answer: answer) == set()


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (at("/gamma/markets/keyset", lambda page: page["markets"]), {CLOSED, COMMENTS, ACTIVITY}),
        (at("/gamma/markets/keyset", lambda page: {"markets": changed(page["markets"], conditionId=None)}), {CLOSED}),
        (at("/gamma/comments", lambda _: []), {COMMENTS, ACTIVITY}),
        (at("/gamma/comments", lambda rows: changed(rows, profile=None)), {COMMENTS, ACTIVITY}),
        (at("/gamma/comments", lambda rows: [None, *rows]), set()),
        (at("/data/activity", lambda _: {"error": "moved"}), {ACTIVITY}),
        (at("/data/activity", lambda _: []), {ACTIVITY}),
        (at("/data/activity", lambda rows: rows[::-1]), {ACTIVITY}),
        (at("/data/activity", lambda rows: changed(rows, timestamp="soon")), {ACTIVITY}),
        (at("/data/activity", lambda rows: changed(rows, type="AIRDROP")), {ACTIVITY}),
        (at("/manifold/v0/search-markets", lambda rows: changed(rows, isResolved=False)), {MANIFOLD}),
        (at("/manifold/v0/comments", lambda rows: changed(rows, content=None)), {MANIFOLD}),
        (at("/manifold/v0/comments", lambda rows: changed(rows, createdTime="2026")), {MANIFOLD}),
    ],
)
def test_a_host_that_answers_otherwise_is_told_by_name(address: str, change: Change, broken: set[str]) -> None:
    assert told(address, change) == broken
