"""Talking to a model: what is sent, what comes back, what it cost."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "refusal", "other"]
CostSource = Literal["provider", "litellm", "recipe", "unknown"]
SETTINGS = ("temperature", "top_p", "seed", "reasoning_effort")
"""The fields of a request that a provider may refuse, and can answer without."""
_THOUGHTS = re.compile(r'"(?:reasoning_content|reasoning_details|reasoning|thinking_blocks)": (?!"")')
_LEFT_OUT = {"left_out": True}
"""Marks a field that is not written to traces while it has its default."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool that a model asks for; its arguments are untrusted text until they are parsed."""

    id: str
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    state_json: str = field(default="", metadata=_LEFT_OUT)
    """What else an assistant's turn carried, such as its thoughts; only its own provider reads it. A list of objects:
    first the fields of the message, with its `model`, then those of each of its calls.
    """


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as a model sees it: the JSON schema that all providers know; predibot checks ranges itself."""

    name: str
    description: str
    parameters: Mapping[str, object]


def object_schema(required: Sequence[str], **properties: object) -> dict[str, object]:
    """Return the JSON schema of an object."""
    return {"type": "object", "properties": properties, "required": required}


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request to a model."""

    messages: tuple[Message, ...]
    tools: tuple[ToolSchema, ...] = ()
    forced_tool: str | None = None
    """The one tool that must be called, or None to leave the choice to the model."""
    max_output_tokens: int = 4096
    temperature: float | None = None
    seed: int | None = None
    top_p: float | None = field(default=None, metadata=_LEFT_OUT)
    reasoning_effort: str | None = field(default=None, metadata=_LEFT_OUT)
    answer: ToolSchema | None = field(default=None, metadata=_LEFT_OUT)
    """The schema of the JSON object that the answer's text must be, where the provider can enforce it."""
    max_searches: int | None = field(default=None, metadata=_LEFT_OUT)
    """The most searches and pages of a model that searches by itself, where it can be limited; None is its default."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a call as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    raw: Mapping[str, object] = field(default_factory=dict)
    """The provider's own words, so that costs can be counted anew."""
    searches: int | None = None
    """Searches that the model made itself and that are charged each; None where none are."""

    @property
    def cached_tokens(self) -> int:
        """Return the input tokens that the provider had cached, which it sells cheaper."""
        details = [self.raw.get(name) for name in ("prompt_tokens_details", "input_tokens_details")]
        counts = [each.get("cached_tokens") for each in details if isinstance(each, Mapping)]
        counts += [self.raw.get(name) for name in ("cache_read_input_tokens", "prompt_cache_hit_tokens")]
        whole = [each for each in counts if type(each) is int or (isinstance(each, float) and each.is_integer())]
        return max(0, int(min(max(whole, default=0), self.input_tokens or 0)))


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call cost in dollars; an unknown cost is None, never zero."""

    usd: float | None
    source: CostSource

    @property
    def known_usd(self) -> float:
        """Return the cost, or 0 where it is unknown."""
        return 0.0 if self.usd is None else self.usd


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model answered."""

    message: Message
    finish_reason: FinishReason
    usage: Usage
    cost: Cost
    model: str
    seconds: float
    retries: int = 0
    lost_tries: int = 0
    """The tries that were sent and whose answer never came: they may have been charged."""
    refusal: str = ""
    citations: tuple[str, ...] = ()
    """Addresses that a model with a search of its own says it read."""
    refused_settings: tuple[str, ...] = ()
    """Settings that the provider does not take, such as its temperature: it answered without them. One that it takes
    with another value is named with the value: `reasoning_effort = high`.
    """
    more_room: bool = field(default=False, metadata=_LEFT_OUT)
    """Whether it was cut off, and a second try may be longer."""
    most_tokens: int | None = field(default=None, metadata=_LEFT_OUT)
    """The most tokens that a recipe or the provider allowed; None where only the request limited it."""

    @property
    def has_reasoning(self) -> bool:
        """Return whether the model reasoned before its answer, by the provider's counts or texts."""
        raw = [self.usage.raw.get(name) for name in ("completion_tokens_details", "output_tokens_details")]
        counts = [each.get("reasoning_tokens") for each in raw if isinstance(each, Mapping)]
        return any(counts) or _THOUGHTS.search(self.message.state_json) is not None
