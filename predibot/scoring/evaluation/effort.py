"""Effort: what a bot's decisions take on average, and how that goes together with its scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from predibot.scoring.metrics.correlation import Correlations, correlations

EFFORTS = ("searches", "pages", "tokens", "cost_usd", "seconds")
SUCCESSES = ("edge", "brier", "mean_return")


@dataclass(frozen=True, slots=True)
class Effort:
    """The means over the decisions of a bot with a model, those that failed too; None where a part is unknown."""

    bot: str
    decisions: int
    searches: float
    pages: float
    """Pages read, whichever tool found them."""
    seconds: float
    cost_usd: float | None
    tokens: float | None
    """Read and written by its models, over its newest decisions with a trace."""
    traces: int
    """The number of these decisions."""


@dataclass(frozen=True, slots=True)
class EffortAndSuccess:
    """A bot's effort beside its scores; None without a value."""

    effort: Effort
    edge: float | None
    brier: float | None
    mean_return: float | None

    def pair(self, effort: str, success: str) -> tuple[float, float] | None:
        """Return one of `EFFORTS` with one of `SUCCESSES`; None unless both are known."""
        one, other = getattr(self.effort, effort), getattr(self, success)
        return None if one is None or other is None else (one, other)


@dataclass(frozen=True, slots=True)
class EffortCorrelation:
    """How an effort goes together with a success over the bots that know both."""

    effort: str
    success: str
    points: Mapping[str, tuple[float, float]]
    """Effort and success by bot."""
    found: Correlations

    @property
    def across(self) -> int:
        """Return how many different values the effort has."""
        return len({effort for effort, _ in self.points.values()})


def effort_correlations(rows: Sequence[EffortAndSuccess], *, confidence: float = 0.95) -> tuple[EffortCorrelation, ...]:
    """Return how each of `EFFORTS` goes together with each of `SUCCESSES`; intervals take bots as independent draws."""
    found = []
    for effort, success in product(EFFORTS, SUCCESSES):
        points = {row.effort.bot: pair for row in rows if (pair := row.pair(effort, success)) is not None}
        one, other = ({bot: pair[place] for bot, pair in points.items()} for place in (0, 1))
        found.append(EffortCorrelation(effort, success, points, correlations(one, other, confidence=confidence)))
    return tuple(found)
