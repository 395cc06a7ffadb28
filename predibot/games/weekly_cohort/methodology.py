"""Methodologies: the two versions of the rules of a weekly cohort; scores never mix them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from predibot.errors import UsageError

Version = Literal["v1", "v2"]
CapBasis = Literal["leg", "batch"]

STAKE_USD = 10_000.0
UNIVERSE_MARKETS = 500
"""The most traded markets, by volume since they opened."""
MIN_BET_USD = 50.0
MAX_SHARE = 0.25
"""The largest part of the cash for one bet; with `v2` for all bets of a decision together."""
CANNOT_BET_USD = MIN_BET_USD / MAX_SHARE
"""With less cash the least bet is more than the largest one."""
DECIDING_COHORTS = 5


@dataclass(frozen=True, slots=True)
class Methodology:
    """What the two versions of the rules differ in."""

    version: Version
    cap: CapBasis
    """The cap limits each `leg`, by the cash left before it, or the whole `batch`, by the cash at the decision."""
    all_or_nothing: bool
    """Whether no bet is booked if one cannot be; else each is booked by itself."""
    deciding_cohorts: int | None
    """How many of the latest cohorts decide; with None all active ones."""


METHODOLOGIES: Mapping[str, Methodology] = MappingProxyType({
    "v1": Methodology("v1", cap="leg", all_or_nothing=False, deciding_cohorts=None),
    "v2": Methodology("v2", cap="batch", all_or_nothing=True, deciding_cohorts=DECIDING_COHORTS),
})  # fmt: skip


def methodology_of(version: str) -> Methodology:
    """Return the methodology of a version; UsageError if there is none."""
    if version not in METHODOLOGIES:
        raise UsageError(
            f"{version[:40]!r} is no methodology of weekly cohorts; take one of {', '.join(METHODOLOGIES)}"
        )
    return METHODOLOGIES[version]
