"""One event, for a screen and for JSON: prices of its markets, and the forecasts of every bot."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from rich.console import Console

from predibot.jobs.histories.event import EventHistory, MarketHistory
from predibot.reports import figures
from predibot.reports.table import Column, Document, document, table_of, under
from predibot.reports.terminal.closeups.rows import slot_words
from predibot.reports.terminal.terminal import plain, print_grid, print_grids, print_line, print_lines, within

_SHOWN = 20
_CURVE_CELLS = 40
_TITLE_CELLS = 240
_MESSAGE_CELLS = 100
_RATIONALE_CELLS = 70


def print_event(console: Console, history: EventHistory, *, every_row: bool) -> None:
    """Print an event: prices of each market, and its newest twenty forecasts, or all."""
    title = plain(history.title, _TITLE_CELLS) or figures.MISSING
    print_line(console, f"{title} ({plain(history.event_id, 60)})", "bold")
    print_line(
        console,
        f"As of {figures.instant(history.as_of)}: {figures.things(len(history.markets), 'market')}, "
        f"{figures.things(len(history.forecasts), 'forecast')}",
    )
    for market in history.markets:
        console.print()
        print_line(console, plain(market.market.question, _TITLE_CELLS) or figures.MISSING, "bold")
        print_lines(console, _price_lines(market))
        own = [each for each in history.forecasts if each.market_id == market.market.market_id]
        if own:
            shown = own if every_row else own[-_SHOWN:]
            print_grid(console, table_of("", _FORECASTS, shown, _more(len(own), len(shown))))
    if unanswered := [each for each in history.decisions if each.status != "recorded"]:
        last = unanswered if every_row else unanswered[-_SHOWN:]
        print_grids(console, [table_of("Not answered", _UNANSWERED, last, _more(len(unanswered), len(last)))])


def event_document(history: EventHistory) -> Document:
    """Return everything as JSON has it, texts whole."""
    return {
        **document(history, "event_id title as_of"),
        "markets": [
            document(each, f"{under('market', 'market_id question')} payout_yes settled_at prices")
            for each in history.markets
        ],
        "forecasts": [document(each, _FORECAST) for each in history.forecasts],
        "unanswered": [
            document(each, "run bot slot_at status message") for each in history.decisions if each.status != "recorded"
        ],
    }


def latest_document(latest: Sequence[Any]) -> Document:
    """Return the events that were decided on last."""
    return {"events": [document(each, "number event_id title venue decisions last_slot_at") for each in latest]}


def _price_lines(market: MarketHistory) -> Iterator[str]:
    if not market.prices:
        yield "No price of it is stored."
        return
    prices = [price for _, price in market.prices]
    paid = "open" if market.payout_yes is None else f"paid {figures.probability(market.payout_yes)}"
    if market.payout_yes in (0.0, 1.0):
        paid = f"came out {'YES' if market.payout_yes else 'NO'}"
    yield f"price of YES {figures.sparkline(prices, _CURVE_CELLS)} {paid}"
    yield (
        f"first {figures.probability(prices[0])}, lowest {figures.probability(min(prices))}, "
        f"highest {figures.probability(max(prices))}, last {figures.probability(prices[-1])}"
    )


_SLOT, _BOT = Column("time", "slot_at", slot_words, kind="key"), Column("bot", "bot", kind="name")
# Readers look for the reasons, so the slot is dropped before them.
_FORECASTS = (
    _SLOT,
    replace(_BOT, drop=0),
    Column("price", "price_yes", figures.probability, 0),
    Column("forecast", "probability", figures.probability, 0),
    Column("bet", "booked_usd", figures.gain_usd, 1),
    Column("why", "rationale", within(_RATIONALE_CELLS, figures.MISSING), 0, kind="text"),
)
_UNANSWERED = (
    _SLOT,
    _BOT,
    Column("status", "status", kind="key"),
    Column("reason", "message", within(_MESSAGE_CELLS, figures.MISSING), kind="text"),
)
_FORECAST = (
    "run bot market_id slot_at decided_at price_yes probability confidence booked_usd payout_yes knowledge rationale"
)


def _more(total: int, shown: int) -> tuple[str, ...]:
    return (f"The newest {shown} of {total:,}; --all or --json has them all.",) if total > shown else ()
