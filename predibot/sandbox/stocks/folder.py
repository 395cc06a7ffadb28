"""A folder of simulated stocks, in the layout that the venue `stocks` reads. It states that it is simulated: a player
may then see the news of its world, and nobody takes its prices for real ones.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path

from predibot.domain.untrusted_text import toml_table
from predibot.plain_file import plain_text
from predibot.sandbox.stocks.companies import INDICES, check_ticker, known_company, sector_of
from predibot.sandbox.stocks.market import DECIMALS, StockHistory, StockMarket
from predibot.whole_file import whole_file

SIMULATED_FILE = "simulated.toml"
PRICE_COLUMNS = ("date", "open", "high", "low", "close", "volume", "adjusted_close")
ACTIONS_FILE, ACTION_COLUMNS = "actions.csv", ("date", "ticker", "action", "value")
SECTORS_FILE, SECTOR_COLUMNS = "sectors.csv", ("ticker", "sector", "name")


def write_stock_folder(folder: Path, *, seed: int, days: int, tickers: Sequence[str], start: date) -> None:
    """Write simulated stocks: `TICKER.csv` each, `actions.csv`, `sectors.csv` and `simulated.toml`; old files go.

    The same seed, start and ticker make the same file; a longer one begins with the shorter one, but for adjusted
    closes. A start on a weekend moves to Monday. The indices `SPY` and `QQQ` need no company among the tickers. Raises
    `ValueError` if a ticker, the seed or the number of days is wrong, and `OSError` if a file cannot be written.
    """
    names = [check_ticker(ticker) for ticker in dict.fromkeys(tickers)]
    market = StockMarket.from_seed(seed, start=start, days=days)
    folder.mkdir(parents=True, exist_ok=True)
    histories = [market.history(ticker) for ticker in names]
    with whole_file(folder / SIMULATED_FILE) as file:
        file.write(
            f"# These stocks are invented, whatever their names, and so are their news.\nseed = {seed}\n".encode()
        )
    for history in histories:
        write_table(folder / f"{history.ticker}.csv", PRICE_COLUMNS, price_rows(history))
    actions = sorted((action for history in histories for action in history.actions), key=lambda each: each.on)
    changes = (
        (str(each.on), each.ticker, each.kind, "" if each.value is None else f"{each.value:.10g}") for each in actions
    )
    write_table(folder / ACTIONS_FILE, ACTION_COLUMNS, changes)
    companies = ((each, sector_of(each), known_company(each)[0]) for each in names if each not in INDICES)
    write_table(folder / SECTORS_FILE, SECTOR_COLUMNS, companies)


def read_seed(folder: Path) -> int | None:
    """Return the seed of a folder of simulated stocks, None for others; raise `ValueError` if its file is malformed."""
    try:
        text = plain_text(folder / SIMULATED_FILE)
    except FileNotFoundError:
        return None
    seed = toml_table(text).get("seed")
    if not isinstance(seed, int) or isinstance(seed, bool) or seed < 0:
        raise ValueError("it has no seed, which is a whole number from 0 on")
    return seed


def price_rows(history: StockHistory) -> list[tuple[str, ...]]:
    """Return the rows of a stock, oldest first; a day without trading has none."""
    columns = (history.open, history.high, history.low, history.close)
    adjusted = history.adjusted_close()
    return [
        (
            str(history.days[place]),
            *(f"{column[place]:.{DECIMALS}f}" for column in columns),
            str(history.volume[place]),
            f"{adjusted[place]:.8g}",
        )
        for place in range(len(history.days))
        if history.is_traded[place]
    ]


def write_table(path: Path, columns: Sequence[str], rows: Iterable[Sequence[str]], *, durable: bool = False) -> None:
    """Write a CSV file whole, or not at all; raise `OSError` if it cannot be written."""
    text = io.StringIO(newline="")
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    table.writerows(rows)
    with whole_file(path, durable=durable) as file:
        file.write(text.getvalue().encode())
