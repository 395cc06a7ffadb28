"""What is claimed of accounts and Sharpe ratios in fair worlds; benchmarks measure ten times as many.

A bound is what a share that is as high as it may be breaks once in a thousand.
"""

import pytest
from scipy.stats import binom

from tests.scoring.account_worlds import MARKETS, SIMPLE, measured, measured_shares
from tests.scoring.sharpe_worlds import WORLDS
from tests.scoring.sharpe_worlds import measured as measured_ratios
from tests.soaks import few, one_in

WORLDS_EACH = 100
FALSE, MISSED = 0.04, 0.07


def most(worlds: int, share: float) -> int:
    return int(binom.ppf(0.999, worlds, share))


@pytest.mark.parametrize("name", few([*SIMPLE, *MARKETS], *[*SIMPLE, *MARKETS][::4]))
def test_accounts_without_skill_are_seldom_better_and_their_intervals_hold_zero(name: str) -> None:
    found = measured({**SIMPLE, **MARKETS}[name], 30, WORLDS_EACH, 5 if name in SIMPLE else 8)
    assert round(found.told * WORLDS_EACH) <= most(WORLDS_EACH, FALSE)
    assert round((1.0 - found.held) * WORLDS_EACH) <= most(WORLDS_EACH, MISSED)


@pytest.mark.parametrize("kind", ["normal", "t4", "garch"])
def test_accounts_of_shares_hold_zero(kind: str) -> None:
    found = measured_shares(kind, 30, WORLDS_EACH)
    assert round((1.0 - found.held) * WORLDS_EACH) <= most(WORLDS_EACH, 0.075)


@pytest.mark.parametrize("name", one_in(3, WORLDS))
def test_a_sharpe_ratio_that_has_an_interval_holds_zero(name: str) -> None:
    for each in measured_ratios(name, 10, 30):
        assert each.shown - each.held <= most(max(each.shown, 1), 0.05)
        if name == "same day":
            assert each.made - each.shown <= most(each.made, 0.05)
        if name == "twelve outcomes" and each.bot == "cheapest":
            assert each.shown <= most(each.made, 0.05)
