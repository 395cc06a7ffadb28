"""Checks of models: one question to each model of a recipe, before anybody decides with it."""

import json
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

from predibot.agents.models.background_models import works_in_background
from predibot.agents.models.clients.litellm_library import table_takes_schema, table_tokens
from predibot.agents.models.tool_support import PROBE_SECONDS, ToolProbe, calls_ping
from predibot.config import Settings
from predibot.contracts import ChatModel, ModelNeed
from predibot.domain.chat import ChatReply, ChatRequest, Message, ToolSchema
from predibot.errors import ModelError, PredibotError
from predibot.jobs.deciding.agent_setup import AgentSetup
from predibot.jobs.deciding.worker import agent_setup
from predibot.jobs.open_venue import open_venue
from predibot.recipe.recipe import BotSpec, Recipe

_FIELD = "sum_of_both"
_SUM = ToolSchema("sum", "The sum.", {"type": "object", "properties": {_FIELD: {"type": "integer"}}})
_MAX_TOKENS = 2_048
_TOOLS = {True: "calls tools", False: "calls no tools", None: "may call tools"}
_THINKS = {True: "thinks", False: "did not think", None: "thinking unknown"}
_SCHEMA = {True: "takes a schema", False: "takes no schema", None: "schema unknown"}


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What is known of a bot's model; None is unknown."""

    bot: str
    model: str
    problem: str = ""
    """Why the bot cannot play with it, and what to fix."""
    calls_tools: bool | None = None
    thinks: bool | None = None
    """Whether it thought before it answered."""
    takes_schema: bool | None = None
    """Whether it keeps to a JSON schema: litellm's table says so, or the model's answer if the table lacks it."""
    input_usd_per_million_tokens: float | None = None
    output_usd_per_million_tokens: float | None = None
    context_tokens: int | None = None
    """The longest conversation it reads, by the table."""
    cost_usd: float | None = 0.0
    """The cost of the question; None where a part is unknown."""

    @property
    def seen(self) -> str:
        """Return the check as a sentence."""
        usd = (self.input_usd_per_million_tokens, self.output_usd_per_million_tokens)
        facts = (
            _TOOLS[self.calls_tools],
            _THINKS[self.thinks],
            _SCHEMA[self.takes_schema],
            "price unknown" if None in usd else f"${usd[0]:g} and ${usd[1]:g} a million tokens in and out",
            "context unknown" if self.context_tokens is None else f"context of {self.context_tokens:,} tokens",
            "cost of asking unknown" if self.cost_usd is None else f"asking cost ${self.cost_usd:.6f}",
        )
        return self.problem or f"{self.model}: {', '.join(facts)}"


def check_models(recipe: Recipe, settings: Settings, clock: Callable[[], datetime]) -> tuple[ModelCheck, ...]:
    """Ask each model of a recipe's bots a question with one tool, which costs a little and has no budget.

    A model that litellm's table lacks gets a second question, with a schema. Bots with the same model and settings
    share the questions. Models that write reports in the background are not asked. A PredibotError is raised if the
    venue cannot be opened, or a bot could exceed its budget.
    """
    only = recipe.selection.only
    with open_venue(recipe.venue, settings, as_of=None, purpose="decide", clock=clock, only=only) as opened:
        agents = agent_setup(recipe, opened, settings, clock)
        if agents is None:
            return ()
        agents.look_at_models(recipe.bots)
        models = {(need.name, bot.terms): bot for bot in recipe.bots for need in bot.needs.models}
        with ThreadPoolExecutor(max(1, len(models))) as pool:
            results = pool.map(lambda model: _ModelTest.ask(agents, models[model], model[0]), models)
            answers = dict(zip(models, results, strict=True))
        return tuple(
            _check_of(agents, bot, need, answers[need.name, bot.terms])
            for bot in recipe.bots
            for need in {each.name: each for each in bot.needs.models}.values()
        )


@dataclass(eq=False, slots=True, weakref_slot=True)
class _ModelTest:
    name: str
    opened: Callable[[], ChatModel]
    replies: list[ChatReply] = field(default_factory=list)
    why_no_tools: str = ""
    problem: str = ""
    takes_schema: bool | None = None

    @classmethod
    def ask(cls, agents: AgentSetup, bot: BotSpec, name: str) -> "_ModelTest":
        """Ask a model; ask nothing if it is unavailable or expensive."""
        question = cls(name, partial(agents.open_without_budget, bot, name))
        if bot.name in agents.unplayable or works_in_background(name):
            return question
        try:
            question.why_no_tools = ToolProbe().why_no_tools(question)
            question.takes_schema = (
                table_takes_schema(name) if agents.is_in_table(bot, name) else question.keeps_to_a_schema()
            )
        except PredibotError as error:
            question.problem = str(error)
        return question

    def chat(self, request: ChatRequest, *, deadline_seconds: float) -> ChatReply:
        self.replies.append(self.opened().chat(request, deadline_seconds=deadline_seconds))
        return self.replies[-1]

    def keeps_to_a_schema(self) -> bool | None:
        """Return whether the model keeps to a schema, which the first question does not show; None if it fails."""
        request = ChatRequest((Message("user", "What is 2 + 3?"),), max_output_tokens=_MAX_TOKENS, answer=_SUM)
        try:
            return list(json.loads(self.chat(request, deadline_seconds=PROBE_SECONDS).message.text)) == [_FIELD]
        except (ValueError, TypeError, RecursionError):
            return False
        except ModelError:
            return None


def _check_of(agents: AgentSetup, bot: BotSpec, need: ModelNeed, question: _ModelTest) -> ModelCheck:
    replies, why = question.replies, question.why_no_tools
    is_in_table, price = agents.is_in_table(bot, need.name), agents.price(bot, need.name)
    costs = [reply.cost.usd for reply in replies]
    return ModelCheck(
        bot.name,
        need.name,
        agents.unplayable.get(bot.name) or question.problem or (why if need.tools else ""),
        calls_tools=False if why else any(map(calls_ping, replies)) or None,
        thinks=any(reply.has_reasoning for reply in replies) if replies else None,
        takes_schema=question.takes_schema,
        input_usd_per_million_tokens=None if price is None else price.input_usd_per_million_tokens,
        output_usd_per_million_tokens=None if price is None else price.output_usd_per_million_tokens,
        context_tokens=table_tokens(need.name, "max_input_tokens") if is_in_table else None,
        cost_usd=None if None in costs else math.fsum(filter(None, costs)),
    )
