"""Talking to a model: what is sent, what comes back, what it cost."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "tool_calls", "length", "refusal", "other"]
CostSource = Literal["provider", "litellm", "recipe", "unknown"]
SETTINGS = ("temperature", "top_p", "seed", "reasoning_effort")
"""The fields of a request that a provider may refuse, and can answer without."""
_THOUGHTS = re.compile(r'"(?:reasoning_content|reasoning_details|reasoning|thinking_blocks)": (?!"")')
_LEFT_OUT = {"left_out": True}
"""Of a field that is not written down where it says nothing."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's wish to have a tool called; its arguments are untrusted text until they are parsed."""

    id: str
    name: str
    arguments_json: str


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    """Of an assistant."""
    tool_call_id: str | None = None
    """Of a tool: the call it answers."""
    state_json: str = field(default="", metadata=_LEFT_OUT)
    """Of an assistant: what else its turn carried, such as its thoughts, which nobody but its provider reads.

    A list of objects: the fields of the message, with whose it is as `model`, then those of each of its calls.
    """


@dataclass(frozen=True, slots=True)
class ToolSchema:
    """A tool as a model is told of it: the lowest common JSON schema, ranges are checked by us."""

    name: str
    description: str
    parameters: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a model is asked."""

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
    """What the text of the answer is, as a JSON object, where the model can be held to it."""
    max_searches: int | None = field(default=None, metadata=_LEFT_OUT)
    """How often a model that searches by itself may search or open a page, where it can be told; None is its own."""


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of a call, as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    raw: Mapping[str, object] = field(default_factory=dict)
    """What the provider sent, word for word, so that costs can be counted anew."""
    searches: int | None = None
    """What the model searched by itself and is charged by the search; None where nothing is charged so."""

    @property
    def cached_tokens(self) -> int:
        """Return those of the input that the provider says it had kept from an earlier call, and sells cheaper."""
        details = [self.raw.get(name) for name in ("prompt_tokens_details", "input_tokens_details")]
        counts = [each.get("cached_tokens") for each in details if isinstance(each, Mapping)]
        counts += [self.raw.get(name) for name in ("cache_read_input_tokens", "prompt_cache_hit_tokens")]
        whole = [each for each in counts if type(each) is int or (isinstance(each, float) and each.is_integer())]
        return max(0, int(min(max(whole, default=0), self.input_tokens or 0)))


@dataclass(frozen=True, slots=True)
class Cost:
    """What a call cost in dollars; unknown is None and never zero."""

    usd: float | None
    source: CostSource

    @property
    def known_usd(self) -> float:
        """Return the part that is known."""
        return 0.0 if self.usd is None else self.usd


@dataclass(frozen=True, slots=True)
class ChatReply:
    """What a model answered."""

    message: Message
    finish_reason: FinishReason
    usage: Usage
    cost: Cost
    model: str
    """As the provider named it."""
    seconds: float
    retries: int = 0
    lost_tries: int = 0
    """Of the tries before, those whose request was sent and whose answer never came: they may have been charged."""
    refusal: str = ""
    """The model's words where it refused."""
    citations: tuple[str, ...] = ()
    """Addresses a model that searches by itself says it read."""
    refused_settings: tuple[str, ...] = ()
    """Those of the request that the provider does not take, such as its temperature: it answered without them.

    Of one that it takes with another value, both: `reasoning_effort = high`.
    """
    more_room: bool = field(default=False, metadata=_LEFT_OUT)
    """Whether it was cut off, and may be longer where the same is asked again."""
    most_tokens: int | None = field(default=None, metadata=_LEFT_OUT)
    """How long it could be, where a recipe or the provider says it; None for as long as was asked for."""

    @property
    def thought(self) -> bool:
        """Return whether the model thought before it answered, as its provider counts or shows it."""
        raw = [self.usage.raw.get(name) for name in ("completion_tokens_details", "output_tokens_details")]
        counts = [each.get("reasoning_tokens") for each in raw if isinstance(each, Mapping)]
        return any(counts) or _THOUGHTS.search(self.message.state_json) is not None
