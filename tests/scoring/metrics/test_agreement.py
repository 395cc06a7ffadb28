"""Agreement: how far two readings of the same things say the same."""

import math
import sys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.metrics import cohen_kappa_score, f1_score

from predibot.errors import UsageError
from predibot.scoring.metrics.agreement import cohen_kappa, macro_f1, quadratic_weighted_kappa, rank_correlation

SERIES = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=1, max_size=20)
RATINGS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=20)
Pairs = list[tuple[int, int]]


def columns(pairs: Pairs) -> tuple[list[int], list[int]]:
    return [a for a, _ in pairs], [b for _, b in pairs]


@given(SERIES)
def test_rank_correlation_is_that_of_the_ranks_and_the_same_both_ways(pairs: Pairs) -> None:
    a, b = columns(pairs)
    found = rank_correlation(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert math.isnan(found)
        return
    assert found == pytest.approx(np.corrcoef(rankdata(a), rankdata(b))[0, 1])
    assert found == pytest.approx(rank_correlation(b, a))
    assert found == pytest.approx(-rank_correlation([-each for each in a], b))
    assert found == pytest.approx(rank_correlation(np.exp(a), b))


def test_numbers_far_apart_have_an_order() -> None:
    assert rank_correlation([1, 2], [1e308, -1e308]) == pytest.approx(-1.0)


@given(RATINGS)
def test_kappa_agrees_with_scikit_learn_and_is_the_same_both_ways(pairs: Pairs) -> None:
    a, b = columns(pairs)
    found = quadratic_weighted_kappa(a, b)
    if len({*a, *b}) == 1:
        assert math.isnan(found)
        return
    assert found == pytest.approx(cohen_kappa_score(a, b, weights="quadratic"))
    assert found == pytest.approx(quadratic_weighted_kappa(b, a))
    assert found <= 1.0 + 1e-12


@given(RATINGS)
def test_macro_f1_agrees_with_scikit_learn_and_labels_are_but_names(pairs: Pairs) -> None:
    truth, predicted = columns(pairs)
    found = macro_f1(truth, predicted)
    assert found == pytest.approx(f1_score(truth, predicted, average="macro"))
    assert found == pytest.approx(
        macro_f1([f"rating {each}" for each in truth], [f"rating {each}" for each in predicted])
    )
    assert 0.0 <= found <= 1.0


def test_truth_values_are_labels_too() -> None:
    assert macro_f1([True, False], [True, False]) == 1.0
    assert macro_f1(np.array(["yes", "no"]), ["no", "yes"]) == 0.0


@pytest.mark.parametrize("call", [quadratic_weighted_kappa, macro_f1])
def test_without_scikit_learn_it_says_what_to_install(
    call: Callable[[list[int], list[int]], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sklearn", "sklearn.metrics"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError) as refused:
        call([1, 2], [1, 2])
    assert str(refused.value) == 'agreement of labels needs scikit-learn: pip install "predibot[agreement]"'


def test_kappa_of_classes_by_hand() -> None:
    # 20 of 25 both yes, 15 both no of 50: seen .7; yes .5 and .6, expected .5 * .6 + .5 * .4 = .5.
    one = [1] * 25 + [0] * 25
    other = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    assert cohen_kappa(one, other) == pytest.approx(0.4)


def test_full_agreement_is_one_and_one_class_alone_says_nothing() -> None:
    assert cohen_kappa(list("abca"), list("abca")) == 1.0
    assert cohen_kappa([True, True], [True, True]) is None
    assert cohen_kappa([1, 0], [0, 1]) == -1.0


def test_a_class_that_one_reader_alone_gives_agrees_with_none_by_chance() -> None:
    one, other = list("aabc"), list("aabb")
    assert cohen_kappa(one, other) == pytest.approx(cohen_kappa_score(one, other))
