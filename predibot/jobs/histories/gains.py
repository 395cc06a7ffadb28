"""Gains of a bot's single decisions at each horizon."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from predibot.jobs.histories.snapshot import PartSnapshot, rankings_of, record_of_bots
from predibot.jobs.open_venue import Clock
from predibot.jobs.worst_decisions import instant_of
from predibot.ledger.store import Store
from predibot.scoring.arguments import none_if_nan
from predibot.scoring.evaluation.scorecard import HORIZONS_DAYS
from predibot.scoring.records.horizon_returns import HorizonReturns, horizon_returns
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


@dataclass(frozen=True, eq=False)
class Gains:
    """The gains of a bot's decisions on events."""

    _rows: Mapping[tuple[str, datetime], tuple[Sequence[HorizonReturns], int]]
    """Returns by horizon and the row of the decision, by event id and instant; without decisions that share both."""

    def of(self, event_id: str, decided_at: datetime) -> tuple[HorizonGain, ...]:
        """Return the gains of a decision by horizon; none where it is in no score."""
        returns, row = self._rows.get((event_id, decided_at), ((), 0))
        return tuple(
            HorizonGain(
                each.label, *(none_if_nan(float(of[row])) for of in (each.value, each.quote_value, each.market_value))
            )
            for each in returns
        )


def gains_of_bot(
    store: Store, bot: str, part: Part = EVERYTHING, *, clock: Clock, whole: PartSnapshot | None = None
) -> Gains:
    """Return the gains of a bot's decisions on events, as scores count them; no venue is asked.

    Args:
        whole: That of the part, if it is at hand.
    """
    record, listed = record_of_bots(store, (bot,), part, clock=clock, whole=whole)
    found = dict[tuple[str, datetime], tuple[Sequence[HorizonReturns], int]]()
    for ranking in rankings_of(record).values():
        returns = horizon_returns(ranking, HORIZONS_DAYS)
        decided, first = np.unique(ranking.bet_decision, return_index=True)
        of_bets, at = ranking.bet_market[first].tolist(), ranking.decided_at[decided].tolist()
        keys = [(listed[market].event_id, instant_of(second)) for market, second in zip(of_bets, at, strict=True)]
        scored, alike = ranking.scored_mask(), Counter(keys)
        for key, row in zip(keys, decided.tolist(), strict=True):
            if scored[row] and alike[key] == 1:
                found[key] = returns, row
    return Gains(found)
