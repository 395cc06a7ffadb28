"""Parts: scores of the same bots by category, by time to settlement, by confidence and by evidence."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from predibot.scoring.arguments import Floats
from predibot.scoring.evaluation.forecast_score import ForecastScore, forecast_scores
from predibot.scoring.evaluation.scorecard import Scorecard, scorecards
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import Convention
from predibot.scoring.records.forecasts import Forecasts
from predibot.scoring.records.grouping import CONFIDENCES, LEAD_TIMES_DAYS, BotGroup, forecasts_by, record_by
from predibot.scoring.records.track_record import TrackRecord

EVIDENCE = (1.0, 4.0, 8.0, 16.0)
EVIDENCE_NAMES = ("none", "1 to 3", "4 to 7", "8 to 15", "16 and more")


@dataclass(frozen=True, slots=True)
class PartCard:
    """The scorecard of one bot on one part of its decisions."""

    group: str
    card: Scorecard


@dataclass(frozen=True, slots=True)
class PartScore:
    """The forecast scores of one bot on one part of its forecasts."""

    bot: str
    group: str
    score: ForecastScore


def part_cards(
    record: TrackRecord,
    grouping: str,
    horizons_days: Sequence[float],
    convention: Convention,
    uncertainty: Uncertainty,
) -> tuple[PartCard, ...]:
    """Return a scorecard of each bot on each part in which it decided something, by bot and then by part.

    Raises `ValueError` if there is no such grouping.
    """
    split, parts = record_by(record, grouping)
    # An event is a single cluster, which has no interval.
    wanted = None if grouping == "event" else uncertainty
    cards = scorecards(split, horizons_days=horizons_days, convention=convention, uncertainty=wanted)
    return tuple(PartCard(part.group, replace(card, bot=part.bot)) for part, card in zip(parts, cards, strict=True))


def lead_time_scores(forecasts: Forecasts, uncertainty: Uncertainty, *, draws: bool = True) -> tuple[PartScore, ...]:
    """Return the scores of each bot by how many days before settlement it forecast."""
    if forecasts.days_ahead is None:
        return ()
    return _score_parts(*forecasts_by(forecasts, forecasts.days_ahead, LEAD_TIMES_DAYS), uncertainty, draws=draws)


def confidence_scores(forecasts: Forecasts, uncertainty: Uncertainty, *, draws: bool = True) -> tuple[PartScore, ...]:
    """Return the scores of each bot by its stated confidence; none where nobody stated one."""
    if forecasts.confidence is None or np.isnan(forecasts.confidence).all():
        return ()
    return _score_parts(*forecasts_by(forecasts, forecasts.confidence, CONFIDENCES), uncertainty, draws=draws)


def category_scores(forecasts: Forecasts, uncertainty: Uncertainty, *, draws: bool = True) -> tuple[PartScore, ...]:
    """Return the scores of each bot by category; none where no category is known."""
    if forecasts.category is None or len(forecasts.categories) < 2:
        return ()
    edges = np.arange(1.0, len(forecasts.categories))
    split, parts = forecasts_by(forecasts, forecasts.category.astype(np.float64), edges.tolist(), forecasts.categories)
    return _score_parts(split, parts, uncertainty, draws=draws)


def evidence_scores(forecasts: Forecasts, gathered: Floats, uncertainty: Uncertainty) -> tuple[PartScore, ...]:
    """Return the scores of each bot by its searches and pages, (n,) in `gathered`, NaN where they are unknown.

    Of the intervals only those of Brier scores.
    """
    return _score_parts(*forecasts_by(forecasts, gathered, EVIDENCE, EVIDENCE_NAMES), uncertainty, draws=False)


def _score_parts(
    split: Forecasts, parts: Sequence[BotGroup], uncertainty: Uncertainty, *, draws: bool
) -> tuple[PartScore, ...]:
    scores = forecast_scores(split, uncertainty=uncertainty, adjust=False, draws=draws)
    return tuple(PartScore(part.bot, part.group, score) for part, score in zip(parts, scores, strict=True))
