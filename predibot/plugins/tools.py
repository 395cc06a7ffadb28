"""Tools and search providers of the user's own: one file each, found in the folders of tools or in a package."""

import inspect
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema

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
    kind: KindOfTool
    summary: str
    origin: Origin
    problem: str = ""
    """Why it cannot be used; empty where it can."""


def tool_plugin(name: str) -> ToolPlugin:
    """Return a tool of the user's own.

    Args:
        name: The name of its file, without the ending, or of an entry point of `predibot.tools`.

    Raises:
        PluginError: If there is no such tool, or its file does not say what a tool has to say.
    """
    return _described(_found(name, "tool"))


def starts_program(name: str, *, kind: KindOfTool = "tool") -> bool:
    """Return whether the file of a user's tool or provider says that it starts a program, by `STARTS_PROGRAM = True`.

    Raises:
        PluginError: If there is no such tool or provider.
    """
    return bool(getattr(inspect.getmodule(_found(name, kind).thing), "STARTS_PROGRAM", False))


def search_class(name: str) -> type[Any]:
    """Return the class of a search provider of the user's own.

    Args:
        name: The name of its file, without the ending, or of an entry point of `predibot.search`.

    Raises:
        PluginError: If there is no such provider, or it has not the members of one.
    """
    return _provider(_found(name, "search"))


def search_problem(name: str) -> str:
    """Return what is wrong with the name of a search provider, the user's own or predibot's; no text where nothing."""
    if name in BUILT_IN_SEARCH:
        return ""
    try:
        search_class(name)
    except PluginError as error:
        return _nearest(name, "search") if name not in user_names("search") else str(error)
    return ""


def user_names(kind: KindOfTool) -> tuple[str, ...]:
    """Return what may be the name of a tool or a search provider of the user's own; nothing is imported."""
    return tuple(name for name in registry.names(_KINDS[kind]) if name not in BUILT_IN_TOOLS)


def tool_infos() -> tuple[ToolInfo, ...]:
    """Return what every tool and search provider in files or packages says about itself; a broken one its problem."""
    own = [_own_info(name) for name in registry.module_names(TOOL) if name in BUILT_IN_TOOLS]
    tools = registry.find_all(TOOL)
    providers = [found for found in registry.find_all(SEARCH) if found.name not in BUILT_IN_TOOLS]
    # A file is one of a search provider if it has its class; of both kinds each file is found.
    files = {found.name for found in providers if isinstance(found.thing, type) or found.origin == _INSTALLED}
    mine = [_info(found, "tool") for found in tools if found.name not in files or found.origin == _INSTALLED]
    return (*own, *mine, *(_info(found, "search") for found in providers if found.name in files))


def forget_tools() -> None:
    """Have every tool of the user's own imported anew when it is next opened."""
    for kind in _KINDS:
        registry.forget(replace(_KINDS[kind], own=BUILT_IN_TOOLS))


def require_own_tools() -> None:
    """Refuse files of the user's that stand in the place of predibot's own tools and are none.

    Raises:
        PluginError: It names the file.
    """
    for name in BUILT_IN_TOOLS:
        if problem := _own_problem(name):
            raise PluginError(problem)


def _own_problem(name: str) -> str:
    """Return what is wrong with the file that has the name of a tool of predibot's own, or no text."""
    module = registry.imported_module(TOOL, name)
    if hasattr(module, f"make_{name}"):
        return ""
    return f"{module.__file__} has the name of a tool of predibot's own, and has no make_{name}; rename it"


def _found(name: str, kind: KindOfTool) -> Plugin:
    if name not in user_names(kind):
        raise PluginError(f"no {_KINDS[kind].noun} {name[:60]!r}. {_nearest(name, kind)}")
    return registry.find(_KINDS[kind], name)


def _nearest(name: str, kind: KindOfTool) -> str:
    # Only their import tells files of tools and of search providers apart, so it is done for the message alone.
    mine = [info.name for info in tool_infos() if info.kind == kind]
    return registry.unknown_name(_KINDS[kind], name, {*mine, *_KINDS[kind].own})


def _provider(found: Plugin) -> type[Any]:
    """Return the class of a search provider, which has the members of one."""
    cls, label = found.thing, found.label
    if not isinstance(cls, type):
        raise PluginError(f"{label} has no class {class_name_of(found.name)}; a search provider's is named as its file")
    known = {*dir(cls), *getattr(cls, "__dataclass_fields__", {})}
    if missing := [member for member in _SEARCH_MEMBERS if member not in known]:
        raise PluginError(f"{label}: {cls.__name__} has no {missing[0]}; give it {', '.join(_SEARCH_MEMBERS)}")
    return cls


def _described(found: Plugin) -> ToolPlugin:
    """Return a tool by what its signature and its docstring say."""
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
    schema = model.model_json_schema(schema_generator=_Untitled)
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
        said = Field(default, alias=parameter.name, description=docs.get(parameter.name))
        # Named by number, because pydantic keeps names such as `schema` for itself.
        fields[f"argument_{number}"] = (hints[parameter.name], said)
    try:
        return create_model(found.name, __config__=ConfigDict(extra="forbid", hide_input_in_errors=True), **fields)
    except (PydanticUserError, PydanticSchemaGenerationError) as error:
        raise PluginError(f"{label}: no model can give an argument of that type: {error}") from error


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


def _own_info(name: str) -> ToolInfo:
    """Return what one of predibot's own tools says about itself, which is no function but the maker of one."""
    origin = registry.origin_of(TOOL, name)
    try:
        doc = registry.imported_module(TOOL, name).__doc__ or ""
        return ToolInfo(name, "tool", doc.partition("\n")[0], origin, problem=_own_problem(name))
    except PluginError as error:
        return ToolInfo(name, "tool", "", origin, problem=str(error))


def _info(found: Plugin, kind: KindOfTool) -> ToolInfo:
    try:
        if found.problem:
            raise PluginError(found.problem)
        thing = _described(found).function if kind == "tool" else _provider(found)
    except PluginError as error:
        return ToolInfo(found.name, kind, "", found.origin, problem=str(error))
    return ToolInfo(found.name, kind, summary_of(thing), found.origin)
