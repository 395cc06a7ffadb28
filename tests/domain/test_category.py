"""Categories: the field an event belongs to, found among the many labels a venue puts on it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from predibot.domain.category import category_of, domain_of
from predibot.domain.event import Tag

KNOWN = [
    Tag("Politics", "politics"),
    Tag("Sports", "sports"),
    Tag("Crypto", "crypto"),
    Tag("World", "world"),
    Tag("Pop Culture", "pop-culture"),
]


@pytest.mark.parametrize(
    ("slugs", "category"),
    [
        (["politics"], "Politics"),
        (["elections"], "Politics"),
        (["esports"], "Sports"),
        (["world", "politics"], "Politics"),
        (["finance", "crypto"], "Crypto"),
        (["ai"], "Tech"),
    ],
)
def test_headings_and_the_tags_below_them_are_known(slugs: list[str], category: str) -> None:
    assert category_of([Tag(slug.upper(), slug) for slug in slugs]) == category


@settings(max_examples=50)
@given(st.lists(st.sampled_from(KNOWN), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_known_tags_give_the_same_whatever_their_order(tags: list[Tag], random: Any) -> None:
    other = list(tags)
    random.shuffle(other)
    assert category_of(tags) == category_of(other)


def test_without_a_known_tag_the_first_label_is_it_or_none() -> None:
    assert category_of([Tag("All", "all"), Tag("", "nameless"), Tag("Chess", "chess"), Tag("Go", "go")]) == "Chess"
    assert category_of([]) is None
    assert category_of([Tag("All", "all"), Tag("", "nameless")]) is None


@pytest.mark.parametrize("slug", ["elections", "world-elections", "us-election-2028"])
def test_a_tag_of_elections_comes_before_politics_in_a_domain_and_not_in_a_category(slug: str) -> None:
    tags = [Tag("Politics", "politics"), Tag(slug.upper(), slug)]
    assert (domain_of(tags), category_of(tags)) == ("Election", "Politics")
    assert domain_of(tags[:1]) == "Politics"
    assert domain_of([]) is None
