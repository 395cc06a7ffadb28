"""Effort: what decisions take, beside how good they are."""

from collections.abc import Sequence

import pytest

from predibot.scoring.evaluation.effort import EFFORTS, SUCCESSES, Effort, EffortAndSuccess, effort_correlations
from predibot.scoring.metrics.correlation import Correlations


def row(bot: str, pages: float, edge: float | None, cost_usd: float | None = 0.1) -> EffortAndSuccess:
    effort = Effort(bot, 3, searches=1.0, pages=pages, seconds=2.0, cost_usd=cost_usd, tokens=None, traces=0)
    return EffortAndSuccess(effort, edge, 0.2, None)


def by_names(rows: Sequence[EffortAndSuccess]) -> dict[tuple[str, str], Correlations]:
    return {(each.effort, each.success): each.found for each in effort_correlations(rows)}


def test_every_effort_meets_every_success_over_the_bots_that_know_both() -> None:
    rows = [row("a", 1, 0.1), row("b", 2, 0.3), row("c", 3, 0.2), row("d", 4, 0.4), row("e", 5, None)]
    found = by_names(rows)
    assert set(found) == {(effort, success) for effort in EFFORTS for success in SUCCESSES}
    # Ranks 1, 2, 3, 4 beside 1, 3, 2, 4: 1 - 6 * 2 / (4 * 15).
    assert found["pages", "edge"].spearman.value == pytest.approx(0.8)
    assert found["pages", "edge"].n == 4
    assert found["tokens", "edge"].n == 0
    assert found["searches", "edge"].spearman.value is None


def test_three_bots_have_no_correlation_and_an_unknown_cost_is_left_out() -> None:
    rows = [row("a", 1, 0.1), row("b", 2, 0.3), row("c", 3, 0.2), row("d", 4, 0.4, cost_usd=None)]
    found = by_names(rows)["cost_usd", "edge"]
    assert (found.n, found.spearman.value) == (3, None)
