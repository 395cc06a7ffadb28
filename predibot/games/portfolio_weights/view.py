"""The view of a portfolio: an account and the markets that it may buy, as objects and in words for a model."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from predibot.domain.account import Account
from predibot.domain.account_past import CASH, AccountPast, NewsItem, PastAllocation, asset_name
from predibot.domain.clock import format_instant
from predibot.domain.decision import Order
from predibot.domain.event import OTHER_WORDS, Market, exclusive_lines
from predibot.domain.price import SIDES, Instrument, Price, PricePoint, Side
from predibot.domain.untrusted_text import paragraph, shorten, title_line
from predibot.errors import PluginError
from predibot.games.accounts import value_usd
from predibot.games.answers import Words, as_block, json_line
from predibot.games.portfolio_weights.terms import BothSides, Filling, FillName, Overweight, PortfolioTerms

HISTORY_DAYS = 10
MAX_RULES_CHARACTERS = 3_000
MAX_SNIPPET_CHARACTERS = 600
NEWS_UNAVAILABLE = "news unavailable"


@dataclass(frozen=True, slots=True)
class MarketView:
    """A market of the view, and the instruments of its two sides."""

    event_id: str
    event_title: str
    market: Market
    yes: Instrument
    no: Instrument
    in_universe: bool = True
    """Whether the run plays it; else it is shown because the account owns shares of it."""
    sector: str = ""
    """The sector of a share's company; empty where nobody states it."""

    def instrument(self, side: Side) -> Instrument:
        """Return the outcome that pays if the answer is this side."""
        return self.yes if side == "YES" else self.no

    def asset(self, side: Side) -> str:
        """Return the name of one side in prompts and answers."""
        return self.market.id if self.market.is_share else asset_name(self.market.id, side)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the sides that can be bought; a stock has one."""
        return SIDES[:1] if self.market.is_share else SIDES


@dataclass(frozen=True, slots=True)
class PortfolioView:
    """What a bot sees when it decides on its weights."""

    at: datetime
    account: Account
    markets: tuple[MarketView, ...]
    past: AccountPast = field(default_factory=AccountPast)
    prices: Mapping[Instrument, Price] = field(default_factory=dict)
    benchmarks: Mapping[str, Instrument] = field(default_factory=dict)
    """Index funds by ticker; only an index bot buys them."""

    @property
    def universe(self) -> tuple[MarketView, ...]:
        """Return the markets that the run plays."""
        return tuple(market for market in self.markets if market.in_universe)

    @property
    def prices_yes(self) -> dict[str, float]:
        """Return the price of YES of each priced market that the run plays, by market id, in order."""
        return {each.market.id: self.prices[each.yes].mid for each in self.universe if each.yes in self.prices}

    @property
    def dearer_sides(self) -> dict[str, float]:
        """Return 1 for each share, and each market of the run whose YES costs half a dollar or more, else -1. By market
        id, in order; markets without a price are left out.
        """
        is_share = {each.market.id for each in self.universe if each.market.is_share}
        return {name: 1.0 if name in is_share or yes >= 0.5 else -1.0 for name, yes in self.prices_yes.items()}

    @property
    def has_begun(self) -> bool:
        """Return whether the bot has decided on an allocation before."""
        return bool(self.past.allocations or self.past.pending or self.account.positions or self.account.realised_usd)

    @property
    def assets(self) -> dict[str, Instrument]:
        """Return the instrument of each asset that can have a weight, by name; CASH has none."""
        return {market.asset(side): market.instrument(side) for market in self.markets for side in market.sides}

    @property
    def marks(self) -> dict[Instrument, Price]:
        """Return the price that values each instrument: the current one, else the last known."""
        return {**self.past.last_prices, **self.prices}

    @property
    def value_usd(self) -> float | None:
        """Return the worth of the account; None where a position was never priced."""
        marks = self.marks
        return value_usd(self.account, marks) if self.account.positions.keys() <= marks.keys() else None

    def weights(self, sides: Mapping[str, float]) -> dict[str, float]:
        """Return weights by asset from signed weights by market id: positive is YES, negative NO, zero neither."""
        shares = {each.market.id for each in self.markets if each.market.is_share}
        return {
            name if name in shares else asset_name(name, "YES" if weight > 0.0 else "NO"): abs(weight)
            for name, weight in sides.items()
            if weight
        }

    def order_benchmark(self, ticker: str) -> tuple[Order, ...]:
        """Return the order that puts the whole account into an index fund, or raise `PluginError` if it is unknown."""
        if ticker not in self.benchmarks:
            known = ", ".join(self.benchmarks) or "none"
            raise PluginError(f"no index fund {ticker[:40]!r} is traded now; the game's benchmarks are {known}")
        return (Order(self.benchmarks[ticker], 1.0, "weight"),)

    def orders(self, weights: Mapping[str, float], asked: Mapping[str, float] | None = None) -> tuple[Order, ...]:
        """Return the orders for weights by asset, shares of the account in [0, 1]; the rest of one is CASH.

        Other positions get the weight 0. No order at all means that every share stays; so all cash is no order only for
        an account without positions. `asked` are the weights in the answer, where a rule has changed them. Raises
        `PluginError` if one is of no asset of the view.
        """
        assets = self.assets
        if unknown := [name for name in weights if name not in assets]:
            raise PluginError(f"a weight is of asset {str(unknown[0])[:80]!r}, which is none of this portfolio")
        named = {assets[name] for name in weights}
        said = {} if asked is None else asked
        orders = [Order(assets[name], weight, "weight", asked=said.get(name)) for name, weight in weights.items()]
        orders += [Order(held, 0.0, "weight") for held in self.account.positions if held not in named]
        return tuple(orders)


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


def view_text(
    view: PortfolioView, *, is_stocks: bool, price_blind: bool, history: Callable[[str], tuple[PricePoint, ...]]
) -> str:
    """Return the account, its last allocations and the markets as text, which has strangers' words in it."""
    parts = ["\n".join(_account_lines(view, price_blind=price_blind))]
    if view.past.allocations:
        lines = [_allocation_line(each, price_blind=price_blind) for each in view.past.allocations]
        parts.append("\n".join(["your last allocations, the oldest first:", *lines]))
    lines_of = _stock_lines if is_stocks else _market_lines
    for each in view.markets:
        news = _news_lines(view.past.news[each.market.id]) if each.market.id in view.past.news else ()
        parts.append("\n".join([*lines_of(view, each, price_blind=price_blind, history=history), *news]))
    # No two stocks exclude each other.
    parts += () if is_stocks else exclusive_lines(each.market for each in view.markets)
    return "\n\n".join(parts)


def _account_lines(view: PortfolioView, *, price_blind: bool) -> Iterator[str]:
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
        yield f"planned end of trading: {format_instant(market.closes_at)}"
    if market.fees is not None:
        yield f"fee of the venue: {market.fees.words}"
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
    if market.description:
        yield f"company: {title_line(market.description)}"
    if each.sector:
        yield f"sector: {title_line(each.sector)}"
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
        if shown := _last_days(history(market.id)):
            daily = "; ".join(_close_text(point, before) for point, before in shown)
            yield f"closes by day, adjusted for splits and dividends since, with each day's change: {daily}"


def _price_lines(
    view: PortfolioView, each: MarketView, history: Callable[[str], tuple[PricePoint, ...]]
) -> Iterator[str]:
    price = view.prices.get(each.yes)
    if price is None:
        yield "it has no price now, so nothing of it can be traded"
    else:
        for side in SIDES:
            yield f"price of {side} now: {_price_text(view, each, side)}"
    if each.market.orders.words:
        yield f"orders at the venue: {each.market.orders.words}"
    if shown := _last_days(history(each.market.id)):
        daily = ", ".join(
            f"{point.at:%Y-%m-%d} {point.price:.3g}{'' if before is None else f' ({point.price - before:+.3f})'}"
            for point, before in shown
        )
        yield f"price of YES by day, with each day's change: {daily}"


def _last_days(points: tuple[PricePoint, ...]) -> tuple[tuple[PricePoint, float | None], ...]:
    """Return the last days with the price before each; None for the first day of a history."""
    before = [None, *(point.price for point in points)]
    return tuple(zip(points, before, strict=False))[-HISTORY_DAYS:]


def _close_text(point: PricePoint, before: float | None) -> str:
    change = f" {point.price / before - 1.0:+.2%}" if before else ""
    volume = "" if point.volume_shares is None else f", {point.volume_shares:,.0f} shares traded"
    return f"{point.at:%Y-%m-%d} {point.price:.6g}{change}{volume}"


def _price_text(view: PortfolioView, each: MarketView, side: Side) -> str:
    price = view.prices[each.instrument(side)]
    book = f" (bid {price.bid:.4g}, ask {price.ask:.4g})" if price.bid is not None and price.ask is not None else ""
    return f"{price.mid:.4g}{book}"


def _news_lines(news: tuple[NewsItem, ...] | None) -> Iterator[str]:
    if news is None:
        yield f"news: {NEWS_UNAVAILABLE}"
    elif not news:
        yield "news: none of these days was found"
    else:
        yield "news:"
        for item in news:
            snippet = title_line(shorten(item.snippet, MAX_SNIPPET_CHARACTERS))
            yield f"  - {item.published_at:%Y-%m-%d} {title_line(item.title)}: {snippet}"
            if item.url:
                yield f"    address: {title_line(item.url)}"


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
    "scale": "Weights that add up to more than 1 are scaled down together, to 1.",
    "refuse": "Weights that add up to more than 1 are refused.",
}
_BOTH_SIDES: Mapping[BothSides, str] = {
    "refuse": "Give no weight to both sides of one market.",
    "net": "Of both sides of one market only the difference is held.",
}


_OBJECTIVE = (
    "What counts is what the portfolio gains over many steps, measured against how much it swings and falls on the "
    "way. Gain more than equal weights in everything would."
)
_MARKETS = (
    "YES of a market is worth holding only if your probability of YES is above its price by more than a trade costs, "
    "and NO only if it is below the price by more than that; in between, hold neither. The larger the difference, the "
    f"more weight it can bear. Spread the weights, so that no single answer decides all, and leave the rest in {CASH}."
)
_STOCKS = (
    "A stock's price holds what is known already: give a stock more weight only if you expect it to gain more than "
    f"the others by more than a trade costs. Spread the weights over kinds of business, and hold {CASH} where you "
    "expect a fall."
)


def portfolio_words(
    view: PortfolioView,
    terms: PortfolioTerms,
    *,
    price_blind: bool,
    history: Callable[[str], tuple[PricePoint, ...]],
    untrusted: Callable[[str], str],
) -> Words:
    """Return the text on a portfolio for a model; strangers' words are bounded and inside the fence."""
    is_stocks = terms.is_stocks
    asset, things = ("stock", "stocks") if is_stocks else ("asset", "markets")
    wanted = (
        f"Give each {asset} that you want to hold its weight, its share of the whole portfolio, between 0 and 1, and "
        f"{CASH} the rest; what you hold and do not name is sold. {(rules := _rules(terms))}"
    )
    probabilities = "You may also give the probability of YES of any market, by its id, between 0 and 1."
    shown = untrusted(view_text(view, is_stocks=is_stocks, price_blind=price_blind, history=history))
    traded = "Every change of a weight is a trade: make it only for a gain above its costs."
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
            traded if is_stocks else f"{traded} {probabilities}",
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
        objective=f"{_OBJECTIVE} {_STOCKS if is_stocks else _MARKETS}",
    )


def _rules(terms: PortfolioTerms) -> str:
    both, overweight = _BOTH_SIDES[terms.both_sides], _OVERWEIGHT[terms.overweight]
    said = [f"All weights together, {CASH} included, add up to 1; what you leave over stays in {CASH}."]
    if not terms.is_stocks:
        return " ".join([*said, both, overweight, _FILLING[terms.fill], _FILLS[terms.fills]])
    when = "first close after your decision" if terms.fill == "next" else "last close, the one that is shown"
    said += [overweight, f"Your weights are traded at the {when}, in parts of shares too, and then held."]
    costs = [
        *([f"{terms.fee_bps / 100:g} % of its money as a fee"] if terms.fee_bps else []),
        *([f"{terms.spread_bps / 200:g} % of its price as half the spread"] if terms.spread_bps else []),
    ]
    return " ".join([*said, *([f"Every trade costs {' and '.join(costs)}."] if costs else [])])


def _meaning(*, is_stocks: bool, price_blind: bool) -> str:
    """Return what an account can own, and what its price means."""
    if is_stocks:
        return "A split changes how many shares you hold, a dividend is paid into your cash; nothing is sold short."
    priced = (
        "Prices are not shown: say what you think, not what others think."
        if price_blind
        else "The price of YES is what the market expects it to pay; NO costs one minus that."
    )
    return (
        "Each market is a question; its first outcome is YES, its second NO. A share of its Yes asset pays $1 if the "
        "answer is YES, a share of its No asset pays $1 if it is NO; if the market is cancelled or split, both pay "
        f"what its rules say, such as $0.5. {priced}"
    )
