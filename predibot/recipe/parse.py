"""Parsing a recipe: its text becomes a whole `Recipe`, or an error with the line of the mistake."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from graphlib import CycleError
from heapq import nsmallest
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ValidationError

from predibot.contracts import Game, Needs
from predibot.domain.budget import Limits
from predibot.domain.clock import parse_length
from predibot.domain.replicates import replicate_names, sample_names, split_replicate
from predibot.domain.schedule import CATCH_UP, Cron, Schedule
from predibot.domain.spelling import did_you_mean
from predibot.domain.terms import DDGS_BACKENDS, OWN_INSTANCE, ModelSettings, ModelTerms, SearchTerms
from predibot.domain.untrusted_text import LONG_KEY, MAX_KEY_PARTS, toml_table
from predibot.errors import PluginError, RecipeError, UsageError
from predibot.plugins.arguments import Argument
from predibot.plugins.games import make_game, non_default_options, option_complaints
from predibot.plugins.strategies import argument_complaints, argument_names, spec_of
from predibot.plugins.tools import search_problem
from predibot.plugins.venues import default_venue, parse_venue_spec
from predibot.recipe import tables
from predibot.recipe.prompts import read_prompt
from predibot.recipe.recipe import BotSpec, Recipe, game_options, in_order, is_name
from predibot.recipe.text import KeyPath, RecipeText, find_recipe, key_lines, packaged_crypto_words
from predibot.selection import SelectionRules

_TOML_POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
_SECRET_WORDS = frozenset({"key", "keys", "token", "secret", "secrets", "password", "passwords", "apikey", "apikeys"})
_KEY_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[^\W_A-Za-z]+")
_MAX_BOTS = 1_000
_MOST_SEED = 2**62
_Keys = TypeVar("_Keys", bound=BaseModel)
_MAX_ENTRIES = 50_000
"""The most keys and list entries in all: each costs a little, and so many cost seconds."""


def load_recipe(argument: str | None, folder: Path) -> Recipe:
    """Return a recipe by its path or name, None for the daily one. Raises `RecipeError` if there is none, or it has a
    mistake, and `NotTrusted` as `find_recipe` does.
    """
    return parse_recipe(find_recipe(argument, folder))


def parse_recipe(found: RecipeText) -> Recipe:
    """Return the recipe in a text; raise `RecipeError` with file, line and the word that was meant."""
    try:
        data = _parse_toml(found)
        _refuse_too_many(data, found.label)
        where = replace(found, lines={**key_lines(found.text), (): max(1, len(found.text.splitlines()))})
        _refuse_secrets_and_huge_numbers(data, where)
        top = _parse_tables(data, where)
        name, options = _parse_game(top, where)
        game = make_game(name, **{**game_options(top.overstake), **options})
        return Recipe(
            name=_check_name(found.name if top.name is None else top.name, where, ("name",)),
            game=name,
            options=options,
            overstake=top.overstake,
            venue=default_venue() if top.venue is None else _check_venue(top.venue, where),
            every=_parse_every(top.every, where),
            seed=top.seed,
            selection=_selection_rules(top.selection, game, where),
            bots=_parse_bots(top, game, where),
            limits={level: Limits(**table.model_dump()) for level, table in top.limits.items()},
            search=_search_terms(top.search, where),
            source=found.label,
            schedule=None if top.schedule is None else _parse_schedule(top.schedule, where),
        )
    except RecursionError:
        raise RecipeError(f"{found.label} is nested too deep. Write tables and lists of one or two levels") from None


def _parse_toml(found: RecipeText) -> dict[str, Any]:
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
        # Python's limit on the digits of a number; its error has no line.
        raise RecipeError(f"{found.label} has a number of thousands of digits. Write one of at most 18") from None


def _refuse_too_many(data: Mapping[str, Any], label: str) -> None:
    """Refuse far too many bots or entries, before each is looked at."""
    bots = data.get("bots")
    if isinstance(bots, list) and len(bots) > _MAX_BOTS:
        raise RecipeError(f"{label} has {len(bots):,} bots. Write at most {_MAX_BOTS:,} in a recipe")
    if (count := sum(1 for _ in _walk(data))) > _MAX_ENTRIES:
        raise RecipeError(
            f"{label} has {count:,} keys and entries of lists. Write at most {_MAX_ENTRIES:,} in a recipe"
        )


def _refuse_secrets_and_huge_numbers(data: Mapping[str, Any], where: RecipeText) -> None:
    """Refuse keys that look like secrets and numbers beyond TOML's; values are never repeated."""
    for path, value in _walk(data):
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise where.error(path, "a number is beyond 64 bits. Write one of at most 18 digits")
        key = str(path[-1])
        if {word.casefold() for word in _KEY_WORD.findall(key)} & _SECRET_WORDS:
            what = f"{tables.short_key(key)!r} looks like a secret. Take it out and put it into the environment"
            raise where.error(path, f"{what}; recipes are shared")


def _walk(data: object, above: KeyPath = ()) -> Iterator[tuple[KeyPath, object]]:
    """Yield the path and value of every key and list entry, however deep."""
    pairs = data.items() if isinstance(data, Mapping) else enumerate(data) if isinstance(data, list) else ()
    for key, value in pairs:
        yield (*above, key), value
        yield from _walk(value, (*above, key))


def _parse_tables(data: Mapping[str, Any], where: RecipeText) -> tables.RecipeTable:
    try:
        return tables.RecipeTable.model_validate(data)
    except ValidationError as error:
        # Only the first mistake is shown, and describing one is slow: a megabyte can have a hundred thousand.
        earliest = nsmallest(20, error.errors(include_url=False), key=lambda details: where.line(details["loc"]))
        mistakes = [tables.describe_mistake(details, data) for details in earliest]
    path, what = min(mistakes, key=lambda mistake: where.line(mistake[0]))
    raise where.error(path, what)


def _check_name(name: str, where: RecipeText, path: KeyPath) -> str:
    if not is_name(name):
        raise where.error(path, f"name {name[:90]!r} must be 1 to 80 letters, digits, '.', '_' or '-'. Give it another")
    return name


def _parse_game(top: tables.RecipeTable, where: RecipeText) -> tuple[str, dict[str, Argument]]:
    table = tables.GameTable(name=top.game) if isinstance(top.game, str) else top.game
    options = table.model_extra or {}
    key: KeyPath = ("game",)
    try:
        make_game(table.name)
        for option, complaint in option_complaints(table.name, options).items():
            raise where.error((*key, option), f"game {table.name!r}: {complaint}")
        key = ("overstake",)
        make_game(table.name, **{**game_options(top.overstake), **options})
        return table.name, non_default_options(table.name, options)
    except PluginError as error:
        raise where.error(key, str(error)) from None


def _check_venue(venue: str, where: RecipeText) -> str:
    try:
        parse_venue_spec(venue)
    except UsageError as error:
        raise where.error(("venue",), str(error)) from None
    return venue


def _parse_every(text: str, where: RecipeText) -> timedelta:
    try:
        return parse_length(text)
    except ValueError:
        what = f"'every' is {text[:40]!r}; write a length of at most 366 days like '1d', '6h' or '7d'"
        raise where.error(("every",), what) from None


def _parse_schedule(table: tables.ScheduleTable, where: RecipeText) -> Schedule:
    lengths = {
        key: _parse_length(text, where, "schedule", key)
        for key in ("jitter", "catch_up", "deadline", "track_every")
        if (text := getattr(table, key)) is not None
    }
    # A slot may be played as late as it may be caught up, unless a deadline is given.
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


def _parse_length(text: str, where: RecipeText, *path: str) -> timedelta:
    try:
        return parse_length(text)
    except ValueError as error:
        raise where.error(path, f"{path[-1]!r}: {error}") from None


def _selection_rules(table: tables.SelectionTable, game: Game, where: RecipeText) -> SelectionRules:
    stated = table.model_dump(exclude_unset=True, exclude={"crypto_words"})
    stated.update({name: tuple(stated[name]) for name in ("exclude", "include") if name in stated})
    try:
        crypto = packaged_crypto_words().extend(table.crypto_words)
    except ValueError as error:
        raise where.error(("selection", "crypto_words"), f"{error}. Write the words apart") from None
    try:
        return replace(game.select(SelectionRules(crypto=crypto)), **stated)
    except ValueError as error:
        said = str(error)
        key = "duplicate_model" if "duplicate" in said else "min_range" if "min_range" in said else "include"
        raise where.error(("selection", key), str(error)) from None


def _parse_bots(top: tables.RecipeTable, game: Game, where: RecipeText) -> tuple[BotSpec, ...]:
    bots: dict[str, BotSpec] = {}
    named = set[str]()
    for index, table in enumerate(top.bots):
        path: KeyPath = ("bots", index)
        bot = _parse_bot(table, game, path, where)
        if bot.name in named:
            what = f"two bots are named {bot.name!r}. Give one of them another name"
            raise where.error(_name_path(table, path), what)
        samples = _samples_of(bot, table, game, path, where)
        named |= {bot.name, *(split_replicate(each.name)[0] for each in samples)}
        own = samples or [replace(bot, name=name) for name in replicate_names(bot.name, table.replicates)]
        bots |= {each.name: each for each in own}
        if len(bots) > _MAX_BOTS:
            what = f"there are more than {_MAX_BOTS:,} bots with their replicates and samples"
            raise where.error((*path, "samples" if samples else "replicates"), what)
    for index, table in enumerate(top.bots):
        for name in replicate_names(table.strategy if table.name is None else table.name, table.replicates):
            _check_members(bots[name], bots, ("bots", index), where)
    try:
        list(in_order({name: bot.members for name, bot in bots.items()}))
    except CycleError as error:
        circle = [split_replicate(name)[0] for name in error.args[1]]
        index = next(i for i, table in enumerate(top.bots) if (table.name or table.strategy) in circle)
        what = f"bots wait for each other: {' for '.join(circle)}. Break the circle"
        raise where.error(("bots", index), what) from None
    return tuple(bots.values())


def _samples_of(
    bot: BotSpec, table: tables.BotTable, game: Game, path: KeyPath, where: RecipeText
) -> tuple[BotSpec, ...]:
    """Return the bot that pools the samples of a bot, and the samples; nothing where none are wanted."""
    stated = _keys_of(tables.SamplesTable, table)
    wanted = _validate(tables.SamplesTable, stated, path, where)
    if wanted.samples is None:
        for key in stated:
            raise where.error((*path, key), f"{key!r} in [[bots]] goes with samples; give both or none")
        return ()
    if not bot.needs.models:
        what = f"strategy {table.strategy!r} asks no model, so its samples would be the same. Take 'samples' out"
        raise where.error((*path, "samples"), what)
    if bot.needs.members:
        what = f"strategy {table.strategy!r} reads what other bots said. Sample those, and take 'samples' out here"
        raise where.error((*path, "samples"), what)
    if table.replicates > 1:
        raise where.error((*path, "samples"), "'samples' and 'replicates' do not go together; take one of them out")
    names = sample_names(bot.name, wanted.samples)
    if not is_name(split_replicate(names[0])[0]):
        raise where.error(_name_path(table, path), f"the name {bot.name!r} is too long for samples. Shorten it")
    pooling: dict[str, object] = {"members": names, "min_share": wanted.min_share}
    if "pool" in argument_names(game.pooled_by):
        pooling["pool"] = wanted.pool
    elif "pool" in stated:
        what = f"game {game.name!r} pools samples by strategy {game.pooled_by!r}, where 'pool' changes nothing"
        raise where.error((*path, "pool"), f"{what}. Take it out")
    try:
        pool = BotSpec(bot.name, spec_of(game.pooled_by, pooling).playing(game.name))
    except PluginError:
        why = "has nothing that samples could be pooled into"
        if game.cohorts is not None:
            why = "gives each sample an account of its own, and what is right in one is not in another"
        what = f"game {game.name!r} {why}. Take 'samples' out, or write 'replicates' in its place"
        raise where.error((*path, "samples"), what) from None
    return (pool, *(_sample(bot, name, number) for number, name in enumerate(names)))


def _sample(bot: BotSpec, name: str, number: int) -> BotSpec:
    """Return a sample, with a seed of its own for the model where the recipe states one."""
    settings = bot.terms.settings
    if settings.seed is not None:
        settings = replace(settings, seed=settings.seed + (number if settings.seed < _MOST_SEED else -number))
    return replace(bot, name=name, terms=replace(bot.terms, settings=settings))


def _check_members(bot: BotSpec, bots: Mapping[str, BotSpec], path: KeyPath, where: RecipeText) -> None:
    """Refuse members that are no bots."""
    others = [name for name in bots if name != bot.name]
    for member in bot.members:
        if member not in others:
            why = "is the bot itself" if member == bot.name else "is no bot of this recipe"
            what = f"bot {bot.name!r}: its member {member[:40]!r} {why}. {did_you_mean(member, others)}"
            raise where.error((*path, "members"), what)


def _parse_bot(table: tables.BotTable, game: Game, path: KeyPath, where: RecipeText) -> BotSpec:
    extra = table.model_extra or {}
    name = _check_name(table.strategy if table.name is None else table.name, where, _name_path(table, path))
    try:
        takes = argument_names(table.strategy)
        stated = _keys_of(tables.SettingsTable, table)
        arguments = {
            key: extra[key] for key in extra if key not in stated and key not in _keys_of(tables.SamplesTable, table)
        }
        for key in arguments:
            if key not in takes:
                raise where.error(
                    (*path, key), tables.unknown_key(key, "in [[bots]]", (*takes, *tables.KEYS["in [[bots]]"]))
                )
        for argument, complaint in argument_complaints(table.strategy, arguments).items():
            raise where.error((*path, argument), f"strategy {table.strategy!r}: {complaint}")
        if table.price_usd_per_search is not None and table.price_usd_per_million_tokens is None:
            what = "price_usd_per_search goes with price_usd_per_million_tokens; give both or none"
            raise where.error((*path, "price_usd_per_search"), what)
        spec = spec_of(table.strategy, arguments).playing(game.name)
        answers = dict(_validate(tables.SettingsTable, stated, path, where))
        prompt = answers.pop("prompt")
        settings = ModelSettings(**answers)
        if needs := _unmet_needs(spec.needs, game):
            what = f"strategy {table.strategy!r} needs {needs}; in game {game.name!r} a bot has only what it is shown"
            raise where.error((*path, "strategy"), f"{what}. Take one that needs none of it, such as one_shot")
        if spec.needs.reference and not game.has_items:
            what = f"strategy {table.strategy!r} learns from labelled texts, which game {game.name!r} has none of"
            raise where.error((*path, "strategy"), f"{what}. Leave it out")
        if stated and not spec.needs.models:
            key = next(iter(stated))
            what = f"strategy {table.strategy!r} asks no model, so {key!r} changes nothing. Take it out"
            if key in tables.RecipeTable.model_fields:
                what = f"{key!r} does not belong in [[bots]]; it belongs at the top of the file"
            raise where.error((*path, key), what)
        text = "" if prompt is None else _read_prompt(prompt, game, spec.needs, (*path, "prompt"), where)
        if table.normalise is not None and "forecasts" not in game.scores:
            what = f"'normalise' is about probabilities of events, which game {game.name!r} has none of. Take it out"
            raise where.error((*path, "normalise"), what)
        return BotSpec(name, spec, _model_terms(table, settings), text, table.normalise)
    except PluginError as error:
        raise where.error((*path, "strategy"), str(error)) from None


def _unmet_needs(needs: Needs, game: Game) -> str:
    """Return the needs of a strategy that a game does not offer; no text for none."""
    # A strategy that can do without daily prices declares them too, so they are never refused.
    wants = {"tools": needs.tools, "news": needs.news, "other bots": needs.members}
    return " and ".join(name for name, is_needed in wants.items() if is_needed and name not in game.offers)


def _read_prompt(name: str, game: Game, needs: Needs, path: KeyPath, where: RecipeText) -> str:
    try:
        return read_prompt(name, where.folder, game, judges=bool(needs.members))
    except ValueError as error:
        raise where.error(path, f"'prompt' in [[bots]] is {name[:60]!r}, and {error}") from None


def _keys_of(keys: type[_Keys], table: tables.BotTable) -> dict[str, Any]:
    """Return the further keys of a bot that a table has, without those that its strategy takes as arguments."""
    known = keys.model_fields.keys() - argument_names(table.strategy)
    return {key: value for key, value in (table.model_extra or {}).items() if key in known}


def _validate(keys: type[_Keys], stated: Mapping[str, Any], path: KeyPath, where: RecipeText) -> _Keys:
    try:
        return keys.model_validate(stated)
    except ValidationError as error:
        mistake = error.errors(include_url=False)[0]
        raise where.error(*tables.describe_mistake({**mistake, "loc": (*path, *mistake["loc"])}, {})) from None


def _model_terms(table: tables.BotTable, settings: ModelSettings) -> ModelTerms:
    price = table.price_usd_per_million_tokens
    stated = (price.input, price.output) if isinstance(price, tables.PriceTable) else (price, price)
    return ModelTerms(
        table.base_url,
        table.client,
        table.credential,
        *stated,
        table.price_usd_per_search,
        table.knowledge_cutoff,
        settings,
        price.cached if isinstance(price, tables.PriceTable) else None,
    )


def _search_terms(table: tables.SearchTable, where: RecipeText) -> SearchTerms:
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


def _name_path(table: tables.BotTable, path: KeyPath) -> KeyPath:
    return (*path, "strategy" if table.name is None else "name")
