"""What a run can cost at the most, known before anything is spent."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from predibot.agents.answer import MAX_REPAIRS
from predibot.agents.background import works_in_background
from predibot.agents.price import Price
from predibot.agents.worst_case import SEARCHING_CONTEXT_TOKENS
from predibot.domain.budget import Limits
from predibot.domain.event import Event
from predibot.ledger.catalogue import event_to_json
from predibot.plugins import load_strategy
from predibot.recipe import BotSpec, Recipe

if TYPE_CHECKING:
    from predibot.jobs.equipment import Equipment

PROMPT_TOKENS = 16_000
"""Instructions and tools, bounded by their bytes."""
MARKET_TOKENS = 1_500
"""What stands about a market beside its own text: twenty daily prices, quotes, names of fields."""
TOOL_CALLS_A_TURN = 8
RESULT_TOKENS = 16_000
"""The longest result of a tool that stays whole, bounded by its bytes."""
GIST_TOKENS = 1_200
"""What stays of an older result and of the call it answers."""
OUTPUT_TOKENS = 4_096
NO_MODEL = "no model"


@dataclass(frozen=True, slots=True)
class BotCost:
    """The most one bot of a run can cost."""

    bot: str
    decisions: int
    usd: float | None
    """None where it is unknown, which is not nothing."""
    basis: str
    """Where the number comes from."""


@dataclass(frozen=True, slots=True)
class RunCost:
    """The most a run can cost; spending of the same day before it is not looked at."""

    bots: tuple[BotCost, ...]
    usd: float | None
    known_usd: float
    """Of the bots whose cost is known."""
    basis: str


def run_cost(recipe: Recipe, events: Sequence[Event], equipment: "Equipment | None") -> RunCost:
    """Return the most a run of these events can cost, asking nobody.

    Raises:
        UsageError: If a model of a bot cannot be had.
    """
    bots = tuple(_bot_cost(bot, recipe, events, equipment) for bot in recipe.bots)
    known = math.fsum(bot.usd for bot in bots if bot.usd is not None)
    unknown = [bot.bot for bot in bots if bot.usd is None]
    run, basis = _least((known, "the sum of its bots"), *_of_levels(recipe, ("run", "day")))
    # A limit in dollars holds for every bot, so with one nothing is unknown.
    return RunCost(bots, None if unknown else run, run, f"unknown for {', '.join(unknown)}" if unknown else basis)


def _bot_cost(bot: BotSpec, recipe: Recipe, events: Sequence[Event], equipment: "Equipment | None") -> BotCost:
    if equipment is None or bot.model is None:
        return BotCost(bot.name, len(events), 0.0, NO_MODEL)
    prices = [price for price in equipment.prices(bot) if price is not None]
    if len(prices) < len(equipment.prices(bot)):
        return BotCost(bot.name, len(events), None, "the price of its model is unknown")
    search_usd = equipment.search_usd() if _has_tools(bot) else 0.0
    if search_usd is None:
        return BotCost(bot.name, len(events), None, "the price of its searches is unknown")
    each = [_decision_cost(bot, recipe, event, prices, search_usd) for event in events]
    usd = math.fsum(usd for usd, _ in each)
    whole = (usd, each[0][1] if each else "no events")
    least, basis = _least(whole, *_of_levels(recipe, ("bot",)))
    return BotCost(bot.name, len(events), least, basis)


def _decision_cost(
    bot: BotSpec, recipe: Recipe, event: Event, prices: Sequence[Price], search_usd: float
) -> tuple[float, str]:
    limits = recipe.limits.get("decision", Limits())
    calls = _calls(bot)
    if limits.steps is not None:
        calls = min(calls, limits.steps)
    tokens_in = _input_tokens(bot, event, calls)
    output = _report_tokens(bot) or OUTPUT_TOKENS
    call_usd = max((price.usd(tokens_in, output) for price in prices), default=0.0)
    searches = calls * TOOL_CALLS_A_TURN if limits.searches is None else limits.searches
    searches_usd = searches * search_usd
    calls_usd, basis = calls * call_usd, f"{calls} calls of at most {tokens_in:,} tokens each a decision"
    if bot.model and works_in_background(bot.model):
        report_usd, searches_usd = _background_usd(bot, prices[0])
        calls_usd = report_usd + (calls - 1) * call_usd
        basis = f"one report in the background and {calls - 1} calls a decision"
    ways = [(calls_usd + searches_usd, basis)]
    if limits.tokens is not None:
        ways.append((_tokens_usd(limits.tokens, calls, prices) + searches_usd, "the limit of tokens of each decision"))
    if limits.usd is not None:
        ways.append((limits.usd, "the limit of each decision"))
    return _least(*ways)


def _background_usd(bot: BotSpec, price: Price) -> tuple[float, float]:
    """Return the most that a report in the background costs by its tokens, and by the searches of its model."""
    most = int(load_strategy(bot.strategy).max_searches)  # type: ignore[attr-defined] # of those that report
    tokens_usd = price.usd((most + 1) * SEARCHING_CONTEXT_TOKENS, _report_tokens(bot))
    return tokens_usd, most * (price.search_usd or 0.0)


def _report_tokens(bot: BotSpec) -> int:
    """Return the most tokens a report has, 0 for a bot that has none written."""
    return int(getattr(load_strategy(bot.strategy), "report_tokens", 0))


def _calls(bot: BotSpec) -> int:
    """Return how often a bot may ask its models for one decision, the question whether they call tools included."""
    strategy = load_strategy(bot.strategy)
    if hasattr(strategy, "max_steps"):
        return int(strategy.max_steps) + MAX_REPAIRS + 1
    report = 1 if hasattr(strategy, "extract_model") else 0
    return report + (1 + MAX_REPAIRS) * max(1, int(getattr(strategy, "samples", 1)))


def _input_tokens(bot: BotSpec, event: Event, calls: int) -> int:
    """Return more tokens than one call can send, counting a token for every byte."""
    prompt = PROMPT_TOKENS + len(event_to_json(event).encode()) + MARKET_TOKENS * len(event.markets)
    if not _has_tools(bot):
        return prompt + _report_tokens(bot) * 4 + (1 + MAX_REPAIRS) * OUTPUT_TOKENS
    return prompt + TOOL_CALLS_A_TURN * (RESULT_TOKENS + calls * GIST_TOKENS)


def _has_tools(bot: BotSpec) -> bool:
    return hasattr(load_strategy(bot.strategy), "min_searches")


def _tokens_usd(tokens: int, calls: int, prices: Sequence[Price]) -> float:
    return max(
        (max(price.usd(tokens, 0), price.usd(0, tokens)) + calls * price.call_usd for price in prices), default=0
    )


def _of_levels(recipe: Recipe, levels: Iterable[str]) -> list[tuple[float, str]]:
    found = ((level, limits.usd) for level, limits in recipe.limits.items() if level in levels)
    return [(usd, f"the {level}'s limit") for level, usd in found if usd is not None]


def _least(*ways: tuple[float, str]) -> tuple[float, str]:
    return min(ways, key=lambda way: way[0])
