"""Ranking: the groups and the order of a leaderboard; `tests/reports/views/test_leaderboard.py` has the rows."""

from dataclasses import replace

import pytest

from predibot.scoring import BettingEvidence, BotEvidence, EdgeScore, Estimate, Evidence, Scorecard, ranked


def card(bot: str, low: float, *, edge: float = 0.1, distance: float = 0.2) -> Scorecard:
    interval = Estimate(edge, low, edge + 0.1, 0.95, 90, 90, "t", 0, 0, cluster_standard_error=0.05)
    return Scorecard(
        bot, edge=EdgeScore(edge, 90, clusters=90, answered=90, asked=90, interval=interval, distance=distance)
    )


def told(bot: str, now: float, largest: float) -> BotEvidence:
    return BotEvidence(bot, BettingEvidence(better=Evidence(now, largest)), None)


def test_places_go_by_the_lower_end_and_equals_to_nine_digits_share_one() -> None:
    cards = [card("c", 0.02), card("b", 0.02 + 4e-11), card("a", 0.01), card("none", 0.5)]
    evidence = [*(told(each.bot, 1.0, 20.0) for each in cards[:3]), told("none", 19.0, 19.0)]
    assert [(place.card.bot, place.rank) for place in ranked(cards, evidence)] == [
        ("b", 1), ("c", 1), ("a", 3), ("none", None),
    ]  # fmt: skip


def test_no_number_is_too_large_to_be_ordered_by() -> None:
    cards = [card(bot, -0.1, edge=-0.1) for bot in "abc"]
    evidence = [told(bot, now, 1e308) for bot, now in zip("abc", (1e-300, 1.7e308, 1.0), strict=True)]
    assert [place.card.bot for place in ranked(cards, evidence)] == ["b", "c", "a"]


@pytest.mark.parametrize(("distance", "repeats"), [(0.0, True), (0.00499, True), (0.005, False)])
def test_who_lies_within_half_a_percent_of_the_price_repeats_it(distance: float, *, repeats: bool) -> None:
    (place,) = ranked([card("a", 0.01, distance=distance)], ())
    assert (place.repeats_price, place.standing) == (repeats, "too few")
    (baseline,) = ranked([replace(card("a", 0.01, distance=distance), baseline=True)], ())
    assert baseline.repeats_price == repeats


def test_evidence_of_some_cards_only_is_refused() -> None:
    with pytest.raises(ValueError, match="there are 2 cards and evidence of 1"):
        ranked([card("a", 0.0), card("b", 0.0)], [told("a", 1.0, 1.0)])
