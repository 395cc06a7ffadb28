"""Strategies by name: which there are, their arguments, and their objects."""

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
    argument_infos,
    argument_names_of,
    class_problem,
    find_mistakes,
    freeze_arguments,
    make_object,
)
from predibot.plugins.registry import Kind, Origin, Plugin, own_code, summary_of

STRATEGY = Kind("strategy", "predibot.strategies", "predibot.strategies", folder="strategies", in_studies="strategies")


@dataclass(frozen=True, slots=True)
class StrategySpec:
    """Enough to make a strategy again: in a worker, next year, in the report."""

    name: str
    arguments: Mapping[str, Argument] = field(default_factory=dict)
    """Only those that were given; the others have their defaults."""
    source_sha256: str = ""
    """Digest of the plug-in's file when the spec was made."""
    needs: Needs = field(default_factory=Needs, compare=False)
    """The strategy's needs when the spec was made; they follow from the rest, so they are not compared or stored."""
    games: tuple[str, ...] = field(default=(FIRST_GAME,), compare=False)
    """The games it declared when the spec was made, not compared either."""

    def playing(self, game: str) -> "StrategySpec":
        """Return the spec if the strategy plays the game; raise `PluginError` if it does not."""
        if self.games != ANY_GAME and game not in self.games:
            raise PluginError(
                f"strategy {self.name!r} plays {', '.join(self.games)}, and not game {game!r}. "
                "Take a strategy that plays it, or another game"
            )
        return self


@dataclass(frozen=True, slots=True)
class StrategyInfo:
    """A strategy in a list."""

    name: str
    summary: str
    arguments: tuple[ArgumentInfo, ...]
    origin: Origin
    problem: str = ""
    games: tuple[str, ...] = ()
    """Names or `ANY_GAME`; empty where only an object with arguments knows."""


def strategy_names() -> tuple[str, ...]:
    """Return the names of all strategies in alphabetical order, without importing any."""
    return registry.names(STRATEGY)


def list_strategies() -> tuple[StrategyInfo, ...]:
    """Return every strategy; a broken one carries its problem."""
    return tuple(_strategy_info(found) for found in registry.find_all(STRATEGY))


def describe_strategy(name: str) -> StrategyInfo:
    """Return a strategy with its arguments; raise `PluginError` if there is none or it does not load."""
    return _strategy_info(_find_strategy(name))


def spec_of(name: str, arguments: Mapping[str, object] | None = None) -> StrategySpec:
    """Return the spec of a strategy, after making it once as a check.

    Raises `PluginError` if there is no such strategy, it does not load or does not take the arguments, or its `needs`
    is no `Needs`.
    """
    given = dict(arguments or {})
    found = _find_strategy(name)
    strategy, label = make_object(found, given), found.label
    needs = _declaration(strategy, "needs", Needs(), f"{label} cannot say what it needs")
    if not isinstance(needs, Needs):
        raise PluginError(f"{label}: needs is a {type(needs).__name__}; make it a property that returns Needs(...)")
    games = _declaration(strategy, "games", (FIRST_GAME,), f"{label} cannot say what it plays")
    if not isinstance(games, tuple) or not games or not all(isinstance(game, str) for game in games):
        raise PluginError(f"{label}: games is no tuple of names; write games = ({FIRST_GAME!r},), or ANY_GAME")
    return StrategySpec(name, freeze_arguments(given), found.sha256, needs, games)


def load_strategy(spec: StrategySpec) -> Strategy:
    """Return the strategy of a spec; only its own module is imported."""
    return cast(Strategy, make_object(_find_strategy(spec.name), spec.arguments))


def forget_strategies() -> None:
    """Have every strategy imported anew at its next use, which drops module-level state."""
    registry.forget(STRATEGY)


def starts_program(name: str) -> bool:
    """Return whether a strategy's class declares that it starts a program, such as docker."""
    return bool(getattr(_find_strategy(name).thing, "starts_program", False))


def argument_names(name: str) -> tuple[str, ...]:
    """Return the names of the arguments of a strategy."""
    return argument_names_of(_find_strategy(name))


def argument_complaints(name: str, arguments: Mapping[str, object]) -> dict[str, str]:
    """Return what is wrong with arguments, by their names, unknown and missing ones included."""
    return find_mistakes(_find_strategy(name), arguments)


def _declaration(strategy: object, name: str, default: object, unsaid: str) -> Any:
    """Return what a strategy declares under a name; `unsaid` tells of one that fails to."""
    if inspect.getattr_static(strategy, name, None) is None:
        return default
    with own_code(unsaid):
        return getattr(strategy, name)


def _find_strategy(name: str) -> Plugin:
    found = registry.find(STRATEGY, name)
    if problem := _class_problem(found):
        raise PluginError(problem)
    return found


def _class_problem(found: Plugin) -> str:
    if problem := class_problem(found):
        return problem
    cls, label = found.thing, found.label
    for declared in ("needs", "games", "starts_program"):
        if any(known.name == declared for known in dataclasses.fields(cls)):
            return f"{label}: a recipe could set the field {declared}; leave out its type, or make it a property"
    if not callable(getattr(cls, "decide", None)):
        return f"{label}: {cls.__name__} cannot decide; give it a method decide(self, context)"
    return ""


def _strategy_info(found: Plugin) -> StrategyInfo:
    problem = found.problem or _class_problem(found)
    try:
        if problem:
            raise PluginError(problem)
        games = getattr(found.thing, "games", (FIRST_GAME,))
        known = games if isinstance(games, tuple) and all(isinstance(game, str) for game in games) else ()
        return StrategyInfo(found.name, summary_of(found.thing), argument_infos(found), found.origin, games=known)
    except PluginError as error:
        return StrategyInfo(found.name, "", (), found.origin, problem=str(error))
