"""Coherence: how far forecasts of one event break the rules of probability, beside the prices of the same markets."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from predibot.related.coherence.coherence import Coherence, RuleGroup, breach, breaches, coherence_of, groups_of
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.track_record import TrackRecord
from tests.scoring.made_records import DAY, NAN, Bet, Made, Paid, Seen, record_of

PARTIES = [f"Will party {name} win?" for name in "ABC"]
RANGES = ["Fewer than 10 seats?", "10 to 19 seats?", "20 or more seats?"]
DATES = [f"Will it rain by {month} 30, 2026?" for month in ("June", "July", "August")]
LEVELS = [f"Will it close above {level} on May 5?" for level in (100, 120, 140)]


def a_record(
    said: list[list[float]], prices: list[float], *, exclusive: bool = False, as_of: float = 90.0
) -> TrackRecord:
    """Return a record of one bot that stated these probabilities of one event, a slot a row."""
    made = [
        Made(at=float(day), bets=tuple(Bet(m, 0.1, prices[m], p) for m, p in enumerate(row)), event=7)
        for day, row in enumerate(said)
    ]
    record = record_of(made, as_of=as_of)
    groups = np.zeros(len(prices), dtype=np.int64) if exclusive else None
    return replace(record, market_exclusive=groups, event_names={7: "The event"})


def test_of_markets_that_exclude_each_other_only_more_than_one_is_too_much() -> None:
    found = coherence_of(a_record([[0.6, 0.5, 0.2], [0.1, 0.2, 0.3]], [0.5, 0.4, 0.15], exclusive=True), PARTIES, "bot")
    everything, rule = found.rules
    # (0.3 + 0) / 2, and twice the 0.05 that the prices are over one.
    assert (rule.name, rule.n, rule.events) == ("exclusive", 2, 1)
    assert (everything.bot, everything.market) == (pytest.approx(0.15), pytest.approx(0.05))
    assert (rule.broken, rule.market_broken, found.exhaustive) == (0.5, 1.0, 0)


def test_where_one_of_them_must_pay_less_than_one_is_too_little() -> None:
    found = coherence_of(a_record([[0.1, 0.2, 0.3]], [0.3, 0.3, 0.3], exclusive=True), RANGES, "bot")
    assert (found.rules[0].bot, found.rules[0].market) == (pytest.approx(0.4), pytest.approx(0.1))
    assert (found.groups, found.exhaustive) == (1, 1)
    silent = coherence_of(a_record([[0.1, 0.2, NAN]], [0.3, 0.3, 0.3], exclusive=True), RANGES, "bot")
    assert (silent.rules[0].bot, silent.rules[0].market, silent.rules[0].n) == (0.0, 0.0, 1)


def test_the_order_of_the_markets_and_the_side_of_the_threshold_do_not_matter() -> None:
    low = [f"Will it close below {level} on May 5?" for level in (140, 100, 120)]
    for questions, said in ((LEVELS, [0.4, 0.5, 0.3]), (LEVELS[::-1], [0.3, 0.5, 0.4]), (low, [0.6, 0.5, 0.4])):
        found = coherence_of(a_record([said], [0.5, 0.5, 0.5]), questions, "bot")
        assert found.rules[1].bot == pytest.approx(0.1) and found.rules[1].market == 0.0


def test_a_bot_that_says_the_prices_breaks_as_much_as_they_do() -> None:
    prices = [0.6, 0.55, 0.2]
    found = coherence_of(a_record([prices] * 5, prices, exclusive=True), LEVELS, "bot", Uncertainty(resamples=200))
    for each in found.rules:
        assert each.bot == pytest.approx(each.market)
        assert each.difference is not None and each.difference.difference == pytest.approx(0.0)


def test_it_is_what_a_sure_bet_against_the_bot_wins() -> None:
    rng = np.random.default_rng(5)
    said = rng.random((200, 4))
    said[rng.random(said.shape) < 0.2] = np.nan
    for rule, exhaustive in (("exclusive", False), ("exclusive", True), ("dates", False)):
        group = RuleGroup(rule, (0, 1, 2, 3), exhaustive)  # type: ignore[arg-type]
        assert breach(group, said) == pytest.approx([_by_loop(rule, exhaustive, row) for row in said.tolist()])


def _by_loop(rule: str, exhaustive: bool, row: list[float]) -> float:
    known = [p for p in row if p == p]
    if rule == "exclusive":
        over = sum(known) - 1.0
        return abs(over) if exhaustive and len(known) == len(row) else max(0.0, over)
    return max([0.0, *(one - two for place, one in enumerate(known) for two in known[place:])])


def test_what_comes_later_changes_nothing() -> None:
    early = a_record([[0.6, 0.5, 0.2]], [0.5, 0.4, 0.15], exclusive=True, as_of=0.5)
    told = coherence_of(early, LEVELS, "bot", Uncertainty(resamples=200))
    assert told.rules
    late = a_record([[0.6, 0.5, 0.2], [0.9, 0.9, 0.9]], [0.5, 0.4, 0.15], exclusive=True, as_of=0.5)
    paid = replace(late, payout_yes=np.array([0.0, 1.0, 0.0]), settled_at=np.full(3, 40 * DAY))
    seen = record_of([Made()], as_of=0.5, seen=[Seen(2, 30.0, 0.9)])
    observed = {name: getattr(seen, name) for name in ("observation_market", "observation_at", "observation_price_yes")}
    for other in (late, paid, replace(paid, **observed)):
        assert coherence_of(other, LEVELS, "bot", Uncertainty(resamples=200)) == told


def test_a_date_without_a_year_is_read_by_when_it_was_asked_first() -> None:
    questions = ["Will it rain by December 31?", "Will it rain by January 31?"]
    # Day 300 of 1970 is the end of October: January is next year's.
    found = record_of(
        [Made(at=300.0, bets=(Bet(0, probability=0.5), Bet(1, probability=0.3)))],
        as_of=400.0,
        paid={0: Paid(399.0, 1.0)},
    )
    assert coherence_of(found, questions, "bot").rules[1].bot == pytest.approx(0.2)


def test_decisions_that_are_in_no_score_count_and_those_without_forecasts_do_not() -> None:
    bets = (Bet(0, probability=0.5), Bet(1, probability=0.3))
    made = [
        Made(bets=bets, knowledge="contaminated"),
        Made(at=1.0, status="failed"),
        Made(at=2.0, bets=(Bet(0), Bet(1))),
        Made(at=3.0, bets=(Bet(0, probability=0.5),)),
        Made(at=4.0, bot="other", bets=(Bet(0, probability=0.9), Bet(1, probability=0.1))),
    ]
    found = coherence_of(record_of(made, as_of=9.0), DATES[:2], "bot")
    assert (found.rules[0].n, found.rules[0].bot) == (1, pytest.approx(0.2))
    assert coherence_of(record_of(made, as_of=9.0), DATES[:2], "nobody") == Coherence()


def test_groups_whose_words_do_not_say_what_binds_them_are_counted() -> None:
    questions = [
        "Will it hit 40?",
        "Will it hit 50?",
        "Will it snow?",
        DATES[0],
        DATES[0],
        "Will she stay by May 5, 2026?",
    ]
    prices = [0.5] * len(questions)
    found = coherence_of(a_record([[0.9] * len(questions)], prices), questions, "bot")
    assert (found.rules, found.groups) == ((), 0)
    assert (found.unsure_groups, found.unsure_markets) == (2, 4)


def test_markets_of_two_events_do_not_bind_each_other() -> None:
    at = np.zeros(2)
    free = np.full(2, -1)
    assert groups_of(DATES[:2], np.array([0, 1]), free, at).sure == ()
    assert groups_of(DATES[:2], np.array([0, 0]), free, np.array([0.0, NAN])).sure == ()
    assert groups_of(DATES[:2], np.array([0, 0]), free, at).sure == (RuleGroup("dates", (0, 1)),)


def test_what_is_said_twice_is_left_out_of_its_group() -> None:
    questions = [DATES[0], DATES[1], DATES[0], DATES[2]]
    found = groups_of(questions, np.zeros(4, dtype=np.int64), np.full(4, -1), np.zeros(4))
    assert found.sure == (RuleGroup("dates", (1, 3)),) and found.unsure == ((0, 2),)


def test_events_are_told_worst_first_and_periods_by_time() -> None:
    made = [
        Made(at=float(day), event=event, bets=(Bet(2 * event, probability=0.5), Bet(2 * event + 1, probability=low)))
        for day in range(25)
        for event, low in ((0, 0.4), (1, 0.1), (2, 0.6))
    ]
    found = coherence_of(record_of(made, as_of=99.0), DATES[:2] * 3, "bot")
    assert [(each.name, round(each.bot, 6), each.n) for each in found.events] == [
        ("1", 0.4, 25),
        ("0", 0.1, 25),
        ("2", 0.0, 25),
    ]
    assert len(found.periods) == 10 and sum(each.score.n for each in found.periods) == found.rules[0].n == 75
    assert all(one.last_slot < two.first_slot for one, two in pairwise(found.periods))


def test_every_breach_names_its_decision() -> None:
    record = a_record([[0.5, 0.3], [0.1, 0.2]], [0.5, 0.4])
    groups = groups_of(DATES[:2], np.array([7, 7]), np.full(2, -1), np.zeros(2))
    found = breaches(record, groups, "bot")
    told = list(zip(found.decision.tolist(), found.bot.round(6).tolist(), found.market.round(6).tolist(), strict=True))
    assert told == [(0, 0.2, 0.1), (1, 0.0, 0.1)]


def test_an_interval_lies_within_what_probabilities_can_break() -> None:
    made = [
        Made(at=float(day), event=event, bets=(Bet(2 * event, probability=0.1), Bet(2 * event + 1, probability=high)))
        for event, high in enumerate([0.1 + 0.001 * each for each in range(10)] + [1.0])
        for day in range(1 + 2 * (event % 3))
    ]
    uncertainty = Uncertainty(resamples=500)
    everything = coherence_of(record_of(made, as_of=99.0), LEVELS[:2] * 11, "bot", uncertainty).rules[0]
    assert everything.interval is not None
    assert everything.interval.high == 1.0
