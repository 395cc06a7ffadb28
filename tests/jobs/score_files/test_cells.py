"""Cells: what one place of somebody's table holds."""

from datetime import UTC, datetime

import pytest

from predibot.jobs.score_files.table import (
    Cell,
    InvalidCell,
    parse_amount,
    parse_cell_instant,
    parse_payout,
    parse_share,
    parse_text,
    show_cell,
)


@pytest.mark.parametrize("cell", ["0.25", ".25", "25e-2", "+0.25", 0.25])
def test_a_share_is_read_from_text_and_number(cell: Cell) -> None:
    assert parse_share("probability", cell) == 0.25


@pytest.mark.parametrize(
    "cell", ["25%", "0,25", "nan", "inf", "1.01", "-0.1", "0_1", "٠", "", "half", True, None, [0.1], 10**400, "1e999"]
)
def test_what_is_no_share_is_refused_with_what_was_seen(cell: Cell) -> None:
    with pytest.raises(InvalidCell, match=r"^probability is .+; write a number from 0 to 1, such as 0\.7$") as refused:
        parse_share("probability", cell)
    assert show_cell(cell) in str(refused.value)


def test_an_outcome_is_a_number_or_a_word_for_true_or_false_in_any_letters() -> None:
    assert [parse_payout("outcome", cell) for cell in (True, False, "1.0", 0, "0.5")] == [1.0, 0.0, 1.0, 0.0, 0.5]
    for true, false in (("True", "False"), ("TRUE", "FALSE"), ("yes", "no"), ("YES", "NO"), ("t", "f"), ("y", "N")):
        assert (parse_payout("outcome", true), parse_payout("outcome", false)) == (1.0, 0.0)
    for word in ("won", "maybe", "ja", "on", "2", "YES!", ""):
        with pytest.raises(InvalidCell, match=f"outcome is '{word}'"):
            parse_payout("outcome", word)


def test_an_amount_is_zero_or_what_somebody_could_have() -> None:
    assert [parse_amount("value", cell) for cell in ("0", "1e3", 12)] == [0.0, 1000.0, 12.0]
    for cell in ("-1", "inf", "nan", "1,000", "$5", "1e300", 1e-300):
        with pytest.raises(InvalidCell, match="write a number of zero or more"):
            parse_amount("value", cell)


# As writers of Python, pandas, R, PostgreSQL, Go, polars and Java have them.
@pytest.mark.parametrize(
    "cell",
    [
        "2026-03-01T13:00+01:00",
        "2026-03-01 12:00:00 UTC",
        "2026-03-01 12:00:00 gmt",
        "2026-03-01 12:00:00+00:00",
        "2026-03-01 12:00:00+00",
        "2026-03-01T12:00:00Z",
        "2026-03-01t12:00:00z",
        "2026-03-01T12:00:00.000Z",
        "2026-03-01 12:00:00.000000000",
        "2026-03-01 12:00:00 +0000 UTC",
        "2026-03-01 07:00:00 -0500",
        "2026-03-01T12:00:00.000000+0000",
        "2026-03-01 12:00",
        "2026-03-01T12:00Z[UTC]",
        "2026-03-01T12:00:00+00:00[Etc/UTC]",
    ],
)
def test_an_instant_is_read_as_other_programs_write_it(cell: str) -> None:
    assert parse_cell_instant("date", cell) == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_a_date_is_its_midnight_in_utc_and_what_could_be_two_instants_is_refused() -> None:
    assert [parse_cell_instant("date", cell) for cell in ("2026-03-01", "2026-03-01 UTC")] == [
        datetime(2026, 3, 1, tzinfo=UTC)
    ] * 2
    for cell in (
        "soon",
        "03/01/2026",
        "2026-03-01712",
        "2026-03-01-05",
        "2026-03-01T12:00:00." + "1" * 100,
        "2026-W09",
        "2026-03-01 12:00 +01:00 UTC",
        "2026-03-01 12:00 CET",
        "2026-03-01T12:00+01:00[UTC]",
        1772366400,
        None,
    ):
        with pytest.raises(InvalidCell, match="write a date like 2026-03-01") as refused:
            parse_cell_instant("date", cell)
        assert ("date_format='iso'" in str(refused.value)) == isinstance(cell, int)


def test_a_name_is_a_text_a_whole_number_or_a_list_of_them() -> None:
    assert [parse_text("question", cell) for cell in ("00123", 17, ["a", "007"])] == ["00123", "17", '["a", "007"]']
    for cell in (None, 1.5, True, [], [["q"]], {"a": 1}):
        with pytest.raises(InvalidCell, match=r"question is .*; write a text"):
            parse_text("question", cell)


def test_what_is_shown_is_short_and_takes_no_time() -> None:
    assert show_cell(None) == "missing"
    assert show_cell(10**5000) == "a very large number"
    assert len(show_cell("x" * 10**6)) == 43
