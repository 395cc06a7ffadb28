"""Columns: each is described once, and every report has it."""

from dataclasses import replace

from predibot.reports import figures
from predibot.reports.table import Column, document, table_of, value_of
from predibot.reports.terminal.evaluation_screen import ScreenOptions as Screen
from predibot.reports.views.columns import (
    CARD,
    COLUMNS,
    COUNTS,
    CSV_EVIDENCE,
    CSV_HORIZON,
    CSV_PLACE,
    EDGE,
    FORECAST,
    HORIZON,
    score_document,
)
from predibot.scoring.records.knowledge import KNOWLEDGE
from tests.reports.made_evaluation import made_evaluation
from tests.reports.terminal.test_evaluation_grids import printed
from tests.reports.views_of import horizon

IN_NO_TABLE = {
    # Counts behind a number beside them, or behind one that is its own reason.
    "n", "n_brier", "n_confidence", "n_market", "counted", "unpriced", "cost_known_usd", "days",
    # Said where they differ by much, or in another way.
    "by_event", "brier_by_event", "mean_return_by_event", "quote_mean_return_by_event", "open_stakes", "calibration",
    "market_log_score", "e_value", "e_value_worse", "p_value_any_day", "answered_share", "baseline", "rank", "bot",
    "horizon", "events", "standing", "e_now", "slots", "board_slots", "board_n", "repeats_price", "distance",
}  # fmt: skip


def test_a_terminal_shows_each_metric_and_says_what_its_header_means() -> None:
    how = replace(Screen(), explain=True)
    text = " ".join((printed(made_evaluation(None), 250) + printed(made_evaluation(None), 250, how)).split())
    always = [each for columns in COLUMNS.values() for each in columns if not each.only_with]
    # What models can have known is told apart where there are any.
    for each in (each for each in always if each.header not in KNOWLEDGE):
        assert each.header.format(days=7) in text and each.meaning in text, each
    shown = {part for columns in COLUMNS.values() for each in columns for part in each.of.split(".")}
    written = {"e_value_largest", "e_value_worse_largest", "murphy"}
    named = " ".join((CARD, FORECAST, EDGE, HORIZON, COUNTS, CSV_EVIDENCE, CSV_PLACE))
    metrics = {each.partition("=")[0] for each in named.split()}
    assert metrics - shown - written <= IN_NO_TABLE


def test_a_metric_that_is_described_stands_in_every_report() -> None:
    score = horizon(7, 0.1, 4)
    assert score_document(score, f"{HORIZON} n_unpriced")["n_unpriced"] == 6
    assert document(score, f"{CSV_HORIZON} n_unpriced")["n_unpriced"] == 6
    shown = Column("unpriced", "score.n_unpriced", figures.count, meaning="decisions without a value")
    grid = table_of("Returns", (*COLUMNS["returns"], shown), [{"score": score}])
    assert (grid.columns[-1].header, grid.rows[0][-1]) == ("unpriced", "6")
    assert grid.legend_lines()[0].endswith("unpriced: decisions without a value.")


def test_a_value_lies_at_a_path_and_none_is_none() -> None:
    assert value_of({"a": (1, {"b": 2})}, "a.1.b") == 2
    assert value_of({"a": None}, "a.b.c") is None
