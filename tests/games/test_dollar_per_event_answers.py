"""The answer: what is taken exactly as it was said, and the hundreds of others, which come back with a complaint."""

import copy
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.domain.decision import Decision, Forecast, Order
from predibot.domain.event import EventView
from predibot.errors import AnswerError
from predibot.games.answers import MAX_ANSWER_CHARACTERS, abstention_of, show_value
from predibot.games.dollar_per_event.form import parse_answer
from tests.agents.scripted import answer, context, rain, said
from tests.decisions import bets_usd

EVENT = rain("m1", "m2")
SEEN = EventView(EVENT)
VALID = answer(said("m1", bet=0.5), said("m2", bet=-0.3), unallocated=0.2)
NO_NUMBERS: list[object] = [
    "0.5", "50%", "50 %", "$0.5", "half", "", " ", "0,5", "1e-1", "٠.٥", "０.５", "½", "NaN", "inf", "-inf", "0x1",
    "None", "null", True, False, None, [], [0.5], {}, {"value": 0.5}, [[]], {"a": {"b": [0.5]}}, float("nan"),
    float("inf"), float("-inf"), 10**400, -(10**400), 10**5000, 1j, b"0.5", (0.5,),
]  # fmt: skip
NO_TEXTS: list[object] = [
    "",
    " \n\t",
    None,
    3,
    0.5,
    True,
    ["because"],
    {"why": "because"},
    b"why",
    "\ud800",
    "x" * 4001,
]
NO_IDS: list[object] = [
    1, 1.0, None, True, ["m1"], {"id": "m1"}, "", "M1", " m1", "m1 ", "m3", "m\u200b1", "ｍ1", "m1\x00", "x" * 500,
    "'", "0",
]  # fmt: skip
NO_LISTS: list[object] = [
    "[]", json.dumps([said()]), None, 1, True, {}, {"m1": said()}, "m1", [None], [1], ["m1"], [[]], [[said()]],
    [[[[]]]], [said()] * 501,
]  # fmt: skip
NO_OBJECTS: list[object] = [
    None, True, 0.5, 10**5000, [], [VALID], "", " ", "0.5", "null", "NaN", "[]", '"text"', "I think 60 percent.",
    "{", "}", "{}", b"{}", json.dumps(json.dumps(VALID)), (VALID,),
]  # fmt: skip
UNKNOWN_FIELDS: list[object] = [
    "probability", "p", "Bet", "bet_usd", "stake", "amount", "__class__", "", " bet", "bet\u200b", "market", 5,
    None, True, "x" * 500,
]  # fmt: skip


def changed(field: str, value: object, *, market: int | None = 0) -> dict[str, object]:
    """Return the valid answer with one field said otherwise."""
    data = copy.deepcopy(VALID)
    target = data if market is None else data["market_decisions"][market]  # type: ignore[index]
    target[field] = value
    return data


def without(field: str, *, market: int | None = 0) -> dict[str, object]:
    data = changed(field, 0, market=market)
    target = data if market is None else data["market_decisions"][market]  # type: ignore[index]
    del target[field]
    return data


def of_predibench(**changed: object) -> dict[str, object]:
    """Return an answer in the words PrediBench uses."""
    rows = [{**said(each), "odds": 0.6} for each in ("m1", "m2")]
    for row in rows:
        del row["estimated_probability"]
    plain = {"market_investment_decisions": rows, "unallocated_capital": 0.0, "summary": "Rain on both."}
    return {**plain, **changed}


def complaint(data: object) -> str:
    with pytest.raises(AnswerError) as caught:
        context(EVENT).form().parse(data)
    text = str(caught.value)
    assert text
    assert len(text) < 6000
    assert text.isprintable(), "one line without control characters"
    return text


NUMBERS = [
    (field, value)
    for field in ("estimated_probability", "odds", "bet", "confidence", "unallocated_capital")
    for value in NO_NUMBERS
    # Null is what a model says that states none.
    if (field, value) != ("unallocated_capital", None)
]
OUT_OF_RANGE: list[tuple[str, object]] = [
    *(("estimated_probability", value) for value in (-0.01, 1.0000001, 1.5, 60, 99.9, 100, 101, -1, 1e308, -5e-324)),
    *(("confidence", value) for value in (-0.1, 10.01, 70, 100, -1, 1e308)),
    *(("bet", value) for value in (1.01, -1.5, 2, 1e308, -1e308, 0.9)),
    *(("unallocated_capital", value) for value in (-0.01, 0.3, 0.0, 0.211, 0.189, 1, 1e308, -1e308)),
]


@pytest.mark.parametrize(("field", "value"), NUMBERS, ids=show_value)
def test_what_is_no_number_is_not_taken_for_one(field: str, value: object) -> None:
    if field == "unallocated_capital":
        text = complaint(changed(field, value, market=None))
    elif field == "odds":
        data = without("estimated_probability")
        data["market_decisions"][0]["odds"] = value  # type: ignore[index]
        text = complaint(data)
    else:
        text = complaint(changed(field, value))
    assert field in text
    assert "give" in text or "write" in text
    assert ("market 'm1'" in text) == (field != "unallocated_capital")


@pytest.mark.parametrize(("field", "value"), OUT_OF_RANGE, ids=show_value)
def test_numbers_out_of_range_are_refused_with_what_to_mend(field: str, value: object) -> None:
    text = complaint(changed(field, value, market=None if field == "unallocated_capital" else 0))
    assert any(word in text for word in ("give", "lower", "state"))


@pytest.mark.parametrize("value", NO_TEXTS, ids=show_value)
def test_a_rationale_is_text_with_something_in_it(value: object) -> None:
    assert "rationale of market 'm1'" in complaint(changed("rationale", value))


@pytest.mark.parametrize("value", NO_IDS, ids=show_value)
def test_an_id_is_the_text_of_a_market_of_this_event(value: object) -> None:
    text = complaint(changed("market_id", value))
    assert "market 'm1' is missing" in text
    assert "not of this event" in text or "the market's id as text" in text


@pytest.mark.parametrize("value", NO_LISTS, ids=show_value)
def test_market_decisions_are_a_list_of_objects(value: object) -> None:
    assert "market_decisions" in complaint({**VALID, "market_decisions": value})


@pytest.mark.parametrize("value", NO_OBJECTS, ids=show_value)
def test_an_answer_is_one_object(value: object) -> None:
    text = complaint(value)
    assert "the answer" in text or "market_decisions is missing" in text


@pytest.mark.parametrize("field", ["market_id", "estimated_probability", "bet", "confidence", "rationale"])
@pytest.mark.parametrize("market", [0, 1])
def test_nothing_of_a_market_has_a_default(field: str, market: int) -> None:
    text = complaint(without(field, market=market))
    assert f"{field} of " in text
    assert "is missing; give" in text


@pytest.mark.parametrize("field", UNKNOWN_FIELDS, ids=show_value)
@pytest.mark.parametrize("market", [0, None])
def test_unknown_fields_are_named_and_not_ignored(field: str, market: int | None) -> None:
    assert "is unknown; take it out, the fields are" in complaint(changed(field, 0.5, market=market))


@pytest.mark.parametrize("cut", range(0, len(json.dumps(VALID)), 7))
def test_json_that_is_cut_off_is_not_completed(cut: int) -> None:
    assert "not JSON" in complaint(json.dumps(VALID)[:cut])


HOSTILE_TEXTS = {
    "not a number": json.dumps(VALID).replace("0.6", "NaN"),
    "infinity": json.dumps(VALID).replace("0.6", "-Infinity"),
    "a field twice": json.dumps(VALID).replace('"bet": 0.5', '"bet": 0.5, "bet": 0.4'),
    "the answer twice": json.dumps(VALID) * 2,
    "the list twice": json.dumps(VALID)[:-1] + ', "market_decisions": []}',
    "words before": f"Here you are: {json.dumps(VALID)}",
    "words behind": f"{json.dumps(VALID)} I hope this helps.",
    "a code fence": f"```json\n{json.dumps(VALID)}\n```",
    "a comment": json.dumps(VALID).replace("{", "{ // mine\n", 1),
    "single quotes": str(VALID),
    "a trailing comma": json.dumps(VALID)[:-1] + ",}",
    "a byte order mark": "\ufeff" + json.dumps(VALID),
    "arabic digits": json.dumps(VALID).replace("0.6", "٠.٦"),
    "a leading plus": json.dumps(VALID).replace("0.6", "+0.6"),
    "a leading point": json.dumps(VALID).replace("0.6", ".6"),
    "a fraction": json.dumps(VALID).replace("0.6", "3/5"),
    "a percent sign": json.dumps(VALID).replace("0.6", "60%"),
    "a number that overflows": json.dumps(VALID).replace("0.6", "1e999"),
    "5,000 digits": json.dumps(VALID).replace("0.6", "9" * 5000),
    "4,000 digits": json.dumps(VALID).replace("0.6", "9" * 4000),
    "deep lists": "[" * 50_000,
    "deep objects": '{"a":' * 15_000,
    "deep in a field": json.dumps(VALID).replace("0.6", "[" * 900 + "]" * 900),
    "a megabyte": json.dumps(VALID) + " " * 1_000_000,
    "a megabyte of words": "word " * 200_000,
    "a control character": json.dumps(VALID).replace("clouds", "clo\x00uds"),
    "half a character": json.dumps(VALID).replace("clouds", "clo\\ud800uds"),
}


@pytest.mark.parametrize("name", HOSTILE_TEXTS)
def test_hostile_texts_are_refused_and_nothing_in_them_is_repaired(name: str) -> None:
    complaint(HOSTILE_TEXTS[name])


WRAPPERS = ("answer", "decision", "final_answer", "arguments", "abstain")
COMPLAINTS: list[tuple[object, str]] = [
    (without("market_decisions", market=None), "market_decisions is missing; give"),
    (answer(said("m1"), said("m9")), "market 'm9' is not of this event; its markets are 'm1', 'm2'."),
    (answer(said("m1"), said("m9")), "market 'm2' is missing; add its probability and its bet, which may be 0."),
    *((changed("odds", each), "gives both estimated_probability and odds") for each in (0.6, "junk")),
    (changed("estimated_probability", "60%"), "is the text '60%'; write 0.6"),
    (changed("estimated_probability", 60), "for 60 percent write 0.6"),
    *(({**VALID, "unallocated_capital": each}, "the bets leave $0.20") for each in (0.2101, 0.1899)),
    (answer(*(said(f"x{number}") for number in range(100))), "more complaints follow when these are fixed."),
    (" " * (MAX_ANSWER_CHARACTERS + 1), "keep it below 100,000"),
    # Nothing is taken out of a wrapper.
    *(({each: VALID}, "market_decisions is missing") for each in WRAPPERS),
    (of_predibench(market_decisions="x"), "the answer gives both market_decisions and "),
    (of_predibench(rationale="x"), "the answer gives both rationale and "),
    *((of_predibench(summary=each), "rationale is ") for each in (3, ["x"], "x" * 4001)),
]


@pytest.mark.parametrize(("data", "said"), COMPLAINTS, ids=show_value)
def test_a_complaint_says_what_to_mend(data: object, said: str) -> None:
    assert said in complaint(data)


def test_of_one_thing_that_is_wrong_nothing_more_is_said() -> None:
    twice = answer(said("m1"), said("m1", bet=0.1), said("m2", bet=0))
    assert complaint(twice) == "market 'm1' is answered 2 times; answer it once."
    overstaked = answer(said("m1", bet=0.9), said("m2", bet=-0.3), unallocated=0)
    assert complaint(overstaked) == "staked $1.20 of $1.00; lower the bets by $0.20 in total"


def test_a_percent_of_confidence_is_not_taken_for_a_share() -> None:
    assert "write" not in complaint(changed("confidence", "70%"))


@pytest.mark.parametrize("stated", [0.2, 0.2099, 0.1901])
def test_what_is_left_may_be_off_by_a_cent(stated: float) -> None:
    context(EVENT).form().parse({**VALID, "unallocated_capital": stated})


@pytest.mark.parametrize("said_as", [lambda data: data, json.dumps, lambda data: json.dumps(data, indent=2)])
def test_an_answer_that_holds_is_taken_exactly_as_it_was_said(said_as: Callable[[object], object]) -> None:
    forecasts = (Forecast("m1", 0.6, 7, "clouds"), Forecast("m2", 0.6, 7, "clouds"))
    yes, no = SEEN.instrument(EVENT.markets[0], "YES"), SEEN.instrument(EVENT.markets[1], "NO")
    expected = Decision(forecasts, (Order(yes, 0.5), Order(no, 0.3)), unallocated_usd=0.2)
    assert parse_answer(said_as(VALID), SEEN) == expected


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("estimated_probability", value) for value in (0, 1, 0.0, 1.0, 5e-324)),
        *(("bet", value) for value in (0, -0.0, 5e-324, 0.8)),
        *(("confidence", value) for value in (0, 10, 0.5)),
        *(("rationale", value) for value in ("…", "x" * 4000)),
    ],
)
def test_the_ends_of_every_range_belong_to_it(field: str, value: object) -> None:
    assert parse_answer(changed(field, value), SEEN).forecasts[0].market_id == "m1"


def test_the_older_name_of_the_probability_is_taken() -> None:
    data = without("estimated_probability")
    data["market_decisions"][0]["odds"] = 0.3  # type: ignore[index]
    assert parse_answer(data, SEEN).forecasts[0].probability == 0.3


def test_an_answer_in_the_words_of_predibench_is_taken() -> None:
    taken = parse_answer(of_predibench(), SEEN)
    assert [(each.market_id, each.probability) for each in taken.forecasts] == [("m1", 0.6), ("m2", 0.6)]
    assert (taken.unallocated_usd, taken.rationale) == (0.0, "Rain on both.")


def test_the_words_of_predibench_may_be_text_once_and_stand_empty_beside_the_newer_ones() -> None:
    right, rows = parse_answer(of_predibench(), SEEN), of_predibench()["market_investment_decisions"]
    once = json.dumps(rows)
    assert parse_answer(of_predibench(market_investment_decisions=once), SEEN) == right
    assert "is '\"[" in complaint(of_predibench(market_investment_decisions=json.dumps(once)))
    for empty in ("", None):
        assert parse_answer({**VALID, "market_investment_decisions": empty, "summary": empty}, SEEN).forecasts
        assert parse_answer(changed("odds", empty), SEEN) == parse_answer(VALID, SEEN)
        assert parse_answer(of_predibench(summary=empty), SEEN).rationale == ""


@pytest.mark.parametrize("value", NO_LISTS[2:], ids=show_value)
def test_the_decisions_are_a_list_of_objects_by_either_name(value: object) -> None:
    assert "market_decisions" in complaint(of_predibench(market_investment_decisions=value))


def test_an_abstention_says_why_and_stands_alone() -> None:
    assert abstention_of({"abstain": " no\nsources "}) == "no sources"
    assert abstention_of(VALID) is None
    assert len(abstention_of({"abstain": "x" * 9999}) or "") == 480


@pytest.mark.parametrize("reason", [None, "", " ", 3, True, ["why"], {"why": "why"}])
def test_an_abstention_without_a_reason_is_refused(reason: object) -> None:
    with pytest.raises(AnswerError, match="say why, as text"):
        abstention_of({"abstain": reason})


@pytest.mark.parametrize("beside", [VALID, {"rationale": "x"}])
def test_an_abstention_beside_a_decision_is_neither(beside: dict[str, object]) -> None:
    with pytest.raises(AnswerError, match="abstain stands beside other fields"):
        abstention_of({**beside, "abstain": "why"})


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=20), inner, max_size=4),
    max_leaves=12,
)
FIELDS = st.sampled_from(["market_id", "estimated_probability", "odds", "bet", "confidence", "rationale", "x"])


@given(JUNK | st.text() | st.binary())
def test_no_junk_is_taken_and_none_crashes(junk: object) -> None:
    complaint(junk)


@given(st.lists(st.tuples(FIELDS, JUNK), max_size=4), st.integers(0, 1))
def test_a_decision_is_only_ever_what_was_said(changes: list[tuple[str, object]], market: int) -> None:
    data = copy.deepcopy(VALID)
    entry = data["market_decisions"][market]  # type: ignore[index]
    entry.update(changes)
    try:
        decision = parse_answer(data, SEEN)
    except AnswerError:
        return
    if entry.get("odds") in ("", None):
        entry.pop("odds", None)
    assert set(entry) == {"market_id", "estimated_probability", "bet", "confidence", "rationale"}
    taken = decision.forecasts[market]
    assert (taken.market_id, taken.probability, bets_usd(decision, EVENT)[market]) == (
        entry["market_id"], entry["estimated_probability"], entry["bet"],
    )  # fmt: skip
    assert not any(isinstance(entry[name], bool | str) for name in ("estimated_probability", "bet", "confidence"))
    assert 0 <= taken.probability <= 1


@given(st.text(max_size=300), st.integers(0, 300))
def test_a_scratched_answer_is_refused_or_still_says_the_same_kind_of_thing(scratch: str, place: int) -> None:
    whole = json.dumps(VALID)
    try:
        taken = parse_answer(whole[:place] + scratch + whole[place:], SEEN)
    except AnswerError:
        return
    assert [each.market_id for each in taken.forecasts] == ["m1", "m2"]
