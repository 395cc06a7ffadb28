"""The tables of a recipe as they are written: every key with its type and range."""

import json
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from predibot.contracts import FIRST_GAME
from predibot.domain.terms import KEY_NAME, OURS, ReasoningEffort
from predibot.games.dollar_per_event import Overstake

_BaseUrl = Annotated[str, Field(pattern=r"^https?://[^@?#\s]+$")]
"""Without user name or query: keys are for the environment."""
_Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
"""A category or a tag, by label or slug."""
_MOST_WORDS = 1_000
_Words = Annotated[list[_Word], Field(max_length=_MOST_WORDS)]


_MOST_EXTRA_CHARACTERS = 2_000


def _extra_body(value: Mapping[str, JsonValue]) -> str:
    """Return what else stands in a request as JSON."""
    if ours := list(filter(OURS.fullmatch, value)):
        raise ValueError(f"{ours[0]!r} is set by predibot or changes what an answer costs. Take it out")
    text = json.dumps(value, sort_keys=True, allow_nan=False)
    if len(text) > _MOST_EXTRA_CHARACTERS:
        raise ValueError(f"it has {len(text):,} characters. Write at most {_MOST_EXTRA_CHARACTERS:,}")
    return text


class _StrictTable(BaseModel):
    """A table in which nothing is unknown, converted or infinite."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class SelectionTable(_StrictTable):
    """The table [selection]; what is left out has the default of `SelectionRules`."""

    ends_within_days: Annotated[float, Field(ge=0, le=36_500)] | Literal["any"] = 0.0
    min_hours_left: Annotated[float, Field(ge=0, le=876_000)] | Literal["any"] = 0.0
    exclude: _Words = []
    include: _Words = []
    per_category: int = Field(default=0, ge=0)
    min_volume_24h_usd: float = Field(default=0.0, ge=0)
    rank_by: Literal["volume_1wk", "volume_24h", "market_volume_24h", "market_volume"] = "volume_1wk"
    max_markets: int = Field(default=0, ge=0)
    events: int = Field(default=1, ge=1)
    drop_duplicates: float = Field(default=0.0, ge=0, le=1)
    duplicate_text: Literal["title", "title_and_questions"] = "title_and_questions"
    duplicate_port: Literal["tfidf", "embeddings"] = "tfidf"
    duplicate_model: str = Field(default="", max_length=500)
    crypto_words: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=_MOST_WORDS)


class GameTable(BaseModel):
    """The table [game], for a game with options; every further key is one of them."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: str = FIRST_GAME


class LimitsTable(_StrictTable):
    """One table of [limits]: the most that may be spent at one level."""

    usd: float | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    steps: int | None = Field(default=None, ge=0)
    searches: int | None = Field(default=None, ge=0)
    seconds: float | None = Field(default=None, ge=0)


class SearchTable(_StrictTable):
    """The table [search]; what is left out has the default of `SearchTerms`."""

    providers: list[str] = Field(default=["ddgs"], min_length=1, max_length=100)
    base_urls: dict[str, _BaseUrl] = {}
    usd_per_call: dict[str, Annotated[float, Field(ge=0)]] = {}
    seconds_between: float = Field(default=1.0, ge=0, le=60)
    results: int = Field(default=8, ge=1, le=50)
    backends: list[str] = Field(default=[], max_length=20)
    market_sites: bool = False


class ScheduleTable(_StrictTable):
    """The table [schedule]; `cron` or `at` says when, and what is left out has the default of `Schedule`."""

    cron: _Word | None = None
    at: _Word | Annotated[list[_Word], Field(min_length=1, max_length=100)] | None = None
    timezone: _Word = "UTC"
    jitter: _Word | None = None
    catch_up: _Word | None = None
    deadline: _Word | None = None
    track_every: _Word | None = None


class PriceTable(_StrictTable):
    """A price in its parts."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)


class SettingsTable(_StrictTable):
    """The keys of [[bots]] that say how a model answers; of a strategy with an argument of that name they are not."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    reasoning_effort: ReasoningEffort | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    extra_body: Annotated[dict[str, JsonValue], AfterValidator(_extra_body)] | None = None


class BotTable(BaseModel):
    """One table of [[bots]]; every further key is a setting of its model, or an argument of its strategy."""

    model_config = ConfigDict(extra="allow", strict=True)

    strategy: str
    name: str | None = None
    base_url: _BaseUrl | None = None
    client: Literal["light", "litellm"] = "light"
    credential: Annotated[str, Field(pattern=f"^(?:{KEY_NAME.pattern})$")] | None = None
    price_usd_per_million_tokens: Annotated[float, Field(ge=0)] | PriceTable | None = None
    price_usd_per_search: Annotated[float, Field(ge=0)] | None = None
    knowledge_cutoff: date | None = None


class RecipeTable(_StrictTable):
    """The whole file."""

    name: str | None = None
    game: str | GameTable = FIRST_GAME
    venue: str | None = None
    every: str = "1d"
    seed: int = Field(default=0, ge=0, lt=2**63)
    overstake: Overstake = "refuse"
    selection: SelectionTable = SelectionTable()
    limits: dict[Literal["decision", "bot", "run", "day"], LimitsTable] = {}
    search: SearchTable = SearchTable()
    schedule: ScheduleTable | None = None
    bots: list[BotTable] = Field(min_length=1)
