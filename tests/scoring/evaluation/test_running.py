"""Running sums: each point stands for what was decided by its slot."""

from dataclasses import replace

import numpy as np
import pytest

from predibot.scoring.evaluation.horizon_series import EDGE, GAIN, running_sums, running_value
from predibot.scoring.evaluation.scorecard import scorecards
from predibot.scoring.inference.blocks import draw_curves, growth_estimate
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.edge import edge_curves, edges
from predibot.scoring.records.track_record import TrackRecord
from tests.scoring.made_records import DAY, Bet, Made, Paid, Seen, record_of


def _record(events: int = 12) -> TrackRecord:
    made = [
        Made(bot, at=float(number), event=number, bets=(Bet(number, stake, 0.4, said),))
        for number in range(events)
        for bot, stake, said in (("a", 0.5, 0.5 + number / 130.0), ("b", -1.0, 0.1))
    ]
    paid = {number: Paid(number + 0.5, float(number % 3 == 0)) for number in range(events)}
    return record_of(made, paid=paid, as_of=100.0)


def test_the_last_point_is_the_score_with_its_interval() -> None:
    record = _record()
    uncertainty = Uncertainty()
    found = running_sums(record)
    for card in scorecards(record, uncertainty=uncertainty):
        last, interval = found[EDGE][card.bot][-1], card.edge.interval
        assert card.edge.edge is not None and interval is not None and interval.low is not None
        assert last.total == pytest.approx(card.edge.edge * card.edge.n)
        assert (last.low, last.n, last.clusters) == (pytest.approx(interval.low * 12), 12, 12)
        gain, mean = found[GAIN][card.bot][-1], card.horizons["now"].mean_return
        assert mean is not None and gain.total == pytest.approx(mean * 12)


def test_the_points_are_those_of_the_curve_and_the_interval_holds_each() -> None:
    record = _record()
    curve = edge_curves(record.bots, edges(record))[0]
    points = running_sums(record)[EDGE]["a"]
    assert [point.slot_at for point in points] == list(curve.slot_at)
    assert [point.total for point in points] == pytest.approx(curve.cumulative)
    assert all(point.low <= point.total <= point.high for point in points if point.low is not None and point.high)


def test_of_many_slots_some_are_taken_and_the_last_among_them() -> None:
    record = _record(60)
    points = running_sums(record, most=7)[EDGE]["a"]
    assert len(points) == 7 and points[-1].n == 60 and points[-1].slot_at == record.slots().max()


def test_what_is_decided_later_changes_no_earlier_interval() -> None:
    # Both markets of an event exclude each other, and the second is bet on a day later.
    made = [
        Made("a", at=day + 0.5, slot=float(day), event=event, bets=(Bet(2 * event + day, 1.0, 0.6 - day / 10.0, 0.8),))
        for event in range(12)
        for day in (0, 1)
    ]
    seen = [Seen(market, 4.0, 0.65) for market in range(24)]
    whole, first = (
        replace(record_of(some, seen=seen, as_of=5.0), market_exclusive=np.arange(24) // 2)
        for some in (made, made[::2])
    )
    for name in (EDGE, GAIN):
        point, alone = running_sums(whole)[name]["a"][0], running_sums(first)[name]["a"][0]
        assert point.low is not None
        assert (point.low, point.high) == pytest.approx((alone.low, alone.high))


def test_what_is_not_scored_moves_nothing() -> None:
    told = (Made("c", at=3.0, event=3, bets=(Bet(3, 1.0, 0.4, 0.9),), knowledge="contaminated"),)
    record = record_of(told, paid={3: Paid(3.5, 1.0)}, as_of=100.0)
    assert running_sums(record) == {"edge": {}, "mean_return": {}, "quote_mean_return": {}}
    assert running_sums(record_of([], as_of=1.0))[EDGE] == {}
    bet_alone = record_of([Made("d", bets=(Bet(3, 1.0, 0.4),))], paid={3: Paid(3.5, 1.0)}, as_of=100.0)
    (curve,) = edge_curves(bet_alone.bots, edges(bet_alone))
    found = running_sums(bet_alone)
    assert (found[EDGE], len(found[GAIN]["d"]), curve.cumulative) == ({}, 1, ())


def test_an_account_ends_with_the_interval_of_its_growth() -> None:
    values = 500.0 * np.cumprod(np.concatenate([[1.0], 1.0 + 0.02 * np.sin(np.arange(20.0))]))
    uncertainty = Uncertainty(resamples=500)
    points = running_value(list(np.arange(21) * DAY), values, uncertainty)
    whole = growth_estimate(draw_curves((values[1:] / values[:-1] - 1.0)[:, None], uncertainty), 0)
    assert whole.low is not None
    assert [point.total for point in points] == pytest.approx(values)
    assert points[-1].low == pytest.approx(500.0 * (1.0 + whole.low))
    # Of one value, or one return, nothing is known of its scatter.
    assert (points[0].low, points[1].low) == (None, None)


def test_an_account_that_owes_has_values_and_no_interval() -> None:
    points = running_value([0.0, 1.0, 2.0], np.array([10.0, -1.0, 5.0]), Uncertainty())
    assert [(point.total, point.low) for point in points] == [(10.0, None), (-1.0, None), (5.0, None)]
