"""Normalisation: probabilities of markets of which at most one pays YES add up, and what was said is kept."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predibot.domain.decision import Decision, Forecast, MarketDecision
from predibot.domain.event import Event, UnplayedMarkets
from predibot.games.normalisation import normalise_exclusive, said_before
from tests.agents.scripted import rain


def grouped(*ids: str, apart: tuple[str, ...] = ()) -> Event:
    event = rain(*ids, *apart)
    markets = (replace(each, exclusive_group="" if each.id in apart else "g") for each in event.markets)
    return replace(event, markets=tuple(markets))


def saying(**probabilities: float) -> Decision:
    return Decision(tuple(Forecast(name, p) for name, p in probabilities.items()), notes=("before",))


def played(answer: Decision) -> dict[str, float]:
    return {each.market_id: each.probability for each in answer.forecasts}


def test_what_adds_up_to_too_much_is_divided_by_its_sum_and_what_was_said_is_noted() -> None:
    found = normalise_exclusive(saying(a=0.9, b=0.6, c=0.8), grouped("a", "b", apart=("c",)))
    assert played(found) == pytest.approx({"a": 0.6, "b": 0.4, "c": 0.8})
    assert found.notes[0] == "before" and said_before(found.notes) == {"a": 0.9, "b": 0.6}
    both = Decision((MarketDecision("a", 1.0, 0.4), MarketDecision("b", 1.0, -0.2)))
    halves = normalise_exclusive(both, grouped("a", "b")).forecasts
    assert halves == (MarketDecision("a", 0.5, 0.4), MarketDecision("b", 0.5, -0.2))


def test_less_than_one_is_raised_only_where_one_of_them_must_pay() -> None:
    little, event = saying(a=0.2, b=0.3), grouped("a", "b")
    assert normalise_exclusive(little, event) is little
    first, second = event.markets
    whole = replace(event, markets=(first, replace(second, is_other=True)))
    assert played(normalise_exclusive(little, whole)) == pytest.approx({"a": 0.4, "b": 0.6})
    assert normalise_exclusive(little, replace(whole, left_out=(UnplayedMarkets(1, "g", 0.1),))) is little
    ranges = replace(event, markets=(replace(first, question="below 10"), replace(second, question="10 or more")))
    assert played(normalise_exclusive(little, ranges)) == pytest.approx({"a": 0.4, "b": 0.6})
    assert normalise_exclusive(saying(a=0.0, b=0.0), whole) == saying(a=0.0, b=0.0)


@pytest.mark.parametrize("answer", [saying(a=0.9), saying(a=0.9, b=1.2), saying(a=0.9, b=float("nan")), Decision()])
def test_an_answer_that_the_game_refuses_stays_as_it_is(answer: Decision) -> None:
    assert normalise_exclusive(answer, grouped("a", "b")) is answer


def test_markets_that_exclude_nothing_shown_stay_as_they_are() -> None:
    apart = saying(a=0.9, b=0.9)
    assert normalise_exclusive(apart, grouped(apart=("a", "b"))) is apart


@settings(max_examples=20)
@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=20))
def test_the_sum_is_at_most_one_the_order_stays_and_a_second_time_changes_nothing(said: list[float]) -> None:
    names = [f"m{number}" for number in range(len(said))]
    event = grouped(*names)
    once = normalise_exclusive(saying(**dict(zip(names, said, strict=True))), event)
    found = [*played(once).values()]
    assert sum(found) <= 1.0 + 1e-9 and all(0.0 <= p <= 1.0 for p in found)
    pairs = sorted(zip(said, found, strict=True))
    assert [p for _, p in pairs] == sorted(found)
    assert [*played(normalise_exclusive(once, event)).values()] == pytest.approx(found)


@pytest.mark.parametrize("said", ["[]", "{}", '{"a": 2}', '{"a": "x"}', "x"])
def test_a_note_of_a_foreign_ledger_that_holds_no_probabilities_is_refused(said: str) -> None:
    (note,) = normalise_exclusive(saying(a=0.9, b=0.6), grouped("a", "b")).notes[1:]
    begins = note.removesuffix(json.dumps({"a": 0.9, "b": 0.6}))
    assert begins != note and said_before(["lazy"]) == {}
    with pytest.raises(ValueError, match=r"holds none|Expecting"):
        said_before([begins + said])
