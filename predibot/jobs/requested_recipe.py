"""The recipe a user asked for, with what the command line says instead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.ledger.write.runs import RunSummary

if TYPE_CHECKING:
    from predibot.recipe.recipe import Recipe


@dataclass(frozen=True, slots=True)
class AskedRecipe:
    """A recipe as it is to be run."""

    recipe: "Recipe"
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
    from predibot.recipe.find import load_recipe

    recipe = load_recipe(argument, Path())
    given = {name: value for name, value in overrides.items() if value is not None}
    return AskedRecipe(
        recipe=recipe.with_overrides(**given, bots=tuple(bots) or None),
        digest=recipe.digest,
        overrides=given,
        label=recipe.source,
    )


def asked_about(recipe: str | None, bots: Sequence[str], runs: Sequence[RunSummary]) -> str | None:
    """Return the name of a recipe whose runs somebody asks about; None for all runs.

    Args:
        recipe: A name under which runs are stored, or a recipe's file or name.
        bots: Names of bots, of which some run must have each.
        runs: Those of the ledger.

    Raises:
        UsageError: If there is no such recipe, or no run of it, or no run with such a bot.
    """
    name = recipe
    if recipe is not None and all(summary.run.recipe != recipe for summary in runs):
        # Not before it is asked for: what the ledger has is asked about by more commands than read a recipe.
        from predibot.recipe.find import load_recipe

        name = load_recipe(recipe, Path()).name
    asked = [summary for summary in runs if name in (None, summary.run.recipe)]
    if not asked and runs:
        known = sorted({summary.run.recipe for summary in runs})
        raise UsageError(f"the ledger has no run of recipe {name!r}. It has runs of {', '.join(known)}")
    playing = {bot for summary in asked for bot in summary.bots}
    for bot in bots:
        if bot not in playing:
            raise UsageError(f"no bot {bot!r} in these runs. {did_you_mean(bot, playing)}")
    return name
