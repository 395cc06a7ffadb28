"""Bounds: by which date, or above or below which number, a question asks."""

from datetime import date
from decimal import Decimal

import pytest

from predibot.related.coherence.bounds import cover_everything, date_bound, level_bound, span_of

ASKED = date(2025, 9, 1)


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("Israel strikes Iran by March 31, 2026?", date(2026, 3, 31)),
        ("Will Russia capture Kostyantynivka by December 31?", date(2025, 12, 31)),
        ("Will it happen before 2026?", date(2026, 1, 1)),
        ("Israel and Saudi Arabia normalize relations before April?", date(2026, 4, 1)),
        ("Will Trump visit China by end of February?", date(2026, 2, 1)),
        ('Will "Saltwater" be shown in Calderon by 2025-10-03?', date(2025, 10, 3)),
        ("Starmer out by 5 October?", date(2025, 10, 5)),
    ],
)
def test_a_date_is_read_with_the_year_it_was_asked_in(question: str, value: date) -> None:
    found = date_bound(question, ASKED)
    assert found is not None and (found.value, found.direction) == (value, 1)


@pytest.mark.parametrize(
    "question",
    [
        "Will she still be mayor by June 30, 2026?",
        "Will X be president by June 30, 2026?",
        "Will there be no ceasefire by June 30, 2026?",
        "Will Google have the best model by June 30, 2026?",
        "Will he remain in office through June 30, 2026?",
        "Will 4 Fed rate cuts happen by June 30, 2026?",
        "Will the index be above 40 by June 30, 2026?",
        "Will they meet by August 20?",
        "Will they meet by February 30?",
    ],
)
def test_what_may_end_or_has_no_sure_date_is_not_sure(question: str) -> None:
    found = date_bound(question, ASKED)
    assert found is not None and found.direction == 0


@pytest.mark.parametrize(
    "question",
    ["", "Will it rain?", "Trump out as President before GTA VI?", "Won by 2000 votes?", "A by June 1 or B by June 2?"],
)
def test_a_question_without_one_date_has_none(question: str) -> None:
    assert date_bound(question, ASKED) is None


@pytest.mark.parametrize(
    ("question", "value", "direction"),
    [
        ("Will BTC be above $100k on June 30, 2025?", "100000", -1),
        ("Will Bitcoin reach $140,000 by December 31, 2025?", "140000", -1),
        ("Will Gold close at $3,200 or more at the end of 2025?", "3200", -1),
        ("Will 8+ Fed rate cuts happen in 2025?", "8", -1),
        ("Will turnout be at least 61.5%?", "61.5", -1),
        ("MegaETH market cap (FDV) >$2B one day after launch?", "2000000000", -1),
        ("Will Gold (GC) hit (HIGH) $10,000 by end of February?", "10000", -1),
        ("Will Trump deport less than 250,000?", "250000", 1),
        ("Will Bitcoin dip to $75,000 by December 31, 2026?", "75000", 1),
        ("Will it be -5°C or lower?", "-5", 1),
        ("Will it be −0.5% or lower?", "-0.5", 1),
    ],
)
def test_a_number_is_read_with_its_side(question: str, value: str, direction: int) -> None:
    found = level_bound(question)
    assert found is not None and (found.value, found.direction) == (Decimal(value), direction)


@pytest.mark.parametrize(
    "question",
    [
        "Will Trump's approval rating hit 40% in 2025?",
        "Games Total: O/U 2.5",
        "Total Kills Over/Under 56.5 in Game 1?",
        "Will it not be above 40?",
        "Will it be no more than 40?",
        "Will it be the first to reach 40?",
    ],
)
def test_a_number_of_no_sure_side_is_not_sure(question: str) -> None:
    found = level_bound(question)
    assert found is not None and found.direction == 0


@pytest.mark.parametrize(
    "question", ["Will it be above 40 and below 50?", "Between 40 and 50?", "Game 5?", "40-50 seats?"]
)
def test_a_question_without_one_number_to_be_above_or_below_has_none(question: str) -> None:
    assert level_bound(question) is None


def test_ranges_that_follow_one_another_cover_everything() -> None:
    asked = ("less than $50b", "between $50-100b", "between $100-150b", "$150b or more")
    spans = [span_of(f"Will they cut {each} in 2025?") for each in asked]
    known = [each for each in spans if each is not None]
    assert len(known) == 4 and cover_everything(known) and cover_everything(known[::-1])
    for gone in range(4):
        assert not cover_everything([each for number, each in enumerate(known) if number != gone])
    assert not cover_everything([*known, known[1]]) and not cover_everything(known[:1]) and not cover_everything([])


def test_whole_numbers_may_leave_a_step_between_them() -> None:
    def covered(*said: str) -> bool:
        return cover_everything(
            [span for each in said if (span := span_of(f"Will she post {each} posts?")) is not None]
        )

    assert covered("under 280", "280-299", "300-319", "320+")
    assert not covered("under 280", "280-299", "305-319", "320+")
    assert covered("below 1.0", "1.0 to 1.4", "1.5 to 1.9", "2.0 or more")


@pytest.mark.parametrize(
    "text", ["2025-26 season?", "from November 11 to November 18?", "10-20 or 30-40?", "1-2-3?", "?"]
)
def test_what_is_no_range_has_no_span(text: str) -> None:
    assert span_of(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "by " * 5_000,
        "1-" * 5_000 + "?",
        "above " + "9" * 590,
        "by 99/99, 9999 by",
        "by January 5",
        "\U000f0000 by \U000f0001 above \U000f0000",
        "\x00\u202eabove \ud8005?",
        "above 1e999 or ≥≥≥ 5%%%%",
        "between 999,999,999,999,999,999,999t and 1?",
        "٣ or more than ٤",
    ],
)
def test_hostile_texts_are_read_or_not_and_never_fail(text: str) -> None:
    for found in (date_bound(text, ASKED), date_bound(text, date.max), level_bound(text), span_of(text)):
        assert found is None or repr(found)
