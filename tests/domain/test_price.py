"""Quotes: which of a venue's prices becomes the price of a decision."""

from datetime import UTC, datetime

import pytest

from predibot.domain.price import EntryPrice, Instrument, PricePath, PricePoint, Quote

NOW = datetime(2026, 2, 13, 19, 30, tzinfo=UTC)


def price_of(**prices: float) -> EntryPrice | None:
    return Quote(at=NOW, **prices).price


def test_a_narrow_book_is_priced_at_its_middle_and_a_crossed_one_has_none() -> None:
    assert price_of(bid=0.26, ask=0.28, displayed=0.9) == EntryPrice(0.27, "mid")
    # Ten cents are narrow.
    assert price_of(bid=0.45, ask=0.55) == EntryPrice(0.5, "mid")
    assert price_of(bid=0.6, ask=0.4, last=0.5) == EntryPrice(0.5, "last")
    assert price_of() is None


@pytest.mark.parametrize(
    "book",
    [{"bid": 0.2, "ask": 0.31}, {"bid": 0.0, "ask": 0.05}, {"bid": 0.95, "ask": 1.0}, {"bid": 0.2}, {"ask": 0.2}, {}],
)
def test_any_other_book_falls_to_the_displayed_price(book: dict[str, float]) -> None:
    assert price_of(**book, displayed=0.4, last=0.5) == EntryPrice(0.4, "displayed")


def test_a_price_of_nothing_or_everything_is_not_usable() -> None:
    assert not EntryPrice(0.0, "displayed").usable
    assert not EntryPrice(1.0, "displayed").usable
    assert EntryPrice(0.0005, "displayed").usable


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_quote_outside_zero_and_one_is_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="displayed is"):
        Quote(at=NOW, displayed=bad)


def test_a_path_that_runs_backwards_is_refused() -> None:
    points = (PricePoint(NOW, 0.5), PricePoint(NOW, 0.6))
    with pytest.raises(ValueError, match="order of time"):
        PricePath(Instrument("polymarket", "binary_outcome", "1"), points)
