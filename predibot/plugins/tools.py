"""Tools and search providers of the user's own: one file each, or of an installed package."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema

from predibot.agents.loop.belief import UPDATE_BELIEF
from predibot.contracts import BUILT_IN_TOOLS
from predibot.domain.chat import ToolSchema
from predibot.domain.terms import BUILT_IN_SEARCH
from predibot.errors import PluginError
from predibot.plugins import registry
from predibot.plugins.registry import Kind, Origin, Plugin, class_name_of, own_code, summary_of

TOOL = Kind("tool", "predibot.tools", "predibot.tools", "function", folder="tools", own=BUILT_IN_TOOLS)
SEARCH = Kind("search provider", "predibot.search", "predibot.tools", folder="tools", own=BUILT_IN_SEARCH)
KindOfTool = Literal["tool", "search"]
_INSTALLED: Origin = "an installed package"
_KINDS: Mapping[KindOfTool, Kind] = {"tool": TOOL, "search": SEARCH}
_RESERVED = frozenset({"final_answer", UPDATE_BELIEF})
_MODEL_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
_AS_OF = "as_of"
_PRICE = "USD_PER_CALL"
_SEARCH_MEMBERS = ("name", "dates_results", "usd_per_call", "search")


@dataclass(frozen=True, slots=True)
class ToolPlugin:
    """A user's own tool."""

    schema: ToolSchema
    function: Callable[..., object]
    arguments_model: type[BaseModel]
    takes_as_of: bool
    """Whether it gets the instant of the decision, after which it shows nothing."""
    usd_per_call: float
    source_sha256: str

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """Return arguments as the function takes them; raise `ValueError` that names wrong ones."""
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
    """A tool or a search provider in a list."""

    name: str
    kind: KindOfTool
    summary: str
    origin: Origin
    problem: str = ""


def tool_plugin(name: str) -> ToolPlugin:
    """Return a user's tool by the name of its file without ending, or of an entry point of `predibot.tools`."""
    return _describe_tool(_find_tool(name, "tool"))


def starts_program(name: str, *, kind: KindOfTool = "tool") -> bool:
    """Return whether a tool's or provider's file declares by `STARTS_PROGRAM = True` that it starts a program."""
    return bool(getattr(inspect.getmodule(_find_tool(name, kind).thing), "STARTS_PROGRAM", False))


def search_class(name: str) -> type[Any]:
    """Return a user's search provider by the name of its file, or of an entry point of `predibot.search`."""
    return _provider_class(_find_tool(name, "search"))


def search_problem(name: str) -> str:
    """Return why there is no usable search provider of a name; empty if there is."""
    if name in BUILT_IN_SEARCH:
        return ""
    try:
        search_class(name)
    except PluginError as error:
        return _suggest(name, "search") if name not in user_names("search") else str(error)
    return ""


def user_names(kind: KindOfTool) -> tuple[str, ...]:
    """Return the names that a user's own tool or search provider may have; nothing is imported."""
    return tuple(name for name in registry.names(_KINDS[kind]) if name not in BUILT_IN_TOOLS)


def tool_infos() -> tuple[ToolInfo, ...]:
    """Return every tool and search provider; a broken one carries its problem."""
    own = [_builtin_info(name) for name in registry.module_names(TOOL) if name in BUILT_IN_TOOLS]
    tools = registry.find_all(TOOL)
    providers = [found for found in registry.find_all(SEARCH) if found.name not in BUILT_IN_TOOLS]
    # Both kinds search the same files; a file with a provider's class is a provider.
    files = {found.name for found in providers if isinstance(found.thing, type) or found.origin == _INSTALLED}
    mine = [_tool_info(found, "tool") for found in tools if found.name not in files or found.origin == _INSTALLED]
    return (*own, *mine, *(_tool_info(found, "search") for found in providers if found.name in files))


def forget_tools() -> None:
    """Have every user's tool imported anew at its next use."""
    for kind in _KINDS:
        registry.forget(replace(_KINDS[kind], own=BUILT_IN_TOOLS))


def require_own_tools() -> None:
    """Refuse a user's file that replaces one of predibot's own tools without being a tool."""
    for name in BUILT_IN_TOOLS:
        if problem := _builtin_problem(name):
            raise PluginError(problem)


def _builtin_problem(name: str) -> str:
    module = registry.import_plugin_module(TOOL, name)
    if hasattr(module, f"make_{name}"):
        return ""
    return f"{module.__file__} has the name of a tool of predibot's own, and has no make_{name}; rename it"


def _find_tool(name: str, kind: KindOfTool) -> Plugin:
    if name not in user_names(kind):
        raise PluginError(f"no {_KINDS[kind].noun} {name[:60]!r}. {_suggest(name, kind)}")
    return registry.find(_KINDS[kind], name)


def _suggest(name: str, kind: KindOfTool) -> str:
    # To tell tools from search providers all files are imported, so this is done only for a message.
    mine = [info.name for info in tool_infos() if info.kind == kind]
    return registry.unknown_name(_KINDS[kind], name, {*mine, *_KINDS[kind].own})


def _provider_class(found: Plugin) -> type[Any]:
    cls, label = found.thing, found.label
    if not isinstance(cls, type):
        raise PluginError(f"{label} has no class {class_name_of(found.name)}; a search provider's is named as its file")
    known = {*dir(cls), *getattr(cls, "__dataclass_fields__", {})}
    if missing := [member for member in _SEARCH_MEMBERS if member not in known]:
        raise PluginError(f"{label}: {cls.__name__} has no {missing[0]}; give it {', '.join(_SEARCH_MEMBERS)}")
    return cls


def _describe_tool(found: Plugin) -> ToolPlugin:
    name, label, function = found.name, found.label, found.thing
    if not inspect.isfunction(function) or inspect.iscoroutinefunction(function):
        raise PluginError(f"{label} has no plain function {name}; a tool is a function named as its file")
    if _MODEL_NAME.fullmatch(name) is None or name in _RESERVED:
        raise PluginError(f"no tool can be named {name!r}; take up to 64 ASCII letters, digits and underscores")
    doc = inspect.cleandoc(function.__doc__ or "")
    if not doc:
        raise PluginError(f"{label}: the function has no docstring; its first words tell the model what it does")
    parameters = dict(inspect.signature(function).parameters)
    takes_as_of = parameters.pop(_AS_OF, None) is not None
    model = _arguments_model(found, parameters, _argument_docs(doc))
    schema = model.model_json_schema(schema_generator=_SchemaWithoutTitles)
    described = {"type": "object", "properties": schema["properties"], "required": schema.get("required", [])}
    if "$defs" in schema:
        described["$defs"] = schema["$defs"]
    price = getattr(inspect.getmodule(function), _PRICE, 0.0)
    if isinstance(price, bool) or not isinstance(price, int | float) or not 0.0 <= price < 1_000.0:
        raise PluginError(f"{label}: {_PRICE} is {price!r}; give dollars from 0")
    text = ToolSchema(name, doc.partition("\nArgs:")[0].strip(), described)
    return ToolPlugin(text, function, model, takes_as_of, float(price), found.sha256)


def _arguments_model(
    found: Plugin, parameters: Mapping[str, inspect.Parameter], docs: Mapping[str, str]
) -> type[BaseModel]:
    label = found.label
    with own_code(f"{label}: a type cannot be read"):
        hints = get_type_hints(found.thing, include_extras=True)
    fields: dict[str, Any] = {}
    for number, parameter in enumerate(parameters.values()):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise PluginError(f"{label}: argument {parameter.name!r} cannot be given by name; name every argument")
        if parameter.name not in hints:
            raise PluginError(f"{label}: argument {parameter.name!r} has no type; models are told of it")
        default = ... if parameter.default is parameter.empty else parameter.default
        field = Field(default, alias=parameter.name, description=docs.get(parameter.name))
        # Named by number, because pydantic reserves names such as `schema`.
        fields[f"argument_{number}"] = (hints[parameter.name], field)
    try:
        return create_model(found.name, __config__=ConfigDict(extra="forbid", hide_input_in_errors=True), **fields)
    except (PydanticUserError, PydanticSchemaGenerationError) as error:
        raise PluginError(f"{label}: no model can give an argument of that type: {error}") from error


class _SchemaWithoutTitles(GenerateJsonSchema):
    """A JSON schema without titles, which only repeat names."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def _argument_docs(doc: str) -> dict[str, str]:
    """Return what the `Args:` of a docstring say of each argument, on one line."""
    _, _, rest = doc.partition("\nArgs:\n")
    docs: dict[str, str] = {}
    name = ""
    for line in rest.splitlines():
        if not line.startswith(" "):
            break
        found = re.match(r" {1,8}(\w+)(?: \([^)]*\))?: (.*)", line)
        if found:
            name = found.group(1)
            docs[name] = found.group(2).strip()
        elif name:
            docs[name] += f" {line.strip()}"
    return docs


def _builtin_info(name: str) -> ToolInfo:
    origin = registry.origin_of(TOOL, name)
    try:
        doc = registry.import_plugin_module(TOOL, name).__doc__ or ""
        return ToolInfo(name, "tool", doc.partition("\n")[0], origin, problem=_builtin_problem(name))
    except PluginError as error:
        return ToolInfo(name, "tool", "", origin, problem=str(error))


def _tool_info(found: Plugin, kind: KindOfTool) -> ToolInfo:
    try:
        if found.problem:
            raise PluginError(found.problem)
        thing = _describe_tool(found).function if kind == "tool" else _provider_class(found)
    except PluginError as error:
        return ToolInfo(found.name, kind, "", found.origin, problem=str(error))
    return ToolInfo(found.name, kind, summary_of(thing), found.origin)
