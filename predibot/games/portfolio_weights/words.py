"""The words of a portfolio of weights: what a model is told of its account and its markets, and what it is asked."""

from collections.abc import Callable, Iterator, Mapping

from predibot.domain.account_past import CASH, NewsItem, PastAllocation
from predibot.domain.clock import format_instant
from predibot.domain.event import OTHER_WORDS, exclusive_lines
from predibot.domain.price import SIDES, Instrument, PricePoint, Side
from predibot.domain.untrusted_text import bounded, paragraph, title_line
from predibot.games.answers import Words, as_block, json_line
from predibot.games.portfolio_weights.terms import BothSides, Filling, FillName, Overweight, PortfolioTerms
from predibot.games.portfolio_weights.view import MarketView, PortfolioView

HISTORY_DAYS = 10
MAX_RULES_CHARACTERS = 3_000
MAX_SNIPPET_CHARACTERS = 600
NEWS_UNAVAILABLE = "news unavailable"

_FILLING: Mapping[Filling, str] = {
    "next": "Your weights are traded at the prices of the next step, not at those shown, and then held.",
    "same": "Your weights are traded at once, at the prices of now, and then held until you decide again.",
}
_FILLS: Mapping[FillName, str] = {
    "mid": "Trades are made at the middle price, with the venue's fees where it states any.",
    "quote": "You buy at the ask and sell at the bid, with the venue's fees where it states any.",
    "book": "You buy and sell what the order book holds, with the venue's fees; what it does not hold is not traded.",
}
_OVERWEIGHT: Mapping[Overweight, str] = {
    "scale": "Weights that come to more than 1 are all scaled down to 1.",
    "refuse": "Weights that come to more than 1 are refused.",
}
_BOTH_SIDES: Mapping[BothSides, str] = {
    "refuse": "Give no weight to both sides of one market.",
    "net": "Of both sides of one market only the difference is held.",
}


def portfolio_words(
    view: PortfolioView,
    terms: PortfolioTerms,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
) -> Words:
    """Return what a model is told about a portfolio.

    What the venue or the news say, titles and ids too, is untrusted: it is
    bounded, without control characters, and inside the fence.

    Args:
        view: What the bot is shown.
        terms: Of the game.
        price_blind: Whether prices, their history and what follows from them are left out.
        history: Daily prices of YES by market id, or of stocks closes in shares of now, asked only where they are
            shown.
        untrusted: Puts a text inside the fence.
    """
    is_stocks = terms.is_stocks
    asset, things = ("stock", "stocks") if is_stocks else ("asset", "markets")
    wanted = (
        f"Give each {asset} that you want to hold its weight, its share of the whole portfolio, between 0 and 1, and "
        f"{CASH} the rest; what you hold and do not name is sold. {(rules := _rules(terms))}"
    )
    probabilities = "You may also give the probability of YES of any market, by its id, between 0 and 1."
    shown = untrusted(_view(view, is_stocks=is_stocks, price_blind=price_blind, history=history))
    followed = "The value of the portfolio is followed over many steps: what you gain and how much it swings count."
    against = "with the reasons and what speaks against them"
    asked_too = "" if is_stocks else f"{probabilities}\n"
    block = as_block(portfolio_json(view, is_stocks=is_stocks, price_blind=price_blind))
    names = as_block(portfolio_json(view, is_stocks=is_stocks, price_blind=True))
    return Words(
        task=f"You manage a portfolio that began with ${terms.stake_usd:g} of imaginary money, and now decide what "
        f"share of it to hold in each {'of some US stocks' if is_stocks else 'side of some prediction markets'}, and "
        "in cash.",
        view=f"# Your portfolio and the {things}\n\n{_meaning(is_stocks=is_stocks, price_blind=price_blind)}\n\n"
        f"{shown}\n\nThe same {things} as JSON:\n\n{untrusted(block)}",
        steps=(
            "For every stock ask what its price does not say yet."
            if is_stocks
            else "For every market ask how likely YES is, and whether the price says something else.",
            wanted,
            followed if is_stocks else f"{followed} {probabilities}",
        ),
        entries=f"with a weight for every {asset} that you want to hold, and for {CASH}",
        ask=f"{wanted}\n{asked_too}Say in your reasoning what you go by: your position, the price history, the news.",
        report_about=f"on these {things} and on what to hold of them",
        report=f"Say in numbers which weight each {'stock, by its ticker' if is_stocks else 'asset, by its name'} "
        f"above, and {CASH} should have, {against}"
        f"{'' if is_stocks else ', and for every market the probability of YES between 0 and 1'}. {rules}",
        extract_about=f"about a portfolio of {len(view.markets)} {things}",
        extract_from=f"take weights{'' if is_stocks else ' and probabilities'} from the report as they stand.\n"
        'Where the report gives no weight at all, answer with {"abstain": "it gives no weights"} instead.',
        extract_view=f"The {things}{'' if is_stocks else ' and the names of their assets'}:\n\n{untrusted(names)}",
        extract=f"The weights are shares of one, {CASH} included."
        + ("" if is_stocks else " Where the report gives no probability for a market, leave it out."),
    )


def _rules(terms: PortfolioTerms) -> str:
    """Return what becomes of weights, in sentences."""
    both, overweight = _BOTH_SIDES[terms.both_sides], _OVERWEIGHT[terms.overweight]
    said = [f"All weights together, {CASH} included, come to 1; what you give to nothing stays in {CASH}."]
    if not terms.is_stocks:
        return " ".join([*said, both, overweight, _FILLING[terms.fill], _FILLS[terms.fills]])
    when = "first close after your decision" if terms.fill == "next" else "last close, the one that is shown"
    said += [overweight, f"Your weights are traded at the {when}, in parts of shares too, and then held."]
    costs = [
        *([f"a fee of {terms.fee_bps:g} hundredths of a percent"] if terms.fee_bps else []),
        *([f"half a spread of {terms.spread_bps:g} hundredths of a percent"] if terms.spread_bps else []),
    ]
    return " ".join([*said, *([f"Every trade costs {' and '.join(costs)} of its money."] if costs else [])])


def _meaning(*, is_stocks: bool, price_blind: bool) -> str:
    """Return what can be held, and what its price is."""
    if is_stocks:
        return "A split changes how many shares you hold, a dividend is paid into your cash; nothing is sold short."
    priced = (
        "Prices are not shown: say what you think, not what others think."
        if price_blind
        else "The price of YES is what the market thinks of it; NO costs what YES lacks to $1."
    )
    return (
        "Each market is a question that is answered YES, its first outcome, or NO, its second. A share of a "
        "market's Yes asset pays $1 if the answer is YES, a share of its No asset pays $1 if it is NO, and else "
        f"nothing. {priced}"
    )


def portfolio_json(view: PortfolioView, *, is_stocks: bool, price_blind: bool) -> str:
    """Return the stocks, or the markets with the names of their assets, as JSON on one line."""
    rows = []
    for each in view.markets:
        row: dict[str, object] = {"ticker": title_line(each.market.id)}
        if not is_stocks:
            row = {"id": each.market.id, "question": title_line(each.market.question)}
            row |= {"event": title_line(each.event_title), "assets": [each.asset(side) for side in SIDES]}
        price = view.prices.get(each.yes)
        if not price_blind and price is not None:
            row["close" if is_stocks else "price_yes"] = round(price.mid, 6)
        rows.append(row)
    return json_line("stocks" if is_stocks else "markets", rows)


def _view(
    view: PortfolioView,
    *,
    is_stocks: bool,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
) -> str:
    parts = ["\n".join(_account_lines(view, price_blind=price_blind))]
    if view.past.allocations:
        lines = [_allocation_line(each, price_blind=price_blind) for each in view.past.allocations]
        parts.append("\n".join(["your last allocations, the oldest first:", *lines]))
    lines_of = _stock_lines if is_stocks else _market_lines
    for each in view.markets:
        news = _news_lines(view.past.news[each.market.id]) if each.market.id in view.past.news else ()
        parts.append("\n".join([*lines_of(view, each, price_blind=price_blind, history=history), *news]))
    # Shares exclude each other nowhere.
    parts += () if is_stocks else exclusive_lines(each.market for each in view.markets)
    return "\n\n".join(parts)


def _account_lines(view: PortfolioView, *, price_blind: bool) -> Iterator[str]:
    """Yield what an account has, a line each."""
    account, value_usd = view.account, view.value_usd
    yield f"cash: ${account.cash_usd:.2f}"
    if account.owing:
        yield "the cash is below zero, because a market was settled anew: sales repay it first, and nothing is bought"
    if not price_blind and value_usd is not None:
        gained = f", a return of {value_usd / account.paid_in_usd - 1.0:+.4f}" if account.paid_in_usd else ""
        yield f"value of the portfolio: ${value_usd:.2f}; paid in: ${account.paid_in_usd:.2f}{gained}"
    if not account.positions:
        yield "positions: none"
        return
    names = {instrument: name for name, instrument in view.assets.items()}
    yield "positions:"
    for instrument, held in account.positions.items():
        name = names.get(instrument, instrument.id)
        worth = "" if price_blind else _worth(view, instrument, held.shares, held.cost_usd, value_usd)
        yield f"- {name}: {held.shares:.6g} shares{worth}"


def _worth(view: PortfolioView, instrument: Instrument, shares: float, cost_usd: float, value_usd: float | None) -> str:
    """Return what a position cost and is worth, and at which price."""
    average = f", bought at {cost_usd / shares:.4g} on average"
    now, last = view.prices.get(instrument), view.past.last_prices.get(instrument)
    price = now or last
    if price is None:
        return f"{average}; no price is known, so it cannot be traded"
    worth_usd = shares * price.mid
    weight = f", weight {worth_usd / value_usd:.4f}" if value_usd else ""
    said = f"{average}, worth ${worth_usd:.2f} at {price.mid:.4g}{weight}"
    return said if now is not None else f"{said}; that price is of {format_instant(price.at)}, now it cannot be traded"


def _allocation_line(past: PastAllocation, *, price_blind: bool) -> str:
    """Return a remembered allocation, with what the account was worth then."""
    left = 1.0 - sum(weight for name, weight in past.weights.items() if name != CASH)
    held = {name: weight for name, weight in past.weights.items() if name != CASH and weight > 0.0}
    weights = ", ".join(f"{name} {weight:.4g}" for name, weight in {**held, CASH: max(0.0, left)}.items())
    worth = f" (value ${past.value_usd:.2f}, return so far {past.accumulated_return:+.4f})"
    return f"- {past.at:%Y-%m-%d %H:%M}{'' if price_blind else worth}: {weights}"


def _market_lines(
    view: PortfolioView, each: MarketView, *, price_blind: bool, history: Callable[[str], tuple[PricePoint, ...]]
) -> Iterator[str]:
    market = each.market
    yield f"market id: {market.id}"
    yield f"question: {title_line(market.question)}"
    if title_line(each.event_title) != title_line(market.question):
        yield f"event: {title_line(each.event_title)}"
    yield f"outcomes: {' / '.join(map(title_line, market.outcomes))}"
    yield f"assets: {', '.join(each.asset(side) for side in SIDES)}"
    if market.closes_at is not None:
        yield f"closes: {format_instant(market.closes_at)}"
    if market.is_other:
        yield OTHER_WORDS
    if not each.in_universe:
        yield "no longer among the markets of this game; it is shown because you hold it"
    if not price_blind:
        yield from _price_lines(view, each, history)
    if market.description:
        yield f"rules: {paragraph(market.description, MAX_RULES_CHARACTERS)}"


def _stock_lines(
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


def _price_lines(
    view: PortfolioView, each: MarketView, history: Callable[[str], tuple[PricePoint, ...]]
) -> Iterator[str]:
    price = view.prices.get(each.yes)
    if price is None:
        yield "it has no price now, so nothing of it can be traded"
    else:
        for side in SIDES:
            yield f"price of {side} now: {_quoted(view, each, side)}"
    if each.market.orders.words:
        yield f"orders at the venue: {each.market.orders.words}"
    if shown := history(each.market.id)[-HISTORY_DAYS:]:
        daily = ", ".join(f"{point.at:%Y-%m-%d} {point.price:.3g}" for point in shown)
        yield f"price of YES by day: {daily}"


def _quoted(view: PortfolioView, each: MarketView, side: Side) -> str:
    price = view.prices[each.instrument(side)]
    book = f" (bid {price.bid:.4g}, ask {price.ask:.4g})" if price.bid is not None and price.ask is not None else ""
    return f"{price.mid:.4g}{book}"


def _news_lines(news: tuple[NewsItem, ...] | None) -> Iterator[str]:
    """Yield the news of a market, or that there are none."""
    if news is None:
        yield f"news: {NEWS_UNAVAILABLE}"
    elif not news:
        yield "news: none of these days was found"
    else:
        yield "news:"
        for item in news:
            snippet = title_line(bounded(item.snippet, MAX_SNIPPET_CHARACTERS))
            yield f"  - {item.published_at:%Y-%m-%d} {title_line(item.title)}: {snippet}"
            if item.url:
                yield f"    address: {title_line(item.url)}"
