"""How good it was: pure functions of arrays, and the scorecards made of them."""

from predibot.scoring.prices import as_of_prices
from predibot.scoring.probability import brier_score, brier_skill_score, log_score
from predibot.scoring.returns import horizon_gains
from predibot.scoring.risk import sharpe_ratio

__all__ = [
    "as_of_prices",
    "brier_score",
    "brier_skill_score",
    "horizon_gains",
    "log_score",
    "sharpe_ratio",
]
