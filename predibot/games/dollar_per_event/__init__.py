"""One dollar an event: every market of it is forecast, and up to a dollar is bet on them."""

from predibot.games.dollar_per_event.rules import DollarPerEvent, Overstake

__all__ = ["DollarPerEvent", "Overstake"]
