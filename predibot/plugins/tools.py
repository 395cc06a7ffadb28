"""Tools and search providers of the user's own, from a file or a package, and their calls: bounded, paid, checked."""

import inspect
import json
import logging
import re
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, ValidationError, create_model
from pydantic.errors import PydanticSchemaGenerationError
from pydantic.json_schema import GenerateJsonSchema

from predibot.agents.loop.belief import UPDATE_BELIEF
from predibot.contracts import BUILT_IN_TOOLS, Meter, Tool, ToolError, ToolResult, ToolText, TraceWriter
from predibot.domain.budget import Spending
from predibot.domain.chat import ToolSchema
from predibot.domain.terms import BUILT_IN_SEARCH
from predibot.domain.trace import ToolOpenedStep, ToolPaidStep
from predibot.domain.untrusted_text import shorten
from predibot.errors import PluginError, UsageError, describe_error
from predibot.games.answers import decode_json
from predibot.net.deadline import start_call
from predibot.plugins import registry
from predibot.plugins.registry import Kind, Origin, Plugin, class_name_of, own_code, summary_of
from predibot.research.search.provider import SearchAnswer, SearchFailed, SearchProvider, SearchResult

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
        fields = cast(Mapping[str, object], self.schema.parameters["properties"])
        # Kimi, Qwen and Claude write lists and objects as text.
        given = {
            name: decode_json(value) if isinstance(value, str) and _is_nested(fields.get(name)) else value
            for name, value in given.items()
        }
        try:
            parsed = self.arguments_model.model_validate_json(json.dumps(given), strict=True)
        except ValidationError as error:
            problems = error.errors(include_input=False, include_url=False)
            raise ValueError(
                "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problems)
            ) from None
        return {str(field.alias): getattr(parsed, name) for name, field in type(parsed).model_fields.items()}


def _is_nested(schema: object) -> bool:
    """Return whether a field is a list or an object, and no text."""
    if not isinstance(schema, Mapping):
        return False
    kinds = {each.get("type") for each in (schema, *schema.get("anyOf", ()))}
    return not kinds.isdisjoint(("array", "object")) and "string" not in kinds


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


CALL_SECONDS = 60.0
"""The longest call of a user's tool or search provider."""
MAX_RESULT_BYTES = 15_000
MAX_TEXT_CHARACTERS = 20_000
"""The longest text in a search result."""

MAX_ABANDONED_CALLS = 16
"""The most abandoned calls that may still run in a process, because no thread can be ended from outside."""

_log = logging.getLogger(__name__)


class _TooManyAbandoned(Exception):
    """So many calls of users' code run on that no more are made."""


_abandoned: set["Future[object]"] = set()
_lock = threading.Lock()


def _run_to_end(call: Callable[[], object], seconds: float) -> "Future[object]":
    """Run a call in a thread of its own, where no Ctrl-C arrives, and return its finished future.

    Raises `TimeoutError` if it has to be abandoned, and `_TooManyAbandoned` if too many calls were.
    """
    with _lock:
        _abandoned.difference_update([each for each in _abandoned if each.done()])
        if len(_abandoned) >= MAX_ABANDONED_CALLS:
            raise _TooManyAbandoned(f"{MAX_ABANDONED_CALLS} calls of tools were abandoned and still run; do without")
    future = start_call(call)
    if wait([future], timeout=seconds).not_done:
        with _lock:
            _abandoned.add(future)
        raise TimeoutError
    return future


def require_replayable(plugin: ToolPlugin) -> None:
    """Refuse a tool that takes no `as_of`, as it may show the future of a replay."""
    if not plugin.takes_as_of:
        name = plugin.schema.name
        raise UsageError(
            f"tool {name!r} does not say that it keeps to the past, so a replay refuses it. Give it an argument "
            "`as_of: datetime` and show nothing later than that, or leave it out"
        )


def open_tool(
    plugin: ToolPlugin, *, now: datetime, meter: Meter, trace: TraceWriter, hidden: Callable[[str], str]
) -> Tool:
    """Return a user's tool for one decision; each call counts as a search, and costs the most that the tool declares.

    The meter is reserved before each call and settled after; the trace gets the tool's description and the cost of its
    calls. `hidden` removes API keys from a text, because no model may read them either.
    """
    schema = plugin.schema
    trace.write(ToolOpenedStep(schema.name, schema.description, schema.parameters, plugin.source_sha256))

    def call(arguments: Mapping[str, object], left_seconds: float) -> ToolResult:
        try:
            typed = plugin.arguments(arguments)
        except ValueError as error:
            return ToolError(f"{schema.name} was not called: {error}", was_called=False)
        if plugin.takes_as_of:
            typed["as_of"] = now
        worst = Spending(usd=plugin.usd_per_call, searches=1)
        reservation = meter.reserve(worst)
        try:
            return _call_tool(schema.name, lambda: plugin.function(**typed), min(CALL_SECONDS, left_seconds), hidden)
        finally:
            reservation.settle(worst)
            if plugin.usd_per_call:
                trace.write(ToolPaidStep(schema.name, plugin.usd_per_call))

    return Tool(schema, call)


def _call_tool(name: str, call: Callable[[], object], seconds: float, hidden: Callable[[str], str]) -> ToolResult:
    try:
        ended = _run_to_end(call, max(0.0, seconds))
    except TimeoutError:
        return ToolError(f"{name} gave no answer in {seconds:.3g} s and was abandoned")
    except _TooManyAbandoned as error:
        return ToolError(f"{name} was not called: {error}")
    if (failure := ended.exception()) is not None:
        why = hidden(describe_error(failure))
        _log.warning("tool %s failed: %s", name, why)
        return ToolError(f"{name} failed: {why}")
    found = ended.result()
    if isinstance(found, ToolError) and isinstance(found.text, str):
        return ToolError(hidden(found.text))
    text = found.text if isinstance(found, ToolText) else found
    if not isinstance(text, str):
        return ToolError(f"{name} returned a {type(text).__name__}; a tool returns text")
    # As long as a page in a prompt may be, without control characters.
    text = hidden(text)
    first = text[:MAX_RESULT_BYTES].encode("utf-8", "replace")[:MAX_RESULT_BYTES].decode("utf-8", "ignore")
    return ToolText(shorten(text, len(first)))


@dataclass(frozen=True, slots=True)
class UserSearch:
    """A user's own search provider; its errors become failures, and its answers are checked."""

    inner: Any
    name: str
    dates_results: bool
    usd_per_call: float | None
    hidden: Callable[[str], str]
    """Removes API keys from a text."""

    def search(self, query: str, *, before: datetime | None, count: int) -> SearchAnswer:
        """Return its answer."""
        try:
            ended = _run_to_end(lambda: self.inner.search(query, before=before, count=count), CALL_SECONDS)
        except TimeoutError:
            raise SearchFailed(f"{self.name} gave no answer in {CALL_SECONDS:g} s and was abandoned") from None
        except _TooManyAbandoned as error:
            raise SearchFailed(f"{self.name} was not asked: {error}", was_asked=False) from None
        failure = ended.exception()
        if isinstance(failure, SearchFailed):
            raise SearchFailed(self.hidden(str(failure)), was_asked=failure.was_asked)
        if failure is not None:
            why = self.hidden(describe_error(failure))
            _log.warning("search provider %s failed: %s", self.name, why)
            raise SearchFailed(f"{self.name} failed ({why})")
        answer = ended.result()
        if problem := _answer_problem(answer):
            raise SearchFailed(f"{self.name} answered {self.hidden(problem)}")
        found = cast(SearchAnswer, answer)
        return SearchAnswer(tuple(map(self._without_keys, found.results)), found.cost_usd)

    def _without_keys(self, result: SearchResult) -> SearchResult:
        title, url, snippet = map(self.hidden, (result.title, result.url, result.snippet))
        return SearchResult(title, url, snippet, result.published_at, self.name)


def user_search(name: str, *, given: Mapping[str, object], hidden: Callable[[str], str]) -> SearchProvider:
    """Return a user's own search provider.

    Of `clock`, `key`, `base_url` and `usd_per_call` it is `given` those that it takes and that are not None. Raises
    `PluginError` if there is none of that name, it cannot be made, or declares impossible values.
    """
    cls = search_class(name)
    takes = getattr(cls, "__dataclass_fields__", {})
    arguments = {word: value for word, value in given.items() if word in takes and value is not None}
    lacks = ", ".join(word for word in given if word in takes and word not in arguments)
    hint = f" (what it takes and was not given: {lacks})" if lacks else ""
    with own_code(f"search provider {name!r} cannot be made{hint}"):
        inner = cls(**arguments)
        dates, price = inner.dates_results, inner.usd_per_call
    if not isinstance(dates, bool):
        raise PluginError(f"search provider {name!r}: dates_results is {dates!r}; it is True or False")
    if price is not None and not _is_amount(price):
        raise PluginError(f"search provider {name!r}: usd_per_call is {price!r}; it is dollars from 0, or None")
    return UserSearch(inner, name, dates, price, hidden)


def _is_amount(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < 1_000.0


def _answer_problem(answer: object) -> str:
    if not isinstance(answer, SearchAnswer) or not isinstance(answer.results, tuple):
        return f"a {type(answer).__name__}; it answers a SearchAnswer with a tuple of results"
    if answer.cost_usd is not None and not _is_amount(answer.cost_usd):
        return f"a cost of {answer.cost_usd!r:.40}; it is dollars from 0, or None"
    return next(filter(None, map(_result_problem, answer.results)), "")


def _result_problem(result: object) -> str:
    if not isinstance(result, SearchResult):
        return f"a result that is a {type(result).__name__}; it is a SearchResult"
    texts = (result.title, result.url, result.snippet)
    if not all(isinstance(text, str) and len(text) <= MAX_TEXT_CHARACTERS for text in texts):
        return f"a result whose title, url or snippet is no text of at most {MAX_TEXT_CHARACTERS:,} characters"
    at = result.published_at
    if at is not None and (not isinstance(at, datetime) or at.tzinfo is None):
        return "a result whose published_at is no instant with a time zone"
    return ""
