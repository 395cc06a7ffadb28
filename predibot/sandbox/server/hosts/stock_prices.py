"""Tiingo and Alpha Vantage as hosts of the sandbox: daily prices of simulated stocks.

Their shapes follow public documentation and are UNVERIFIED: nobody here has a key.

- https://www.tiingo.com/documentation/end-of-day (2.1.2: dates in ascending order, raw and CRSP-adjusted prices,
  `divCash` and `splitFactor` on the ex-date; without a start date only the latest day). A spent allowance is a line of
  text with status 200 (tiingo-python issue 45) or a 429. Without `/prices` a ticker's meta data: `name`,
  `description`, `exchangeCode`.
- https://www.alphavantage.co/documentation/ (TIME_SERIES_DAILY_ADJUSTED: objects by date, numbers as text, `compact` is
  the latest 100). A spent allowance is a `Note` or `Information` with status 200, and so is a refusal. OVERVIEW states
  `Name`, and `Sector` in capitals; of funds nothing.
"""

from datetime import date
from typing import TypeAlias

import numpy as np

from predibot.sandbox.server.reply import HttpReply, Query, error_reply, json_reply
from predibot.sandbox.stocks.companies import DEFAULT_TICKERS, INDICES
from predibot.sandbox.stocks.market import StockHistory, StockMarket
from predibot.sandbox.stocks.trading_days import closing_minute, trading_days
from predibot.sandbox.world.draws import Draws

STOCKS_BEGIN_ON = date(2024, 1, 2)
STOCKS_DAYS = 800
"""Trading days, which go beyond the end of the sandbox."""
COMPACT_ROWS = 100

Row: TypeAlias = dict[str, str | int | float]
_PRICES = ("open", "high", "low", "close")


class StockPrices:
    """The prices of a sandbox's stocks at a minute, as the providers know them then."""

    def __init__(self, draws: Draws) -> None:
        """Compute nothing yet."""
        self._draws = draws
        self._days = trading_days(STOCKS_BEGIN_ON, STOCKS_DAYS)
        self._closings = np.array([closing_minute(day) for day in self._days])
        self._market: StockMarket | None = None

    def rows(self, ticker: str, minute: int) -> list[Row] | None:
        """Return the days of a stock that are over, oldest first, as Tiingo writes them; None for an unknown ticker."""
        over = int(np.searchsorted(self._closings, minute, side="right"))
        if ticker not in (*DEFAULT_TICKERS, *INDICES):
            return None
        if over == 0:
            return []
        if self._market is None or len(self._market.days) != over:
            self._market = StockMarket(self._draws, self._days[:over])
        return _tiingo_rows(self._market.history(ticker))


def _tiingo_rows(history: StockHistory) -> list[Row]:
    changes = {(action.on, action.kind): action.value or 0.0 for action in history.actions}
    shares = history.adjusted_close() / history.close
    found = list[Row]()
    for place in np.flatnonzero(history.is_traded).tolist():
        on, volume = history.days[place], int(history.volume[place])
        raw = {name: float(getattr(history, name)[place]) for name in _PRICES}
        adjusted = {f"adj{name.capitalize()}": price * float(shares[place]) for name, price in raw.items()}
        row: Row = {"date": f"{on}T00:00:00.000Z", **raw, "volume": volume, **adjusted, "adjVolume": volume}
        found.append(
            row | {"divCash": changes.get((on, "dividend"), 0.0), "splitFactor": changes.get((on, "split"), 1.0)}
        )
    return found


def answer_tiingo(prices: StockPrices, path: str, query: Query, *, token: str, minute: int) -> HttpReply:
    """Return Tiingo's reply to a GET below `/tiingo`."""
    parts = path.strip("/").split("/")
    if parts[0] != "daily" or len(parts) < 2 or parts[2:] not in ([], ["prices"]):
        return json_reply({"detail": "Not found."}, status=404)
    scheme, _, key = token.partition(" ")
    if not (key.strip() and scheme.casefold() == "token") and not query.get("token", [""])[-1]:
        return json_reply({"detail": "Please supply a token"}, status=401)
    rows = prices.rows(parts[1].upper(), minute)
    if rows is None:
        return json_reply({"detail": f"Error: Ticker '{parts[1]}' not found"}, status=404)
    if len(parts) == 2:
        ticker = parts[1].upper()
        return json_reply({"ticker": ticker, "name": f"Simulated {ticker}", "exchangeCode": "NYSE", "description": ""})
    start, end = (query.get(name, [""])[-1] for name in ("startDate", "endDate"))
    try:
        first = date.fromisoformat(start) if start else None
        last = date.fromisoformat(end) if end else date.max
    except ValueError:
        return error_reply(400, "Error: dates are written YYYY-MM-DD")
    return json_reply(rows[-1:] if first is None else [row for row in rows if str(first) <= _day(row) <= str(last)])


def _day(row: Row) -> str:
    return str(row["date"])[:10]


def answer_alpha_vantage(prices: StockPrices, query: Query, *, minute: int) -> HttpReply:
    """Return Alpha Vantage's reply to a GET of `/query`; its status is always 200."""
    parameters = {name: values[-1] for name, values in query.items()}
    if not parameters.get("apikey"):
        return json_reply({"Error Message": "the parameter apikey is invalid or missing."})
    symbol, function = parameters.get("symbol", ""), parameters.get("function", "")
    rows = prices.rows(symbol.upper(), minute)
    if function == "OVERVIEW":
        # It has nothing to say of what it does not know, and funds are such.
        found = {"Symbol": symbol, "AssetType": "Common Stock", "Name": f"Simulated {symbol}", "Sector": "TECHNOLOGY"}
        return json_reply({} if rows is None or symbol.upper() in INDICES else found)
    if rows is None or function != "TIME_SERIES_DAILY_ADJUSTED":
        return json_reply({"Error Message": f"Invalid API call for {function}. Please retry."})
    size = parameters.get("outputsize", "compact")
    kept = rows if size == "full" else rows[-COMPACT_ROWS:]
    return json_reply(
        {
            "Meta Data": {
                "1. Information": "Daily Time Series with Splits and Dividend Events",
                "2. Symbol": symbol,
                "3. Last Refreshed": _day(kept[-1]) if kept else "",
                "4. Output Size": "Full size" if size == "full" else "Compact",
                "5. Time Zone": "US/Eastern",
            },
            "Time Series (Daily)": {_day(row): _alpha_vantage_row(row) for row in reversed(kept)},
        }
    )


def _alpha_vantage_row(row: Row) -> Row:
    return {
        **{f"{place}. {name}": f"{row[name]:.4f}" for place, name in enumerate(_PRICES, start=1)},
        "5. adjusted close": f"{row['adjClose']:.8f}",
        "6. volume": str(row["volume"]),
        "7. dividend amount": f"{row['divCash']:.4f}",
        "8. split coefficient": f"{row['splitFactor']:.6g}",
    }
