"""From how talking to a model ended to what a strategy returns."""

import re
from dataclasses import replace

from predibot.agents.answer.parse import Check, LoopResult
from predibot.contracts import Context
from predibot.domain.decision import Abstention, Decision
from predibot.domain.price import Quote
from predibot.errors import AnswerError

MAX_SOURCES = 50
MAX_SOURCE_CHARACTERS = 500
_WEB = re.compile("https?://", re.IGNORECASE)


def checked_by(context: Context, *, price_blind: bool = False) -> Check:
    """Return the check that a decision keeps the rules of the context's game at the quotes that were shown.

    Args:
        context: The event, its quotes and the game.
        price_blind: Whether complaints must not say a price: that a bet cannot
            be booked is then said without the reason.
    """
    quotes = {market.id: market.quote for market in context.subject.markets if market.quote is not None}

    def check(decision: Decision) -> None:
        context.game.book(decision, context.subject, quotes, venue=context.venue)

    def check_blind(decision: Decision) -> None:
        try:
            check(decision)
        except AnswerError:
            hidden = {market_id: _hidden(quote) for market_id, quote in quotes.items()}
            context.game.book(decision, context.subject, hidden, venue=context.venue)
            # Without the cause: it says the price.
            raise AnswerError(_barred(decision, check)) from None

    return check_blind if price_blind else check


def _hidden(quote: Quote) -> Quote:
    """Return a quote that is as usable as another, and says nothing of its price."""
    is_usable = quote.price is not None and quote.price.usable
    return Quote(quote.at, bid=0.5, ask=0.5) if is_usable else quote


def _barred(decision: Decision, check: Check) -> str:
    """Return that bets of a decision cannot be booked at their prices, and which."""
    barred = []
    for market in decision.markets:
        alone = tuple(each if each is market else replace(each, bet_usd=0.0) for each in decision.markets)
        try:
            check(replace(decision, markets=alone, unallocated_usd=None))
        except AnswerError:
            barred.append(repr(market.market_id))
    return f"no bet on this side can be booked now for market {', '.join(barred)}; set it to 0"


def decided(result: LoopResult) -> Decision | Abstention:
    """Return the decision with its notes and the addresses a model gave, or an abstention with the reason."""
    if result.decision is None:
        return Abstention(result.reason, result.kind)
    given = (" ".join(url[: 2 * MAX_SOURCE_CHARACTERS].split()) for url in result.sources[:MAX_SOURCES])
    # A page may have had the model name anything; what is no web address is no source.
    sources = tuple(f"source: {url[:MAX_SOURCE_CHARACTERS]}" for url in given if _WEB.match(url))
    return replace(result.decision, notes=(*result.decision.notes, *result.notes, *sources))
