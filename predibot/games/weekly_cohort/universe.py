"""The universe of a cohort: the open markets with the highest total volume, whatever their outcomes."""

from collections.abc import Sequence

from predibot.domain.event import Event, Market

UNIVERSE_MARKETS = 500


def universe_of(events: Sequence[Event], most: int = UNIVERSE_MARKETS) -> tuple[str, ...]:
    """Return the ids of the markets of a cohort, the highest total volume first.

    Unknown volume comes last, and of equals the lower id first. A market that
    several events list counts once. What has fewer than two outcomes, or no
    price at all, can be played by nobody and is left out.

    Args:
        events: All that the venue lists.
        most: How many markets there are to be.

    Raises:
        ValueError: If none are wanted.
    """
    if most < 1:
        raise ValueError(f"{most} markets are wanted; a cohort has at least one")
    found = {
        market.id: market for event in events if not _ended(event) for market in event.markets if _playable(market)
    }
    return tuple(market.id for market in sorted(found.values(), key=_order)[:most])


def _ended(event: Event) -> bool:
    return bool(event.closed) or event.archived


def _playable(market: Market) -> bool:
    quotes = (market.quote,) if len(market.outcomes) == 2 else market.outcome_quotes
    is_priced = any(quote is not None and quote.price is not None for quote in quotes)
    return not market.closed and len(market.outcomes) >= 2 and is_priced


def _order(market: Market) -> tuple[bool, float, str]:
    return market.volume_usd is None, -(market.volume_usd or 0.0), market.id
