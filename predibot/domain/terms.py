"""Terms: a recipe's words on a bot's model and on searching, and the names of keys and notices."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Literal, get_args

ClientName = Literal["light", "litellm"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
PoolingMethod = Literal["mean", "median", "trimmed_mean", "soft_trimmed_mean", "log_odds"]
"""How many forecasts are made into one; see `predibot.scoring.metrics.pooling`."""
BUILT_IN_SEARCH = ("ddgs", "ddgs_news", "searxng", "brave", "tavily", "exa", "serper", "reddit")
"""The search providers that predibot has; others are files of the user or of installed packages."""
SOCIAL_SEARCH = ("reddit",)
"""Providers of what people post: in portfolios their results stand behind the news, not in place of them."""
DDGS_BACKENDS: Mapping[str, tuple[str, ...]] = {
    "text": ("duckduckgo", "brave", "yahoo", "mojeek", "startpage", "wikipedia", "grokipedia"),
    "news": ("duckduckgo", "yahoo", "bing"),
}
"""The engines of ddgs 9.16."""
KEY_NAME = re.compile(r"(?:[A-Z0-9]+_)+(?:API_)?KEY|HF_TOKEN")
"""Environment variables with API keys."""
SECRET_NAME = re.compile(r"[A-Z0-9_]*(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_ACCESS_KEY_ID)|AWS_BEARER_TOKEN_BEDROCK")
"""Environment variables whose values no text may contain."""
SECRET_ADDRESS_NAME = re.compile(r"(?:[A-Z0-9]+_)*(?:WEBHOOK|PING|APPRISE)(?:_URLS?)?")
"""Environment variables with addresses that are as good as keys."""
NoticeKind = Literal["failure", "missed", "budget", "drift", "summary"]
NOTICE_KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)
OURS = re.compile(
    r"models?|messages?|input|prompt|contents|(?:system_?)?instructions?|system|max_(?:\w+_)?tokens|(?:num|n)_predict|"
    r"options|(?:generation|inference|tool)_?config|tools|tool_choice|functions|function_call|(?:response_)?format|"
    r"stream(?:_options)?|temperature|top_p|seed|reasoning_effort|extra_body|background|store|n|best_of|service_tier|"
    r"(?:web_)?search(?:_options|_parameters)?|enable_search|plugins|route|fallbacks",
    re.IGNORECASE,
)
"""Keys of a request that predibot sets itself, or that make an answer cost more than its budget knows."""
OWN_INSTANCE = frozenset({"searxng"})
"""Providers without a public address: the user runs one."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a bot's models answer; None leaves it to the strategy, and then to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    max_tokens: int | None = None
    """For one answer, thoughts included."""
    extra_body: str | None = None
    """A JSON object merged into each request, such as Ollama's `num_ctx`."""

    @property
    def explicit(self) -> Mapping[str, float | int | str]:
        """Return the settings that the recipe states."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}


@dataclass(frozen=True, slots=True)
class ModelTerms:
    """Where a bot's models are, what they cost, up to when they have read, and how they answer."""

    base_url: str | None = None
    """A server that speaks the chat-completions dialect; None leaves the model to litellm."""
    client: ClientName = "light"
    credential: str | None = None
    """The variable with the key; without it a `base_url` gets no key."""
    input_usd_per_million_tokens: float | None = None
    output_usd_per_million_tokens: float | None = None
    usd_per_search: float | None = None
    """The price of a search that the model makes itself, where searches are charged."""
    knowledge_cutoff: date | None = None
    """The end of its training data, as its maker states it."""
    settings: ModelSettings = field(default_factory=ModelSettings)
    cached_usd_per_million_tokens: float | None = None
    """The price of cached input; None means that of other input."""


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """The providers an agent searches with, in this order."""

    providers: tuple[str, ...] = ("ddgs",)
    base_urls: dict[str, str] = field(default_factory=dict)
    usd_per_call: dict[str, float] = field(default_factory=dict)
    seconds_between: float = 1.0
    """The least time between two calls to one provider."""
    results: int = 8
    backends: tuple[str, ...] = ()
    """The engines of ddgs, in this order; empty leaves them to ddgs."""
    market_sites: bool = False
    """Whether agents may search and read the sites of prediction markets."""
