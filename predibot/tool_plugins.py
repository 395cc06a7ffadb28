"""Tools and search providers of the user's own: one file each, found in the folders of tools or in a package."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema

from predibot.contracts import BUILT_IN_TOOLS
from predibot.domain.chat import ToolSchema
from predibot.domain.terms import BUILT_IN_SEARCH
from predibot.errors import PluginError
from predibot.plugin_modules import (
    Origin,
    class_name_of,
    digest_of,
    forget_modules,
    imported_module,
    module_names,
    origin_of,
    own_code,
    source_file,
    summary_of,
    unknown_name,
)

TOOLS = "predibot.tools"
Kind = Literal["tool", "search"]
_GROUPS: Mapping[Kind, str] = {"tool": "predibot.tools", "search": "predibot.search"}
"""Entry points of installed packages, by kind."""
_RESERVED = frozenset({"final_answer", "note_evidence"})
_MODEL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_AS_OF = "as_of"
_PRICE = "USD_PER_CALL"
_SEARCH_MEMBERS = ("name", "dates_results", "usd_per_call", "search")


@dataclass(frozen=True, slots=True)
class ToolPlugin:
    """A tool of the user's own, as its file says it."""

    schema: ToolSchema
    """Its name, description and arguments, as a model is told of them."""
    function: Callable[..., object]
    arguments_model: type[BaseModel]
    takes_as_of: bool
    """Whether it is given the instant of the decision, later than which it shows nothing."""
    usd_per_call: float
    """The most a call costs."""
    source_sha256: str

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return arguments as the function takes them.

        Raises:
            ValueError: If one is missing, unknown or of a wrong kind; the message names each.
        """
        try:
            parsed = self.arguments_model.model_validate_json(json.dumps(given), strict=True)
        except ValidationError as error:
            problems = error.errors(include_input=False, include_url=False)
            raise ValueError(
                "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problems)
            ) from None
        return {str(field.alias): getattr(parsed, name) for name, field in type(parsed).model_fields.items()}


@dataclass(frozen=True, slots=True)
class ToolInfo:
    """What a tool or a search provider says about itself."""

    name: str
    kind: Kind
    summary: str
    origin: Origin
    problem: str = ""
    """Why it cannot be used; empty where it can."""


def tool_plugin(name: str, *, package: str = TOOLS) -> ToolPlugin:
    """Return a tool of the user's own.

    Args:
        name: The name of its file, without the ending, or of an entry point of `predibot.tools`.
        package: The package it is a module of.

    Raises:
        PluginError: If there is no such tool, or its file does not say what a tool has to say.
    """
    function, path = _found(name, "tool", package)
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        raise PluginError(f"{name}.py has no plain function {name}; a tool is a function named as its file")
    return _described(name, function, digest_of(path))


def search_class(name: str, *, package: str = TOOLS) -> type[Any]:
    """Return the class of a search provider of the user's own.

    Args:
        name: The name of its file, without the ending, or of an entry point of `predibot.search`.
        package: The package it is a module of.

    Raises:
        PluginError: If there is no such provider, or it has not the members of one.
    """
    found, _ = _found(name, "search", package)
    cls = found if isinstance(found, type) else None
    if cls is None:
        raise PluginError(f"{name}.py has no class {class_name_of(name)}; a search provider's is named as its file")
    known = {*dir(cls), *getattr(cls, "__dataclass_fields__", {})}
    if missing := [member for member in _SEARCH_MEMBERS if member not in known]:
        raise PluginError(f"{name}.py: {class_name_of(name)} has no {missing[0]}; give it {', '.join(_SEARCH_MEMBERS)}")
    return cls


def search_problem(name: str, *, package: str = TOOLS) -> str:
    """Return what is wrong with the name of a search provider, the user's own or predibot's; no text where nothing."""
    if name in BUILT_IN_SEARCH:
        return ""
    try:
        search_class(name, package=package)
    except PluginError as error:
        return _nearest(name, "search", package) if name not in user_names("search", package=package) else str(error)
    return ""


def user_names(kind: Kind, *, package: str = TOOLS) -> tuple[str, ...]:
    """Return what may be the name of a tool or a search provider of the user's own; nothing is imported."""
    files = (name for name in module_names(package) if name not in BUILT_IN_TOOLS)
    own = BUILT_IN_TOOLS if kind == "tool" else BUILT_IN_SEARCH
    return tuple(sorted({*files, *_entry_points(kind)}.difference(own)))


def tool_infos(*, package: str = TOOLS) -> tuple[ToolInfo, ...]:
    """Return what every tool and search provider in files or packages says about itself; a broken one its problem."""
    infos = [_file_info(name, package) for name in module_names(package)]
    for kind in _GROUPS:
        points = _entry_points(kind)
        files = set(module_names(package)).difference(BUILT_IN_TOOLS)
        infos += [_point_info(name, kind, package) for name in sorted(points.keys() - files)]
    return tuple(infos)


def forget_tools(package: str = TOOLS) -> None:
    """Have every tool of the user's own imported anew when it is next opened."""
    forget_modules(package, keep=BUILT_IN_TOOLS)


def require_own_tools(*, package: str = TOOLS) -> None:
    """Refuse files of the user's that stand in the place of predibot's own tools and are none.

    Raises:
        PluginError: It names the file.
    """
    for name in BUILT_IN_TOOLS:
        if problem := _own_problem(name, package):
            raise PluginError(problem)


def _own_problem(name: str, package: str) -> str:
    """Return what is wrong with the file that has the name of a tool of predibot's own, or no text."""
    if hasattr(imported_module(name, package), f"make_{name}"):
        return ""
    return f"{source_file(name, package)} has the name of a tool of predibot's own, and has no make_{name}; rename it"


def _found(name: str, kind: Kind, package: str) -> tuple[object, Path]:
    """Return what a file or an entry point of this name holds, and its file."""
    known = user_names(kind, package=package)
    if name not in known:
        raise PluginError(f"no {_words(kind)} {name[:60]!r}. {_nearest(name, kind, package)}")
    if name in module_names(package):
        module = imported_module(name, package)
        inside = name if kind == "tool" else class_name_of(name)
        return getattr(module, inside, None), source_file(name, package)
    points = entry_points(group=_GROUPS[kind], name=name)
    if len({point.value for point in points}) > 1:
        packages = ", ".join(sorted(point.dist.name for point in points if point.dist is not None))
        raise PluginError(f"several packages have a {_words(kind)} {name!r}: {packages}. Uninstall all but one")
    with own_code(f"{_words(kind)} {name!r} of a package does not load"):
        thing = _entry_points(kind)[name].load()
        return thing, Path(inspect.getfile(thing))


def _nearest(name: str, kind: Kind, package: str) -> str:
    # Only their import tells files of tools and of search providers apart, so it is done for the message alone.
    mine = [info.name for info in tool_infos(package=package) if info.kind == kind]
    valid = {*mine, *(BUILT_IN_TOOLS if kind == "tool" else BUILT_IN_SEARCH)}
    return unknown_name(name, valid, "tools", package)


def _words(kind: Kind) -> str:
    return "tool" if kind == "tool" else "search provider"


def _entry_points(kind: Kind) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=_GROUPS[kind])}


def _described(name: str, function: Callable[..., object], source_sha256: str) -> ToolPlugin:
    """Return a tool by what its signature and its docstring say."""
    if _MODEL_NAME.fullmatch(name) is None or name in _RESERVED:
        raise PluginError(f"no tool can be named {name!r}; take up to 64 ASCII letters, digits and underscores")
    doc = inspect.cleandoc(function.__doc__ or "")
    if not doc:
        raise PluginError(f"{name}.py: the function has no docstring; its first words tell the model what it does")
    parameters = dict(inspect.signature(function).parameters)
    takes_as_of = parameters.pop(_AS_OF, None) is not None
    model = _arguments_model(name, function, parameters, _argument_docs(doc))
    schema = model.model_json_schema(schema_generator=_Untitled)
    described = {"type": "object", "properties": schema["properties"], "required": schema.get("required", [])}
    if "$defs" in schema:
        described["$defs"] = schema["$defs"]
    price = getattr(inspect.getmodule(function), _PRICE, 0.0)
    if isinstance(price, bool) or not isinstance(price, int | float) or not 0.0 <= price < 1_000.0:
        raise PluginError(f"{name}.py: {_PRICE} is {price!r}; give dollars from 0")
    text = ToolSchema(name, doc.partition("\nArgs:")[0].strip(), described)
    return ToolPlugin(text, function, model, takes_as_of, float(price), source_sha256)


def _arguments_model(
    name: str, function: Callable[..., object], parameters: Mapping[str, inspect.Parameter], docs: Mapping[str, str]
) -> type[BaseModel]:
    with own_code(f"{name}.py: a type cannot be read"):
        hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters.values()):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise PluginError(f"{name}.py: argument {parameter.name!r} cannot be given by name; name every argument")
        if parameter.name not in hints:
            raise PluginError(f"{name}.py: argument {parameter.name!r} has no type; models are told of it")
        default = ... if parameter.default is parameter.empty else parameter.default
        said = Field(default, alias=parameter.name, description=docs.get(parameter.name))
        # Named by number, because pydantic keeps names such as `schema` for itself.
        fields[f"argument_{number}"] = (hints[parameter.name], said)
    try:
        return create_model(name, __config__=ConfigDict(extra="forbid", hide_input_in_errors=True), **fields)
    except (PydanticUserError, PydanticSchemaGenerationError) as error:
        raise PluginError(f"{name}.py: no model can give an argument of that type: {error}") from error


class _Untitled(GenerateJsonSchema):
    """A schema without the titles that say each name once more."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        """Return False."""
        return False


def _argument_docs(doc: str) -> dict[str, str]:
    """Return what the `Args:` of a docstring say of each argument, on one line."""
    _, _, rest = doc.partition("\nArgs:\n")
    docs: dict[str, str] = {}
    name = ""
    for line in rest.splitlines():
        if not line.startswith(" "):
            # An empty line, or the next section.
            break
        found = re.match(r" {1,8}(\w+)(?: \([^)]*\))?: (.*)", line)
        if found:
            name = found.group(1)
            docs[name] = found.group(2).strip()
        elif name:
            docs[name] += f" {line.strip()}"
    return docs


def _file_info(name: str, package: str) -> ToolInfo:
    """Return what one file says about itself; predibot's own two are tools that their makers make."""
    origin = origin_of(source_file(name, package), "tools")
    try:
        module = imported_module(name, package)
        if name in BUILT_IN_TOOLS:
            summary = (module.__doc__ or "").partition("\n")[0]
            return ToolInfo(name, "tool", summary, origin, problem=_own_problem(name, package))
        if isinstance(getattr(module, class_name_of(name), None), type):
            return ToolInfo(name, "search", summary_of(search_class(name, package=package)), origin)
        return ToolInfo(name, "tool", summary_of(tool_plugin(name, package=package).function), origin)
    except PluginError as error:
        return ToolInfo(name, "tool", "", origin, problem=str(error))


def _point_info(name: str, kind: Kind, package: str) -> ToolInfo:
    origin: Origin = "an installed package"
    if name in (BUILT_IN_TOOLS if kind == "tool" else BUILT_IN_SEARCH):
        return ToolInfo(name, kind, "", origin, problem=f"{name} is a name of predibot's own; take another")
    try:
        thing = tool_plugin(name, package=package).function if kind == "tool" else search_class(name, package=package)
    except PluginError as error:
        return ToolInfo(name, kind, "", origin, problem=str(error))
    return ToolInfo(name, kind, summary_of(thing), origin)
