"""Manifold's market objects: what is played of them, what they settle to, and that nothing of others crashes it."""

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predibot.domain.event import Event
from predibot.domain.resolution import Resolution
from predibot.venues.manifold.parse import PAYLOADS, contract_of, parse_event, parse_resolutions
from tests.venues.manifold.payloads import NOW, answer, binary, ms, multi, resolved

HOUR_AGO = NOW - timedelta(hours=1)


def event_of(payload: object) -> Event:
    """Return an event that has to be readable whole."""
    event, skipped = parse_event(payload, quoted_at=NOW)
    assert event is not None and skipped == ()
    return event


def paid(payload: object) -> dict[str, float | None]:
    """Return what each settled market paid."""
    return {name: each.payout_yes for name, each in parse_resolutions(payload, first_seen_at=NOW)[0].items()}


def test_a_binary_market_is_an_event_with_one_market() -> None:
    event = event_of(binary())
    (market,) = event.markets
    assert (event.id, event.title, event.description) == ("abc", "Will it rain?", "Rain at noon counts.")
    assert (event.volume_24h_usd, event.volume_1wk_usd) == (900.25, None)
    assert [(tag.label, tag.slug) for tag in event.tags] == [("us politics", "us-politics"), ("weather", "weather")]
    assert (market.id, market.outcomes, market.ref.token_ids) == ("abc", ("YES", "NO"), ("abc-YES", "abc-NO"))
    assert (market.volume_usd, market.volume_24h_usd, market.closed, market.fees) == (12_000.5, 900.25, False, None)
    assert market.quote is not None and (market.quote.displayed, market.quote.bid) == (0.42, None)
    assert market.exclusive_group == "" and event.closes_at == market.closes_at is not None
    for stated, known in ((1_767_323_045_000, "2026-01-02T03:04:05+00:00"), ("soon", "None"), (None, "None")):
        opened = event_of(binary(createdTime=stated)).markets[0].opened_at
        assert str(opened).replace(" ", "T") == known


def test_each_answer_is_a_market_and_those_that_add_up_to_one_exclude_each_other() -> None:
    event = event_of(multi())
    assert [(each.id, each.question) for each in event.markets] == [
        ("many-a", "Will it rain?: Answer a"),
        ("many-b", "Will it rain?: Answer b"),
    ]
    assert {each.exclusive_group for each in event.markets} == {"many"}
    assert [each.ref.token_ids[1] for each in event.markets] == ["many-a-NO", "many-b-NO"]
    assert {each.exclusive_group for each in event_of(multi(shouldAnswersSumToOne=False)).markets} == {""}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"outcomeType": "POLL"}, "it is a market of kind 'POLL'"),
        ({"outcomeType": "PSEUDO_NUMERIC", "min": 0, "max": 9}, "it is a market of kind 'PSEUDO_NUMERIC'"),
        ({"token": "CASH"}, "it is paid in 'CASH', not in mana"),
        ({"deleted": True}, "it was deleted"),
        ({"question": ""}, "question: it is missing or empty"),
        ({"id": "a-b"}, "id: 'a-b' is not an id of Manifold"),
        ({"probability": 1.5}, "probability: 1.5 is not a price in [0, 1]"),
        ({"answers": [{}] * 2_001}, "answers: Value should have at most 2000 items"),
    ],
)
def test_what_is_not_played_is_skipped_with_its_reason(changes: dict[str, object], said: str) -> None:
    event, (skip,) = parse_event(binary(**changes), quoted_at=NOW)
    assert event is None and skip.kind == "event" and skip.reason.startswith(said)


def test_an_answer_that_cannot_be_read_leaves_the_others() -> None:
    bad = [answer("c", text=""), answer("d", probability="x"), answer("a", text="twice"), 7]
    event, skipped = parse_event(multi("many", answer("a"), answer("b"), *bad), quoted_at=NOW)  # type: ignore[arg-type]
    assert event is not None and [each.id for each in event.markets] == ["many-a", "many-b"]
    assert [(skip.kind, skip.id, skip.event_id) for skip in skipped] == [
        ("market", "c", "many"),
        ("market", "d", "many"),
        ("market", "many-a", "many"),
        ("market", "?", "many"),
    ]


def test_other_is_played_only_where_no_answer_can_be_taken_out_of_it() -> None:
    answers = (answer("a"), answer("o", isOther=True))
    growing, (skip,) = parse_event(multi("many", *answers, addAnswersMode="ANYONE"), quoted_at=NOW)
    assert growing is not None
    assert (len(event_of(multi("many", *answers)).markets), len(growing.markets)) == (2, 1)
    assert (skip.id, skip.reason) == ("many-o", "answers may still be taken out of it")


def test_a_market_is_closed_from_its_end_on_and_once_it_is_resolved() -> None:
    for payload, closed in (
        (binary(), False),
        (binary(closeTime=ms(NOW)), True),
        (resolved(binary(), "YES"), True),
        (binary(isResolved=None), None),
    ):
        assert event_of(payload).closed is closed
    answers = (answer("a", resolution="NO"), answer("b"))
    one_done = event_of(multi("many", *answers, shouldAnswersSumToOne=False))
    assert [each.closed for each in one_done.markets] == [True, False]


@pytest.mark.parametrize("end", [8_640_000_000_000_000, None, 4 * 10**15])
def test_an_end_that_nobody_meant_is_no_end(end: object) -> None:
    event = event_of(binary(closeTime=end))
    assert event.closes_at is None and event.closed is False


def test_the_description_of_an_older_market_is_read_out_of_its_document() -> None:
    words = [{"type": "text", "text": text} for text in ("one", "two")]
    document = {"type": "doc", "content": [{"type": "paragraph", "content": words}, "odd", {"content": 3}]}
    assert event_of(binary(textDescription=None, description=document)).description == "one two"


def test_no_payload_states_a_result() -> None:
    assert "esol" not in event_of(resolved(multi("many", answer("a", resolution="YES")), "a")).payload
    assert "esol" not in PAYLOADS.without_results(json.dumps(resolved(binary(), "YES"), separators=(",", ":")))


@pytest.mark.parametrize(
    ("resolution", "share", "payout"),
    [
        # The share is stated of YES and NO too, where it is no payout.
        ("YES", 0.99, 1.0),
        ("NO", 0.05, 0.0),
        ("MKT", 0.37, 0.37),
        ("MKT", 0.0, 0.0),
        ("CANCEL", 0.5, None),
    ],
)
def test_what_a_binary_market_pays(resolution: str, share: float, payout: float | None) -> None:
    found, unread = parse_resolutions(resolved(binary(), resolution, resolutionProbability=share), first_seen_at=NOW)
    assert (found, unread) == ({"abc": Resolution(payout, HOUR_AGO, "venue", HOUR_AGO)}, {})


def test_without_an_instant_it_is_settled_since_it_was_seen() -> None:
    found, _ = parse_resolutions(resolved(binary(), "NO", resolutionTime=None), first_seen_at=NOW)
    assert found["abc"] == Resolution(0.0, NOW, "first_sight", NOW)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"resolution": "MKT"}, "without a resolutionProbability"),
        ({"resolution": "MAYBE"}, "none of YES, NO, MKT and CANCEL"),
        ({"resolution": None}, "none of YES, NO, MKT and CANCEL"),
        ({"resolution": "MKT", "resolutionProbability": 37}, "not a price in [0, 1]"),
        ({"resolution": "YES", "resolutionTime": "yesterday"}, "is not a number"),
    ],
)
def test_a_resolution_that_cannot_be_read_settles_nothing(changes: dict[str, object], said: str) -> None:
    found, unread = parse_resolutions(resolved(binary(), "YES") | changes, first_seen_at=NOW)
    assert found == {} and said in unread["abc"]


def test_what_is_open_is_not_settled_whatever_its_chance() -> None:
    for payload in (binary(probability=1.0), binary(resolution="YES"), multi(), multi(resolution="a")):
        assert parse_resolutions(payload, first_seen_at=NOW) == ({}, {})


@pytest.mark.parametrize(
    ("resolution", "shares", "payouts"),
    [
        ("b", None, [0.0, 1.0]),
        ("MKT", {"a": 25, "b": 75}, [0.25, 0.75]),
        ("CHOOSE_MULTIPLE", {"a": "1", "b": 3}, [0.25, 0.75]),
        ("MKT", {"b": 100}, [0.0, 1.0]),
        ("CANCEL", None, [None, None]),
    ],
)
def test_what_exclusive_answers_pay(resolution: str, shares: object, payouts: list[float | None]) -> None:
    assert paid(resolved(multi(), resolution, resolutions=shares)) == dict(
        zip(("many-a", "many-b"), payouts, strict=True)
    )


@pytest.mark.parametrize(
    ("resolution", "shares"),
    [("zzz", None), ("YES", None), ("MKT", None), ("MKT", {"a": 0}), ("MKT", {"a": 50, "zzz": 50}), ("", None)],
)
def test_exclusive_answers_are_not_settled_by_what_names_none_of_them(resolution: str, shares: object) -> None:
    found, unread = parse_resolutions(resolved(multi(), resolution, resolutions=shares), first_seen_at=NOW)
    assert found == {} and unread.keys() == {"many-a", "many-b"}


def test_independent_answers_are_settled_each_by_itself() -> None:
    answers = [
        answer("a", resolution="YES", resolutionProbability=0.9, resolutionTime=ms(NOW) - 7_200_000),
        answer("b", resolution="CANCEL", resolutionTime=ms(NOW) - 3_600_000),
        answer("c", resolution="MKT", resolutionProbability=0.3, resolutionTime=ms(NOW) - 3_600_000),
        answer("d"),
        answer("e", resolution="WHO"),
        {"id": "f", "resolution": [1]},
    ]
    found, unread = parse_resolutions(multi("many", *answers, shouldAnswersSumToOne=False), first_seen_at=NOW)
    assert {name: each.payout_yes for name, each in found.items()} == {"many-a": 1.0, "many-b": None, "many-c": 0.3}
    assert found["many-a"].settled_at == NOW - timedelta(hours=2)
    assert unread.keys() == {"many-e", "many-f"}


@pytest.mark.parametrize(
    ("resolution", "payouts", "unsaid"),
    [("CANCEL", {"many-a": 1.0, "many-b": None}, set()), ("MKT", {"many-a": 1.0}, {"many-b"})],
)
def test_an_independent_answer_of_a_resolved_whole_is_cancelled_with_it_or_named(
    resolution: str, payouts: dict[str, float | None], unsaid: set[str]
) -> None:
    several = multi("many", answer("a", resolution="YES"), answer("b"), shouldAnswersSumToOne=False)
    found, unread = parse_resolutions(resolved(several, resolution), first_seen_at=NOW)
    assert {name: each.payout_yes for name, each in found.items()} == payouts
    assert unread.keys() == unsaid


def test_ids_are_taken_apart_as_they_were_put_together() -> None:
    assert (contract_of("abc"), contract_of("many-a")) == (("abc", None), ("many", "a"))
    for wrong in ("", "a-b-c", "a b", "-a", "a-", "../x", "x" * 41):
        with pytest.raises(ValueError, match="is not an id of Manifold"):
            contract_of(wrong)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["YES", "a"])
ANYTHING = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)
FIELDS = sorted({*resolved(multi(), "a"), "resolutions", "resolutionProbability", "answers", "min"})


@settings(max_examples=30)
@given(changes=st.dictionaries(st.sampled_from(FIELDS), ANYTHING, max_size=4), several=st.booleans())
def test_no_payload_crashes_or_settles_an_open_market(changes: dict[str, object], several: bool) -> None:
    payload = (multi() if several else binary()) | changes
    event, _ = parse_event(payload, quoted_at=NOW)
    assert event is None or event.id == payload["id"]
    found, unread = parse_resolutions(payload, first_seen_at=NOW)
    for each in found.values():
        assert each.payout_yes is None or 0.0 <= each.payout_yes <= 1.0
    if payload.get("isResolved") is False and payload.get("shouldAnswersSumToOne") is not False and not unread:
        assert found == {} or payload.get("shouldAnswersSumToOne") is None


@given(ANYTHING)
def test_nothing_that_is_no_market_crashes(payload: object) -> None:
    event, _ = parse_event(payload, quoted_at=NOW)
    found, _ = parse_resolutions(payload, first_seen_at=NOW)
    assert event is None and found == {}


@pytest.mark.parametrize(
    ("change", "slugs"),
    [
        ({"groupSlugs": [None, "us-politics", {"slug": "x"}, ["y"], ""]}, ["us-politics"]),
        ({"groupSlugs": [None]}, []),
        ({"groupSlugs": ""}, []),
        ({"volume": "12,345", "volume24Hours": "NaN"}, ["us-politics", "weather"]),
    ],
)
def test_an_entry_that_cannot_be_read_costs_itself_only(change: dict[str, object], slugs: list[str]) -> None:
    event = event_of(binary(**change))
    assert ([tag.slug for tag in event.tags], len(event.markets)) == (slugs, 1)
    if "volume" in change:
        assert (event.volume_24h_usd, event.markets[0].volume_usd) == (None, None)


@pytest.mark.parametrize(
    "stated", [{"prob": 0.25}, {"probability": None, "prob": 0.25}, {"probability": 0.25, "prob": 1}]
)
def test_the_chance_of_an_answer_is_that_of_the_name_that_states_one(stated: dict[str, object]) -> None:
    named = {name: value for name, value in answer("a").items() if name != "probability"} | stated
    quote = event_of(multi("many", named, answer("b"))).markets[0].quote
    assert quote is not None and quote.displayed == 0.25
