"""Counterfactuals: what the same forecasts would have earned, bet later or by another rule."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from predibot.scoring.arguments import Ints
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Uncertainty, estimates, mean_of
from predibot.scoring.records.delay import delayed
from predibot.scoring.records.horizon_returns import HorizonReturns, horizon_returns
from predibot.scoring.records.sizing import resized
from predibot.scoring.records.track_record import TrackRecord


@dataclass(frozen=True, slots=True)
class Counterfactual:
    """What a bot would have returned by one horizon, beside what it did, on the decisions that have both."""

    bot: str
    change: str
    """What would have been otherwise, such as `4` days late, or `kelly`."""
    horizon: str
    mean_return: float | None
    """Of the changed decisions."""
    actual_mean_return: float | None
    """Of the same decisions as they were."""
    difference: Estimate | None
    """The first less the second; None where no decision has both."""


def delay_scores(
    record: TrackRecord, returns: Sequence[HorizonReturns], delays_days: Sequence[float], uncertainty: Uncertainty
) -> tuple[Counterfactual, ...]:
    """Return what each bot would have earned some days late; a negative difference says that stale decisions hurt.

    Args:
        record: What was done.
        returns: What it returned, by horizon.
        delays_days: How late, in units of 24 hours.
        uncertainty: How intervals are made.

    Raises:
        ValueError: If a delay is not above zero.
    """
    late = ((f"{days:g}", delayed(record, days)) for days in delays_days)
    return tuple(found for change, other in late for found in _beside(record, change, returns, other, uncertainty))


def sizing_scores(
    record: TrackRecord, returns: Sequence[HorizonReturns], rules: Sequence[str], uncertainty: Uncertainty
) -> tuple[Counterfactual, ...]:
    """Return what each bot would have earned had its forecasts been bet by other rules.

    Args:
        record: What was done.
        returns: What it returned, by horizon.
        rules: Some of `SIZINGS`.
        uncertainty: How intervals are made.

    Raises:
        ValueError: If there is no such rule.
    """
    bet_again = ((rule, resized(record, rule)) for rule in rules)
    return tuple(found for rule, other in bet_again for found in _beside(record, rule, returns, other, uncertainty))


def _beside(
    record: TrackRecord,
    change: str,
    returns: Sequence[HorizonReturns],
    otherwise: tuple[TrackRecord, Ints],
    uncertainty: Uncertainty,
) -> list[Counterfactual]:
    """Return each bot's returns of a changed record beside those of the same decisions as they were."""
    other, decisions = otherwise
    days = tuple(each.days for each in returns if each.days is not None)
    found = horizon_returns(other, days)
    changed = np.full((len(found), record.decided_at.size), np.nan)
    changed[:, decisions] = [each.value for each in found]
    cells = [
        (bot, actual, values, np.flatnonzero((record.decision_bot == bot) & ~np.isnan(actual.value + values)))
        for bot in range(len(record.bots))
        for actual, values in zip(returns, changed, strict=True)
    ]
    differences = [
        mean_of(values[rows] - actual.value[rows], record.clusters()[rows]) for _, actual, values, rows in cells
    ]
    return [
        Counterfactual(
            bot=record.bots[bot],
            change=change,
            horizon=actual.label,
            mean_return=float(np.mean(values[rows])) if rows.size else None,
            actual_mean_return=float(np.mean(actual.value[rows])) if rows.size else None,
            difference=difference,
        )
        for (bot, actual, values, rows), difference in zip(cells, estimates(differences, uncertainty), strict=True)
    ]
