"""Boards side by side: what they share is compared, and nothing is added up."""

from dataclasses import replace

from predibot.reports.views.comparison import comparison_document, comparison_tables
from predibot.scoring.evaluation.comparison import compare
from predibot.scoring.evaluation.evaluation import Evaluation
from predibot.scoring.evaluation.forecast_score import ForecastScore
from predibot.scoring.evaluation.scorecard import Scorecard


def evaluation(briers: dict[str, float | None], *, baselines: tuple[str, ...] = ()) -> Evaluation:
    cards = [
        Scorecard(bot, forecast=ForecastScore(brier=brier), baseline=bot in baselines) for bot, brier in briers.items()
    ]
    return Evaluation(None, tuple(cards), ())


FOUR = {"a": 0.1, "b": 0.2, "c": 0.3, "d": 0.25}


def test_a_baseline_and_a_bot_of_one_board_are_in_no_correlation() -> None:
    other = {"a": 0.2, "b": 0.1, "c": 0.4, "d": 0.3, "only here": 0.1, "market_price": 0.1}
    one = evaluation({**FOUR, "market_price": 0.2}, baselines=("market_price",))
    found = compare([("x", one), ("y", evaluation(other))])
    (agreement,) = found.agreements
    assert (agreement.game, agreement.figure, agreement.one, agreement.other) == ("events", "brier", "x", "y")
    assert set(agreement.points) == set(FOUR) and agreement.found.n == 4
    document = comparison_document(found)
    rows = [(row["bot"], row["board"], row["brier"]) for row in document["side_by_side"]]  # type: ignore[attr-defined]
    assert rows[:2] == [("a", "x", 0.1), ("a", "y", 0.2)]
    assert ("only here", "y", 0.1) in rows and ("only here", "x", None) not in rows


def test_a_score_from_outside_is_set_beside_every_figure_also_of_a_baseline_it_names() -> None:
    scores = {"a": 1400.0, "b": 1300.0, "c": 1200.0, "market_price": 1100.0}
    board = evaluation({**FOUR, "market_price": 0.4}, baselines=("market_price",))
    found = compare([("x", board)], ("arena", scores))
    (agreement,) = found.agreements
    assert agreement.found.spearman.value == -1
    assert agreement.found.spearman.low is None
    (table,) = comparison_tables(found)
    assert table.rows[0][:5] == ("Brier", "events", "arena", "x", "4") and not table.below
    (table,) = comparison_tables(replace(found, agreements=(replace(agreement, figure="sharpe_7d"),)))
    assert "Sharpe of returns at the mid" in table.below[0]


def test_a_name_that_would_steer_a_screen_is_plain_text() -> None:
    evil = {"a\x1b[2J": 0.1, "b": 0.2}
    tables = list(comparison_tables(compare([("x\x07", evaluation(evil)), ("y", evaluation(evil))])))
    assert not [cell for table in tables for row in table.rows for cell in row if not cell.isprintable()]


def test_a_missing_figure_is_missing() -> None:
    found = compare([("x", evaluation({"a": None})), ("y", evaluation({"a": None}))])
    assert found.agreements == ()
    assert list(comparison_tables(found)) == []
