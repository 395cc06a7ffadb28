"""Recipes as text: the settings of one with their values and sources, and a new one to begin with."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from predibot.domain.clock import format_length
from predibot.domain.replicates import sampled_bot, split_replicate
from predibot.domain.untrusted_text import toml_table
from predibot.plugins.strategies import describe_strategy
from predibot.recipe.recipe import BotSpec, Recipe
from predibot.recipe.tables import SamplesTable, SearchTable, SelectionTable
from predibot.recipe.text import KeyPath, RecipeText, key_lines, packaged_recipe_text

DEFAULT_SOURCE = "default"
COMMAND_LINE = "command line"
_BARE = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class MergedKey:
    """A key of a recipe, its value, and its source."""

    path: KeyPath
    """Such as `("selection", "events")` or `("bots", 0, "model")`."""
    value: Any
    """As TOML has it."""
    source: str
    """`default`, `command line`, or the recipe with the line."""
    implied: bool = False
    """Whether it must not be written: an argument that is stated makes a bot another one."""


def merged_keys(found: RecipeText, recipe: Recipe, overridden: Collection[str] = ()) -> tuple[MergedKey, ...]:
    """Return all keys of a recipe, those of its tables behind those at its top. `found` is the text, `recipe` what it
    says together with the command line, which sets the `overridden` rules or `venue`.
    """
    table, lines = toml_table(found.text), key_lines(found.text)

    def key(path: KeyPath, value: Any) -> MergedKey:
        source = f"{found.label}, line {lines[path]}" if path in lines else DEFAULT_SOURCE
        return MergedKey(
            path, value, COMMAND_LINE if path[0] in ("selection", "venue") and path[-1] in overridden else source
        )

    def part(name: str, values: Mapping[str, Any]) -> Iterator[MergedKey]:
        for each, value in values.items():
            yield key((name, each), value)

    return tuple(_keys(table, recipe, key, part))


def merged_text(keys: Sequence[MergedKey]) -> str:
    """Return the keys as TOML that can be used as a recipe, each with its source in a comment."""
    lines: list[str] = []
    above: KeyPath = ()
    for each in keys:
        *table, name = each.path
        if (path := tuple(table)) != above:
            above = path
            head = ".".join(_key_text(str(part)) for part in path if isinstance(part, str))
            lines += ["", f"[[{head}]]" if isinstance(path[-1], int) else f"[{head}]"]
        text = f"{_key_text(str(name))} = {_value_text(each.value)}  # {each.source}"
        lines.append(f"# {text}" if each.implied else text)
    return "\n".join(lines) + "\n"


def _keys(table: Mapping[str, Any], recipe: Recipe, key: Any, part: Any) -> Iterator[MergedKey]:
    yield key(("name",), recipe.name)
    options = table["game"] if isinstance(table.get("game"), dict) else {}
    if not options:
        yield key(("game",), recipe.game)
    yield key(("venue",), recipe.venue)
    yield key(("every",), format_length(recipe.every))
    yield key(("seed",), recipe.seed)
    yield key(("overstake",), recipe.overstake)
    if options:
        yield from part("game", {"name": recipe.game, **options})
    rules = {name: getattr(recipe.selection, name) for name in SelectionTable.model_fields if name != "crypto_words"}
    yield from part("selection", {**rules, "crypto_words": table.get("selection", {}).get("crypto_words", [])})
    for level, limits in recipe.limits.items():
        for name, value in asdict(limits).items():
            if value is not None:
                yield key(("limits", level, name), value)
    yield from part("search", {name: getattr(recipe.search, name) for name in SearchTable.model_fields})
    if (schedule := recipe.schedule) is not None:
        lengths = {name: getattr(schedule, name) for name in ("jitter", "catch_up", "deadline", "track_every")}
        known = {name: format_length(length) for name, length in lengths.items() if length}
        yield from part("schedule", {"timezone": str(schedule.zone), **known, **table["schedule"]})
    yield from _bot_keys(table["bots"], recipe.bots, key)


def _bot_keys(tables: Sequence[Mapping[str, Any]], bots: Sequence[BotSpec], key: Any) -> Iterator[MergedKey]:
    stated = {each.get("name", each["strategy"]): place for place, each in enumerate(tables)}
    # Replicates and samples are of one line; a sample stands behind the bot that pools it, and has what the line says.
    by_name = {split_replicate(sampled_bot(bot.name))[0]: bot for bot in bots}
    for number, name in enumerate(by_name):
        bot, place = by_name[name], stated.get(name)
        if place is None:
            settings = dict(bot.terms.settings.explicit)
            if "extra_body" in settings:
                settings["extra_body"] = json.loads(str(settings["extra_body"]))
            values = {"name": name, "strategy": bot.strategy.name, **bot.strategy.arguments, **settings}
            keys = [MergedKey(("bots", number, each), value, COMMAND_LINE) for each, value in values.items()]
        else:
            values = {"name": name, **tables[place]}
            found = (key(("bots", place, each), value) for each, value in values.items())
            keys = [MergedKey(("bots", number, each.path[-1]), each.value, each.source) for each in found]
        yield from keys
        if sampled_bot(bot.name) != bot.name:
            for option, field in SamplesTable.model_fields.items():
                if option not in values:
                    yield MergedKey(("bots", number, option), field.default, DEFAULT_SOURCE)
        for each in describe_strategy(bot.strategy.name).arguments:
            value = None if each.default is None or each.name in values else json.loads(each.default)
            if value is not None:
                yield MergedKey(("bots", number, each.name), value, DEFAULT_SOURCE, implied=True)


def _key_text(key: str) -> str:
    return key if _BARE.fullmatch(key) else quoted(key)


def _value_text(value: Any) -> str:
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_key_text(str(key))} = {_value_text(each)}' for key, each in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value_text, value))}]"
    return value.isoformat() if isinstance(value, date) else repr(value)


_LOCAL = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:|/|$)", re.IGNORECASE)
_VENUE = re.compile(r'^venue = ".*"$', re.MULTILINE)
_KEY = re.compile(r"#\s+(\w+) = ")


def starter_text(model: str = "", *, base_url: str = "", venue: str = "", cron: str = "") -> str:
    """Return a recipe to start from, with a comment on every line.

    Args:
        model: Of an agent with limits of what it may spend; empty for baselines alone.
        base_url: Address of a server that has the model; a server of this machine costs nothing.
        venue: Where events come from; empty for the usual one.
        cron: When it is played, in UTC; empty for no schedule.
    """
    text = packaged_recipe_text("starter")
    if venue:
        usual = _VENUE.search(text)
        text = text if usual is None else text.replace(usual[0], f"venue = {quoted(venue)}", 1)
    if cron:
        text = _fill(text, "[schedule]", {"cron": quoted(cron), "timezone": '"UTC"'})
    if model:
        agent = {"name": '"agent"', "strategy": '"tool_agent"', "model": quoted(model)}
        if base_url:
            agent["base_url"] = quoted(base_url)
        if _LOCAL.match(base_url):
            agent["price_usd_per_million_tokens"] = "0"
        text = _fill(text, '[[bots]]\n#  name = "gpt"', agent)
        text = _fill(text, "[limits.decision]", {"usd": "0.75"})
        text = _fill(text, "[limits.day]", {"usd": "10.0"})
    return text


def quoted(text: str) -> str:
    """Return a text as TOML writes it; its parser refuses lone surrogates, which stand for other bytes than UTF-8."""
    quoted = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
    return quoted.encode("utf-8", "backslashreplace").decode()


def _fill(text: str, head: str, values: Mapping[str, str]) -> str:
    """Return the text with the table that is commented out under this head in it, with these values of its keys."""
    before, mark, after = re.split(rf"^(# +{re.escape(head)})", text, maxsplit=1, flags=re.MULTILINE)
    table, *rest = f"{mark}{after}".split("\n")
    lines = [table.lstrip("# ")]
    while rest and rest[0].startswith("#") and "[" not in rest[0][:4]:
        line = rest.pop(0)
        key = _KEY.match(line)
        lines.append(f"{key[1]} = {values[key[1]]}" if key and key[1] in values else line)
    return before + "\n".join([*lines, *rest])
