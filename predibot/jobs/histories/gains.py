"""Gains of a bot's single decisions at each horizon."""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from predibot.jobs.histories.snapshot import PartSnapshot, record_of_bots
from predibot.jobs.open_venue import Clock
from predibot.jobs.worst_decisions import instant_of
from predibot.ledger.store import Store
from predibot.scoring.evaluation.scorecard import HORIZONS_DAYS
from predibot.scoring.records.horizon_returns import horizon_returns
from predibot.scoring.records.part import EVERYTHING, Part


@dataclass(frozen=True, slots=True)
class HorizonGain:
    """The gain of a decision of one dollar by a horizon; None where there is no value."""

    label: str
    """Days, `now` or `settled`."""
    mid: float | None
    quote: float | None
    """Traded against the book, with fees."""
    favourite: float | None
    """A dollar on the side that the price favours."""


Gains = Mapping[tuple[str, datetime], tuple[HorizonGain, ...]]
"""By event id and instant of decision; without decisions that share both."""


def gains_of_bot(
    store: Store, bot: str, part: Part = EVERYTHING, *, clock: Clock, whole: PartSnapshot | None = None
) -> Gains:
    """Return the gains of a bot's decisions on events, as scores count them; no venue is asked.

    Args:
        whole: That of the part, if it is at hand.
    """
    record, listed = record_of_bots(store, (bot,), part, clock=clock, whole=whole)
    found = dict[tuple[str, datetime], tuple[HorizonGain, ...]]()
    for ranking in (record.without_apart(), record.apart()):
        if ranking is None:
            continue
        returns = horizon_returns(ranking, HORIZONS_DAYS)
        decided, first = np.unique(ranking.bet_decision, return_index=True)
        keys = [
            (listed[ranking.bet_market[bet]].event_id, instant_of(float(ranking.decided_at[row])))
            for row, bet in zip(decided.tolist(), first.tolist(), strict=True)
        ]
        scored, alike = ranking.scored_mask(), Counter(keys)
        for key, row in zip(keys, decided.tolist(), strict=True):
            if scored[row] and alike[key] == 1:
                found[key] = tuple(
                    HorizonGain(
                        each.label,
                        *(number_or_none(of[row]) for of in (each.value, each.quote_value, each.market_value)),
                    )
                    for each in returns
                )
    return found


def number_or_none(value: np.float64) -> float | None:
    """Return a number of an array; None for NaN."""
    return None if math.isnan(value) else float(value)
