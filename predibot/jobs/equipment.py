"""Equipment: the models, tools, budget and trace that bots decide with."""

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from predibot.agents.account import Account, MemoryAccount
from predibot.agents.background import works_in_background
from predibot.agents.budget import Budget
from predibot.agents.metered import MeteredModel
from predibot.agents.model import open_model, worst_price
from predibot.agents.price import Price, require_price
from predibot.agents.probe import ToolProbe
from predibot.agents.retry import Retry
from predibot.contracts import BUILT_IN_TOOLS, WEB_SEARCH, ChatModel, Tool, Toolbox, untrusted_mark
from predibot.domain.budget import LimitLevel, Limits
from predibot.domain.event import Event
from predibot.domain.price import PricePoint
from predibot.domain.terms import BUILT_IN_SEARCH, ModelTerms
from predibot.errors import PluginError, UsageError
from predibot.jobs.history import HistoryBoard
from predibot.jobs.user_tools import opened_tool, require_replayable, user_search
from predibot.jobs.venues import OpenVenue
from predibot.ledger.pages import PageFolder
from predibot.ledger.spending import LedgerAccount
from predibot.ledger.store import Store
from predibot.ledger.traces import Trace
from predibot.plugins import load_strategy
from predibot.recipe import BotSpec, Recipe
from predibot.research.search.open_provider import search_provider
from predibot.research.search.provider import SearchProvider, replay_complaint
from predibot.research.search.throttle import PacedProvider
from predibot.tool_plugins import ToolPlugin, tool_plugin
from predibot.tools.visit_webpage import FetchPolicy, make_visit_webpage
from predibot.tools.web_search import SearchPolicy, make_web_search

_log = logging.getLogger(__name__)

SANDBOX_MODELS = "sandbox/"
SANDBOX_SEARCH = "searxng"
_GRACE_SECONDS = 5.0
"""What is left of a decision's time to store it."""

AccountMaker = Callable[[LimitLevel, str, Limits], Account]
"""Makes the account of a level; where it is shared between processes, under its key."""


def in_memory(level: LimitLevel, _key: str, limits: Limits) -> Account:
    """Return an account that nobody else sees."""
    return MemoryAccount(level, limits)


def in_the_ledger(store: Store) -> AccountMaker:
    """Return a maker of accounts that all processes with this ledger share."""
    return lambda level, key, limits: LedgerAccount(store, key, level, limits)


@dataclass(frozen=True, slots=True)
class Fitting:
    """What one decision is made with."""

    model: Callable[[str], ChatModel]
    calls_tools: Callable[[str], bool]
    tools: Toolbox
    meter: Budget
    trace: Trace
    history: Callable[[str], tuple[PricePoint, ...]]
    deadline_seconds: float
    untrusted_mark: str


@dataclass(slots=True)
class Equipment:
    """What a run's bots are equipped from; thread-safe."""

    recipe: Recipe
    opened: OpenVenue
    keys: Mapping[str, str]
    """API keys by name; none of their values may appear anywhere."""
    run_key: str
    deadline_seconds: float
    clock: Callable[[], datetime]
    make_account: AccountMaker = in_memory
    retry: Retry = field(default_factory=Retry)
    probe: ToolProbe = field(default_factory=ToolProbe)
    pages: PageFolder = field(default_factory=PageFolder)
    _models: dict[tuple[str, ModelTerms], ChatModel] = field(default_factory=dict)
    _prices: dict[tuple[str, ModelTerms], Price | None] = field(default_factory=dict)
    _budgets: dict[str, Budget] = field(default_factory=dict)
    _plugins: dict[str, ToolPlugin] = field(default_factory=dict)
    _providers: Sequence[Any] | None = None
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _histories: HistoryBoard = field(init=False)

    def __post_init__(self) -> None:
        """Share price histories between the bots."""
        self._histories = HistoryBoard(self.opened.venue)

    @property
    def is_replay(self) -> bool:
        """Return whether the bots stand at an instant of the past."""
        return not self.opened.venue.live

    def check(self, bots: Iterable[BotSpec]) -> None:
        """Refuse, before any call, bots that could not keep to their budget or would see the future.

        Raises:
            UsageError: It names the bot, and what to set.
        """
        for bot in bots:
            strategy = load_strategy(bot.strategy)
            if bot.model and works_in_background(bot.model) and not getattr(strategy, "searches_itself", False):
                raise UsageError(
                    f"bot {bot.name!r}: model {bot.model!r} searches by itself and writes reports. "
                    "Give it strategy = 'deep_research', or take another model"
                )
            for name in _models_of(bot):
                require_price(bot.name, self._price(name, bot.terms), self.recipe.limits.values())
            if self.is_replay and getattr(strategy, "searches_itself", False):
                raise UsageError(
                    f"bot {bot.name!r} has a model that searches by itself, which cannot be kept from what happened "
                    f"after {self.opened.now:%Y-%m-%d}. Leave it out of a replay"
                )
            if not _uses_tools(strategy):
                continue
            tools = getattr(strategy, "tools", BUILT_IN_TOOLS)
            self._check_tools(bot, tools)
            # Opened now, so that a missing key is said before anything is spent.
            complaint = replay_complaint(self._search_providers())
            if self.is_replay and complaint and WEB_SEARCH in tools:
                raise UsageError(f"bot {bot.name!r} cannot search in a replay: {complaint}. Name another in [search]")

    def _check_tools(self, bot: BotSpec, names: Sequence[str]) -> None:
        for name in names:
            try:
                self._tool_plugin(name)
            except UsageError as error:
                raise UsageError(f"bot {bot.name!r}: {error}") from None

    def _tool_plugin(self, name: str) -> ToolPlugin | None:
        """Return a tool of the user's own, None for one of predibot's.

        Raises:
            UsageError: If there is none of that name, or it cannot be had in a replay.
        """
        if name in BUILT_IN_TOOLS:
            return None
        with self._lock:
            if name not in self._plugins:
                self._plugins[name] = tool_plugin(name)
        if self.is_replay:
            require_replayable(self._plugins[name])
        return self._plugins[name]

    def prices(self, bot: BotSpec) -> tuple[Price | None, ...]:
        """Return the dearest the tokens of each of a bot's models can be, None where that is unknown."""
        return tuple(self._price(name, bot.terms) for name in _models_of(bot))

    def search_usd(self) -> float | None:
        """Return the most one search can cost, None where that is unknown."""
        costs = [provider.usd_per_call for provider in self._search_providers()]
        # A call of a user's own tool counts as a search.
        costs += [plugin.usd_per_call for plugin in self._plugins.values()]
        return None if None in costs else max(costs, default=0.0)

    def fit(self, bot: BotSpec, event: Event, now: datetime) -> Fitting:
        """Return what a bot decides on an event with; for one thread and one decision."""
        mark = untrusted_mark()
        trace = Trace(self.keys.values(), untrusted_mark=mark)
        budget = Budget(self._account("decision", ""), parent=self._bot_budget(bot.name))

        def model(name: str) -> ChatModel:
            return MeteredModel(self._model(name, bot.terms), budget, self._price(name, bot.terms), trace)

        def calls_tools(name: str) -> bool:
            return self.probe.supports_tools(self._model(name, bot.terms), ask=model(name))

        return Fitting(
            model=model,
            calls_tools=calls_tools,
            tools=self._tools(trace, budget, now),
            meter=budget,
            trace=trace,
            history=lambda market_id: self._history(event, market_id, now),
            deadline_seconds=max(1.0, self.deadline_seconds - _GRACE_SECONDS),
            untrusted_mark=mark,
        )

    def _model(self, name: str, terms: ModelTerms) -> ChatModel:
        with self._lock:
            if (name, terms) not in self._models:
                self._models[name, terms] = self._opened_model(name, terms)
            return self._models[name, terms]

    def _opened_model(self, name: str, terms: ModelTerms) -> ChatModel:
        base_url = self._base_url(name, terms)
        return open_model(
            name,
            keys=self.keys,
            retry=self.retry,
            base_url=base_url,
            key_name=terms.credential,
            price=_stated(name, terms),
            client=terms.client,
        )

    def _base_url(self, name: str, terms: ModelTerms) -> str | None:
        if not name.startswith(SANDBOX_MODELS):
            return terms.base_url
        if self.opened.loopback is None:
            raise UsageError(f"model {name!r} is a script of the sandbox; it plays with --venue sandbox only")
        return self.opened.loopback.chat_url

    def _price(self, name: str, terms: ModelTerms) -> Price | None:
        with self._lock:
            if (name, terms) not in self._prices:
                base_url = self._base_url(name, terms)
                self._prices[name, terms] = worst_price(name, price=_stated(name, terms), base_url=base_url)
            return self._prices[name, terms]

    def _bot_budget(self, bot: str) -> Budget:
        with self._lock:
            if bot not in self._budgets:
                day = Budget(self._account("day", f"day/{self.clock():%Y-%m-%d}"))
                run = Budget(self._account("run", f"run/{self.run_key}"), parent=day)
                self._budgets[bot] = Budget(self._account("bot", f"bot/{self.run_key}/{bot}"), parent=run)
            return self._budgets[bot]

    def _account(self, level: LimitLevel, key: str) -> Account:
        limits = self.recipe.limits.get(level, Limits())
        # Only what is limited across processes has to be shared between them.
        return self.make_account(level, key, limits) if key and limits != Limits() else MemoryAccount(level, limits)

    def _keep_page(self, text: str, trace: Trace) -> str:
        """Keep what a page said, without our own secrets: a page may have been told one."""
        return self.pages.keep(trace.without_secrets(text))

    def _tools(self, trace: Trace, meter: Budget, now: datetime) -> Toolbox:
        before = now if self.is_replay else None
        search = SearchPolicy(before=before, count=self.recipe.search.results)
        if self.recipe.search.market_sites:
            search = replace(search, blocked_domains=frozenset())
        loopback = self.opened.loopback
        policy = FetchPolicy(
            allowed_private=frozenset({loopback.address}) if loopback else frozenset(),
            blocked_domains=search.blocked_domains,
            as_of=before,
        )
        clock = (lambda: now) if self.is_replay else self.clock

        def opened(name: str) -> Tool:
            plugin = self._tool_plugin(name)
            if plugin is None:
                raise PluginError(f"{name!r} is predibot's own; it is a field of the tools")
            return opened_tool(plugin, now=now, meter=meter, trace=trace, hidden=trace.without_secrets)

        return Toolbox(
            web_search=make_web_search(self._search_providers(), search, clock, trace, meter=meter),
            visit_webpage=make_visit_webpage(policy, clock, trace, keep=lambda text: self._keep_page(text, trace)),
            open=opened,
        )

    def _search_providers(self) -> Sequence[Any]:
        with self._lock:
            if self._providers is None:
                self._providers = self._opened_providers()
            return self._providers

    def _opened_providers(self) -> Sequence[Any]:
        opened = list(dict.fromkeys(map(self._provider_name, self.recipe.search.providers)))
        if self.opened.loopback is not None and opened == [SANDBOX_SEARCH]:
            return [self._opened_provider(SANDBOX_SEARCH)]
        seconds = self.recipe.search.seconds_between
        return [PacedProvider(self._opened_provider(each), seconds, time.monotonic, time.sleep) for each in opened]

    def _provider_name(self, name: str) -> str:
        """Return who is asked in the place of a provider: in a sandbox its own search, which alone knows its news."""
        return SANDBOX_SEARCH if self.opened.loopback is not None and name in BUILT_IN_SEARCH else name

    def _opened_provider(self, name: str) -> SearchProvider:
        terms = self.recipe.search
        if self.opened.loopback is not None and name == SANDBOX_SEARCH:
            return search_provider(name, clock=self.clock, base_url=self.opened.loopback.search_url)
        given: dict[str, Any] = {
            "clock": self.clock,
            "key": self.keys.get(f"{name.upper()}_API_KEY"),
            "base_url": terms.base_urls.get(name),
            "usd_per_call": terms.usd_per_call.get(name),
        }
        if name in BUILT_IN_SEARCH:
            return search_provider(name, **given)
        return user_search(name, given=given, hidden=Trace(self.keys.values()).without_secrets)

    def _history(self, event: Event, market_id: str, now: datetime) -> tuple[PricePoint, ...]:
        market = event.market(market_id)
        return () if market is None else self._histories.daily(market, now)


def _models_of(bot: BotSpec) -> list[str]:
    names = (bot.strategy.arguments.get(each) for each in ("model", "extract_model"))
    return [name for name in names if isinstance(name, str) and name]


def _uses_tools(strategy: object) -> bool:
    return hasattr(strategy, "min_searches")


def _stated(name: str, terms: ModelTerms) -> Price | None:
    """Return the price the recipe states; scripts of the sandbox are free."""
    if name.startswith(SANDBOX_MODELS):
        return Price(0.0, 0.0)
    if terms.input_usd_per_million_tokens is None or terms.output_usd_per_million_tokens is None:
        return None
    search_usd = terms.usd_per_search if works_in_background(name) else None
    return Price(terms.input_usd_per_million_tokens, terms.output_usd_per_million_tokens, search_usd=search_usd)
