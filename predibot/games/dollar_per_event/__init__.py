"""One dollar an event: a bot forecasts every market of it, and bets up to a dollar on them."""

from predibot.games.dollar_per_event.rules import DollarPerEvent, Overstake

__all__ = ["DollarPerEvent", "Overstake"]
