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
    ChanceError,
    MurphyDecomposition,
    calibration_bins,
    calibration_error_by_chance,
    expected_calibration_error,
    murphy_decomposition,
    wilson_interval,
)
from predibot.scoring.comparison import (
    Comparison,
    benjamini_hochberg,
    paired_difference,
    probability_of_being_best,
)
from predibot.scoring.conventions import CONVENTIONS, Convention, convention_named
from predibot.scoring.difficulty import difficulty_adjusted
from predibot.scoring.e_values import (
    BettingEvidence,
    BotEvidence,
    Evidence,
    betting_evidence,
    record_evidence,
)
from predibot.scoring.edge import Edges, edges
from predibot.scoring.equity import EquityScore, equity_returns, equity_score
from predibot.scoring.evaluation import Evaluation, Question, evaluation_of, evaluation_of_forecasts
from predibot.scoring.forecast_score import ForecastScore, forecast_scores
from predibot.scoring.forecasts import Forecasts, settled_forecasts
from predibot.scoring.frictions import quote_gains
from predibot.scoring.growth import annualized_return, calmar_ratio, cumulative_return, max_drawdown
from predibot.scoring.kelly import kelly_fraction
from predibot.scoring.knowledge import KNOWLEDGE, inherited_knowledge, knowledge_of
from predibot.scoring.leaderboard import Pair, brier_pairs, edge_pairs, ranked, return_pairs
from predibot.scoring.notes import notes
from predibot.scoring.pooling import pool_probabilities
from predibot.scoring.power import EventsNeeded, events_needed, smallest_detectable
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
from predibot.scoring.scorecard import EdgeScore, HorizonScore, Scorecard, scorecards
from predibot.scoring.sharpe_interval import sharpe_interval
from predibot.scoring.uncertainty import Uncertainty
from predibot.scoring.verdict import Finding, Verdict, pair_verdict, verdict

__all__ = [
    "CONVENTIONS",
    "KNOWLEDGE",
    "BettingEvidence",
    "BotEvidence",
    "CalibrationBins",
    "ChanceError",
    "Comparison",
    "Convention",
    "EdgeScore",
    "Edges",
    "EquityScore",
    "Estimate",
    "Evaluation",
    "EventsNeeded",
    "Evidence",
    "Finding",
    "ForecastScore",
    "Forecasts",
    "HorizonScore",
    "MurphyDecomposition",
    "Pair",
    "Question",
    "Scorecard",
    "TrackRecord",
    "Uncertainty",
    "Verdict",
    "annualized_return",
    "as_of_prices",
    "benjamini_hochberg",
    "betting_evidence",
    "brier_pairs",
    "brier_score",
    "brier_skill_score",
    "calibration_bins",
    "calibration_error_by_chance",
    "calmar_ratio",
    "cluster_bootstrap",
    "cluster_bootstrap_mean",
    "cluster_bootstrap_ratio",
    "convention_named",
    "cumulative_return",
    "difficulty_adjusted",
    "edge_pairs",
    "edges",
    "equity_returns",
    "equity_score",
    "evaluation_of",
    "evaluation_of_forecasts",
    "events_needed",
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
    "murphy_decomposition",
    "notes",
    "pair_verdict",
    "paired_difference",
    "pool_probabilities",
    "price_implied_variance",
    "probability_of_being_best",
    "quadratic_weighted_kappa",
    "quote_gains",
    "rank_correlation",
    "ranked",
    "record_evidence",
    "return_pairs",
    "scorecards",
    "settled_forecasts",
    "sharpe_interval",
    "sharpe_ratio",
    "smallest_detectable",
    "sortino_ratio",
    "value_at_risk",
    "verdict",
    "volatility",
    "wilson_interval",
    "win_rate",
]
