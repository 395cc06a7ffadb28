"""What holds for every selection, whatever is listed."""

import random
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.event import Event
from predibot.domain.price import Quote
from predibot.selection import Selection, SelectionRules, ranking_is_settled, ranking_volume_usd, select
from tests.selection.worlds import NOW, WORDS, event, market

RULES = SelectionRules(crypto=WORDS, events=3, max_markets=2, per_category=1)
volumes = st.none() | st.sampled_from([0.0, 1.0, 2.0, 3.0, 5.0, 8.0])
quotes = st.builds(
    Quote, at=st.sampled_from([NOW, NOW - timedelta(hours=30)]), displayed=st.sampled_from([0.0, 0.3, 1.0])
)


@st.composite
def listings(draw: st.DrawFn) -> list[Event]:
    ids = draw(st.lists(st.integers(1, 200).map(str), unique=True, max_size=12))
    return [
        event(
            event_id,
            draw(st.sampled_from(["Who wins?", "Bitcoin?"])),
            markets=[market(f"{event_id}-{i}", quote=draw(quotes), volume=draw(volumes)) for i in range(3)],
            volume=draw(volumes),
            tags=draw(st.sampled_from([(), ("Sports",), ("Politics",), ("Chess",)])),
            closes_at=NOW + timedelta(hours=draw(st.sampled_from([0.5, 2.0]))),
        )
        for event_id in ids
    ]


def ids_of(selection: Selection) -> list[str]:
    return [chosen.id for chosen in selection.selected]


def by_volume(events: list[Event]) -> list[Event]:
    """Return events as a venue lists them that ranks by what they state, else by the sum over their markets."""
    usd = {each.id: ranking_volume_usd(each, "volume_1wk") for each in events}
    return sorted(events, key=lambda listed: (usd[listed.id] is None, -(usd[listed.id] or 0.0)))


@given(listings(), st.randoms(use_true_random=False))
def test_the_order_of_events_and_markets_never_matters(events: list[Event], rng: random.Random) -> None:
    shuffled = [replace(old, markets=tuple(rng.sample(old.markets, len(old.markets)))) for old in events]
    rng.shuffle(shuffled)
    assert select(shuffled, RULES, NOW) == select(events, RULES, NOW)


@given(listings())
def test_every_event_is_either_selected_or_passed_over_with_a_reason(events: list[Event]) -> None:
    selection = select(events, RULES, NOW)
    told = ids_of(selection) + [passed.event_id for passed in selection.passed_over]
    assert sorted(told) == sorted(listed.id for listed in events)
    assert all(passed.rule and passed.reason for passed in selection.passed_over)


@given(listings(), st.integers(1, 4))
def test_once_the_ranking_is_settled_nothing_listed_later_changes_the_choice(events: list[Event], size: int) -> None:
    listed = by_volume(events)
    pages = [listed[begin : begin + size] for begin in range(0, len(listed), size)]
    for read in range(len(pages)):
        if ranking_is_settled(pages[:read], RULES, NOW):
            chosen = select([event for page in pages[:read] for event in page], RULES, NOW).selected
            assert chosen == select(listed, RULES, NOW).selected


@given(listings())
def test_quotes_taken_after_the_instant_are_not_seen(events: list[Event]) -> None:
    later = Quote(at=NOW + timedelta(seconds=1), displayed=0.9)
    blind = [replace(old, markets=tuple(replace(m, quote=later) for m in old.markets)) for old in events]
    assert select(blind, RULES, NOW).selected == ()


def test_the_ranking_is_settled_once_two_pages_hold_nothing_above_half_of_the_last_chosen() -> None:
    top = [event("1", volume=9.0), event("2", volume=8.0), event("3", volume=7.0)]
    assert not ranking_is_settled([], RULES, NOW)
    assert not ranking_is_settled([top, [event("4", volume=1.0)]], RULES, NOW)
    assert ranking_is_settled([top, [event("4", volume=1.0)], [event("5", volume=3.5), event("6")]], RULES, NOW)
    assert not ranking_is_settled([top, [event("4", volume=3.6)], [event("5", volume=1.0)]], RULES, NOW)
    assert not ranking_is_settled([top[:2], [event("4")], [event("5")]], RULES, NOW)
    assert not ranking_is_settled([[event("1", volume=9.0), event("2")], [event("3")], [event("4")]], RULES, NOW)
