"""Price ranges: which markets have no history, or hardly moved, and are passed over where a recipe asks for it."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from predibot.contracts import ProgressListener, Venue
from predibot.domain.event import Event
from predibot.errors import VenueUnavailable
from predibot.jobs.price_histories import read_histories, shorten_failures
from predibot.selection import SelectionRules

_WORKERS = 4
_LEAST_PRICES = 2
_ROUNDING = 1e-9
"""A market from 0.40 to 0.42 moved by 0.02, whatever the difference of two floats says."""


def flat_because(prices: Sequence[float], rules: SelectionRules) -> str | None:
    """Return why a market with these prices of the last `history_days` is not played, or None.

    Examples:
        >>> from predibot.domain.category import CryptoWords
        >>> flat_because([0.01, 0.012, 0.01], SelectionRules(crypto=CryptoWords({}), history_days=10, min_range=0.02))
        'moved by 0.002 in 10 days, below min_range 0.02'
    """
    if len(prices) < _LEAST_PRICES:
        return f"without a history of {rules.history_days:g} days"
    moved = max(prices) - min(prices)
    if moved >= rules.min_range - _ROUNDING:
        return None
    return f"moved by {moved:.3g} in {rules.history_days:g} days, below min_range {rules.min_range:g}"


def read_flat_markets(
    venue: Venue,
    events: Iterable[Event],
    rules: SelectionRules,
    known: Mapping[str, str | None],
    *,
    until: datetime,
    listener: ProgressListener,
) -> Mapping[str, str | None]:
    """Return, beside what is known, why markets of events are not played for their prices; None for those that are.

    Raises:
        VenueUnavailable: If a history could not be read: a choice must not depend on that.
    """
    markets = {market.id: market for event in events for market in event.markets if market.id not in known}
    found = dict(known)

    def read(market_id: str) -> str | None:
        market, start = markets[market_id], until - timedelta(days=rules.history_days)
        # NO moves as YES does; of more outcomes one that moved is enough.
        outcomes = market.instruments(venue.name)[: None if market.is_named else 1]
        paths = [venue.price_path(each, start=start, until=until) for each in outcomes]
        reasons = [flat_because([point.price for point in path.points], rules) for path in paths]
        return None if None in reasons else next(iter(reasons), "without an outcome")

    def keep(answered: Sequence[tuple[str, str | None]]) -> int:
        found.update(answered)
        return len(answered)

    names = {market_id: f"market {market_id}" for market_id in markets}
    _, failures = read_histories(names, read, keep, "select", _WORKERS, listener) if names else (0, [])
    if failures:
        raise VenueUnavailable(f"{'; '.join(shorten_failures(failures))}. No run is made; try again later")
    return found
