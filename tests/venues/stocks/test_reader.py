"""A folder of stocks as a venue: what is a price, what is none and which sentence says so."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from predibot.domain.price import EQUITY, CorporateAction, Instrument, PricePoint, adjust_points
from predibot.errors import UsageError, VenueChanged
from predibot.venues.stocks.folder import read_folder
from predibot.venues.stocks.past import StockPast, StockVenue

HEAD = "date,open,high,low,close,volume,adjusted_close"
FIVE = ("2026-01-05", "2026-01-06", "2026-01-07", "2026-01-08", "2026-01-09")


def write(folder: Path, *, actions: str = "", **closes: str) -> StockVenue:
    """Write closes by ticker, as `date=close` parted by spaces, and read the folder."""
    for ticker, rows in closes.items():
        lines = [f"{on},1,1,1,{price},1,{price}" for on, price in (row.split("=") for row in rows.split())]
        (folder / f"{ticker}.csv").write_text("\n".join([HEAD, *lines]) + "\n")
    (folder / "actions.csv").write_text(f"date,ticker,action,value\n{actions}")
    return StockVenue(read_folder(folder))


def rows(*closes: float, days: tuple[str, ...] = FIVE) -> str:
    return " ".join(f"{on}={close}" for on, close in zip(days, closes, strict=False))


def at(day: int, hour: int = 21, minute: int = 0) -> datetime:
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC)


def share(ticker: str) -> Instrument:
    return Instrument("stocks", EQUITY, ticker)


def path_of(venue: StockVenue, ticker: str, until: datetime | None = None) -> list[tuple[int, float]]:
    points = venue.price_path(share(ticker), start=at(1), until=until or at(31)).points
    return [(point.at.day, point.price) for point in points]


def test_a_close_is_known_from_nine_in_the_evening_of_its_date(tmp_path: Path) -> None:
    venue = write(tmp_path, AAA=rows(1, 2, 3))
    before, after = at(6, 20, 59), at(6)
    assert path_of(venue, "AAA", before) == [(5, 1.0)]
    assert path_of(venue, "AAA", after) == [(5, 1.0), (6, 2.0)]
    assert venue.last_closes([share("AAA")], before)[share("AAA")].mid == 1.0
    assert venue.last_closes([share("AAA")], after)[share("AAA")].at == at(6)
    assert venue.closes(start=at(5), until=at(7, 12)) == (at(6),)
    assert venue.events(at(5, 20)).events == ()
    eastern = (at(6) - timedelta(minutes=1)).astimezone(UTC)
    assert venue.event("AAA", eastern).markets[0].quote.last == 1.0  # type: ignore[union-attr]


def test_days_that_are_none_of_most_stocks_are_no_trading_days(tmp_path: Path) -> None:
    stray = f"{rows(1, 2)} 2026-01-10=9"
    venue = write(tmp_path, AAA=stray, BBB=rows(1, 2), CCC=rows(1, 2))
    assert path_of(venue, "AAA") == [(5, 1.0), (6, 2.0)]
    assert venue.events(at(31)).notes == ()
    past = StockPast("stocks:x", venue.folder)
    assert [past.is_session(at(day)) for day in (5, 6, 10)] == [True, True, False]
    more = write(tmp_path, AAA=stray, BBB=f"{rows(1, 2)} 2026-01-12=3", CCC=f"{rows(1, 2)} 2026-01-12=3")
    assert [note.partition(":")[0] for note in more.events(at(31)).notes if "fewer than half" in note] == ["2026-01-10"]


@pytest.mark.parametrize(
    ("closes", "kept", "note"),
    [
        ("2026-01-05=1 2026-01-07=3 2026-01-06=2", [5, 6, 7], "AAA: 2026-01-06 stands behind 2026-01-07"),
        ("2026-01-05=1 2026-01-06=2 2026-01-06=2 2026-01-07=3", [5, 6, 7], "AAA: 2026-01-06 stands there twice"),
        ("2026-01-05=1 2026-01-06=2 2026-01-06=4 2026-01-07=3", [5, 7], "AAA: 2026-01-06 has two closes"),
        ("2026-01-05=1 2026-01-06=2", [5, 6], "AAA has no close of 2026-01-07: a halt, or a late file"),
    ],
)
def test_what_is_wrong_with_a_file_has_an_outcome_and_a_sentence(
    closes: str, kept: list[int], note: str, tmp_path: Path
) -> None:
    venue = write(tmp_path, AAA=closes, BBB=rows(1, 2, 3), CCC=rows(1, 2, 3))
    assert [day for day, _ in path_of(venue, "AAA")] == kept
    assert any(said.startswith(note) for said in venue.events(at(7)).notes)
    assert not any("2026-01-07" in said for said in venue.events(at(6)).notes if "behind" not in said)


def test_a_split_that_nobody_wrote_down_is_seen_in_the_adjusted_closes(tmp_path: Path) -> None:
    (tmp_path / "AAA.csv").write_text(f"{HEAD}\n2026-01-05,1,1,1,100,1,25\n2026-01-06,1,1,1,25,1,25\n")
    (tmp_path / "actions.csv").write_text("date,ticker,action,value\n")
    (note,) = StockVenue(read_folder(tmp_path)).events(at(6)).notes
    assert note == "AAA: the adjusted closes step otherwise on 2026-01-06 than the closes; an action may be missing"
    (tmp_path / "actions.csv").write_text("date,ticker,action,value\n2026-01-06,AAA,split,4\n")
    assert StockVenue(read_folder(tmp_path)).events(at(6)).notes == ()


def test_company_sector_and_the_shares_of_each_day_are_read_where_they_are_stated(tmp_path: Path) -> None:
    (tmp_path / "sectors.csv").write_text("ticker,sector,name\nAAA,Energy,Aardvark Oil\n")
    write(tmp_path, BBB=rows(1, 2, 3), actions="2026-01-06,AAA,split,4\n")
    (tmp_path / "AAA.csv").write_text(
        f"{HEAD}\n2026-01-05,1,1,1,8,1000,2\n2026-01-06,1,1,1,2,-5,2\n2026-01-07,1,1,1,3,1e40,3\n"
    )
    venue = StockVenue(read_folder(tmp_path))
    event = venue.event("AAA", at(7))
    assert (event.markets[0].description, event.tags[0].label) == ("Aardvark Oil", "Energy")
    points = venue.price_path(share("AAA"), start=at(1), until=at(7)).points
    assert [point.volume_shares for point in points] == [1000.0, None, None]
    done = venue.actions(share("AAA"), start=at(1), until=at(7))
    # In shares after the split there are four times as many.
    assert adjust_points(points, done, until=at(7))[0] == PricePoint(at(5), 2.0, 4000.0)


def test_a_delisted_stock_has_no_price_from_then_on_and_can_still_be_asked_for(tmp_path: Path) -> None:
    venue = write(tmp_path, AAA=rows(1, 2), BBB=rows(1, 2, 3), actions="2026-01-07,AAA,delisting,\n")
    assert venue.event("AAA", at(6)).closed is False
    gone = venue.event("AAA", at(7))
    assert (gone.closed, gone.markets[0].quote) == (True, None)
    assert venue.last_closes([share("AAA"), share("BBB")], at(7)).keys() == {share("BBB")}
    assert venue.events(at(7)).notes == ()


def test_a_folder_or_a_table_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has no file such as"):
        read_folder(tmp_path)
    (tmp_path / "AAA.csv").write_text("day,price\n2026-01-05,1\n")
    with pytest.raises(VenueChanged, match="no columns date and close"):
        read_folder(tmp_path)


def test_history_is_in_shares_of_now_and_knows_nothing_of_later_actions() -> None:
    points = tuple(PricePoint(at(day), price) for day, price in ((5, 100.0), (6, 104.0), (7, 27.0), (8, 26.0)))
    actions = [CorporateAction("split", at(7), 4.0), CorporateAction("dividend", at(8), 1.35)]
    assert adjust_points(points[:2], actions, until=at(6)) == points[:2]
    assert [each.price for each in adjust_points(points[:3], actions, until=at(7))] == [25.0, 26.0, 27.0]
    paid = [each.price for each in adjust_points(points, actions, until=at(8))]
    assert paid == pytest.approx([25.0 * 0.95, 26.0 * 0.95, 27.0 * 0.95, 26.0])


def test_a_dividend_after_a_split_in_a_halt_is_of_the_new_shares() -> None:
    points = (PricePoint(at(5), 100.0), PricePoint(at(9), 24.0))
    actions = [CorporateAction("split", at(6), 4.0), CorporateAction("dividend", at(7), 1.0)]
    assert [each.price for each in adjust_points(points, actions, until=at(9))] == pytest.approx([24.0, 24.0])


def test_a_cut_answers_as_the_whole_does_up_to_its_instant(tmp_path: Path) -> None:
    venue = write(tmp_path, AAA=rows(1, 2, 3), BBB=rows(4, 5, 6), actions="2026-01-07,AAA,split,2\n")
    with StockPast(f"stocks:{tmp_path}", venue.folder).cut_at(at(7, 20)) as cut:
        assert cut.venue.events(at(7, 20)).events == venue.events(at(7, 20)).events
        assert cut.venue.price_path(share("AAA"), start=at(1), until=at(31)).points[-1].at == at(6)
        assert cut.venue.actions(share("AAA"), start=at(1), until=at(31)) == ()  # type: ignore[attr-defined]
