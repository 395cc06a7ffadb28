"""Manners: which parameters and roles one model accepts, learned from its provider's refusals.

If a refusal names something that can be changed, that is learned and the request is made again. Each lesson is learned
once, so a model that refuses everything soon gets its refusal passed on.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

from predibot.domain.chat import SETTINGS, ChatRequest, Message

REFUSING = frozenset({400, 404, 422, 500, 501})
"""How providers refuse a parameter: OpenRouter answers a forced tool with 404, llama.cpp roles with 500."""
MAX_TOKENS = "max_tokens"
NEW_MAX_TOKENS = "max_completion_tokens"
TOOL_CHOICE = "tool_choice"
BY_NAME = "object"
ANY_CALL = "required"
RESPONSE_FORMAT = "response_format"
JSON_SCHEMA = "json_schema"
_CHOICES = (BY_NAME, ANY_CALL, "auto", "none")
"""Ways to force a tool, the surest first; `auto` and `none` do not force it."""
_FORCING = re.compile(
    r"tool[-_ ]?choice|thinking|forc\w+ (?:a )?(?:tool|function)|function[-_ ]?calling", re.IGNORECASE
)
_FORMAT = re.compile(rf"format|schema|grammar|structured|json|{_FORCING.pattern}", re.IGNORECASE)
"""litellm forces a tool to get an answer by a schema, if there is no other way."""
_STREAMING = re.compile(r"\bstream(?:ing)?\b", re.IGNORECASE)
_SYSTEM = re.compile(
    r"(?:system|developer) (?:role|message|prompt|instruction)|role\W{1,4}(?:does not support\W{1,3})?system\b|"
    r"\bsystem\W{1,2}is not a|\bonly user\b.* roles",
    re.IGNORECASE,
)
_ROLES = re.compile(r"\balternat|(?:un)?expected (?:last )?role|role\W{1,3}user\W{1,3}after", re.IGNORECASE)
_SYSTEM_OR_ROLES = re.compile(f"{_SYSTEM.pattern}|{_ROLES.pattern}", re.IGNORECASE)
_THINKING = re.compile("budget_tokens")
_ANYTHING = re.compile("")
_THOUGHT_TOKENS = {"minimal": 1_024, "low": 1_024, "medium": 2_048, "high": 4_096, "xhigh": 8_192}
"""How long litellm lets Claude think at each effort; 1,024 is the least."""
_LOWER = tuple(reversed(_THOUGHT_TOKENS))
_LIMIT = re.compile(r"too (?:large|high|big|many)|at most|range|maximum|exceed|less than|greater|>", re.IGNORECASE)
_CONTEXT = re.compile(r"(?:context|max_new_tokens)\D*(\d[\d,]{0,11})", re.IGNORECASE)
"""The length of a context, in the words of OpenAI, vLLM, SGLang and OpenRouter, and of TGI."""
_NUMBER = re.compile(r"(?<![\w.-])\d[\d,]*(?![\w.-]*[A-Za-z-])")

_SAYING = (
    *("param", "loc", "field", "fieldViolations", "message", "msg", "error_msg", "detail", "details", "description"),
    *("Message", "errmsg", "errorMessage", "error_message", "error_description", "faultstring", "status_msg", "title"),
    *("reason", "path", "error", "Error", "errors", "issues", "innererror", "fault", "metadata", "raw", "base_resp"),
    *("status", "response", "Response"),
)

STATE_OF = "model"
STATE_WORDS: Mapping[str, re.Pattern[str]] = {
    "reasoning_content": re.compile("reasoning_content"),
    "reasoning_details": re.compile("reasoning_details"),
    "thinking_blocks": re.compile(r"thinking_blocks|`thinking`|thinking block"),
    "extra_content": re.compile(r"extra_content|thought_?signature", re.IGNORECASE),
    "provider_specific_fields": re.compile(r"provider_specific_fields|thought_?signature", re.IGNORECASE),
    "reasoning": re.compile(r"['\"`]reasoning['\"`]|\.reasoning\b"),
}
"""The fields of an assistant's turn that only its provider reads, and how a refusal names each."""
_UNASKED = frozenset({"reasoning_details", "thinking_blocks", "extra_content", "provider_specific_fields"})
"""Fields that a provider sends only if it wants them back."""
_WANTS_THOUGHTS = re.compile(r"deepseek|kimi|moonshot", re.IGNORECASE)
"""DeepSeek from V3.2 on and Kimi want thoughts back in conversations with tools; Mistral and Groq refuse them."""


@dataclass(frozen=True, slots=True)
class Manners:
    """What is known of one model; each lesson makes a new object."""

    model: str = ""
    refused: frozenset[str] = frozenset()
    choice: str = BY_NAME
    """How the model can be made to call a tool."""
    max_tokens_name: str = MAX_TOKENS
    most_tokens: int | None = None
    """The longest answer that may be requested, if the provider stated it."""
    state: frozenset[str] = _UNASKED
    """The fields of its own turns that are sent back."""
    learned_state: frozenset[str] = frozenset()
    """The fields that a refusal named."""
    streams: bool = False
    without_system: bool = False
    """Whether the system's message goes into the user's turn."""
    thinks_within: bool = False
    """Whether thoughts must be shorter than the answer may be."""
    user_after_tool: bool = True
    """Whether a user's message may follow a tool's; else it is appended to that."""

    @classmethod
    def of(cls, name: str) -> Self:
        """Return the manners that the provider documents for models of this name."""
        wanted = {"reasoning_content"} if _WANTS_THOUGHTS.search(name) else set()
        return cls(name, state=_UNASKED | wanted)

    def fit(self, request: ChatRequest) -> tuple[ChatRequest, tuple[str, ...]]:
        """Return a request as the model accepts it, and the names of the settings that were left out. Neighbouring
        messages of one role are merged, except those of tools.
        """
        left_out = [name for name in settings_of(request) if name in self.refused]
        changed: dict[str, Any] = dict.fromkeys(left_out)
        messages = [replace(each, state_json=self._own_state(each.state_json)) for each in request.messages]
        if request.forced_tool is not None and self.choice != BY_NAME:
            changed["tools"] = tuple(tool for tool in request.tools if tool.name == request.forced_tool)
            if self.choice != ANY_CALL:
                left_out.append(TOOL_CHOICE)
                messages.append(Message("user", f"Answer with a call of the tool {request.forced_tool}."))
        if RESPONSE_FORMAT in self.refused:
            changed["answer"] = None
        if self.without_system:
            messages = [replace(each, role="user") if each.role == "system" else each for each in messages]
        effort, most = request.reasoning_effort, self.own_token_limit(request) or request.max_output_tokens
        changed["max_output_tokens"] = most
        if self.thinks_within and _THOUGHT_TOKENS.get(effort or "", 0) >= most:
            changed["reasoning_effort"] = next((low for low in _LOWER if _THOUGHT_TOKENS[low] < most), None)
            left_out.append(f"reasoning_effort = {effort}")
        return replace(request, messages=self._merge_roles(messages), **changed), tuple(left_out)

    def own_token_limit(self, request: ChatRequest) -> int | None:
        """Return the model's own limit on the answer's length if it is below the requested one, else None."""
        return self.most_tokens if self.most_tokens and self.most_tokens < request.max_output_tokens else None

    def tool_choice(self, request: ChatRequest) -> object:
        """Return the `tool_choice` of a request; None for none."""
        if request.forced_tool is None or self.choice == "none":
            return None
        if self.choice != BY_NAME:
            return self.choice
        return {"type": "function", "function": {"name": request.forced_tool}}

    def learn(self, message: str, request: ChatRequest, *, status: int = 400) -> "Manners | None":
        """Return the manners after a refusal of the original `request`; None if it names nothing that can change."""
        if status not in REFUSING or not message:
            return None
        lessons = self._lessons(message, request)
        return next((replace(self, **change) for sign, change in lessons if sign.search(message)), None)

    def _lessons(self, message: str, request: ChatRequest) -> Iterator[tuple[re.Pattern[str], dict[str, Any]]]:
        """Yield what a refusal could teach: the words to look for in it, and the change of manners."""
        roles = {each.role for each in request.messages}
        if not self.thinks_within and request.reasoning_effort is not None:
            yield _THINKING, {"thinks_within": True}
        if setting := self._lesson_on_setting(message, request):
            yield _ANYTHING, setting
        states = [json.loads(each.state_json) for each in request.messages if each.state_json]
        held = {name for state in states for part in state for name in part} - self.learned_state
        for name in [name for name in STATE_WORDS if name in held]:
            # A refusal demands the field if it was not sent, and forbids it if it was.
            yield STATE_WORDS[name], {"state": self.state ^ {name}, "learned_state": self.learned_state | {name}}
        if not self.streams:
            yield _STREAMING, {"streams": True}
        if request.forced_tool is not None and (weaker := _CHOICES[_CHOICES.index(self.choice) + 1 :]):
            yield _FORCING, {"choice": weaker[0]}
        may_move = self.user_after_tool and "tool" in roles
        if not self.without_system and "system" in roles:
            # Some templates without a system role complain that roles must alternate. So do templates that allow no
            # user's message after a tool's.
            yield _SYSTEM if may_move else _SYSTEM_OR_ROLES, {"without_system": True}
        if may_move:
            yield _ROLES, {"user_after_tool": False}
        if request.answer is not None and RESPONSE_FORMAT not in self.refused:
            refused = JSON_SCHEMA if "json_object" in message and JSON_SCHEMA not in self.refused else RESPONSE_FORMAT
            yield _FORMAT, {"refused": self.refused | {refused}}

    def _lesson_on_setting(self, message: str, request: ChatRequest) -> dict[str, Any] | None:
        """Return the change after a refusal that names a setting or the answer's length, else None."""
        sent = [name for name in settings_of(request) if name not in self.refused]
        name = first_named(message, (MAX_TOKENS, NEW_MAX_TOKENS, *sent))
        if name in sent:
            return {"refused": self.refused | {name}}
        asked = self.own_token_limit(request) or request.max_output_tokens
        numbers = [int(each.replace(",", "")) for each in _NUMBER.findall(message) if len(each) <= 12]
        context = _CONTEXT.search(message)
        if name is None and not (context and asked in numbers):
            return None
        if context or _LIMIT.search(message):
            # Request and answer have to fit into the context together.
            most = max((each for each in numbers if 1 < each < asked), default=0)
            if context:
                most = int(context[1].replace(",", "")) // 2
            return {"most_tokens": most} if 1 < most < asked else None
        return {"max_tokens_name": NEW_MAX_TOKENS} if self.max_tokens_name == MAX_TOKENS else None

    def _own_state(self, state_json: str) -> str:
        """Return the fields of a turn's state that are sent back; empty for another model's turn."""
        parts = json.loads(state_json) if state_json else [{}]
        if parts[0].get(STATE_OF) != self.model:
            return ""
        kept = [{name: each[name] for name in each if name in self.state} for each in parts]
        return json.dumps(kept, ensure_ascii=False) if any(kept) else ""

    def _merge_roles(self, messages: Iterable[Message]) -> tuple[Message, ...]:
        merged: list[Message] = []
        for each in messages:
            last = merged[-1] if merged else Message("system")
            is_same = each.role == last.role != "tool"
            is_moved = (last.role, each.role) == ("tool", "user") and not self.user_after_tool
            if not merged or not (is_same or is_moved):
                merged.append(each)
                continue
            text = "\n\n".join(filter(None, (last.text, each.text)))
            calls, state_json = (*last.tool_calls, *each.tool_calls), each.state_json or last.state_json
            merged[-1] = replace(last, text=text, tool_calls=calls, state_json=state_json)
        return tuple(merged)


def settings_of(request: ChatRequest) -> tuple[str, ...]:
    """Return the names of the settings that a request has."""
    return tuple(name for name in SETTINGS if getattr(request, name) is not None)


def first_named(text: str, parameters: Iterable[str]) -> str | None:
    """Return the parameter that a text names first, or None.

    Examples:
        >>> first_named("Unsupported value: 'reasoning.effort' of a seeded model", ["seed", "reasoning_effort"])
        'reasoning_effort'
    """
    found = {name: re.search(rf"(?<!\w){name.replace('_', '[._]')}(?!\w)", text) for name in parameters}
    places = {name: match.start() for name, match in found.items() if match is not None}
    return min(places, key=places.__getitem__, default=None)


def error_words(text: str) -> str:
    """Return the words of an error: its known fields, or its text; never the request, which some errors repeat.

    HTML has none. Google's compatible address puts errors into a list, Ollama and llama.cpp send text, FastAPI adds the
    place, and OpenRouter's `metadata` has the words of the provider behind it, maybe as JSON again.

    Examples:
        >>> error_words('[{"error": {"message": "refused", "details": [{"field": "seed"}]}}]')
        'refused: seed'
    """
    try:
        return ": ".join(_error_texts(json.loads(text)))
    except ValueError:
        return "" if text.lstrip().startswith("<") else text
    except RecursionError:
        return ""


def _error_texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in _SAYING:
            said = value.get(each)
            if each == "errors" and isinstance(said, dict) and said.keys().isdisjoint(_SAYING):
                # ASP.NET and others give a list of complaints for each field.
                said = [*said.items()]
            yield from _error_texts(said)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _error_texts(each)
    elif isinstance(value, str) and value:
        yield error_words(value) or value
