"""Strategies: which there are, what they take, and how one is made from its name and arguments."""

import dataclasses
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from predibot.contracts import ANY_GAME, FIRST_GAME, Needs, Strategy
from predibot.errors import PluginError
from predibot.plugins import registry
from predibot.plugins.arguments import (
    Argument,
    ArgumentInfo,
    Complaint,
    argument_infos,
    argument_names_of,
    class_problem,
    complaints_of,
    frozen_arguments,
    made,
)
from predibot.plugins.registry import Kind, Origin, Plugin, own_code, summary_of

STRATEGY = Kind("strategy", "predibot.strategies", "predibot.strategies", folder="strategies")


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """Enough to make a strategy again: in a worker, next year, in the report."""

    name: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    """Those that were given; the others have their defaults."""
    source_sha256: str = ""
    """Digest of the plug-in's file when the spec was made."""
    needs: Needs = field(default_factory=Needs, compare=False)
    """What the strategy declared when the spec was made; it follows from the rest, so nothing compares or stores it."""
    games: tuple[str, ...] = field(default=(FIRST_GAME,), compare=False)
    """What the strategy declared to play when the spec was made; as with its needs."""

    def playing(self, game: str) -> "StrategySpec":
        """Return the same spec, if the strategy plays the game.

        Raises:
            PluginError: If it does not.
        """
        if self.games != ANY_GAME and game not in self.games:
            raise PluginError(
                f"strategy {self.name!r} plays {', '.join(self.games)}, and not game {game!r}. "
                "Take a strategy that plays it, or another game"
            )
        return self


@dataclass(frozen=True, slots=True)
class StrategyInfo:
    """What a strategy says about itself."""

    name: str
    summary: str
    arguments: tuple[ArgumentInfo, ...]
    origin: Origin
    """Whether it lies in a folder the user named, or came with predibot or its checkout."""
    problem: str = ""
    """Why it cannot be used; empty where it can."""
    games: tuple[str, ...] = ()
    """Those it names, or `ANY_GAME`; empty where it says so only once its arguments are known."""


def strategy_names() -> tuple[str, ...]:
    """Return the names of all strategies in order of the alphabet, without importing any."""
    return registry.names(STRATEGY)


def strategies() -> tuple[StrategyInfo, ...]:
    """Return what every strategy says about itself; a broken one says what is wrong with it."""
    return tuple(_info(found) for found in registry.find_all(STRATEGY))


def spec_of(name: str, arguments: Mapping[str, object] | None = None) -> StrategySpec:
    """Return the spec of a strategy, after making it once to see that it can be made.

    Args:
        name: The name of its file, without the ending.
        arguments: As a recipe gives them: text, numbers, booleans, lists.

    Raises:
        PluginError: If there is no such strategy, it does not load, it does
            not take these arguments, or what it declares as its needs is none.
    """
    given = dict(arguments or {})
    found = _found(name)
    strategy = made(found, given)
    needs, games = _needs(strategy, found.label), _games(strategy, found.label)
    return StrategySpec(name, frozen_arguments(given), found.sha256, needs, games)


def load_strategy(spec: StrategySpec) -> Strategy:
    """Return a strategy made from its spec; only its own module is imported.

    Raises:
        PluginError: If there is no such strategy, it does not load, or it
            does not take its arguments.
    """
    return cast(Strategy, made(_found(spec.name), spec.arguments))


def forget_strategies() -> None:
    """Have every strategy imported anew when it is next made, so that what one kept in its module is gone."""
    registry.forget(STRATEGY)


def starts_program(name: str) -> bool:
    """Return whether a strategy declares that it starts a program, such as docker, before it is made.

    Raises:
        PluginError: If there is no such strategy, or it does not load.
    """
    return bool(getattr(_found(name).thing, "starts_program", False))


def argument_names(name: str) -> tuple[str, ...]:
    """Return the names of the arguments a strategy takes.

    Raises:
        PluginError: If there is no such strategy, or it does not load.
    """
    return argument_names_of(_found(name))


def argument_complaints(name: str, arguments: Mapping[str, object]) -> tuple[Complaint, ...]:
    """Return what is wrong with each argument, unknown and missing ones included.

    Raises:
        PluginError: If there is no such strategy, or it does not load.
    """
    return complaints_of(_found(name), arguments)


def _needs(strategy: Any, label: str) -> Needs:
    """Return what a strategy declares that it needs; nothing where it declares nothing."""
    if inspect.getattr_static(strategy, "needs", None) is None:
        return Needs()
    with own_code(f"{label} cannot say what it needs"):
        declared = strategy.needs
    if not isinstance(declared, Needs):
        raise PluginError(f"{label}: needs is a {type(declared).__name__}; make it a property that returns Needs(...)")
    return declared


def _games(strategy: Any, label: str) -> tuple[str, ...]:
    """Return the games a strategy declares to play; the first there was where it declares nothing."""
    if inspect.getattr_static(strategy, "games", None) is None:
        return (FIRST_GAME,)
    with own_code(f"{label} cannot say what it plays"):
        declared: object = strategy.games
    if not isinstance(declared, tuple) or not declared or not all(isinstance(game, str) for game in declared):
        raise PluginError(f"{label}: games is no tuple of names; write games = ({FIRST_GAME!r},), or ANY_GAME")
    return declared


def _found(name: str) -> Plugin:
    """Return the class a plug-in is; that of a file is named as it in CamelCase."""
    found = registry.find(STRATEGY, name)
    if problem := _class_problem(found):
        raise PluginError(problem)
    return found


def _class_problem(found: Plugin) -> str:
    """Return why what was found is no strategy, or no text."""
    if problem := class_problem(found):
        return problem
    cls, label = found.thing, found.label
    for declared in ("needs", "games", "starts_program"):
        if any(known.name == declared for known in dataclasses.fields(cls)):
            return f"{label}: a recipe could set the field {declared}; leave out its type, or make it a property"
    if not callable(getattr(cls, "decide", None)):
        return f"{label}: {cls.__name__} cannot decide; give it a method decide(self, context)"
    return ""


def _info(found: Plugin) -> StrategyInfo:
    problem = found.problem or _class_problem(found)
    try:
        if problem:
            raise PluginError(problem)
        games = getattr(found.thing, "games", (FIRST_GAME,))
        known = games if isinstance(games, tuple) and all(isinstance(game, str) for game in games) else ()
        return StrategyInfo(found.name, summary_of(found.thing), argument_infos(found), found.origin, games=known)
    except PluginError as error:
        return StrategyInfo(found.name, "", (), found.origin, problem=str(error))
