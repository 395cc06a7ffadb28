"""Exposure: how much of what a bot staked lies on events that move together."""

import pytest

from predibot.related.exposure import Exposures, exposures
from tests.scoring.made_records import Bet, Made, Paid, record_of

EVENTS = ("e1", "e2", "e3", "e4")
TOGETHER = {"e1": "e1", "e2": "e1", "e3": "e3"}
MADE = [
    Made(bets=(Bet(0, 0.5), Bet(1, -0.2))),
    Made(at=1.0, bets=(Bet(0, -0.3), Bet(2, 0.6), Bet(3, 0.0))),
    Made(at=2.0, bot="other", bets=(Bet(3, 1.0),)),
    Made(at=50.0, bets=(Bet(3, 0.4),)),
]


def _spread(as_of: float = 9.0, bot: str = "bot") -> Exposures:
    record = record_of(MADE, as_of=as_of, paid={0: Paid(5.0, 1.0)})
    return exposures(record, bot, event_of_market=EVENTS, cluster_of=TOGETHER)


def test_stakes_on_related_events_add_up_whichever_side_they_are_on() -> None:
    found = _spread()
    assert [(each.events, round(each.staked_usd, 6), each.bets) for each in found.groups] == [
        (("e1", "e2"), 1.0, 3),
        (("e3",), 0.6, 1),
    ]
    assert [round(each.share, 6) for each in found.groups] == [0.625, 0.375]
    # The first market has paid, with the 0.8 that were on it.
    assert [round(each.open_usd, 6) for each in found.groups] == [0.2, 0.6]
    assert found.effective == pytest.approx(1 / (0.625**2 + 0.375**2))


def test_shares_add_up_to_one_and_what_comes_later_changes_nothing() -> None:
    early, late = _spread(), _spread(60.0)
    assert sum(each.share for each in late.groups) == pytest.approx(1.0)
    assert late.staked_usd == pytest.approx(2.0) and early.staked_usd == pytest.approx(1.6)
    assert ("e4",) not in [each.events for each in early.groups]
    assert [round(each.open_usd, 6) for each in _spread(3.0).groups] == [1.0, 0.6]


def test_without_a_bet_there_is_none() -> None:
    assert _spread(bot="nobody") == Exposures() and Exposures().effective is None
    silent = record_of([Made(bets=(Bet(0, 0.0),))], as_of=1.0)
    assert exposures(silent, "bot", event_of_market=("e1",), cluster_of={}) == Exposures()
