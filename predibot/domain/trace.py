"""Steps of a trace: everything an agent wrote, called and read, one class a kind, and their form in JSON."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from types import NoneType
from typing import Any, ClassVar, Literal, TypeAlias, get_args, get_origin, get_type_hints

from predibot.domain.budget import Spending
from predibot.domain.chat import ChatReply, Message

MAX_TEXT_CHARACTERS = 200_000
"""Longer texts of a step are shortened when they are written."""
MAX_DEPTH = 64
"""Deeper values are not written; a row with deeper ones is malformed."""
_MORE_CHARACTERS = 100
"""A shortened text is this much longer, because it says so."""
_MOST = 2**63
"""Limit of the numbers in a step; their sums stay numbers."""

Outcome = Literal["text", "error", "limit", "own"]

_LEFT_OUT = {"left_out": True}
"""Marks a field that is not written where it has its default."""
_SPREAD = {"spread": True}
"""Marks a field whose own fields stand in the step's row."""
_SPARSE = {"sparse": True}
"""Marks objects whose empty fields are not written."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model; each message stands only in the first step that sends it."""

    model_name: str
    request_sha256: str
    messages_sent: int
    new_messages: tuple[Message, ...] = field(metadata=_SPARSE)
    tools: tuple[str, ...]
    forced_tool: str | None
    max_output_tokens: int
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """A model answered."""

    kind: ClassVar = "model"
    asked: ModelRequest = field(metadata=_SPREAD)
    reply: ChatReply = field(metadata=_SPREAD)
    doubt: str = field(default="", metadata=_LEFT_OUT)
    worst: Spending = field(default_factory=Spending)
    """The amount set aside before the call."""
    estimated_usd: float | None = 0.0
    """The amount booked where the cost is unknown; None where no price is known either."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailedStep:
    """A request to a model without an answer."""

    kind: ClassVar = "model_failed"
    asked: ModelRequest = field(metadata=_SPREAD)
    error: str
    message: str
    lost_tries: int = 0
    price_known: bool = True
    worst: Spending = field(default_factory=Spending)
    estimated_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ModelNotAskedStep:
    """A request to a model that a limit forbade."""

    kind: ClassVar = "model_not_asked"
    asked: ModelRequest = field(metadata=_SPREAD)
    message: str


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A call of a tool by a model."""

    kind: ClassVar = "tool"
    name: str
    arguments: object
    result: str
    outcome: Outcome
    said: str = field(default="", metadata=_LEFT_OUT)
    """The words of an error or a limit, without a fence."""
    seconds: float | None = field(default=None, metadata=_LEFT_OUT)


@dataclass(frozen=True, slots=True)
class ToolOpenedStep:
    """A tool of the user was opened."""

    kind: ClassVar = "tool_opened"
    name: str
    description: str
    parameters: Mapping[str, object]
    source_sha256: str = ""


@dataclass(frozen=True, slots=True)
class ToolPaidStep:
    """A call of a user's tool was paid for."""

    kind: ClassVar = "tool_paid"
    name: str
    cost_usd: float


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A result of a search."""

    title: str
    url: str
    published_at: str | None = None
    provider: str = ""


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A search."""

    kind: ClassVar = "search"
    query: str
    results: tuple[SearchHit, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    failures: tuple[str, ...] = ()
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class PageVisitedStep:
    """A page that was read."""

    kind: ClassVar = "page_visited"
    url: str
    part: int
    focus: str | None
    sha256: str
    """The digest of the page's text, which is its name in the store."""
    final_url: str
    title: str | None
    body_sha256: str
    published: str | None
    modified: str | None
    date_confidence: str | None


@dataclass(frozen=True, slots=True)
class PageRefusedStep:
    """A page that was not shown."""

    kind: ClassVar = "page_refused"
    url: str
    error: str
    message: str


@dataclass(frozen=True, slots=True)
class CodeStep:
    """Code that a model wrote and predibot ran."""

    kind: ClassVar = "code"
    code: str


@dataclass(frozen=True, slots=True)
class RefusedTurnStep:
    """A turn whose calls were all refused."""

    kind: ClassVar = "refused_turn"
    complaint: str


@dataclass(frozen=True, slots=True)
class GaveUpStep:
    """The last allowed answer was refused too."""

    kind: ClassVar = "gave_up"
    complaint: str


@dataclass(frozen=True, slots=True)
class AbstainedStep:
    """The model abstained."""

    kind: ClassVar = "abstained"
    message: str


@dataclass(frozen=True, slots=True)
class GivenUpStep:
    """Nobody waited for the decision any longer."""

    kind: ClassVar = "given_up"
    seconds: float


@dataclass(frozen=True, slots=True)
class SampleStep:
    """A sample of the bot, which is a decision with a trace of its own."""

    kind: ClassVar = "sample"
    bot: str
    """The name of the sample."""
    status: str
    """A decision's status, or `missing` where it has not decided."""
    message: str
    """Why it has no forecast; empty where it has one."""
    probabilities: Mapping[str, float] = field(default_factory=dict)
    """Probabilities of YES by market id."""
    label: str = field(default="", metadata=_LEFT_OUT)


@dataclass(frozen=True, slots=True)
class OwnStep:
    """A step that a user's strategy wrote, under a name of its own."""

    kind: str
    fields: Mapping[str, object]

    def __post_init__(self) -> None:
        """Refuse the kinds of predibot's own steps."""
        if self.kind in _READERS:
            raise ValueError(f"steps {self.kind!r} are predibot's; write yours down under another name")


@dataclass(frozen=True, slots=True)
class UnreadableStep:
    """A malformed row that claims to be a step; it may have cost anything."""

    kind: str
    row: Mapping[str, object]
    complaint: str


Step: TypeAlias = (
    ModelStep
    | ModelFailedStep
    | ModelNotAskedStep
    | ToolStep
    | ToolOpenedStep
    | ToolPaidStep
    | SearchStep
    | PageVisitedStep
    | PageRefusedStep
    | CodeStep
    | RefusedTurnStep
    | GaveUpStep
    | AbstainedStep
    | GivenUpStep
    | SampleStep
    | OwnStep
    | UnreadableStep
)


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A trace as it is stored."""

    steps: tuple[Step, ...] = ()
    untrusted_mark: str = ""
    """Empty where the trace has no fence."""

    @classmethod
    def of(cls, rows: Sequence[object]) -> "StoredTrace":
        """Return the trace of untrusted rows; a ValueError says which row is malformed, and why."""
        steps = tuple(step_of(row, number) for number, row in enumerate(rows, start=1))
        mark = rows[0].get("untrusted_mark") if rows and isinstance(rows[0], Mapping) else None
        return cls(steps, mark if isinstance(mark, str) and _MARK.fullmatch(mark) else "")

    def rows(self) -> list[Mapping[str, object]]:
        """Return its steps as rows of JSON."""
        numbered = enumerate(self.steps, start=1)
        return [row_of(step, number, self.untrusted_mark if number == 1 else "") for number, step in numbered]


def row_of(step: Step, number: int, untrusted_mark: str = "") -> Mapping[str, object]:
    """Return a step as a row of JSON, with its number in the trace; the first row keeps the mark of the fence."""
    if isinstance(step, UnreadableStep):
        return step.row
    mark = {"untrusted_mark": untrusted_mark} if untrusted_mark else {}
    said = step.fields if isinstance(step, OwnStep) else _row_fields(step)
    return {"step": number, "kind": step.kind, **mark, **said}


def as_json(value: object) -> Any:
    """Return a value made of dataclasses, mappings and lists as JSON types."""
    if value is None or isinstance(value, str | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        held = {each: getattr(value, each.name) for each in fields(value)}
        return {each.name: as_json(held[each]) for each in held if not _is_left_out(each, held[each])}
    if isinstance(value, Mapping):
        return {str(name): as_json(each) for name, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, list | tuple) else value


def _row_fields(value: Any) -> dict[str, object]:
    row: dict[str, object] = {}
    for each in fields(value):
        held = getattr(value, each.name)
        if "spread" in each.metadata:
            row |= _row_fields(held)
        elif "sparse" in each.metadata:
            row[each.name] = [{name: said for name, said in as_json(one).items() if said} for one in held]
        elif not _is_left_out(each, held):
            row[each.name] = as_json(held)
    return row


def _is_left_out(each: Field[Any], held: object) -> bool:
    return "left_out" in each.metadata and held == each.default


def step_of(row: object, number: int = 1) -> Step:
    """Return the step of an untrusted row, after checks of its types, lengths and depth. A malformed row becomes an
    `UnreadableStep`; if a model wrote it, or it is no step, `ValueError` says why.
    """
    if not isinstance(row, dict) or not isinstance(kind := row.get("kind"), str):
        raise ValueError(f"row {number} is no object with a kind")
    read = _READERS.get(kind)
    try:
        _require_bounded(row.values(), MAX_DEPTH)
        if read is None:
            return OwnStep(kind, {name: row[name] for name in row if name not in _OF_EVERY_STEP})
        step: Step = read(_upgrade_row(kind, row))
    except ValueError as error:
        if kind in (ModelStep.kind, ModelFailedStep.kind):
            raise ValueError(f"row {number}, {kind}: {error}") from None
        return UnreadableStep(kind, row, str(error))
    return step


def inside_fence(text: str) -> str | None:
    """Return the text inside a fence, None where not all of the text is fenced."""
    fenced = _FENCED.match(text)
    return fenced["text"] if fenced else None


def cost_of_steps(steps: Iterable[Step]) -> tuple[float | None, float]:
    """Return the cost of steps in dollars, None where a part is unknown, and the known part."""
    costs: list[float | None] = []
    for step in steps:
        if isinstance(step, ModelStep):
            costs.append(step.reply.cost.usd)
            if step.reply.lost_tries and step.reply.cost.usd != 0.0:
                # Each lost answer before this one may have been charged too.
                costs.append(None)
        elif isinstance(step, SearchStep | ToolPaidStep):
            costs.append(step.cost_usd)
        elif isinstance(step, UnreadableStep):
            costs.append(None)
        elif isinstance(step, ModelFailedStep) and step.estimated_usd != 0.0:
            # A try that was lost may have been charged, also where the next one was refused or its price is unknown.
            costs.append(None)
    known = math.fsum(cost for cost in costs if cost is not None)
    return (None if None in costs else known), known


def seconds_of(step: Step) -> float | None:
    """Return how long a step took, None where it does not say."""
    if isinstance(step, ModelStep):
        return step.reply.seconds
    return step.seconds if isinstance(step, ToolStep | GivenUpStep) else None


def sum_estimates_usd(steps: Iterable[Step]) -> float:
    """Return the dollars that budgets book for answers of unknown cost: the worst case of each."""
    return math.fsum(step.estimated_usd or 0.0 for step in steps if isinstance(step, ModelStep | ModelFailedStep))


# ---------------------------------------------------------------- rows of older traces

_MARK = re.compile(r"[0-9a-f]{16,64}")
_FENCED = re.compile(r"\A<<untrusted ([0-9a-f]{16,64})>>\s(?P<text>.*)\s<<end of untrusted \1>>\Z", re.DOTALL)
_LIMIT = re.compile(
    r"the (?:decision|bot|run|day)'s limit of .*? is reached: .*?; raise that limit, or go on with what there is",
    re.DOTALL,
)


def _upgrade_row(kind: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with today's fields; in older rows, words stood for what a rerun needs."""
    result, worst = row.get("result"), row.get("worst")
    if kind == ToolStep.kind and isinstance(result, str) and "said" not in row:
        words = result.removeprefix("error:").strip()
        is_text = inside_fence(result) is not None
        outcome = row.get("outcome") or ("text" if is_text else "limit" if _LIMIT.match(words) else "own")
        said = inside_fence(words) or words
        return {**row, "outcome": outcome, "said": said if outcome in ("error", "limit") else ""}
    if kind == ModelFailedStep.kind and "estimated_usd" not in row and isinstance(worst, Mapping):
        has_lost_tries = bool(row.get("lost_tries"))
        was_refused_at_once = row.get("error") == "ModelRefused" and not has_lost_tries
        costs_nothing = not worst.get("usd") and (row.get("price_known", True) or not has_lost_tries)
        is_free = was_refused_at_once or costs_nothing
        return {**row, "estimated_usd": 0.0 if is_free else None}
    return row


# ---------------------------------------------------------------- from JSON to a type, by the type's own fields

_Read: TypeAlias = Callable[[Any], Any]
_OF_EVERY_STEP = ("step", "kind", "untrusted_mark")


def _require_bounded(values: Iterable[object], depth: int) -> None:
    if depth < 0:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    for each in values:
        if isinstance(each, str):
            if len(each) > MAX_TEXT_CHARACTERS + _MORE_CHARACTERS:
                raise ValueError(
                    f"it has a text of {len(each):,} characters; at most {MAX_TEXT_CHARACTERS:,} are written"
                )
        elif isinstance(each, dict | list):
            _require_bounded(each.values() if isinstance(each, dict) else each, depth - 1)


def _reader(hint: Any) -> _Read:
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return _object_reader(hint)
    if origin is Literal:
        return lambda value: _require(value, isinstance(value, str) and value in arguments, f"one of {arguments}")
    if NoneType in arguments:
        (present,) = (_reader(each) for each in arguments if each is not NoneType)
        return lambda value: None if value is None else present(value)
    if origin is tuple:
        one = _reader(arguments[0])
        return lambda value: tuple(map(one, _require(value, isinstance(value, list), "a list")))
    if origin is Mapping:
        one = _reader(arguments[1])
        return lambda value: {name: one(each) for name, each in _object(value).items()}
    return _SCALARS[hint]


def _object_reader(cls: Any) -> _Read:
    hints = get_type_hints(cls)
    required = {each.name for each in fields(cls) if each.default is MISSING and each.default_factory is MISSING}
    parts = [(each.name, "spread" in each.metadata, _reader(hints[each.name])) for each in fields(cls)]

    def read(value: Any) -> Any:
        row, given = _object(value), {}
        for name, is_spread, read_part in parts:
            if is_spread:
                given[name] = read_part(row)
            elif name in row:
                try:
                    given[name] = read_part(row[name])
                except ValueError as error:
                    raise ValueError(f"{name}: {error}") from None
            elif name in required:
                raise ValueError(f"{name} is missing")
        return cls(**given)

    return read


def _object(value: Any) -> Any:
    return _require(value, isinstance(value, dict), "an object")


def _require(value: Any, is_right: bool, wanted: str) -> Any:
    if not is_right:
        seen = "a list or an object" if isinstance(value, list | dict) else f"{value!r:.40}"
        raise ValueError(f"it is {seen}, not {wanted}")
    return value


def _number(value: Any, kinds: Any, wanted: str) -> Any:
    return _require(value, isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < _MOST, wanted)


_SCALARS: Mapping[Any, _Read] = {
    str: lambda value: _require(value, isinstance(value, str), "a text"),
    bool: lambda value: _require(value, isinstance(value, bool), "true or false"),
    int: lambda value: _number(value, int, "a whole number"),
    float: lambda value: _number(value, (int, float), "a number"),
    object: lambda value: value,
}
_READERS: Mapping[str, _Read] = {
    cls.kind: _object_reader(cls) for cls in get_args(Step) if isinstance(cls.__dict__.get("kind"), str)
}
