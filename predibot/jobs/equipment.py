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
from predibot.agents.key import ApiKeys, Key, host_of
from predibot.agents.metered import MeteredModel
from predibot.agents.model import Destination, model_destination, open_model, worst_price
from predibot.agents.price import Price, require_price
from predibot.agents.probe import ToolProbe
from predibot.agents.retry import Retry
from predibot.contracts import ChatModel, Toolbox
from predibot.domain.budget import LimitLevel, Limits
from predibot.domain.event import Event
from predibot.domain.price import PricePoint
from predibot.domain.terms import ModelTerms
from predibot.errors import ModelRefused, UsageError
from predibot.jobs.history import HistoryBoard
from predibot.jobs.venues import OpenVenue
from predibot.ledger.pages import PageFolder
from predibot.ledger.spending import LedgerAccount
from predibot.ledger.store import Store
from predibot.ledger.traces import Trace
from predibot.plugins import load_strategy
from predibot.recipe import BotSpec, Recipe
from predibot.research.search.open_provider import own_url, search_provider
from predibot.research.search.provider import replay_complaint
from predibot.research.search.throttle import PacedProvider
from predibot.tools.visit_webpage import FetchPolicy, make_visit_webpage
from predibot.tools.web_search import SearchPolicy, make_web_search

_log = logging.getLogger(__name__)

SANDBOX_MODELS = "sandbox/"
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


@dataclass(slots=True)
class Equipment:
    """What a run's bots are equipped from; thread-safe."""

    recipe: Recipe
    opened: OpenVenue
    keys: ApiKeys
    """None of their values may appear anywhere, nor go to a host that only the recipe names."""
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
            self._require_keys(bot)
            for name in _models_of(bot):
                require_price(bot.name, self._price(name, bot.terms), self.recipe.limits.values())
            if self.is_replay and getattr(strategy, "searches_itself", False):
                raise UsageError(
                    f"bot {bot.name!r} has a model that searches by itself, which cannot be kept from what happened "
                    f"after {self.opened.now:%Y-%m-%d}. Leave it out of a replay"
                )
            if not _uses_tools(strategy):
                continue
            # In the sandbox too, whose searches stay within: what is refused there is refused everywhere.
            for provider in self.recipe.search.providers:
                self._search_key(provider)
            # Opened now, so that a missing key is said before anything is spent.
            complaint = replay_complaint(self._search_providers())
            if self.is_replay and complaint:
                raise UsageError(f"bot {bot.name!r} cannot search in a replay: {complaint}. Name another in [search]")

    def model_destinations(self, bot: BotSpec) -> Mapping[str, Destination]:
        """Return where each of a bot's models is asked, and with which key.

        Raises:
            UsageError: If a key is not set that the recipe names, or may not go there.
            ModelRefused: If nobody knows whose model it is, or its key cannot be one.
        """
        return {
            name: model_destination(
                name,
                keys=self.keys,
                base_url=self._base_url(name, bot.terms),
                key_name=bot.terms.credential,
                client=bot.terms.client,
            )
            for name in _models_of(bot)
        }

    def _require_keys(self, bot: BotSpec) -> None:
        """Refuse a bot whose key is not there, or would go where it must not."""
        try:
            self.model_destinations(bot)
        except (UsageError, ModelRefused) as error:
            raise UsageError(f"bot {bot.name!r}: {error}") from None

    def search_destinations(self) -> Mapping[str, Destination]:
        """Return where each search provider of the recipe is asked, and with which key; none where no bot searches.

        Raises:
            UsageError: If a key may not go where the recipe sends it, or cannot be one.
        """
        if not any(_uses_tools(load_strategy(bot.strategy)) for bot in self.recipe.bots):
            return {}
        if self.opened.loopback is not None:
            return {"searxng": Destination(host_of(self.opened.loopback.search_url), None, key_is_set=False)}
        return {name: self._search_destination(name) for name in self.recipe.search.providers}

    def _search_destination(self, name: str) -> Destination:
        url = self.recipe.search.base_urls.get(name) or own_url(name)
        key = self._search_key(name)
        key_name = None if own_url(name) is None else _search_key_name(name)
        return Destination("many" if url is None else host_of(url), key_name, key is not None)

    def _search_key(self, name: str) -> Key | None:
        """Return the key of a search provider, for the address it is asked at."""
        own = own_url(name)
        if own is None:
            return None
        url = self.recipe.search.base_urls.get(name, own)
        try:
            return self.keys.find((_search_key_name(name),), url, own_url=own)
        except (UsageError, ModelRefused) as error:
            raise UsageError(f"search provider {name!r}: {error}") from None

    def prices(self, bot: BotSpec) -> tuple[Price | None, ...]:
        """Return the dearest the tokens of each of a bot's models can be, None where that is unknown."""
        return tuple(self._price(name, bot.terms) for name in _models_of(bot))

    def search_usd(self) -> float | None:
        """Return the most one search can cost, None where that is unknown."""
        costs = [provider.usd_per_call for provider in self._search_providers()]
        return None if None in costs else max(costs, default=0.0)

    def fit(self, bot: BotSpec, event: Event, now: datetime) -> Fitting:
        """Return what a bot decides on an event with; for one thread and one decision."""
        trace = Trace(self.keys.secrets())
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
        return Toolbox(
            web_search=make_web_search(self._search_providers(), search, clock, trace, meter=meter),
            visit_webpage=make_visit_webpage(policy, clock, trace, keep=lambda text: self._keep_page(text, trace)),
        )

    def _search_providers(self) -> Sequence[Any]:
        with self._lock:
            if self._providers is None:
                self._providers = self._opened_providers()
            return self._providers

    def _opened_providers(self) -> Sequence[Any]:
        if self.opened.loopback is not None:
            return [search_provider("searxng", clock=self.clock, base_url=self.opened.loopback.search_url)]
        terms = self.recipe.search
        keys = {name: self._search_key(name) for name in terms.providers}
        opened = [
            search_provider(
                name,
                clock=self.clock,
                key=None if key is None else key.value,
                base_url=terms.base_urls.get(name),
                usd_per_call=terms.usd_per_call.get(name),
            )
            for name, key in keys.items()
        ]
        return [PacedProvider(each, terms.seconds_between, time.monotonic, time.sleep) for each in opened]

    def _history(self, event: Event, market_id: str, now: datetime) -> tuple[PricePoint, ...]:
        market = event.market(market_id)
        return () if market is None else self._histories.daily(market, now)


def _models_of(bot: BotSpec) -> list[str]:
    names = (bot.strategy.arguments.get(each) for each in ("model", "extract_model"))
    return [name for name in names if isinstance(name, str) and name]


def _search_key_name(provider: str) -> str:
    return f"{provider.upper()}_API_KEY"


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
