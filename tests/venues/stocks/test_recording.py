"""Recording stocks: what is missing is asked for, what is recorded stays, and every file is whole."""

import csv
import multiprocessing
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from predibot.errors import UsageError, VenueUnavailable
from predibot.venues.stocks.daily_prices import DayPrices, ProviderPrices
from predibot.venues.stocks.recording import RecordingResult, last_closed_day, list_tickers, missing_days, record_stock
from tests.soaks import few

SINCE = date(2026, 1, 5)
NOW = datetime(2026, 1, 16, 21, 5, tzinfo=UTC)


def day(on: date, close: float = 100.0, **changes: float) -> DayPrices:
    return replace(DayPrices(on, close, close + 1, close - 1, close, 1000, close, 0.0, 1.0), **changes)


def weekdays(first: date, last: date) -> list[date]:
    days = [first + timedelta(days=place) for place in range((last - first).days + 1)]
    return [each for each in days if each.weekday() < 5]


class Scripted:
    """A provider with a list of days, which remembers what it was asked."""

    name = "scripted"

    def __init__(self, days: list[DayPrices] | None = None) -> None:
        self.days = {each.on: each for each in days or [day(on) for on in weekdays(SINCE, date(2026, 2, 13))]}
        self.asked: list[tuple[str, date, date]] = []

    def prices(self, ticker: str, first: date, last: date) -> ProviderPrices:
        self.asked.append((ticker, first, last))
        return ProviderPrices(tuple(self.days[on] for on in sorted(self.days) if first <= on <= last))


def recorded(folder: Path, provider: Scripted, now: datetime = NOW) -> RecordingResult:
    return record_stock(folder, provider, "KO", since=SINCE, now=now)


def rows(folder: Path, name: str = "KO.csv") -> list[Mapping[str, str]]:
    with (folder / name).open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(
    ("now", "last"),
    [
        (datetime(2026, 1, 9, 20, 59, tzinfo=UTC), date(2026, 1, 8)),
        (datetime(2026, 1, 9, 21, 0, tzinfo=UTC), date(2026, 1, 9)),
        (datetime(2026, 1, 11, 12, 0, tzinfo=UTC), date(2026, 1, 9)),
        (datetime(2026, 1, 12, 20, 0, tzinfo=UTC), date(2026, 1, 9)),
    ],
)
def test_the_close_of_a_day_is_not_asked_for_before_it_is_known(now: datetime, last: date, tmp_path: Path) -> None:
    provider = Scripted()
    recorded(tmp_path, provider, now)
    assert last_closed_day(now) == last
    assert provider.asked == [("KO", SINCE, last)]
    assert rows(tmp_path)[-1]["date"] == str(last)


def test_a_second_call_asks_nothing_where_nothing_can_be_missing(tmp_path: Path) -> None:
    provider = Scripted()
    assert recorded(tmp_path, provider).rows == 10
    first = (tmp_path / "KO.csv").read_bytes()
    assert recorded(tmp_path, provider, NOW + timedelta(days=2)) == RecordingResult()
    assert len(provider.asked) == 1
    assert (tmp_path / "KO.csv").read_bytes() == first


def test_a_later_call_asks_for_the_days_since_and_a_week_before(tmp_path: Path) -> None:
    provider = Scripted()
    recorded(tmp_path, provider)
    assert recorded(tmp_path, provider, NOW + timedelta(days=14)).rows == 10
    assert provider.asked[1] == ("KO", date(2026, 1, 9), date(2026, 1, 30))


def test_many_calls_write_what_one_call_does(tmp_path: Path) -> None:
    days = [day(on, 100.0 + place) for place, on in enumerate(weekdays(SINCE, date(2026, 2, 13)))]
    provider = Scripted(days)
    (tmp_path / "once").mkdir()
    (tmp_path / "often").mkdir()
    recorded(tmp_path / "once", provider, NOW + timedelta(days=25))
    for after in range(26):
        recorded(tmp_path / "often", provider, NOW + timedelta(days=after))
    assert (tmp_path / "often/KO.csv").read_bytes() == (tmp_path / "once/KO.csv").read_bytes()


def test_a_day_that_comes_late_is_filled_in(tmp_path: Path) -> None:
    provider = Scripted()
    late = provider.days.pop(date(2026, 1, 14))
    recorded(tmp_path, provider)
    provider.days[late.on] = late
    assert recorded(tmp_path, provider, NOW + timedelta(days=3)).rows == 2
    assert [row["date"] for row in rows(tmp_path)] == [str(on) for on in weekdays(SINCE, date(2026, 1, 19))]


def test_a_close_that_is_stated_anew_is_a_sentence_and_no_change(tmp_path: Path) -> None:
    provider = Scripted()
    recorded(tmp_path, provider)
    for on in (date(2026, 1, 13), date(2026, 1, 15)):
        provider.days[on] = day(on, 101.5)
    notes = recorded(tmp_path, provider, NOW + timedelta(days=3)).notes
    assert notes == (
        "KO: the close of 2026-01-13 was recorded as 100 and is now stated as 101.5, and those of 1 more days are "
        "others too; what is recorded stays. To take the new ones, delete KO.csv and record again",
    )
    assert {row["close"] for row in rows(tmp_path)} == {"100"}


def test_a_split_writes_an_action_and_every_adjusted_close_anew(tmp_path: Path) -> None:
    provider = Scripted()
    recorded(tmp_path, provider)
    split_on = date(2026, 1, 19)
    for on, each in provider.days.items():
        after = on >= split_on
        provider.days[on] = replace(each, close=25.0 if after else 100.0, adjusted_close=25.0)
    provider.days[split_on] = replace(provider.days[split_on], split=4.0)
    said = recorded(tmp_path, provider, NOW + timedelta(days=4))
    assert (said.rows, said.actions, said.notes) == (2, 1, ())
    assert provider.asked[1:] == [("KO", date(2026, 1, 9), date(2026, 1, 20)), ("KO", SINCE, date(2026, 1, 20))]
    assert [row["close"] for row in rows(tmp_path)] == ["100"] * 10 + ["25"] * 2
    assert {row["adjusted_close"] for row in rows(tmp_path)} == {"25"}
    assert rows(tmp_path, "actions.csv") == [{"date": "2026-01-19", "ticker": "KO", "action": "split", "value": "4"}]


def test_a_split_that_comes_late_is_taken_with_every_adjusted_close(tmp_path: Path) -> None:
    provider = Scripted()
    recorded(tmp_path, provider)
    for on, each in provider.days.items():
        if on < date(2026, 1, 14):
            provider.days[on] = replace(each, adjusted_close=50.0)
    provider.days[date(2026, 1, 14)] = replace(provider.days[date(2026, 1, 14)], split=2.0)
    said = recorded(tmp_path, provider, NOW + timedelta(days=3))
    assert (said.rows, said.actions) == (1, 1)
    assert [row["adjusted_close"] for row in rows(tmp_path)] == ["50"] * 7 + ["100"] * 4
    # What is as it was is not asked for again.
    recorded(tmp_path, provider, NOW + timedelta(days=4))
    assert [first for _, first, _ in provider.asked] == [SINCE, date(2026, 1, 9), SINCE, date(2026, 1, 12)]


def test_actions_by_hand_stay_and_a_contradiction_is_said(tmp_path: Path) -> None:
    by_hand = "date,ticker,action,value\n2026-01-07,KO,dividend,0.5\n2026-01-09,ZZZ,delisting,\n"
    (tmp_path / "actions.csv").write_text(by_hand)
    provider = Scripted()
    provider.days[date(2026, 1, 7)] = day(date(2026, 1, 7), dividend_usd=0.51)
    said = recorded(tmp_path, provider)
    assert said.notes == (
        "KO: the dividend of 2026-01-07 was recorded as 0.5 and is now stated as 0.51; the recorded one stays",
    )
    assert (tmp_path / "actions.csv").read_text() == by_hand


def test_a_stock_that_says_no_more_is_said_to_be_quiet_until_its_delisting_is_written_down(tmp_path: Path) -> None:
    provider, later = (
        Scripted([day(on) for on in weekdays(SINCE, date(2026, 1, 9))]),
        datetime(2026, 1, 30, 22, tzinfo=UTC),
    )
    said = recorded(tmp_path, provider, later)
    assert said.rows == 5
    quiet = "no price is stated after 2026-01-09; if it was delisted, write a row of that into actions.csv"
    assert quiet in said.notes[0]
    (tmp_path / "actions.csv").write_text("date,ticker,action,value\n2026-01-12,KO,delisting,101\n")
    asked = len(provider.asked)
    assert recorded(tmp_path, provider, later + timedelta(days=3)) == RecordingResult()
    assert len(provider.asked) == asked


def test_a_day_that_most_others_have_is_missed(tmp_path: Path) -> None:
    for ticker in ("KO", "V", "WMT"):
        provider = Scripted()
        if ticker == "V":
            del provider.days[date(2026, 1, 8)], provider.days[date(2026, 1, 9)]
        record_stock(tmp_path, provider, ticker, since=SINCE, now=NOW)
    assert list_tickers(tmp_path) == ("KO", "V", "WMT")
    (note,) = missing_days(tmp_path, list_tickers(tmp_path))
    assert note.startswith("most others have a row where there is none of V on 2026-01-08 (2 in all): a halt, or")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("date,close\n", "no table with the columns date, open"),
        ("date,open,high,low,close,volume\n2026-01-05,1,1,1,0,1\n", "line 2, cannot be read: a close of 0"),
        ("date,open,high,low,close,volume\n2026-01-05,1,1,1,nan,1\n", "line 2, cannot be read: a close of 0"),
        ("date,open,high,low,close,volume\n2026-01-05,1,1,1\n", "no table with the columns date, open"),
        ("date,open,high,low,close,volume\nyesterday,1,1,1,1,1\n", "line 2, cannot be read: Invalid isoformat"),
        ("\x00\xff", "cannot be read"),
    ],
)
def test_a_file_that_is_none_of_ours_is_left_alone(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "KO.csv").write_text(text)
    with pytest.raises(UsageError, match=said):
        recorded(tmp_path, Scripted())
    assert (tmp_path / "KO.csv").read_text() == text


@pytest.mark.parametrize("ticker", ["../KO", "ko", "", "A" * 30, "actions"])
def test_what_names_no_file_is_no_ticker(tmp_path: Path, ticker: str) -> None:
    with pytest.raises(UsageError, match="is no ticker"):
        record_stock(tmp_path, Scripted(), ticker, since=SINCE, now=NOW)


def test_nothing_is_written_where_the_second_question_fails(tmp_path: Path) -> None:
    class Failing(Scripted):
        def prices(self, ticker: str, first: date, last: date) -> ProviderPrices:
            if len(self.asked) == 2:
                raise VenueUnavailable("gone")
            return super().prices(ticker, first, last)

    provider = Failing()
    recorded(tmp_path, provider)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    provider.days[date(2026, 1, 19)] = day(date(2026, 1, 19), dividend_usd=0.2)
    with pytest.raises(VenueUnavailable):
        recorded(tmp_path, provider, NOW + timedelta(days=4))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


YEARS = weekdays(date(2020, 1, 1), date(2026, 1, 16))


def provider_of_years() -> Scripted:
    paid = enumerate(YEARS)
    return Scripted([day(on, 50.0 + place % 7, dividend_usd=float(place % 50 == 9)) for place, on in paid])


def _record_for_ever(folder: Path) -> None:
    provider = provider_of_years()
    for on in YEARS[10:]:
        record_stock(folder, provider, "KO", since=YEARS[0], now=datetime(on.year, on.month, on.day, 22, tzinfo=UTC))


@pytest.mark.parametrize("seconds", few([0.1, 0.23, 0.41, 0.62, 0.9], 0.23))
def test_a_kill_leaves_whole_files_that_the_next_call_goes_on_from(tmp_path: Path, seconds: float) -> None:
    process = multiprocessing.get_context("spawn").Process(target=_record_for_ever, args=(tmp_path,))
    process.start()
    while not (tmp_path / "KO.csv").exists():
        process.join(0.01)
    process.join(seconds)
    process.kill()
    process.join()
    killed = rows(tmp_path)
    assert [row["date"] for row in killed] == [str(on) for on in YEARS[: len(killed)]]
    (tmp_path / "whole").mkdir()
    for folder in (tmp_path, tmp_path / "whole"):
        record_stock(folder, provider_of_years(), "KO", since=YEARS[0], now=NOW)
    for name in ("KO.csv", "actions.csv"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
