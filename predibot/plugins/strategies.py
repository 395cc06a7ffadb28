"""Strategies: which there are, what they take, and how one is made from its name and arguments."""

import ast
import dataclasses
import inspect
import itertools
import json
import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, cast, get_args, get_origin, get_type_hints

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from predibot.contracts import ANY_GAME, FIRST_GAME, Needs, Strategy
from predibot.domain.spelling import did_you_mean
from predibot.errors import PluginError
from predibot.plugins import registry
from predibot.plugins.registry import Kind, Origin, Plugin, own_code, summary_of

STRATEGY = Kind("strategy", "predibot.strategies", "predibot.strategies", folder="strategies")
Argument: TypeAlias = "str | int | float | bool | tuple[Argument, ...]"
_TYPE_WORDS = MappingProxyType(
    {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "nothing"}
)
_END_WORDS = MappingProxyType(
    {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
)


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
class ArgumentInfo:
    """One argument of a strategy, as a recipe gives it."""

    name: str
    type: str
    """What it takes, in words, such as `whole number from 1 to 100`."""
    default: str | None
    """As a recipe would write it; None where it must be given."""
    doc: str


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


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with one argument."""

    argument: str
    text: str


def strategy_names(package: str = STRATEGY.package) -> tuple[str, ...]:
    """Return the names of all strategies in order of the alphabet, without importing any.

    Args:
        package: The package they are modules of.
    """
    return registry.names(_kind(package))


def strategies(package: str = STRATEGY.package) -> tuple[StrategyInfo, ...]:
    """Return what every strategy says about itself; a broken one says what is wrong with it."""
    return tuple(_info(found) for found in registry.find_all(_kind(package)))


def spec_of(
    name: str, arguments: Mapping[str, object] | None = None, *, package: str = STRATEGY.package
) -> StrategySpec:
    """Return the spec of a strategy, after making it once to see that it can be made.

    Args:
        name: The name of its file, without the ending.
        arguments: As a recipe gives them: text, numbers, booleans, lists.
        package: The package it is a module of.

    Raises:
        PluginError: If there is no such strategy, it does not load, it does
            not take these arguments, or what it declares as its needs is none.
    """
    given = dict(arguments or {})
    found = _found(name, package)
    made = _made(found, given)
    return StrategySpec(
        name, frozen_arguments(given), found.sha256, _needs(made, found.label), _games(made, found.label)
    )


def load_strategy(spec: StrategySpec, *, package: str = STRATEGY.package) -> Strategy:
    """Return a strategy made from its spec; only its own module is imported.

    Raises:
        PluginError: If there is no such strategy, it does not load, or it
            does not take its arguments.
    """
    return _made(_found(spec.name, package), spec.arguments)


def forget_strategies(package: str = STRATEGY.package) -> None:
    """Have every strategy imported anew when it is next made, so that what one kept in its module is gone."""
    registry.forget(_kind(package))


def argument_names(name: str, *, package: str = STRATEGY.package) -> tuple[str, ...]:
    """Return the names of the arguments a strategy takes.

    Raises:
        PluginError: If there is no such strategy, or it does not load.
    """
    return tuple(known.name for known in dataclasses.fields(_found(name, package).thing) if known.init)


def argument_complaints(
    name: str, arguments: Mapping[str, object], *, package: str = STRATEGY.package
) -> tuple[Complaint, ...]:
    """Return what is wrong with each argument, unknown and missing ones included.

    Raises:
        PluginError: If there is no such strategy, or it does not load.
    """
    return _complaints(_found(name, package), arguments)


def _complaints(found: Plugin, arguments: Mapping[str, object]) -> tuple[Complaint, ...]:
    fields = {known.name: known for known in dataclasses.fields(found.thing) if known.init}
    hints = _hints(found)
    complaints = []
    for argument, value in arguments.items():
        if argument not in fields:
            takes = did_you_mean(argument, fields) if fields else "It takes none"
            complaints.append(Complaint(argument, f"unknown argument {argument!r}. {takes}"))
        elif problem := _value_problem(hints[argument], value):
            complaints.append(Complaint(argument, f"argument {argument!r}: {problem}"))
    missing = [known for known in fields.values() if known.name not in arguments and _default_of(known) is None]
    complaints += [Complaint(known.name, f"argument {known.name!r} is missing") for known in missing]
    return tuple(complaints)


def _made(found: Plugin, arguments: Mapping[str, object]) -> Strategy:
    if complaints := _complaints(found, arguments):
        raise PluginError(f"strategy {found.name!r}: {'; '.join(complaint.text for complaint in complaints)}")
    hints = _hints(found)
    typed = {
        argument: _adapter(hints[argument]).validate_json(_as_json(value)) for argument, value in arguments.items()
    }
    with own_code(f"strategy {found.name!r} refuses its arguments"):
        return cast("Strategy", found.thing(**typed))


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


def frozen_arguments(arguments: Mapping[str, object]) -> dict[str, Argument]:
    """Return arguments as a spec keeps them: lists, also those read back from JSON, as tuples."""
    return {name: _frozen(value) for name, value in arguments.items()}


def _frozen(value: object) -> Argument:
    if isinstance(value, list | tuple):
        return tuple(_frozen(part) for part in value)
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise PluginError("it is text, a finite number, true or false, or a list of them; write dates and times in quotes")


def _value_problem(hint: Any, value: object) -> str | None:
    """Return what is wrong with the value of an argument of this type, or None; the value is never repeated."""
    try:
        _frozen(value)
    except PluginError as error:
        return str(error)
    try:
        _adapter(hint).validate_json(_as_json(value), strict=True)
    except ValidationError as error:
        words = [word for word in get_args(hint) if isinstance(word, str)] if get_origin(hint) is Literal else []
        nearest_word = f". {did_you_mean(value, words)}" if words and isinstance(value, str) else ""
        return f"{_said(error)}{nearest_word}"
    return None


def _as_json(value: object) -> str:
    """Return a value as JSON, whose lists may become tuples even strictly, as those of TOML should."""
    return json.dumps(value)


def _adapter(hint: Any) -> TypeAdapter[object]:
    try:
        return TypeAdapter(hint)
    except PydanticUserError as error:
        raise PluginError(f"a strategy takes text, numbers, booleans and lists; no recipe can give a {hint}") from error


def _hints(found: Plugin) -> dict[str, Any]:
    """Return the types of a strategy's arguments, with their limits."""
    with own_code(f"{found.label}: a type of {found.thing.__name__} cannot be read"):
        return get_type_hints(found.thing, include_extras=True)


def _said(error: ValidationError) -> str:
    """Return pydantic's first complaint as part of a sentence, without the input."""
    message = error.errors(include_input=False, include_url=False)[0]["msg"]
    return message.replace("Input should be", "it should be")


def _kind(package: str) -> Kind:
    return dataclasses.replace(STRATEGY, package=package)


def _found(name: str, package: str) -> Plugin:
    """Return the class a plug-in is; that of a file is named as it in CamelCase."""
    found = registry.find(_kind(package), name)
    if problem := _class_problem(found):
        raise PluginError(problem)
    return found


def _class_problem(found: Plugin) -> str:
    """Return why what was found is no strategy, or no text."""
    cls, label = found.thing, found.label
    if not isinstance(cls, type):
        return f"{label} has no class {STRATEGY.attribute(found.name)}; a strategy's class is named as its file"
    parameters = getattr(cls, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return f"{label}: {cls.__name__} is no frozen dataclass; write @dataclass(frozen=True, slots=True)"
    for declared in ("needs", "games"):
        if any(known.name == declared for known in dataclasses.fields(cls)):
            return f"{label}: a recipe could set the field {declared}; leave out its type, or make it a property"
    if not callable(getattr(cls, "decide", None)):
        return f"{label}: {cls.__name__} cannot decide; give it a method decide(self, context)"
    return ""


def _info(found: Plugin) -> StrategyInfo:
    problem = found.problem or _class_problem(found)
    try:
        hints = {} if problem else _hints(found)
    except PluginError as error:
        problem = str(error)
    if problem:
        return StrategyInfo(found.name, "", (), found.origin, problem)
    docs = _argument_docs(found.thing)
    arguments = tuple(
        ArgumentInfo(known.name, _in_words(hints[known.name]), _default_of(known), docs.get(known.name, ""))
        for known in dataclasses.fields(found.thing)
        if known.init
    )
    return StrategyInfo(found.name, summary_of(found.thing), arguments, found.origin)


def _in_words(hint: Any) -> str:
    """Return what an argument of a type takes, such as `whole number from 1 to 100`."""
    try:
        return _schema_in_words(_adapter(hint).json_schema())
    except (PluginError, PydanticUserError):
        return inspect.formatannotation(hint)


def _schema_in_words(schema: Mapping[str, Any]) -> str:
    """Return what a JSON schema allows, in words."""
    if "enum" in schema or "const" in schema:
        return f"one of {', '.join(map(str, schema.get('enum', [schema.get('const')])))}"
    if "anyOf" in schema:
        return " or ".join(_schema_in_words(each) for each in schema["anyOf"])
    if schema.get("type") == "array":
        return f"list, each {_schema_in_words(schema.get('items', {}))}"
    word = _TYPE_WORDS.get(schema.get("type", ""), "value")
    if "minimum" in schema and "maximum" in schema:
        return f"{word} from {schema['minimum']:g} to {schema['maximum']:g}"
    ends = ", ".join(f"{words} {schema[key]:g}" for key, words in _END_WORDS.items() if key in schema)
    return f"{word} {ends}".rstrip()


def _default_of(known: "dataclasses.Field[Any]") -> str | None:
    """Return the default of a field as a recipe would write it, or None where it has none."""
    if known.default is not dataclasses.MISSING:
        return json.dumps(known.default, default=str)
    if known.default_factory is not dataclasses.MISSING:
        return json.dumps(known.default_factory(), default=str)
    return None


def _argument_docs(cls: type[Any]) -> dict[str, str]:
    """Return the string that follows each field in the source of a class, on one line."""
    try:
        body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    except (OSError, SyntaxError):
        return {}
    statements = body.body if isinstance(body, ast.ClassDef) else []
    docs = {}
    for statement, after in itertools.pairwise(statements):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            docs[statement.target.id] = " ".join(after.value.value.split())
    return docs
