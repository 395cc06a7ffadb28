"""How good it was: pure functions of arrays, and the evaluations made of them."""

from typing import TYPE_CHECKING

from predibot._lazy import lazily

if TYPE_CHECKING:
    from predibot.scoring.accounts.allocation import concentration, slots_in_drawdown, turnover
    from predibot.scoring.accounts.board import (
        AccountBoard,
        AccountPair,
        DelayBand,
        RankAgreement,
        account_board,
        rank_agreements,
    )
    from predibot.scoring.accounts.rationale import factors_named, shares_of_factors
    from predibot.scoring.accounts.record import AccountRecord, AccountsRecord
    from predibot.scoring.accounts.rolling_delay import RollingDelay, rolling_delays
    from predibot.scoring.accounts.score import AccountScore, Behaviour
    from predibot.scoring.evaluation.e_values import (
        BettingEvidence,
        BotEvidence,
        Evidence,
        betting_evidence,
        record_evidence,
    )
    from predibot.scoring.evaluation.evaluation import Evaluation, Question, evaluation_of, evaluation_of_forecasts
    from predibot.scoring.evaluation.forecast_score import ForecastScore, forecast_scores
    from predibot.scoring.evaluation.notes import notes
    from predibot.scoring.evaluation.pairs import Pair, brier_pairs, edge_pairs, return_pairs
    from predibot.scoring.evaluation.ranking import Place, ranked
    from predibot.scoring.evaluation.scorecard import EdgeScore, HorizonScore, Scorecard, scorecards
    from predibot.scoring.evaluation.verdict import Finding, Verdict, pair_verdict, verdict
    from predibot.scoring.inference.bootstrap import (
        Estimate,
        cluster_bootstrap,
        cluster_bootstrap_mean,
        cluster_bootstrap_ratio,
    )
    from predibot.scoring.inference.comparison import (
        Comparison,
        benjamini_hochberg,
        paired_difference,
        probability_of_being_best,
    )
    from predibot.scoring.inference.power import RequiredEvents, events_needed, smallest_detectable
    from predibot.scoring.inference.price_implied import price_implied_variance
    from predibot.scoring.inference.uncertainty import Uncertainty
    from predibot.scoring.metrics.agreement import cohen_kappa, macro_f1, quadratic_weighted_kappa, rank_correlation
    from predibot.scoring.metrics.calibration import (
        CalibrationBins,
        ChanceError,
        MurphyDecomposition,
        calibration_bins,
        calibration_error_by_chance,
        expected_calibration_error,
        murphy_decomposition,
        wilson_interval,
    )
    from predibot.scoring.metrics.conventions import CONVENTIONS, Convention, convention_named
    from predibot.scoring.metrics.difficulty import difficulty_adjusted
    from predibot.scoring.metrics.equity import EquityScore, ScoredCurve, equity_returns, equity_score, score_of_curve
    from predibot.scoring.metrics.frictions import quote_gains
    from predibot.scoring.metrics.growth import annualized_return, calmar_ratio, cumulative_return, max_drawdown
    from predibot.scoring.metrics.kelly import kelly_fraction
    from predibot.scoring.metrics.pooling import pool_probabilities
    from predibot.scoring.metrics.price_step import fit_step, step_from_price
    from predibot.scoring.metrics.probability import brier_score, brier_skill_score, log_score
    from predibot.scoring.metrics.recalibration import fit_recalibration
    from predibot.scoring.metrics.returns import horizon_gains
    from predibot.scoring.metrics.risk import (
        longest_losing_run,
        sharpe_ratio,
        sortino_ratio,
        value_at_risk,
        volatility,
        win_rate,
    )
    from predibot.scoring.metrics.sharpe_interval import sharpe_interval
    from predibot.scoring.price_lookup import as_of_prices
    from predibot.scoring.records.edge import Edges, edges
    from predibot.scoring.records.forecasts import Forecasts, settled_forecasts
    from predibot.scoring.records.knowledge import KNOWLEDGE, inherited_knowledge, knowledge_of
    from predibot.scoring.records.track_record import TrackRecord
    from predibot.scoring.skill import Skill, SkillTry, skill_of
else:
    __getattr__, __dir__ = lazily(__name__)

__all__ = [
    "CONVENTIONS",
    "KNOWLEDGE",
    "AccountBoard",
    "AccountPair",
    "AccountRecord",
    "AccountScore",
    "AccountsRecord",
    "Behaviour",
    "BettingEvidence",
    "BotEvidence",
    "CalibrationBins",
    "ChanceError",
    "Comparison",
    "Convention",
    "DelayBand",
    "EdgeScore",
    "Edges",
    "EquityScore",
    "Estimate",
    "Evaluation",
    "Evidence",
    "Finding",
    "ForecastScore",
    "Forecasts",
    "HorizonScore",
    "MurphyDecomposition",
    "Pair",
    "Place",
    "Question",
    "RankAgreement",
    "RequiredEvents",
    "RollingDelay",
    "Scorecard",
    "ScoredCurve",
    "Skill",
    "SkillTry",
    "TrackRecord",
    "Uncertainty",
    "Verdict",
    "account_board",
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
    "cohen_kappa",
    "concentration",
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
    "factors_named",
    "fit_recalibration",
    "fit_step",
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
    "rank_agreements",
    "rank_correlation",
    "ranked",
    "record_evidence",
    "return_pairs",
    "rolling_delays",
    "score_of_curve",
    "scorecards",
    "settled_forecasts",
    "shares_of_factors",
    "sharpe_interval",
    "sharpe_ratio",
    "skill_of",
    "slots_in_drawdown",
    "smallest_detectable",
    "sortino_ratio",
    "step_from_price",
    "turnover",
    "value_at_risk",
    "verdict",
    "volatility",
    "wilson_interval",
    "win_rate",
]
