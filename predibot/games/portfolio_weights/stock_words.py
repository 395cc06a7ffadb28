"""The words of a portfolio of stocks: what a model is told of its account and of its stocks, and what it is asked."""

import json
from collections.abc import Callable, Iterator

from predibot.domain.account_past import CASH
from predibot.domain.price import PricePoint
from predibot.domain.untrusted_text import title_line
from predibot.games.answers import REASONING, Words
from predibot.games.portfolio_weights.parse import ALLOCATIONS
from predibot.games.portfolio_weights.terms import PortfolioTerms
from predibot.games.portfolio_weights.view import MarketView, PortfolioView
from predibot.games.portfolio_weights.words import (
    HISTORY_DAYS,
    OVERWEIGHT,
    account_lines,
    allocation_line,
    as_block,
    news_lines,
)

STOCK_SHAPE = f"""{{
  "{REASONING}": "...",
  "{ALLOCATIONS}": {{"AAPL": 0.2, "XOM": 0.3, "{CASH}": 0.5}}
}}"""
"""An answer as it is shown to a model."""


def stock_words(
    view: PortfolioView,
    terms: PortfolioTerms,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
) -> Words:
    """Return what a model is told about a portfolio of stocks; arguments as in `portfolio_words`.

    Args:
        view: What the bot is shown.
        terms: Of the game.
        price_blind: Whether prices, their history and what follows from them are left out.
        history: Daily closes by ticker, in shares of now, asked only where they are shown.
        untrusted: Puts a text inside the fence.
    """
    when = "first close after your decision" if terms.fill == "next" else "last close, the one that is shown"
    rules = " ".join((
        f"All weights together, {CASH} included, come to 1; what you give to nothing stays in {CASH}.",
        OVERWEIGHT[terms.overweight],
        f"Your weights are traded at the {when}, in parts of shares too, and then held.",
        _costs(terms),
    )).strip()  # fmt: skip
    wanted = (
        f"Give each stock that you want to hold its weight, its share of the whole portfolio, between 0 and 1, and "
        f"{CASH} the rest; what you hold and do not name is sold. {rules}"
    )
    parts = ["\n".join(account_lines(view, price_blind=price_blind))]
    if view.past.allocations:
        lines = [allocation_line(each, price_blind=price_blind) for each in view.past.allocations]
        parts.append("\n".join(["your last allocations, the oldest first:", *lines]))
    parts += ["\n".join(_lines(view, each, price_blind=price_blind, history=history)) for each in view.markets]
    shown = "\n\n".join(parts)
    names = as_block(stocks_json(view, price_blind=True))
    meaning = "A split changes how many shares you hold, a dividend is paid into your cash; nothing is sold short."
    return Words(
        task=f"You manage a portfolio that began with ${terms.stake_usd:g} of imaginary money, and now decide what "
        "share of it to hold in each of some US stocks, and in cash.",
        view=f"# Your portfolio and the stocks\n\n{meaning}\n\n{untrusted(shown)}\n\n"
        f"The same stocks as JSON:\n\n{untrusted(as_block(stocks_json(view, price_blind=price_blind)))}",
        steps=(
            "For every stock ask what its price does not say yet.",
            wanted,
            "The value of the portfolio is followed over many steps: what you gain and how much it swings count.",
        ),
        entries=f"with a weight for every stock that you want to hold, and for {CASH}",
        ask=f"{wanted}\nSay in your reasoning what you go by: your position, the price history, the news.",
        report_about="on these stocks and on what to hold of them",
        report=f"Say in numbers which weight each stock, by its ticker above, and {CASH} should have, with the reasons "
        f"and what speaks against them. {rules}",
        extract_about=f"about a portfolio of {len(view.markets)} stocks",
        extract_from="take weights from the report as they stand.\n"
        'Where the report gives no weight at all, answer with {"abstain": "it gives no weights"} instead.',
        extract_view=f"The stocks:\n\n{untrusted(names)}",
        extract=f"The weights are shares of one, {CASH} included.",
    )


def stocks_json(view: PortfolioView, *, price_blind: bool) -> str:
    """Return the stocks as one line of JSON, for models that like it exact."""
    rows = []
    for each in view.markets:
        row: dict[str, object] = {"ticker": title_line(each.market.id)}
        price = view.prices.get(each.yes)
        if not price_blind and price is not None:
            row["close"] = round(price.mid, 6)
        rows.append(row)
    return json.dumps({"stocks": rows}, ensure_ascii=False).replace("`", "\\u0060")


def _costs(terms: PortfolioTerms) -> str:
    costs = [
        *([f"a fee of {terms.fee_bps:g} hundredths of a percent"] if terms.fee_bps else []),
        *([f"half a spread of {terms.spread_bps:g} hundredths of a percent"] if terms.spread_bps else []),
    ]
    return f"Every trade costs {' and '.join(costs)} of its money." if costs else ""


def _lines(
    view: PortfolioView, each: MarketView, *, price_blind: bool, history: Callable[[str], tuple[PricePoint, ...]]
) -> Iterator[str]:
    market = each.market
    yield f"stock: {title_line(market.id)}"
    if market.closed:
        yield "it was delisted and cannot be traded any more"
    if not each.in_universe:
        yield "no longer among the stocks of this game; it is shown because you hold it"
    if not price_blind:
        price = view.prices.get(each.yes)
        if price is None:
            yield "it was not traded on the last trading day, so it has no price now"
        else:
            yield f"close of {price.at:%Y-%m-%d}: {price.mid:.6g}"
        if shown := history(market.id)[-HISTORY_DAYS:]:
            daily = ", ".join(f"{point.at:%Y-%m-%d} {point.price:.6g}" for point in shown)
            yield f"closes by day, in shares of now and less the dividends since: {daily}"
    if market.id in view.past.news:
        yield from news_lines(view.past.news[market.id])
