"""Weights as they are said: read from untrusted values, and turned by named rules into those an account can have."""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from predibot.domain.account_past import CASH, asset_name
from predibot.games.answers import listed, number_of, quoted, seen
from predibot.games.portfolio_weights.terms import BothSides, Overweight

SUM_TOLERANCE = 1e-9
"""What a sum of weights may be above one, because numbers are rounded."""
_PERCENT_SUM = 100.0
_PERCENT_TOLERANCE = 1.0
_PERCENT = re.compile(r"\s*[+]?([0-9]{1,12}(?:\.[0-9]{1,20})?|\.[0-9]{1,20})\s*%\s*", re.ASCII)
_WANTED = 'give its share of the portfolio, a number from 0 to 1 or a percentage such as "25%"'


@dataclass(frozen=True, slots=True)
class StatedWeights:
    """Weights by asset, as they were said and as they are applied; both shares of one, CASH left out."""

    asked: Mapping[str, float]
    applied: Mapping[str, float]
    notes: tuple[str, ...] = ()
    """Which rule changed what."""
    scale: float = 1.0
    """What all were multiplied by because they came to more than one."""


def stated_weights(said: Mapping[object, object]) -> tuple[dict[str, float], list[str]]:
    """Return the shares of one that an answer gives, by what it calls the assets, and what is wrong with them.

    A value with "%" is divided by 100. Other values that are all at most 1 are
    shares; else they are percent, if all together come to 100, give or take 1.
    """
    complaints: list[str] = []
    percents: dict[str, float] = {}
    bare: dict[str, float] = {}
    for name, value in said.items():
        if not isinstance(name, str):
            complaints.append(f"an asset is named {seen(name)}; name assets as they are shown, in quotes")
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
    # In the order in which they were said.
    return {name: shares[name] for name in said if isinstance(name, str)}, []


def applied_weights(
    stated: Mapping[str, float],
    assets: Collection[str],
    market_ids: Collection[str],
    *,
    overweight: Overweight,
    both_sides: BothSides,
) -> tuple[StatedWeights, list[str]]:
    """Return the weights that an account can have, and what is wrong with those that it cannot.

    Args:
        stated: Shares of one by name, each 0 or more; what is left of one is CASH.
        assets: The names that are known; the weight of any other goes to CASH.
        market_ids: Whose two sides are `asset_name`s of them.
        overweight: What happens to more than one.
        both_sides: What happens where YES and NO of a market both have a weight; what is netted is left, as CASH, and
            is no part of the sum.
    """
    known = {name: weight for name, weight in stated.items() if name in assets}
    unknown = {name: weight for name, weight in stated.items() if name not in assets and name != CASH}
    # What strangers called them is cut short.
    notes = [
        f"no asset of this portfolio is called {seen(name)}; its weight of {weight:.6g} went to {CASH}"
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
        # Also where it is rounding alone, which no account has to cope with then.
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
    """Yield a complaint for each name that is no id of a market."""
    for name in said:
        if name not in known:
            shown = quoted(name) if isinstance(name, str) else seen(name)
            yield f"probabilities has {shown}, no market of this portfolio; its markets are {listed(list(known))}"
