"""Where models and search providers are asked, and with which key, as `decide --dry-run` shows it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.console import Console

from predibot.recipe.recipe import Recipe
from predibot.reports import figures
from predibot.reports.terminal.grid import Column, Grid, print_grid
from predibot.reports.terminal.text import plain

if TYPE_CHECKING:
    from predibot.agents.models.open_model import Destination
    from predibot.jobs.deciding.agent_setup import AgentSetup


class Asked(NamedTuple):
    """Somebody who is asked."""

    by: str | None
    """A bot's name; None for the searches of all bots."""
    name: str
    """Of the model, or of the search provider."""
    at: "Destination"


def all_asked(recipe: Recipe, agents: "AgentSetup | None") -> tuple[Asked, ...]:
    """Return whom the bots of a recipe ask, models before search providers; nobody is asked for it.

    Raises:
        UsageError: If a key is not set that the recipe names, or may not go where the recipe sends it.
        ModelRefused: If nobody knows whose model one is.
    """
    if agents is None:
        return ()
    models = [Asked(bot.name, name, at) for bot in recipe.bots for name, at in agents.model_destinations(bot).items()]
    return (*models, *(Asked(None, name, at) for name, at in agents.search_destinations().items()))


def print_asked(console: Console, asked: Sequence[Asked]) -> None:
    """Print who is asked where; nothing where nobody is."""
    if not asked:
        return
    rows = tuple(
        (plain(each.by or "all, to search"), plain(each.name), plain(each.at.host), _key(each.at)) for each in asked
    )
    columns = (Column("bot", "key"), Column("asks", "key"), Column("at", "key"), Column("with key", "text"))
    print_grid(console, Grid("Who is asked", columns, rows))


def asked_documents(asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """Return the same for programs; a key that is not sent is null."""
    return [
        {
            "bot": each.by,
            "kind": "search" if each.by is None else "model",
            "name": each.name,
            "host": each.at.host,
            "key": each.at.key_name,
            "key_is_set": each.at.key_is_set,
        }
        for each in asked
    ]


def _key(at: "Destination") -> str:
    if at.key_name is None:
        return figures.MISSING
    return at.key_name if at.key_is_set else f"{at.key_name}, not set"
