"""How Polymarket's markets settled."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from predibot.domain.event import MarketRef
from predibot.domain.resolution import Resolution
from predibot.errors import VenueChanged
from tests.venues.payloads import NOW, market_payload, settled_payload, venue_of

SETTLED_AT = datetime(2026, 2, 10, 20, 56, 36, tzinfo=UTC)


def gamma_of(*markets: dict[str, object]) -> Callable[[httpx.Request], object]:
    """Return a Gamma that filters its markets by id and closed, and clamps its pages."""

    def answer(request: httpx.Request) -> object:
        params = request.url.params
        wanted, closed = params.get_list("id"), params["closed"] == "true"
        found = [market for market in markets if market["id"] in wanted and market["closed"] is closed]
        return {"markets": found[: int(params["limit"])]} if "keyset" in request.url.path else found

    return answer


@pytest.mark.parametrize("gone", ["/markets/keyset", "/markets"])
@pytest.mark.parametrize("status", [404, 410])
def test_a_list_that_is_gone_turns_to_the_other_and_stays_there(gone: str, status: int) -> None:
    # Both forms, and the end of the later one: the venue's own announcement of May 2026.
    gamma = gamma_of(settled_payload(1), settled_payload(2))
    venue, asked = venue_of(lambda request: httpx.Response(status) if request.url.path == gone else gamma(request))
    assert set(venue.resolutions(refs(1, 2), as_of=NOW).found) == {"1", "2"}
    venue.resolutions(refs(1), as_of=NOW)
    paths = [request.url.path for request in asked.requests]
    assert paths == (
        ["/markets/keyset", "/markets", "/markets"] if gone == "/markets/keyset" else ["/markets/keyset"] * 2
    )


def test_where_both_lists_are_gone_that_is_said() -> None:
    venue, _ = venue_of(lambda request: httpx.Response(410))
    with pytest.raises(VenueChanged, match="410"):
        venue.resolutions(refs(1), as_of=NOW)


def test_a_settled_market_that_is_listed_as_open_only_is_found() -> None:
    payload = settled_payload(1)

    def answer(request: httpx.Request) -> object:
        return {"markets": [payload] if request.url.params["closed"] == "false" else []}

    assert set(venue_of(answer)[0].resolutions(refs(1), as_of=NOW).found) == {"1"}


def refs(*numbers: int) -> list[MarketRef]:
    """Return references to numbered markets."""
    return [MarketRef(str(number)) for number in numbers]


def test_settled_markets_are_found_and_open_ones_are_absent() -> None:
    venue, _ = venue_of(
        gamma_of(
            settled_payload(1), market_payload(2), settled_payload(3, '["0.5", "0.5"]', umaResolutionStatus="resolved")
        )
    )
    page = venue.resolutions(refs(1, 2, 3, 4), as_of=NOW)
    assert page.found == {
        "1": (Resolution(1.0, SETTLED_AT, "venue", SETTLED_AT),),
        "3": (Resolution(0.5, SETTLED_AT, "venue", SETTLED_AT),),
    }


def test_many_markets_are_asked_for_in_batches() -> None:
    venue, asked = venue_of(gamma_of(*(settled_payload(number) for number in range(120))))
    assert len(venue.resolutions(refs(*range(120), *range(120)), as_of=NOW).found) == 120
    assert [len(request.url.params.get_list("id")) for request in asked.requests] == [100, 20]


def test_a_settlement_later_than_the_instant_asked_for_is_absent() -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1)))
    assert venue.resolutions(refs(1), as_of=SETTLED_AT - timedelta(seconds=1)).found == {}
    assert set(venue.resolutions(refs(1), as_of=SETTLED_AT).found) == {"1"}


@pytest.mark.parametrize("closed_time", [None, ""])
def test_a_first_sight_counts_from_the_instant_the_work_stands_at_and_says_nothing_about_the_past(
    closed_time: object,
) -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1, closedTime=closed_time)))
    for as_of in (NOW, NOW - timedelta(minutes=10)):
        assert venue.resolutions(refs(1), as_of=as_of).found["1"] == (Resolution(1.0, as_of, "first_sight", as_of),)
    assert venue.resolutions(refs(1), as_of=NOW - timedelta(hours=1)).found == {}


@pytest.mark.parametrize(
    ("payload", "asked", "skipped"),
    [
        (settled_payload(1, closedTime="soon"), (1, 2), "1"),
        *((no_id, (2,), "?") for no_id in ({"closed": True}, 7, None)),
    ],
)
def test_a_settlement_that_cannot_be_read_is_skipped_and_the_rest_is_kept(
    payload: object, asked: tuple[int, ...], skipped: str
) -> None:
    venue, _ = venue_of(lambda request: {"markets": [payload, settled_payload(2)]})
    page = venue.resolutions(refs(*asked), as_of=NOW)
    assert set(page.found) == {"2"}
    assert [(skip.kind, skip.id) for skip in page.skipped] == [("resolution", skipped)]


@pytest.mark.parametrize("answer", [[settled_payload(9)], {"markets": [settled_payload(9)]}, {"markets": {}}, {}])
def test_an_ignored_filter_or_another_shape_is_a_changed_venue(answer: object) -> None:
    venue, _ = venue_of(lambda request: httpx.Response(200, json=answer))
    with pytest.raises(VenueChanged, match="update predibot"):
        venue.resolutions(refs(1), as_of=NOW)


def test_no_markets_ask_nothing() -> None:
    venue, asked = venue_of(gamma_of())
    assert venue.resolutions([], as_of=NOW).found == {}
    assert asked.requests == []


def test_a_market_whose_yes_is_the_second_outcome_here_is_paid_the_rest() -> None:
    payload = settled_payload(1)
    first, second = json.loads(str(payload["clobTokenIds"]))
    venue, _ = venue_of(gamma_of(payload))
    paid = {
        tokens: venue.resolutions([MarketRef("1", None, tokens)], as_of=NOW).found["1"][0].payout_yes
        for tokens in ((first, second), (second, first), ())
    }
    assert paid == {(first, second): 1.0, (second, first): 0.0, (): 1.0}


THREE = settled_payload(1, '["0", "0", "1"]', outcomes='["A", "B", "C"]', clobTokenIds='["11", "12", "13"]')


@pytest.mark.parametrize(
    ("tokens", "payouts"),
    [
        (("11", "12", "13"), (0.0, 0.0, 1.0)),
        (("13", "11", "12"), (1.0, 0.0, 0.0)),
        ((), (0.0, 0.0, 1.0)),
    ],
)
def test_payouts_go_by_the_tokens_that_are_known(tokens: tuple[str, ...], payouts: tuple[float, ...]) -> None:
    venue, _ = venue_of(gamma_of(THREE))
    (found,) = venue.resolutions([MarketRef("1", None, tokens)], as_of=NOW).found["1"]
    assert found.payouts == payouts and found.payout_yes == payouts[0]


@pytest.mark.parametrize(
    ("payload", "tokens", "why"),
    [
        (THREE, ("11", "12"), "it pays 3 outcomes, and it is known with 2"),
        (settled_payload(1), ("98", "99"), "its tokens are others than those it is known by"),
    ],
)
def test_a_market_that_is_known_otherwise_is_skipped_and_not_paid_by_place(
    payload: dict[str, object], tokens: tuple[str, str], why: str
) -> None:
    page = venue_of(gamma_of(payload))[0].resolutions([MarketRef("1", None, tokens)], as_of=NOW)
    assert (page.found, [skip.reason for skip in page.skipped]) == ({}, [why])


def refusing(*bad: str, status: int = 422, most: int = 100) -> Callable[[httpx.Request], object]:
    """Return Gamma with 100 settled markets, which refuses requests with one of these ids, or with too many."""
    gamma = gamma_of(*(settled_payload(number) for number in range(100)))

    def answer(request: httpx.Request) -> object:
        asked = request.url.params.get_list("id")
        return httpx.Response(status) if len(asked) > most or {*bad} & {*asked} else gamma(request)

    return answer


@pytest.mark.parametrize(
    ("bad", "status"),
    [(["41"], 422), (["0", "99"], 400), (["3", "4", "5", "60"], 422), ([str(n) for n in range(0, 100, 3)], 422)],
)
def test_an_id_that_is_refused_costs_itself_and_not_the_others_of_its_request(bad: list[str], status: int) -> None:
    venue, asked = venue_of(refusing(*bad, status=status))
    page = venue.resolutions(refs(*range(100)), as_of=NOW)
    assert len(page.found) == 100 - len(bad)
    assert sorted((skip.kind, skip.id) for skip in page.skipped) == [("resolution", each) for each in sorted(bad)]
    assert len(asked.requests) <= 2 * 7 * len(bad) + 1


@pytest.mark.parametrize("status", [413, 414])
def test_more_ids_than_fit_into_a_request_are_asked_in_parts(status: int) -> None:
    venue, asked = venue_of(refusing(status=status, most=30))
    assert len(venue.resolutions(refs(*range(100)), as_of=NOW).found) == 100
    assert len(asked.requests) == 7


def test_a_venue_that_refuses_every_request_is_not_asked_for_each_id() -> None:
    venue, asked = venue_of(lambda request: httpx.Response(422))
    with pytest.raises(VenueChanged, match="422"):
        venue.resolutions(refs(*range(100)), as_of=NOW)
    assert len(asked.requests) <= 110
