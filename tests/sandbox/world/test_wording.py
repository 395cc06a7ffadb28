"""Wording: what invented events and their markets say."""

import re
from collections.abc import Iterator

import pytest

from predibot.sandbox.world.draws import Draws
from predibot.sandbox.world.plan import (
    Wording,
    brackets_wording,
    choose_category,
    dates_wording,
    ladder_wording,
    single_wording,
)
from predibot.sandbox.world.vocabulary import CATEGORIES

CRYPTO = re.compile(r"\b(bitcoin|ethereum|solana|xrp|dogecoin|airdrop|token|fdv)\b", re.IGNORECASE)


def uniforms(number: int) -> Iterator[float]:
    return iter(Draws(1).uniform("wording", event=number, item=range(80), known_at_minute=0).tolist())


def wordings(category: str) -> Iterator[tuple[int, Wording]]:
    """Yield wordings of every structure, each with the number of its markets."""
    for number in range(25):
        yield 1, single_wording(uniforms(number), category, date="May 4")
        yield 5, ladder_wording(uniforms(number), category, date="May 4", rungs=5)
        yield 3, dates_wording(uniforms(number), category, dates=["May 4", "May 9", "May 14"])
        for count in (3, 9, 24):
            yield count, brackets_wording(uniforms(number), category, date="May 4", count=count)


@pytest.mark.parametrize("category", CATEGORIES)
def test_every_market_has_its_own_question_and_no_place_is_left_unfilled(category: str) -> None:
    for count, wording in wordings(category):
        assert len(set(wording.questions)) == len(set(wording.names)) == count
        assert not re.search(r"[{}]", " ".join([wording.title, wording.description, *wording.questions]))
        assert wording.outcomes[0] != wording.outcomes[1]


def test_crypto_events_say_so_in_tags_and_title_and_no_others_do() -> None:
    for category in CATEGORIES:
        for _, wording in wordings(category):
            assert bool(CRYPTO.search(wording.title)) is (category == "crypto"), wording.title
            assert ("crypto" in [slug for _, slug in wording.tags]) is (category == "crypto")


def test_the_shares_of_the_categories_add_up_to_one_and_are_kept() -> None:
    assert sum(category.share for category in CATEGORIES.values()) == pytest.approx(1.0)
    drawn = [choose_category(uniforms(number)) for number in range(2_000)]
    for name, category in CATEGORIES.items():
        assert drawn.count(name) / len(drawn) == pytest.approx(category.share, abs=0.04)


def test_a_match_between_two_teams_has_the_teams_as_outcomes() -> None:
    singles = [single_wording(uniforms(number), "sports", date="May 4") for number in range(40)]
    matches = [wording for wording in singles if " vs. " in wording.title]
    assert matches
    assert all(wording.title.startswith(f"{wording.outcomes[0]} vs. {wording.outcomes[1]}") for wording in matches)
