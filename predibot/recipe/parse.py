"""The text of a recipe: TOML that is either a whole recipe or a mistake with its line."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from heapq import nsmallest
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from predibot.contracts import Game, Needs
from predibot.domain.budget import LIMIT_LEVELS, Limits
from predibot.domain.clock import parse_length
from predibot.domain.schedule import CATCH_UP, Cron, Schedule
from predibot.domain.spelling import did_you_mean, nearest
from predibot.domain.terms import DDGS_BACKENDS, OWN_INSTANCE, ModelSettings, ModelTerms, SearchTerms
from predibot.domain.untrusted_text import LONG_KEY, MAX_KEY_PARTS, toml_table
from predibot.errors import PluginError, RecipeError, UsageError
from predibot.plugins.arguments import Argument
from predibot.plugins.games import make_game, option_complaints, stated_options
from predibot.plugins.strategies import argument_complaints, argument_names, spec_of
from predibot.plugins.tools import search_problem
from predibot.plugins.venues import default_venue, named
from predibot.recipe.packaged import packaged_crypto_words
from predibot.recipe.recipe import BotSpec, Recipe, game_options
from predibot.recipe.tables import (
    BotTable,
    GameTable,
    LimitsTable,
    PriceTable,
    RecipeTable,
    ScheduleTable,
    SearchTable,
    SelectionTable,
    SettingsTable,
)
from predibot.recipe.toml_lines import KeyPath, key_lines
from predibot.selection import SelectionRules

_NAME = re.compile(r"[A-Za-z0-9._-]{1,80}")
_TOML_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_SECRET_WORDS = frozenset({"key", "keys", "token", "secret", "secrets", "password", "passwords", "apikey", "apikeys"})
_KEY_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W_A-Za-z]+")
_BASE_URL = "is an address that begins with http:// or https://, without user name, '?' or '#'; fix it"
_CREDENTIAL = (
    "'credential' in [[bots]] is no variable's name; put the key into the environment, as ACME_API_KEY for example, "
    "and write that name"
)
_MAX_BOTS = 1_000
_MAX_ENTRIES = 50_000
"""Keys and entries of lists in all: what each of so many costs adds up to seconds."""
_SHOWN_CHARACTERS = 60
_ANY_LIMITS = {"ends_within_days": "days, 0 to 36,500", "min_hours_left": "hours, 0 or more"}
_PRICE = "write dollars, 0 for a local model, or {input = 1.25, output = 10}"
_NO_BOTS = 'there are no bots. Add [[bots]] and below it strategy = "market_price"'


_KEYS: Mapping[str, tuple[str, ...]] = {
    "at the top of the file": tuple(RecipeTable.model_fields),
    "in [selection]": tuple(SelectionTable.model_fields),
    "in [limits]": LIMIT_LEVELS,
    "in a table of [limits]": tuple(LimitsTable.model_fields),
    "in [search]": tuple(SearchTable.model_fields),
    "in [schedule]": tuple(ScheduleTable.model_fields),
    "in [[bots]]": (*BotTable.model_fields, *SettingsTable.model_fields),
}


@dataclass(frozen=True, slots=True)
class RecipeText:
    """A recipe as it was found."""

    text: str
    label: str
    """What messages call it: its path as the user writes it, or that it is a packaged one."""
    name: str
    """Its name where the text states none: that of its file, without the ending."""
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    """Those of its keys, once they are known; that of the whole file by the empty path."""

    def line(self, path: KeyPath) -> int:
        """Return the line of a key, or of the nearest table around it that has one."""
        around = (path[:length] for length in range(len(path), -1, -1))
        return next(self.lines[part] for part in around if part in self.lines)

    def error(self, path: KeyPath, what: str) -> RecipeError:
        """Return the error that says what is wrong with a key."""
        return RecipeError(f"{self.label}, line {self.line(path)}: {what}")


def parse_recipe(found: RecipeText) -> Recipe:
    """Return the recipe a text says.

    Raises:
        RecipeError: If it is none; the message names file, line and, for a
            wrong word, the nearest valid one.
    """
    try:
        data = _toml(found)
        _refuse_many(data, found.label)
        where = replace(found, lines={**key_lines(found.text), (): max(1, len(found.text.splitlines()))})
        _refuse_unfit(data, where)
        top = _checked(data, where)
        name, options = _game(top, where)
        return Recipe(
            name=_fit_name(found.name if top.name is None else top.name, where, ("name",)),
            game=name,
            options=options,
            overstake=top.overstake,
            venue=default_venue() if top.venue is None else _venue(top.venue, where),
            every=_every(top.every, where),
            seed=top.seed,
            selection=_rules(top.selection, make_game(name, **{**game_options(top.overstake), **options}), where),
            bots=_bots(top, name, where),
            limits={level: Limits(**table.model_dump()) for level, table in top.limits.items()},
            search=_search(top.search, where),
            source=found.label,
            schedule=None if top.schedule is None else _schedule(top.schedule, where),
        )
    except RecursionError:
        raise RecipeError(f"{found.label} is nested too deep. Write tables and lists of one or two levels") from None


def _toml(found: RecipeText) -> dict[str, Any]:
    if long := LONG_KEY.search(found.text):
        at = found.text.count("\n", 0, long.start()) + 1
        raise RecipeError(f"{found.label}, line {at}: a key has more than {MAX_KEY_PARTS} parts. Write one or two")
    try:
        return toml_table(found.text)
    except tomllib.TOMLDecodeError as error:
        position = _TOML_POSITION.search(str(error))
        line = (position and position.group(1)) or len(found.text.splitlines())
        what = _TOML_POSITION.sub("", str(error))
        raise RecipeError(f"{found.label}, line {line}: this is not TOML: {what}. Fix that line") from None
    except ValueError as error:
        if "nested" in str(error):
            raise RecursionError from None
        # Python's limit on the digits of a number, which knows no line.
        raise RecipeError(f"{found.label} has a number of thousands of digits. Write one of at most 18") from None


def _refuse_many(data: Mapping[str, Any], label: str) -> None:
    """Refuse more than anybody means to play, before each is looked at."""
    bots = data.get("bots")
    if isinstance(bots, list) and len(bots) > _MAX_BOTS:
        raise RecipeError(f"{label} has {len(bots):,} bots. Write at most {_MAX_BOTS:,} in a recipe")
    if (count := sum(1 for _ in _items(data))) > _MAX_ENTRIES:
        raise RecipeError(
            f"{label} has {count:,} keys and entries of lists. Write at most {_MAX_ENTRIES:,} in a recipe"
        )


def _refuse_unfit(data: Mapping[str, Any], where: RecipeText) -> None:
    """Refuse keys that look like secrets, wherever they are, and numbers beyond TOML's; values are never repeated."""
    for path, value in _items(data):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise where.error(path, "a number is beyond 64 bits. Write one of at most 18 digits")
        key = str(path[-1])
        if {word.casefold() for word in _KEY_WORD.findall(key)} & _SECRET_WORDS:
            raise where.error(
                path,
                f"{_short(key)!r} looks like a secret. Take it out and put it into the environment; recipes are shared",
            )


def _items(data: object, above: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Yield every key and place of a list with its value, however deep."""
    pairs = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield (*above, key), value
        yield from _items(value, (*above, key))


def _checked(data: Mapping[str, Any], where: RecipeText) -> RecipeTable:
    """Return the tables with every key known and every value of its type and range."""
    try:
        return RecipeTable.model_validate(data)
    except ValidationError as error:
        # The first is told, and the words for one are dear: a megabyte can have a hundred thousand.
        earliest = nsmallest(20, error.errors(include_url=False), key=lambda details: where.line(details["loc"]))
        mistakes = [_mistake(details, data) for details in earliest]
    path, what = min(mistakes, key=lambda mistake: where.line(mistake[0]))
    raise where.error(path, what)


def _mistake(details: ErrorDetails, data: Mapping[str, Any]) -> tuple[KeyPath, str]:
    """Return where one of pydantic's complaints is, and the same in our words."""
    path: KeyPath = details["loc"]
    if path[2:3] == ("extra_body",):
        path = path[:3]
    key, place = path[-1], _place(path)
    if path[0] == "bots" and path[2:3] == ("credential",):
        # What stands there may be the key itself.
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
        return path[:-1], _unknown_key(str(path[-2]), place, _KEYS[place])
    if details["type"] == "extra_forbidden":
        return path, _unknown_key(str(key), place, _KEYS[place])
    if details["type"] == "missing":
        return _missing(path, data)
    if path == ("bots",):
        return path, _NO_BOTS if details["input"] == [] else "bots are tables of a list; begin each with [[bots]]"
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


def _missing(path: KeyPath, data: Mapping[str, Any]) -> tuple[KeyPath, str]:
    """Return where a required key is missing; a misspelt one beside it is what is wrong."""
    if path == ("bots",):
        slip = nearest("bots", (key for key in data if key not in RecipeTable.model_fields))
        if slip is not None:
            return (slip,), _unknown_key(slip, _place((slip,)), RecipeTable.model_fields)
        return path, _NO_BOTS
    table = data["bots"][path[1]]
    slip = nearest("strategy", (key for key in table if key not in BotTable.model_fields))
    if slip is not None:
        return (*path[:-1], slip), _unknown_key(slip, _place(path), BotTable.model_fields)
    return path[:-1], "[[bots]] has no 'strategy'. Add one of those that `predibot bots` lists"


def _place(path: KeyPath) -> str:
    """Return where a key stands, as one of the words of `_KEYS`."""
    if len(path) > 1 and path[0] in ("selection", "search", "schedule"):
        return f"in [{path[0]}]"
    if len(path) > 1 and path[0] == "limits":
        return "in [limits]" if len(path) == 2 or path[2:] == ("[key]",) else "in a table of [limits]"
    return "in [[bots]]" if len(path) > 2 and path[0] == "bots" else "at the top of the file"


def _unknown_key(key: str, place: str, valid: Iterable[str]) -> str:
    """Return that a key is unknown, and what was probably meant: a like one here, or the same elsewhere."""
    key = _short(key)
    elsewhere = [other for other, keys in _KEYS.items() if other != place and key in keys]
    if elsewhere and nearest(key, valid, likeness=0.8) is None:
        return f"{key!r} does not belong {place}; it belongs {' or '.join(elsewhere)}"
    if nearest(key, valid) is None:
        for other, keys in _KEYS.items():
            if found := nearest(key, keys):
                return f"unknown key {key!r} {place}. Did you mean {found!r} {other}?"
    return f"unknown key {key!r} {place}. {did_you_mean(key, valid)}"


def _short(key: str) -> str:
    return key if len(key) <= _SHOWN_CHARACTERS else f"{key[:_SHOWN_CHARACTERS]}…"


def _fit_name(name: str, where: RecipeText, path: KeyPath) -> str:
    """Return a name that can be part of a key and of a file name."""
    if _NAME.fullmatch(name) is None or not name.strip("."):
        raise where.error(path, f"name {name[:90]!r} must be 1 to 80 letters, digits, '.', '_' or '-'. Give it another")
    return name


def _game(top: RecipeTable, where: RecipeText) -> tuple[str, dict[str, Argument]]:
    """Return the name of a game that is there, and the options that it takes of the recipe."""
    table = GameTable(name=top.game) if isinstance(top.game, str) else top.game
    options = table.model_extra or {}
    key: KeyPath = ("game",)
    try:
        make_game(table.name)
        for complaint in option_complaints(table.name, options):
            raise where.error((*key, complaint.argument), f"game {table.name!r}: {complaint.text}")
        key = ("overstake",)
        make_game(table.name, **{**game_options(top.overstake), **options})
        return table.name, stated_options(table.name, options)
    except PluginError as error:
        raise where.error(key, str(error)) from None


def _venue(venue: str, where: RecipeText) -> str:
    try:
        named(venue)
    except UsageError as error:
        raise where.error(("venue",), str(error)) from None
    return venue


def _every(text: str, where: RecipeText) -> timedelta:
    try:
        return parse_length(text)
    except ValueError:
        what = f"'every' is {text[:40]!r}; write a length of at most 366 days like '1d', '6h' or '7d'"
        raise where.error(("every",), what) from None


def _schedule(table: ScheduleTable, where: RecipeText) -> Schedule:
    """Return when a recipe is run."""
    lengths = {
        key: _length(text, where, "schedule", key)
        for key in ("jitter", "catch_up", "deadline", "track_every")
        if (text := getattr(table, key)) is not None
    }
    # What is late but still played counts, unless something else is said.
    lengths.setdefault("deadline", lengths.get("catch_up", CATCH_UP))
    key = "at" if table.cron is None else "cron"
    try:
        if (table.cron is None) == (table.at is None):
            raise ValueError('say when, by either cron = "5 12 * * *" or at = "12:05"')
        at = [table.at] if isinstance(table.at, str) else table.at or []
        crons = [Cron.of(table.cron)] if table.cron is not None else [Cron.daily(text) for text in at]
        key = "timezone"
        zone = ZoneInfo(table.timezone)
        key = "jitter"
        return Schedule(tuple(crons), zone, **lengths)
    except (ZoneInfoNotFoundError, OSError):
        what = (
            f"{table.timezone[:40]!r} is no time zone that this machine knows; write one such as 'UTC' or "
            "'Europe/Berlin', or install the package tzdata"
        )
    except ValueError as error:
        what = str(error)
    raise where.error(("schedule", key), f"{key!r} in [schedule]: {what}")


def _length(text: str, where: RecipeText, *path: str) -> timedelta:
    try:
        return parse_length(text)
    except ValueError as error:
        raise where.error(path, f"{path[-1]!r}: {error}") from None


def _rules(table: SelectionTable, game: Game, where: RecipeText) -> SelectionRules:
    stated = table.model_dump(exclude_unset=True, exclude={"crypto_words"})
    stated.update({name: tuple(stated[name]) for name in ("exclude", "include") if name in stated})
    try:
        crypto = packaged_crypto_words().extended(table.crypto_words)
    except ValueError as error:
        raise where.error(("selection", "crypto_words"), f"{error}. Write the words apart") from None
    try:
        return replace(game.select(SelectionRules(crypto=crypto)), **stated)
    except ValueError as error:
        key = "duplicate_model" if "duplicate" in str(error) else "include"
        raise where.error(("selection", key), str(error)) from None


def _bots(top: RecipeTable, game: str, where: RecipeText) -> tuple[BotSpec, ...]:
    bots: dict[str, BotSpec] = {}
    for index, table in enumerate(top.bots):
        path: KeyPath = ("bots", index)
        bot = _bot(table, game, path, where)
        if bot.name in bots:
            what = f"two bots are named {bot.name!r}. Give one of them another name"
            raise where.error(_name_path(table, path), what)
        bots[bot.name] = bot
    deciding = [name for name, bot in bots.items() if not bot.members]
    for index, bot in enumerate(bots.values()):
        _check_members(bot, bots, deciding, ("bots", index), where)
    return tuple(bots.values())


def _check_members(
    bot: BotSpec, bots: Mapping[str, BotSpec], deciding: Sequence[str], path: KeyPath, where: RecipeText
) -> None:
    """Refuse members that do not play, or that wait for others themselves."""
    for member in bot.members:
        if member not in deciding:
            why = "pools others itself" if member in bots else "is no bot of this recipe"
            what = f"bot {bot.name!r}: its member {member[:40]!r} {why}. {did_you_mean(member, deciding)}"
            raise where.error((*path, "members"), what)


def _bot(table: BotTable, game: str, path: KeyPath, where: RecipeText) -> BotSpec:
    extra = table.model_extra or {}
    name = _fit_name(table.strategy if table.name is None else table.name, where, _name_path(table, path))
    try:
        takes = argument_names(table.strategy)
        stated = {key: value for key, value in extra.items() if key in SettingsTable.model_fields and key not in takes}
        arguments = {key: value for key, value in extra.items() if key not in stated}
        for key in arguments:
            if key not in takes:
                raise where.error((*path, key), _unknown_key(key, "in [[bots]]", (*takes, *_KEYS["in [[bots]]"])))
        for complaint in argument_complaints(table.strategy, arguments):
            raise where.error((*path, complaint.argument), f"strategy {table.strategy!r}: {complaint.text}")
        if table.price_usd_per_search is not None and table.price_usd_per_million_tokens is None:
            what = "price_usd_per_search goes with price_usd_per_million_tokens; give both or none"
            raise where.error((*path, "price_usd_per_search"), what)
        spec, settings = spec_of(table.strategy, arguments).playing(game), _settings(stated, path, where)
        played = make_game(game)
        if needs := _looked_up(spec.needs, played):
            what = f"strategy {table.strategy!r} needs {needs}, and in game {game!r} a bot has what it is shown alone"
            raise where.error((*path, "strategy"), f"{what}. Take one that needs none of it, such as one_shot")
        if spec.needs.reference and not played.has_items:
            what = f"strategy {table.strategy!r} learns from labelled texts, which game {game!r} has none of"
            raise where.error((*path, "strategy"), f"{what}. Leave it out")
        if stated and not spec.needs.models:
            key = next(iter(stated))
            what = f"strategy {table.strategy!r} asks no model, so {key!r} changes nothing. Take it out"
            if key in RecipeTable.model_fields:
                what = f"{key!r} does not belong in [[bots]]; it belongs at the top of the file"
            raise where.error((*path, key), what)
        return BotSpec(name, spec, _terms(table, settings))
    except PluginError as error:
        raise where.error((*path, "strategy"), str(error)) from None


def _looked_up(needs: Needs, game: Game) -> str:
    """Return what a strategy needs that a game has not; no text for nothing."""
    # What may read daily prices is not refused where a game shows none.
    asked = {"tools": needs.tools, "news": needs.news, "other bots": needs.members}
    return " and ".join(name for name, is_needed in asked.items() if is_needed and name not in game.offers)


def _settings(stated: Mapping[str, Any], path: KeyPath, where: RecipeText) -> ModelSettings:
    """Return how a bot's models answer."""
    try:
        return ModelSettings(**dict(SettingsTable.model_validate(stated)))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise where.error(*_mistake({**first, "loc": (*path, *first["loc"])}, {})) from None


def _terms(table: BotTable, settings: ModelSettings) -> ModelTerms:
    price = table.price_usd_per_million_tokens
    stated = (price.input, price.output) if isinstance(price, PriceTable) else (price, price)
    return ModelTerms(
        table.base_url,
        table.client,
        table.credential,
        *stated,
        table.price_usd_per_search,
        table.knowledge_cutoff,
        settings,
        price.cached if isinstance(price, PriceTable) else None,
    )


def _search(table: SearchTable, where: RecipeText) -> SearchTerms:
    for provider in table.providers:
        if problem := search_problem(provider):
            what = f"'providers' in [search] is {provider[:40]!r}. {problem}"
            raise where.error(("search", "providers"), what)
    for key in ("base_urls", "usd_per_call"):
        for provider in getattr(table, key):
            if provider not in table.providers:
                what = f"{provider[:40]!r} is not one of the providers. {did_you_mean(provider, table.providers)}"
                raise where.error(("search", key, provider), what)
    for provider in sorted(OWN_INSTANCE.intersection(table.providers) - table.base_urls.keys()):
        what = f'{provider!r} is an instance of your own. Add base_urls = {{{provider} = "http://localhost:8888"}}'
        raise where.error(("search", "providers"), what)
    known = tuple(dict.fromkeys(each for names in DDGS_BACKENDS.values() for each in names))
    for backend in table.backends:
        if backend not in known:
            what = f"{backend[:40]!r} is no search engine that ddgs asks. {did_you_mean(backend, known)}"
            raise where.error(("search", "backends"), what)
    lists = {"providers": tuple(table.providers), "backends": tuple(table.backends)}
    return SearchTerms(**{**table.model_dump(), **lists})


def _name_path(table: BotTable, path: KeyPath) -> KeyPath:
    """Return where a bot's name is said: by its strategy where it has none of its own."""
    return (*path, "strategy" if table.name is None else "name")
