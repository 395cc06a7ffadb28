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
        assert params["closed"] == "true"
        wanted = params.get_list("id")
        return [market for market in markets if market["id"] in wanted and market["closed"]][: int(params["limit"])]

    return answer


def refs(*numbers: int) -> list[MarketRef]:
    """Return references to numbered markets."""
    return [MarketRef(str(number)) for number in numbers]


def test_settled_markets_are_found_and_open_ones_are_absent() -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1), market_payload(2), settled_payload(3, '["0.5", "0.5"]')))
    page = venue.resolutions(refs(1, 2, 3, 4), as_of=NOW)
    assert page.found == {
        "1": (Resolution(1.0, SETTLED_AT, "venue", SETTLED_AT),),
        "3": (Resolution(0.5, SETTLED_AT, "venue", SETTLED_AT),),
    }


def test_a_market_that_only_stopped_trading_is_absent() -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1, '["0.9995", "0.0005"]'), settled_payload(2, '["0", "0"]')))
    assert venue.resolutions(refs(1, 2), as_of=NOW).found == {}


def test_many_markets_are_asked_for_in_batches() -> None:
    venue, asked = venue_of(gamma_of(*(settled_payload(number) for number in range(120))))
    assert len(venue.resolutions(refs(*range(120), *range(120)), as_of=NOW).found) == 120
    assert [len(request.url.params.get_list("id")) for request in asked.requests] == [50, 50, 20]


def test_a_settlement_later_than_the_instant_asked_for_is_absent() -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1)))
    assert venue.resolutions(refs(1), as_of=SETTLED_AT - timedelta(seconds=1)).found == {}
    assert set(venue.resolutions(refs(1), as_of=SETTLED_AT).found) == {"1"}


@pytest.mark.parametrize("minutes", [0, 10])
def test_a_first_sight_counts_from_the_instant_the_work_stands_at(minutes: int) -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1, closedTime=None)))
    as_of = NOW - timedelta(minutes=minutes)
    assert venue.resolutions(refs(1), as_of=as_of).found["1"] == (Resolution(1.0, as_of, "first_sight", as_of),)


def test_a_first_sight_says_nothing_about_the_past() -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1, closedTime="")))
    assert venue.resolutions(refs(1), as_of=NOW - timedelta(hours=1)).found == {}


def test_a_settlement_that_cannot_be_read_is_skipped_and_the_rest_is_kept() -> None:
    venue, _ = venue_of(gamma_of(settled_payload(1, closedTime="soon"), settled_payload(2)))
    page = venue.resolutions(refs(1, 2), as_of=NOW)
    assert set(page.found) == {"2"}
    assert [(skip.kind, skip.id) for skip in page.skipped] == [("resolution", "1")]


@pytest.mark.parametrize("answer", [[settled_payload(9)], {"markets": []}, {}])
def test_an_ignored_filter_or_another_shape_is_a_changed_venue(answer: object) -> None:
    venue, _ = venue_of(lambda request: httpx.Response(200, json=answer))
    with pytest.raises(VenueChanged, match="update predibot"):
        venue.resolutions(refs(1), as_of=NOW)


@pytest.mark.parametrize("payload", [{"closed": True}, 7, None])
def test_an_object_without_an_id_is_skipped(payload: object) -> None:
    venue, _ = venue_of(lambda request: [payload, settled_payload(1)])
    page = venue.resolutions(refs(1), as_of=NOW)
    assert set(page.found) == {"1"}
    assert [(skip.kind, skip.id) for skip in page.skipped] == [("resolution", "?")]


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


def test_payouts_go_by_the_tokens_that_are_known() -> None:
    said = {"outcomes": '["A", "B", "C"]', "clobTokenIds": '["11", "12", "13"]'}
    venue, _ = venue_of(gamma_of(settled_payload(1, '["0", "0", "1"]', **said)))
    for tokens, payouts in (
        (("11", "12", "13"), (0.0, 0.0, 1.0)),
        (("13", "11", "12"), (1.0, 0.0, 0.0)),
        ((), (0.0, 0.0, 1.0)),
    ):
        (found,) = venue.resolutions([MarketRef("1", None, tokens)], as_of=NOW).found["1"]
        assert found.payouts == payouts and found.payout_yes == payouts[0]


def test_another_number_of_outcomes_than_is_known_settles_nothing_and_is_told() -> None:
    said = {"outcomes": '["A", "B", "C"]', "clobTokenIds": '["11", "12", "13"]'}
    venue, _ = venue_of(gamma_of(settled_payload(1, '["0", "0", "1"]', **said)))
    page = venue.resolutions([MarketRef("1", None, ("11", "12"))], as_of=NOW)
    assert not page.found and [skip.reason for skip in page.skipped] == ["it pays 3 outcomes, and it is known with 2"]
