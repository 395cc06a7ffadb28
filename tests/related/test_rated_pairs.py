"""S against three raters, who rated 200 pairs of recorded markets without seeing it; docs/beliefbench.md has the rules.

The raters were language models. The pairs of `rated_development.csv` fitted the weights, those of `rated_test.csv` did
not; no event is in both.
"""

import csv
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from predibot.related.features import EQUAL, FEATURES, PAPER, TUNED, Features, ScoreForm
from predibot.related.weights import fit_weights
from predibot.scoring.arguments import Floats, Ints
from predibot.studies.beliefbench.collect import PairMarkets, read_archive_markets
from predibot.studies.beliefbench.scores.tables import rater_agreement
from predibot.venues.archive.reader import Archive
from tests.jobs.tiny import nobody


def ratings_of(name: str) -> dict[tuple[str, str], list[float]]:
    found = defaultdict[tuple[str, str], list[float]](list)
    with (Path(__file__).parent / f"rated_{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            first, second = row["pair"].split("~")
            found[first, second].append(float(row["label"]))
    return found


@pytest.fixture(scope="module")
def recorded(shared_data: Path) -> PairMarkets:
    archive = Archive(shared_data / "polymarket-daily")
    return read_archive_markets(archive, archive.instants[-1], nobody)


class Rated(NamedTuple):
    """Rated pairs of recorded markets, (n,) each."""

    features: Floats
    score: Floats
    mean: Floats
    related: NDArray[np.bool_]
    """Whether most raters say .5 or more."""
    markets: Ints
    """The rows of both markets, (n, 2)."""

    def auc(self, weights: Floats | Ints | None = None) -> float:
        """Return the chance that a related pair has a higher S than an unrelated one; ties count one half."""
        weight = np.ones(self.score.size) if weights is None else weights
        yes, no = self.related, ~self.related
        above = (np.sign(self.score[yes, None] - self.score[no]) + 1.0) / 2.0
        each = weight[yes, None] * weight[no]
        return float((above * each).sum() / each.sum())

    def interval(self) -> tuple[float, float]:
        """Return the 95 % interval of the AUC, markets drawn anew; a pair counts as often as both were drawn."""
        rng, found = np.random.default_rng(0), []
        for _ in range(500):
            counts = np.bincount(rng.integers(0, self.markets.max() + 1, self.markets.max() + 1), minlength=200)
            weights = counts[self.markets[:, 0]] * counts[self.markets[:, 1]]
            if (weights * self.related).sum() and (weights * ~self.related).sum():
                found.append(self.auc(weights))
        low, high = np.quantile(found, [0.025, 0.975]).tolist()
        return low, high


def rated(name: str, known: PairMarkets, form: ScoreForm) -> Rated:
    beliefs = known.known.beliefs
    row = {market: number for number, market in enumerate(beliefs.market_ids)}
    features = Features(beliefs, form=form).block(slice(0, beliefs.n), slice(0, beliefs.n))
    pairs = ratings_of(name)
    ends = np.array([(row[first], row[second]) for first, second in pairs])
    at = (ends[:, 0], ends[:, 1])
    return Rated(
        np.stack([each[at] for each in features.each], axis=1),
        features.scores(form.weights)[at],
        np.array([fmean(each) for each in pairs.values()]),
        np.array([sum(rating >= 0.5 for rating in each) >= 2 for each in pairs.values()]),
        ends,
    )


def test_both_halves_have_a_hundred_pairs_three_raters_and_no_market_in_common() -> None:
    halves = [ratings_of(name) for name in ("development", "test")]
    assert [(len(each), {len(said) for said in each.values()}) for each in halves] == [(100, {3}), (100, {3})]
    one, other = ({name for pair in each for name in pair} for each in halves)
    assert not one & other
    assert rater_agreement([said for each in halves for said in each.values()]).icc > 0.95


def test_the_weights_are_those_that_the_development_half_gives(recorded: PairMarkets) -> None:
    half = rated("development", recorded, TUNED)
    # No market of the archive has a tag, so tags keep a quarter, and the others share the rest.
    fitted = np.array(fit_weights(half.features, half.mean).weights.each) * (1.0 - EQUAL.tags)
    fitted[FEATURES.index("tags")] = EQUAL.tags
    assert TUNED.weights.each == pytest.approx(fitted)


def test_on_the_other_half_S_tells_related_pairs_and_the_papers_form_does_not(recorded: PairMarkets) -> None:
    ours, papers = (rated("test", recorded, form) for form in (TUNED, PAPER))
    assert round(ours.auc(), 3) == 0.996
    low, high = ours.interval()
    assert 0.95 < low < high <= 1.0
    assert ours.score[~ours.related].max() < 0.25
    assert np.corrcoef(ours.score, ours.mean)[0, 1] == pytest.approx(0.893, abs=0.001)
    assert round(papers.auc(), 3) == 0.791
    assert papers.score[~papers.related].max() > 0.6


def test_a_hockey_and_a_basketball_team_are_not_related(recorded: PairMarkets) -> None:
    beliefs, questions = recorded.known.beliefs, recorded.known.questions
    named = [questions[name] for name in beliefs.market_ids]
    hockey, basketball = ([row for row, text in enumerate(named) if words in text] for words in ("NHL", "NBA Finals"))
    scores = Features(beliefs, form=TUNED).block(slice(0, beliefs.n), slice(0, beliefs.n)).scores(TUNED.weights)
    assert (len(hockey), len(basketball)) == (2, 2)
    assert scores[np.ix_(hockey, basketball)].max() < 0.1
