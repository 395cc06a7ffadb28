"""How good it was: pure functions of arrays, and the evaluations made of them."""

from predibot.scoring.agreement import macro_f1, quadratic_weighted_kappa, rank_correlation
from predibot.scoring.bootstrap import (
    Estimate,
    cluster_bootstrap,
    cluster_bootstrap_mean,
    cluster_bootstrap_ratio,
)
from predibot.scoring.calibration import (
    CalibrationBins,
    MurphyDecomposition,
    calibration_bins,
    expected_calibration_error,
    murphy_decomposition,
)
from predibot.scoring.comparison import (
    Comparison,
    benjamini_hochberg,
    minimum_detectable_difference,
    paired_difference,
    probability_of_being_best,
)
from predibot.scoring.conventions import CONVENTIONS, Convention, convention_named
from predibot.scoring.difficulty import difficulty_adjusted
from predibot.scoring.edge import Edges, edges
from predibot.scoring.equity import EquityScore, equity_returns, equity_score
from predibot.scoring.evaluation import Evaluation, Question, evaluation_of, evaluation_of_forecasts
from predibot.scoring.forecast_score import ForecastScore, forecast_scores
from predibot.scoring.forecasts import Forecasts, settled_forecasts
from predibot.scoring.frictions import quote_gains
from predibot.scoring.growth import annualized_return, calmar_ratio, cumulative_return, max_drawdown
from predibot.scoring.kelly import kelly_fraction
from predibot.scoring.knowledge import KNOWLEDGE, inherited_knowledge, knowledge_of
from predibot.scoring.leaderboard import Pair, brier_pairs, return_pairs
from predibot.scoring.notes import notes
from predibot.scoring.pooling import pool_probabilities
from predibot.scoring.price_implied import price_implied_variance
from predibot.scoring.prices import as_of_prices
from predibot.scoring.probability import brier_score, brier_skill_score, log_score
from predibot.scoring.recalibration import fit_recalibration
from predibot.scoring.record import TrackRecord
from predibot.scoring.returns import horizon_gains
from predibot.scoring.risk import (
    longest_losing_run,
    sharpe_ratio,
    sortino_ratio,
    value_at_risk,
    volatility,
    win_rate,
)
from predibot.scoring.scorecard import HorizonScore, Scorecard, scorecards
from predibot.scoring.uncertainty import Uncertainty

__all__ = [
    "CONVENTIONS",
    "KNOWLEDGE",
    "CalibrationBins",
    "Comparison",
    "Convention",
    "Edges",
    "EquityScore",
    "Estimate",
    "Evaluation",
    "ForecastScore",
    "Forecasts",
    "HorizonScore",
    "MurphyDecomposition",
    "Pair",
    "Question",
    "Scorecard",
    "TrackRecord",
    "Uncertainty",
    "annualized_return",
    "as_of_prices",
    "benjamini_hochberg",
    "brier_pairs",
    "brier_score",
    "brier_skill_score",
    "calibration_bins",
    "calmar_ratio",
    "cluster_bootstrap",
    "cluster_bootstrap_mean",
    "cluster_bootstrap_ratio",
    "convention_named",
    "cumulative_return",
    "difficulty_adjusted",
    "edges",
    "equity_returns",
    "equity_score",
    "evaluation_of",
    "evaluation_of_forecasts",
    "expected_calibration_error",
    "fit_recalibration",
    "forecast_scores",
    "horizon_gains",
    "inherited_knowledge",
    "kelly_fraction",
    "knowledge_of",
    "log_score",
    "longest_losing_run",
    "macro_f1",
    "max_drawdown",
    "minimum_detectable_difference",
    "murphy_decomposition",
    "notes",
    "paired_difference",
    "pool_probabilities",
    "price_implied_variance",
    "probability_of_being_best",
    "quadratic_weighted_kappa",
    "quote_gains",
    "rank_correlation",
    "return_pairs",
    "scorecards",
    "settled_forecasts",
    "sharpe_ratio",
    "sortino_ratio",
    "value_at_risk",
    "volatility",
    "win_rate",
]
