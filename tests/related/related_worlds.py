"""Worlds of events that hang together: what two forecasters are said to differ by, with and without joining them."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from predibot.related.graph import cluster_events
from predibot.scoring.arguments import Ints
from predibot.scoring.evaluation.pairs import brier_pairs
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.track_record import Forecasts
from tests.related.made import from_logits, groups_of, logits_in_groups, random_words

EVENTS, GROUPS = 80, 16
CORRELATION = 0.7
"""Of the outcomes of two events of a group that are as likely as not."""
_LATENT = float(np.sin(CORRELATION * np.pi / 2.0))
"""Of the normal numbers behind them: two signs agree as often as this arcsine says."""
LEAN = 0.1


@dataclass(frozen=True, slots=True)
class Told:
    groups_found: int
    """How many of the groups are clusters, whole and alone."""
    p_values: dict[str, tuple[float, float]]
    """Of two forecasters, with each event by itself and with related ones joined, by what is true of them."""


def sizes_of(clusters: Mapping[str, str]) -> tuple[int, ...]:
    """Return how many events each cluster has, the largest first."""
    return tuple(sorted(Counter(clusters.values()).values(), reverse=True))


def told_by(seed: int, *, resamples: int = 2_000) -> Told:
    """Return what a world tells of two forecasters.

    Each leans to YES or to NO by a tenth on all events of a group, as who believes in a story does. `equal`: both so;
    prices are fair, so that neither is better. `better`: the first knows more, and leans by 0.15 to the outcome.
    """
    rng, group = np.random.default_rng(seed), groups_of(EVENTS, GROUPS)
    logits = logits_in_groups(rng, group)
    beliefs = from_logits(logits, texts=random_words(rng, EVENTS), tags=[[f"tag{number}"] for number in group])
    found = cluster_events(beliefs)
    clusters = np.unique([found[name] for name in beliefs.event_ids], return_inverse=True)[1].astype(np.int64)
    price = np.clip(1.0 / (1.0 + np.exp(-logits[:, -1])), 0.2, 0.8)
    shared, own = rng.normal(size=GROUPS)[group], rng.normal(size=EVENTS)
    latent = np.sqrt(_LATENT) * shared + np.sqrt(1.0 - _LATENT) * own
    outcome = (ndtr(latent) < price).astype(np.float64)
    lean = LEAN * rng.choice([-1.0, 1.0], (2, GROUPS))[:, group]
    pairs = {"equal": price + lean, "better": np.stack([price + 0.15 * np.sign(outcome - price), price + lean[1]])}
    alone = np.arange(EVENTS, dtype=np.int64)
    return Told(
        groups_found=_whole(clusters, group),
        p_values={
            name: (_p_value(said, outcome, alone, resamples), _p_value(said, outcome, clusters, resamples))
            for name, said in pairs.items()
        },
    )


def _whole(clusters: Ints, group: Ints) -> int:
    """Return how many groups are a cluster of their own."""
    members = [frozenset(np.flatnonzero(clusters == number).tolist()) for number in range(int(clusters.max()) + 1)]
    return sum(frozenset(np.flatnonzero(group == number).tolist()) in members for number in range(GROUPS))


def _p_value(said: np.ndarray, outcome: np.ndarray, cluster: Ints, resamples: int) -> float:
    n = outcome.size
    forecasts = Forecasts(
        forecasters=("first", "second"),
        forecaster=np.repeat([0, 1], n).astype(np.int64),
        question=np.tile(np.arange(n, dtype=np.int64), 2),
        cluster=np.tile(cluster, 2),
        probability=said.ravel(),
        outcome=np.tile(outcome, 2),
        market_probability=np.full(2 * n, np.nan),
    )
    (pair,) = brier_pairs(forecasts, Uncertainty(resamples=resamples))
    assert pair.p_value is not None
    return pair.p_value
