"""The tables of an evaluation, with everything that can be asked for."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from itertools import takewhile

import numpy as np
import pytest

from predibot.reports.terminal.evaluation_grids import TABLES, table_grids
from predibot.reports.terminal.evaluation_screen import Shown, print_evaluation
from predibot.scoring.evaluation.evaluation import PARTINGS, Evaluation, Question, evaluation_of
from predibot.scoring.evaluation.pairs import Pair
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.reports.terminal.test_terminal import WIDTHS, screen, shown
from tests.scoring.made_records import Bet, Made, Paid, Seen, record_of

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


def printed(found: Evaluation, width: int = 200, how: Shown | None = None) -> str:
    """Return what is seen on a screen of some width, in full where nothing else is said."""
    console = screen(width)
    print_evaluation(console, found, how or Shown(full=True))
    return shown(console)


def block(text: str, title: str) -> list[list[str]]:
    """Return the rows of the table of some title, without the header, split where two spaces are."""
    lines = text.split(f"{title}\n", 1)[1].split("\n\n")[0].splitlines()[1:]
    # What stands below a table explains it.
    rows = takewhile(lambda line: ": " not in line, lines)
    return [re.split(r"\s{2,}", line.strip()) for line in rows]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("grouping", PARTINGS)
def test_no_line_is_wider_than_the_screen(width: int, grouping: str) -> None:
    text = printed(everything(grouping), width)
    assert max(len(line) for line in text.splitlines()) <= width


def test_every_table_is_there_once_in_full() -> None:
    text = printed(everything())
    for title in (
        "Edge over the price, on every market asked, in thousandths of squared error",
        "Edge as it added up, from the first day to the last",
        "Forecasts on settled markets, beside the price at that time",
        "All forecasts",
        "Returns: mean of a decision of one dollar",
        "What the mid hides, and where prices went",
        "Pairs by edge, in thousandths: the first less the second",
        "Pairs by Brier score: the first less the second",
        "Calibration: how far stated probabilities lie from how often it happened",
        "Bins: of forecasts from .. to .., how many came true",
        "Decisions",
        "Forecasts by category",
        "Returns at the quote by category",
        "Returns at the mid by category",
        "Carried out late: negative says that stale decisions hurt",
        "The same forecasts, bet by other rules",
    ):
        assert text.splitlines().count(title) == 1


@pytest.mark.parametrize("table", TABLES)
def test_a_table_that_is_asked_for_stands_alone(table: str) -> None:
    text = printed(everything(), how=Shown(table=table))
    titles = {grid.title for name in TABLES for grid in table_grids(everything(), name)}
    own = {grid.title for grid in table_grids(everything(), table)}
    assert own and own == titles & set(text.splitlines())
    assert "Leaderboard" not in text and "note:" not in text


def test_a_table_that_there_is_not_is_refused() -> None:
    with pytest.raises(ValueError, match="no table 'brier'; there are: forecasts, returns"):
        tuple(table_grids(everything(), "brier"))


def test_every_table_says_below_what_its_headers_mean() -> None:
    words = {"E", "skill", "ECE", "friction", "drift", "sees", "p", "error", "void", "at the mid", "net of cost"}
    grids = [grid for name in TABLES for grid in table_grids(everything(), name)]
    below = " ".join(line for grid in grids for line in grid.legend_lines())
    assert {word for word in words if f"{word}: " not in below} == set()


def test_tables_of_what_is_ranked_apart_say_so() -> None:
    found = replace(everything(), apart=everything(None))
    titles = [grid.title for grid in table_grids(found, "decisions")]
    assert titles == ["Decisions", "Cutoff unknown, ranked apart: Decisions"]


def test_tables_say_how_they_were_made() -> None:
    head = printed(everything(), how=Shown(table="returns")).splitlines()[0]
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


def test_returns_are_at_the_quote_with_those_at_the_mid_beside_them() -> None:
    score = everything().cards[0].horizons["1"]
    assert score.quote_mean_return is not None and score.mean_return is not None
    interval = score.intervals["quote_mean_return"]
    assert interval.low is not None and interval.high is not None
    row = block(printed(everything()), "Returns: mean of a decision of one dollar")[0]
    assert row[:6] == [
        BOTS[0],
        "1 day",
        f"{100 * score.quote_mean_return:+.2f}%",
        f"{100 * interval.low:.1f} to {100 * interval.high:.1f}%",
        f"{score.n_quote}",
        f"{100 * score.mean_return:+.2f}%",
    ]


def test_the_quote_stands_beside_what_it_takes() -> None:
    score = everything().cards[0].horizons["1"]
    assert score.quote_mean_return is not None and score.friction is not None and score.mean_return is not None
    row = block(printed(everything()), "What the mid hides, and where prices went")[0]
    assert row[2:5] == [f"{100 * score.quote_mean_return:+.2f}%", f"{100 * score.friction:+.2f}%", "45"]
    assert score.friction == pytest.approx(score.mean_return - score.quote_mean_return)


def test_the_mean_by_event_is_shown_only_where_it_is_far_from_the_mean() -> None:
    found = everything()
    (first, *others) = found.cards
    score = first.horizons["1"]
    interval = score.intervals["quote_mean_return"]
    assert score.quote_mean_return is not None and interval.low is not None and interval.high is not None
    far = score.quote_mean_return + 0.6 * (interval.high - interval.low)
    apart = replace(first, horizons={**first.horizons, "1": replace(score, quote_mean_return_by_event=far)})
    title = "Returns: mean of a decision of one dollar"
    assert "by event" not in printed(found).split(title)[1].splitlines()[1]
    shown_now = printed(replace(found, cards=(apart, *others)))
    assert "by event" in shown_now.split(title)[1].splitlines()[1]
    assert f"{100 * far:+.2f}%" in block(shown_now, title)[0]


def test_settled_returns_say_what_is_still_open() -> None:
    found = everything()
    cards = tuple(
        replace(card, horizons={**card.horizons, "settled": replace(card.horizons["settled"], open_stakes=0.34)})
        for card in found.cards
    )
    text = printed(replace(found, cards=cards))
    assert "settled, 34% open" in text and "settled with more than 10% of the dollars on open markets" in text
    few = tuple(
        replace(card, horizons={**card.horizons, "settled": replace(card.horizons["settled"], open_stakes=0.1)})
        for card in found.cards
    )
    assert "% open" not in printed(replace(found, cards=few))


def test_pairs_are_the_likeliest_first() -> None:
    rows = block(printed(everything()), "Pairs by Brier score: the first less the second")
    expected = sorted(
        (pair for pair in everything().pairs if pair.metric == "brier"), key=lambda pair: pair.p_adjusted or 0.0
    )
    assert [row[:2] for row in rows] == [[pair.first, pair.second] for pair in expected]
    assert [row[4] for row in rows] == [f"{pair.p_adjusted:.3f}" for pair in expected]


def test_pairs_say_who_is_better_as_far_as_that_can_be_said() -> None:
    pairs = tuple(
        Pair(first, "b", "edge", 50, clusters, difference, -0.1, 0.2, p, p, 0.1, 0.05, 0.04)
        for first, clusters, difference, p in (("up", 40, 0.2, 0.01), ("down", 40, -0.2, 0.02), ("few", 29, 0.2, 0.03))
    )
    rows = block(
        printed(replace(everything(), pairs=pairs)), "Pairs by edge, in thousandths: the first less the second"
    )
    assert [(row[0], row[5]) for row in rows] == [("up", "the first"), ("down", "the second"), ("few", "too few yet")]


def test_pairs_on_a_narrow_screen_say_who_is_better_and_how_far_apart_they_may_be() -> None:
    text = printed(everything(), 60, Shown(table="pairs"))
    for header in text.splitlines():
        if header.startswith("first "):
            assert header.split() == ["first", "second", "95%", "interval", "better"]
    assert text.count("\nfirst ") == 2 and "corrected for all" not in text
    wide = printed(everything(), 120, Shown(table="pairs"))
    assert wide.count("corrected for all 3 pairs") == 2


def test_a_pair_that_never_decided_near_each_other_is_listed_with_the_reason() -> None:
    pairs = tuple(Pair("a", second, "edge", 0, 0, *[None] * 6, apart=n) for second, n in (("b", 3), ("c", 1), ("d", 0)))
    text = printed(replace(everything(), pairs=pairs), how=Shown(table="pairs"))
    rows = block(text, "Pairs by edge, in thousandths: the first less the second")
    assert [(row[0], row[1], row[5], row[7]) for row in rows] == [
        ("a", "b", "never near", "0"), ("a", "c", "never near", "0"),
    ]  # fmt: skip
    said = "Not compared: on up to 3 events both decided, but never within 6 hours of each other (2 pairs)."
    assert said in text


def test_how_many_more_events_a_pair_takes_goes_before_how_many_there_are() -> None:
    for width in range(60, 121, 5):
        text = printed(everything(), width, Shown(table="pairs"))
        for header in (line.split() for line in text.splitlines() if line.startswith("first ")):
            assert "more" not in header or {"n", "events"} <= set(header)
        assert ("more events: about" in " ".join(text.split())) is (" more events " in text)


def test_a_single_pair_is_corrected_for_no_others() -> None:
    text = printed(replace(everything(), pairs=everything().pairs[:1]), how=Shown(table="pairs"))
    assert "p: how easily luck gives as much. more events" in text


def test_on_a_narrow_screen_the_evidence_stays_that_the_verdict_rests_on() -> None:
    text = printed(everything(), 80, Shown(table="forecasts"))
    (header,) = (line for line in text.splitlines() if line.startswith("bot ") and "verdict" in line)
    assert " ".join(header.split()).startswith("bot edge 95% interval") and "E E worse" in " ".join(header.split())


def test_on_a_narrow_screen_the_cost_stays_among_the_decisions() -> None:
    cards = tuple(replace(card, clean=card.clean - 1, unknown=1, cost_usd=1.25) for card in everything().cards)
    text = printed(replace(everything(), cards=cards), 60, Shown(table="decisions"))
    (header,) = (line.split() for line in text.splitlines() if line.startswith("bot "))
    assert header[-1] == "cost" and "decisions" in header and text.count("$1.25") == len(cards)
    assert "no room for: clean" in text and "clean: " not in text


def test_of_many_rows_fifty_are_shown_and_it_is_said() -> None:
    pairs = tuple(Pair("a", f"b{n}", "brier", 50, 40, 0.1, 0.0, 0.2, 0.001 * n, 0.001 * n, 0.1) for n in range(60))
    found = replace(everything(), pairs=pairs[::-1])
    text, whole = printed(found, how=Shown(table="pairs")), printed(found, how=Shown(full=True))
    assert " b49 " in text and " b50 " not in text and " b59 " in whole
    assert "10 more rows; all of them: --all, --json or --csv --table pairs" in text
    assert "more rows" not in whole


def test_late_decisions_stand_beside_what_they_were() -> None:
    each = everything().delays[0]
    row = block(printed(everything()), "Carried out late: negative says that stale decisions hurt")[0]
    assert each.mean_return is not None and each.actual_mean_return is not None and each.difference is not None
    assert row[:6] == [
        each.bot, "1", "1 day", *(
            f"{100 * value:+.2f}%" for value in (each.mean_return, each.actual_mean_return, each.difference.estimate)
        ),
    ]  # fmt: skip


def test_bins_of_calibration_have_as_many_forecasts_as_there_are() -> None:
    rows = block(
        printed(everything(), how=Shown(table="calibration", every_row=True)),
        "Bins: of forecasts from .. to .., how many came true",
    )
    own = [int(row[2]) for row in rows if row[0] == BOTS[0]]
    assert sum(own) == everything().cards[0].forecast.n


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
    text = printed(everything(grouping), how=Shown())
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
