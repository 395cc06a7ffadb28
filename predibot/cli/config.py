"""`predibot config`: the settings of a recipe after all have had their say, each with its source."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from predibot.cli import options, output
from predibot.cli.ending import environment_secrets

if TYPE_CHECKING:
    from predibot.recipe.recipe import Recipe


def config(
    recipe: options.Recipe = None,
    venue: options.Venue = None,
    bots: options.Bots = None,
    models: options.Models = None,
    events: options.Events = None,
    *,
    limits: options.SelectionOptions,
    json: options.Json = False,
) -> None:
    """Print a recipe with defaults, file and command line merged, as TOML that can be used as a recipe."""
    from predibot.plugins.venues import check_venue_spec
    from predibot.recipe.merged import merged_keys, merged_text
    from predibot.recipe.parse import parse_recipe
    from predibot.recipe.text import find_recipe

    found = find_recipe(recipe, Path())
    given = {name: value for name, value in limits.overrides(events).items() if value is not None}
    merged = parse_recipe(found).with_overrides(**given, bots=options.split_names(bots) or None, models=models or ())
    if venue is not None:
        merged = replace(merged, venue=check_venue_spec(venue))
    keys = merged_keys(found, merged, {*given, *([] if venue is None else ["venue"])})
    variables = list(_keys_of_models(merged))
    if json:
        settings = [
            {"key": ".".join(map(str, each.path)), "value": _json_value(each.value), "source": each.source}
            for each in keys
        ]
        stated = [{"bot": bot, "variables": list(names), "set": is_set} for bot, names, is_set in variables]
        output.print_document({"recipe": found.label, "settings": settings, "keys": stated})
        return
    lines = [f"# {found.label}, over it what the command line says, below it the defaults."]
    for bot, names, is_set in variables:
        lines.append(
            f"# The key of {bot} is {' or '.join(names)} of the environment, {'' if is_set else 'not '}set here."
        )
    typer.echo(environment_secrets().mask("\n".join((*lines, merged_text(keys)))), nl=False)


def _json_value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def _keys_of_models(recipe: "Recipe") -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Yield each bot with a model that needs a key, the variables that may hold it, and whether one is set."""
    from predibot.environment import api_keys_present
    from predibot.net.api_keys import key_names

    present = api_keys_present()
    for bot in recipe.bots:
        names: tuple[str, ...]
        if bot.terms.credential is not None:
            names = (bot.terms.credential,)
        elif bot.model is None or bot.terms.base_url is not None or bot.model.startswith("sandbox/"):
            continue
        else:
            names = key_names(bot.model.partition("/")[0])
        yield bot.name, names, any(name in present for name in names)
