"""An evaluation on a screen, with everything that can be asked for."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

import numpy as np
import pytest

from predibot.reports.evaluation_grids import print_evaluation
from predibot.scoring.evaluation import PARTINGS, Evaluation, Question, evaluation_of
from predibot.scoring.leaderboard import Pair
from predibot.scoring.uncertainty import Uncertainty
from tests.reports.test_terminal import WIDTHS, screen, shown
from tests.scoring.records import Bet, Made, Paid, Seen, record_of

AS_OF = datetime(1970, 2, 20, tzinfo=UTC)
BOTS = ("a_bot_with_a_rather_long_name", "market_price", "third")


@cache
def everything(grouping: str | None = "category") -> Evaluation:
    """Return an evaluation with every table there is."""
    rng = np.random.default_rng(1)
    made = [
        Made(
            bot,
            at=event % 20 + 0.1,
            slot=event % 20,
            event=event,
            category="weather and the climate of the whole world" if event % 2 else "sports",
            bets=(
                Bet(
                    event,
                    usd=float(rng.uniform(-1, 1)),
                    price_yes=0.5,
                    probability=float(np.clip(rng.normal(0.5 + (event % 3 - 1) * 0.1, 0.02 + 0.15 * number), 0, 1)),
                    confidence=float(rng.integers(0, 11)),
                    bid=0.45,
                    ask=0.55,
                    fee_rate=0.02,
                ),
            ),
            cost_usd=0.01 * number,
        )
        for number, bot in enumerate(BOTS)
        for event in range(45)
    ]
    seen = [Seen(market, at, float(rng.uniform(0.1, 0.9))) for market in range(45) for at in range(1, 40)]
    paid = {market: Paid(35, float(rng.integers(0, 2))) for market in range(40)}
    asked = Question(
        horizons_days=(1, 30),
        uncertainty=Uncertainty(resamples=200),
        grouping=grouping,
        delays_days=(1, 16),
        sizings=("flat", "half_kelly"),
    )
    return evaluation_of(record_of(made, seen=seen, paid=paid, as_of=50), AS_OF, asked)


def printed(found: Evaluation, width: int = 200) -> str:
    """Return what is seen on a screen of some width."""
    console = screen(width)
    print_evaluation(console, found)
    return shown(console)


def block(text: str, title: str) -> list[list[str]]:
    """Return the rows of the table of some title, without the header, split where two spaces are."""
    lines = text.split(title, 1)[1].split("\n\n")[0].splitlines()[2:]
    return [re.split(r"\s{2,}", line.strip()) for line in lines]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("grouping", PARTINGS)
def test_no_line_is_wider_than_the_screen(width: int, grouping: str) -> None:
    text = printed(everything(grouping), width)
    assert max(len(line) for line in text.splitlines()) <= width


def test_every_table_that_was_asked_for_is_there_once() -> None:
    text = printed(everything())
    for title in (
        "Decisions\n",
        "Forecasts on settled markets, beside the price at that time",
        "All forecasts: called right",
        "Returns at the mid: mean a decision",
        "Beside the mid: bought at the quote",
        "Pairs: Brier of the first less the second",
        "Forecasts by category",
        "Returns at the mid by category",
        "Carried out late: negative says that stale decisions hurt",
        "The same forecasts, bet by other rules",
    ):
        assert text.count(title) == 1


def test_the_head_says_of_when_and_how() -> None:
    head = printed(everything()).splitlines()[0]
    assert head == (
        "as of 1970-02-20T00:00Z · 95% intervals over events · up to 200 resamples, seed 0 · convention predibot"
    )


def test_scores_stand_beside_their_interval_and_what_they_rest_on() -> None:
    card = everything().cards[0]
    row = block(printed(everything()), "Forecasts on settled markets, beside the price at that time")[0]
    interval = card.forecast.intervals["brier"]
    assert row[:5] == [
        BOTS[0], "40", "40", f"{card.forecast.brier:.4f}", f"{interval.low:.3f} to {interval.high:.3f}",
    ]  # fmt: skip


def test_the_quote_stands_beside_the_mid_with_what_it_takes() -> None:
    score = everything().cards[0].horizons["1"]
    assert score.quote_mean_return is not None and score.friction is not None and score.mean_return is not None
    row = block(printed(everything()), "how far prices came toward forecasts")[0]
    assert row[:5] == [
        BOTS[0],
        "1 day",
        f"{100 * score.quote_mean_return:+.2f}%",
        f"{100 * score.friction:+.2f}%",
        "45",
    ]
    assert score.friction == pytest.approx(score.mean_return - score.quote_mean_return)


def test_pairs_are_the_likeliest_first() -> None:
    rows = block(printed(everything()), "where both forecast")
    expected = sorted(
        (pair for pair in everything().pairs if pair.metric == "brier"), key=lambda pair: pair.p_adjusted or 0.0
    )
    assert [row[:2] for row in rows] == [[pair.first, pair.second] for pair in expected]
    assert [row[-2] for row in rows] == [f"{pair.p_adjusted:.3f}" for pair in expected]


def test_of_many_pairs_the_first_are_shown_and_it_is_said() -> None:
    pairs = tuple(Pair("a", f"b{n}", "brier", 50, 40, 0.1, 0.0, 0.2, 0.01 * n, 0.01 * n, 0.1) for n in range(20))
    text = printed(replace(everything(), pairs=pairs[::-1]))
    assert len(block(text, "what could be seen; 12 of 20")) == 12
    assert " b11 " in text
    assert " b12 " not in text


def test_late_decisions_stand_beside_what_they_were() -> None:
    each = everything().delays[0]
    row = block(printed(everything()), "stale decisions hurt")[0]
    assert each.mean_return is not None and each.actual_mean_return is not None and each.difference is not None
    assert row[:6] == [
        each.bot, "1", "1 day", *(
            f"{100 * value:+.2f}%" for value in (each.mean_return, each.actual_mean_return, each.difference.estimate)
        ),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("grouping", "title"),
    [
        ("event", "Forecasts by event"),
        ("month", "Forecasts by month"),
        ("lead_time", "Forecasts by days before the settlement"),
        ("confidence", "Forecasts by stated confidence, of 10"),
    ],
)
def test_each_kind_of_part_has_its_table(grouping: str, title: str) -> None:
    text = printed(everything(grouping))
    assert text.count(title) == 1
    assert block(text, title)


def test_what_was_not_asked_for_has_no_table() -> None:
    text = printed(replace(everything(None), delays=(), sizings=(), pairs=()))
    for title in ("Forecasts by", "Pairs", "Carried out late", "bet by other rules"):
        assert title not in text


def test_titles_of_events_cannot_write_on_the_screen() -> None:
    found = everything("event")
    parts = tuple(replace(part, group="\x1b[2Jevil\nline") for part in found.parts)
    text = printed(replace(found, parts=parts))
    assert "\x1b" not in text
    assert "evil line" in text
