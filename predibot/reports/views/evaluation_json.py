"""An evaluation as one JSON document; a number without a value is None."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime

from predibot.domain.clock import format_instant
from predibot.reports.table import Document, document
from predibot.reports.views import metrics
from predibot.reports.views.accounts import board_document, cohort_board_document
from predibot.reports.views.effort import correlation_documents, effort_documents
from predibot.reports.views.leaderboard import conclusions, leaderboard, market_conclusions, missing
from predibot.scoring.evaluation.counterfactual import Counterfactual
from predibot.scoring.evaluation.e_values import BettingEvidence, BotEvidence, Evidence
from predibot.scoring.evaluation.evaluation import ClusteredEvaluation, Evaluation
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.parts import PartScore
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.evaluation.verdict import Verdict, pair_verdict
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL, Estimate
from predibot.scoring.records.coherence import CoherenceScore
from predibot.scoring.records.consistency import Consistency
from predibot.scoring.records.knowledge import Knowledge

_BY_CLUSTERS = (
    *("leaderboard", "conclusions", "bots", "evidence", "comparisons", "parts"),
    *("by_category", "by_lead_time_days", "by_confidence", "consistency", "delays", "sizings"),
)
"""Parts of a document that depend on clusters."""


def evaluation_document(evaluation: Evaluation) -> Document:
    """Return the JSON document of an evaluation; bots ranked apart are in every list, told by their `knowledge`."""
    asked, ranked = evaluation.question, evaluation.rankings
    said = market_conclusions(evaluation) if evaluation.as_of is None else conclusions(leaderboard(evaluation))
    return {
        **document(evaluation, "as_of first_results_at currency"),
        **document(asked, "convention=convention.name"),
        **document(asked.uncertainty, "confidence resamples seed"),
        "leaderboard": _rows(ranked, lambda each: map(metrics.row_document, leaderboard(each))),
        "conclusions": list(said),
        "missing": list(missing(evaluation)),
        **({"without_tools": dict(evaluation.without_tools)} if evaluation.without_tools else {}),
        **({"without_search": dict(evaluation.without_search)} if evaluation.without_search else {}),
        "bots": _rows(ranked, lambda each: map(_card, each.cards)),
        "evidence": _rows(ranked, lambda each: map(_evidence, each.evidence, each.verdicts)),
        "comparisons": _rows(ranked, lambda each: map(pair_document, each.pairs)),
        "by": asked.grouping,
        "parts": _rows(
            ranked, lambda each: ({"group": one.group, **_card(one.card)} for one in each.parts if one.card)
        ),
        "by_category": _rows(ranked, lambda each: map(_part, each.by_category)),
        "by_lead_time_days": _rows(ranked, lambda each: map(_part, each.by_lead_time)),
        "by_confidence": _rows(ranked, lambda each: map(_part, each.by_confidence)),
        "consistency": _rows(ranked, lambda each: map(consistency_document, each.consistency)),
        **(
            {"effort": _rows(ranked, effort_documents), "effort_correlations": _rows(ranked, correlation_documents)}
            if evaluation.effort
            else {}
        ),
        "coherence": [coherence_row(each) for each in evaluation.coherence],
        "delays": _rows(
            ranked, lambda each: (_counterfactual("delay_days", one, float(one.change)) for one in each.delays)
        ),
        "sizings": _rows(ranked, lambda each: (_counterfactual("sizing", one, one.change) for one in each.sizings)),
        **_accounts(evaluation),
        **_clusters(evaluation.joined),
        "notes": all_notes(evaluation),
    }


def _clusters(joined: ClusteredEvaluation | None) -> Document:
    if joined is None:
        return {}
    whole = evaluation_document(joined.evaluation)
    return {
        "clusters": {
            **document(joined, "events clusters largest"),
            "fewest_for_an_interval": FEWEST_FOR_AN_INTERVAL,
            "too_few": list(joined.too_few),
            **{name: whole[name] for name in _BY_CLUSTERS},
        }
    }


def _accounts(evaluation: Evaluation) -> Document:
    if not evaluation.accounts and not evaluation.cohorts:
        return {}
    cohorts = [cohort_board_document(board) for board in evaluation.cohorts]
    return {
        "accounts": [board_document(board) for board in evaluation.accounts],
        **({"cohorts": cohorts, "archived": evaluation.question.archived} if cohorts else {}),
        "rank_agreements": [document(each) for each in evaluation.agreements],
    }


def all_notes(evaluation: Evaluation) -> list[str]:
    """Return the notes of all rankings, each once."""
    notes = (note for each in evaluation.rankings.values() for note in each.notes)
    return list(dict.fromkeys((*evaluation.remarks, *notes)))


def _rows(
    rankings: Mapping[Knowledge, Evaluation], rows_of: Callable[[Evaluation], Iterable[Document]]
) -> list[Document]:
    return [{**row, "knowledge": knowledge} for knowledge, each in rankings.items() for row in rows_of(each)]


def _card(card: Scorecard) -> Document:
    return {
        "bot": card.bot,
        **document(card, metrics.CARD),
        **metrics.score_document(card.forecast, metrics.FORECAST),
        "edge": {**document(card.edge, metrics.EDGE), "interval": _interval(card.edge.interval)},
        "horizons": {label: metrics.score_document(score, metrics.HORIZON) for label, score in card.horizons.items()},
        **document(card, metrics.COUNTS),
    }


def _evidence(evidence: BotEvidence, verdict: Verdict) -> Document:
    return {
        "bot": evidence.bot,
        "verdict": document(verdict, metrics.VERDICT),
        "forecasts": _betting(evidence.forecasts),
        "dollars": None if evidence.dollars is None else _betting(evidence.dollars),
    }


def _betting(evidence: BettingEvidence) -> Document:
    return {
        **{name: _e_value(getattr(evidence, name)) for name in ("better", "worse", "book")},
        **document(evidence, "dependence dependence_worse days events"),
    }


def _e_value(evidence: Evidence) -> Document:
    at = evidence.largest_at
    return {
        "now": evidence.now,
        "largest": evidence.largest,
        "largest_at": None if at is None else format_instant(datetime.fromtimestamp(at, UTC)),
        "p_value": evidence.p_value,
    }


def _interval(estimate: Estimate | None) -> Document | None:
    return None if estimate is None else document(estimate, metrics.INTERVAL)


def pair_document(pair: Pair) -> Document:
    """Return a pair of bots with its verdict."""
    names = (
        "first second metric n clusters difference low high p_value p_adjusted "
        "minimum_detectable_difference=detectable cluster_standard_error price_standard_error dependence without_best "
        "open_stakes apart better"
    )
    return {**document(pair, names), "verdict": document(pair_verdict(pair), metrics.VERDICT)}


def consistency_document(found: Consistency) -> Document:
    """Return the consistency of a bot."""
    ends = "difference=difference.estimate difference_low=difference.low difference_high=difference.high"
    sides = ends.replace("difference", "same_side")
    return document(found, f"bot between n clusters {ends} {sides} bet_deviation_usd")


def coherence_row(found: CoherenceScore) -> Document:
    """Return how coherent a bot is over all rules."""
    return document(found, f"bot=name {metrics.BREACH} {metrics.BREACH_INTERVALS}")


def _part(part: PartScore) -> Document:
    return {
        **document(part, "bot group n_brier=score.n brier=score.brier"),
        **metrics.score_document(part.score, metrics.FORECAST),
    }


def _counterfactual(name: str, each: Counterfactual, change: float | str) -> Document:
    return {
        "bot": each.bot,
        name: change,
        **document(each, "horizon mean_return actual_mean_return difference=difference.estimate"),
        "interval": _interval(each.difference),
        "n": 0 if each.difference is None else each.difference.n,
    }
