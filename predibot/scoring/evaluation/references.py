"""References: forecasters made from a table, to compare its own with: the market, and pools of all."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from predibot.scoring.arguments import Floats, Ints
from predibot.scoring.metrics.pooling import PoolingMethod, pool_probabilities
from predibot.scoring.records.track_record import Forecasts

MARKET = "market"
"""The forecaster that states the market's price; many files have one of this name."""
_CELLS_AT_ONCE = 2_000_000
_LEFT_OUT = {"forecasters", "categories", "market", "made_at", "exclusive"}
"""What a table with references has no column of."""


Remarks = tuple[str, ...]


def with_pools(
    forecasts: Forecasts, methods: Sequence[PoolingMethod], *, extremize: float = 1.0
) -> tuple[Forecasts, Remarks]:
    """Return the table with a forecaster `pool_<method>` for each method, all others but `market` pooled, and remarks.

    It answers every question that anybody answered, and has the mean of the
    prices they state. Each forecaster may answer a question only once.

    Raises:
        ValueError: If a forecaster has such a name already, or `pool_probabilities` refuses an argument.

    Examples:
        >>> table = Forecasts(("a", "b"), *(np.array(each) for each in ([0, 1], [5, 5], [5, 5], [0.2, 0.6], [1.0, 1.0],
        ...     [0.5, 0.5])))
        >>> with_pools(table, ["mean"])[0].probability
        array([0.2, 0.6, 0.4])
    """
    others = [number for number, name in enumerate(forecasts.forecasters) if name != MARKET]
    pooled = forecasts.only(np.isin(forecasts.forecaster, others))
    if not methods or pooled.probability.size == 0:
        return forecasts, ()
    groups, found = _groups(pooled.question), forecasts
    for method in methods:
        pool = _pool(groups, pooled.probability, method, extremize)
        found = _with_forecaster(found, f"pool_{method}", _one_each(pooled, groups), pool)
    alone, n = int(np.count_nonzero(groups.sizes == 1)), groups.sizes.size
    return found, (f"Pools are of a single forecast on {alone:,} of {n:,} questions.",) if alone else ()


def with_market(forecasts: Forecasts) -> tuple[Forecasts, Remarks]:
    """Return the table with a forecaster `market` that states the price, where there is one and the name is free, and
    remarks for the reader of the table.

    It states the mean of the prices in the rows of a question.

    Examples:
        >>> table = Forecasts(("a", "b"), *(np.array(each) for each in ([0, 1], [5, 5], [5, 5], [0.2, 0.6], [1.0, 1.0],
        ...     [0.5, 0.7])))
        >>> found, remarks = with_market(table)
        >>> found.probability.tolist(), len(remarks)
        ([0.2, 0.6, 0.6], 1)
    """
    priced = forecasts.only(~np.isnan(forecasts.market_probability))
    if priced.probability.size == 0:
        return forecasts, ()
    if MARKET in forecasts.forecasters:
        return forecasts, (f"`{MARKET}` is a forecaster of the file, so that none is added of that name.",)
    groups = _groups(priced.question)
    each = _one_each(priced, groups)
    found = _with_forecaster(forecasts, MARKET, each, each.market_probability)
    prices = priced.market_probability[groups.order]
    lowest, highest = np.minimum.reduceat(prices, groups.starts), np.maximum.reduceat(prices, groups.starts)
    several = int(np.count_nonzero(lowest < highest))
    questions = "1 question state" if several == 1 else f"{several:,} questions state"
    remark = f"Rows of {questions} different market prices: the forecaster `{MARKET}` says their mean."
    return found, (remark,) if several else ()


@dataclass(frozen=True, slots=True, eq=False)
class _Groups:
    """The rows of each of q questions."""

    order: Ints
    """All rows, those of one question together, (n,)."""
    starts: Ints
    """The start of each question, (q,)."""
    sizes: Ints


def _groups(question: Ints) -> _Groups:
    order = np.argsort(question, kind="stable")
    _, starts, sizes = np.unique(question[order], return_index=True, return_counts=True)
    return _Groups(order.astype(np.int64), starts.astype(np.int64), sizes.astype(np.int64))


def _one_each(forecasts: Forecasts, groups: _Groups) -> Forecasts:
    """Return the first row of each question, with the mean of the prices in its rows."""
    prices = forecasts.market_probability[groups.order]
    known = ~np.isnan(prices)
    n = np.add.reduceat(known.astype(np.float64), groups.starts)
    sums = np.add.reduceat(np.where(known, prices, 0.0), groups.starts)
    lowest = np.minimum.reduceat(np.where(known, prices, np.inf), groups.starts)
    highest = np.maximum.reduceat(np.where(known, prices, -np.inf), groups.starts)
    # The mean of three times 0.1 is above 0.1 by the last bit.
    mean = np.where(n > 0, np.clip(sums / np.maximum(n, 1.0), lowest, highest), np.nan)
    return replace(forecasts.only(groups.order[groups.starts]), market_probability=mean)


def _pool(groups: _Groups, probability: Floats, method: PoolingMethod, extremize: float) -> Floats:
    parts = []
    # The matrix of some questions, as wide as the largest of all, has at most so many cells.
    step = max(_CELLS_AT_ONCE // int(groups.sizes.max()), 1)
    for first in range(0, groups.sizes.size, step):
        starts, sizes = groups.starts[first : first + step], groups.sizes[first : first + step]
        # Forecasters are interchangeable, so a matrix is as wide as the most answers to a question.
        place = np.arange(sizes.max())
        rows = np.minimum(starts[:, np.newaxis] + place, groups.order.size - 1)
        matrix = np.where(place < sizes[:, np.newaxis], probability[groups.order[rows]], np.nan)
        parts.append(pool_probabilities(matrix, method=method, extremize=extremize))
    return np.concatenate(parts)


def _with_forecaster(forecasts: Forecasts, name: str, questions: Forecasts, probabilities: Floats) -> Forecasts:
    """Return the table with one more forecaster, who answers each question of another table."""
    if name in forecasts.forecasters:
        raise ValueError(f"{name!r} is a forecaster of the file already. Rename it there, or leave its pool out")
    added = replace(
        questions,
        forecasters=(*forecasts.forecasters, name),
        forecaster=np.full(probabilities.size, len(forecasts.forecasters)),
        probability=probabilities,
        confidence=None if questions.confidence is None else np.full(probabilities.size, np.nan),
    )
    columns = {each.name for each in fields(forecasts)} - _LEFT_OUT
    joined: dict[str, Any] = {
        each: np.concatenate([getattr(forecasts, each), getattr(added, each)])
        for each in columns
        if getattr(forecasts, each) is not None
    }
    return Forecasts(added.forecasters, **joined, categories=forecasts.categories)
