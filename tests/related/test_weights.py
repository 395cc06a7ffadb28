"""FeatureWeights: found again where the labels follow them, and never outside of what weights may be."""

import math

import numpy as np
import pytest

from predibot.related.features import FeatureWeights
from predibot.related.weights import fit_weights


@pytest.mark.parametrize("truth", [(0.4, 0.3, 0.2, 0.1), (0.03, 0.0, 0.9, 0.07), (0.0, 0.0, 0.0, 1.0)])
def test_the_weights_behind_labels_are_found_again(truth: tuple[float, float, float, float]) -> None:
    features = np.random.default_rng(0).random((60, 4))
    found = fit_weights(features, features @ np.array(truth))
    assert found.weights.each == pytest.approx(truth)
    assert (found.mean_squared_error, found.pairs) == (pytest.approx(0.0), 60)
    assert found.pearson == pytest.approx(1.0)


def test_missing_features_drop_out_of_their_pairs() -> None:
    rng = np.random.default_rng(1)
    features = np.where(rng.random((80, 4)) < 0.2, np.nan, rng.random((80, 4)))
    features[0] = np.nan
    truth = np.array([0.1, 0.2, 0.3, 0.4])
    there = ~np.isnan(features)
    labels = np.nan_to_num(np.nansum(features * truth, axis=1) / (there @ truth + (~there.any(axis=1))))
    found = fit_weights(features, labels)
    assert found.weights.each == pytest.approx(tuple(truth))
    assert found.pairs == 79


def test_they_are_weights_and_no_worse_than_any_others_that_are() -> None:
    rng = np.random.default_rng(2)
    features, labels = rng.random((50, 4)), rng.random(50)
    found = fit_weights(features, labels)
    assert isinstance(found.weights, FeatureWeights)
    others = rng.dirichlet(np.ones(4), 2_000)
    errors = np.mean((others @ features.T - labels) ** 2, axis=1)
    # Hundredths: the best of all can be nearer than that.
    assert found.mean_squared_error <= errors.min() + 1e-4


def test_labels_that_are_always_the_same_have_no_correlation() -> None:
    assert fit_weights(np.random.default_rng(3).random((9, 4)), [0.5] * 9).pearson is None


def test_what_says_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no pair has a feature"):
        fit_weights([[math.nan] * 4], [0.5])


def test_a_feature_that_every_pair_lacks_has_no_weight() -> None:
    features = np.random.default_rng(4).random((60, 4))
    truth = np.array([0.25, 0.0, 0.15, 0.6])
    labels = features @ truth
    features[:, 1] = math.nan
    assert fit_weights(features, labels).weights.each == pytest.approx(tuple(truth))
    # Nor where labels are such that it would only round the others off.
    labels = np.random.default_rng(5).random(60)
    assert fit_weights(features, labels).weights.tags == 0.0
