"""How good it was: pure functions of arrays, and the scorecards made of them."""

from predibot.scoring.knowledge import KNOWLEDGE, knowledge_of
from predibot.scoring.notes import notes
from predibot.scoring.prices import as_of_prices
from predibot.scoring.probability import brier_score, brier_skill_score, log_score
from predibot.scoring.record import TrackRecord
from predibot.scoring.returns import horizon_gains
from predibot.scoring.risk import sharpe_ratio
from predibot.scoring.scorecard import HorizonScore, Scorecard, scorecards

__all__ = [
    "KNOWLEDGE",
    "HorizonScore",
    "Scorecard",
    "TrackRecord",
    "as_of_prices",
    "brier_score",
    "brier_skill_score",
    "horizon_gains",
    "knowledge_of",
    "log_score",
    "notes",
    "scorecards",
    "sharpe_ratio",
]
