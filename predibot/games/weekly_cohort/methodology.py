"""Methodologies: the two versions of the rules of a weekly cohort; results of both are never mixed."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from predibot.errors import UsageError

Version = Literal["v1", "v2"]
CapBasis = Literal["leg", "batch"]

STAKE_USD = 10_000.0
"""What every member of a cohort begins with."""
UNIVERSE_MARKETS = 500
"""Of a cohort, those that traded most in all their life."""
MIN_BET_USD = 50.0
MAX_SHARE = 0.25
"""Of cash, that a bet, or with `v2` all bets of a decision together, may take."""
CANNOT_BET_USD = MIN_BET_USD / MAX_SHARE
"""Cash below which the least bet is more than the largest one."""
DECIDING_COHORTS = 5
"""How many cohorts decide with `v2`, the latest ones."""


@dataclass(frozen=True, slots=True)
class Methodology:
    """What the two versions of the rules differ in."""

    version: Version
    cap: CapBasis
    """What the share of cash limits: each `leg`, of the cash that is left before it, or the `batch`, of the cash there
    is when it is decided."""
    all_or_nothing: bool
    """Whether bets of which one cannot be booked are all not booked; else each is booked by itself."""
    deciding_cohorts: int | None
    """How many of the latest cohorts decide; None where all that are active do."""


METHODOLOGIES: Mapping[str, Methodology] = MappingProxyType({
    "v1": Methodology("v1", cap="leg", all_or_nothing=False, deciding_cohorts=None),
    "v2": Methodology("v2", cap="batch", all_or_nothing=True, deciding_cohorts=DECIDING_COHORTS),
})  # fmt: skip


def methodology_of(version: str) -> Methodology:
    """Return the methodology of a version.

    Raises:
        UsageError: If there is none.
    """
    if version not in METHODOLOGIES:
        raise UsageError(
            f"{version[:40]!r} is no methodology of weekly cohorts; take one of {', '.join(METHODOLOGIES)}"
        )
    return METHODOLOGIES[version]
