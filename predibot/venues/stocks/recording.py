"""Recording stocks: a provider's daily prices, merged into a folder of CSV files.

Every file is written under another name and renamed when it is whole, actions before their prices, so that the next
call goes on after a kill anywhere. What is recorded stays: a close that the provider restates becomes a note. One
writer at a time: two would overwrite each other's actions.
"""

import csv
import fcntl
import io
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from predibot.contracts import Progress, ProgressListener
from predibot.errors import UsageError, VenueError, VenueUnavailable
from predibot.plain_file import names_in, plain_text
from predibot.sandbox.stocks.companies import TICKER, known_company
from predibot.sandbox.stocks.folder import (
    ACTION_COLUMNS,
    ACTIONS_FILE,
    PRICE_COLUMNS,
    SECTOR_COLUMNS,
    SECTORS_FILE,
    write_table,
)
from predibot.venues.stocks.daily_prices import Company, DayPrices, PriceProvider, TickerUnknown

CLOSED_HOUR = 21
"""When the close of a day is known, in UTC."""
RECHECKED_DAYS = 7
"""So many recorded days are requested again, to see late and restated ones."""
QUIET_DAYS = 10
"""A stock without prices for longer gets a note."""
SHOWN_STOCKS = 5
MAX_STOCK_FILES = 10_000
"""The United States list about 6,000 stocks."""
MAX_TABLE_BYTES = 50_000_000
SAME_SHARE = 1e-6
"""Two closes that differ by less of their size are the same."""

_LOCK_FILE = ".recording"

_Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class RecordingResult:
    """The notes on recorded stocks, and how many rows and actions are new."""

    rows: int = 0
    actions: int = 0
    notes: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """A sentence on each stock that could not be read."""
    tickers: tuple[str, ...] = ()
    """Those that were asked for."""


def check_ticker(ticker: str) -> str:
    """Return a ticker that can also name a file; raise `UsageError` if it is none."""
    if not TICKER.fullmatch(ticker):
        raise UsageError(f"{ticker[:40]!r} is no ticker; write one as AAPL or BRK-B")
    return ticker


def list_tickers(folder: Path) -> tuple[str, ...]:
    """Return a folder's stocks in alphabetical order; raise `UsageError` if it is unreadable, or has too many files."""
    try:
        names = names_in(folder, MAX_STOCK_FILES)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise UsageError(f"{folder} cannot be read: {error.strerror}; keep in it what is played") from None
    return tuple(
        sorted(name.stem for name in map(Path, names) if name.suffix == ".csv" and TICKER.fullmatch(name.stem))
    )


def last_closed_day(now: datetime) -> date:
    """Return the last weekday whose close is known by an instant.

    Examples:
        >>> str(last_closed_day(datetime(2026, 1, 5, 20, 59, tzinfo=UTC)))
        '2026-01-02'
    """
    at = now.astimezone(UTC)
    day = at.date() if at.hour >= CLOSED_HOUR else at.date() - timedelta(days=1)
    return day - timedelta(days=max(0, day.weekday() - 4))


def record_stocks(
    folder: Path,
    provider: PriceProvider,
    tickers: Sequence[str],
    *,
    since: date,
    now: datetime,
    listener: ProgressListener,
) -> RecordingResult:
    """Add the missing prices of stocks to a folder, one after the other, and the companies it does not know.

    It waits for another process that records into the same folder. Raises `UsageError` if the folder cannot be written,
    or the key is refused.
    """
    rows, actions, notes, failures = 0, 0, list[str](), list[str]()
    with _lock(folder):
        for done, ticker in enumerate(tickers):
            listener(Progress("record", done, len(tickers), f"prices of {ticker}"))
            try:
                recorded = record_stock(folder, provider, ticker, since=since, now=now)
            except TickerUnknown as error:
                failures.append(str(error))
            except VenueUnavailable as error:
                # The provider would answer the same for the other stocks.
                failures.append(f"{ticker}: {error}")
                failures += [f"{left}: it was not asked for any more" for left in tickers[done + 1 :]]
                break
            except VenueError as error:
                failures.append(f"{ticker}: {error}")
            else:
                rows, actions = rows + recorded.rows, actions + recorded.actions
                notes += recorded.notes
        if not failures:
            notes += _record_companies(folder, provider, tickers)
    return RecordingResult(rows, actions, tuple(notes), tuple(failures), tuple(tickers))


def _record_companies(folder: Path, provider: PriceProvider, tickers: Sequence[str]) -> list[str]:
    """Write the companies that the folder does not know yet; return notes on those that could not be read."""
    stored = [row for _, row in _read_table(folder / SECTORS_FILE, SECTOR_COLUMNS[:2])]
    missing = [ticker for ticker in tickers if ticker not in {row["ticker"] for row in stored}]
    found, notes = dict[str, Company](), list[str]()
    for ticker in missing:
        found[ticker] = Company(*known_company(ticker))
        if not found[ticker].name:
            try:
                found[ticker] = provider.company(ticker)
            except VenueUnavailable as error:
                del found[ticker]
                notes.append(f"{ticker}: its company is not known yet: {error}")
                break
            except VenueError as error:
                # Asked only once: the provider does not know it.
                notes.append(f"{ticker}: its company is not known: {error}")
    rows = [*stored, *({"ticker": each, "sector": of.sector, "name": of.name} for each, of in found.items())]
    if found:
        _write_table(folder / SECTORS_FILE, SECTOR_COLUMNS, rows)
    return notes


@contextmanager
def _lock(folder: Path) -> Iterator[None]:
    """Make a folder where there is none, and wait until nobody else records into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / _LOCK_FILE).open("a")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error}; name a folder that can") from error
    with file:
        # Some network disks have no locks.
        with suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def record_stock(folder: Path, provider: PriceProvider, ticker: str, *, since: date, now: datetime) -> RecordingResult:
    """Add the missing prices of a stock to an existing folder; makes no request where none can be missing.

    A stock that is new to the folder begins at `since`. Only days whose close is known by `now` are requested. Raises
    `UsageError` if a file of the folder cannot be read or written, and `VenueError` if the provider fails; then nothing
    was written.
    """
    path = folder / f"{check_ticker(ticker)}.csv"
    stored = _read_rows(path)
    first, last = min(stored, default=since), last_closed_day(now)
    known_until = max(stored, default=None)
    if since > last or (known_until is not None and known_until >= last):
        return RecordingResult()
    if any(
        (row["ticker"], row["action"]) == (ticker, "delisting")
        for _, row in _read_table(folder / ACTIONS_FILE, ACTION_COLUMNS)
    ):
        return RecordingResult()
    start = since if known_until is None else max(first, known_until - timedelta(days=RECHECKED_DAYS))
    read = provider.prices(ticker, start, last)
    fresh = [day for day in read.days if day.on not in stored]
    if stored and (_is_readjusted(stored, read.days) or any(day.split != 1.0 or day.dividend_usd for day in fresh)):
        # All earlier adjusted closes change, and a split or a dividend may have come late.
        read = provider.prices(ticker, first, last)
        fresh = [day for day in read.days if day.on not in stored]
    notes = [*read.notes, *_note_restated(path, stored, read.days)]
    actions, action_notes = _merge_actions(folder, ticker, read.days)
    adjusted = {day.on: _number_text(day.adjusted_close) for day in read.days}
    merged = {
        **{on: {**row, "adjusted_close": adjusted.get(on, row["adjusted_close"])} for on, row in stored.items()},
        **{day.on: _price_row(day) for day in fresh},
    }
    newest = max(merged, default=None)
    if newest is None:
        notes.append(f"the provider states no price from {start} to {last}")
    elif last - newest > timedelta(days=QUIET_DAYS):
        notes.append(
            f"no price is stated after {newest}; if it was delisted, write a row of that into {ACTIONS_FILE} by hand"
        )
    if merged != stored:
        _write_table(path, PRICE_COLUMNS, (merged[on] for on in sorted(merged)))
    return RecordingResult(len(fresh), actions, tuple(f"{ticker}: {note}" for note in (*notes, *action_notes)))


def missing_days(folder: Path, tickers: Sequence[str]) -> list[str]:
    """Return a note on stocks without a row on days on which most of these have one, if any.

    Only days between a stock's first and last count: earlier it was not listed, and later ones may be late.
    """
    days = {ticker: set(_read_rows(folder / f"{ticker}.csv")) for ticker in tickers}
    counts = Counter(on for found in days.values() for on in found)
    usual = {on for on, count in counts.items() if 2 * count > len(days)}
    lost = {
        ticker: sorted(on for on in usual - found if min(found) < on < max(found))
        for ticker, found in days.items()
        if found
    }
    shown = [f"{ticker} on {found[0]} ({len(found)} in all)" for ticker, found in lost.items() if found]
    if not shown:
        return []
    more = f", and {len(shown) - SHOWN_STOCKS} more stocks" if len(shown) > SHOWN_STOCKS else ""
    stocks = ", ".join(shown[:SHOWN_STOCKS])
    return [f"most others have a row where there is none of {stocks}{more}: a halt, or a hole of the provider"]


def _read_rows(path: Path) -> dict[date, _Row]:
    stored: dict[date, _Row] = {}
    for line, row in _read_table(path, PRICE_COLUMNS[:-1]):
        try:
            on = date.fromisoformat(row["date"])
            if not float(row["close"]) > 0.0 or on in stored:
                raise ValueError("a close of 0, or a date for the second time")
        except ValueError as error:
            raise UsageError(f"{path}, line {line}, cannot be read: {error}; fix it, or delete the file") from None
        stored[on] = {"adjusted_close": "", **row}
    return stored


def _note_restated(path: Path, stored: Mapping[date, _Row], days: Iterable[DayPrices]) -> list[str]:
    found = [
        (day.on, recorded, day.close)
        for day in days
        if day.on in stored and abs((recorded := float(stored[day.on]["close"])) - day.close) > SAME_SHARE * recorded
    ]
    if not found:
        return []
    on, recorded, now = found[0]
    several = f", and those of {len(found) - 1} more days are others too" if len(found) > 1 else ""
    return [
        f"the close of {on} was recorded as {recorded:g} and is now stated as {now:g}{several}; what is recorded "
        f"stays. To take the new ones, delete {path.name} and record again"
    ]


def _is_readjusted(stored: Mapping[date, _Row], days: Iterable[DayPrices]) -> bool:
    """Return whether an adjusted close changed, or was not recorded."""
    return any(
        day.on in stored and stored[day.on]["adjusted_close"] != _number_text(day.adjusted_close) for day in days
    )


def _merge_actions(folder: Path, ticker: str, days: Iterable[DayPrices]) -> tuple[int, list[str]]:
    """Write new splits and dividends; return their number, and notes on those that contradict recorded ones."""
    path = folder / ACTIONS_FILE
    rows = [row for _, row in _read_table(path, ACTION_COLUMNS)]
    stored = {(row["date"], row["action"]): row["value"] for row in rows if row["ticker"] == ticker}
    stated = [
        (str(day.on), kind, _number_text(value))
        for day in days
        for kind, value, none in (("split", day.split, 1.0), ("dividend", day.dividend_usd, 0.0))
        if value != none
    ]
    fresh = [each for each in stated if each[:2] not in stored]
    # An empty file states that there are none.
    if fresh or not path.exists():
        rows += [{"date": on, "ticker": ticker, "action": kind, "value": value} for on, kind, value in fresh]
        _write_table(path, ACTION_COLUMNS, sorted(rows, key=lambda row: (row["date"], row["ticker"], row["action"])))
    return len(fresh), [
        f"the {kind} of {on} was recorded as {stored[on, kind]} and is now stated as {value}; the recorded one stays"
        for on, kind, value in stated
        if (on, kind) in stored and stored[on, kind] != value
    ]


def _price_row(day: DayPrices) -> _Row:
    numbers = (day.open, day.high, day.low, day.close, day.volume, day.adjusted_close)
    return dict(zip(PRICE_COLUMNS, (str(day.on), *map(_number_text, numbers)), strict=True))


def _number_text(number: float) -> str:
    return f"{number:.10g}" if abs(number) < 1e10 else f"{number:.0f}"


def read_csv(path: Path) -> tuple[Sequence[str], list[tuple[int, _Row]]] | None:
    """Return a table's columns, and its rows with their lines; None where there is no file. A cell too many stands
    under None, a missing one is None. Raises `UsageError` if it cannot be read.
    """
    try:
        text = plain_text(path, MAX_TABLE_BYTES, encoding="utf-8-sig")
        table = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = [(table.line_num, row) for row in table]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, csv.Error) as error:
        raise UsageError(f"{path} cannot be read: {error}; fix it, or delete the file") from None
    return table.fieldnames or (), rows


def _read_table(path: Path, columns: Sequence[str]) -> list[tuple[int, _Row]]:
    names, rows = read_csv(path) or (columns, [])
    if set(columns) - set(names) or any(None in row or None in row.values() for _, row in rows):
        fault = f"it is no table with the columns {', '.join(columns)}"
        raise UsageError(f"{path} cannot be read: {fault}; fix it, or delete the file")
    return rows


def _write_table(path: Path, columns: Sequence[str], rows: Iterable[_Row]) -> None:
    try:
        write_table(path, columns, ([row.get(name, "") for name in columns] for row in rows), durable=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}; name a folder that can") from error
