"""Agent setup: the models, tools, budget and trace that bots decide with."""

import threading
import time
import weakref
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any, TypeVar

from predibot.agents.budget.account import LimitAccount, MemoryAccount
from predibot.agents.budget.budget import Budget
from predibot.agents.budget.price import TokenPrice, require_price
from predibot.agents.models.background_models import searches_by_itself, works_in_background
from predibot.agents.models.clients.litellm_library import table_tokens
from predibot.agents.models.metered import MeteredModel
from predibot.agents.models.open_model import (
    Destination,
    model_destination,
    open_model,
    recipe_price,
    uses_responses_api,
    why_unavailable,
    worst_price,
)
from predibot.agents.models.retry import Retry
from predibot.agents.models.tool_support import ToolProbe
from predibot.contracts import BUILT_IN_TOOLS, WEB_SEARCH, ChatModel, Context, ModelNeed, OpenVenue, Tool, Toolbox
from predibot.domain.account_past import NewsItem
from predibot.domain.budget import LimitLevel, Limits
from predibot.domain.replicates import sampled_bot
from predibot.domain.terms import BUILT_IN_SEARCH, SOCIAL_SEARCH, ModelTerms
from predibot.errors import LedgerUnusable, ModelRefused, PluginError, UsageError
from predibot.jobs.deciding.activity import StepListener
from predibot.jobs.deciding.opened_models import AnswerRoom, DeclaredModels
from predibot.ledger.files.content_store import Pages
from predibot.ledger.files.traces import Trace
from predibot.ledger.store import Store
from predibot.ledger.write.paces import LedgerPermits, SharedPaces
from predibot.ledger.write.spending import Holder, LedgerAccount, book_reservations
from predibot.net.api_keys import ApiKeys, Key, host_of
from predibot.net.concurrency import Gates
from predibot.plugins.tools import ToolPlugin, open_tool, require_replayable, tool_plugin, user_search
from predibot.recipe.recipe import BotSpec, Recipe
from predibot.research.search.open_provider import open_provider, own_url
from predibot.research.search.provider import SearchFailed, SearchProvider, replay_complaint
from predibot.research.search.throttle import PacedProvider
from predibot.tools.visit_webpage import FetchPolicy, make_visit_webpage
from predibot.tools.web_search import SearchPolicy, find_news, make_web_search

MadeT = TypeVar("MadeT")

SANDBOX_MODELS = "sandbox/"
SANDBOX_SEARCH = "searxng"
_NEWS_RESULTS = 10
"""Results of a search for news; twice as many are requested, because some are dropped."""
_GRACE_SECONDS = 5.0
"""The last seconds of a decision's time, reserved for storing it."""


@dataclass(slots=True)
class AgentSetup:
    """Sets up the contexts of a run's bots; thread-safe."""

    recipe: Recipe
    opened: OpenVenue
    keys: ApiKeys
    """Their values may appear in no text, and go to no host that only the recipe names."""
    run_key: str
    deadline_seconds: float
    clock: Callable[[], datetime]
    store: Store | None = None
    """The ledger that counts limited amounts for all processes; None counts for this one only."""
    holder: Holder = field(default_factory=Holder)
    max_concurrency: int | None = None
    """The most calls at once to one provider, by all processes of the ledger."""
    retry: Retry = field(default_factory=Retry)
    probe: ToolProbe = field(default_factory=ToolProbe)
    unplayable: dict[str, str] = field(default_factory=dict)
    """Why bots cannot play, by name, as found by `look_at_models`."""
    _made: dict[tuple[Hashable, ...], Any] = field(default_factory=dict)
    """What all decisions share, such as models and accounts of limits, by what it is; see `_once`."""
    _changed: threading.Condition = field(default_factory=threading.Condition)
    """Shared by all budgets: a settled amount wakes those that wait for room."""
    _budgets: "weakref.WeakSet[Budget]" = field(default_factory=weakref.WeakSet)
    """Budgets of decisions under way, abandoned ones too."""
    _ended: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        """Count calls to a provider for all processes of the ledger."""
        if self.store is not None and self.max_concurrency is not None:
            self.retry = replace(self.retry, gates=Gates(self.max_concurrency, LedgerPermits(self.store)))

    @property
    def has_usd_limit(self) -> bool:
        """Return whether any limit is in dollars, so that all prices must be known."""
        return any(limits.usd is not None for limits in self.recipe.limits.values())

    @property
    def is_replay(self) -> bool:
        """Return whether the bots decide at an instant of the past."""
        return not self.opened.venue.live

    def check(self, bots: Iterable[BotSpec]) -> None:
        """Refuse, before any call, bots that might exceed their budget or see the future; UsageError says a remedy."""
        for bot in bots:
            for need in bot.needs.models:
                self._check_model(bot, need)
            if bot.needs.news and self.recipe.make_game().news_window is None:
                raise UsageError(
                    f"bot {bot.name!r} needs news, which game {self.recipe.game!r} does not show. Leave it out"
                )
            try:
                for name in bot.needs.tools:
                    self._tool_plugin(name)
            except UsageError as error:
                raise UsageError(f"bot {bot.name!r}: {error}") from None
            if WEB_SEARCH in bot.needs.tools:
                self._check_search(bot)

    def look_at_models(self, bots: Sequence[BotSpec]) -> Mapping[str, str]:
        """Return why bots cannot play, by name, only of those that cannot.

        It costs nothing; see `why_unavailable`. Each model is checked once, all at the same time.
        """
        models = dict.fromkeys((need.name, bot.terms) for bot in bots for need in bot.needs.models)
        with ThreadPoolExecutor(max(1, len(models))) as pool:
            found = dict(zip(models, pool.map(self._why_unavailable, models), strict=True))
        for bot in bots:
            if why := next(filter(None, (found[need.name, bot.terms] for need in bot.needs.models)), ""):
                self.unplayable[bot.name] = why
        return self.unplayable

    def _once(self, what: tuple[Hashable, ...], make: Callable[[], MadeT]) -> MadeT:
        """Return what was made before under this name, or make it."""
        with self._lock:
            if what not in self._made:
                self._made[what] = make()
            made: MadeT = self._made[what]
            return made

    def _why_unavailable(self, model: tuple[str, ModelTerms]) -> str:
        name, terms = model
        return "" if name.startswith(SANDBOX_MODELS) else why_unavailable(name, terms, self.keys)

    def price(self, bot: BotSpec, model: str) -> TokenPrice | None:
        """Return the highest price of the tokens of a bot's model; None where it is unknown."""
        shared = len({need.name for need in bot.needs.models}) > 1

        def find() -> TokenPrice | None:
            terms = self._terms_of(model, bot.terms)
            return worst_price(model, price=recipe_price(model, terms), base_url=terms.base_url, shared=shared)

        return self._once(("price", model, bot.terms, shared), find)

    def room(self, bot: BotSpec, model: str) -> AnswerRoom:
        """Return the longest answers of a bot's model, an object that all its decisions share."""

        def find() -> AnswerRoom:
            return AnswerRoom(table_tokens(model, "max_output_tokens") if self.is_in_table(bot, model) else None)

        return self._once(("room", model, bot.terms), find)

    def is_in_table(self, bot: BotSpec, model: str) -> bool:
        """Return whether a model may be in litellm's table, which knows no servers of the user's own."""
        return self._terms_of(model, bot.terms).base_url is None

    def open_without_budget(self, bot: BotSpec, model: str) -> ChatModel:
        """Return a bot's model with its settings and without a budget."""
        return self._declaration(bot, lambda name: self._model(name, bot.terms))(model)

    def _declaration(self, bot: BotSpec, open_one: Callable[[str], ChatModel]) -> DeclaredModels:
        return DeclaredModels(bot.strategy, open_one, bot.terms.settings, partial(self.room, bot))

    def is_unbounded(self, bot: BotSpec, need: ModelNeed) -> bool:
        """Return whether one call has no bound on its cost: the model searches without end, and not for free."""
        price = self.price(bot, need.name)
        is_told = need.max_searches and uses_responses_api(need.name, bot.terms)
        return _searches_itself(need) and not is_told and (price is None or not price.free)

    def model_destinations(self, bot: BotSpec) -> Mapping[str, Destination]:
        """Return each of a bot's models with its host and key.

        Raises `UsageError` for a key or provider that is unfit.
        """
        try:
            return {
                name: model_destination(name, self._terms_of(name, bot.terms), self.keys)
                for name in dict.fromkeys(need.name for need in bot.needs.models)
            }
        except (UsageError, ModelRefused) as error:
            raise UsageError(f"bot {bot.name!r}: {error}") from None

    def search_destinations(self) -> Mapping[str, Destination]:
        """Return each search provider of the recipe with its host and key; nothing if no bot searches."""
        if not any(WEB_SEARCH in bot.needs.tools for bot in self.recipe.bots):
            return {}
        names = dict.fromkeys(map(self._provider_name, self.recipe.search.providers))
        return {name: self._search_destination(name) for name in names}

    def search_usd(self, tools: Collection[str]) -> float | None:
        """Return the highest cost of one search or tool call; None where it is unknown."""
        costs = [provider.usd_per_call for provider in self._search_providers()] if WEB_SEARCH in tools else []
        costs += [plugin.usd_per_call for name in tools if (plugin := self._tool_plugin(name)) is not None]
        return None if None in costs else max(costs, default=0.0)

    def set_up(self, context: Context, bot: BotSpec, listener: StepListener | None = None) -> Context:
        """Return a context with the bot's models, tools, budget and trace; for one thread and one decision."""
        if why := self.unplayable.get(bot.name):
            raise UsageError(why)
        now = context.now
        trace = Trace(self.keys.secrets(), untrusted_mark=context.untrusted_mark)
        trace.listener = listener
        deadline_seconds = max(1.0, self.deadline_seconds - _GRACE_SECONDS)
        budget = self._decision_budget(bot.name, deadline_seconds)

        def open_metered(name: str) -> ChatModel:
            self._require_price(bot, name)
            searches_itself = any(_searches_itself(need) for need in bot.needs.models if need.name == name)
            return MeteredModel(
                self._model(name, bot.terms), budget, self.price(bot, name), trace, searches_itself=searches_itself
            )

        model = self._declaration(bot, open_metered)

        def why_no_tools(name: str) -> str:
            ask = model(name)
            return self.probe.why_no_tools(self._model(name, bot.terms), ask=ask)

        return replace(
            context,
            model=model,
            why_no_tools=why_no_tools,
            tools=self._tools(bot.needs.tools, trace, budget, now),
            meter=budget,
            trace=trace,
            deadline_seconds=deadline_seconds,
        )

    def news(self, query: str, *, after: datetime, before: datetime, count: int) -> tuple[NewsItem, ...]:
        """Return the first dated news of a window, shown to the whole run and paid from its budget.

        Behind them come as many posts of Reddit, if it is among the providers. SearchFailed is raised if no provider
        answered, BudgetSpent if the run's budget does not allow a search.
        """
        try:
            providers = [each for each in self._search_providers() if each.dates_results]
            if not providers and "ddgs" in self.recipe.search.providers:
                # No provider dates its results, but ddgs does so for news.
                providers = [*self._search_providers(["ddgs_news"])]
        except UsageError as error:
            raise SearchFailed(str(error), was_asked=False) from None
        if not providers:
            raise SearchFailed(
                "no provider in [search] says when a page was published; add 'ddgs_news'", was_asked=False
            )
        priced = [each for each in providers if each.usd_per_call is not None or not self.has_usd_limit]
        if not priced:
            raise SearchFailed("what a search costs is unknown, and there is a limit in USD", was_asked=False)
        policy = self._search_policy(before=before, after=after, count=_NEWS_RESULTS)
        hidden = Trace(self.keys.secrets()).without_secrets
        found, failures = list[NewsItem](), list[SearchFailed]()
        groups = [[each for each in priced if (each.name in SOCIAL_SEARCH) is social] for social in (False, True)]
        for group in filter(None, groups):
            try:
                found += find_news(group, query, policy, meter=self._run_budget())[:count]
            except SearchFailed as failure:
                failures.append(failure)
        if failures and not found:
            raise failures[0]
        return tuple(
            replace(each, title=hidden(each.title), snippet=hidden(each.snippet), url=each.url and hidden(each.url))
            for each in found
        )

    def write_off(self) -> None:
        """Stop all spending, and book amounts under way, also those of processes that work for this one.

        They are booked at their worst case in one transaction, because nobody will hear how the calls end.
        """
        with self._lock:
            self._ended = True
            budgets = list(self._budgets)
        for budget in budgets:
            budget.end()
        # All under one lock, so that no call settles in between.
        with self._changed:
            for budget in budgets:
                budget.write_off()
        if self.store is not None:
            owner = self.holder.owner
            self.store.run_write(lambda connection: book_reservations(connection, owner), durable=True)

    def _check_model(self, bot: BotSpec, need: ModelNeed) -> None:
        if works_in_background(need.name) and not need.max_searches:
            raise UsageError(
                f"bot {bot.name!r}: model {need.name!r} searches by itself and writes reports. "
                "Give it strategy = 'deep_research', or take another model"
            )
        self._require_price(bot, need.name)
        if self.is_unbounded(bot, need) and self.has_usd_limit:
            raise UsageError(
                f"bot {bot.name!r} has a limit in USD, and model {need.name!r} searches by itself and cannot be told "
                "how often, so that nothing bounds what a call costs. Take one that can, such as "
                "openai/o4-mini-deep-research, or leave the limit out"
            )
        if self.is_replay and _searches_itself(need):
            raise UsageError(
                f"bot {bot.name!r} has a model that searches by itself, which cannot be kept from what happened "
                f"after {self.opened.now:%Y-%m-%d}. Leave it out of a replay"
            )

    def _require_price(self, bot: BotSpec, model: str) -> None:
        require_price(bot.name, model, self.price(bot, model), self.recipe.limits.values())

    def _tool_plugin(self, name: str) -> ToolPlugin | None:
        """Return a user's own tool, None for one of predibot's; refuse one that a replay cannot have."""
        if name in BUILT_IN_TOOLS:
            return None
        plugin = self._once(("tool", name), partial(tool_plugin, name))
        if self.is_replay:
            require_replayable(plugin)
        return plugin

    def _check_search(self, bot: BotSpec) -> None:
        # Also in the sandbox, which needs no keys: a recipe is refused everywhere or nowhere.
        for name in self.recipe.search.providers:
            self._search_key(name)
        # Opened now, so that a missing key is reported before anything is spent.
        providers = self._search_providers()
        complaint = replay_complaint(providers)
        if self.is_replay and complaint:
            raise UsageError(f"bot {bot.name!r} cannot search in a replay: {complaint}. Name another in [search]")
        unpriced = [provider.name for provider in providers if provider.usd_per_call is None]
        if unpriced and self.has_usd_limit:
            raise UsageError(
                f"bot {bot.name!r} has a limit in USD, and what a search of {unpriced[0]} costs is unknown; "
                f"set usd_per_call = {{{unpriced[0]} = ...}} in [search]"
            )

    def _model(self, name: str, terms: ModelTerms) -> ChatModel:
        return self._once(
            ("model", name, terms),
            lambda: open_model(name, self._terms_of(name, terms), keys=self.keys, retry=self.retry),
        )

    def _terms_of(self, name: str, terms: ModelTerms) -> ModelTerms:
        """Return the terms of a model: scripts of the sandbox are on its server, and free."""
        if not name.startswith(SANDBOX_MODELS):
            return terms
        if self.opened.loopback is None:
            raise UsageError(f"model {name!r} is a script of the sandbox; it plays with --venue sandbox only")
        return replace(
            terms,
            base_url=self.opened.loopback.chat_url,
            input_usd_per_million_tokens=0.0,
            output_usd_per_million_tokens=0.0,
            cached_usd_per_million_tokens=None,
        )

    def _run_budget(self) -> Budget:
        day = Budget(self._account("day", f"day/{self.clock():%Y-%m-%d}"), changed=self._changed)
        return Budget(self._account("run", f"run/{self.run_key}"), parent=day)

    def _decision_budget(self, bot: str, deadline_seconds: float) -> Budget:
        whole = Budget(self._account("bot", f"bot/{self.run_key}/{sampled_bot(bot)}"), parent=self._run_budget())
        limits = self.recipe.limits.get("decision", Limits())
        decision = whole.inside("decision", limits, wait_seconds=deadline_seconds)
        with self._lock:
            self._budgets.add(decision)
            if self._ended:
                decision.end()
        return decision

    def _account(self, level: LimitLevel, key: str) -> LimitAccount:
        limits = self.recipe.limits.get(level, Limits())
        store = self.store
        # Without limits nothing has to be shared between processes.
        if store is None or limits == Limits():
            return self._once(("account", key), lambda: MemoryAccount(level, limits))
        return self._once(("account", key), lambda: LedgerAccount(store, key, level, limits, self.holder))

    def _search_policy(self, **limits: Any) -> SearchPolicy:
        policy = SearchPolicy(**limits)
        return replace(policy, blocked_domains=frozenset()) if self.recipe.search.market_sites else policy

    def _keep_page(self, text: str, trace: Trace) -> str:
        """Store a page's text without our secrets, which a page may have received in a request."""
        if self.store is None:
            raise LedgerUnusable("a page that is read is kept with the ledger, and none is open")
        return Pages(self.store).keep(trace.without_secrets(text))

    def _tools(self, names: Collection[str], trace: Trace, meter: Budget, now: datetime) -> Toolbox:
        before = now if self.is_replay else None
        search = self._search_policy(before=before, count=self.recipe.search.results)
        loopback = self.opened.loopback
        policy = FetchPolicy(
            allowed_private=frozenset({loopback.address}) if loopback else frozenset(),
            blocked_domains=search.blocked_domains,
            as_of=before,
        )
        clock = (lambda: now) if self.is_replay else self.clock

        def open_declared(name: str) -> Tool:
            plugin = self._tool_plugin(name)
            if plugin is None:
                raise PluginError(f"{name!r} is predibot's own; it is a field of the tools")
            if name not in names:
                raise PluginError(f"tool {name!r} is not declared; the strategy's needs name the tools it opens")
            return open_tool(plugin, now=now, meter=meter, trace=trace, hidden=trace.without_secrets)

        return Toolbox(
            web_search=make_web_search(self._search_providers(), search, trace, meter=meter, clock=self.clock),
            visit_webpage=make_visit_webpage(policy, clock, trace, keep=lambda text: self._keep_page(text, trace)),
            open=open_declared,
        ).only(names)

    def _search_providers(self, providers: Sequence[str] | None = None) -> Sequence[Any]:
        wanted = self.recipe.search.providers if providers is None else providers
        names = tuple(dict.fromkeys(map(self._provider_name, wanted)))

        def open_all() -> Sequence[Any]:
            found = [self._opened_provider(name) for name in names]
            if self.opened.loopback is not None and names == (SANDBOX_SEARCH,):
                return found
            seconds = self.recipe.search.seconds_between
            paces = None if self.store is None else SharedPaces(store=self.store)
            return [PacedProvider(each, seconds, time.monotonic, time.sleep, paces=paces) for each in found]

        return self._once(("search", *names), open_all)

    def _provider_name(self, name: str) -> str:
        """Return the provider to ask instead: in a sandbox its own search, the only one that knows its news."""
        return SANDBOX_SEARCH if self.opened.loopback is not None and name in BUILT_IN_SEARCH else name

    def _opened_provider(self, name: str) -> SearchProvider:
        terms = self.recipe.search
        if self.opened.loopback is not None and name == SANDBOX_SEARCH:
            return open_provider(name, clock=self.clock, base_url=self.opened.loopback.search_url)
        key = self._search_key(name)
        given: dict[str, Any] = {
            "clock": self.clock,
            "key": None if key is None else key.value,
            "base_url": terms.base_urls.get(name),
            "usd_per_call": terms.usd_per_call.get(name),
        }
        if name in BUILT_IN_SEARCH:
            return open_provider(name, **given, backends=terms.backends)
        return user_search(name, given=given, hidden=Trace(self.keys.secrets()).without_secrets)

    def _search_key(self, name: str) -> Key | None:
        own, stated = own_url(name), self.recipe.search.base_urls.get(name)
        if own is None and name in BUILT_IN_SEARCH:
            return None
        try:
            if own is None and stated is None:
                return self.keys.of_plugin(_search_key_name(name))
            return self.keys.find((_search_key_name(name),), stated or own or "", own_url=own)
        except (UsageError, ModelRefused) as error:
            raise UsageError(f"search provider {name!r}: {error}") from None

    def _search_destination(self, name: str) -> Destination:
        if self.opened.loopback is not None and name == SANDBOX_SEARCH:
            return Destination(host_of(self.opened.loopback.search_url), None, key_is_set=False)
        key, url = self._search_key(name), self.recipe.search.base_urls.get(name) or own_url(name)
        own_words = "many" if name in BUILT_IN_SEARCH else f"where {name}.py says"
        host = own_words if url is None else host_of(url)
        key_name = None if own_url(name) is None and key is None else _search_key_name(name)
        return Destination(host, key_name, key is not None)


def _searches_itself(need: ModelNeed) -> bool:
    """Return whether a model searches by itself, whatever the strategy declares."""
    return need.searches_itself or searches_by_itself(need.name)


def _search_key_name(provider: str) -> str:
    return f"{provider.upper()}_API_KEY"
