"""The dialect of play money: what it lists, the bets it serves, how it resolves, and that it knows no future."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest

from predibot.sandbox.server.hosts.mana import answer_mana, contract_id
from predibot.sandbox.server.hosts.snapshot import Snapshot
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT, minute_of
from predibot.sandbox.world.world import World
from tests.soaks import few

SEED = 7
INSTANTS = [SANDBOX_OPENS_AT + timedelta(days=days, minutes=17 * days) for days in (-30, 0, 45)]


def asked(snapshot: Snapshot, path: str, **query: object) -> Any:
    reply = answer_mana(snapshot, path, {name: [str(value)] for name, value in query.items()})
    assert reply.status == 200, reply.body
    return json.loads(reply.body)


@pytest.fixture(scope="module")
def snapshot() -> Snapshot:
    return Snapshot(World.from_seed(SEED, events=5), minute_of(SANDBOX_OPENS_AT))


def answers(world: World, instant: datetime) -> Iterator[tuple[str, bytes]]:
    """Yield every list of a venue as of an instant, and every third market with its bets."""
    snapshot = Snapshot(world, minute_of(instant))
    for state in ("open", "resolved", "all"):
        query = {"filter": [state], "sort": ["24-hour-vol"], "limit": ["1000"], "offset": ["0"]}
        yield state, answer_mana(snapshot, "/v0/search-markets", query).body
    for number in world.event_numbers(snapshot.minute)[::3]:
        name = contract_id(snapshot, number)
        yield f"market {name}", answer_mana(snapshot, f"/v0/market/{name}", {}).body
        yield (
            f"bets {name}",
            answer_mana(
                snapshot, "/v0/bets", {"contractId": [name], "limit": ["1000"], "includeZeroShareRedemptions": ["true"]}
            ).body,
        )


@pytest.mark.parametrize("instant", few(INSTANTS, INSTANTS[1]))
def test_an_altered_future_changes_no_byte_of_any_answer(instant: datetime) -> None:
    plain = World.from_seed(SEED, events=3)
    altered = World.from_seed(SEED, events=3, altered_after=instant)
    for (name, one), (_, other) in zip(answers(plain, instant), answers(altered, instant), strict=True):
        assert one == other, name


def test_pages_of_the_list_and_of_bets_add_up(snapshot: Snapshot) -> None:
    query = {"filter": "open", "sort": "24-hour-vol"}
    whole = asked(snapshot, "v0/search-markets", **query, limit=1_000)
    pages = [asked(snapshot, "v0/search-markets", **query, limit=7, offset=at) for at in range(0, len(whole) + 7, 7)]
    assert [row for page in pages for row in page] == whole and pages[-1] == []
    volumes = [row["volume24Hours"] for row in whole]
    assert volumes == sorted(volumes, reverse=True)
    assert {"POLL", "PSEUDO_NUMERIC", "BINARY", "MULTIPLE_CHOICE"} == {row["outcomeType"] for row in whole}
    contract = next(row["id"] for row in whole if row["outcomeType"] == "MULTIPLE_CHOICE")
    bets, before = [], {}
    while page := asked(snapshot, "v0/bets", contractId=contract, limit=13, **before):
        bets += page
        before = {"before": page[-1]["id"]}
    assert len({bet["id"] for bet in bets}) == len(bets) > 100
    assert [bet["createdTime"] for bet in bets] == sorted((bet["createdTime"] for bet in bets), reverse=True)
    assert all(bet["createdTime"] <= snapshot.minute * 60_000 for bet in bets)


def test_what_a_bet_on_another_answer_moved_is_served_to_those_that_ask_for_it(snapshot: Snapshot) -> None:
    moved = 0
    for row in asked(snapshot, "v0/search-markets", filter="resolved", sort="24-hour-vol"):
        contract = asked(snapshot, f"v0/market/{row['id']}")
        if contract.get("shouldAnswersSumToOne"):
            of = {"contractId": contract["id"], "limit": 1_000}
            every = asked(snapshot, "v0/bets", **of, includeZeroShareRedemptions="true")
            hidden = [bet for bet in every if bet["isRedemption"] and not bet["shares"]]
            assert all(bet["probBefore"] != bet["probAfter"] for bet in hidden)
            assert not {bet["id"] for bet in hidden} & {bet["id"] for bet in asked(snapshot, "v0/bets", **of)}
            moved += len(hidden)
    assert moved


@pytest.mark.parametrize(
    ("path", "query", "status"),
    [
        ("v0/search-markets", {"filter": "open", "sort": "24-hour-vol", "offset": "1001"}, 400),
        ("v0/search-markets", {"filter": "open", "sort": "24-hour-vol", "limit": "1001"}, 400),
        ("v0/search-markets", {"filter": "open", "sort": "sideways"}, 400),
        ("v0/search-markets", {"limit": "x"}, 400),
        ("v0/market/gone0", {}, 404),
        ("v0/bets", {"contractId": "gone0"}, 404),
        ("v1/anything", {}, 404),
    ],
)
def test_what_the_venue_does_not_answer_is_refused(
    snapshot: Snapshot, path: str, query: dict[str, str], status: int
) -> None:
    assert answer_mana(snapshot, path, {name: [value] for name, value in query.items()}).status == status


def test_resolutions_are_of_every_kind_and_a_disputed_one_is_corrected() -> None:
    world = World.from_seed(SEED, events=60)
    snapshot = Snapshot(world, minute_of(SANDBOX_OPENS_AT + timedelta(days=110)))
    said: dict[str, list[str]] = {}
    for number in world.event_numbers(snapshot.minute):
        payload = asked(snapshot, f"v0/market/{contract_id(snapshot, number)}")
        for each in (payload, *payload.get("answers", ())):
            if "resolution" in each:
                said.setdefault(each["resolution"], []).append(each["id"])
    assert {"YES", "NO", "MKT", "CANCEL"} <= said.keys()
    disputed = [
        (number, state.markets[0])
        for number in world.event_numbers(snapshot.minute)
        if len((state := snapshot.state(number)).markets) == 1
        and state.markets[0].is_disputed
        and state.markets[0].payout in (0.0, 1.0)
    ]
    assert disputed
    for number, market in disputed:
        told = []
        for days in (0, 4):
            later = Snapshot(world, (market.settled_minute or 0) + days * 1_440)
            payload = asked(later, f"v0/market/{contract_id(later, number)}")
            told.append((payload["resolution"], payload["resolutionTime"]))
        truth = "YES" if market.payout == 1.0 else "NO"
        assert told[1][0] == truth != told[0][0] and told[1][1] > told[0][1]
