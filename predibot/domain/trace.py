"""Steps of a trace: everything an agent said, called and was told, one class a kind, and their form in JSON."""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from types import NoneType
from typing import Any, ClassVar, Literal, TypeAlias, get_args, get_origin, get_type_hints

from predibot.domain.budget import Spending
from predibot.domain.chat import ChatReply, Message

MAX_TEXT_CHARACTERS = 200_000
"""Of one text of a step; what is longer is written down shortened."""
MAX_DEPTH = 64
"""Of values within values; what is deeper is not written down, and no step when it is read."""
_MORE_CHARACTERS = 100
"""By which a text that was shortened is longer, as it says so."""
_MOST = 2**63
"""That a number of a step may be; sums of them are still numbers."""

Outcome = Literal["text", "error", "limit", "own"]
"""What a call of a tool came to: text of the tool, an error of it, a limit that was reached, or words of our own."""

_LEFT_OUT = {"left_out": True}
"""Of a field that is not written down where it says nothing."""
_SPREAD = {"spread": True}
"""Of a field whose own fields stand in the step's row."""
_SPARSE = {"sparse": True}
"""Of objects whose empty fields are not written down."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model was asked; each message is in the first step that sends it only."""

    model_name: str
    """As recipes name it."""
    request_sha256: str
    messages_sent: int
    new_messages: tuple[Message, ...] = field(metadata=_SPARSE)
    tools: tuple[str, ...]
    forced_tool: str | None
    max_output_tokens: int
    settings: Mapping[str, object] = field(default_factory=dict)
    """Those that the model answered with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStep:
    """A model answered."""

    kind: ClassVar = "model"
    asked: ModelRequest = field(metadata=_SPREAD)
    reply: ChatReply = field(metadata=_SPREAD)
    doubt: str = field(default="", metadata=_LEFT_OUT)
    """Which of its counts are not believed."""
    worst: Spending = field(default_factory=Spending)
    """What was set aside."""
    estimated_usd: float | None = 0.0
    """What is booked for want of the truth; None where no price is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFailedStep:
    """A model was asked, and no answer came."""

    kind: ClassVar = "model_failed"
    asked: ModelRequest = field(metadata=_SPREAD)
    error: str
    """Its kind."""
    message: str
    lost_tries: int = 0
    """Which may have been paid for."""
    price_known: bool = True
    worst: Spending = field(default_factory=Spending)
    estimated_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class ModelNotAskedStep:
    """A limit stood in the way of a call."""

    kind: ClassVar = "model_not_asked"
    asked: ModelRequest = field(metadata=_SPREAD)
    message: str


@dataclass(frozen=True, slots=True)
class ToolStep:
    """A model called a tool."""

    kind: ClassVar = "tool"
    name: str
    arguments: object
    result: str
    """As the model is told it."""
    outcome: Outcome
    said: str = field(default="", metadata=_LEFT_OUT)
    """The words of an error or a limit, in no fence."""
    seconds: float | None = field(default=None, metadata=_LEFT_OUT)


@dataclass(frozen=True, slots=True)
class ToolOpenedStep:
    """A tool of the user's own was opened."""

    kind: ClassVar = "tool_opened"
    name: str
    description: str
    parameters: Mapping[str, object]
    source_sha256: str = ""


@dataclass(frozen=True, slots=True)
class ToolPaidStep:
    """A call of a tool of the user's own was paid for."""

    kind: ClassVar = "tool_paid"
    name: str
    cost_usd: float


@dataclass(frozen=True, slots=True)
class SearchHit:
    """What a search found."""

    title: str
    url: str
    published_at: str | None = None
    provider: str = ""


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A search was made."""

    kind: ClassVar = "search"
    query: str
    results: tuple[SearchHit, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    """How many were not shown, by the reason."""
    failures: tuple[str, ...] = ()
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class PageVisitedStep:
    """A page was read."""

    kind: ClassVar = "page_visited"
    url: str
    part: int
    focus: str | None
    sha256: str
    """Of its text, by which it is kept."""
    final_url: str
    title: str | None
    body_sha256: str
    """Of what was fetched."""
    published: str | None
    modified: str | None
    date_confidence: str | None


@dataclass(frozen=True, slots=True)
class PageRefusedStep:
    """A page was not shown."""

    kind: ClassVar = "page_refused"
    url: str
    error: str
    """Its kind."""
    message: str


@dataclass(frozen=True, slots=True)
class CodeStep:
    """A model wrote code, which was run."""

    kind: ClassVar = "code"
    code: str


@dataclass(frozen=True, slots=True)
class RefusedTurnStep:
    """None of the calls of a turn was made."""

    kind: ClassVar = "refused_turn"
    complaint: str


@dataclass(frozen=True, slots=True)
class GaveUpStep:
    """The last answer that was taken did not hold either."""

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
class OwnStep:
    """What a strategy of the user's own wrote down, under a name of its own."""

    kind: str
    fields: Mapping[str, object]

    def __post_init__(self) -> None:
        """Refuse what would be read as another step."""
        if self.kind in _READERS:
            raise ValueError(f"steps {self.kind!r} are predibot's; write yours down under another name")


@dataclass(frozen=True, slots=True)
class UnreadableStep:
    """What calls itself a step and is none; it may have cost anything."""

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
    | OwnStep
    | UnreadableStep
)


@dataclass(frozen=True, slots=True)
class StoredTrace:
    """A trace as it is stored."""

    steps: tuple[Step, ...] = ()
    untrusted_mark: str = ""
    """Of the fence around untrusted text; empty where the trace has none."""

    @classmethod
    def of(cls, rows: Sequence[object]) -> "StoredTrace":
        """Return the trace with these untrusted rows.

        Raises:
            ValueError: If one is no step; the text says which and why.
        """
        steps = tuple(step_of(row, number) for number, row in enumerate(rows, start=1))
        mark = rows[0].get("untrusted_mark") if rows and isinstance(rows[0], Mapping) else None
        return cls(steps, mark if isinstance(mark, str) and _MARK.fullmatch(mark) else "")

    def rows(self) -> list[Mapping[str, object]]:
        """Return it as JSON has it."""
        numbered = enumerate(self.steps, start=1)
        return [row_of(step, number, self.untrusted_mark if number == 1 else "") for number, step in numbered]


def row_of(step: Step, number: int, untrusted_mark: str = "") -> Mapping[str, object]:
    """Return a step as JSON has it, by its number in the trace; the first one keeps the mark of the fence."""
    if isinstance(step, UnreadableStep):
        return step.row
    mark = {"untrusted_mark": untrusted_mark} if untrusted_mark else {}
    said = step.fields if isinstance(step, OwnStep) else _fields_of(step)
    return {"step": number, "kind": step.kind, **mark, **said}


def as_json(value: object) -> Any:
    """Return a value as JSON has it."""
    if is_dataclass(value) and not isinstance(value, type):
        held = {each: getattr(value, each.name) for each in fields(value)}
        return {each.name: as_json(held[each]) for each in held if not _says_nothing(each, held[each])}
    if isinstance(value, Mapping):
        return {str(name): as_json(each) for name, each in value.items()}
    return [as_json(each) for each in value] if isinstance(value, list | tuple) else value


def _fields_of(value: Any) -> dict[str, object]:
    row: dict[str, object] = {}
    for each in fields(value):
        held = getattr(value, each.name)
        if "spread" in each.metadata:
            row |= _fields_of(held)
        elif "sparse" in each.metadata:
            row[each.name] = [{name: said for name, said in as_json(one).items() if said} for one in held]
        elif not _says_nothing(each, held):
            row[each.name] = as_json(held)
    return row


def _says_nothing(each: Field[Any], held: object) -> bool:
    return "left_out" in each.metadata and held == each.default


def step_of(row: object, number: int = 1) -> Step:
    """Return the step of an untrusted row of a trace: its types, its lengths and its depth are looked at.

    What is wrong is an `UnreadableStep`, if it is not what a model said.

    Raises:
        ValueError: If it is no step, or what a model said and not whole; the text says why.
    """
    if not isinstance(row, dict) or not isinstance(kind := row.get("kind"), str):
        raise ValueError(f"row {number} is no object with a kind")
    read = _READERS.get(kind)
    try:
        _require_bounded(row.values(), MAX_DEPTH)
        if read is None:
            return OwnStep(kind, {name: row[name] for name in row if name not in _OF_EVERY_STEP})
        step: Step = read(_as_written_today(kind, row))
    except ValueError as error:
        if kind in (ModelStep.kind, ModelFailedStep.kind):
            raise ValueError(f"row {number}, {kind}: {error}") from None
        return UnreadableStep(kind, row, str(error))
    return step


def inside_fence(text: str) -> str | None:
    """Return what is inside a text that is all in a fence; None for any other."""
    fenced = _FENCED.match(text)
    return fenced["text"] if fenced else None


def cost_of_steps(steps: Iterable[Step]) -> tuple[float | None, float]:
    """Return what the steps of a trace cost in dollars, None where a part is unknown, and the part that is known."""
    costs: list[float | None] = []
    for step in steps:
        if isinstance(step, ModelStep):
            costs.append(step.reply.cost.usd)
            if step.reply.lost_tries and step.reply.cost.usd != 0.0:
                # So may each answer that was lost before this one came.
                costs.append(None)
        elif isinstance(step, SearchStep | ToolPaidStep):
            costs.append(step.cost_usd)
        elif isinstance(step, UnreadableStep):
            costs.append(None)
        elif isinstance(step, ModelFailedStep) and step.error != "ModelRefused" and step.estimated_usd != 0.0:
            # What was lost on the way may have been paid for, also where its price is unknown.
            costs.append(None)
    known = math.fsum(cost for cost in costs if cost is not None)
    return (None if None in costs else known), known


def seconds_of(step: Step) -> float | None:
    """Return how long a step took, None where that is not written down."""
    if isinstance(step, ModelStep):
        return step.reply.seconds
    return step.seconds if isinstance(step, ToolStep | GivenUpStep) else None


def estimated_usd_of_steps(steps: Iterable[Step]) -> float:
    """Return what is booked in budgets for answers whose cost is unknown, in dollars: the worst case of each."""
    return math.fsum(step.estimated_usd or 0.0 for step in steps if isinstance(step, ModelStep | ModelFailedStep))


# ---------------------------------------------------------------- rows of older traces

_MARK = re.compile(r"[0-9a-f]{16,64}")
_FENCED = re.compile(r"\A<<untrusted ([0-9a-f]{16,64})>>\s(?P<text>.*)\s<<end of untrusted \1>>\Z", re.DOTALL)
_LIMIT = re.compile(
    r"the (?:decision|bot|run|day)'s limit of .*? is reached: .*?; raise that limit, or go on with what there is",
    re.DOTALL,
)


def _as_written_today(kind: str, row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a row with the fields that it has today; older ones said in words what a rerun reads."""
    result, worst = row.get("result"), row.get("worst")
    if kind == ToolStep.kind and isinstance(result, str) and "said" not in row:
        words = result.removeprefix("error:").strip()
        is_text = inside_fence(result) is not None
        outcome = row.get("outcome") or ("text" if is_text else "limit" if _LIMIT.match(words) else "own")
        said = inside_fence(words) or words
        return {**row, "outcome": outcome, "said": said if outcome in ("error", "limit") else ""}
    if kind == ModelFailedStep.kind and "estimated_usd" not in row and isinstance(worst, Mapping):
        is_free = not worst.get("usd") and (row.get("price_known", True) or not row.get("lost_tries"))
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
    """Return what reads JSON as a type."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return _object_reader(hint)
    if origin is Literal:
        return lambda value: _held(value, isinstance(value, str) and value in arguments, f"one of {arguments}")
    if NoneType in arguments:
        (present,) = (_reader(each) for each in arguments if each is not NoneType)
        return lambda value: None if value is None else present(value)
    if origin is tuple:
        one = _reader(arguments[0])
        return lambda value: tuple(map(one, _held(value, isinstance(value, list), "a list")))
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
    return _held(value, isinstance(value, dict), "an object")


def _held(value: Any, is_right: bool, wanted: str) -> Any:
    if not is_right:
        seen = "a list or an object" if isinstance(value, list | dict) else f"{value!r:.40}"
        raise ValueError(f"it is {seen}, not {wanted}")
    return value


def _number(value: Any, kinds: Any, wanted: str) -> Any:
    return _held(value, isinstance(value, kinds) and not isinstance(value, bool) and abs(value) < _MOST, wanted)


_SCALARS: Mapping[Any, _Read] = {
    str: lambda value: _held(value, isinstance(value, str), "a text"),
    bool: lambda value: _held(value, isinstance(value, bool), "true or false"),
    int: lambda value: _number(value, int, "a whole number"),
    float: lambda value: _number(value, (int, float), "a number"),
    object: lambda value: value,
}
_READERS: Mapping[str, _Read] = {
    cls.kind: _object_reader(cls) for cls in get_args(Step) if isinstance(cls.__dict__.get("kind"), str)
}
