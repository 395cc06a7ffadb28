"""Games by name: predibot's own, and those of installed packages."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

from predibot.contracts import Game, complete_plugin
from predibot.errors import PluginError
from predibot.plugins import registry
from predibot.plugins.arguments import Argument, class_problem, find_mistakes, freeze_arguments, make_object
from predibot.plugins.registry import Kind, Plugin, own_code

GAME = Kind("game", "predibot.games", "predibot.games", in_studies="games")
_MEMBERS = ("name", "stake_usd", "scores", "subjects", "view", "form", "book")


def game_names() -> tuple[str, ...]:
    """Return the names of all games in alphabetical order, without importing any."""
    return registry.names(GAME)


def make_game(name: str, **options: Argument) -> Game:
    """Return the game of a recipe; raise `PluginError` if there is none, it is broken, or does not take an option."""
    found = registry.find(GAME, name)
    if problem := _problem(found):
        raise PluginError(problem)
    given: Mapping[str, object] = options
    game = complete_plugin(cast(Game, make_object(found, given)), Game)
    with own_code(f"{found.label} does not say its name"):
        own_name = game.name
    if own_name != name:
        raise PluginError(f"{found.label} calls itself {own_name!r}; what recipes call it and its name are one word")
    return game


def load_stored_game(name: str, recipe_json: str, methodology: str | None = None) -> Game | None:
    """Return a game as it was played; None where it is not installed any more.

    Options of the stored recipe that today's game does not take are dropped. `methodology` is that of its accounts,
    None the recipe's; raises `UsageError` if the game has no such methodology.
    """
    if name not in game_names():
        return None
    try:
        game = make_game(name, **freeze_arguments(json.loads(recipe_json).get("game_options", {})))
    except (ValueError, TypeError, AttributeError, RecursionError, PluginError):
        game = make_game(name)
    return game if methodology in (None, game.methodology_key) else game.by_methodology(methodology)


def option_complaints(name: str, options: Mapping[str, object]) -> dict[str, str]:
    """Return what is wrong with the options of a game, by their names."""
    return find_mistakes(registry.find(GAME, name), options)


def non_default_options(name: str, options: Mapping[str, object]) -> dict[str, Argument]:
    """Return the options that differ from the game's defaults."""
    plain = make_game(name)
    return {key: value for key, value in freeze_arguments(options).items() if getattr(plain, key) != value}


def game_problems() -> Iterator[tuple[str, str]]:
    """Yield every game's name with why it cannot be played; no text where it can."""
    for found in registry.find_all(GAME):
        yield found.name, found.problem or _problem(found)


def _problem(found: Plugin) -> str:
    if problem := class_problem(found):
        return problem
    for member in _MEMBERS:
        inherited = getattr(Game, member)
        if getattr(found.thing, member, inherited) is inherited:
            return f"{found.label}: {found.thing.__name__} has no {member}; give it {', '.join(_MEMBERS)}"
    return ""
