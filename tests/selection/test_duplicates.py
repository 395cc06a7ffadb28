"""Duplicates in a selection: dropped in the order of rank, named, and by what the recipe says alone."""

from dataclasses import replace

import numpy as np
import pytest

from predibot.domain.event import Event
from predibot.selection import SelectionRules, ranking_is_settled, select
from tests.selection.worlds import NOW, WORDS, event, market

RULES = SelectionRules(crypto=WORDS, drop_duplicates=0.9, duplicate_text="title", events=3)
LISTED = [
    event("1", "Will it rain in May?", volume=5.0),
    event("2", "In May, will it RAIN?", volume=4.0),
    event("3", "Will it rain in June?", volume=3.0),
    event("4", "will it rain, in may", volume=2.0),
    event("5", "Will it snow in May?", volume=1.0),
]


def ids(events: list[Event], rules: SelectionRules) -> list[str]:
    return [chosen.id for chosen in select(events, rules, NOW).selected]


def test_duplicates_of_higher_ranked_events_are_passed_over_and_both_are_named() -> None:
    chosen = select(LISTED[::-1], RULES, NOW)
    assert [each.id for each in chosen.selected] == ["1", "3", "5"]
    dropped = {each.event_id: each for each in chosen.passed_over}
    assert (dropped["2"].rule, dropped["4"].rule) == ("drop_duplicates", "drop_duplicates")
    assert dropped["2"].reason == (
        "its text is that of event 1 (Will it rain in May?): cosine 1.000 by tfidf; drop_duplicates is 0.9"
    )
    assert "event 4 (will it rain, in may) is left out: its text is that of event 1" in " ".join(chosen.notes)


def test_without_the_rule_nothing_is_dropped() -> None:
    assert ids(LISTED, replace(RULES, drop_duplicates=0.0)) == ["1", "2", "3"]


def test_what_ranks_below_the_last_that_is_played_is_no_duplicate() -> None:
    assert [each.rule for each in select(LISTED, replace(RULES, events=1), NOW).passed_over] == ["events"] * 4


def test_an_event_that_is_named_is_played_whatever_it_duplicates() -> None:
    assert [each.id for each in select(LISTED, RULES, NOW, only_event_id="4").selected] == ["4"]


def test_events_of_one_title_with_other_questions_are_no_duplicates() -> None:
    first, second = (event(name, "How high?", markets=[market(f"above {name}00")]) for name in "12")
    assert ids([first, second], RULES) == ["1"]
    assert ids([first, second], replace(RULES, duplicate_text="title_and_questions")) == ["1", "2"]


def test_where_markets_are_ranked_an_event_that_duplicates_another_gives_none() -> None:
    rules = replace(RULES, rank_by="market_volume", events=3, exclude=())
    listed = [
        replace(each, markets=tuple(replace(m, volume_usd=volume) for m in each.markets))
        for each, volume in zip(LISTED, (5.0, 4.0, 3.0, 2.0, 1.0), strict=True)
    ]
    assert ids(listed, rules) == ["1", "3", "5"]


def test_what_is_left_out_does_not_settle_a_ranking() -> None:
    rules, volumes = replace(RULES, events=2), (9.0, 8.0, 7.0, 3.0, 2.0)
    listed = [replace(each, volume_1wk_usd=volume) for each, volume in zip(LISTED, volumes, strict=True)]
    pages = [[each] for each in listed]
    assert [ranking_is_settled(pages[:read], rules, NOW) for read in range(1, 6)] == [False] * 4 + [True]
    assert ids(listed, rules) == ["1", "3"]


def test_a_port_of_embeddings_decides_by_its_vectors() -> None:
    def first_word(texts: object) -> np.ndarray:
        return np.array([[1.0, 0.0], [0.6, 0.8]])

    rules = replace(RULES, duplicate_port="embeddings", duplicate_model="some/model", drop_duplicates=0.5)
    told = select(LISTED, rules, NOW, embed=first_word)
    assert "cosine 0.600 by embeddings of some/model" in told.passed_over[0].reason
    assert [
        each.id for each in select(LISTED, replace(rules, drop_duplicates=0.7), NOW, embed=first_word).selected
    ] == [
        "1",
        "2",
        "3",
    ]


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ({"drop_duplicates": 1.5}, "a cosine from 0 to 1"),
        ({"drop_duplicates": float("nan")}, "a cosine from 0 to 1"),
        ({"duplicate_text": "rules"}, "it may be title, title_and_questions"),
        ({"duplicate_port": "words"}, "it may be tfidf, embeddings"),
        ({"duplicate_port": "embeddings"}, "give both, or neither"),
        ({"duplicate_model": "some/model"}, "give both, or neither"),
    ],
)
def test_rules_that_say_nothing_are_refused(stated: dict[str, float | str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SelectionRules(crypto=WORDS, **stated)  # type: ignore[arg-type]
