"""The board of cohorts: order, ranks only where there is enough to rank by, and who is left out."""

from dataclasses import replace
from datetime import timedelta

import pytest

from predibot.reports.terminal.boards.accounts import cohort_grids
from predibot.reports.terminal.terminal import print_grid
from predibot.reports.views.accounts import cohort_board_document, cohort_conclusions
from predibot.scoring.accounts.cohorts import CohortBoard, CohortBot, CohortResult, with_scores
from predibot.scoring.accounts.record import SizedBet
from tests.reports.terminal.test_terminal import screen, shown
from tests.scoring.accounts.test_cohort_scores import SUNDAY


def bot(name: str, *gains_usd: float, weeks: int = 1, **more: object) -> CohortBot:
    """Return a bot with a gain in each of some weeks, whose cohorts last so many."""
    starts = [SUNDAY + timedelta(weeks=week) for week in range(len(gains_usd))]
    results = tuple(
        CohortResult(start, start + timedelta(weeks=weeks), 10_000.0, 10_000.0 + gain, won=1)
        for start, gain in zip(starts, gains_usd, strict=True)
    )
    return CohortBot(name, "one_shot", name.title(), results, **more)  # type: ignore[arg-type]


def board(*bots: CohortBot, **more: object) -> CohortBoard:
    record = CohortBoard("weekly", "weekly_cohort", "live", "v2", bots, cohorts=40, complete=35)
    return with_scores(replace(record, **more))  # type: ignore[arg-type]


GOOD = bot("good", *([300.0, 500.0] * 20))
BAD = bot("bad", *([-300.0, -500.0] * 20))
DULL = bot("dull", *([500.0, -500.0] * 20))


def test_thirty_effective_cohorts_rank_who_gains_by_the_lower_end() -> None:
    found = board(DULL, BAD, GOOD)
    assert [each.bot for each in found.scores] == ["good", "dull", "bad"]
    assert found.ranks == {("good", "clean"): 1}
    assert [each.verdict for each in found.scores] == ["gains", "unclear", "loses"]
    gains, loses, unclear = cohort_conclusions(found)
    assert gains.startswith("Gains over cohorts: good (") and loses.startswith("Loses over cohorts: bad (")
    assert unclear == "May gain or lose: dull."


def test_a_baseline_is_a_line_and_nobody_has_a_place_that_does_not_lie_above_it() -> None:
    line = replace(GOOD, bot="line", strategy="random_trade")
    assert board(GOOD).ranks and not board(GOOD, line).ranks and not board(line).ranks
    assert [each.bot for each in board(line, DULL).scores] == ["dull", "line"]


def test_favourites_that_never_lost_gain_nothing_that_their_prices_do_not_leave_open() -> None:
    alike = bot("favourites", *([50.0] * 40))
    assert board(alike).scores[0].score.returns.low is None
    unsure, sure = (board(replace(alike, deviation=each)).scores[0] for each in (0.004, 0.001))
    assert (unsure.verdict, sure.verdict) == ("unclear", "gains")
    # t(.975, 39) is 2.0227.
    assert unsure.score.returns.low == pytest.approx(0.005 - 2.022691 * 0.004, abs=1e-8)


def test_forty_cohorts_of_two_weeks_count_as_twenty_and_rank_nobody() -> None:
    found = board(bot("good", *([300.0, 500.0] * 20), weeks=2), bot("bad", *([-300.0, -500.0] * 20), weeks=2))
    assert [each.score.returns.effective for each in found.scores] == [20.0, 20.0]
    assert (found.ranks, {each.verdict for each in found.scores}) == ({}, {"too few"})
    (said,) = cohort_conclusions(found)
    assert said == (
        "Nobody is proven to gain, to lose or to be better: 40 cohorts, of which up to 2 overlap, count as 20, and "
        "30 are needed."
    )
    assert {each["rank"] for each in cohort_board_document(found)["leaderboard"]} == {None}  # type: ignore[attr-defined]


def test_models_that_may_have_read_it_are_in_no_score_and_unknown_ones_apart() -> None:
    unknown, told = replace(GOOD, knowledge="unknown"), replace(GOOD, bot="told", knowledge="contaminated")
    found = board(unknown, BAD, told, replace(DULL, bot="ahead", knowledge="ahead"))
    assert [(each.bot, each.knowledge) for each in found.scores] == [("bad", "clean"), ("good", "unknown")]
    assert found.ranks == {("good", "unknown"): 1}
    assert found.notes == (
        "left out, because their models were trained on what came after their decisions: ahead, told",
    )


def test_a_bot_without_a_result_has_no_row_and_archived_cohorts_are_named() -> None:
    found = board(replace(GOOD, results=()), BAD, archived=2, remarks=("this is missing",))
    assert [each.bot for each in found.scores] == ["bad"]
    assert found.notes == ("2 archived cohorts are left out; --archived counts them too", "this is missing")


def test_both_brier_scores_have_their_names_and_their_counts() -> None:
    both = replace(
        GOOD,
        forecasts=((0.8, 1.0), (0.4, 0.0), (0.5, None)),
        bets=(SizedBet(50.0, 10_000.0, True), SizedBet(2_500.0, 10_000.0, None)),
    )
    (row,) = cohort_board_document(board(both))["leaderboard"]  # type: ignore[misc]
    assert (row["brier_stated"], row["brier_stated_n"]) == (pytest.approx((0.04 + 0.16) / 2), 2)
    # $50 of $10,000 imply a confidence of .02, whatever the price was.
    assert (row["brier_implied_confidence"], row["brier_implied_confidence_n"]) == (pytest.approx(0.98**2), 1)


def test_the_board_fits_80_columns_and_shows_what_matters() -> None:
    broke = replace(
        BAD,
        bot="a_bot_with_quite_a_long_name",
        bankrupt=2,
        cannot_bet=1,
        decisions={"recorded": 30, "failed": 10},
        cost_usd=12.5,
    )
    console = screen(80)
    for grid in cohort_grids(board(GOOD, broke, replace(DULL, knowledge="unknown"))):
        print_grid(console, grid)
    lines = [line.rstrip() for line in shown(console).splitlines()]
    assert max(map(len, lines)) <= 80
    text = [" ".join(line.split()) for line in lines]
    assert text[0] == "weekly_cohort v2 of weekly, live: 40 cohorts, 35 complete"
    assert text[1] == "# bot return low high P/L wins cohorts resolved cost"
    assert text[2] == "1 good +4.0% +3.7% +4.3% +$16,000 100% 40 40 $0.000"
    assert text[4] == "– dull? 0.0% -1.7% +1.7% +$0 100% 40 40 $0.000"
    assert any("bankrupt in 2 of 40 and cannot bet in 1 of 40" in line for line in (" ".join(text),))
    assert "bot name stated n by size bets decided failed" in text
    assert any(line.startswith("a_bot_with_quite_a_long_name") and line.endswith("25%") for line in text)


def test_a_board_of_nobody_says_nothing() -> None:
    assert tuple(cohort_conclusions(board())) == ()
