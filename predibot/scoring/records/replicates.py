"""Replicates in a record: joined to one bot for its scores, apart for their spread."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from predibot.domain.replicates import joined_bots, split_replicate
from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.records.edge import edges
from predibot.scoring.records.track_record import TrackRecord, settled_forecasts


@dataclass(frozen=True, slots=True)
class ReplicateSpread:
    """How far the same score of a bot's replicates lies apart."""

    mean: float
    low: float
    high: float
    deviation: float | None
    """The sample standard deviation; None for one."""

    @classmethod
    def of(cls, values: Floats) -> Self | None:
        """Return the spread of some values, (n,), NaN where a replicate has none; None without any."""
        known = values[~np.isnan(values)]
        if not known.size:
            return None
        deviation = float(known.std(ddof=1)) if known.size > 1 else None
        return cls(float(known.mean()), float(known.min()), float(known.max()), deviation)


@dataclass(frozen=True, slots=True)
class ReplicateScores:
    """The scores of a bot's replicates, each by itself."""

    count: int
    edge: ReplicateSpread | None
    brier: ReplicateSpread | None


def join_replicates(record: TrackRecord) -> TrackRecord:
    """Return a record with a bot's replicates as that one bot, which is ranked once.

    Its decisions on one event and slot are averaged as those of two runs are, and
    are one cluster. A replicate without a sibling stays as it is.
    """
    joined = joined_bots(record.bots)
    if not joined:
        return record
    whose = [split_replicate(name) for name in record.bots]
    named = [bot if bot in joined else name for name, (bot, _) in zip(record.bots, whose, strict=True)]
    bots = tuple(dict.fromkeys(named))
    index = np.array([bots.index(name) for name in named], dtype=np.int64)
    number = np.array([n if bot in joined else 0 for bot, n in whose], dtype=np.int64)
    same = {
        bot
        for bot in bots
        if all(own in record.baselines for own, name in zip(record.bots, named, strict=True) if name == bot)
    }
    return replace(
        record,
        bots=bots,
        decision_bot=index[record.decision_bot],
        decision_replicate=number[record.decision_bot],
        baselines=frozenset(same),
    )


def replicate_scores(record: TrackRecord) -> Mapping[str, ReplicateScores]:
    """Return the scores of the replicates of each bot that has some, from a record that joined them."""
    if record.decision_replicate is None or not record.decision_replicate.any():
        return {}
    cells, index = np.unique(np.stack([record.decision_bot, record.decision_replicate]), axis=1, return_inverse=True)
    names = tuple(f"{record.bots[bot]}#{number}" for bot, number in cells.T.tolist())
    apart = replace(record, bots=names, decision_bot=index.reshape(-1).astype(np.int64), baselines=frozenset())
    found, forecasts = edges(apart), settled_forecasts(apart)
    edge = _means(found.bot, found.value, len(names))
    brier = _means(forecasts.forecaster, forecasts.squared_errors(), len(names))
    scores = {}
    for row in np.unique(cells[0][cells[1] > 0]).tolist():
        own: NDArray[np.bool_] = (cells[0] == row) & (cells[1] > 0)
        scores[record.bots[row]] = ReplicateScores(
            int(own.sum()), ReplicateSpread.of(edge[own]), ReplicateSpread.of(brier[own])
        )
    return scores


def _means(bot: Ints, values: Floats, bots: int) -> Floats:
    n = np.bincount(bot, minlength=bots)
    means: Floats = np.divide(np.bincount(bot, values, bots), n, out=np.full(bots, np.nan), where=n > 0)
    return means
