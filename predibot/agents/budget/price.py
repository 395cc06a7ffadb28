"""What tokens cost: known prices, the cost of a call, and the most a call can cost."""

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
    """What a model's tokens cost; also what one call costs beside them, and a search it makes by itself."""

    input_usd_per_million_tokens: float
    output_usd_per_million_tokens: float
    call_usd: float = 0.0
    search_usd: float | None = None
    """Of a model that is charged by the search; None where that is unknown, or it makes none."""
    source: CostSource = "recipe"
    cached_usd_per_million_tokens: float | None = None
    """Of input that the provider had kept; None is the price of any input."""

    def __post_init__(self) -> None:
        """Refuse what is no price."""
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
        """Return whether a call with so many searches of the model's own is priced; None is one that is not counted."""
        return not searches or self.search_usd is not None

    def usd(self, input_tokens: int, output_tokens: int, searches: int = 0, *, cached_tokens: int = 0) -> float:
        """Return what a call with so many tokens, of which some were cached, and searches of the model costs."""
        cached_usd = self.cached_usd_per_million_tokens
        tokens_usd = (
            (input_tokens - cached_tokens) * self.input_usd_per_million_tokens
            + cached_tokens * (self.input_usd_per_million_tokens if cached_usd is None else cached_usd)
            + output_tokens * self.output_usd_per_million_tokens
        )
        return tokens_usd / 1e6 + self.call_usd + searches * (self.search_usd or 0.0)


def dearest(*prices: TokenPrice | None) -> TokenPrice | None:
    """Return the highest of what is known, part by part, or None where nothing is."""
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
    """Refuse a bot whose spending could not be held to its limit.

    Args:
        bot: Its name, for the message.
        model: One that it talks to.
        price: What is known of that model's price.
        limits: All that apply to it.

    Raises:
        UsageError: If a limit is in dollars and the price is unknown.
    """
    if price is None and any(each.usd is not None for each in limits):
        raise UsageError(
            f"the price of {bot}'s model is unknown: {model!r}, and its budget has a limit in USD; {PRICE_ADVICE}"
        )


def next_to_nothing(usd: float, usage: Usage, price: TokenPrice | None) -> bool:
    """Return whether an amount is less than a thousandth of what a usage costs at a known price.

    Of a usage that is unknown, what a budget cannot count is next to nothing.
    """
    if price is None or price.free:
        return False
    if usage.input_tokens is None or usage.output_tokens is None:
        return usd < LEAST_USD
    return usd < LEAST_SHARE * price.usd(usage.input_tokens, usage.output_tokens)


def cost_of(
    usage: Usage, *, provider_usd: float | None = None, table_usd: float | None = None, price: TokenPrice | None = None
) -> Cost:
    """Return what a call cost: what the provider says, else litellm's table, else the recipe, else unknown.

    Where the price of the tokens is known, a word of (next to) nothing is passed over: no limit would ever hold.
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
