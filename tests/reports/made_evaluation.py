"""One made-up evaluation for all renderers: every number is another one, so that none can be taken for another.

What of it is chosen by hand decides what is shown and said: verdicts, places, what is far apart, and what is missing.
"""

from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import count
from math import inf, nan
from typing import Any, get_args, get_type_hints

import numpy as np

from predibot.scoring.evaluation.counterfactual import Counterfactual
from predibot.scoring.evaluation.e_values import BettingEvidence, BotEvidence, Evidence
from predibot.scoring.evaluation.effort import Effort
from predibot.scoring.evaluation.evaluation import ClusteredEvaluation, Evaluation, PartScore, Question
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.scorecard import EdgeScore, HorizonScore, Scorecard
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.calibration import CalibrationBins, MurphyDecomposition
from predibot.scoring.records.coherence import CoherenceScore
from predibot.scoring.records.consistency import Consistency
from predibot.scoring.records.edge import EdgeCurve
from predibot.scoring.records.replicates import ReplicateScores, ReplicateSpread

AS_OF = datetime(2026, 2, 13, 19, 30, tzinfo=UTC)
_HORIZON = (
    *("mean_return", "sharpe", "market_mean_return", "quote_mean_return", "friction", "net_mean_return", "drift"),
)
_FORECAST = ("brier", "log_score", "accuracy", "market_brier", "skill_vs_market")


class _Numbers:
    """Fills what is not given of an object with numbers that no other has."""

    def __init__(self) -> None:
        self._numbers: Iterator[int] = count(1)

    def share(self) -> float:
        """Return the next one between 0 and 1, with four digits."""
        return next(self._numbers) * 3_771 % 10_000 / 10_000

    def made(self, kind: type, **given: object) -> Any:
        """Return an object of a kind, all of whose numbers differ."""
        for each in fields(kind):
            hints = get_args(hint := get_type_hints(kind)[each.name]) or (hint,)
            if each.name not in given and float in hints:
                given[each.name] = self.share()
            elif each.name not in given and int in hints:
                given[each.name] = 100 + next(self._numbers)
        return kind(**given)

    def estimate(self, estimate: float | None = None, **given: object) -> Estimate:
        estimate = self.share() if estimate is None else estimate
        ends = {"low": round(estimate - 0.0123, 4), "high": round(estimate + 0.0321, 4)}
        more = {"estimate": estimate, "confidence": 0.95, "method": "by hand", **ends, **given}
        found: Estimate = self.made(Estimate, **more)
        return found

    def horizon(self, days: float | None, **given: object) -> HorizonScore:
        intervals = {name: self.estimate() for name in _HORIZON}
        found: HorizonScore = self.made(HorizonScore, days=days, **{"intervals": intervals, **given})
        return found

    def forecast(self, **given: object) -> ForecastScore:
        intervals = {name: self.estimate() for name in _FORECAST}
        found: ForecastScore = self.made(ForecastScore, **{"intervals": intervals, **given})
        return found

    def edge(self, edge: float, half: float, events: int = 40, **given: object) -> EdgeScore:
        """Return an edge with an interval of some half width."""
        interval = self.estimate(edge, low=round(edge - half, 4), high=round(edge + half, 4), clusters=events)
        asked = {"answered": 300 + next(self._numbers), "counted": 500 + next(self._numbers), "asked": 1_000}
        found: EdgeScore = self.made(EdgeScore, edge=edge, clusters=events, interval=interval, **asked, **given)
        return found

    def betting(self, better: float, worse: float) -> BettingEvidence:
        """Return the evidence of one who reached so much at most."""
        sides = {name: self.made(Evidence, largest=largest) for name, largest in (("better", better), ("worse", worse))}
        sides["book"] = self.made(Evidence, largest=2.5, largest_at=86_400.0)
        found: BettingEvidence = self.made(BettingEvidence, **sides)
        return found


def bins() -> CalibrationBins:
    """Return three bins, of which the middle one is empty."""
    edges, nothing = np.array([0.0, 0.3, 0.7, 1.0]), nan
    said, happened, low, high = ([one, nothing, two] for one, two in ((0.1, 0.9), (0.25, 1.0), (0.05, 0.8), (0.4, 1.0)))
    counted = (np.array([12, 0, 1]), *map(np.array, (said, happened)), np.array([7.5, 0.0, 1.0]))
    return CalibrationBins(edges[:-1], edges[1:], *counted, np.array(low), np.array(high))


def made_evaluation(grouping: str | None = "category") -> Evaluation:
    """Return an evaluation with everything that can be asked for, and something of everything that can be missing."""
    made = _Numbers()
    sharp = made.made(
        Scorecard,
        bot="sharp",
        decisions=150,
        clean=140,
        cost_usd=1.5,
        forecast=made.forecast(calibration=bins(), murphy=made.made(MurphyDecomposition)),
        horizons={
            "1": made.horizon(1.0),
            "7": made.horizon(7.0, quote_mean_return=0.01, quote_mean_return_by_event=0.9),
            "now": made.horizon(None, sharpe=None, intervals={}),
            "settled": made.horizon(None, sharpe=None, open_stakes=0.34, intervals={}),
        },
        edge=made.edge(0.08, 0.07, by_event=-0.02),
    )
    price = made.made(
        Scorecard,
        bot="market_price",
        baseline=True,
        decisions=7,
        clean=7,
        cost_usd=0.0,
        forecast=made.forecast(intervals={}),
        horizons={"7": made.horizon(7.0, intervals={}), "settled": made.horizon(None, sharpe=None, open_stakes=0.1)},
        edge=made.edge(0.0, 0.0, by_event=0.0),
    )
    silent = Scorecard(
        bot="an_agent_with_\x1b[2Ja_rather_long_name\nand another line",
        decisions=12,
        clean=12,
        failed=11,
        cost_known_usd=0.25,
        horizons={"7": HorizonScore(7.0, None, 0, None, None, None, 0, 12, 12)},
        edge=EdgeScore(
            asked=24, counted=24, clusters=12, interval=made.estimate(0.0, low=None, high=None, clusters=12)
        ),
    )
    doubtful = replace(sharp, bot="=doubtful", edge=made.edge(-0.04, 0.03), cost_usd=2.25, horizons=price.horizons)
    cards = (sharp, price, silent, doubtful)
    evidence = ((410.2, 1.0), (1.0, 1.0), (1.0, 1.0), (7.5, 12.0))
    parts = [made.forecast(intervals={}) for _ in range(6)]
    late = [made.estimate(each) for each in (-0.2, 0.1)]
    found = Evaluation(
        AS_OF,
        cards,
        ("a note of the record", "a note of both"),
        Question((1, 7), uncertainty=Uncertainty(resamples=200), grouping=grouping),
        remarks=("the venue was out of reach",),
        evidence=tuple(
            BotEvidence(card.bot, made.betting(*largest), made.betting(3.0, 4.0))
            for card, largest in zip(cards, evidence, strict=True)
        ),
        curves=tuple(EdgeCurve(card.bot, (0.0, 1.0, 2.0), (0.0, row * 0.5, 1.0)) for row, card in enumerate(cards)),
        pairs=tuple(_pairs(made)),
        parts=(
            PartScore(price.bot, "sports", price.forecast, price),
            PartScore(doubtful.bot, "weather and the climate of the whole world\x07", doubtful.forecast, doubtful),
        ),
        by_category=(PartScore("sharp", "sports", parts[0]), PartScore("=doubtful", "-1", parts[1])),
        by_lead_time=(PartScore("sharp", "1 to 7", parts[2]), PartScore("=doubtful", "7 to 30", parts[3])),
        by_confidence=(PartScore("sharp", "8 to 10", parts[4]), PartScore("=doubtful", "none", parts[5])),
        delays=(
            Counterfactual("sharp", "4", "1", 0.1, 0.3, late[0]),
            Counterfactual("=doubtful", "4", "now", *[None] * 3),
        ),
        sizings=(Counterfactual("sharp", "half_kelly", "settled", 0.4, 0.3, late[1]),),
        first_results_at=datetime(2026, 2, 20, 19, 30, tzinfo=UTC),
        late=6,
    )
    unsure = replace(price, bot="unsure", baseline=False, unknown=7, edge=made.edge(-0.1, 0.1), cost_usd=None)
    apart = replace(
        found,
        cards=(unsure,),
        evidence=(BotEvidence("unsure", made.betting(1.0, 1.0), None),),
        curves=(),
        pairs=(),
        by_category=(),
        by_lead_time=(),
        by_confidence=(),
        remarks=(),
        notes=("a note of both", "a note of what is apart"),
    )
    again = {"clusters": 40, "difference": made.estimate(), "same_side": made.estimate()}
    consistency = tuple(
        made.made(Consistency, bot="sharp", between=between, **again) for between in ("replicates", "days")
    )
    spread = made.made(ReplicateScores, count=3, edge=made.made(ReplicateSpread), brier=None)
    coherence = tuple(
        made.made(CoherenceScore, name=bot, interval=made.estimate(), difference=None) for bot in ("sharp", "=doubtful")
    )
    together = replace(
        found,
        coherence=coherence,
        cards=(replace(sharp, replicates=spread), *cards[1:]),
        consistency=consistency,
        apart=apart,
    )
    return together.with_effort(tuple(made.made(Effort, bot=bot) for bot in ("sharp", "=doubtful", "unsure")))


def _pairs(made: _Numbers) -> Iterator[Pair]:
    """Yield pairs in no order: one is better, the other is, too few, alike, too much is open, and never near."""
    for first, second, metric, clusters, difference, p, open_stakes in (
        ("=doubtful", "market_price", "edge", 40, -0.2, 0.02, None),
        ("sharp", "=doubtful", "edge", 40, 0.3, 0.01, None),
        ("sharp", "market_price", "edge", 29, 0.25, 0.03, None),
        ("sharp", "=doubtful", "brier", 40, -0.3, 0.01, None),
        ("sharp", "market_price", "brier", 50, 0.1, 0.06, None),
        ("sharp", "=doubtful", "return_7", 40, 0.5, 0.01, None),
        ("sharp", "=doubtful", "return_settled", 40, 0.5, 0.01, 0.34),
    ):
        given = {"difference": difference, "p_adjusted": p, "low": difference - 0.25, "high": difference + 0.125}
        yield made.made(
            Pair,
            first=first,
            second=second,
            metric=metric,
            clusters=clusters,
            open_stakes=open_stakes,
            apart=0,
            **given,
        )
    for second, events in (("sharp", 3), ("market_price", 1), ("=doubtful", 0)):
        yield Pair("silent", second, "edge", 0, 0, *[None] * 6, apart=events)


def joined(found: Evaluation) -> ClusteredEvaluation:
    """Return an evaluation with related events joined, in which two bots have too few."""
    cards = [replace(each, horizons={}, forecast=ForecastScore()) for each in found.cards]
    cards[:2] = (replace(each, edge=replace(each.edge, clusters=4, interval=None)) for each in cards[:2])
    together = replace(found, cards=tuple(cards), pairs=found.pairs[:1], parts=(), delays=(), sizings=())
    return ClusteredEvaluation(together, events=40, clusters=9, largest=17)


def not_finite(found: Evaluation) -> Evaluation:
    """Return an evaluation in which the first bot has scores that are no numbers."""
    first, *others = found.cards
    odd = replace(first, forecast=replace(first.forecast, brier=nan, log_score=inf), brier_open=-inf)
    return replace(found, cards=(odd, *others))
