"""Duplicates: questions that ask what another asks, whatever they look like; and no others."""

import numpy as np
import pytest

from predibot.related.duplicates import TextIndex
from tests.related.question_pairs import (
    CASE,
    DATE,
    NAME,
    NEGATION,
    NUMBER,
    PUNCTUATION,
    SPELLING,
    WORD_ORDER,
)


def is_duplicate(first: str, second: str, *others: str) -> bool:
    kept = TextIndex(0.9)
    for number, text in enumerate((*others, first)):
        kept.find_or_keep(str(number), text)
    found = kept.find_or_keep("second", second)
    return found is not None and found[0] == str(len(others))


@pytest.mark.parametrize(("first", "second"), [*SPELLING, *CASE, *PUNCTUATION, *WORD_ORDER])
def test_what_is_only_written_otherwise_is_a_duplicate(first: str, second: str) -> None:
    assert is_duplicate(first, second)
    assert is_duplicate(second, first)
    assert is_duplicate(first, second, "Will aliens land?", "Will 7 ducks cross the road in August?")


@pytest.mark.parametrize(("first", "second"), [*NUMBER, *DATE, *NAME, *NEGATION])
def test_what_differs_in_a_number_date_name_or_negation_is_none(first: str, second: str) -> None:
    assert not is_duplicate(first, second)
    assert not is_duplicate(second, first)
    filler = " The market resolves by what the official source of the organizers says about it at the end of the day."
    assert not is_duplicate(first + filler, second + filler)


def test_a_duplicate_is_of_the_highest_ranked_and_is_not_kept_itself() -> None:
    kept = TextIndex(0.9)
    assert kept.find_or_keep("a", "Will it rain in May?") is None
    assert kept.find_or_keep("b", "Will it snow in May?") is None
    found = kept.find_or_keep("c", "In May, will it rain?")
    assert found is not None
    assert found == ("a", 1.0)
    again = kept.find_or_keep("d", "will it RAIN in May")
    assert again is not None
    assert again[0] == "a"


def test_what_comes_later_changes_nothing_that_was_said_before() -> None:
    texts = [first for pair in (*SPELLING, *NAME, *DATE) for first in pair]
    short, long = TextIndex(0.9), TextIndex(0.9)
    told = [long.find_or_keep(str(number), text) for number, text in enumerate(texts)]
    assert [short.find_or_keep(str(number), text) for number, text in enumerate(texts[:30])] == told[:30]


def test_another_port_says_how_like_two_texts_are_and_the_facts_still_decide() -> None:
    def everything_alike(texts: object) -> np.ndarray:
        return np.ones((2, 1))

    kept = TextIndex(0.9, everything_alike)
    assert kept.find_or_keep("a", "Will the Fed cut rates in May?") is None
    assert kept.find_or_keep("b", "Will the Fed cut rates in June?") is None
    found = kept.find_or_keep("c", "Do rates in May get slashed at the Fed?")
    assert found is not None
    assert found[0] == "a"


def test_two_words_that_are_both_known_are_no_slip_of_each_other() -> None:
    others = (
        "Which county votes first?",
        "Largest county of Texas",
        "Largest country of Africa",
        "Which country votes?",
    )
    assert is_duplicate("Will the country vote on it?", "Will the county vote on it?")
    assert not is_duplicate("Will the country vote on it?", "Will the county vote on it?", *others)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Will Germany import gas from Norway?", "Will Norway import gas from Germany?"),
        ("Will Biden criticize Trump first?", "Will Trump criticize Biden first?"),
        ("Will Real Madrid lead Barcelona at half-time?", "Will Barcelona lead Real Madrid at half-time?"),
        (
            "Will the Democrats control the Senate but the Republicans the House?",
            "Will the Republicans control the Senate but the Democrats the House?",
        ),
    ],
)
def test_names_that_change_their_sides_of_a_verb_ask_another_thing(first: str, second: str) -> None:
    assert not is_duplicate(first, second)
    assert not is_duplicate(second, first)


def test_names_that_change_their_sides_of_what_both_do_ask_the_same() -> None:
    assert is_duplicate("Will Trump meet Putin in May?", "Will Putin meet Trump in May?")
    assert is_duplicate("Will Russia and Ukraine sign a deal?", "Will Ukraine and Russia sign a deal?")
