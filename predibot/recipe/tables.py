"""The tables of a recipe: every key with its type and range, and mistakes in them in our words."""

import json
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue
from pydantic_core import ErrorDetails

from predibot.contracts import FIRST_GAME
from predibot.domain.budget import LIMIT_LEVELS
from predibot.domain.replicates import MOST_REPLICATES
from predibot.domain.spelling import did_you_mean, nearest
from predibot.domain.terms import KEY_NAME, OURS, PoolingMethod, ReasoningEffort
from predibot.games.dollar_per_event import Overstake
from predibot.games.normalisation import Normalise
from predibot.recipe.text import KeyPath

_BaseUrl = Annotated[str, Field(pattern=r"^https?://(\[[0-9A-Fa-f:.]+\]|[^@?#\s/:\[\]]+)(:\d{1,5})?(/[^@?#\s]*)?$")]
"""Without user name or query: keys belong in the environment."""
_Word = Annotated[str, Field(min_length=1, max_length=200, pattern=r"\S")]
"""A category or a tag, by label or slug."""
_MOST_WORDS = 1_000
_Words = Annotated[list[_Word], Field(max_length=_MOST_WORDS)]


_MOST_EXTRA_CHARACTERS = 2_000


def _dump_extra_body(value: Mapping[str, JsonValue]) -> str:
    if ours := list(filter(OURS.fullmatch, value)):
        raise ValueError(f"{ours[0]!r} is set by predibot or changes what an answer costs. Take it out")
    text = json.dumps(value, sort_keys=True, allow_nan=False)
    if len(text) > _MOST_EXTRA_CHARACTERS:
        raise ValueError(f"it has {len(text):,} characters. Write at most {_MOST_EXTRA_CHARACTERS:,}")
    return text


class _StrictTable(BaseModel):
    """A table without unknown keys, conversions or infinite numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


class SelectionTable(_StrictTable):
    """The table [selection]. The defaults here are never used: a missing key takes the default of `SelectionRules`."""

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
    history_days: float = Field(default=0.0, ge=0, le=366)
    min_range: float = Field(default=0.0, ge=0, le=1)
    crypto_words: list[Annotated[str, Field(max_length=200)]] = Field(default=[], max_length=_MOST_WORDS)


class GameTable(BaseModel):
    """The table [game]; every further key is an option of the game."""

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
    """The table [search]; its defaults are those of `SearchTerms`."""

    providers: list[str] = Field(default=["ddgs"], min_length=1, max_length=100)
    base_urls: dict[str, _BaseUrl] = {}
    usd_per_call: dict[str, Annotated[float, Field(ge=0)]] = {}
    seconds_between: float = Field(default=1.0, ge=0, le=60)
    results: int = Field(default=8, ge=1, le=50)
    backends: list[str] = Field(default=[], max_length=20)
    market_sites: bool = False


class ScheduleTable(_StrictTable):
    """The table [schedule]; its defaults are those of `Schedule`."""

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
    """The keys of [[bots]] on a model's requests and answers, unless the strategy has an argument of that name."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    reasoning_effort: ReasoningEffort | None = None
    max_tokens: int | None = Field(default=None, ge=1, le=10_000_000)
    extra_body: Annotated[dict[str, JsonValue], AfterValidator(_dump_extra_body)] | None = None
    prompt: Annotated[str, Field(min_length=1, max_length=400)] | None = None
    """A packaged prompt, such as `decide-2`, or a file below the folder of the recipe."""


class SamplesTable(_StrictTable):
    """The keys of [[bots]] on samples of the whole bot, unless the strategy has an argument of that name."""

    samples: int | None = Field(default=None, ge=2, le=MOST_REPLICATES)
    pool: PoolingMethod = "log_odds"
    min_share: float = Field(default=0.5, gt=0, le=1)


class BotTable(BaseModel):
    """One table of [[bots]]; every further key is about samples, its model, or an argument of its strategy."""

    model_config = ConfigDict(extra="allow", strict=True)

    strategy: str
    name: str | None = None
    base_url: _BaseUrl | None = None
    client: Literal["light", "litellm"] = "light"
    credential: Annotated[str, Field(pattern=f"^(?:{KEY_NAME.pattern})$")] | None = None
    price_usd_per_million_tokens: Annotated[float, Field(ge=0)] | PriceTable | None = None
    price_usd_per_search: Annotated[float, Field(ge=0)] | None = None
    knowledge_cutoff: date | None = None
    replicates: int = Field(default=1, ge=1, le=MOST_REPLICATES)
    normalise: Normalise | None = None


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


KEYS: Mapping[str, tuple[str, ...]] = {
    "at the top of the file": tuple(RecipeTable.model_fields),
    "in [selection]": tuple(SelectionTable.model_fields),
    "in [limits]": LIMIT_LEVELS,
    "in a table of [limits]": tuple(LimitsTable.model_fields),
    "in [search]": tuple(SearchTable.model_fields),
    "in [schedule]": tuple(ScheduleTable.model_fields),
    "in [[bots]]": (*BotTable.model_fields, *SettingsTable.model_fields, *SamplesTable.model_fields),
}


_BASE_URL = "is an address that begins with http:// or https://, without user name, '?' or '#'; fix it"


_CREDENTIAL = (
    "'credential' in [[bots]] is no variable's name; put the key into the environment, as ACME_API_KEY for example, "
    "and write that name"
)


_SHOWN_CHARACTERS = 60


_ANY_LIMITS = {"ends_within_days": "days, 0 to 36,500", "min_hours_left": "hours, 0 or more"}


_PRICE = "write dollars, 0 for a local model, or {input = 1.25, output = 10}"


_NO_BOTS = 'there are no bots. Add [[bots]] and below it strategy = "market_price"'

_NO_TABLES = "bots are tables of a list; begin each with [[bots]]"


def describe_mistake(details: ErrorDetails, data: Mapping[str, Any]) -> tuple[KeyPath, str]:
    """Return the path of one of pydantic's complaints, and the complaint in our words."""
    path: KeyPath = details["loc"]
    if path[2:3] == ("extra_body",):
        path = path[:3]
    key, place = path[-1], _place(path)
    if details["type"] == "model_type" and path[0] == "bots":
        return path, _NO_TABLES
    if details["type"] in ("model_type", "dict_type") and len(path) == 1:
        return path, f"{key!r} is {repr(details['input'])[:40]}; write a table, which begins with [{key}]"
    if path[0] == "bots" and path[2:3] == ("credential",):
        # The value may be the key itself, so it is not shown.
        return path[:3], _CREDENTIAL
    if "price_usd_per_million_tokens" in path:
        stated = str(data["bots"][path[1]][path[2]])[:40]
        return path[:3], f"{path[2]!r} {place} is {stated!r}; {_PRICE}"
    if path[:1] == ("selection",) and path[1] in _ANY_LIMITS:
        stated = repr(data["selection"][path[1]])[:40]
        return path[:2], f'{path[1]!r} {place} is {stated}; write {_ANY_LIMITS[path[1]]}, or "any"'
    if path[:2] == ("schedule", "at") and len(path) > 2:
        stated = repr(data["schedule"]["at"])[:40]
        return path[:2], f"'at' {place} is {stated}; write a time such as \"12:05\", or a list of 1 to 100 of them"
    if path[:1] == ("selection",) and path[1] in ("exclude", "include") and len(path) > 2:
        seen = repr(details["input"])[:40]
        return path, f"{path[1]!r} {place} has {seen}; name categories or tags, each a text of 1 to 200 characters"
    if details["type"] == "string_pattern_mismatch":
        return path, f"{key!r} {place} {_BASE_URL}"
    if key == "[key]":
        return path[:-1], unknown_key(str(path[-2]), place, KEYS[place])
    if details["type"] == "extra_forbidden":
        return path, unknown_key(str(key), place, KEYS[place])
    if details["type"] == "missing":
        return _describe_missing_key(path, data)
    if path == ("bots",):
        return path, _NO_BOTS if details["input"] == [] else _NO_TABLES
    if path == ("game", "str") or path[:2] == ("game", "GameTable"):
        stated = repr(data["game"])[:40]
        return path[:1], f"'game' is {stated}; write a game's name, or a table [game] with its name and its options"
    named = next((part for part in reversed(path) if isinstance(part, str)), "")
    seen = repr(details["input"])[:40]
    if details["type"] == "too_long":
        limits = details.get("ctx", {})
        many = f"has {limits['actual_length']:,} entries" if "actual_length" in limits else "has too many entries"
        return path, f"{named!r} {place} {many}; write at most {limits['max_length']:,}"
    if details["type"] == "literal_error":
        words = re.findall(r"'([^']*)'", str(details.get("ctx", {}).get("expected")))
        return path, f"{named!r} {place} is {seen}. {did_you_mean(str(details['input']), words)}"
    return path, f"{named!r} {place} is {seen}; {details['msg'].replace('Input', 'it').removeprefix('Value error, ')}"


def _describe_missing_key(path: KeyPath, data: Mapping[str, Any]) -> tuple[KeyPath, str]:
    """Return the path and words for a missing required key; a misspelt key beside it is the likelier mistake."""
    if path == ("bots",):
        slip = nearest("bots", (key for key in data if key not in RecipeTable.model_fields))
        if slip is not None:
            return (slip,), unknown_key(slip, _place((slip,)), RecipeTable.model_fields)
        return path, _NO_BOTS
    table = data["bots"][path[1]]
    slip = nearest("strategy", (key for key in table if key not in BotTable.model_fields))
    if slip is not None:
        return (*path[:-1], slip), unknown_key(slip, _place(path), BotTable.model_fields)
    return path[:-1], "[[bots]] has no 'strategy'. Add one of those that `predibot bots` lists"


def _place(path: KeyPath) -> str:
    """Return where a key stands, as a key of `KEYS`."""
    if len(path) > 1 and path[0] in ("selection", "search", "schedule"):
        return f"in [{path[0]}]"
    if len(path) > 1 and path[0] == "limits":
        return "in [limits]" if len(path) == 2 or path[2:] == ("[key]",) else "in a table of [limits]"
    return "in [[bots]]" if len(path) > 2 and path[0] == "bots" else "at the top of the file"


def unknown_key(key: str, place: str, valid: Iterable[str]) -> str:
    """Say that a key is unknown, and what was probably meant: a similar key here, or the same key elsewhere."""
    key = short_key(key)
    elsewhere = [other for other, keys in KEYS.items() if other != place and key in keys]
    if elsewhere and nearest(key, valid, likeness=0.8) is None:
        return f"{key!r} does not belong {place}; it belongs {' or '.join(elsewhere)}"
    if nearest(key, valid) is None:
        for other, keys in KEYS.items():
            if found := nearest(key, keys):
                return f"unknown key {key!r} {place}. Did you mean {found!r} {other}?"
    return f"unknown key {key!r} {place}. {did_you_mean(key, valid)}"


def short_key(key: str) -> str:
    """Return a key as messages show it."""
    return key if len(key) <= _SHOWN_CHARACTERS else f"{key[:_SHOWN_CHARACTERS]}…"
