"""`predibot config`: the settings of a recipe from its defaults, file and command line, each with its source."""

from dataclasses import replace
from pathlib import Path

import typer

from predibot.cli import options, output
from predibot.cli.ending import environment_secrets


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
    from predibot.api.decide import keys_of_models
    from predibot.plugins.venues import check_venue_spec
    from predibot.recipe.merged import merged_keys, merged_text
    from predibot.recipe.parse import parse_recipe
    from predibot.recipe.text import find_recipe
    from predibot.reports.table import json_value

    found = find_recipe(recipe, Path())
    given = {name: value for name, value in limits.overrides(events).items() if value is not None}
    merged = parse_recipe(found).with_overrides(**given, bots=options.split_names(bots) or None, models=models or ())
    if venue is not None:
        merged = replace(merged, venue=check_venue_spec(venue))
    keys = merged_keys(found, merged, {*given, *([] if venue is None else ["venue"])})
    variables = list(keys_of_models(merged))
    if json:
        settings = [
            {"key": ".".join(map(str, each.path)), "value": json_value(each.value), "source": each.source}
            for each in keys
        ]
        stated = [{"bot": bot, "variables": list(names), "set": is_set} for bot, names, is_set in variables]
        output.print_document({"recipe": found.label, "settings": settings, "keys": stated})
        return
    lines = [f"# {found.label}: the command line overrides it, and defaults fill what it leaves out."]
    for bot, names, is_set in variables:
        lines.append(
            f"# The key of {bot} is {' or '.join(names)} of the environment, {'' if is_set else 'not '}set here."
        )
    typer.echo(environment_secrets().mask("\n".join((*lines, merged_text(keys)))), nl=False)
