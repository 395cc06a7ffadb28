"""Terms of a portfolio: its options in a recipe, and the rules that make the weights of an answer possible ones."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from predibot.domain.account_past import CASH, asset_name
from predibot.games.answers import list_ids, number_of, quoted, show_value

Filling = Literal["next", "same"]
FillName = Literal["mid", "quote", "book"]
Overweight = Literal["scale", "refuse"]
BothSides = Literal["refuse", "net"]
STAKE_USD, STOCKS_STAKE_USD = 500.0, 1_000.0
MOST_BPS = 1_000.0


@dataclass(frozen=True, slots=True)
class PortfolioTerms:
    """What is held, how weights are traded, and what happens to weights that no account can have."""

    fill: Filling = "next"
    """Weights are traded at the prices of the `next` slot, or of the `same` slot as the decision."""
    fills: FillName = "mid"
    """The price source of a trade: the `mid`, the `quote`, or the recorded `book`."""
    overweight: Overweight = "scale"
    """Weights that add up to more than one are scaled down to 1, or refused with a complaint."""
    both_sides: BothSides = "refuse"
    """YES and NO of one market are refused with a complaint, or only their `net` is held."""
    tickers: tuple[str, ...] = ()
    """The stocks of the universe; empty for prediction markets."""
    benchmarks: tuple[str, ...] = ()
    """Index funds that only index bots buy; other bots do not see them."""
    fee_bps: float = 0.0
    """The cost of a trade besides the venue's fees, in hundredths of a percent of its money."""
    spread_bps: float = 0.0
    """The spread between buying and selling, in hundredths of a percent of the price."""

    def __post_init__(self) -> None:
        """Refuse implausible costs, and an index fund that is also a stock of the universe."""
        for name in ("fee_bps", "spread_bps"):
            if not 0.0 <= getattr(self, name) <= MOST_BPS:
                raise ValueError(f"{name} is {getattr(self, name)!r}; give 0 to {MOST_BPS:g} hundredths of a percent")
        if len(set(self.tickers) | set(self.benchmarks)) < len(self.tickers) + len(self.benchmarks):
            raise ValueError("tickers and benchmarks name one stock twice; keep one of them")
        if self.benchmarks and not self.tickers:
            raise ValueError("benchmarks are of stocks; name tickers too, or leave them out")

    @property
    def is_stocks(self) -> bool:
        """Return whether it holds shares, traded and valued at closes, instead of outcomes."""
        return bool(self.tickers)

    @property
    def stake_usd(self) -> float:
        """Return the first cash of an account."""
        return STOCKS_STAKE_USD if self.is_stocks else STAKE_USD


SUM_TOLERANCE = 1e-9
"""A sum of weights may exceed one by so much rounding."""
_PERCENT_SUM = 100.0
_PERCENT_TOLERANCE = 1.0
_PERCENT = re.compile(r"\s*[+]?([0-9]{1,12}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})\s*%\s*", re.ASCII)
_WANTED = 'give its share of the portfolio, a number from 0 to 1 or a percentage such as "25%"'


@dataclass(frozen=True, slots=True)
class StatedWeights:
    """Weights by asset, before and after the rules; shares of one, without CASH."""

    asked: Mapping[str, float]
    applied: Mapping[str, float]
    notes: tuple[str, ...] = ()
    scale: float = 1.0
    """The factor on all weights because they came to more than one."""


def parse_weights(said: Mapping[object, object]) -> tuple[dict[str, float], list[str]]:
    """Return the weights of an answer as shares of one, by asset name, and the complaints about them. Values with "%"
    are percent. So are the others if one is above 1 and everything together comes to 100, give or take 1.
    """
    complaints: list[str] = []
    percents: dict[str, float] = {}
    bare: dict[str, float] = {}
    for name, value in said.items():
        if not isinstance(name, str):
            complaints.append(f"an asset is named {show_value(name)}; name assets as they are shown, in quotes")
            continue
        percent = _PERCENT.fullmatch(value) if isinstance(value, str) else None
        number = float(percent.group(1)) if percent is not None else number_of(value)
        if number is None:
            complaints.append(f"the weight of {quoted(name)} is {quoted(value)}; {_WANTED}")
        elif number < 0.0:
            complaints.append(f"the weight of {quoted(name)} is {number:g}; nothing is sold short, so it is 0 or more")
        else:
            (percents if percent is not None else bare)[name] = number
    if complaints:
        return {}, complaints
    are_shares = all(number <= 1.0 + SUM_TOLERANCE for number in bare.values())
    try:
        total = math.fsum((*percents.values(), *bare.values()))
    except OverflowError:
        total = math.inf
    if not are_shares and not abs(total - _PERCENT_SUM) <= _PERCENT_TOLERANCE:
        return {}, [
            f"the weights come to {total:g}, which are neither shares, each at most 1, nor percent, together 100; "
            "give shares of one"
        ]
    shares = {name: number / 100.0 for name, number in percents.items()}
    shares |= bare if are_shares else {name: number / 100.0 for name, number in bare.items()}
    # In the order of the answer.
    return {name: shares[name] for name in said if isinstance(name, str)}, []


def apply_weights(
    stated: Mapping[str, float],
    assets: Collection[str],
    market_ids: Collection[str],
    *,
    overweight: Overweight,
    both_sides: BothSides,
) -> tuple[StatedWeights, list[str]]:
    """Return the weights that an account can have, and the complaints about the others.

    Args:
        stated: Shares of one by name, each 0 or more; the rest of one is CASH.
        assets: The known names; weights of other names go to CASH.
        market_ids: Markets whose two sides have `asset_name`s.
        overweight: What to do with a sum above one.
        both_sides: What to do where YES and NO of a market both have a weight. With `net`, the smaller weight leaves
            both and becomes CASH that does not count in the sum.
    """
    known = {name: weight for name, weight in stated.items() if name in assets}
    unknown = {name: weight for name, weight in stated.items() if name not in assets and name != CASH}
    # Strangers' names are shortened.
    notes = [
        f"no asset of this portfolio is called {show_value(name)}; its weight of {weight:.6g} went to {CASH}"
        for name, weight in unknown.items()
    ]
    complaints: list[str] = []
    applied = dict(known)
    for market_id in market_ids:
        yes, no = asset_name(market_id, "YES"), asset_name(market_id, "NO")
        less = min(applied.get(yes, 0.0), applied.get(no, 0.0))
        if not less:
            continue
        if both_sides == "refuse":
            complaints.append(
                f"both sides of market {quoted(market_id)} have a weight, {applied[yes]:.6g} and {applied[no]:.6g}; "
                "keep one of them"
            )
            continue
        applied[yes], applied[no] = applied[yes] - less, applied[no] - less
        notes.append(f"both sides of market {market_id} had a weight; {less:.6g} of each went to {CASH}")
    cash = math.fsum((stated.get(CASH, 0.0), *unknown.values()))
    total = math.fsum((cash, *applied.values()))
    if total > 1.0:
        # Rounding is scaled away too, so that no account has to cope with it.
        applied = {name: weight / total for name, weight in applied.items()}
    if total > 1.0 + SUM_TOLERANCE:
        if overweight == "refuse":
            complaints.append(f"the weights come to {total:.6g}; lower them by {total - 1.0:.6g} in total")
        else:
            came_to = f"the weights came to {total:.6g}, {CASH} {cash:.6g} of it"
            notes.append(f"{came_to}; all were scaled by {1.0 / total:.6g}")
    scale = 1.0 / total if total > 1.0 + SUM_TOLERANCE else 1.0
    return StatedWeights(known, applied, tuple(notes), scale), complaints


def unknown_ids(said: Mapping[object, object], known: Collection[str]) -> Iterator[str]:
    """Yield a complaint for each name that is not a market id."""
    for name in said:
        if name not in known:
            shown = quoted(name) if isinstance(name, str) else show_value(name)
            yield f"probabilities has {shown}, no market of this portfolio; its markets are {list_ids(list(known))}"
