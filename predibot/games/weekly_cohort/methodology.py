"""Methodologies: versions of the rules of a weekly cohort, with their parameters; scores never mix them."""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from predibot.domain.price import Price
from predibot.errors import UsageError

Version = Literal["v1", "v2"]
CapBasis = Literal["leg", "batch"]
Universe = Literal["fresh", "frozen"]

STAKE_USD = 10_000.0
UNIVERSE_MARKETS = 500
"""The most traded markets, by volume since they opened."""
MIN_BET_USD = 50.0
MAX_SHARE = 0.25
"""The largest part of the cash for one bet; with `v2` for all bets of a decision together."""
CANNOT_BET_USD = MIN_BET_USD / MAX_SHARE
"""With less cash the least bet is more than the largest one."""
DECIDING_COHORTS = 5
WEEKS = 12
"""In how many weeks a cohort of `v1` decides; the published document gives no number."""
_MOST_WEEKS = 520


@dataclass(frozen=True, slots=True)
class Methodology:
    """The rules in which the versions of a weekly cohort differ, with their parameters."""

    version: Version
    cap: CapBasis
    """The cap limits each `leg`, by the cash left before it, or the whole `batch`, by the cash at the decision."""
    all_or_nothing: bool
    """Whether no bet is booked if one cannot be; else each is booked by itself."""
    universe: Universe = "frozen"
    """`fresh` markets are those of each run; `frozen` ones are those of the run that started the cohort."""
    fees: bool = True
    """Whether the venue's fees are charged."""
    displayed: bool = False
    """Whether bets are at the price that the venue displays, where it does; else at the middle of a narrow book."""
    weeks: int | None = None
    """In how many weeks a cohort decides; None where `latest` says it, or its markets do."""
    latest: int | None = None
    """How many of the latest cohorts decide."""

    @property
    def key(self) -> str:
        """Return the name that ledgers store: the version with the parameters that its bare name does not imply. A bare
        `v1` is that of older ledgers: frozen markets, fees, and decisions while one of its markets is open.
        """
        parts: list[str] = [self.version]
        if self.version == "v1":
            parts += [] if self.weeks is None else [f"weeks={self.weeks}"]
        else:
            parts += ["universe=fresh"] * (self.universe == "fresh") + ["fees=no"] * (not self.fees)
        return " ".join(parts)

    def price_of(self, price: Price) -> Price:
        """Return a venue's price as bets and sales are booked at it."""
        if self.displayed and price.displayed is not None:
            price = replace(price, mid=price.displayed, source="displayed")
        return price if self.fees else replace(price, fees=None)


def methodology_of(
    version: str, *, weeks: int | None = None, universe: Universe | None = None, fees: bool | None = None
) -> Methodology:
    """Return the methodology of a version with the parameters of a recipe; raise `UsageError` if it does not take one.

    `weeks` are only of `v1`: in how many weeks a cohort decides, up to 520; with 0 it is the `v1` of older ledgers.
    `universe` and `fees` are only of `v2`.
    """
    if version == "v1":
        if universe is not None or fees is not None:
            raise UsageError("v1 is played as it was published; take v2 to choose universe or fees")
        if weeks is not None and not 0 <= weeks <= _MOST_WEEKS:
            raise UsageError(f"weeks is {weeks}; a cohort decides in 1 to {_MOST_WEEKS} weeks")
        bare = Methodology("v1", cap="leg", all_or_nothing=False)
        if weeks == 0:
            return bare
        return replace(bare, universe="fresh", fees=False, displayed=True, weeks=weeks or WEEKS)
    if version != "v2":
        versions = ", ".join(get_args(Version))
        raise UsageError(f"{version[:40]!r} is no methodology of weekly cohorts; take one of {versions}")
    if weeks is not None:
        raise UsageError(f"weeks is of v1; with v2 the latest {DECIDING_COHORTS} cohorts decide")
    return Methodology(
        "v2",
        cap="batch",
        all_or_nothing=True,
        universe=universe or "frozen",
        fees=fees is not False,
        latest=DECIDING_COHORTS,
    )


def stored_methodology(key: str) -> Methodology:
    """Return the methodology with the name that a ledger stores; raise `UsageError` if there is none.

    Examples:
        >>> [stored_methodology(key).universe for key in ("v1", "v1 weeks=12", "v2", "v2 universe=fresh fees=no")]
        ['frozen', 'fresh', 'frozen', 'fresh']
    """
    version, *parts = key.split(" ")
    said = dict(part.partition("=")[::2] for part in parts)
    weeks = said.get("weeks", "0" if version == "v1" else "")
    found = methodology_of(
        version,
        weeks=int(weeks) if weeks.isdecimal() and len(weeks) < 4 else None,
        universe="fresh" if said.get("universe") == "fresh" else None,
        fees=False if said.get("fees") == "no" else None,
    )
    if found.key != key:
        raise UsageError(f"{key[:40]!r} is no methodology of weekly cohorts")
    return found
