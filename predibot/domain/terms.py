"""Terms: what a recipe says about a bot's model and about searching, and the settings about names and notices."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from typing import Literal, get_args

ClientName = Literal["light", "litellm"]
ReasoningEffort = Literal["none", "minimal", "low", "medium", "high", "xhigh"]
BUILT_IN_SEARCH = ("ddgs", "ddgs_news", "searxng", "brave", "tavily", "exa", "serper")
"""The search providers that are predibot's; any other is a file of the user's, or of an installed package."""
DDGS_BACKENDS: Mapping[str, tuple[str, ...]] = {
    "text": ("duckduckgo", "brave", "yahoo", "mojeek", "startpage", "wikipedia", "grokipedia"),
    "news": ("duckduckgo", "yahoo", "bing"),
}
"""The search engines that ddgs 9.16 asks."""
KEY_NAME = re.compile(r"(?:[A-Z0-9]+_)+(?:API_)?KEY|HF_TOKEN")
"""The variables of the environment that are taken for API keys."""
SECRET_NAME = re.compile(r"[A-Z0-9_]*(?:_KEY|_TOKEN|_SECRET|_PASSWORD|_ACCESS_KEY_ID)|AWS_BEARER_TOKEN_BEDROCK")
"""Those whose values may stand in no text."""
SECRET_ADDRESS_NAME = re.compile(r"(?:[A-Z0-9]+_)*(?:WEBHOOK|PING|APPRISE)(?:_URLS?)?")
"""Those that hold addresses that anybody who knows them may use."""
NoticeKind = Literal["failure", "missed", "budget", "drift", "summary"]
NOTICE_KINDS: tuple[NoticeKind, ...] = get_args(NoticeKind)
"""What an operator may want to hear of."""
OURS = re.compile(
    r"models?|messages?|input|prompt|contents|(?:system_?)?instructions?|system|max_(?:\w+_)?tokens|(?:num|n)_predict|"
    r"options|(?:generation|inference|tool)_?config|tools|tool_choice|functions|function_call|(?:response_)?format|"
    r"stream(?:_options)?|temperature|top_p|seed|reasoning_effort|extra_body|background|store|n|best_of|service_tier|"
    r"(?:web_)?search(?:_options|_parameters)?|enable_search|plugins|route|fallbacks",
    re.IGNORECASE,
)
"""Keys of a request that predibot sets, or that make an answer cost more than its budget knows."""
OWN_INSTANCE = frozenset({"searxng"})
"""Providers without an address of their own: the user runs one."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """How a bot's models answer; None leaves it to the strategy, and where that says nothing to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    reasoning_effort: ReasoningEffort | None = None
    max_tokens: int | None = None
    """Of one answer, thoughts included."""
    extra_body: str | None = None
    """An object of JSON: what else stands in each request, such as Ollama's `num_ctx`."""

    @property
    def stated(self) -> Mapping[str, float | int | str]:
        """Return those that the recipe states."""
        return {each.name: value for each in fields(self) if (value := getattr(self, each.name)) is not None}


@dataclass(frozen=True, slots=True)
class ModelTerms:
    """Where a bot's models are, what they cost, how far they have read, and how they answer."""

    base_url: str | None = None
    """A server that speaks the chat-completions dialect; None leaves it to litellm."""
    client: ClientName = "light"
    """What talks to `base_url`."""
    credential: str | None = None
    """The variable that holds the key; without it a `base_url` is sent none."""
    input_usd_per_million_tokens: float | None = None
    output_usd_per_million_tokens: float | None = None
    usd_per_search: float | None = None
    """What a search costs that the model makes by itself, where it is charged by the search."""
    knowledge_cutoff: date | None = None
    """Up to when the model has read, as its maker says."""
    settings: ModelSettings = field(default_factory=ModelSettings)
    cached_usd_per_million_tokens: float | None = None
    """Of input that the provider had kept; None is the price of any input."""


@dataclass(frozen=True, slots=True)
class SearchTerms:
    """Who is asked when an agent searches, in this order."""

    providers: tuple[str, ...] = ("ddgs",)
    base_urls: dict[str, str] = field(default_factory=dict)
    """Of the user's own instances, by provider."""
    usd_per_call: dict[str, float] = field(default_factory=dict)
    seconds_between: float = 1.0
    """The least time between two calls of one provider."""
    results: int = 8
    backends: tuple[str, ...] = ()
    """Of ddgs, asked in this order; empty are its own."""
    market_sites: bool = False
    """Whether the sites of prediction markets may be searched and read."""
