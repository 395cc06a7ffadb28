"""Verdict: the finding that evidence allows on a bot beside the price, or on two bots beside each other."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from predibot.scoring.arguments import instance_of, scalar, sequence_of
from predibot.scoring.evaluation.e_values import BettingEvidence, BotEvidence
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS, at_least
from predibot.scoring.inference.power import RequiredEvents, events_needed
from predibot.scoring.standing import ALIKE_PLACES, STANDINGS, Standing

MOVE_TOGETHER = 3.0
"""If G, the dependence of events, is larger, the verdict says how many independent events they are worth."""


class Finding(StrEnum):
    """The content of a verdict; reports make sentences of it."""

    BEATS_THE_PRICE = "beats the price"
    """Its e-value reached 20 on some day, and its edge is above zero."""
    WORSE_THAN_THE_PRICE = "worse than the price"
    """The e-value against an edge of zero or more reached 20 on some day, and its edge is below zero."""
    FIRST_IS_BETTER = "the first is better"
    """The corrected p-value of two bots is at most .05, and what it rests on speaks for the whole."""
    SECOND_IS_BETTER = "the second is better"
    CANNOT_BE_TOLD = "cannot be told"
    """There are enough events for a claim, and none can be made."""
    NEVER_DIFFERED = "never differed"
    """The bot never differed from the price, or the two from each other: more events would change nothing."""
    TOO_FEW_EVENTS = "too few events"
    """Below 30 events no claim is made, whatever the numbers say."""
    NOTHING_YET = "nothing yet"
    """Nothing has a price or has paid, or the bot answered nothing that has."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A finding, and the evidence for it."""

    finding: Finding
    events: int
    e_value: float | None = None
    """The largest e-value on any day: of the finding, or without one of beating the price. None for two bots."""
    needed: RequiredEvents | None = None
    """How many more events it would take; None with a finding, or where that is unknown."""
    moved_like: float | None = None
    """The number of independent events that would say as much; None with a finding, or up to a G of `MOVE_TOGETHER`."""

    @property
    def events_needed(self) -> int | None:
        """Return how many more events a claim takes, below 30 at least what is missing to 30; None where unknown."""
        return None if self.needed is None else max(self.needed.events, FEW_CLUSTERS - self.events)


def verdict(evidence: BettingEvidence, *, edge: float | None, standard_error: float | None, events: int) -> Verdict:
    """Return the finding that evidence allows on a bot beside the price.

    Both claims rest on e-values, which are valid on any day; the interval of the edge is for one look, at a time fixed
    beforehand. It may even lie below zero before anything is known: open markets count at their price, as if that were
    right. Betting also finds a bot on the right side of the price that goes too far; so the edge must have the same
    sign.

    Args:
        evidence: The evidence of its forecasts, as in `record_evidence`.
        edge: Its mean over all event-slots; None where there is none.
        standard_error: Its standard error over clusters; None where there is none.
        events: The number of clusters of the edge.

    Raises:
        ValueError: If an argument is of another class or out of range.

    Examples:
        >>> from predibot.scoring import BettingEvidence, Evidence
        >>> strong = BettingEvidence(better=Evidence(now=90.0, largest=410.0))
        >>> verdict(strong, edge=0.02, standard_error=0.005, events=200).finding.value
        'beats the price'
        >>> found = verdict(BettingEvidence(), edge=0.01, standard_error=0.006, events=50)
        >>> found.finding.value, found.needed
        ('cannot be told', RequiredEvents(events=97, more_than=False))
    """
    instance_of("evidence", evidence, BettingEvidence)
    at_least("events", events, 0)
    mean, error = _or_nothing("edge", edge), _or_nothing("standard_error", standard_error)
    if events == 0 or mean is None:
        return Verdict(Finding.NOTHING_YET, events)
    needed = None if error is None else events_needed(mean, error, events)
    if events < FEW_CLUSTERS:
        return Verdict(Finding.TOO_FEW_EVENTS, events, evidence.better.largest, needed)
    if evidence.better.convinces and mean > 0.0:
        return Verdict(Finding.BEATS_THE_PRICE, events, evidence.better.largest)
    if evidence.worse.convinces and mean < 0.0:
        return Verdict(Finding.WORSE_THAN_THE_PRICE, events, evidence.worse.largest)
    if mean == 0.0 and not error:
        return Verdict(Finding.NEVER_DIFFERED, events, evidence.better.largest)
    alike = evidence.dependence is not None and evidence.dependence > MOVE_TOGETHER
    moved_like = evidence.events / evidence.dependence if alike and evidence.dependence else None
    return Verdict(Finding.CANNOT_BE_TOLD, events, evidence.better.largest, needed, moved_like)


def pair_verdict(pair: Pair) -> Verdict:
    """Return the finding that evidence allows on two bots beside each other, on a day fixed beforehand.

    Raises:
        ValueError: If the argument is of another class.

    Examples:
        >>> from predibot.scoring import Pair
        >>> pair = Pair("a", "b", "brier", 80, 80, -0.03, -0.05, -0.01, 0.004, 0.004, 0.03)
        >>> pair_verdict(pair).finding.value
        'the first is better'
    """
    instance_of("pair", pair, Pair)
    mean, error = _or_nothing("difference", pair.difference), pair.standard_error
    if pair.clusters == 0 or mean is None:
        return Verdict(Finding.NOTHING_YET, pair.clusters)
    needed = None if error is None else events_needed(mean, error, pair.clusters)
    if pair.clusters < FEW_CLUSTERS:
        return Verdict(Finding.TOO_FEW_EVENTS, pair.clusters, needed=needed)
    if pair.better is not None:
        first = pair.better == pair.first
        return Verdict(Finding.FIRST_IS_BETTER if first else Finding.SECOND_IS_BETTER, pair.clusters)
    if mean == 0.0 and not error:
        return Verdict(Finding.NEVER_DIFFERED, pair.clusters)
    return Verdict(Finding.CANNOT_BE_TOLD, pair.clusters, needed=needed)


def _or_nothing(name: str, value: float | None) -> float | None:
    """Return a number, None where it is missing or NaN."""
    number = None if value is None else scalar(name, value)
    return None if number is None or number != number else number


REPEATS_BELOW = 0.005
"""A bot whose forecasts are closer to the price than this on average only repeats it."""


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a bot on the leaderboard."""

    card: Scorecard
    verdict: Verdict
    standing: Standing
    e_now: float
    """The current E, not the largest; 1 without evidence."""
    rank: int | None
    """From 1, equals alike, for bots shown to beat the price; None for all others."""
    repeats_price: bool
    """Whether it states the price or nearly so."""


def ranked(cards: Sequence[Scorecard], evidence: Sequence[BotEvidence]) -> tuple[Place, ...]:
    """Return the places of bots in the order of the leaderboard.

    First come bots shown to beat the price, by the lower end of the edge's interval; then those without proof, and
    those shown to be worse, by their current E; then those on fewer than 30 events. Baselines come last, by their edge.
    Equals are in the order of their names. Bots without proof are not ordered by the lower end, which is best for a bot
    that risks nothing.

    Args:
        evidence: The evidence of each card, in the same order; if empty, nothing is shown of any bot.

    Raises:
        ValueError: If an argument is of another class, or there is evidence of some cards only.

    Examples:
        >>> from predibot.scoring import EdgeScore
        >>> cards = [Scorecard(bot, edge=EdgeScore(clusters=9)) for bot in ("b", "a")]
        >>> [(place.card.bot, place.standing, place.rank) for place in ranked(cards, ())]
        [('a', 'too few', None), ('b', 'too few', None)]
    """
    for name, given, kind in (("cards", cards, Scorecard), ("evidence", evidence, BotEvidence)):
        sequence_of(name, given, f"one of {name}", kind)
    if evidence and [each.bot for each in evidence] != [card.bot for card in cards]:
        raise ValueError(f"there are {len(cards)} cards and evidence of {len(evidence)}; give that of each, in order")
    found: list[BettingEvidence | None] = [each.forecasts for each in evidence]
    found = found or [None] * len(cards)
    places = sorted(map(_place, cards, found), key=_order)
    ends = [_lower_end(place.card) for place in places if place.standing == "better"]
    return tuple(
        replace(place, rank=1 + sum(end > _lower_end(place.card) for end in ends))
        if place.standing == "better"
        else place
        for place in places
    )


def card_verdict(card: Scorecard, evidence: BettingEvidence) -> Verdict:
    """Return the verdict on a bot beside the price."""
    interval = card.edge.interval
    return verdict(
        evidence,
        edge=card.edge.edge,
        standard_error=None if interval is None else interval.standard_error,
        events=card.edge.clusters,
    )


def _place(card: Scorecard, evidence: BettingEvidence | None) -> Place:
    # Without evidence there is no verdict.
    found = Verdict(Finding.NOTHING_YET, card.edge.clusters) if evidence is None else card_verdict(card, evidence)
    distance = card.edge.distance
    return Place(
        card,
        found,
        "baseline" if card.baseline else _STANDINGS[found.finding],
        1.0 if evidence is None else evidence.better.now,
        None,
        repeats_price=distance is not None and distance < REPEATS_BELOW,
    )


_STANDINGS: dict[Finding, Standing] = {
    Finding.BEATS_THE_PRICE: "better",
    Finding.CANNOT_BE_TOLD: "not proven",
    Finding.NEVER_DIFFERED: "not proven",
    Finding.WORSE_THAN_THE_PRICE: "worse",
    Finding.TOO_FEW_EVENTS: "too few",
    Finding.NOTHING_YET: "too few",
}


def _order(place: Place) -> tuple[int, bool, float, str]:
    within = {"better": _lower_end(place.card), "baseline": place.card.edge.edge or 0.0}.get(
        place.standing, place.e_now
    )
    nothing = place.verdict.finding == Finding.NOTHING_YET
    return STANDINGS.index(place.standing), nothing, -round(within, ALIKE_PLACES), place.card.bot


def _lower_end(card: Scorecard) -> float:
    interval = card.edge.interval
    return -math.inf if interval is None or interval.low is None else round(interval.low, ALIKE_PLACES)
