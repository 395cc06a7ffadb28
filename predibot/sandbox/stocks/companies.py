"""The simulated companies: tickers, sectors, and the indices over them."""

import hashlib
import re

SECTORS = (
    "Technology", "Communication", "Financials", "Energy", "Industrials", "Consumer cyclical", "Consumer staples",
    "Health care",
)  # fmt: skip
_KNOWN = {
    "AAPL": ("Apple", "Technology", 7.0),
    "MSFT": ("Microsoft", "Technology", 6.8),
    "NVDA": ("NVIDIA", "Technology", 6.4),
    "META": ("Meta Platforms", "Communication", 2.6),
    "JPM": ("JPMorgan Chase", "Financials", 2.0),
    "V": ("Visa", "Financials", 1.8),
    "XOM": ("Exxon Mobil", "Energy", 1.5),
    "CAT": ("Caterpillar", "Industrials", 0.7),
    "TSLA": ("Tesla", "Consumer cyclical", 1.9),
    "PG": ("Procter & Gamble", "Consumer staples", 1.1),
    "KO": ("Coca-Cola", "Consumer staples", 0.9),
    "AMZN": ("Amazon", "Consumer cyclical", 4.0),
    "WMT": ("Walmart", "Consumer staples", 1.4),
    "JNJ": ("Johnson & Johnson", "Health care", 1.2),
    "UNH": ("UnitedHealth", "Health care", 1.3),
}
"""Name, sector, and size on the first day in any unit, of the companies of the packaged recipe; their prices and news
here are invented."""
DEFAULT_TICKERS = tuple(_KNOWN)
TICKER = re.compile(r"[A-Z][A-Z0-9]{0,8}(?:[.-][A-Z0-9]{1,3})?")


_SIZES = {ticker: size for ticker, (_, _, size) in _KNOWN.items()}

INDICES = {
    "SPY": _SIZES,
    "QQQ": {name: _SIZES[name] for name in ("AAPL", "MSFT", "NVDA", "META", "TSLA", "AMZN", "WMT")},
}
"""The companies in each fund, with their sizes."""
INDEX_YIELDS = {"SPY": 0.013, "QQQ": 0.006}
"""The annual dividend yield of each fund."""


def check_ticker(ticker: str) -> str:
    """Return a ticker that can also name a file; raise `ValueError` if it is none."""
    if not TICKER.fullmatch(ticker):
        raise ValueError(f"a ticker is capital letters and digits, as AAPL or BRK-B, got {ticker[:40]!r}")
    return ticker


def number_of(name: str) -> int:
    """Return the number of a ticker, a sector or the market in draws."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")


def sector_of(ticker: str) -> str:
    """Return a company's sector, the same for every seed."""
    return known_company(ticker)[1] or SECTORS[number_of(f"sector of {ticker}") % len(SECTORS)]


def known_company(ticker: str) -> tuple[str, str]:
    """Return name and sector of a company of the packaged recipe; two empty texts for another."""
    name, sector, _ = _KNOWN.get(ticker, ("", "", 0.0))
    return name, sector
