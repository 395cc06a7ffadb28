"""Few clusters: an evaluation without the intervals that rest on too few of them to be any."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL, Estimate

_Scored = TypeVar("_Scored")
_OF_ESTIMATE = ("low", "high", "cluster_standard_error", "price_standard_error")
_OF_PAIR = (*_OF_ESTIMATE, "p_value", "p_adjusted", "detectable")


def without_few(scored: _Scored, fewest: int = FEWEST_FOR_AN_INTERVAL) -> _Scored:
    """Return scores of any kind in which nothing that rests on fewer clusters has an interval or a p-value.

    Args:
        scored: An evaluation, or a part of one.
        fewest: The number of clusters from which intervals stay.
    """
    found: _Scored = _without(scored, fewest)
    return found


def _without(scored: Any, fewest: int) -> Any:
    if isinstance(scored, tuple):
        return tuple(_without(each, fewest) for each in scored)
    if isinstance(scored, Mapping):
        # The clusters of a Sharpe ratio are dates.
        return {name: each if name == "sharpe" else _without(each, fewest) for name, each in scored.items()}
    if not is_dataclass(scored) or isinstance(scored, type):
        return scored
    if isinstance(scored, Estimate | Pair):
        names = _OF_ESTIMATE if isinstance(scored, Estimate) else _OF_PAIR
        nothing: dict[str, Any] = dict.fromkeys(names)
        return replace(scored, **nothing) if scored.clusters < fewest else scored
    changed = {each.name: _without(getattr(scored, each.name), fewest) for each in fields(scored)}
    if isinstance(scored, ForecastScore) and scored.clusters < fewest and (bins := scored.calibration) is not None:
        unknown = np.full(bins.outcome_low.shape, np.nan)
        changed["calibration"] = replace(bins, outcome_low=unknown, outcome_high=unknown)
    same = all(changed[each.name] is getattr(scored, each.name) for each in fields(scored))
    return scored if same else replace(scored, **changed)
