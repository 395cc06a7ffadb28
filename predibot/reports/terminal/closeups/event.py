"""One event on a screen and as a document: what its markets cost, and what every bot said of them."""

from collections.abc import Iterator

from rich.console import Console

from predibot.jobs.histories.event import EventHistory, MarketHistory
from predibot.ledger.read.rows_for_python import LedgerForecast
from predibot.reports import figures
from predibot.reports.document import Document, document
from predibot.reports.terminal.closeups.rows import slot_words, to_the_second
from predibot.reports.terminal.grid import Column, Grid, print_grid
from predibot.reports.terminal.terminal import print_line
from predibot.reports.terminal.text import plain

_SHOWN = 20
_CURVE_CELLS = 40
_TITLE_CELLS = 240
_MESSAGE_CELLS = 100
_RATIONALE_CELLS = 70


def print_event(console: Console, history: EventHistory, *, every_row: bool) -> None:
    """Print an event: of each market its prices, and the newest twenty forecasts or, if asked for, all."""
    title = plain(history.title, _TITLE_CELLS) or figures.MISSING
    print_line(console, f"{title} ({plain(history.event_id, 60)})", "bold")
    print_line(
        console,
        f"As of {to_the_second(history.as_of)}: {figures.things(len(history.markets), 'market')}, "
        f"{figures.things(len(history.forecasts), 'forecast')}",
    )
    for market in history.markets:
        console.print()
        print_line(console, plain(market.market.question, _TITLE_CELLS) or figures.MISSING, "bold")
        for line in _price_lines(market):
            print_line(console, line)
        own = [each for each in history.forecasts if each.market_id == market.market.market_id]
        if own:
            print_grid(console, _forecasts(own, every_row=every_row))
    if unanswered := [each for each in history.decisions if each.status != "recorded"]:
        shown = unanswered if every_row else unanswered[-_SHOWN:]
        rows = tuple(
            (
                slot_words(each.slot_at),
                plain(each.bot),
                each.status,
                plain(each.message, _MESSAGE_CELLS) or figures.MISSING,
            )
            for each in shown
        )
        columns = (Column("slot", "key"), Column("bot", "name"), Column("status", "key"), Column("reason", "text"))
        console.print()
        print_grid(console, Grid("Not answered", columns, rows, _more(len(unanswered), len(shown))))


def event_document(history: EventHistory) -> Document:
    """Return everything as JSON has it, texts whole."""
    return {
        **document(history, "event_id title as_of"),
        "markets": [
            {**document(each.market, "market_id question"), **document(each, "payout_yes settled_at prices")}
            for each in history.markets
        ],
        "forecasts": [document(each, _FORECAST) for each in history.forecasts],
        "unanswered": [
            document(each, "run bot slot_at status message") for each in history.decisions if each.status != "recorded"
        ],
    }


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


def _forecasts(own: list[LedgerForecast], *, every_row: bool) -> Grid:
    shown = own if every_row else own[-_SHOWN:]
    rows = tuple(
        (
            slot_words(each.slot_at),
            plain(each.bot),
            figures.probability(each.price_yes),
            figures.probability(each.probability),
            figures.MISSING if each.booked_usd is None else figures.gain_usd(each.booked_usd),
            plain(each.rationale, _RATIONALE_CELLS) or figures.MISSING,
        )
        for each in shown
    )
    columns = (
        Column("slot", "key"),
        Column("bot", "name"),
        *map(Column, ("price", "said", "bet")),
        Column("why", "text"),
    )
    # What is asked for is what was thought, so that the slot goes before it.
    return Grid("", columns, rows, _more(len(own), len(shown)), ("bet",), ("bot", "price", "said", "why"))


_FORECAST = (
    "run bot market_id slot_at decided_at price_yes probability confidence booked_usd payout_yes knowledge rationale"
)


def _more(total: int, shown: int) -> tuple[str, ...]:
    return (f"The newest {shown} of {total:,}; --all or --json has them all.",) if total > shown else ()
