"""From how talking to a model ended to what a strategy returns."""

from dataclasses import replace

from predibot.agents.answer import Check, LoopResult
from predibot.contracts import Context
from predibot.domain.decision import Abstention, Decision

MAX_SOURCES = 50
MAX_SOURCE_CHARACTERS = 500


def checked_by(context: Context) -> Check:
    """Return the check that a decision keeps the rules of the context's game at the quotes that were shown."""
    quotes = {market.id: market.quote for market in context.subject.markets if market.quote is not None}

    def check(decision: Decision) -> None:
        context.game.book(decision, context.subject, quotes, venue=context.venue)

    return check


def decided(result: LoopResult) -> Decision | Abstention:
    """Return the decision with its notes and the addresses a model gave, or an abstention with the reason."""
    if result.decision is None:
        return Abstention(result.reason)
    given = (" ".join(url.split())[:MAX_SOURCE_CHARACTERS] for url in result.sources[:MAX_SOURCES])
    sources = tuple(f"source: {url}" for url in given if url)
    return replace(result.decision, notes=(*result.decision.notes, *result.notes, *sources))
