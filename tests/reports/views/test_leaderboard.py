"""The leaderboard: rows in order, and what may be said of them in words."""

from dataclasses import replace

import pytest

from predibot.reports.views.leaderboard import (
    PAIR_VERDICTS,
    VERDICTS,
    conclusions,
    leaderboard,
    market_conclusions,
    missing,
    more_events,
)
from predibot.scoring.evaluation.e_values import BettingEvidence, BotEvidence, Evidence
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.evaluation.scorecard import EdgeScore, Scorecard
from predibot.scoring.evaluation.verdict import Finding, Verdict
from predibot.scoring.inference.bootstrap import Estimate
from predibot.scoring.inference.power import RequiredEvents
from predibot.scoring.records.edge import EdgeCurve
from tests.reports.views_of import AS_OF, card, horizon


def scored(
    bot: str, edge: float, low: float, high: float, *, events: int = 100, by_event: float | None = None
) -> Scorecard:
    """Return a scorecard with an edge, and nothing missing."""
    interval = Estimate(edge, low, high, 0.95, 200, events, "t", 0, 0, cluster_standard_error=max(high - low, 1e-9) / 4)
    of_edge = EdgeScore(
        edge=edge, n=200, clusters=events, by_event=by_event, asked=400, answered=300, counted=400, interval=interval
    )
    whole = card(bot)
    horizons = {
        "7": replace(horizon(7, 0.02, 10), quote_mean_return=0.0151, n_quote=10),
        "now": replace(horizon(None, 0.03, 10), quote_mean_return=-0.88, n_quote=10),
    }
    return replace(whole, edge=of_edge, horizons=horizons, refused=0, failed=0, void=0, cost_usd=1.5)


def evaluated(*cards: Scorecard, **largest: float) -> Evaluation:
    """Return an evaluation of some cards, with the largest e-value of each bot: of the opposite where it is below 0."""
    evidence = tuple(
        BotEvidence(
            each.bot,
            BettingEvidence(
                better=Evidence(1.0, max(largest.get(each.bot, 1.0), 1.0)),
                worse=Evidence(1.0, max(-largest.get(each.bot, 1.0), 1.0)),
            ),
            BettingEvidence(),
        )
        for each in cards
    )
    return Evaluation(AS_OF, cards, (), evidence=evidence)


SHARP = scored("sharp", 0.08, 0.01, 0.15)
LAZY = scored("lazy", 0.005, -0.003, 0.013)
PRICE = scored("market_price", 0.0, 0.0, 0.0)
RANDOM = scored("random_bet", -0.25, -0.31, -0.19)


def said(*cards: Scorecard, **largest: float) -> str:
    return " ".join(conclusions(leaderboard(evaluated(*cards, **largest))))


def test_only_who_is_told_better_has_a_place_and_baselines_are_lines_apart() -> None:
    second, third = replace(SHARP, bot="second"), scored("third", 0.09, 0.005, 0.175)
    worse = scored("worse", -0.1, -0.2, -0.05)
    told = {"sharp": 21.0, "second": 400.0, "third": 9e9, "worse": -50.0, "random_bet": -9e9}
    rows = leaderboard(evaluated(RANDOM, worse, LAZY, PRICE, third, SHARP, second, **told))
    assert [(row.rank, row.bot, row.standing) for row in rows] == [
        (1, "second", "better"), (1, "sharp", "better"), (3, "third", "better"), (None, "lazy", "not proven"),
        (None, "worse", "worse"), (None, "market_price", "baseline"), (None, "random_bet", "baseline"),
    ]  # fmt: skip


def test_of_whom_nothing_is_proven_the_evidence_of_today_orders_and_no_lower_end() -> None:
    # Who risks nothing has the best lower end.
    copy = replace(PRICE, bot="copy", baseline=False, edge=replace(PRICE.edge, distance=0.001))
    far = replace(LAZY, bot="a", edge=replace(LAZY.edge, distance=0.005))
    found = evaluated(copy, far, LAZY, SHARP)
    now = {"copy": 1.0, "a": 1.0 + 1e-10, "lazy": 0.4, "sharp": 3.0}
    better = [Evidence(now[each.bot], 19.0) for each in found.evidence]
    evidence = tuple(
        replace(each, forecasts=replace(each.forecasts, better=of))
        for each, of in zip(found.evidence, better, strict=True)
    )
    rows = leaderboard(replace(found, evidence=evidence))
    assert [(row.bot, row.rank, row.repeats_price) for row in rows] == [
        ("sharp", None, False), ("a", None, False), ("copy", None, True), ("lazy", None, False),
    ]  # fmt: skip
    assert [row.e_now for row in rows] == [3.0, 1.0 + 1e-10, 1.0, 0.4]


def test_bots_that_were_asked_other_questions_are_said_to_be() -> None:
    few, more, all_of_it = (
        replace(LAZY, bot=bot, edge=replace(LAZY.edge, n=n, board_n=200))
        for bot, n in (("few", 50), ("more", 120), ("all", 200))
    )
    assert "Not all were asked all 200 questions: see --table pairs." in said(all_of_it, more, few)
    assert "asked all" not in said(all_of_it)


def test_nobody_is_ranked_below_thirty_events_nor_by_them() -> None:
    few = scored("few", 0.3, 0.2, 0.4, events=29)
    enough = scored("enough", 0.3, 0.15, 0.4, events=30)
    rows = leaderboard(evaluated(few, SHARP, enough, few=99.0, enough=99.0, sharp=99.0))
    assert [(row.bot, row.rank) for row in rows] == [("enough", 1), ("sharp", 2), ("few", None)]
    assert (rows[-1].verdict.finding, rows[-1].standing) == (Finding.TOO_FEW_EVENTS, "too few")


def test_a_bot_that_answered_nothing_has_no_place_and_comes_last() -> None:
    nothing = replace(PRICE.edge, answered=0, edge=None, interval=None)
    broken = replace(PRICE, bot="broken", baseline=False, edge=nothing, failed=200)
    few = scored("few", 0.3, 0.2, 0.4, events=29)
    rows = leaderboard(evaluated(broken, RANDOM, PRICE, few, SHARP, sharp=99.0))
    assert [(row.bot, row.rank) for row in rows] == [
        ("sharp", 1), ("few", None), ("broken", None), ("market_price", None), ("random_bet", None),
    ]  # fmt: skip
    assert rows[2].verdict.finding == Finding.NOTHING_YET
    assert (rows[2].edge, rows[2].edge_low, rows[2].answered_share) == (None, None, 0.0)


def test_a_row_has_what_the_scorecard_has() -> None:
    found = replace(evaluated(SHARP, sharp=410.0), curves=(EdgeCurve("sharp", (0.0, 1.0), (3.0, 16.0)),))
    (row,) = leaderboard(found)
    assert (row.edge, row.edge_low, row.edge_high, row.events) == (0.08, 0.01, 0.15, 100)
    assert (row.horizon, row.quote_return, row.quote_return_now) == ("7", 0.0151, -0.88)
    assert (row.brier, row.market_brier, row.answered_share, row.cost_usd) == (0.0024782, 0.0000153, 0.75, 1.5)
    assert (row.verdict, row.curve) == (Verdict(Finding.BEATS_THE_PRICE, 100, 410.0), (3.0, 16.0))


@pytest.mark.parametrize(("by_event", "shown"), [(0.151, 0.151), (0.149, None), (0.009, 0.009), (None, None)])
def test_the_edge_by_event_stands_there_where_it_is_half_an_interval_off(
    by_event: float | None, shown: float | None
) -> None:
    (row,) = leaderboard(evaluated(scored("sharp", 0.08, 0.01, 0.15, by_event=by_event)))
    assert row.edge_by_event == shown


def test_nobody_beats_the_price_whatever_the_interval_says_without_evidence() -> None:
    (row,) = leaderboard(evaluated(SHARP, sharp=19.9))
    assert row.verdict.finding == Finding.CANNOT_BE_TOLD
    (unknown,) = leaderboard(replace(evaluated(SHARP), evidence=()))
    assert unknown.verdict.finding == Finding.NOTHING_YET


def test_forecasts_of_no_ledger_have_no_row() -> None:
    assert leaderboard(replace(evaluated(SHARP), as_of=None)) == ()


WEAK, TURNED = scored("weak", 0.03, -0.01, 0.07), scored("turned", -0.01, -0.05, 0.03)
FEW, FEW_WORSE = scored("few", 0.3, 0.2, 0.4, events=10), scored("few", -0.3, -0.4, -0.2, events=10)


@pytest.mark.parametrize(
    ("cards", "largest", "text"),
    [
        # One that beats the price is named first, and what the others lack.
        ((PRICE, RANDOM, LAZY, SHARP), {"sharp": 410.2, "random_bet": -50.0},
         "sharp beats the price: E = 410. random_bet is worse than the price. "
         "Nothing is proven of lazy; lazy would need about 410 more events."),
        ((SHARP, replace(SHARP, bot="second")), {"sharp": 410.2, "second": 20.0},
         "second (E = 20) and sharp (E = 410) beat the price."),
        # Where nobody does, the closest is: who has the most evidence, even where its edge has turned.
        ((LAZY, WEAK, RANDOM), {"weak": 7.5, "random_bet": -50.0},
         "Nobody beats the price yet. weak comes closest: E = 7.5, and proof takes 20; "
         "it would need about 260 more events. random_bet is worse than the price."),
        ((LAZY, TURNED), {"lazy": 1.2, "turned": 4.0},
         "Nobody beats the price yet. turned comes closest: E = 4.0, and proof takes 20; lazy would need about 410 "
         "more events. turned is not ahead of the price so far."),
        # Who has no evidence is not called close, and without an edge above zero no number of events helps.
        ((LAZY, PRICE), {}, "Nobody beats the price; lazy would need about 410 more events."),
        ((RANDOM,), {},
         "Nobody beats the price. random_bet is not ahead of the price so far. "
         "The interval of random_bet leaves out 0 today; proof on any day takes E = 20, for or against."),
        ((SHARP, TURNED), {"sharp": 50.0}, "sharp beats the price: E = 50. turned is not ahead of the price so far."),
        ((TURNED, replace(TURNED, bot="other")), {},
         "Nobody beats the price. other and turned are not ahead of the price so far."),
        # Of few events nothing is claimed; who has too few is named where others have enough.
        ((FEW,), {"few": 1000.0},
         "Nobody beats the price yet. few comes closest: E = 1,000, and proof takes 20; "
         "it would need about 20 more events. On fewer than 30 events nothing is proven."),
        ((RANDOM, FEW_WORSE), {"random_bet": -50.0},
         "Nobody beats the price. random_bet is worse than the price. few is not ahead of the price so far. "
         "On fewer than 30 events nothing is proven of few."),
        ((replace(SHARP, edge=EdgeScore()),), {}, ""),
    ],
)  # fmt: skip
def test_what_may_be_said_is_said_in_words(cards: tuple[Scorecard, ...], largest: dict[str, float], text: str) -> None:
    assert said(*cards, **largest) == text


@pytest.mark.parametrize(
    ("like", "written"),
    [
        ({"lazy": 0.9}, "lazy moved like 1 independent one"),
        ({"lazy": 4.2}, "lazy moved like 4 independent ones"),
        ({"lazy": 4.2, "sharp": 9.7}, "lazy and sharp moved like 4 to 10 independent ones"),
    ],
)
def test_of_events_that_moved_together_it_is_said_like_how_many(like: dict[str, float], written: str) -> None:
    rows = [
        replace(row, verdict=replace(row.verdict, moved_like=like.get(row.bot)))
        for row in leaderboard(evaluated(LAZY, SHARP))
    ]
    rows.sort(key=lambda row: row.bot)
    assert f"Events of {written}." in conclusions(rows)


def test_nothing_is_said_of_nothing() -> None:
    assert conclusions(()) == ()


def test_of_a_file_it_is_said_who_is_better_than_its_market() -> None:
    pairs = tuple(
        Pair(*names, "brier", 90, clusters, difference, -0.1, 0.2, p, p, 0.1)
        for names, clusters, difference, p in (
            (("gpt", "market"), 40, -0.02, 0.01),
            (("market", "human"), 40, -0.02, 0.01),
            (("cat", "market"), 40, -0.02, 0.2),
            (("gpt", "human"), 40, -0.02, 0.01),
        )
    )
    assert market_conclusions(replace(evaluated(), as_of=None, pairs=pairs)) == (
        "gpt is better than the market.", "human is worse than the market.", "cat cannot be told from the market.",
    )  # fmt: skip
    alone = tuple(replace(pair, clusters=90) for pair in pairs[:1])
    assert market_conclusions(replace(evaluated(), as_of=None, pairs=alone)) == (
        "gpt is better than the market.",
        "That takes each row for independent: what one thing decides belongs into one `cluster`.",
    )
    few = tuple(replace(pair, clusters=29) for pair in pairs[:2])
    assert market_conclusions(replace(evaluated(), as_of=None, pairs=few)) == (
        "gpt and human cannot be told from the market: fewer than 30 events.",
    )
    assert market_conclusions(replace(evaluated(), pairs=pairs[3:])) == ()


@pytest.mark.parametrize(
    ("needed", "written"),
    [
        (None, "–"),
        (RequiredEvents(0, more_than=False), "–"),
        (RequiredEvents(893, more_than=False), "about 890"),
        (RequiredEvents(1234, more_than=True), "–"),
    ],
)
def test_how_many_more_events_it_takes_is_no_more_exact_than_it_can_be(
    needed: RequiredEvents | None, written: str
) -> None:
    assert more_events(Verdict(Finding.CANNOT_BE_TOLD, 50, needed=needed)) == written


def test_what_is_missing_is_counted_over_all_bots_the_gravest_first() -> None:
    first = replace(SHARP, failed=2, void=3, cost_usd=None)
    second = replace(LAZY, failed=1, abstained=5, contaminated=4)
    assert missing(evaluated(first, second)) == (
        "3 decisions failed (2 of sharp)", "4 not clean", "cost of sharp", "5 abstained",
        "3 forecasts on cancelled markets",
    )  # fmt: skip
    assert missing(evaluated(replace(SHARP, failed=2)))[:1] == ("2 decisions failed (all of sharp)",)
    assert missing(evaluated(SHARP)) == ()


def test_every_finding_has_its_words() -> None:
    of_two = {Finding.FIRST_IS_BETTER, Finding.SECOND_IS_BETTER}
    of_one = {Finding.BEATS_THE_PRICE, Finding.WORSE_THAN_THE_PRICE}
    assert set(VERDICTS) == set(Finding) - of_two
    assert set(PAIR_VERDICTS) == set(Finding) - of_one
