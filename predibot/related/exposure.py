"""Exposure: how much of a bot's stakes lies on events that move together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from predibot.rows import grouped
from predibot.scoring.records.track_record import TrackRecord


@dataclass(frozen=True, slots=True)
class Exposure:
    """A bot's stakes on one group of related events."""

    events: tuple[str, ...]
    """Event ids, the largest stakes first."""
    staked_usd: float
    share: float
    """Share of all stakes of the bot, in (0, 1]."""
    open_usd: float
    """Stakes on markets that have not paid."""
    bets: int


@dataclass(frozen=True, slots=True)
class Exposures:
    """A bot's stakes by groups of related events."""

    groups: tuple[Exposure, ...] = ()
    """The largest first."""
    staked_usd: float = 0.0

    @property
    def effective(self) -> float | None:
        """Return the effective number of groups, one over the Herfindahl-Hirschman index; None without a bet."""
        return 1.0 / sum(each.share**2 for each in self.groups) if self.groups else None


def exposures(
    record: TrackRecord, bot: str, *, event_of_market: Sequence[str], cluster_of: Mapping[str, str]
) -> Exposures:
    """Return a bot's stakes by groups of related events, as of the record's instant.

    Stakes on both sides of one market add up, as each was at risk. `event_of_market` has the record's order.
    """
    if bot not in record.bots:
        return Exposures()
    own = record.made_mask() & (record.decision_bot == record.bots.index(bot))
    rows = np.flatnonzero(own[record.bet_decision] & (record.bet_usd != 0.0))
    is_open = np.isnan(record.payouts())
    market = record.bet_market[rows]
    by_event: dict[str, list[float]] = {}
    for each, usd, unsettled in zip(
        market.tolist(), np.abs(record.bet_usd[rows]).tolist(), is_open[market].tolist(), strict=True
    ):
        sums = by_event.setdefault(event_of_market[each], [0.0, 0.0, 0.0])
        sums[0] += usd
        sums[1] += usd * unsettled
        sums[2] += 1.0
    total = sum(staked for staked, _, _ in by_event.values())
    by_group = grouped(
        (cluster_of.get(event, event), event) for event in sorted(by_event, key=lambda each: (-by_event[each][0], each))
    )
    found = []
    for events in by_group.values():
        staked, open_usd, bets = map(sum, zip(*(by_event[event] for event in events), strict=True))
        found.append(Exposure(tuple(events), staked, staked / total, open_usd, int(bets)))
    return Exposures(tuple(sorted(found, key=lambda each: (-each.staked_usd, each.events))), total)
