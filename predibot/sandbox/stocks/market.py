"""The simulated stock market: correlated companies and indices, with splits, dividends, halts and delistings."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from predibot.sandbox.stocks.companies import INDEX_YIELDS, INDICES, check_ticker, number_of, sector_of
from predibot.sandbox.stocks.news import news_returns
from predibot.sandbox.stocks.trading_days import closing_minute, first_minute, is_half_day, on_or_after, trading_days
from predibot.sandbox.world.calendar import MINUTES_A_DAY
from predibot.sandbox.world.draws import Draws

Floats = NDArray[np.float64]

DECIMALS = 4
"""Decimals of raw prices and dividends in USD."""
_MARKET_DRIFT, _MARKET_DEVIATION = 0.0003, 0.009
_SECTOR_DEVIATION, _OWN_DEVIATION = 0.005, 0.009
"""Log returns a trading day; news come on top."""
_OVERNIGHT_SHARE = 0.3
_JUMP_CHANCE, _JUMP_DEVIATION = 0.012, 0.05
"""A jump between a close and the next open."""
_HALF_DAY = 0.5
_SPLIT_CHANCE, _HALT_CHANCE, _DELISTING_CHANCE = 0.08, 0.08, 0.01
"""A quarter and company."""
_PAYERS, _HIGHEST_YIELD = 0.7, 0.03
_SAFE_DAYS = 40
"""No company is delisted this early."""
_STATED_PAYOUTS = 0.7


@dataclass(frozen=True, slots=True)
class StockAction:
    """A change of what a share is, from the open of a date on."""

    ticker: str
    on: date
    kind: Literal["split", "dividend", "delisting"]
    value: float | None
    """New shares an old one, USD a share, or the payout in USD a share; None where a payout is unstated."""


@dataclass(frozen=True, slots=True)
class StockHistory:
    """A stock over all trading days of a market; arrays have shape (days,)."""

    ticker: str
    days: tuple[date, ...]
    open: Floats
    high: Floats
    low: Floats
    close: Floats
    """Raw, in USD a share of that day."""
    volume: NDArray[np.int64]
    company_value: Floats
    """What a dollar before the first day grows to, dividends reinvested; free of splits, rounding, halts, delisting."""
    is_traded: NDArray[np.bool_]
    """Whether there is a row: not in a halt, nor after a delisting."""
    actions: tuple[StockAction, ...]

    def adjusted_close(self) -> Floats:
        """Return closes in shares of the last day, less the dividends paid since. Source: CRSP's method on rounded raw
        closes: before a split divided by it, before an ex-date times 1 less dividend by last close.
        """
        factors = np.ones(len(self.days))
        for action in self.actions:
            place = self.days.index(action.on)
            if action.kind == "split" and action.value:
                factors[:place] /= action.value
            elif action.kind == "dividend" and action.value:
                before = self.close[:place][self.is_traded[:place]][-1]
                factors[:place] *= 1.0 - action.value / before
        return self.close * factors


@dataclass(frozen=True, slots=True)
class StockMarket:
    """Stocks of a seed; the order of requests changes nothing. A longer market with the same first day begins with the
    shorter one. Another first day changes price levels, and not the returns from news.
    """

    draws: Draws
    days: tuple[date, ...]
    _histories: dict[str, StockHistory] = field(default_factory=dict, repr=False)
    _ordinals: NDArray[np.int64] = field(init=False, repr=False)
    _calm: Floats = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Number the days for the draws."""
        object.__setattr__(self, "_ordinals", np.array([day.toordinal() for day in self.days]))
        object.__setattr__(self, "_calm", np.where([is_half_day(day) for day in self.days], _HALF_DAY, 1.0))

    @classmethod
    def from_seed(cls, seed: int, *, start: date, days: int) -> Self:
        """Return the market of a seed over so many trading days from a date on; raise `ValueError` for a seed or days
        below 0 or 1.
        """
        if seed < 0:
            raise ValueError(f"a sandbox seed is at least 0, got {seed}")
        return cls(Draws(seed), trading_days(start, days))

    def history(self, ticker: str) -> StockHistory:
        """Return a stock's history; every ticker has one. Raises `ValueError` if it is no ticker."""
        if ticker not in self._histories:
            value = (
                self._index_value(INDICES[ticker])
                if ticker in INDICES
                else np.exp(np.cumsum(self._daily_returns(ticker)))
            )
            self._histories[check_ticker(ticker)] = self._history(ticker, value)
        return self._histories[ticker]

    def _daily_draws(self, kind: Literal["uniform", "normal"], purpose: str, name: str) -> Floats:
        """Return a draw for each trading day, known at its close."""
        known_at = closing_minute(self.days[0]) + MINUTES_A_DAY * (self._ordinals - self._ordinals[0])
        draw = self.draws.uniform if kind == "uniform" else self.draws.normal
        return draw(f"stock {purpose}", event=number_of(name), item=self._ordinals, known_at_minute=known_at)

    def _trait(self, purpose: str, ticker: str, item: int = 0) -> float:
        """Return a draw that is fixed from the start for a company, or for one of its quarters."""
        known_at = first_minute(self.days[0])
        return float(self.draws.uniform(purpose, event=number_of(ticker), item=item, known_at_minute=known_at)[0])

    def _overnight_jumps(self, ticker: str) -> Floats:
        happens = self._daily_draws("uniform", "jump", ticker) < _JUMP_CHANCE
        return np.where(happens, _JUMP_DEVIATION * self._daily_draws("normal", "jump size", ticker), 0.0)

    def _daily_returns(self, ticker: str) -> Floats:
        market = _MARKET_DRIFT + _MARKET_DEVIATION * self._calm * self._daily_draws("normal", "factor", "market")
        sector = _SECTOR_DEVIATION * self._calm * self._daily_draws("normal", "factor", f"sector {sector_of(ticker)}")
        own = _OWN_DEVIATION * self._calm * self._daily_draws("normal", "own", ticker)
        beta = 0.6 + 0.9 * self._trait("stock beta", ticker)
        return (
            beta * market + sector + own + self._overnight_jumps(ticker) + news_returns(self.draws, ticker, self.days)
        )

    def _index_value(self, sizes: Mapping[str, float]) -> Floats:
        """Return the growth of a dollar in an index; the others take over a delisted member's share."""
        histories = [self.history(member) for member in sizes]
        values = np.array(
            [size * history.company_value for size, history in zip(sizes.values(), histories, strict=True)]
        )
        before = np.concatenate([np.array([list(sizes.values())]).T, values[:, :-1]], axis=1)
        is_held = np.ones(values.shape, dtype=bool)
        for row, history in enumerate(histories):
            for action in history.actions:
                if action.kind == "delisting":
                    is_held[row, self.days.index(action.on) :] = False
        # Without any member left, it continues with all of them.
        is_held[:, ~is_held.any(axis=0)] = True
        return np.cumprod((values * is_held).sum(axis=0) / (before * is_held).sum(axis=0))

    def _history(self, ticker: str, value: Floats) -> StockHistory:
        price = value * (20.0 + 380.0 * self._trait("stock first price", ticker))
        is_traded = np.ones(len(self.days), dtype=bool)
        actions: list[StockAction] = []
        for quarter, place, kind in self._plan_actions(ticker):
            before = float(price[place - 1])
            amount: float | None = None
            if kind == "halt":
                is_traded[place : place + 1 + int(3 * self._trait("stock halt days", ticker, quarter))] = False
                continue
            if kind == "split":
                amount = _split_ratio(before, self._trait("stock split ratio", ticker, quarter))
                price[place:] /= amount
            elif kind == "dividend":
                amount = round(before * self._annual_yield(ticker) / 4.0, DECIMALS)
                if not amount:
                    continue
                price[place:] *= 1.0 - amount / before
            else:
                is_traded[place:] = False
                roll = self._trait("stock payout", ticker, quarter)
                amount = round(before * (1.0 + 0.2 * roll), DECIMALS) if roll < _STATED_PAYOUTS else None
            actions.append(StockAction(ticker, self.days[place], kind, amount))
            if kind == "delisting":
                break
        returns = np.diff(np.log(value), prepend=0.0)
        gaps = np.zeros(len(value)) if ticker in INDICES else self._overnight_jumps(ticker)
        opens = price * np.exp(gaps + _OVERNIGHT_SHARE * (returns - gaps) - returns)
        wicks = [np.exp(0.004 * np.abs(self._daily_draws("normal", side, ticker))) for side in ("above", "below")]
        volume = 2e6 * np.exp(
            3.0 * self._trait("stock volume", ticker) + 0.4 * self._daily_draws("normal", "volume", ticker)
        )
        return StockHistory(
            ticker=ticker,
            days=self.days,
            open=np.round(opens, DECIMALS),
            high=np.round(np.maximum(opens, price) * wicks[0], DECIMALS),
            low=np.round(np.minimum(opens, price) / wicks[1], DECIMALS),
            close=np.round(price, DECIMALS),
            volume=(volume * self._calm * (1.0 + 20.0 * np.abs(returns))).astype(np.int64),
            company_value=value,
            is_traded=is_traded,
            actions=tuple(actions),
        )

    def _plan_actions(
        self, ticker: str
    ) -> Iterator[tuple[int, int, Literal["split", "dividend", "delisting", "halt"]]]:
        """Yield quarter, day and kind of a stock's actions, oldest first; no two on one day. Splits come in the first
        month of a quarter, dividends in the second, halts and delistings in the third.
        """
        places = {day: place for place, day in enumerate(self.days)}
        first, last = self.days[0], self.days[-1]
        for quarter in range(first.year * 4 + (first.month - 1) // 3, last.year * 4 + (last.month - 1) // 3 + 1):
            chances: tuple[tuple[Literal["split", "dividend", "delisting", "halt"], int, float], ...] = (
                ("split", 0, 0.0 if ticker in INDICES else _SPLIT_CHANCE),
                ("dividend", 1, float(self._annual_yield(ticker) > 0.0)),
                ("halt", 2, 0.0 if ticker in INDICES else _HALT_CHANCE),
                ("delisting", 2, 0.0 if ticker in INDICES else _DELISTING_CHANCE),
            )
            for kind, month, chance in chances:
                if self._trait(f"stock {kind}", ticker, quarter) >= chance:
                    continue
                since = int((24 if month < 2 else 20) * self._trait(f"stock {kind} day", ticker, quarter))
                day = date(quarter // 4, quarter % 4 * 3 + 1 + month, 1) + timedelta(days=since)
                place = places.get(on_or_after(day), 0)
                if place > (_SAFE_DAYS if kind == "delisting" else 0):
                    yield quarter, place, kind

    def _annual_yield(self, ticker: str) -> float:
        if ticker in INDEX_YIELDS:
            return INDEX_YIELDS[ticker]
        roll = self._trait("stock yield", ticker)
        return _HIGHEST_YIELD * roll / _PAYERS if roll < _PAYERS else 0.0


def _split_ratio(price: float, roll: float) -> float:
    """Return the new shares for an old one; below 1 for a cheap share."""
    if price < 15.0:
        return 0.1
    choices: Sequence[float] = (4.0, 10.0, 20.0) if price > 400.0 else (1.5, 2.0, 3.0, 4.0)
    return choices[math.floor(roll * len(choices))]
