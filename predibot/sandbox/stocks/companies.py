"""The simulated companies: tickers, sectors, and the indices over them."""

import hashlib
import re

DEFAULT_TICKERS = (
    "AAPL", "MSFT", "NVDA", "META", "JPM", "V", "XOM", "CAT", "TSLA", "PG", "KO", "AMZN", "WMT", "JNJ", "UNH",
)  # fmt: skip
"""The names in the packaged recipe; their prices and news here are invented."""
SECTORS = (
    "Technology", "Communication", "Financials", "Energy", "Industrials", "Consumer cyclical", "Consumer staples",
    "Health care",
)  # fmt: skip
_KNOWN = {
    "AAPL": ("Apple", "Technology"),
    "MSFT": ("Microsoft", "Technology"),
    "NVDA": ("NVIDIA", "Technology"),
    "META": ("Meta Platforms", "Communication"),
    "JPM": ("JPMorgan Chase", "Financials"),
    "V": ("Visa", "Financials"),
    "XOM": ("Exxon Mobil", "Energy"),
    "CAT": ("Caterpillar", "Industrials"),
    "TSLA": ("Tesla", "Consumer cyclical"),
    "AMZN": ("Amazon", "Consumer cyclical"),
    "PG": ("Procter & Gamble", "Consumer staples"),
    "KO": ("Coca-Cola", "Consumer staples"),
    "WMT": ("Walmart", "Consumer staples"),
    "JNJ": ("Johnson & Johnson", "Health care"),
    "UNH": ("UnitedHealth", "Health care"),
}
"""Name and sector of the companies of the packaged recipe."""
TICKER = re.compile(r"[A-Z][A-Z0-9]{0,8}(?:[.-][A-Z0-9]{1,3})?")


_SIZES = dict(
    zip(DEFAULT_TICKERS, (7.0, 6.8, 6.4, 2.6, 2.0, 1.8, 1.5, 0.7, 1.9, 1.1, 0.9, 4.0, 1.4, 1.2, 1.3), strict=True)
)
INDICES = {
    "SPY": _SIZES,
    "QQQ": {name: _SIZES[name] for name in ("AAPL", "MSFT", "NVDA", "META", "TSLA", "AMZN", "WMT")},
}
"""The companies in each fund, with their sizes on the first day, in any unit."""
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
    return _KNOWN.get(ticker, ("", ""))
