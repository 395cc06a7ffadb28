"""An evaluation as one JSON document; a number without a value is None."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from predibot.domain.clock import format_instant
from predibot.reports.views.decide import Document, number
from predibot.reports.views.leaderboard import LeaderboardRow, beside_market, conclusions, leaderboard, missing
from predibot.scoring.evaluation.counterfactual import Counterfactual
from predibot.scoring.evaluation.e_values import BettingEvidence, BotEvidence, Evidence
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.parts import PartScore
from predibot.scoring.evaluation.scorecard import EdgeScore, HorizonScore, Scorecard
from predibot.scoring.evaluation.verdict import Verdict, pair_verdict
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.metrics.calibration import CalibrationBins, MurphyDecomposition
from predibot.scoring.records.knowledge import Knowledge


def evaluation_document(evaluation: Evaluation) -> Document:
    """Return the JSON document of an evaluation.

    Decisions that are ranked apart have rows of their own in every list, told by their `knowledge`.
    """
    asked, ranked = evaluation.question, evaluation.rankings
    first_at = evaluation.first_results_at
    said = beside_market(evaluation) if evaluation.as_of is None else conclusions(leaderboard(evaluation))
    return {
        "as_of": None if evaluation.as_of is None else format_instant(evaluation.as_of),
        "first_results_at": None if first_at is None else format_instant(first_at),
        "convention": asked.convention.name,
        "confidence": asked.uncertainty.confidence,
        "resamples": asked.uncertainty.resamples,
        "seed": asked.uncertainty.seed,
        "leaderboard": _rows(ranked, lambda each: map(_place, leaderboard(each))),
        "conclusions": list(said),
        "missing": list(missing(evaluation)),
        "bots": _rows(ranked, lambda each: map(_card, each.cards)),
        "evidence": _rows(ranked, lambda each: map(_evidence, each.evidence, each.verdicts)),
        "comparisons": _rows(ranked, lambda each: map(pair_document, each.pairs)),
        "by": asked.grouping,
        "parts": _rows(ranked, lambda each: ({"group": part.group, **_card(part.card)} for part in each.parts)),
        "by_category": _rows(ranked, lambda each: map(_part, each.by_category)),
        "by_lead_time_days": _rows(ranked, lambda each: map(_part, each.by_lead_time)),
        "by_confidence": _rows(ranked, lambda each: map(_part, each.by_confidence)),
        "delays": _rows(
            ranked, lambda each: (_counterfactual("delay_days", one, float(one.change)) for one in each.delays)
        ),
        "sizings": _rows(ranked, lambda each: (_counterfactual("sizing", one, one.change) for one in each.sizings)),
        "notes": all_notes(evaluation),
    }


def all_notes(evaluation: Evaluation) -> list[str]:
    """Return what a reader must know of all rankings, each sentence once."""
    notes = (note for each in evaluation.rankings.values() for note in each.notes)
    return list(dict.fromkeys((*evaluation.remarks, *notes)))


def _rows(
    rankings: Mapping[Knowledge, Evaluation], rows_of: Callable[[Evaluation], Iterable[Document]]
) -> list[Document]:
    return [{**row, "knowledge": knowledge} for knowledge, each in rankings.items() for row in rows_of(each)]


def _place(row: LeaderboardRow) -> Document:
    return {
        "rank": row.rank,
        "bot": row.bot,
        "baseline": row.baseline,
        "edge": number(row.edge),
        "edge_low": number(row.edge_low),
        "edge_high": number(row.edge_high),
        "edge_by_event": number(row.edge_by_event),
        "events": row.events,
        "verdict": _verdict(row.verdict),
        "brier": number(row.brier),
        "market_brier": number(row.market_brier),
        "horizon": row.horizon,
        "quote_return": number(row.quote_return),
        "quote_return_now": number(row.quote_return_now),
        "answered_share": number(row.answered_share),
        "cost_usd": number(row.cost_usd),
        "curve": list(row.curve),
    }


def _card(card: Scorecard) -> Document:
    return {
        "bot": card.bot,
        "decisions": card.decisions,
        "forecasts": card.forecasts,
        "settled": card.settled,
        "void": card.void,
        "brier": number(card.brier),
        "n_brier": card.n_brier,
        "brier_open": number(card.brier_open),
        "n_brier_open": card.n_brier_open,
        **_forecast(card.forecast),
        "edge": _edge(card.edge),
        "horizons": {label: _horizon(score) for label, score in card.horizons.items()},
        "cost_usd": number(card.cost_usd),
        "cost_known_usd": number(card.cost_known_usd),
        "refused": card.refused,
        "failed": card.failed,
        "abstained": card.abstained,
        "clean": card.clean,
        "unknown": card.unknown,
        "ahead": card.ahead,
        "contaminated": card.contaminated,
    }


def _edge(score: EdgeScore) -> Document:
    return {
        "edge": number(score.edge),
        "n": score.n,
        "clusters": score.clusters,
        "settled_part": number(score.settled_part),
        "by_event": number(score.by_event),
        "asked": score.asked,
        "answered": score.answered,
        "answered_share": number(score.answered_share),
        "counted": score.counted,
        "settled": score.settled,
        "unpriced": score.unpriced,
        "interval": None if score.interval is None else _interval(score.interval),
    }


def _evidence(evidence: BotEvidence, verdict: Verdict) -> Document:
    return {
        "bot": evidence.bot,
        "verdict": _verdict(verdict),
        "forecasts": _betting(evidence.forecasts),
        "dollars": None if evidence.dollars is None else _betting(evidence.dollars),
    }


def _verdict(verdict: Verdict) -> Document:
    needed = verdict.needed
    return {
        "finding": verdict.finding.value,
        "events": verdict.events,
        "e_value": number(verdict.e_value),
        "events_needed": None if needed is None else needed.events,
        "more_than": None if needed is None else needed.more_than,
    }


def _betting(evidence: BettingEvidence) -> Document:
    return {
        **{name: _e_value(getattr(evidence, name)) for name in ("better", "worse", "book")},
        "dependence": number(evidence.dependence),
        "days": evidence.days,
        "events": evidence.events,
    }


def _e_value(evidence: Evidence) -> Document:
    at = evidence.largest_at
    return {
        "now": evidence.now,
        "largest": evidence.largest,
        "largest_at": None if at is None else format_instant(datetime.fromtimestamp(at, UTC)),
        "p_value": evidence.p_value,
    }


def _forecast(score: ForecastScore) -> Document:
    """Return what is said of forecasts on what is settled, beside the Brier score and its n."""
    return {
        "clusters": score.clusters,
        "brier_by_event": number(score.brier_by_event),
        "log_score": number(score.log_score),
        "accuracy": number(score.accuracy),
        "calibration_error": number(score.calibration_error),
        "calibration_error_by_chance": number(score.calibration_error_by_chance),
        "calibration_error_by_chance_high": number(score.calibration_error_by_chance_high),
        "calibration": None if score.calibration is None else bin_documents(score.calibration),
        "murphy": None if score.murphy is None else _murphy(score.murphy),
        "n_market": score.n_market,
        "market_brier": number(score.market_brier),
        "market_log_score": number(score.market_log_score),
        "skill_vs_market": number(score.skill_vs_market),
        "adjusted_brier": number(score.adjusted_brier),
        "n_confidence": score.n_confidence,
        "confidence_and_error": number(score.confidence_and_error),
        "intervals": {name: _interval(each) for name, each in score.intervals.items()},
    }


def bin_documents(bins: CalibrationBins) -> list[Document]:
    """Return the bins of a calibration, the empty ones too."""
    return [
        {
            "lower": float(bins.lower[row]),
            "upper": float(bins.upper[row]),
            "n": int(bins.count[row]),
            "mean_probability": number(bins.mean_probability[row]),
            "mean_outcome": number(bins.mean_outcome[row]),
            "effective_n": float(bins.effective_count[row]),
            "outcome_low": number(bins.outcome_low[row]),
            "outcome_high": number(bins.outcome_high[row]),
        }
        for row in range(bins.count.size)
    ]


def _murphy(parts: MurphyDecomposition) -> Document:
    return {name: number(getattr(parts, name)) for name in ("reliability", "resolution", "uncertainty", "within_bin")}


def _horizon(score: HorizonScore) -> Document:
    return {
        "mean_return": number(score.mean_return),
        "n": score.n,
        "clusters": score.clusters,
        "coverage": number(score.coverage),
        "sharpe": number(score.sharpe),
        "market_mean_return": number(score.market_mean_return),
        "n_market": score.n_market,
        "quote_mean_return": number(score.quote_mean_return),
        "n_quote": score.n_quote,
        "friction": number(score.friction),
        "net_mean_return": number(score.net_mean_return),
        "n_net": score.n_net,
        "drift": number(score.drift),
        "n_drift": score.n_drift,
        "mean_return_by_event": number(score.mean_return_by_event),
        "quote_mean_return_by_event": number(score.quote_mean_return_by_event),
        "open_stakes": number(score.open_stakes),
        "intervals": {name: _interval(each) for name, each in score.intervals.items()},
    }


def _interval(estimate: Estimate) -> Document:
    return {
        "low": number(estimate.low),
        "high": number(estimate.high),
        "n": estimate.n,
        "clusters": estimate.clusters,
        "few_clusters": estimate.few_clusters,
        "cluster_standard_error": number(estimate.cluster_standard_error),
        "price_standard_error": number(estimate.price_standard_error),
        "without_best": number(estimate.without_best),
        "method": estimate.method,
        "resamples_without_value": estimate.resamples_without_value,
    }


def pair_document(pair: Pair) -> Document:
    """Return two bots beside each other, with the verdict."""
    return {
        "first": pair.first,
        "second": pair.second,
        "metric": pair.metric,
        "n": pair.n,
        "clusters": pair.clusters,
        "difference": number(pair.difference),
        "low": number(pair.low),
        "high": number(pair.high),
        "p_value": number(pair.p_value),
        "p_adjusted": number(pair.p_adjusted),
        "minimum_detectable_difference": number(pair.detectable),
        "cluster_standard_error": number(pair.cluster_standard_error),
        "price_standard_error": number(pair.price_standard_error),
        "without_best": number(pair.without_best),
        "open_stakes": number(pair.open_stakes),
        "apart": pair.apart,
        "better": pair.better,
        "verdict": _verdict(pair_verdict(pair)),
    }


def _part(part: PartScore) -> Document:
    return {
        "bot": part.bot,
        "group": part.group,
        "n_brier": part.score.n,
        "brier": number(part.score.brier),
        **_forecast(part.score),
    }


def _counterfactual(name: str, each: Counterfactual, change: float | str) -> Document:
    return {
        "bot": each.bot,
        name: change,
        "horizon": each.horizon,
        "mean_return": number(each.mean_return),
        "actual_mean_return": number(each.actual_mean_return),
        "difference": None if each.difference is None else number(each.difference.estimate),
        "interval": None if each.difference is None else _interval(each.difference),
        "n": 0 if each.difference is None else each.difference.n,
    }
