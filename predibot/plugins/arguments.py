"""Arguments of a plug-in that is a frozen dataclass: those it takes, what is wrong with those given, and making it."""

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
    """One argument of a strategy, as a recipe gives it."""

    name: str
    type: str
    """What it takes, in words, such as `whole number from 1 to 100`."""
    default: str | None
    """As a recipe would write it; None where it must be given."""
    doc: str


@dataclass(frozen=True, slots=True)
class Complaint:
    """What is wrong with one argument."""

    argument: str
    text: str


def class_problem(found: Plugin) -> str:
    """Return why what was found is no frozen dataclass, or no text."""
    cls, label = found.thing, found.label
    if not isinstance(cls, type):
        name = class_name_of(found.name)
        return f"{label} has no class {name}; a {found.noun}'s class is named as its file"
    parameters = getattr(cls, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen:
        return f"{label}: {cls.__name__} is no frozen dataclass; write @dataclass(frozen=True, slots=True)"
    return ""


def argument_names_of(found: Plugin) -> tuple[str, ...]:
    """Return the names of the arguments it takes."""
    return tuple(known.name for known in dataclasses.fields(found.thing) if known.init)


def complaints_of(found: Plugin, arguments: Mapping[str, object]) -> tuple[Complaint, ...]:
    """Return what is wrong with each argument, unknown and missing ones included."""
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


def made(found: Plugin, arguments: Mapping[str, object]) -> Any:
    """Return what was found, made with these arguments.

    Raises:
        PluginError: If it does not take them.
    """
    if complaints := complaints_of(found, arguments):
        raise PluginError(f"{found.noun} {found.name!r}: {'; '.join(complaint.text for complaint in complaints)}")
    hints = _hints(found)
    typed = {
        argument: _adapter(hints[argument]).validate_json(json.dumps(value)) for argument, value in arguments.items()
    }
    with own_code(f"{found.noun} {found.name!r} refuses its arguments"):
        return found.thing(**typed)


def argument_infos(found: Plugin) -> tuple[ArgumentInfo, ...]:
    """Return what it takes, as a recipe gives it.

    Raises:
        PluginError: If a type cannot be read.
    """
    hints, docs = _hints(found), _argument_docs(found.thing)
    return tuple(
        ArgumentInfo(known.name, _in_words(hints[known.name]), _default_of(known), docs.get(known.name, ""))
        for known in dataclasses.fields(found.thing)
        if known.init
    )


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
        # Lists of JSON may become tuples even strictly, as those of TOML should.
        _adapter(hint).validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        words = [word for word in get_args(hint) if isinstance(word, str)] if get_origin(hint) is Literal else []
        nearest_word = f". {did_you_mean(value, words)}" if words and isinstance(value, str) else ""
        # Without the input.
        said = error.errors(include_input=False, include_url=False)[0]["msg"]
        return f"{said.replace('Input should be', 'it should be')}{nearest_word}"
    return None


def _adapter(hint: Any) -> TypeAdapter[object]:
    try:
        return TypeAdapter(hint)
    except PydanticUserError as error:
        raise PluginError(f"a strategy takes text, numbers, booleans and lists; no recipe can give a {hint}") from error


def _hints(found: Plugin) -> dict[str, Any]:
    """Return the types of a strategy's arguments, with their limits."""
    with own_code(f"{found.label}: a type of {found.thing.__name__} cannot be read"):
        return get_type_hints(found.thing, include_extras=True)


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
        # Of the module, as to find where a class ends takes longer than to read it whole.
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
