"""Parts: scores of the same bots by category, by time to settlement, by confidence and by evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from predibot.scoring.arguments import Floats, Ints
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
class PartScore:
    """The scores of one bot on one part of its decisions, or of its forecasts."""

    bot: str
    group: str
    score: ForecastScore
    card: Scorecard | None = None
    """None for a part of its forecasts."""


def part_cards(
    record: TrackRecord, grouping: str, horizons_days: Sequence[float], convention: Convention, uncertainty: Uncertainty
) -> tuple[PartScore, ...]:
    """Return a scorecard of each bot on each part in which it decided something, by bot and then by part.

    Raises `ValueError` if there is no such grouping.
    """
    split, parts = record_by(record, grouping)
    # An event is a single cluster, which has no interval.
    wanted = None if grouping == "event" else uncertainty
    cards = scorecards(split, horizons_days=horizons_days, convention=convention, uncertainty=wanted)
    return tuple(
        PartScore(bot, group, card.forecast, replace(card, bot=bot))
        for (bot, group), card in zip(parts, cards, strict=True)
    )


def part_scores(
    name: str, forecasts: Forecasts, uncertainty: Uncertainty, *, draws: bool = True
) -> tuple[PartScore, ...]:
    """Return the scores of each bot on each part of its forecasts; none where nothing is known that tells parts apart.

    Args:
        name: `by_category`, `by_lead_time`, which is how many days before settlement it forecast, or `by_confidence`,
            which it stated itself.
        forecasts: The forecasts of all bots.
        uncertainty: How intervals are drawn.
        draws: Whether there are other intervals than those of Brier scores.
    """
    parts_by: Mapping[str, tuple[Floats | Ints | None, Sequence[float], Sequence[str]]] = {
        "by_category": (forecasts.category, range(1, len(forecasts.categories)), forecasts.categories),
        "by_lead_time": (forecasts.days_ahead, LEAD_TIMES_DAYS, ()),
        "by_confidence": (forecasts.confidence, CONFIDENCES, ()),
    }
    values, edges, names = parts_by[name]
    if values is None or not edges or np.isnan(values).all():
        return ()
    split, parts = forecasts_by(forecasts, values.astype(np.float64), edges, names)
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
    return tuple(PartScore(*part, score) for part, score in zip(parts, scores, strict=True))
