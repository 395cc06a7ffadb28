"""Terms: what a recipe says about a bot's model, and about searching."""

import re
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

ClientName = Literal["light", "litellm"]
BUILT_IN_SEARCH = ("ddgs", "ddgs_news", "searxng", "brave", "tavily", "exa", "serper")
"""The search providers that are predibot's; any other is a file of the user's, or of an installed package."""
KEY_NAME = re.compile(r"(?:[A-Z0-9]+_)+(?:API_)?KEY|HF_TOKEN")
"""The variables of the environment that are taken for API keys."""
OWN_INSTANCE = frozenset({"searxng"})
"""Providers without an address of their own: the user runs one."""


@dataclass(frozen=True, slots=True)
class ModelTerms:
    """Where a bot's models are, what they cost, and how far they have read."""

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
    market_sites: bool = False
    """Whether the sites of prediction markets may be searched and read."""
