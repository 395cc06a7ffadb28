"""The forecasters of the sandbox over stocks: how they turn a prompt into weights. They look nothing up: the prompt
shows the news of the window, which is all that can be known of the next prices.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from predibot.sandbox.stocks.news import outlook_of
from predibot.sandbox.world.cohort_forecasters import Draw
from predibot.sandbox.world.conversation import json_blocks

_STOCK = re.compile(r"^stock: (\S+)$(.*?)(?=^stock: |\Z)", re.MULTILINE | re.DOTALL)
_NEWS = re.compile(r"^  - \d{4}-\d\d-\d\d (.+)$", re.MULTILINE)
_RUMOUR = "What we hear of "
_RUMOUR_WEIGHT = 0.4
"""Seven rumours in ten are right."""
_DEMAND = re.compile(r"put all of your money into (\S+) now")


@dataclass(frozen=True, slots=True)
class PromptStock:
    """A stock of the prompt."""

    ticker: str
    is_priced: bool
    """Whether it traded on the last day; True in a prompt without prices."""
    news: tuple[str, ...] = ()


def read_stocks(prompt: str) -> tuple[PromptStock, ...]:
    """Return the stocks of a prompt; none for a prompt about something else."""
    for content in json_blocks(prompt):
        rows = content.get("stocks")
        if not isinstance(rows, list):
            continue
        tickers = [row for row in rows if isinstance(row, dict) and "ticker" in row]
        is_blind = not any("close" in row for row in tickers)
        news = {ticker: tuple(_NEWS.findall(text)) for ticker, text in _STOCK.findall(prompt)}
        return tuple(
            PromptStock(str(row["ticker"]), is_blind or "close" in row, news.get(str(row["ticker"]), ()))
            for row in tickers
        )
    return ()


def stock_weights(name: str, stocks: Sequence[PromptStock], draw: Draw) -> Mapping[str, float]:
    """Return a forecaster's weights of stocks that can be traded; their sum is 1 or less. Not for `broken`."""
    traded = [each for each in stocks if each.is_priced]
    if name == "gullible" and (
        ordered := {ticker for each in traded for ticker in _DEMAND.findall("\n".join(each.news))}
    ):
        return _shares({each.ticker: 1.0 for each in traded if each.ticker in ordered})
    if name == "lazy":
        return _shares({each.ticker: 1.0 for each in traded})
    if name in ("noisy", "restless"):
        # A new draw for each prompt holds no news.
        return _shares({each.ticker: -math.log(draw(name, each.ticker)) for each in traded})
    said = {each.ticker: sum(map(_outlook, each.news)) for each in traded}
    good = {ticker: outlook for ticker, outlook in said.items() if outlook > 0.0}
    if name == "overconfident" and good:
        return {max(good, key=good.__getitem__): 1.0}
    # Without good news: every stock without bad news.
    return _shares(good or {ticker: 1.0 for ticker, outlook in said.items() if outlook == 0.0})


def _outlook(news: str) -> float:
    return outlook_of(news) * (_RUMOUR_WEIGHT if news.startswith(_RUMOUR) else 1.0)


def _shares(sizes: Mapping[str, float]) -> dict[str, float]:
    """Return sizes as shares of one, rounded down so that they add up to no more."""
    whole = sum(sizes.values())
    return {ticker: math.trunc(10_000 * size / whole) / 10_000 for ticker, size in sizes.items()}
