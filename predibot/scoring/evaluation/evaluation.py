"""The evaluation: all scores of a record, or of forecasts from a file, and of their parts, in one object."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Self

import numpy as np

from predibot.scoring.accounts.board import AccountBoard, RankAgreement
from predibot.scoring.accounts.cohorts import CohortBoard
from predibot.scoring.arguments import Floats, Ints, instance_of, instances_of, sequence_of
from predibot.scoring.evaluation.book import Book
from predibot.scoring.evaluation.counterfactual import Counterfactual, delay_scores, sizing_scores
from predibot.scoring.evaluation.e_values import BotEvidence, record_evidence
from predibot.scoring.evaluation.effort import Effort
from predibot.scoring.evaluation.forecast_score import ForecastScore, forecast_scores
from predibot.scoring.evaluation.notes import notes, on_apart, on_clusters, on_many
from predibot.scoring.evaluation.pairs import Pair, brier_pairs, edge_pairs, return_pairs
from predibot.scoring.evaluation.scorecard import HORIZONS_DAYS, Scorecard, scorecards
from predibot.scoring.evaluation.verdict import Place, Verdict, card_verdict, ranked
from predibot.scoring.inference.bootstrap import FEWEST_FOR_AN_INTERVAL, Estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.metrics.conventions import CONVENTIONS, Convention
from predibot.scoring.records.coherence import CoherenceScore
from predibot.scoring.records.consistency import Consistency, consistency_of
from predibot.scoring.records.edge import EdgeCurve, edge_curves, edges
from predibot.scoring.records.grouping import CONFIDENCES, GROUPINGS, LEAD_TIMES_DAYS, BotGroup, forecasts_by, record_by
from predibot.scoring.records.horizon_returns import NOW, horizon_returns, record_marks
from predibot.scoring.records.knowledge import UNKNOWN, Knowledge
from predibot.scoring.records.track_record import Forecasts, TrackRecord, settled_forecasts

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


_OF_ESTIMATE = ("low", "high", "cluster_standard_error", "price_standard_error")
_OF_PAIR = (*_OF_ESTIMATE, "p_value", "p_adjusted", "detectable")


def without_few(scored: Any) -> Any:
    """Return scores of any kind without intervals and p-values on fewer than `FEWEST_FOR_AN_INTERVAL` clusters."""
    if isinstance(scored, tuple):
        return tuple(without_few(each) for each in scored)
    if isinstance(scored, Mapping):
        # The clusters of a Sharpe ratio are dates.
        return {name: each if name == "sharpe" else without_few(each) for name, each in scored.items()}
    if not is_dataclass(scored) or isinstance(scored, type):
        return scored
    if isinstance(scored, Estimate | Pair):
        names = _OF_ESTIMATE if isinstance(scored, Estimate) else _OF_PAIR
        nothing: dict[str, Any] = dict.fromkeys(names)
        return replace(scored, **nothing) if scored.clusters < FEWEST_FOR_AN_INTERVAL else scored
    changed = {each.name: without_few(getattr(scored, each.name)) for each in fields(scored)}
    if isinstance(scored, ForecastScore) and (bins := scored.calibration) and scored.clusters < FEWEST_FOR_AN_INTERVAL:
        unknown = np.full(bins.outcome_low.shape, np.nan)
        changed["calibration"] = replace(bins, outcome_low=unknown, outcome_high=unknown)
    same = all(changed[each.name] is getattr(scored, each.name) for each in fields(scored))
    return scored if same else replace(scored, **changed)


PARTINGS = (*GROUPINGS, "lead_time", "confidence")
CLUSTERINGS = ("event", "related")
"""What counts as one cluster: the decisions on one event, or on all related events."""
WANTED = (
    "evidence",
    "curves",
    "intervals",
    "adjusted",
    "pairs",
    "dollars",
    "by_category",
    "by_lead_time",
    "by_confidence",
    "consistency",
    "effort",
    "coherence",
)
"""The slow parts of an evaluation, which can be left out.

`intervals` are those of scores and returns, the edge always has one; `adjusted` are Brier scores adjusted for
difficulty; `dollars` is the evidence of the bets, besides that of the forecasts; `effort` is read from traces,
`coherence` from questions."""


@dataclass(frozen=True, slots=True)
class Question:
    """The options of an evaluation, besides which runs and as of when."""

    horizons_days: Sequence[float] = HORIZONS_DAYS
    convention: Convention = CONVENTIONS["predibot"]
    uncertainty: Uncertainty = field(default_factory=Uncertainty)
    grouping: str | None = None
    """One of `PARTINGS`: parts that bots are shown by, besides the whole."""
    delays_days: Sequence[float] = ()
    sizings: Sequence[str] = ()
    """Some of `SIZINGS`."""
    wanted: tuple[str, ...] = WANTED
    """Some of `WANTED`; the other parts stay empty."""
    archived: bool = False
    clusters: Literal["event", "related"] = "event"
    """With `related`, a second evaluation counts related events as one cluster."""

    def __post_init__(self) -> None:
        """Refuse unknown parts and clusterings."""
        instance_of("wanted", self.wanted, tuple)
        if self.clusters not in CLUSTERINGS:
            raise ValueError(f"clusters is {self.clusters!r}; there are: {', '.join(CLUSTERINGS)}")
        for name in self.wanted:
            if name not in WANTED:
                raise ValueError(f"wanted names {name!r}; there are: {', '.join(WANTED)}")


@dataclass(frozen=True, slots=True)
class ClusteredEvaluation:
    """The evaluation with related events as one cluster, in every interval and e-value."""

    evaluation: "Evaluation"
    """Without intervals on fewer than `FEWEST_FOR_AN_INTERVAL` clusters."""
    events: int
    clusters: int
    largest: int

    @property
    def too_few(self) -> tuple[str, ...]:
        """Return the bots whose edge has no interval because it rests on too few clusters."""
        few = (card for card in self.evaluation.cards if 0 < card.edge.clusters < FEWEST_FOR_AN_INTERVAL)
        return tuple(card.bot for card in few)


@dataclass(frozen=True, slots=True)
class Evaluation:
    """How good all bots were as of an instant, and what a reader should know about it."""

    as_of: datetime | None
    """None for forecasts from a file."""
    cards: tuple[Scorecard, ...]
    notes: tuple[str, ...]
    question: Question = field(default_factory=Question)
    currency: str = "USD"
    """The currency of bets, gains and accounts; costs of models are always dollars."""
    remarks: tuple[str, ...] = ()
    """Notes that the record cannot give, such as that a venue was out of reach."""
    evidence: tuple[BotEvidence, ...] = ()
    """The evidence of beating the price, in the order of the cards; empty for forecasts from a file."""
    curves: tuple[EdgeCurve, ...] = ()
    pairs: tuple[Pair, ...] = ()
    """Every two bots, by edge, by Brier score and by their returns."""
    parts: tuple[PartScore, ...] = ()
    """Cards by the grouping, if it divides decisions."""
    by_category: tuple[PartScore, ...] = ()
    by_lead_time: tuple[PartScore, ...] = ()
    by_confidence: tuple[PartScore, ...] = ()
    consistency: tuple[Consistency, ...] = ()
    """How alike bots answered the same question again; none of a bot that was never asked again."""
    effort: tuple[Effort, ...] = ()
    """Tokens, calls and seconds of each bot with models, also of bots ranked apart; empty where it is not wanted."""
    coherence: tuple[CoherenceScore, ...] = ()
    """How far each bot breaks the rules of probability, the most coherent first; whatever its models may know."""
    delays: tuple[Counterfactual, ...] = ()
    sizings: tuple[Counterfactual, ...] = ()
    first_results_at: datetime | None = None
    """The end of the first horizon of the first decision, if nothing can be scored before it."""
    apart: "Evaluation | None" = None
    """The evaluation of decisions whose models have no known cutoff, which count in no score above; None without any.
    A bot with both kinds of decisions has a card in both."""
    late: int = 0
    """Decisions on no card because they were made after the deadline of their run."""
    without_tools: Mapping[str, int] = field(default_factory=dict)
    """Decisions by agents whose model calls no tools, by bot."""
    without_search: Mapping[str, int] = field(default_factory=dict)
    """Decisions by agents whose searches all failed, by bot."""
    accounts: tuple[AccountBoard, ...] = ()
    """The accounts of each recipe and game, of one mode; the scores above are of decisions on events."""
    cohorts: tuple[CohortBoard, ...] = ()
    """The cohorts of each recipe and game, of one mode and one methodology."""
    joined: ClusteredEvaluation | None = None
    """None where it is not wanted."""
    agreements: tuple[RankAgreement, ...] = ()
    """Correlations of the orders of accounts and of the leaderboard."""

    def with_effort(self, effort: tuple[Effort, ...]) -> Self:
        """Return the evaluation with the effort of bots, in both rankings."""
        apart = None if self.apart is None else replace(self.apart, effort=effort)
        return replace(self, effort=effort, apart=apart)

    @property
    def places(self) -> tuple[Place, ...]:
        """Return the place of each bot, in the order of the leaderboard."""
        return ranked(self.cards, self.evidence)

    @property
    def leaderboard(self) -> tuple[Scorecard, ...]:
        """Return the cards in the order of the leaderboard."""
        return tuple(place.card for place in self.places)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdict on each bot beside the price, in the order of the evidence."""
        return tuple(
            card_verdict(card, found.forecasts) for card, found in zip(self.cards, self.evidence, strict=False)
        )

    @property
    def rankings(self) -> "Mapping[Knowledge, Evaluation]":
        """Return the evaluations that are ranked apart, this one first, by the knowledge of their decisions."""
        return {"clean": self} if self.apart is None else {"clean": self, "unknown": self.apart}


def evaluation_of(record: TrackRecord, as_of: datetime, asked: Question) -> Evaluation:
    """Return all scores and findings of a record.

    If the record joins events, the result has each event by itself, and a second evaluation with events joined.

    Raises:
        ValueError: If an argument is of another class, or an option does not exist.
    """
    instances_of(record=(record, TrackRecord), as_of=(as_of, datetime), asked=(asked, Question))
    if record.decision_cluster is not None:
        alone = evaluation_of(replace(record, decision_cluster=None), as_of, asked)
        return replace(alone, joined=_evaluate_joined(record, as_of, asked))
    return _evaluate(record, as_of, asked)


def _evaluate_joined(record: TrackRecord, as_of: datetime, asked: Question) -> ClusteredEvaluation:
    counted = record.scored_mask() | (record.made_mask() & (record.knowledge() == UNKNOWN))
    event, cluster = record.decision_event[counted], record.clusters()[counted]
    _, first = np.unique(event, return_index=True)
    sizes = np.unique(cluster[first], return_counts=True)[1]
    return ClusteredEvaluation(
        without_few(_evaluate(record, as_of, asked)),
        events=first.size,
        clusters=sizes.size,
        largest=int(sizes.max(initial=0)),
    )


def _evaluate(record: TrackRecord, as_of: datetime, asked: Question) -> Evaluation:
    apart = record.apart() if record.counted == "clean" else None
    others = None if apart is None else _evaluate(apart, as_of, asked)
    whole, record = record, record if apart is None else record.without_apart()
    # First, because it needs much memory for a while.
    marks, dollars = record_marks(record), "dollars" in asked.wanted
    evidence = record_evidence(record, dollars=dollars, marks=marks) if "evidence" in asked.wanted else ()
    forecasts, returns = settled_forecasts(record), horizon_returns(record, asked.horizons_days)
    book, ahead = Book.of(record, marks), edges(record)
    cards = scorecards(
        record,
        returns=returns,
        convention=asked.convention,
        uncertainty=asked.uncertainty,
        intervals="intervals" in asked.wanted,
        adjust="adjusted" in asked.wanted,
        book=book,
        found=ahead,
    )
    pairs: tuple[Pair, ...] = ()
    if "pairs" in asked.wanted:
        how = asked.uncertainty
        by_edge = edge_pairs(record, how, found=ahead, book=book)
        by_return = (pair for each in returns for pair in return_pairs(record, each, how, book=book))
        pairs = (*by_edge, *brier_pairs(forecasts, how, by_edge=by_edge), *by_return)
    return Evaluation(
        as_of=as_of,
        cards=cards,
        notes=(*notes(record, cards), *on_apart(pairs)),
        question=asked,
        evidence=evidence,
        curves=edge_curves(record.bots, ahead) if "curves" in asked.wanted else (),
        pairs=pairs,
        parts=part_cards(record, asked.grouping, asked.horizons_days, asked.convention, asked.uncertainty)
        if asked.grouping in GROUPINGS
        else (),
        by_category=_scores_by("by_category", forecasts, asked),
        by_lead_time=_scores_by("by_lead_time", forecasts, asked),
        by_confidence=_scores_by("by_confidence", forecasts, asked),
        consistency=consistency_of(record, asked.uncertainty) if "consistency" in asked.wanted else (),
        delays=delay_scores(record, returns, asked.delays_days, asked.uncertainty),
        sizings=sizing_scores(record, returns, asked.sizings, asked.uncertainty),
        first_results_at=_first_results_at(whole, cards if others is None else (*cards, *others.cards), asked),
        apart=others,
    )


def _scores_by(name: str, forecasts: Forecasts, asked: Question) -> tuple[PartScore, ...]:
    return part_scores(name, forecasts, asked.uncertainty) if name in asked.wanted else ()


def _first_results_at(record: TrackRecord, cards: Sequence[Scorecard], asked: Question) -> datetime | None:
    made_at = record.decided_at[record.made_mask()]
    # There are prices of now from the first minute.
    has_come = any(score.n for card in cards for label, score in card.horizons.items() if label != NOW)
    if not made_at.size or has_come or any(card.forecast.n for card in cards):
        return None
    at = datetime.fromtimestamp(float(made_at.min()), UTC) + timedelta(days=min(asked.horizons_days))
    return at if at.timestamp() > record.as_of else None


def evaluation_of_forecasts(forecasts: Forecasts, asked: Question, remarks: Sequence[str] = ()) -> Evaluation:
    """Return all scores and findings of forecasts from a file, which has no decisions, bets and prices.

    Raises:
        ValueError: If an argument is of another class.
    """
    instances_of(forecasts=(forecasts, Forecasts), asked=(asked, Question))
    sequence_of("remarks", remarks, "a remark", str)
    scores = forecast_scores(forecasts, uncertainty=asked.uncertainty)
    # Nothing else is known of a forecaster in a file.
    cards = tuple(
        Scorecard(bot, forecasts=score.n, forecast=score)
        for bot, score in zip(forecasts.forecasters, scores, strict=True)
    )
    return Evaluation(
        as_of=None,
        cards=cards,
        notes=(*remarks, *on_clusters(cards), *on_many(cards, "forecasters")),
        question=asked,
        pairs=brier_pairs(forecasts, asked.uncertainty) if "pairs" in asked.wanted else (),
        by_category=_scores_by("by_category", forecasts, asked),
        by_lead_time=_scores_by("by_lead_time", forecasts, asked),
        by_confidence=_scores_by("by_confidence", forecasts, asked),
    )
