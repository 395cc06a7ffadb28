"""The words of a cohort: the text for a model on its account and 500 markets, within a number of tokens."""

import math
from collections.abc import Callable, Iterator

from predibot.domain.clock import format_instant
from predibot.domain.event import OTHER_WORDS, exclusive_lines
from predibot.domain.untrusted_text import title_line
from predibot.games.answers import TOKEN_BYTES, Words
from predibot.games.weekly_cohort.methodology import CANNOT_BET_USD, MAX_SHARE, MIN_BET_USD, STAKE_USD
from predibot.games.weekly_cohort.view import CohortMarket, CohortView, ShownPosition

VIEW_TOKENS = 48_000
"""The most that the account and 500 markets take, with 60 positions, by `tokens_bound`."""
_LEVELS: tuple[tuple[int, int, int], ...] = ((300, 60, 40), (160, 40, 16), (100, 30, 8), (60, 20, 4), (40, 16, 3))
"""Bytes of a question, bytes of an outcome's name, and outcomes shown, from generous to short."""


def tokens_bound(text: str) -> int:
    """Return an upper estimate of the tokens of a text: a third of its bytes.

    Examples:
        >>> tokens_bound("Will it rain?")
        5
    """
    return math.ceil(len(text.encode()) / TOKEN_BYTES)


_OBJECTIVE = (
    "What counts first is what the account is worth when everything is settled: make that as large as you can. Two "
    "Brier scores count besides, the smaller the better: one of the probabilities that you give, and one of your bets, "
    "of which a larger one counts as a more certain forecast. Buy a side only if your probability of it is above what "
    "it costs, and sell one whose price is above your probability of it by more than a sale costs. Else HOLD."
)


def cohort_words(view: CohortView, *, price_blind: bool, untrusted: Callable[[str], str]) -> Words:
    """Return the text on a cohort for a model; strangers' words are bounded and inside the fence."""
    rules = _rules(view)
    sides = (
        "In a market of two outcomes the sides are YES and NO; a share of YES costs the price and a share of NO one "
        "minus the price. In a market of more outcomes each outcome is a side with a price of its own: call it by its "
        "name, or by its number, such as #3, where one stands before it. A share pays $1 if its side is what happens, "
        "and nothing if it is not; of a cancelled market it pays what the rules say."
    )
    ask = (
        "Answer with one action. BET with a list of bets, each a market_id, a side and an amount in dollars; SELL with "
        "a list of sells, each a position_id and the percentage of it, from 1 to 100; or HOLD. Say why in reasoning. "
        f"You may give the probability of YES of any market of two outcomes in probabilities, by its id.\n{rules}"
    )
    return Words(
        task=f"You play prediction markets with an account that began with ${STAKE_USD:,.0f} of imaginary money. Once "
        "a week you bet, sell or hold.",
        view=f"# Your account and the markets\n\n{sides}\n\n{untrusted(view_text(view, price_blind=price_blind))}",
        steps=(
            "For every market that you know something about ask how likely each side is, and whether its price says "
            "something else.",
            f"Choose one action: BET, SELL or HOLD. {rules}",
        ),
        entries="with one action",
        ask=ask,
        report_about="on these markets and on what to do this week",
        report="Say whether to BET, to SELL or to HOLD, and in numbers: for each bet the market id, the side and the "
        "dollars, or for each sale the position id and the percentage; with the reasons and what speaks against them. "
        f"{rules}",
        extract_about=f"about a portfolio and {len(view.markets)} markets",
        extract_from="take the action, and its bets or sells, from the report as they stand.\n"
        "Where the report names no action, answer with HOLD.",
        extract_view="The markets, and the positions that are held:\n\n" + untrusted(view_text(view, price_blind=True)),
        extract=rules,
        objective=_OBJECTIVE,
    )


def view_text(view: CohortView, *, price_blind: bool = False) -> str:
    """Return the account and the markets, a line each; above `VIEW_TOKENS`, names are cut shorter."""
    account = "\n".join(_account_lines(view, price_blind=price_blind))
    groups = exclusive_lines(market.market for market in view.markets)
    price = "outcomes" if price_blind else "price of YES, or of each outcome"
    header, text = f"markets, as id | question | category | {price} | volume | planned end of trading:", ""
    for level in _LEVELS:
        lines = [_market_line(market, level, price_blind=price_blind) for market in view.markets]
        text = "\n".join((account, "", header, *lines, *groups))
        if tokens_bound(text) <= VIEW_TOKENS:
            break
    return text


def _rules(view: CohortView) -> str:
    methodology = view.methodology
    share = f"{MAX_SHARE:.0%} of your cash"
    cap = (
        f"All bets of an answer together are at most {share}, and all of them are booked or none"
        if methodology.cap == "batch"
        else f"Each bet is at most {share} after the bets before it, and is booked by itself"
    )
    fees = _fee_words(view) if methodology.fees else "There are no fees."
    return (
        f"A bet is at least ${MIN_BET_USD:g}. {cap}. You hold at most one position a market and side; betting on it "
        f"again adds to it. Closed markets are neither bought nor sold. {fees} There is never new money."
    )


def _fee_words(view: CohortView) -> str:
    fees = {each.market.fees for each in view.markets if each.market.fees is not None}
    most = max(fees, key=lambda each: each.share_usd(0.5), default=None)
    if most is None:
        return "The venue's fees come on top."
    at_most = "at most " * (len(fees) > 1)
    return f"The venue's fees come on top, {at_most}{most.words}." if most.rate else "The venue takes no fees."


def _account_lines(view: CohortView, *, price_blind: bool) -> Iterator[str]:
    yield f"date: {format_instant(view.at)}"
    yield f"cohort: {view.cohort}, decision week {view.week}"
    # Whole cents, rounded down, so that 25 % of the shown cash is never too much.
    cash_usd = math.floor(view.account.cash_usd * 100.0 + 1e-7) / 100.0
    most_usd = math.floor(max(0.0, MAX_SHARE * cash_usd) * 100.0 + 1e-7) / 100.0
    yield f"cash: ${cash_usd:,.2f}, of which 25 % is ${most_usd:,.2f}"
    if view.account.owing:
        yield "you owe what a reversed settlement took back: you can only sell or hold"
    elif view.standing != "playing":
        yield f"below ${CANNOT_BET_USD:g} of cash no bet is possible: you can only sell or hold"
    if not view.positions:
        yield "positions: none"
        return
    worth = "" if price_blind else " | average entry | price of your side | value | unrealised P/L"
    yield f"positions, as position id | market id | side | shares{worth}:"
    for position in view.positions:
        yield _position_line(position, price_blind=price_blind)


def _position_line(position: ShownPosition, *, price_blind: bool) -> str:
    side = _cut(title_line(position.outcome.side), _LEVELS[1][1])
    parts = [position.id, position.market.id, side, f"{position.shares:.2f}"]
    if not price_blind:
        parts.append(f"{position.average_price:.4g}")
        if position.price is None or position.value_usd is None or position.unrealised_usd is None:
            parts.append("no price is known")
        else:
            stale = f" (last known, of {format_instant(position.price.at)})" if position.is_stale else ""
            gain = f"{'-' if position.unrealised_usd < 0 else '+'}${abs(position.unrealised_usd):.2f}"
            parts += [f"{position.price.mid:.4g}{stale}", f"${position.value_usd:.2f}", gain]
    if position.is_closed:
        parts.append("closed and not settled yet: it cannot be sold")
    elif position.is_stale:
        parts.append("no price now: it cannot be sold")
    return " | ".join(parts)


def _market_line(market: CohortMarket, level: tuple[int, int, int], *, price_blind: bool) -> str:
    question_bytes, label_bytes, outcomes = level
    said = market.market
    volume = "-" if said.volume_usd is None else _short_usd(said.volume_usd)
    closes = "-" if said.closes_at is None else f"{said.closes_at:%Y-%m-%d}"
    left = " | not among this week's markets: you can only sell it"
    state = " | closed" if said.closed else "" if market.in_universe else left
    question = _cut(title_line(said.question).replace("|", "/"), question_bytes)
    priced = _outcomes(market, label_bytes, outcomes, price_blind=price_blind)
    state += f" | {OTHER_WORDS}" if said.is_other else ""
    return f"{said.id} | {question} | {market.category or '-'} | {priced} | {volume} | {closes}{state}"


def _outcomes(market: CohortMarket, label_bytes: int, most: int, *, price_blind: bool) -> str:
    if len(market.outcomes) == 2:
        yes, no = market.outcomes
        plain = {title_line(yes.label).casefold(), title_line(no.label).casefold()} == {"yes", "no"}
        names = "" if plain else f"YES={_label(yes.label, label_bytes)}, NO={_label(no.label, label_bytes)}"
        price = "" if price_blind else "no price" if yes.price is None else f"{yes.price.mid:.4g}"
        return ": ".join(filter(None, (names, price))) or "YES, NO"
    found = []
    # The cheapest outcomes are left out; without prices the order must not give them away.
    by_price = sorted(market.outcomes, key=lambda each: -1.0 if each.price is None else each.price.mid, reverse=True)
    shown = {each.side for each in (market.outcomes if price_blind else by_price)[:most]}
    for outcome in market.outcomes:
        if outcome.side in shown:
            price = "no price" if outcome.price is None else f"{outcome.price.mid:.4g}"
            # An answer cannot repeat a shortened name, so the number stands before it.
            name = _label(outcome.side, label_bytes)
            name = name if name == outcome.side else f"#{market.outcomes.index(outcome) + 1}={name}"
            found.append(name if price_blind else f"{name} {price}")
    left = len(market.outcomes) - len(found)
    return "; ".join(found) + (f"; {left} more" if left else "")


def _label(text: str, size: int) -> str:
    return _cut(title_line(text).replace("|", "/"), size)


def _cut(text: str, size: int) -> str:
    data = text.encode()
    return text if len(data) <= size else data[: size - 3].decode(errors="ignore").rstrip() + "…"


def _short_usd(amount_usd: float) -> str:
    """Return dollars in at most four digits, such as `$1.2M` or `$950`."""
    for size, unit in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if amount_usd >= size:
            return f"${amount_usd / size:.3g}{unit}" if amount_usd >= 100 * size else f"${amount_usd / size:.2g}{unit}"
    return f"${amount_usd:.0f}"
