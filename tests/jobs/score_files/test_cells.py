"""Cells: what one place of somebody's table holds."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from predibot.jobs.score_files.cells import (
    Cell,
    CellRefused,
    amount_of,
    instant_of,
    payout_of,
    share_of,
    shown,
    text_of,
)


@pytest.mark.parametrize("cell", ["0.25", ".25", "25e-2", "+0.25", 0.25, Decimal("0.25")])
def test_a_share_is_read_from_text_and_number(cell: Cell) -> None:
    assert share_of("probability", cell) == 0.25


@pytest.mark.parametrize(
    "cell", ["25%", "0,25", "nan", "inf", "1.01", "-0.1", "0_1", "٠", "", "half", True, None, [0.1], 10**400, "1e999"]
)
def test_what_is_no_share_is_refused_with_what_was_seen(cell: Cell) -> None:
    with pytest.raises(CellRefused, match=r"^probability is .+; write a number from 0 to 1, such as 0\.7$") as refused:
        share_of("probability", cell)
    assert shown(cell) in str(refused.value)


def test_an_outcome_may_be_true_or_false_in_json_but_no_word() -> None:
    assert [payout_of("outcome", cell) for cell in (True, False, "1.0", 0, "0.5")] == [1.0, 0.0, 1.0, 0.0, 0.5]
    for word in ("yes", "True", "YES", "2"):
        with pytest.raises(CellRefused, match=f"outcome is '{word}'"):
            payout_of("outcome", word)


def test_an_amount_is_zero_or_what_somebody_could_have() -> None:
    assert [amount_of("value", cell) for cell in ("0", "1e3", 12)] == [0.0, 1000.0, 12.0]
    for cell in ("-1", "inf", "nan", "1,000", "$5", "1e300", 1e-300):
        with pytest.raises(CellRefused, match="write a number of zero or more"):
            amount_of("value", cell)


def test_a_date_is_its_midnight_in_utc_and_an_offset_is_taken_in() -> None:
    first, noon = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert [instant_of("date", cell) for cell in ("2026-03-01", date(2026, 3, 1), first)] == [first] * 3
    naive = noon.replace(tzinfo=None)
    assert [instant_of("date", cell) for cell in ("2026-03-01T13:00+01:00", naive)] == [noon] * 2
    for cell in ("soon", "03/01/2026", 20260301.0, None):
        with pytest.raises(CellRefused, match="write a date like 2026-03-01"):
            instant_of("date", cell)


def test_a_name_is_a_text_or_a_whole_number() -> None:
    assert [text_of("question", cell) for cell in ("q", 17)] == ["q", "17"]
    for cell in (None, 1.5, True, ["q"]):
        with pytest.raises(CellRefused, match=r"question is .*; write a text"):
            text_of("question", cell)


def test_what_is_shown_is_short_and_takes_no_time() -> None:
    assert shown(None) == "empty"
    assert shown(10**5000) == "a very large number"
    assert len(shown("x" * 10**6)) == 43
