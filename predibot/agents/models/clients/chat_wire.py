"""The chat-completions protocol that most providers speak: requests are written, answers are read. An answer is
untrusted: it becomes a `ChatReply` or is refused as unreadable.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError

from predibot.agents.answer.calls import tool_name
from predibot.agents.models.manners import JSON_SCHEMA, RESPONSE_FORMAT, STATE_OF, STATE_WORDS, TOOL_CHOICE, Manners
from predibot.domain.chat import SETTINGS, ChatReply, ChatRequest, Cost, FinishReason, Message, ToolCall, Usage
from predibot.domain.untrusted_text import require_shallow
from predibot.net.json_client import Wire

_THOUGHTS = ("thinking", "reasoning")
"""Types of parts that are no text."""
MAX_CITATIONS = 200
MAX_URL_CHARACTERS = 2_000
MAX_TOKENS = 100_000_000
"""A count of a call's tokens that is larger is not believed."""
MAX_CALL_USD = 1_000.0
"""A cost of a call that is larger is not believed; the dearest call there is costs a twentieth."""
MAX_STATE_CHARACTERS = 200_000
"""A longer state of a turn is dropped whole, since its provider would refuse half of it."""
MAX_DEPTH = 50
"""The deepest known answer has about ten levels."""
_MOST_DIGITS = 400
"""Python itself refuses 4,301 digits, and no count has 20."""
_MINIMAX = {"1002": 429, "1004": 401, "1008": 402, "1039": 429, "2013": 400, "2049": 401, "2056": 429}
"""MiniMax's own codes as HTTP statuses: platform.minimax.io, "Error Codes"."""
_COUNTS = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens", "cost")
_BESIDE = "provider_specific_fields"
_EMPTY_BEFORE = re.compile(r"^\{\}(?=\{)")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FINISH: Mapping[str, FinishReason] = {
    **dict.fromkeys(("stop", "eos", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("length", "max_tokens"), "length"),
    **dict.fromkeys(("content_filter", "refusal"), "refusal"),
}


class NoCompletion(ValueError):
    """An answer is JSON, but not of this protocol; the message says why."""


def request_body(request: ChatRequest, model: str, manners: Manners) -> dict[str, object]:
    """Return the JSON of a request that fits the model's manners."""
    body: dict[str, object] = {
        "model": model,
        "messages": [_message_body(message) for message in request.messages],
        manners.max_tokens_name: request.max_output_tokens,
    }
    if manners.streams:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    if request.tools:
        body["tools"] = [
            _function(name=tool.name, description=tool.description, parameters=dict(tool.parameters))
            for tool in request.tools
        ]
    if request.answer is not None:
        schema = {"name": request.answer.name, "schema": dict(request.answer.parameters), "strict": False}
        of_schema = {"type": JSON_SCHEMA, JSON_SCHEMA: schema}
        body[RESPONSE_FORMAT] = {"type": "json_object"} if JSON_SCHEMA in manners.refused else of_schema
    if (choice := manners.tool_choice(request)) is not None:
        body[TOOL_CHOICE] = choice
    return body | {name: value for name in SETTINGS if (value := getattr(request, name)) is not None}


def _message_body(message: Message) -> dict[str, object]:
    written: dict[str, object] = {"role": message.role, "content": sendable(message.text)}
    calls = [
        {"id": sendable(call.id), **_function(name=sendable(call.name), arguments=sendable(call.arguments_json))}
        for call in message.tool_calls
    ]
    if calls:
        written |= {"content": written["content"] or None, "tool_calls": calls}
    if message.tool_call_id is not None:
        written["tool_call_id"] = message.tool_call_id
    if message.state_json:
        of_message, *of_calls = json.loads(message.state_json)
        written |= of_message
        for call, state in zip(calls, of_calls, strict=False):
            call |= state
    return written


def _function(**fields: object) -> dict[str, object]:
    return {"type": "function", "function": fields}


def sendable(text: str) -> str:
    """Return a text as Unicode; halves of surrogate pairs, which pages and models do write, are replaced."""
    return _SURROGATE.sub("\ufffd", text)


def _text_of(content: object) -> str:
    """Return the text of a content, which may be a text, nothing, or a list of parts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return "" if content.get("type") in _THOUGHTS else _text_of(content.get("text"))
    if isinstance(content, list):
        return "".join(_text_of(part) for part in content if isinstance(part, str | dict))
    raise ValueError(f"a {type(content).__name__} is no content")


def _arguments_of(value: object) -> str:
    """Return arguments as text; some servers send them decoded, others encoded twice (vllm-project/vllm#54964), and
    others leave the empty object before them with which a stream of Claude begins.
    """
    if isinstance(value, str):
        value = _EMPTY_BEFORE.sub("", value)
        inner = json_or_none(value)
        return inner if isinstance(inner, str) and isinstance(json_or_none(inner), dict) else value
    return json.dumps({} if value is None else value)


def objects_of(value: object) -> list[dict[str, object]]:
    """Return the objects in a list; empty for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def object_of(value: object) -> dict[str, object]:
    """Return an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


LenientText = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else "")]
LenientObjects = Annotated[list[dict[str, object]], BeforeValidator(objects_of)]
LenientObject = Annotated[dict[str, object], BeforeValidator(object_of)]


class _Function(Wire):
    name: Annotated[str, AfterValidator(tool_name)]
    arguments: Annotated[str, BeforeValidator(_arguments_of)] = "{}"


class _CallWire(Wire):
    id: LenientText = ""
    function: _Function


class _MessageWire(Wire):
    content: Annotated[str, BeforeValidator(_text_of)] = ""
    refusal: LenientText = ""
    tool_calls: Annotated[list[_CallWire], BeforeValidator(lambda calls: calls or [])] = Field(default_factory=list)
    annotations: LenientObjects = Field(default_factory=list)


class _Choice(Wire):
    message: Annotated[_MessageWire, BeforeValidator(lambda message: {} if message is None else message)]
    finish_reason: LenientText = ""


class _Completion(Wire):
    choices: list[_Choice] = Field(min_length=1)
    model: LenientText = ""
    usage: LenientObject = Field(default_factory=dict)
    charged: object = None
    """The cost that a gateway states in a header; `litellm_model` puts it here."""
    citations: object = None
    search_results: LenientObjects = Field(default_factory=list)
    searches: Annotated[int | None, BeforeValidator(lambda value: parse_count(value))] = None
    """As `responses` counts them."""

    def to_domain(self, asked_model: str) -> ChatReply:
        """Return the reply; its cost is the provider's own statement."""
        message, reason = self.choices[0].message, self.choices[0].finish_reason
        ids = {call.id for call in message.tool_calls}
        new = (each for number in count() if (each := f"call_{number}") not in ids)
        calls = tuple(
            ToolCall(call.id or next(new), call.function.name, call.function.arguments) for call in message.tool_calls
        )
        finish = "refusal" if message.refusal else _FINISH.get(reason, "other")
        if calls and finish in ("stop", "other"):
            # OpenAI says `stop` after a forced tool call.
            finish = "tool_calls"
        elif finish == "tool_calls" and not calls:
            finish = "other"
        stopped = message.content or f"stopped by the provider ({reason})" if finish == "refusal" else ""
        # OpenRouter says a number, Perplexity an object with a total.
        cost = self.usage.get("cost")
        stated = parse_usd(cost.get("total_cost") if isinstance(cost, dict) else cost)
        usd = parse_usd(self.charged) if stated is None else stated
        return ChatReply(
            Message("assistant", message.content, calls),
            finish,
            _usage(self.usage, self.searches),
            Cost(usd, "unknown" if usd is None else "provider"),
            self.model or asked_model,
            seconds=0.0,
            refusal=message.refusal or stopped,
            citations=_citations(self.citations, self.search_results, message.annotations),
        )


def read_answer(value: object, asked_model: str) -> ChatReply:
    """Parse a decoded JSON answer, without its seconds and retries; raise `NoCompletion` if it is none."""
    if isinstance(value, dict) and value.get("choices") == [] and has_usage(value):
        # The model worked, but wrote nothing.
        value = {**value, "choices": [{"message": None}]}
    try:
        reply = _Completion.model_validate(value).to_domain(asked_model)
    except ValidationError as error:
        raise unreadable(error) from None
    state_json = _state_json(object_of(objects_of(object_of(value)["choices"])[0].get("message")), asked_model)
    return replace(reply, message=replace(reply.message, state_json=state_json))


def _state_json(message: Mapping[str, object], model: str) -> str:
    """Return the state of a model's turn; empty if there is none, or it is too long."""
    # litellm keeps unknown fields of a message here, such as OpenRouter's `reasoning_details`, and reads Gemini's
    # signatures from here again.
    beside = object_of(message.get(_BESIDE))
    signed = {name: value for name, value in beside.items() if "signature" in name and value}
    parts = [
        _state_fields({**beside, **message, _BESIDE: signed}),
        *map(_state_fields, objects_of(message.get("tool_calls"))),
    ]
    text = json.dumps([{STATE_OF: model, **parts[0]}, *parts[1:]], ensure_ascii=False) if any(parts) else ""
    return sendable(text) if len(text) <= MAX_STATE_CHARACTERS else ""


def _state_fields(fields: Mapping[str, object]) -> dict[str, object]:
    """Return the fields of a state; DeepSeek wants even an empty thought back (nanobot#946)."""
    return {name: value for name, value in fields.items() if name in STATE_WORDS and (value or value == "")}


def unreadable(error: ValidationError) -> NoCompletion:
    """Return the error for an invalid answer, without the answer's own words."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return NoCompletion(f"{field}: {first['msg']}" if field else first["msg"])


def error_of(value: object) -> tuple[int | None, str] | None:
    """Return status and message of an error that comes with a status of success, or None. OpenRouter puts errors into
    `error`, of the answer or of its choice; MiniMax into `base_resp`.
    """
    if not isinstance(value, dict):
        return None
    choices, of_minimax = value.get("choices"), object_of(value.get("base_resp"))
    first = choices[0] if isinstance(choices, list) and choices else value
    error = value.get("error") or (first.get("error") if isinstance(first, dict) else None)
    if not error and of_minimax.get("status_code"):
        known = _MINIMAX.get(str(of_minimax["status_code"]), 500)
        error = {"message": of_minimax.get("status_msg"), "code": known}
    if not error:
        return None
    details = error if isinstance(error, dict) else {"message": error}
    code = str(details.get("code"))
    status = int(code) if code.isascii() and code.isdigit() and len(code) == 3 and code >= "400" else None
    return status, json.dumps(error)


def has_usage(value: object) -> bool:
    """Return whether an answer has choices, or a usage above zero anywhere: then the model worked, even if it is an
    error.
    """
    return bool(object_of(value).get("choices")) or _counts_anywhere(value)


def _counts_anywhere(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_counts_anywhere, value))
    usage = object_of(object_of(value).get("usage"))
    return any(usage.get(name) for name in _COUNTS) or any(map(_counts_anywhere, object_of(value).values()))


def load_json(body: bytes | str) -> object:
    """Decode JSON within bounds of depth and of digits; raise `ValueError` or `RecursionError` if that fails."""
    require_shallow(body)
    # The first digits of a longer number are already beyond any count.
    return limit_depth(json.loads(body, parse_int=lambda digits: int(digits[:_MOST_DIGITS])))


def json_or_none(body: bytes | str) -> object:
    """Decode JSON within bounds; return None if that fails."""
    try:
        return load_json(body)
    except (ValueError, RecursionError):
        return None


def _usage(raw: Mapping[str, object], searches: int | None = None) -> Usage:
    """Return the counted tokens, under the names of either API. Zero input tokens were not counted. Some providers
    count thoughts only in the total or the details; they are charged as output.
    """
    tokens = parse_count(raw.get("prompt_tokens", raw.get("input_tokens"))) or None
    counted = parse_count(raw.get("completion_tokens", raw.get("output_tokens")))
    if counted is not None:
        details = (object_of(raw.get(name)) for name in ("completion_tokens_details", "output_tokens_details"))
        thought = next(
            (parse_count(each["reasoning_tokens"]) or 0 for each in details if "reasoning_tokens" in each), 0
        )
        beside = thought if thought > counted else 0
        total = parse_count(raw.get("total_tokens")) or 0
        counted = max(counted + beside, total - (tokens or total))
    return Usage(tokens, counted, raw, searches)


def parse_count(value: object) -> int | None:
    """Return a plausible count of tokens, or None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS else None


def limit_depth(value: object, levels: int = MAX_DEPTH) -> object:
    """Return decoded JSON without values that are deeper than any answer's, so that recursion over it is safe."""
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return "(nested too deep)"
    if isinstance(value, list):
        return [limit_depth(each, levels - 1) for each in value]
    return {name: limit_depth(each, levels - 1) for name, each in value.items()}


def parse_usd(value: object) -> float | None:
    """Return a plausible cost of one call, from a number or a header, or None."""
    try:
        usd = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return usd if 0 <= usd <= MAX_CALL_USD else None


def _citations(
    named: object, found: Sequence[Mapping[str, object]], annotations: Sequence[Mapping[str, object]]
) -> tuple[str, ...]:
    """Return the distinct web addresses that a searching model cites, in order. Perplexity has `citations` and
    `search_results`, OpenAI and OpenRouter have annotations of type `url_citation`.
    """
    addresses = list(named) if isinstance(named, list) else []
    addresses += [each.get("url") for each in found]
    for annotation in annotations:
        inner = annotation.get("url_citation")
        addresses.append((inner if isinstance(inner, dict) else annotation).get("url"))
    kept = [each for each in addresses if isinstance(each, str) and len(each) <= MAX_URL_CHARACTERS]
    web = [each for each in kept if each.startswith(("http://", "https://"))]
    return tuple(dict.fromkeys(web))[:MAX_CITATIONS]
