"""Coherence of bots: how far forecasts, and the prices that were shown, break the rules of probability."""

from dataclasses import dataclass

from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Comparison


@dataclass(frozen=True, slots=True)
class CoherenceScore:
    """The mean breach of the rules of probability by a bot, or of a rule, of an event or of a period."""

    name: str
    """The bot, rule or event; empty for a period."""
    bot: float
    market: float
    broken: float
    """The share of groups whose rule the bot broke at all, in [0, 1]."""
    market_broken: float
    n: int
    """Groups, each counted once for every decision on it."""
    events: int
    interval: Estimate | None = None
    """By clusters of events; None for a single event."""
    difference: Comparison | None = None
    """The bot's mean less the market's."""
