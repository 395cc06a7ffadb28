"""Notes: what a reader of scorecards must know, in plain sentences."""

from collections.abc import Mapping, Sequence

import pytest

from predibot.scoring import notes, scorecards
from tests.scoring.made_records import NAN, Bet, Made, Paid, Seen, record_of


def notes_of(
    made: Sequence[Made], *, as_of: float, seen: Sequence[Seen] = (), paid: Mapping[int, Paid] | None = None
) -> str:
    record = record_of(made, as_of=as_of, seen=seen, paid=paid)
    return "\n".join(notes(record, scorecards(record)))


def test_a_record_that_misses_nothing_has_no_notes() -> None:
    seen = [Seen(0, day, 0.5) for day in (1, 2, 7)]
    assert notes_of([Made(bets=(Bet(0),))], as_of=9, seen=seen, paid={0: Paid(8, 1.0)}) == ""


def test_a_horizon_that_has_not_passed_is_said() -> None:
    text = notes_of([Made(bets=(Bet(0),))], as_of=6, seen=[Seen(0, day, 0.5) for day in (1, 2)])
    assert text.splitlines() == [
        "Markets asked that have neither paid nor a price: bot 1; no edge counts them.",
        "Decisions made less than 7 days ago: bot 1; this horizon has not passed for them.",
        "Decisions without a price now: bot 1; they have no value there.",
        "Decisions with money on a market that is not settled: bot 1.",
        "More than 10% of the dollars are on markets that are not settled: bot 100%; what settles early is no fair "
        "sample, so nobody is called better by it.",
    ]


def test_decisions_without_a_price_are_counted_by_bot() -> None:
    made = [Made("a", bets=(Bet(0),)), Made("a", bets=(Bet(1),)), Made("b", bets=(Bet(1),))]
    text = notes_of(made, as_of=1, seen=[Seen(0, 1, 0.5)])
    assert "Decisions without a price 1 day after: a 1, b 1; they have no value there." in text


def test_refused_failed_and_abstained_decisions_are_counted() -> None:
    text = notes_of([Made("a", status="refused"), Made("b", status="failed"), Made("b", status="abstained")], as_of=9)
    for start in ("Decisions refused: a 1;", "Decisions failed: b 1;", "Decisions abstained: b 1;"):
        assert start in text


def test_void_markets_unknown_costs_and_later_decisions_are_said() -> None:
    made = [Made(bets=(Bet(0, probability=0.5),), cost_usd=NAN), Made(at=20)]
    text = notes_of(made, as_of=9, paid={0: Paid(1, 0.5)})
    assert "Forecasts on markets that paid neither 0 nor 1: bot 1;" in text
    assert "The cost of some decisions is not known: bot;" in text
    assert "1 decision made after the instant of this evaluation: left out." in text


def test_decisions_with_money_and_no_book_are_counted_where_others_have_one() -> None:
    booked, nothing = Bet(0, 1.0, 0.5, bid=0.48, ask=0.52), Bet(0, 0.0)
    made = [Made("a", bets=(booked,)), Made("b", bets=(Bet(0),)), Made("b", bets=(nothing,))]
    said = (
        "Decisions with a bet that the order book did not offer, or that is open where one side of the book is empty: "
        "b 1; no return at the quote counts them."
    )
    assert said in notes_of(made, as_of=1, seen=[Seen(0, 1, 0.6)]).splitlines()
    assert "order book" not in notes_of(made[1:2], as_of=1, seen=[Seen(0, 1, 0.6)])


def test_a_baseline_with_fewer_values_is_said() -> None:
    made = [Made(bets=(Bet(0, 0.5), Bet(1, 0.0)))]
    text = notes_of(made, as_of=1, seen=[Seen(0, 1, 0.6)])
    assert (
        "Decisions with a return 1 day after, on which market_price has none because a price is missing: bot 1." in text
    )


@pytest.mark.parametrize(("second_at", "overlap"), [(1, "2 days and 7 days"), (2, "7 days"), (7, None), (0.5, None)])
def test_overlapping_returns_are_said(second_at: float, overlap: str | None) -> None:
    text = notes_of([Made(at=0, bets=(Bet(0),)), Made(at=second_at, bets=(Bet(0),))], as_of=30)
    assert ("overlap" in text) == (overlap is not None)
    assert overlap is None or f"Returns over {overlap} overlap" in text


def test_dates_of_different_bots_do_not_overlap() -> None:
    assert "overlap" not in notes_of([Made("a", at=0), Made("b", at=1)], as_of=30)


def test_scorecards_of_other_bots_are_refused() -> None:
    record = record_of([Made("a")], as_of=1)
    with pytest.raises(ValueError, match="the scorecards are of nobody, the record is of a"):
        notes(record, ())


def test_bets_below_the_least_limit_order_are_counted_in_shares_of_their_side() -> None:
    # $1 is 4 shares of YES at .25, 5 of NO at .8, and 2 of a market whose venue says nothing.
    bets = (Bet(0, 1.0, 0.25, least_shares=5.0), Bet(1, -1.0, 0.8, least_shares=5.0), Bet(2, 1.0, 0.5), Bet(3, 0.0))
    assert "1 bet of fewer shares than the venue's least limit order: " in notes_of([Made(bets=bets)], as_of=1)
    assert "limit order" not in notes_of([Made(bets=bets[1:])], as_of=1)
