"""Ids: what the sandbox calls events, markets, conditions and tokens."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.sandbox.world.ids import Names, TokenPlace

seeds = st.integers(0, 2**63)
events = st.integers(0, 999_999)
markets = st.integers(0, 99)


@given(seed=seeds, event=events, market=markets, side=st.integers(0, 1))
def test_every_id_leads_back_to_its_place(seed: int, event: int, market: int, side: int) -> None:
    names = Names(seed)
    assert names.event_of(names.event_id(event)) == event
    assert names.market_of(names.market_id(event, market)) == (event, market)
    assert names.condition_of(names.condition_id(event, market)) == (event, market)
    assert names.token_of(names.token_id(event, market, side)) == TokenPlace(event, market, side)


@given(seed=seeds, event=events, market=markets)
def test_ids_have_the_forms_of_the_venue(seed: int, event: int, market: int) -> None:
    names = Names(seed)
    assert re.fullmatch(r"[1-9][0-9]*", names.event_id(event))
    assert re.fullmatch(r"0x[0-9a-f]{64}", names.condition_id(event, market))
    assert re.fullmatch(r"[0-9]{1,78}", names.token_id(event, market, 1))


@given(one=seeds, other=seeds, place=st.tuples(events, markets), elsewhere=st.tuples(events, markets))
def test_two_seeds_share_no_id(one: int, other: int, place: tuple[int, int], elsewhere: tuple[int, int]) -> None:
    if one != other:
        assert Names(one).event_id(place[0]) != Names(other).event_id(elsewhere[0])
        assert Names(one).market_id(*place) != Names(other).market_id(*elsewhere)
        assert Names(other).condition_of(Names(one).condition_id(*place)) is None
        assert Names(other).token_of(Names(one).token_id(*place, 0)) is None


@pytest.mark.parametrize("text", ["", "x", "-1", "0x12", "0x" + "g" * 64, "9" * 500, "²", "0x" + "0" * 64])
def test_what_is_no_id_is_nowhere(text: str) -> None:
    names = Names(7)
    assert names.event_of(text) is None
    assert names.market_of(text) is None
    assert names.condition_of(text) is None
    assert names.token_of(text) is None
