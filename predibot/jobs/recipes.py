"""The recipe a user asked for, with what the command line says instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from predibot.recipe import Recipe
from predibot.recipe_file import load_recipe


@dataclass(frozen=True, slots=True)
class AskedRecipe:
    """A recipe as it is to be run."""

    recipe: Recipe
    """With the overrides."""
    digest: str
    """Of the recipe without them."""
    overrides: Mapping[str, Any]
    label: str
    """Which one it is, for the person at the terminal."""


def asked_recipe(argument: str | None, *, overrides: Mapping[str, Any], bots: Sequence[str] = ()) -> AskedRecipe:
    """Return the recipe of a path or name, or the daily one, with overrides that are not None applied.

    Raises:
        RecipeError: If there is no such recipe, or it has a mistake.
        UsageError: If an override is out of its range, or a bot is unknown.
    """
    recipe = load_recipe(argument, Path())
    given = {name: value for name, value in overrides.items() if value is not None}
    return AskedRecipe(
        recipe=recipe.with_overrides(**given, bots=tuple(bots) or None),
        digest=recipe.digest,
        overrides=given,
        label=recipe.source,
    )


def recipe_name(argument: str | None) -> str | None:
    """Return the name under which a recipe's runs are stored; None for all runs."""
    return None if argument is None else load_recipe(argument, Path()).name
