"""Arguments of plug-ins that are frozen dataclasses: their names and types, and an object of values that fit."""

import ast
import dataclasses
import inspect
import itertools
import json
import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args, get_origin, get_type_hints

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from predibot.domain.spelling import did_you_mean
from predibot.errors import PluginError
from predibot.plugins.registry import Plugin, class_name_of, own_code

Argument: TypeAlias = "str | int | float | bool | tuple[Argument, ...]"
_TYPE_WORDS = MappingProxyType(
    {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false", "null": "nothing"}
)
_END_WORDS = MappingProxyType(
    {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
)


@dataclass(frozen=True, slots=True)
class ArgumentInfo:
    """An argument of a strategy, for lists."""

    name: str
    type: str
    """In words, such as `whole number from 1 to 100`."""
    default: str | None
    """As a recipe would write it; None where it must be given."""
    doc: str


def class_problem(found: Plugin) -> str:
    """Return why a plug-in is not a frozen dataclass; empty if it is."""
    cls, label = found.thing, found.label
    if not isinstance(cls, type):
        name = class_name_of(found.name)
        return f"{label} has no class {name}; a {found.noun}'s class is named as its file"
    parameters = getattr(cls, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return f"{label}: {cls.__name__} is no frozen dataclass; write @dataclass(frozen=True, slots=True)"
    return ""


def argument_names_of(found: Plugin) -> tuple[str, ...]:
    """Return the names of a plug-in's arguments."""
    return tuple(known.name for known in dataclasses.fields(found.thing) if known.init)


def find_mistakes(found: Plugin, arguments: Mapping[str, object]) -> dict[str, str]:
    """Return what is wrong with arguments, by their names, unknown and missing ones included."""
    fields = {known.name: known for known in dataclasses.fields(found.thing) if known.init}
    hints = _hints(found)
    complaints: dict[str, str] = {}
    for argument, value in arguments.items():
        if argument not in fields:
            takes = did_you_mean(argument, fields) if fields else "It takes none"
            complaints[argument] = f"unknown argument {argument!r}. {takes}"
        elif problem := _value_problem(hints[argument], value):
            complaints[argument] = f"argument {argument!r}: {problem}"
    missing = (name for name, known in fields.items() if name not in arguments and _default_of(known) is None)
    return complaints | {name: f"argument {name!r} is missing" for name in missing}


def make_object(found: Plugin, arguments: Mapping[str, object]) -> Any:
    """Return an object of a plug-in; raise `PluginError` if it does not take the arguments."""
    if complaints := find_mistakes(found, arguments):
        raise PluginError(f"{found.noun} {found.name!r}: {'; '.join(complaints.values())}")
    hints = _hints(found)
    typed = {
        argument: _adapter(hints[argument]).validate_json(json.dumps(value)) for argument, value in arguments.items()
    }
    with own_code(f"{found.noun} {found.name!r} refuses its arguments"):
        return found.thing(**typed)


def argument_infos(found: Plugin) -> tuple[ArgumentInfo, ...]:
    """Return the arguments of a plug-in."""
    hints, docs = _hints(found), _argument_docs(found.thing)
    return tuple(
        ArgumentInfo(known.name, _in_words(hints[known.name]), _default_of(known), docs.get(known.name, ""))
        for known in dataclasses.fields(found.thing)
        if known.init
    )


def freeze_arguments(arguments: Mapping[str, object]) -> dict[str, Argument]:
    """Return arguments as a spec keeps them: lists, also those of JSON, become tuples."""
    return {name: _freeze(value) for name, value in arguments.items()}


def _freeze(value: object) -> Argument:
    if isinstance(value, list | tuple):
        return tuple(_freeze(part) for part in value)
    if isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise PluginError("it is text, a finite number, true or false, or a list of them; write dates and times in quotes")


def _value_problem(hint: Any, value: object) -> str | None:
    """Return why a value does not fit an argument of this type, or None; the value is never repeated."""
    try:
        _freeze(value)
    except PluginError as error:
        return str(error)
    try:
        # Through JSON, whose lists may become tuples even in strict mode.
        _adapter(hint).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        words = [word for word in get_args(hint) if isinstance(word, str)] if get_origin(hint) is Literal else []
        nearest_word = f". {did_you_mean(value, words)}" if words and isinstance(value, str) else ""
        message = error.errors(include_input=False, include_url=False)[0]["msg"]
        return f"{message.replace('Input should be', 'it should be')}{nearest_word}"
    return None


def _adapter(hint: Any) -> TypeAdapter[object]:
    try:
        return TypeAdapter(hint)
    except PydanticUserError as error:
        raise PluginError(f"a strategy takes text, numbers, booleans and lists; no recipe can give a {hint}") from error


def _hints(found: Plugin) -> dict[str, Any]:
    with own_code(f"{found.label}: a type of {found.thing.__name__} cannot be read"):
        return get_type_hints(found.thing, include_extras=True)


def _in_words(hint: Any) -> str:
    """Return what a type takes, such as `whole number from 1 to 100`."""
    try:
        return _schema_in_words(_adapter(hint).json_schema())
    except (PluginError, PydanticUserError):
        return inspect.formatannotation(hint)


def _schema_in_words(schema: Mapping[str, Any]) -> str:
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
    """Return a field's default as a recipe would write it, or None."""
    if known.default is not dataclasses.MISSING:
        return json.dumps(known.default, default=str)
    if known.default_factory is not dataclasses.MISSING:
        return json.dumps(known.default_factory(), default=str)
    return None


def _argument_docs(cls: type[Any]) -> dict[str, str]:
    """Return the docstring behind each field of a class, on one line."""
    try:
        # The whole module: to find where a class ends takes longer than to parse everything.
        parsed = ast.parse(inspect.getsource(sys.modules[cls.__module__]))
    except (OSError, SyntaxError):
        return {}
    classes = (each for each in ast.walk(parsed) if isinstance(each, ast.ClassDef) and each.name == cls.__name__)
    statements = next((each.body for each in classes), [])
    docs = {}
    for statement, after in itertools.pairwise(statements):
        if not (isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)):
            continue
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
            docs[statement.target.id] = " ".join(after.value.value.split())
    return docs
