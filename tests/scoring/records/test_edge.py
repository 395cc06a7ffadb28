"""Edge: how much closer to what happened each forecast was than the price it was made at."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predibot.scoring import EdgeScore, TrackRecord, Uncertainty, edge_pairs, edges, scorecards
from predibot.scoring.evaluation.horizon_series import running_sums
from predibot.scoring.records.edge import edge_curves
from tests.scoring import by_loops
from tests.scoring.evaluation.test_scorecard import RECORDS
from tests.scoring.made_records import NAN, Bet, Made, Paid, Seen, record_of

FEW = Uncertainty(resamples=200)


def asked(record: TrackRecord, *questions: tuple[int, int]) -> TrackRecord:
    """Return the record with the questions that were asked: the row of the decision, and the market."""
    decision, market = np.array(questions, dtype=np.int64).reshape(-1, 2).T
    return replace(record, asked_decision=decision, asked_market=market)


def score(record: TrackRecord, bot: int = 0) -> EdgeScore:
    return scorecards(record, uncertainty=FEW)[bot].edge


def plainly(record: TrackRecord, bot: int) -> tuple[float | None, int, int, int]:
    """Return the edge, the event-slots, the markets asked and those counted, one question at a time."""
    cells: dict[tuple[int, float], list[float]] = {}
    n_asked = counted = answered = 0
    for decision, market in zip(*(each.tolist() for each in record.questions()), strict=True):
        if record.decision_bot[decision] != bot or record.decided_at[decision] > record.as_of:
            continue
        n_asked += 1
        later = by_loops.price_at(record, market, float(record.decided_at[decision]), record.as_of)
        if later is None:
            continue
        counted += 1
        cell = (int(record.decision_event[decision]), float(record.slots()[decision]))
        values = cells.setdefault(cell, [])
        (row, *_) = [row for row in by_loops.rows_of(record, decision) if record.bet_market[row] == market] or [None]
        said = NAN if row is None else float(record.bet_probability[row])
        if row is None or np.isnan(said):
            values.append(0.0)
        else:
            answered += 1
            values.append((float(record.bet_price_yes[row]) - later) ** 2 - (said - later) ** 2)
    means = [sum(values) / len(values) for values in cells.values()]
    return (sum(means) / len(means) if answered else None), len(means), n_asked, counted


@given(RECORDS, st.randoms(use_true_random=False))
def test_it_agrees_with_the_definition_one_question_at_a_time(record: TrackRecord, random: object) -> None:
    more = [(row, int(record.payout_yes.size) - 1) for row in range(record.decided_at.size) if record.payout_yes.size]
    both = {*zip(record.bet_decision.tolist(), record.bet_market.tolist(), strict=True), *more}
    for each in (record, asked(record, *sorted(both))):
        for bot, card in enumerate(scorecards(each)):
            edge, n, n_asked, counted = plainly(each, bot)
            assert (card.edge.n, card.edge.asked, card.edge.counted) == (n, n_asked, counted)
            assert card.edge.edge == (None if edge is None else pytest.approx(edge, abs=1e-12))


def test_an_open_market_counts_at_its_last_price_and_the_settled_part_is_told_apart() -> None:
    made = [Made(bets=(Bet(0, 1.0, 0.4, 0.7), Bet(1, 0.0, 0.5, 0.2)))]
    found = score(record_of(made, paid={0: Paid(1, 1.0)}, seen=[Seen(1, 1.5, 0.4)], as_of=2))
    assert found.settled_part == pytest.approx((0.6**2 - 0.3**2) / 2)
    assert found.edge == pytest.approx((0.6**2 - 0.3**2 + 0.1**2 - 0.2**2) / 2)
    assert (found.asked, found.counted, found.settled, found.unpriced) == (2, 2, 1, 0)


def test_who_says_the_price_has_an_edge_of_zero_and_who_says_nothing_has_none() -> None:
    made = [
        Made("price", bets=(Bet(0, 1.0, 0.4, 0.4),)),
        Made("silent", status="abstained"),
        Made("broken", status="failed"),
        Made("refused", status="refused"),
        # It answered, but only what nobody has a price of.
        Made("unpriced", bets=(Bet(1, 1.0, 0.4, 0.9),)),
    ]
    questions = [(row, 0) for row in range(5)]
    record = asked(record_of(made, paid={0: Paid(1, 1.0)}, as_of=2), *questions, (4, 1))
    for bot in range(5):
        found = score(record, bot)
        assert (found.edge, found.settled_part, found.by_event) == ((None,) * 3 if bot else (0.0,) * 3)
        assert (found.n, found.answered, found.interval is None) == (1, bot in {0, 4}, bot > 0)
    found = edges(record)
    assert [curve.cumulative for curve in edge_curves(record.bots, found)] == [(0.0,), (), (), (), ()]
    assert {pair.n for pair in edge_pairs(record, FEW)} == {0}
    assert list(running_sums(record)["edge"]) == ["price"]


def test_who_says_the_price_but_for_the_last_digit_has_none() -> None:
    # The middle of 0.1 and 0.2 is 0.15000000000000002.
    made = [Made("a", 0.0, (Bet(event, 1.0, (0.1 + 0.2) / 2.0, 0.15),), event=event) for event in range(40)]
    record = record_of(made, paid={event: Paid(1, float(event % 3 == 0)) for event in range(40)}, as_of=9)
    (card,) = scorecards(record, uncertainty=Uncertainty(resamples=40))
    found = card.edge.interval
    assert found is not None
    assert (card.edge.edge, found.low, found.high, found.standard_error) == (0.0, 0.0, 0.0, 0.0)


def test_a_market_left_out_is_zero_and_one_without_a_price_is_left_out_of_those_asked() -> None:
    record = record_of(
        [Made(bets=(Bet(0, 1.0, 0.4, 0.7),))], paid={0: Paid(1, 1.0)}, seen=[Seen(1, 1, 0.5), Seen(2, 0, 0.5)], as_of=2
    )
    found = score(asked(record, (0, 0), (0, 1), (0, 2)))
    assert found.edge == pytest.approx((0.6**2 - 0.3**2) / 2)
    assert (found.asked, found.answered, found.counted, found.unpriced) == (3, 1, 2, 1)
    assert found.answered_share == pytest.approx(1 / 3)


def test_every_event_and_slot_counts_once_and_not_every_event() -> None:
    sharp, dull = Bet(0, 1.0, 0.5, 0.9), Bet(1, 1.0, 0.5, 0.5)
    made = [Made(at=day, slot=day, event=0, bets=(sharp,)) for day in (0, 1, 2)] + [Made(event=1, bets=(dull,))]
    found = score(record_of(made, paid={0: Paid(5, 1.0), 1: Paid(5, 1.0)}, as_of=6))
    assert (found.edge, found.by_event) == pytest.approx((0.75 * 0.24, 0.5 * 0.24))
    assert (found.n, found.clusters) == (4, 2)


def test_where_nothing_has_a_price_yet_there_are_pairs_without_a_value() -> None:
    made = [Made(bot, bets=(Bet(0, 1.0, 0.5, 0.9),)) for bot in ("a", "b")]
    (pair,) = edge_pairs(record_of(made, as_of=6), FEW)
    assert (pair.n, pair.difference) == (0, None)


def test_a_bet_on_a_market_that_was_not_asked_is_refused() -> None:
    record = record_of([Made(bets=(Bet(0, 1.0, 0.4, 0.7),))], as_of=2)
    with pytest.raises(ValueError, match="asked_market lacks a market that a bet is on"):
        edges(asked(record, (0, 0), (0, 0)))


def test_its_interval_lies_within_what_is_possible_and_rests_on_prices_too() -> None:
    made = [Made(event=event, bets=(Bet(event, 0.0, 0.5, 0.99 if event % 2 else 0.01),)) for event in range(3)]
    paid = {event: Paid(1, float(event % 2 == 0)) for event in range(3)}
    interval = score(record_of(made, paid=paid, as_of=2)).interval
    assert interval is not None and interval.low == -1.0
    assert interval.cluster_standard_error == 0.0
    # Of a question (0.5 - y)^2 - (0.99 - y)^2: it moves by 0.98 with y, whose deviation is 0.5.
    assert interval.price_standard_error == pytest.approx(0.98 * 0.5 / 3**0.5)


def test_a_curve_adds_up_the_edges_of_each_slot_to_the_mean_times_their_number() -> None:
    made = [
        Made(bot, at=slot, slot=slot, event=event, bets=(Bet(2 * event + slot, 1.0, 0.5, 0.6 if bot == "a" else 0.5),))
        for bot in ("a", "b")
        for slot in (0, 1)
        for event in range(3)
    ]
    record = record_of(made, paid={market: Paid(2, float(market < 5)) for market in range(6)}, as_of=3)
    one, other = edge_curves(record.bots, edges(record))
    # (0.5 - 1)^2 - (0.6 - 1)^2 of each but the last market, which paid nothing.
    assert (one.bot, one.slot_at) == ("a", (0.0, 86_400.0))
    assert one.cumulative == pytest.approx((3 * 0.09, 5 * 0.09 - 0.11))
    assert other.cumulative == (0.0, 0.0)
    found = score(record)
    assert found.edge is not None and one.cumulative[-1] == pytest.approx(found.n * found.edge)


def test_a_bot_without_an_edge_has_an_empty_curve() -> None:
    record = record_of([Made("a", bets=(Bet(0, 1.0, 0.5, 0.6),))], as_of=1)
    assert edge_curves(record.bots, edges(record))[0].cumulative == ()
