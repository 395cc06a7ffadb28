"""Rationales: what they refer to by rules."""

import pytest

from predibot.scoring.accounts.rationale import factors_named, shares_of_factors


@pytest.mark.parametrize(
    ("text", "factors"),
    [
        ("We keep our current position in YES.", {"position"}),
        ("Already invested enough, so cash reserves are kept.", {"position"}),
        ("The price has risen over the past three days; momentum is strong.", {"price_history"}),
        ("According to two articles, the deal was announced.", {"news"}),
        (
            "Headlines suggest a deal, the odds have fallen, and my holdings are large.",
            {"news", "price_history", "position"},
        ),
        ("There is no news, and no recent trend.", set()),
        ("It will rain.", set()),
        ("", set()),
    ],
)
def test_a_rationale_refers_to_what_it_names(text: str, factors: set[str]) -> None:
    assert factors_named(text) == factors


def test_shares_may_add_up_to_more_than_one() -> None:
    shares = shares_of_factors([{"news", "position"}, {"news"}, set(), {"price_history"}])
    assert shares == {"position": 0.25, "price_history": 0.25, "news": 0.5}
