"""Ranking: the groups and the order of a leaderboard, which numbers only bots shown to beat the price."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from predibot.scoring.arguments import sequence_of
from predibot.scoring.evaluation.e_values import BettingEvidence, BotEvidence
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.evaluation.verdict import Finding, Verdict, verdict
from predibot.scoring.standing import ALIKE_PLACES, STANDINGS, Standing

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
