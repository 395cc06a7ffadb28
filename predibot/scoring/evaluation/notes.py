"""Notes: what a reader of scorecards must know, in plain sentences."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from predibot.domain.spelling import count_noun, first_of
from predibot.scoring.arguments import instance_of, sequence_of
from predibot.scoring.evaluation.pairs import MOST_IN_PAIRS, MOST_OPEN_STAKES, Pair
from predibot.scoring.evaluation.scorecard import HorizonScore, Scorecard
from predibot.scoring.evaluation.sharpe import UNKNOWN_DEVIATION
from predibot.scoring.inference.bootstrap import FEW_CLUSTERS
from predibot.scoring.inference.uncertainty import MOST_WITH_INTERVALS
from predibot.scoring.records.horizon_returns import NOW, SETTLED
from predibot.scoring.records.moments import NEAR_HOURS
from predibot.scoring.records.track_record import TrackRecord

_MOST_NAMED = 10


def notes(record: TrackRecord, cards: Sequence[Scorecard]) -> tuple[str, ...]:
    """Return what is missing from the scorecards, and why, one sentence each.

    Args:
        cards: The scorecards, in the record's order.

    Raises:
        ValueError: If the scorecards are of other bots, or an argument is of another class.
    """
    instance_of("record", record, TrackRecord)
    sequence_of("cards", cards, "a card", Scorecard)
    if tuple(card.bot for card in cards) != record.bots:
        seen = ", ".join(card.bot for card in cards) or "nobody"
        raise ValueError(f"the scorecards are of {seen}, the record is of {', '.join(record.bots) or 'nobody'}")
    return (
        *_on_decisions(record, cards),
        *_on_markets(cards),
        *_on_horizons(record, cards),
        *_on_overlap(record, cards),
        *_on_sharpe(cards),
        *_on_fees(record),
        *_on_small(record),
        *on_clusters(cards),
        *on_many(cards, "bots"),
    )


def _on_sharpe(cards: Sequence[Scorecard]) -> Iterator[str]:
    """Yield a note on bots whose Sharpe ratio has no interval, because its deviation is unknown."""
    ratios = {card.bot: [score.intervals.get("sharpe") for score in card.horizons.values()] for card in cards}
    unknown = [bot for bot, of in ratios.items() if any(each and each.method == UNKNOWN_DEVIATION for each in of)]
    if unknown:
        why = "the prices imply swings that have not happened; the deviation is not known"
        yield f"Sharpe ratios without an interval, at one horizon or more: {why}: {first_of(unknown, _MOST_NAMED)}."


def on_many(cards: Sequence[Scorecard], called: str) -> Iterator[str]:
    """Yield a note on scores that only the bots with the most values have, because there are so many bots."""
    for most, ending in ((MOST_IN_PAIRS, "are compared with each other"), (MOST_WITH_INTERVALS, "have intervals")):
        if len(cards) > most:
            yield f"Of {len(cards):,} {called}, only the {most:,} with the most values {ending}."


def on_apart(pairs: Sequence[Pair]) -> Iterator[str]:
    """Yield a note on bots that decided on the same events, but never at about the same time."""
    apart: dict[str, int] = {}
    for pair in pairs:
        # For forecasts, `apart` counts markets.
        if pair.metric != "brier":
            both = f"{pair.first} and {pair.second}"
            apart[both] = max(apart.get(both, 0), pair.apart)
    if who := _who(apart):
        yield (
            f"Events on which two bots both decided, but never within {NEAR_HOURS} hours of each other: {who}; they "
            "are not compared on these."
        )


def on_clusters(cards: Sequence[Scorecard]) -> Iterator[str]:
    """Yield a note on bots whose intervals rest on too few events to rank anybody."""
    for what, clusters in (
        ("Forecasts on", {card.bot: card.forecast.clusters for card in cards if card.forecast.intervals}),
        ("Edges over", {card.bot: card.edge.clusters for card in cards if card.edge.interval is not None}),
    ):
        if who := _who({bot: n for bot, n in clusters.items() if n < FEW_CLUSTERS}):
            yield (
                f"{what} fewer than {FEW_CLUSTERS} events: {who}; "
                "their intervals are rough, and nobody is ranked by them."
            )


def _on_decisions(record: TrackRecord, cards: Sequence[Scorecard]) -> Iterator[str]:
    later = int(np.count_nonzero(~record.made_mask()))
    if later:
        yield f"{count_noun(later, 'decision')} made after the instant of this evaluation: left out."
    for kind, ending in (
        ("refused", "no value, and lower coverage"),
        ("failed", "no value, and lower coverage"),
        ("abstained", "a return of 0 at every horizon that has passed"),
    ):
        if who := _who({card.bot: getattr(card, kind) for card in cards}):
            yield f"Decisions {kind}: {who}; they have {ending}."
    for kind, what in (
        ("ahead", "made before a model's knowledge cutoff, of which it may have read what came later"),
        ("contaminated", "on events that had ended before a model's knowledge cutoff"),
    ):
        if who := _who({card.bot: getattr(card, kind) for card in cards}):
            yield f"Decisions {what}: {who}; they are in no score."
    if record.counted == "unknown" and (who := _who({card.bot: card.unknown for card in cards})):
        yield (
            f"Decisions of a replay by a model whose knowledge cutoff is not known: {who}; it may have known "
            "how the event ended, so they are ranked apart."
        )
    if bots := [card.bot for card in cards if card.cost_usd is None]:
        yield f"The cost of some decisions is not known: {first_of(bots, _MOST_NAMED)}; only a part of it is."


def _on_markets(cards: Sequence[Scorecard]) -> Iterator[str]:
    if who := _who({card.bot: card.void for card in cards}):
        yield f"Forecasts on markets that paid neither 0 nor 1: {who}; no Brier or log score counts them."
    if who := _who({card.bot: card.edge.unpriced for card in cards}):
        yield f"Markets asked that have neither paid nor a price: {who}; no edge counts them."


def _on_horizons(record: TrackRecord, cards: Sequence[Scorecard]) -> Iterator[str]:
    for label in cards[0].horizons if cards else ():
        scores = {card.bot: card.horizons[label] for card in cards}
        missing = _who({bot: score.n_unpriced for bot, score in scores.items()})
        if label == SETTLED:
            if missing:
                yield f"Decisions with money on a market that is not settled: {missing}."
            if who := _who_percent({bot: score.open_stakes for bot, score in scores.items()}):
                yield (
                    f"More than {MOST_OPEN_STAKES:.0%} of the dollars are on markets that are not settled: {who}; what "
                    "settles early is no fair sample, so nobody is called better by it."
                )
        elif label == NOW:
            if missing:
                yield f"Decisions without a price now: {missing}; they have no value there."
            unbooked = _who({bot: score.n_unquoted for bot, score in scores.items()})
            if unbooked and any(score.n_quote for score in scores.values()):
                yield (
                    "Decisions with a bet that the order book did not offer, or that is open where one side of the "
                    f"book is empty: {unbooked}; no return at the quote counts them."
                )
        else:
            yield from _on_days(label, record, cards, scores, missing)
        if who := _who({bot: score.n - score.n_market for bot, score in scores.items()}):
            yield (
                f"Decisions with a return {_name(label)}, on which market_price has none because a price is missing: "
                f"{who}."
            )


def _on_days(
    label: str, record: TrackRecord, cards: Sequence[Scorecard], scores: Mapping[str, HorizonScore], missing: str
) -> Iterator[str]:
    if who := _who({card.bot: getattr(card, record.counted) - scores[card.bot].n_passed for card in cards}):
        yield f"Decisions made less than {_days(label)} ago: {who}; this horizon has not passed for them."
    if missing:
        yield f"Decisions without a price {_name(label)}: {missing}; they have no value there."


def _on_overlap(record: TrackRecord, cards: Sequence[Scorecard]) -> Iterator[str]:
    spacing = _days_between_dates(record)
    if spacing is None or not cards:
        return
    labels = [label for label, score in cards[0].horizons.items() if score.days is not None and score.days > spacing]
    if labels:
        yield (
            f"Returns over {' and '.join(_days(label) for label in labels)} overlap, because decisions are "
            f"{_days(str(spacing))} apart: they are not independent, and the Sharpe ratio looks better than it is."
        )


def _on_fees(record: TrackRecord) -> Iterator[str]:
    if record.bet_bid_yes is None or record.bet_ask_yes is None:
        return
    offered = ~np.isnan(np.where(record.bet_usd > 0.0, record.bet_ask_yes, record.bet_bid_yes))
    priced = (record.bet_usd != 0.0) & offered
    stated = np.zeros(priced.shape, dtype=np.bool_) if record.bet_fee_rate is None else ~np.isnan(record.bet_fee_rate)
    if unstated := int(np.count_nonzero(priced & ~stated)):
        yield f"{count_noun(unstated, 'bet')} at the quote of markets that state no fee: none is charged."


def _on_small(record: TrackRecord) -> Iterator[str]:
    if record.bet_least_shares is None:
        return
    side_price = np.where(record.bet_usd > 0.0, record.bet_price_yes, 1.0 - record.bet_price_yes)
    shares = np.abs(record.bet_usd) / side_price
    if small := int(np.count_nonzero((shares > 0.0) & (shares < record.bet_least_shares))):
        yield (
            f"{count_noun(small, 'bet')} of fewer shares than the venue's least limit order: such a bet can only take "
            "what is offered at once."
        )


def _days_between_dates(record: TrackRecord) -> int | None:
    """Return the fewest days between two dates of one bot; None if none has two."""
    scored = record.scored_mask()
    bot, (days, day) = record.decision_bot[scored], np.unique(record.decision_day[scored], return_inverse=True)
    dates = np.unique(bot * days.size + day)
    steps = np.diff(days[dates % days.size])[np.diff(dates // days.size) == 0] if dates.size else days
    return int(steps.min()) if steps.size else None


def _name(label: str) -> str:
    return {SETTLED: "at settlement", NOW: "now"}.get(label) or f"{_days(label)} after"


def _days(label: str) -> str:
    return "1 day" if label == "1" else f"{label} days"


def _who_percent(shares: Mapping[str, float | None]) -> str:
    """Return each bot above the limit, with its share: `market_price 34%, random_bet 12%`."""
    above = [f"{bot} {share:.0%}" for bot, share in shares.items() if share and share > MOST_OPEN_STAKES]
    return first_of(above, _MOST_NAMED)


def _who(counts: Mapping[str, int]) -> str:
    """Return each bot with a count above zero: `market_price 2, random_bet 3`."""
    return first_of([f"{bot} {n:,}" for bot, n in counts.items() if n], _MOST_NAMED)
