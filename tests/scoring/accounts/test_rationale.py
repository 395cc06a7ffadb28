"""Rationales: what they refer to by rules, and how far two readings agree."""

import pytest

from predibot.scoring.accounts.rationale import cohen_kappa, factors_named, shares_of_factors


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


def test_kappa_by_hand() -> None:
    # 20 of 25 both yes, 15 both no of 50: seen .7; yes .5 and .6, expected .5 * .6 + .5 * .4 = .5.
    one = [1] * 25 + [0] * 25
    other = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(one, other) == pytest.approx(0.4)


def test_full_agreement_is_one_and_one_class_alone_says_nothing() -> None:
    assert cohen_kappa("abca", "abca") == 1.0
    assert cohen_kappa([True, True], [True, True]) is None
    assert cohen_kappa([1, 0], [0, 1]) == -1.0


def test_readings_of_other_things_are_refused() -> None:
    with pytest.raises(ValueError, match="two readings of the same things"):
        cohen_kappa([1], [1, 0])
