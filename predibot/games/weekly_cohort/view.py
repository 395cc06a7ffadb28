"""The view of a cohort: an account with its positions, and the markets of the cohort."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from predibot.domain.account import Account
from predibot.domain.event import Market
from predibot.domain.price import Instrument, Price
from predibot.games.outcomes import Outcome
from predibot.games.positions import Standing, standing_of
from predibot.games.weekly_cohort.methodology import CANNOT_BET_USD, MAX_SHARE, MIN_BET_USD, Methodology


@dataclass(frozen=True, slots=True)
class CohortMarket:
    """A market of the view, and its outcomes."""

    market: Market
    outcomes: tuple[Outcome, ...]
    category: str | None = None
    in_universe: bool = True
    """Whether the cohort plays it; else it is shown because the account owns shares of it."""

    @property
    def id(self) -> str:
        """Return the venue's id of the market."""
        return self.market.id

    def outcome(self, side: str) -> Outcome | None:
        """Return the outcome with this name in answers, or None; named outcomes also by number, such as `#3`."""
        named = next((outcome for outcome in self.outcomes if outcome.side == side), None)
        if named is not None or len(self.outcomes) == 2:
            return named
        return next((each for number, each in enumerate(self.outcomes, 1) if side == f"#{number}"), None)


@dataclass(frozen=True, slots=True)
class ShownPosition:
    """An open position at the price of its own side."""

    id: str
    market: CohortMarket
    outcome: Outcome
    shares: float
    cost_usd: float
    price: Price | None
    """The current price, else the last known one, else None."""
    is_stale: bool
    """Whether the price is an old one: the position cannot be sold now."""
    is_closed: bool

    @property
    def average_price(self) -> float:
        """Return the average cost of a share."""
        return self.cost_usd / self.shares

    @property
    def value_usd(self) -> float | None:
        """Return its worth at its price."""
        return None if self.price is None else self.shares * self.price.mid

    @property
    def unrealised_usd(self) -> float | None:
        """Return its value less its cost."""
        return None if self.value_usd is None else self.value_usd - self.cost_usd


@dataclass(frozen=True, slots=True)
class CohortView:
    """What a bot sees when it decides in a cohort."""

    at: datetime
    cohort: str
    """Such as `2026-03-01`."""
    week: int
    account: Account
    markets: tuple[CohortMarket, ...]
    positions: tuple[ShownPosition, ...]
    methodology: Methodology
    outcomes: Mapping[Instrument, tuple[CohortMarket, Outcome]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Index all outcomes once: there are over a thousand, and every order looks one up."""
        found = {outcome.instrument: (market, outcome) for market in self.markets for outcome in market.outcomes}
        object.__setattr__(self, "outcomes", found)

    @property
    def by_id(self) -> Mapping[str, CohortMarket]:
        """Return the markets by id."""
        return {market.id: market for market in self.markets}

    @property
    def prices(self) -> Mapping[Instrument, Price]:
        """Return the price of each outcome that has one now."""
        found = ((outcome.instrument, outcome.price) for market in self.markets for outcome in market.outcomes)
        return {instrument: price for instrument, price in found if price is not None}

    @property
    def bet_range_usd(self) -> tuple[float, float] | None:
        """Return the least and the most that one bet may be, None where the cash allows none."""
        most_usd = MAX_SHARE * self.account.cash_usd
        return (MIN_BET_USD, most_usd) if most_usd >= MIN_BET_USD else None

    @property
    def standing(self) -> Standing:
        """Return whether the account can still bet."""
        return standing_of(self.account, CANNOT_BET_USD)
