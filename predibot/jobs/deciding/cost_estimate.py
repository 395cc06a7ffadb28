"""The cost estimate of a run: the most it can cost, before anything is spent."""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from predibot.agents.budget.price import TokenPrice
from predibot.agents.budget.worst_case import SEARCHING_CONTEXT_TOKENS
from predibot.contracts import ANSWER_TOKENS, MOST_ANSWER_TOKENS, THINKING_TOKENS, ModelNeed
from predibot.domain.budget import Limits
from predibot.domain.decision import ITEM_SUBJECTS, Subject
from predibot.domain.event import Event
from predibot.domain.replicates import sampled_bot
from predibot.games.answers import TOKEN_BYTES
from predibot.games.cohorts import COHORT
from predibot.ledger.schema.values import event_to_json
from predibot.recipe.recipe import BotSpec, Recipe

if TYPE_CHECKING:
    from predibot.jobs.deciding.agent_setup import AgentSetup

PROMPT_TOKENS = 16_000
"""Most tokens of instructions and tools, bounded by their bytes."""
MARKET_TOKENS = 1_500
"""Most tokens of a market besides its own text: twenty daily prices, quotes, names of fields."""
TOOL_CALLS_A_TURN = 8
RESULT_TOKENS = 16_000
"""The longest tool result that is kept whole, bounded by its bytes."""
GIST_TOKENS = 1_200
"""What remains of an older result and its call."""
NO_MODEL = "no model"


@dataclass(frozen=True, slots=True)
class BotCost:
    """The most one bot of a run can cost."""

    bot: str
    decisions: int
    usd: float | None
    """None where it is unknown, which is not nothing."""
    basis: str
    """How the number was found."""
    advice: str = ""
    """Limits that are too low for a model to think, and sufficient ones; empty if they suffice."""


@dataclass(frozen=True, slots=True)
class RunCost:
    """The most a run can cost; earlier spending of the day is ignored."""

    bots: tuple[BotCost, ...]
    usd: float | None
    known_usd: float
    """The sum over bots with a known cost."""
    basis: str


@dataclass(frozen=True, slots=True)
class _TalkCost:
    """The calls of one conversation, and the most that each takes."""

    model: str
    price: TokenPrice
    calls: float
    """Infinite where only another limit ends it."""
    input_tokens: float
    output_tokens: int
    searches: int
    """Searches by the model itself, per call."""
    tools: bool

    @property
    def call_usd(self) -> float:
        if not math.isfinite(self.input_tokens):
            return 0.0 if self.price.free else math.inf
        return self.price.usd(int(self.input_tokens), self.output_tokens, self.searches)

    @property
    def usd(self) -> float:
        return _times(self.calls, self.call_usd)


def run_cost(recipe: Recipe, events: Sequence[Event], agents: "AgentSetup | None") -> RunCost:
    """Return the most a run of these events can cost, asking nobody; with cohorts, of one cohort in a week."""
    game = recipe.make_game()
    if game.most_view_tokens is not None:
        shown = [TOKEN_BYTES * game.most_view_tokens]
    else:
        of_event = {event.id: _shown_bytes(event) for event in events}
        of_all = sum(of_event.values())
        is_one = {"event", *ITEM_SUBJECTS}
        subjects = game.subjects(events) if game.cohorts is None else (Subject(COHORT, ""),)
        shown = [of_event[each.id] if each.kind in is_one else of_all for each in subjects]
    bots = tuple(_bot_cost(bot, recipe, shown, agents) for bot in recipe.bots)
    usd_of = defaultdict[str, float](float)
    for bot in bots:
        # The samples of a bot share its limit.
        usd_of[sampled_bot(bot.bot)] += bot.usd or 0.0
    known = math.fsum(_cheapest((usd, ""), *_level_limits(recipe, ("bot",)))[0] for usd in usd_of.values())
    unknown = [bot.bot for bot in bots if bot.usd is None]
    # A limit in dollars also holds for bots with unknown prices: under one they cannot play.
    usd, basis = _cheapest(
        (math.inf if unknown else known, "the sum of its bots"), *_level_limits(recipe, ("run", "day"))
    )
    if math.isinf(usd):
        return RunCost(bots, None, known, f"unknown for {', '.join(unknown)}")
    return RunCost(bots, usd, min(known, usd), basis)


def _shown_bytes(event: Event) -> int:
    # A market's text is stored in full; an item's text is its title and payload.
    text = event_to_json(event) if event.markets else event.title + event.payload
    return len(text.encode()) + MARKET_TOKENS * len(event.markets)


def _bot_cost(bot: BotSpec, recipe: Recipe, shown: Sequence[int], agents: "AgentSetup | None") -> BotCost:
    needs, cost = bot.needs, partial(BotCost, bot.name, len(shown))
    if agents is None or not (needs.models or needs.tools):
        return cost(0.0, NO_MODEL)
    shown = [each + len(bot.prompt.encode()) for each in shown]
    prices = {need.name: agents.price(bot, need.name) for need in needs.models}
    known = {name: price for name, price in prices.items() if price is not None}
    if unpriced := [name for name in prices if name not in known]:
        return cost(None, f"the price of {', '.join(unpriced)} is unknown")
    if unbounded := [need.name for need in needs.models if agents.is_unbounded(bot, need)]:
        return cost(None, f"{', '.join(unbounded)} searches by itself and cannot be told how often")
    if (search_usd := agents.search_usd(needs.tools)) is None:
        return cost(None, "the price of its searches is unknown")
    decided = [_decision_cost(bot, recipe, each, known, search_usd, agents) for each in shown]
    whole = (math.fsum(usd for usd, _ in decided), max(decided)[1] if decided else "no events")
    usd, basis = _cheapest(whole, *_level_limits(recipe, ("bot",)))
    return cost(None if math.isinf(usd) else usd, basis, _advice(bot, recipe, max(shown, default=0), known, agents))


def _advice(bot: BotSpec, recipe: Recipe, shown: int, prices: Mapping[str, TokenPrice], agents: "AgentSetup") -> str:
    """Return limits that are less than one call of a thinking model may take, and sufficient ones; else no text."""
    most = ANSWER_TOKENS if bot.terms.settings.reasoning_effort == "none" else THINKING_TOKENS
    steps = recipe.limits.get("decision", Limits()).steps
    calls = [_talk_cost(need, prices[need.name], shown, steps) for need in _with_max_tokens(bot, agents, most)]
    if not calls:
        return ""
    call = max(calls, key=lambda call: (call.call_usd, call.input_tokens + call.output_tokens))
    takes = {"usd": call.call_usd, "tokens": call.input_tokens + call.output_tokens}
    enough = [
        # Rounded up to two digits.
        f"{name} = {float(f'{1.06 * most:.2g}'):g} in [limits.{level}]"
        for level, limits in recipe.limits.items()
        for name, most in takes.items()
        if (given := getattr(limits, name)) is not None and given < most < math.inf
    ]
    what = f"one call of {call.model} that thinks and writes up to {call.output_tokens:,} tokens"
    return f"{what} may not fit its limits; {' and '.join(enough)} would do" if enough else ""


def _decision_cost(
    bot: BotSpec, recipe: Recipe, shown: int, prices: Mapping[str, TokenPrice], search_usd: float, agents: "AgentSetup"
) -> tuple[float, str]:
    limits = recipe.limits.get("decision", Limits())
    needs = _with_max_tokens(bot, agents, MOST_ANSWER_TOKENS)
    talks = _within_steps(limits.steps, [_talk_cost(need, prices[need.name], shown, limits.steps) for need in needs])
    searches_usd = _times(_searches(bot, talks, limits), search_usd)
    ways = [(math.fsum(talk.usd for talk in talks) + searches_usd, _basis(talks, searches_usd))]
    if limits.tokens is not None:
        ways.append((_tokens_usd(limits.tokens, talks) + searches_usd, "the limit of tokens of each decision"))
    if limits.usd is not None:
        ways.append((limits.usd, "the limit of each decision"))
    return _cheapest(*ways)


def _with_max_tokens(bot: BotSpec, agents: "AgentSetup", longest: int) -> list[ModelNeed]:
    """Return a bot's models with the longest answers that the recipe, or else `longest`, allows."""
    most, needs = bot.terms.settings.max_tokens, bot.needs.models
    if most is None:
        rooms = [agents.room(bot, need.name).most_tokens or math.inf for need in needs]
        declared = [max(need.output_tokens, longest) for need in needs]
        return [replace(need, output_tokens=int(min(each))) for need, *each in zip(needs, declared, rooms, strict=True)]
    # A model's further input is another model's answer, which may be longer than declared by this factor.
    longer = max(1.0, most / max((need.output_tokens for need in needs), default=most))
    return [replace(need, output_tokens=most, input_tokens=math.ceil(longer * need.input_tokens)) for need in needs]


def _talk_cost(need: ModelNeed, price: TokenPrice, shown: int, steps: int | None) -> _TalkCost:
    """Return a conversation with more tokens than any of its calls can send, one for every byte."""
    calls = min(math.inf if need.calls is None else need.calls, math.inf if steps is None else steps)
    tokens: float = PROMPT_TOKENS + shown + need.input_tokens
    tokens += TOOL_CALLS_A_TURN * (RESULT_TOKENS + calls * GIST_TOKENS) if need.tools else 0
    # Earlier answers are sent again; with tools they are part of the gists.
    tokens += 0 if need.tools else max(0, calls - 1) * need.output_tokens
    if need.max_searches:
        tokens = max(tokens, (need.max_searches + 1) * SEARCHING_CONTEXT_TOKENS)
    return _TalkCost(need.name, price, calls, tokens, need.output_tokens, need.max_searches or 0, need.tools)


def _within_steps(steps: int | None, talks: Iterable[_TalkCost]) -> list[_TalkCost]:
    """Return conversations with as many calls as a limit in steps allows, the dearest first."""
    left = math.inf if steps is None else steps
    kept = []
    for talk in sorted(talks, key=lambda talk: talk.call_usd, reverse=True):
        kept.append(replace(talk, calls=min(talk.calls, left)))
        left -= kept[-1].calls if math.isfinite(kept[-1].calls) else 0
    return kept


def _searches(bot: BotSpec, talks: Sequence[_TalkCost], limits: Limits) -> float:
    """Return how often a bot can search; infinite if its searches are not the turns of a model."""
    if limits.searches is not None:
        return limits.searches
    calls = [talk.calls for talk in talks if talk.tools]
    return sum(calls) * TOOL_CALLS_A_TURN if calls else math.inf


def _basis(talks: Sequence[_TalkCost], searches_usd: float) -> str:
    if open_ended := [talk.model for talk in talks if math.isinf(talk.usd)]:
        return f"nothing limits how often it asks {open_ended[0]}"
    if math.isinf(searches_usd):
        return "nothing limits how often it searches"
    names = dict.fromkeys(talk.model for talk in talks)
    if len(names) == 1 and math.isfinite(talks[0].calls):
        tokens = int(max(talk.input_tokens for talk in talks))
        return f"{sum(talk.calls for talk in talks):g} calls of at most {tokens:,} tokens a decision"
    each = (_model_basis([talk for talk in talks if talk.model == name]) for name in names)
    return f"{' and '.join(each) or 'its searches'} a decision"


def _model_basis(talks: Sequence[_TalkCost]) -> str:
    calls, usd = sum(talk.calls for talk in talks), math.fsum(talk.usd for talk in talks)
    calls_text = f"{calls:g} call{'' if calls == 1 else 's'}" if math.isfinite(calls) else "all calls"
    return f"{calls_text} of {talks[0].model} for at most ${usd:{'.2f' if usd >= 0.1 or not usd else '.2g'}}"


def _tokens_usd(tokens: int, talks: Sequence[_TalkCost]) -> float:
    """Return the most that so many tokens cost at any model, plus the fees per call and search."""
    prices = [(talk.price.input_usd_per_million_tokens, talk.price.output_usd_per_million_tokens) for talk in talks]
    beside = (_times(talk.calls, talk.price.usd(0, 0, talk.searches)) for talk in talks)
    return tokens / 1e6 * max(map(max, prices), default=0.0) + math.fsum(beside)


def _times(count: float, usd: float) -> float:
    return count * usd if usd else 0.0


def _level_limits(recipe: Recipe, levels: Iterable[str]) -> list[tuple[float, str]]:
    found = ((level, limits.usd) for level, limits in recipe.limits.items() if level in levels)
    return [(usd, f"the {level}'s limit") for level, usd in found if usd is not None]


def _cheapest(*ways: tuple[float, str]) -> tuple[float, str]:
    return min(ways, key=lambda way: way[0])
