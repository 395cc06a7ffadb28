"""Token prices: the known ones, the cost of a call, and the most that a call can cost."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from predibot.domain.budget import LEAST_SHARE, Limits
from predibot.domain.chat import Cost, CostSource, Usage
from predibot.errors import UsageError

PRICE_ADVICE = (
    "set price_usd_per_million_tokens in the recipe, 0 for a local model, "
    "and price_usd_per_search where it is charged by the search"
)

LEAST_USD = 1e-9


@dataclass(frozen=True, slots=True)
class TokenPrice:
    """The price of a model's tokens, of a call beside them, and of a search that the model makes by itself."""

    input_usd_per_million_tokens: float
    output_usd_per_million_tokens: float
    call_usd: float = 0.0
    search_usd: float | None = None
    """None if it is unknown, or the model is not charged by the search."""
    source: CostSource = "recipe"
    cached_usd_per_million_tokens: float | None = None

    def __post_init__(self) -> None:
        """Refuse values that are no price."""
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name == "source" or (each.default is None and value is None):
                continue
            if not (math.isfinite(value) and value >= 0.0):
                raise ValueError(f"{value!r} is no price; {each.name} is 0 or more")

    @property
    def free(self) -> bool:
        """Return whether nothing costs anything, as on one's own machine."""
        tokens_usd = self.input_usd_per_million_tokens + self.output_usd_per_million_tokens
        return tokens_usd == self.call_usd == 0.0 and not self.search_usd

    def covers(self, searches: int | None) -> bool:
        """Return whether a call with so many searches of its own is priced; None is an unknown number."""
        return not searches or self.search_usd is not None

    def usd(self, input_tokens: int, output_tokens: int, searches: int = 0, *, cached_tokens: int = 0) -> float:
        """Return the cost of a call; `input_tokens` include the cached ones."""
        cached_usd = self.cached_usd_per_million_tokens
        tokens_usd = (
            (input_tokens - cached_tokens) * self.input_usd_per_million_tokens
            + cached_tokens * (self.input_usd_per_million_tokens if cached_usd is None else cached_usd)
            + output_tokens * self.output_usd_per_million_tokens
        )
        return tokens_usd / 1e6 + self.call_usd + searches * (self.search_usd or 0.0)


def dearest(*prices: TokenPrice | None) -> TokenPrice | None:
    """Return the highest known price, part by part; None if nothing is known."""
    known = [price for price in prices if price is not None]
    if not known:
        return None
    return TokenPrice(
        max(price.input_usd_per_million_tokens for price in known),
        max(price.output_usd_per_million_tokens for price in known),
        max(price.call_usd for price in known),
        max((price.search_usd for price in known if price.search_usd is not None), default=None),
        source=known[0].source,
    )


def require_price(bot: str, model: str, price: TokenPrice | None, limits: Iterable[Limits]) -> None:
    """Refuse, with a `UsageError`, a bot that has a limit in dollars and a model without a known price."""
    if price is None and any(each.usd is not None for each in limits):
        raise UsageError(
            f"the price of {bot}'s model is unknown: {model!r}, and its budget has a limit in USD; {PRICE_ADVICE}"
        )


def next_to_nothing(usd: float, usage: Usage, price: TokenPrice | None) -> bool:
    """Return whether an amount is below a thousandth of what a usage costs, or for an unknown usage the least a budget
    counts.
    """
    if price is None or price.free:
        return False
    if usage.input_tokens is None or usage.output_tokens is None:
        return usd < LEAST_USD
    return usd < LEAST_SHARE * price.usd(usage.input_tokens, usage.output_tokens)


def cost_of(
    usage: Usage, *, provider_usd: float | None = None, table_usd: float | None = None, price: TokenPrice | None = None
) -> Cost:
    """Return the cost of a call: by its provider, else by litellm's table, else by the recipe, else unknown. A cost of
    next to nothing is ignored where the token price is known: no limit would ever hold.
    """
    if provider_usd is not None and not next_to_nothing(provider_usd, usage, price):
        return Cost(provider_usd, "provider")
    if table_usd is not None and not next_to_nothing(table_usd, usage, price):
        return Cost(table_usd, "litellm")
    if price is None or not price.covers(usage.searches):
        return Cost(None, "unknown")
    if price.free:
        return Cost(0.0, price.source)
    if usage.input_tokens is None or usage.output_tokens is None:
        return Cost(None, "unknown")
    usd = price.usd(usage.input_tokens, usage.output_tokens, usage.searches or 0, cached_tokens=usage.cached_tokens)
    return Cost(usd, price.source)
