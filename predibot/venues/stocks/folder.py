"""A folder of daily prices as arrays, with a remark on whatever in it is no price."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from predibot.domain.price import CorporateAction
from predibot.errors import UsageError, VenueChanged
from predibot.plain_file import plain_text
from predibot.sandbox.stocks.folder import ACTION_COLUMNS, ACTIONS_FILE, SECTORS_FILE, SIMULATED_FILE, read_seed
from predibot.venues.stocks.daily_prices import HIGHEST_PRICE_USD, LARGEST_SPLIT, LOWEST_PRICE_USD
from predibot.venues.stocks.recording import (
    CLOSED_HOUR,
    MAX_TABLE_BYTES,
    list_tickers,
    read_csv,
)

Days = NDArray[np.datetime64]
ONE_DAY = np.timedelta64(1, "D")
Floats = NDArray[np.float64]

_PLAIN_DATE = r"(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}"
_PLAIN_NUMBER = r"(?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)"


def read_plain(body: bytes, names: Sequence[str], wanted: Sequence[str]) -> tuple[Days, Sequence[Floats]] | None:
    """Return the dates in a table's first column, and some columns of numbers; None for a table that is not plain.

    Plain tables, as programs write them, have dates and decimal numbers without quotes. Read at once as arrays, they
    take a small part of the time: twenty years of 500 stocks are 2.6 million rows. Other tables are read row by row
    elsewhere. `body` are the lines below the first, each with a newline; each of the columns' `names` is there once.
    """
    if len(names) < 2 or names[0] != "date" or not body.isascii():
        return None
    cells = "".join(f",{_PLAIN_NUMBER}" if name in wanted else r',[^,"\n]*' for name in names[1:])
    if not re.fullmatch(rf"(?:{_PLAIN_DATE}{cells}\n)++".encode(), body):
        return None
    kinds = np.dtype([("date", "datetime64[D]"), *((name, np.float64) for name in wanted)])
    places = [0, *map(names.index, wanted)]
    try:
        table = np.loadtxt(io.BytesIO(body), kinds, comments=None, delimiter=",", usecols=places, ndmin=1)
    except ValueError:
        # A date that no calendar has.
        return None
    return table["date"], [table[name] for name in wanted]


_MAX_FOLDER_BYTES = 2**30
_MAX_CLOSES = 50_000_000

_NUMBERS = ("close", "adjusted_close", "volume")
_CLOSE, _ADJUSTED, _VOLUME = range(len(_NUMBERS))
_MOST_SHARES = 1e15
_KINDS = ("split", "dividend", "delisting")
_JUMP = 0.01
"""The step of adjusted closes may differ by this share from that of raw closes and actions."""


@dataclass(frozen=True, slots=True)
class Remark:
    """A defect of a folder, and the first date at which it could be known."""

    on: date
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class StockFolder:
    """All closes of a folder; arrays have shape (days,) or (days, tickers)."""

    path: Path
    tickers: tuple[str, ...]
    days: Days
    """Trading days: at least half of the stocks then listed have a row."""
    close: Floats
    """Raw, in dollars a share of that day; NaN without a price."""
    volume: NDArray[np.float32]
    """In shares of that day; NaN where none is stated."""
    first_row: NDArray[np.int64]
    """Index in `days` of each stock's first price, shape (tickers,); the number of days without one."""
    actions: Mapping[str, tuple[CorporateAction, ...]]
    sectors: Mapping[str, str]
    names: Mapping[str, str]
    """Companies' names by ticker."""
    remarks: tuple[Remark, ...]
    seed: int | None = None
    """The seed of simulated prices; None for others."""

    def instant(self, place: int) -> datetime:
        """Return when the close of a day is known."""
        return close_instant(self.days[place].astype(object))

    def places(self, until: datetime) -> int:
        """Return how many days have a close that is known by an instant."""
        at = until.astimezone(UTC)
        today = np.datetime64(at.date(), "D")
        last = today if at.time() >= time(CLOSED_HOUR) else today - ONE_DAY
        return int(np.searchsorted(self.days, last, side="right"))


def close_instant(day: date) -> datetime:
    """Return when the close of a date is known.

    Examples:
        >>> close_instant(date(2026, 1, 5)).isoformat()
        '2026-01-05T21:00:00+00:00'
    """
    return datetime.combine(day, time(CLOSED_HOUR), UTC)


def read_folder(path: Path) -> StockFolder:
    """Return a folder's prices; raise `UsageError` for no tables or no prices, `VenueChanged` for a missing column."""
    names = list_tickers(path)
    if not names:
        raise UsageError(f"{path} has no file such as AAPL.csv; `predibot record FOLDER --stocks PROVIDER` writes one")
    n_bytes = sum(_size(path / f"{name}.csv") for name in names)
    if n_bytes > _MAX_FOLDER_BYTES:
        raise UsageError(f"{path} holds {n_bytes:,} bytes, more than {_MAX_FOLDER_BYTES:,}; keep in it what is played")
    remarks: list[Remark] = []
    try:
        seed = read_seed(path)
    except (OSError, ValueError) as error:
        raise UsageError(f"{path / SIMULATED_FILE} cannot be read: {error}; fix it, or delete the file") from None
    if seed is not None:
        remarks.append(Remark(date.min, "these stocks are simulated, and so are their news, whatever their names"))
    stated = {name: _read_closes(path / f"{name}.csv", remarks) for name in names}
    actions = _read_actions(path / ACTIONS_FILE)
    for name in sorted(actions.keys() - stated.keys()):
        since = actions[name][0].effective_at.date()
        remarks.append(Remark(since, f"{ACTIONS_FILE} has actions of {name[:20]!r}, of which there is no file"))
    days = _trading_days(stated, actions, remarks)
    if not days.size:
        raise UsageError(f"{path} has no day with closes of half of its stocks; see whether its tables are whole")
    if days.size * len(names) > _MAX_CLOSES:
        raise UsageError(f"{path} has more than {_MAX_CLOSES:,} closes; keep in it what is played")
    close = np.full((days.size, len(names)), np.nan)
    volume = close.astype(np.float32)
    for column, (on, numbers) in enumerate(stated.values()):
        place = np.searchsorted(days, on)
        known = (place < days.size) & (days[np.minimum(place, days.size - 1)] == on)
        close[place[known], column] = numbers[known, _CLOSE]
        volume[place[known], column] = numbers[known, _VOLUME]
    is_priced = ~np.isnan(close)
    first = np.where(is_priced.any(axis=0), is_priced.argmax(axis=0), days.size)
    for name, (on, numbers) in stated.items():
        remarks.extend(
            _find_missing_actions(name, on, numbers[:, _CLOSE], numbers[:, _ADJUSTED], actions.get(name, ()))
        )
    companies = [row for _, row in _read_table(path / SECTORS_FILE, ("ticker", "sector"))]
    return StockFolder(
        path=path,
        tickers=names,
        days=days,
        close=close,
        volume=volume,
        first_row=first.astype(np.int64),
        actions=actions,
        sectors={row["ticker"]: row["sector"] for row in companies},
        names={row["ticker"]: row.get("name", "") for row in companies},
        remarks=tuple(sorted(remarks, key=lambda each: (each.on, each.text))),
        seed=seed,
    )


def _read_closes(path: Path, remarks: list[Remark]) -> tuple[Days, Floats]:
    """Return dates, and the numbers of `_NUMBERS` on them, shape (days, 3), NaN for those of no column."""
    head, body = _split_table(path)
    if "date" not in head or "close" not in head:
        raise VenueChanged(f"{path} has no columns date and close; its first line names those that it has")
    wanted = [name for name in _NUMBERS if name in head]
    plain = read_plain(body, head, wanted)
    if plain is not None:
        days, found = plain
        stated = dict(zip(wanted, found, strict=True))
        absent = np.full(days.size, np.nan)
        return _clean_closes(path.stem, days, np.column_stack([stated.get(name, absent) for name in _NUMBERS]), remarks)
    rows = [row for _, row in _read_table(path, ("date", "close"))]
    if lost := [place for place, row in enumerate(rows) if not _is_date(row["date"])]:
        # Rows from here on cannot be dated; the row above can.
        since = date.fromisoformat(rows[lost[0] - 1]["date"]) if lost[0] else date.min
        text = f"{path.stem}: {rows[lost[0]]['date'][:20]!r} is no date ({len(lost)} rows); it has no price"
        remarks.append(Remark(since, text))
        rows = [row for row in rows if _is_date(row["date"])]
    on = np.array([row["date"] for row in rows], dtype="datetime64[D]")
    numbers = np.array(
        [[_parse_number(row.get(name, "")) for name in _NUMBERS] for row in rows], dtype=np.float64
    ).reshape(-1, len(_NUMBERS))
    return _clean_closes(path.stem, on, numbers, remarks)


def _clean_closes(name: str, on: Days, numbers: Floats, remarks: list[Remark]) -> tuple[Days, Floats]:
    """Return rows by date, each date once, without those that state no price."""
    if (on[1:] < on[:-1]).any():
        place = int(np.argmax(on[1:] < on[:-1])) + 1
        first = np.maximum.accumulate(on)[place]
        remarks.append(
            Remark(first.astype(object), f"{name}: {on[place]} stands behind {first}; rows go by their dates")
        )
        order = np.argsort(on, kind="stable")
        on, numbers = on[order], numbers[order]
    is_volume = (numbers[:, _VOLUME] >= 0.0) & (numbers[:, _VOLUME] <= _MOST_SHARES)
    numbers = np.column_stack([numbers[:, :_VOLUME], np.where(is_volume, numbers[:, _VOLUME], np.nan)])
    price, same = numbers[:, _CLOSE], on[1:] == on[:-1]
    if same.any():
        twice = np.unique(on[1:][same])
        differs = np.unique(on[1:][same & ~(price[1:] == price[:-1])])
        for each in differs.tolist():
            remarks.append(Remark(each, f"{name}: {each} has two closes; it has no price then"))
        for each in np.setdiff1d(twice, differs).tolist():
            remarks.append(Remark(each, f"{name}: {each} stands there twice with one close; it counts once"))
        keep = np.concatenate([[True], ~same]) & ~np.isin(on, differs)
        on, numbers, price = on[keep], numbers[keep], price[keep]
    is_price = np.isfinite(price) & (price >= LOWEST_PRICE_USD) & (price <= HIGHEST_PRICE_USD)
    for each in on[~is_price].tolist():
        text = f"{name}: the close of {each} is no number from {LOWEST_PRICE_USD:g} to {HIGHEST_PRICE_USD:,.0f}"
        remarks.append(Remark(each, f"{text}; it has no price then"))
    return on[is_price], numbers[is_price]


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return re.fullmatch(_PLAIN_DATE, text) is not None


def _parse_number(text: str) -> float:
    try:
        # Python also takes 1_0 and digits of other scripts for numbers.
        return float(text) if text.isascii() and "_" not in text else np.nan
    except ValueError:
        return np.nan


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        # Reading the file reports the error.
        return 0


def _split_table(path: Path) -> tuple[list[str], bytes]:
    try:
        text = plain_text(path, MAX_TABLE_BYTES, encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}; fix it, or delete the file") from None
    head, _, body = text.partition("\n")
    names = [name.strip() for name in head.split(",")]
    if len(set(names)) < len(names):
        raise VenueChanged(f"{path} names a column twice; keep one")
    return names, body.encode() if body.endswith("\n") or not body else f"{body}\n".encode()


def _read_table(path: Path, columns: Sequence[str]) -> list[tuple[int, dict[str, str]]]:
    stated, rows = read_csv(path) or (columns, [])
    names = [name.strip() for name in stated]
    if len(set(names)) < len(names):
        raise VenueChanged(f"{path} names a column twice; keep one")
    if set(columns) - set(names):
        raise VenueChanged(f"{path} is no table with the columns {', '.join(columns)}")
    if uneven := [line for line, row in rows if None in row or None in row.values()]:
        raise VenueChanged(f"{path}, line {uneven[0]}, has not as many cells as its first line; fix it")
    return [(line, dict(zip(names, map(str.strip, row.values()), strict=True))) for line, row in rows]


def _read_actions(path: Path) -> dict[str, tuple[CorporateAction, ...]]:
    found: dict[str, dict[tuple[date, str], CorporateAction]] = {}
    for line, row in _read_table(path, ACTION_COLUMNS):
        try:
            if not _is_date(row["date"]):
                raise ValueError(f"{row['date'][:20]!r} is no date, such as 2026-01-05")
            on, kind = date.fromisoformat(row["date"]), row["action"]
            if kind not in _KINDS:
                raise ValueError(f"{kind[:40]!r} is no action; it is {', '.join(_KINDS)}")
            action = CorporateAction(kind, close_instant(on), float(row["value"]) if row["value"].strip() else None)  # type: ignore[arg-type]
            least, most = (1.0 / LARGEST_SPLIT, LARGEST_SPLIT) if kind == "split" else (0.0, HIGHEST_PRICE_USD)
            if action.value is not None and not least <= action.value <= most:
                raise ValueError(f"a {kind} of {action.value:g}; it is from {least:g} to {most:,.0f}")
        except ValueError as error:
            raise UsageError(f"{path}, line {line}, cannot be read: {error}; fix it") from None
        own = found.setdefault(row["ticker"], {})
        if (on, kind) in own and own[on, kind] != action:
            raise UsageError(f"{path}, line {line}: {row['ticker']} has two of {kind} on {on}; keep one")
        own[on, kind] = action
    return {name: tuple(own[key] for key in sorted(own)) for name, own in found.items()}


def _trading_days(
    stated: Mapping[str, tuple[Days, Floats]],
    actions: Mapping[str, Sequence[CorporateAction]],
    remarks: list[Remark],
) -> Days:
    """Return the dates on which at least half of the stocks then listed have a close."""
    every, rows = np.unique(np.concatenate([on for on, _ in stated.values()]), return_counts=True)
    listed = np.zeros(every.size)
    for name, (on, _) in stated.items():
        if on.size:
            gone = [each.effective_at.date() for each in actions.get(name, ()) if each.kind == "delisting"]
            end = np.datetime64(min(gone), "D") if gone else every[-1] + ONE_DAY
            listed[np.searchsorted(every, on[0]) : np.searchsorted(every, end)] += 1
    is_trading = 2 * rows >= listed
    for each, count, of in zip(
        every[~is_trading].tolist(), rows[~is_trading].tolist(), listed[~is_trading].tolist(), strict=True
    ):
        text = (
            f"{each}: {count} of {of:.0f} stocks have a row, fewer than half; it is no trading day, or files are late"
        )
        remarks.append(Remark(each, text))
    return every[is_trading]


def _find_missing_actions(
    name: str, on: Days, price: Floats, adjusted: Floats, actions: Sequence[CorporateAction]
) -> Iterator[Remark]:
    """Yield where adjusted closes step otherwise than raw closes and actions: an action may be missing."""
    if on.size < 2 or not np.isfinite(adjusted).any():
        return
    step = np.ones(on.size - 1)
    for action in actions:
        place = int(np.searchsorted(on, np.datetime64(action.effective_at.date(), "D"))) - 1
        if 0 <= place < step.size and action.value:
            if action.kind == "split":
                step[place] *= action.value
            elif action.kind == "dividend":
                step[place] /= 1.0 - min(action.value / price[place], 0.99)
    with np.errstate(divide="ignore", invalid="ignore"):
        differs = np.abs(adjusted[1:] / adjusted[:-1] / (price[1:] / price[:-1] * step) - 1.0) > _JUMP
    for place in np.flatnonzero(differs).tolist():
        text = (
            f"{name}: the adjusted closes step otherwise on {on[place + 1]} than the closes; an action may be missing"
        )
        yield Remark(on[place + 1].astype(object), text)
