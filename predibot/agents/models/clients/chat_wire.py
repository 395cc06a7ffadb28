"""The chat-completions dialect that most providers speak: requests written, answers read.

What comes from a provider is untrusted text: it becomes a `ChatReply`, or is refused as unreadable.
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
from predibot.net.json_client import Wire

_THOUGHTS = ("thinking", "reasoning")
"""Parts of a content."""
MAX_CITATIONS = 200
MAX_URL_CHARACTERS = 2_000
MAX_TOKENS = 100_000_000
"""Of a call, either way; a count beyond it is none."""
MAX_CALL_USD = 1_000.0
"""What a provider says beyond it is not believed; the dearest call there is costs a twentieth."""
MAX_STATE_CHARACTERS = 200_000
"""Of what a turn carries for its provider; half of it would be refused, so what is longer is not kept."""
MAX_DEPTH = 50
"""Of what an answer holds; the deepest known has about ten levels."""
_MOST_DIGITS = 400
"""Of a whole number; Python itself refuses to read 4,301, and nothing that is counted has 20."""
_MINIMAX = {"1002": 429, "1004": 401, "1008": 402, "1039": 429, "2013": 400, "2049": 401, "2056": 429}
"""What MiniMax says instead of a status: platform.minimax.io, "Error Codes"."""
_COUNTS = ("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens", "total_tokens", "cost")
_BESIDE = "provider_specific_fields"
_SURROGATE = re.compile("[\ud800-\udfff]")
_FINISH: Mapping[str, FinishReason] = {
    **dict.fromkeys(("stop", "eos", "end_turn", "stop_sequence"), "stop"),
    **dict.fromkeys(("tool_calls", "tool_use", "function_call"), "tool_calls"),
    **dict.fromkeys(("length", "max_tokens"), "length"),
    **dict.fromkeys(("content_filter", "refusal"), "refusal"),
}


class NoCompletion(ValueError):
    """An answer that is JSON and yet none of this dialect; the message says what was seen."""


def request_body(request: ChatRequest, model: str, manners: Manners) -> dict[str, object]:
    """Return the JSON of a request that fits the model's manners."""
    body: dict[str, object] = {
        "model": model,
        "messages": [_written(message) for message in request.messages],
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


def _written(message: Message) -> dict[str, object]:
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


def _function(**said: object) -> dict[str, object]:
    return {"type": "function", "function": said}


def sendable(text: str) -> str:
    """Return a text that is Unicode: half a surrogate pair, which web pages and models do write, is replaced."""
    return _SURROGATE.sub("\ufffd", text)


def _text_of(content: object) -> str:
    """Return the text of a content that is one, none, or a list of parts, some of which may be thoughts."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict) and part.get("type") not in _THOUGHTS)
        return "".join(_text_of(part.get("text")) for part in parts)
    raise ValueError(f"a {type(content).__name__} is no content")


def _arguments_of(value: object) -> str:
    """Return arguments as text; some servers send them decoded, some encoded twice (vllm-project/vllm#54964)."""
    if isinstance(value, str):
        inner = json_or_none(value)
        return inner if isinstance(inner, str) and isinstance(json_or_none(inner), dict) else value
    return json.dumps({} if value is None else value)


def objects_of(value: object) -> list[dict[str, object]]:
    """Return the objects of a list, or none where there is no list."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def object_of(value: object) -> dict[str, object]:
    """Return an object, or an empty one for anything else."""
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
    """What a gateway says outside of its answer, as `predibot.agents.models.clients.litellm_model` finds it."""
    citations: object = None
    search_results: LenientObjects = Field(default_factory=list)
    searches: Annotated[int | None, BeforeValidator(lambda value: count_of(value))] = None
    """Of a report, as `predibot.agents.models.clients.responses` counts them."""

    def to_domain(self, asked_model: str) -> ChatReply:
        """Return the answer in our words; its cost is what the provider says it charges."""
        message, reason = self.choices[0].message, self.choices[0].finish_reason
        ids = {call.id for call in message.tool_calls}
        new = (each for number in count() if (each := f"call_{number}") not in ids)
        calls = tuple(
            ToolCall(call.id or next(new), call.function.name, call.function.arguments) for call in message.tool_calls
        )
        finish = "refusal" if message.refusal else _FINISH.get(reason, "other")
        if calls and finish in ("stop", "other"):
            # A forced tool call ends with `stop` at OpenAI.
            finish = "tool_calls"
        elif finish == "tool_calls" and not calls:
            finish = "other"
        stopped = message.content or f"stopped by the provider ({reason})" if finish == "refusal" else ""
        # OpenRouter says a number, Perplexity an object with a total.
        cost = self.usage.get("cost")
        stated = known_usd(cost.get("total_cost") if isinstance(cost, dict) else cost)
        usd = known_usd(self.charged) if stated is None else stated
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
    """Return what a decoded JSON answer says; seconds and retries are for the retry layer to say.

    Raises:
        NoCompletion: If it is no answer of this dialect.
    """
    if isinstance(value, dict) and value.get("choices") == [] and has_usage(value):
        # The model worked, and said nothing.
        value = {**value, "choices": [{"message": None}]}
    try:
        reply = _Completion.model_validate(value).to_domain(asked_model)
    except ValidationError as error:
        raise unreadable(error) from None
    state_json = _state_json(object_of(objects_of(object_of(value)["choices"])[0].get("message")), asked_model)
    return replace(reply, message=replace(reply.message, state_json=state_json))


def _state_json(message: Mapping[str, object], model: str) -> str:
    """Return the state of a model's turn, or nothing where there is none or more than a turn can have."""
    # Where litellm keeps what it does not know of a whole message, such as OpenRouter's `reasoning_details`; Gemini's
    # signatures it reads there again.
    beside = object_of(message.get(_BESIDE))
    signed = {name: value for name, value in beside.items() if "signature" in name and value}
    parts = [_stated({**beside, **message, _BESIDE: signed}), *map(_stated, objects_of(message.get("tool_calls")))]
    text = json.dumps([{STATE_OF: model, **parts[0]}, *parts[1:]], ensure_ascii=False) if any(parts) else ""
    return sendable(text) if len(text) <= MAX_STATE_CHARACTERS else ""


def _stated(fields: Mapping[str, object]) -> dict[str, object]:
    """Return those fields of a state that say something; DeepSeek wants a thought back that is empty (nanobot#946)."""
    return {name: value for name, value in fields.items() if name in STATE_WORDS and (value or value == "")}


def unreadable(error: ValidationError) -> NoCompletion:
    """Return what is wrong with an answer, without what it says."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    field = ".".join(str(part) for part in first["loc"])
    return NoCompletion(f"{field}: {first['msg']}" if field else first["msg"])


def error_of(value: object) -> tuple[int | None, str] | None:
    """Return the status and words of an error that comes as a success, or None.

    OpenRouter puts what went wrong into `error`, of the answer or of its choice, MiniMax into `base_resp`.
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
    """Return whether an answer, or its error, comes with choices or a usage of more than nothing: the model worked.

    A usage counts wherever it stands, such as in the `metadata` of an error.
    """
    return bool(object_of(value).get("choices")) or _is_counted(value)


def _is_counted(value: object) -> bool:
    if isinstance(value, list):
        return any(map(_is_counted, value))
    usage = object_of(object_of(value).get("usage"))
    return any(usage.get(name) for name in _COUNTS) or any(map(_is_counted, object_of(value).values()))


def loaded_json(body: bytes | str) -> object:
    """Return what is decoded of JSON, in which nothing is nested too deep and no number is too long to be read.

    Raises:
        ValueError: If it is no JSON.
        RecursionError: If even the decoder cannot follow it.
    """
    # The beginning of a number that is longer is as far beyond all counts.
    return shallow(json.loads(body, parse_int=lambda digits: int(digits[:_MOST_DIGITS])))


def json_or_none(body: bytes | str) -> object:
    """Return what a body says as JSON, or None where it says nothing."""
    try:
        return loaded_json(body)
    except (ValueError, RecursionError):
        return None


def _usage(raw: Mapping[str, object], searches: int | None = None) -> Usage:
    """Return the counted tokens, in the words of either API; no request has none, so zero sent ones were not counted.

    Some count what a model thinks beside its answer, in the total or the details only: it is charged as output.
    """
    tokens = count_of(raw.get("prompt_tokens", raw.get("input_tokens"))) or None
    counted = count_of(raw.get("completion_tokens", raw.get("output_tokens")))
    if counted is not None:
        details = (object_of(raw.get(name)) for name in ("completion_tokens_details", "output_tokens_details"))
        thought = next((count_of(each["reasoning_tokens"]) or 0 for each in details if "reasoning_tokens" in each), 0)
        beside = thought if thought > counted else 0
        total = count_of(raw.get("total_tokens")) or 0
        counted = max(counted + beside, total - (tokens or total))
    return Usage(tokens, counted, raw, searches)


def count_of(value: object) -> int | None:
    """Return a count of tokens that can be one, or None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS else None


def shallow(value: object, levels: int = MAX_DEPTH) -> object:
    """Return decoded JSON in which what is nested deeper than any answer is replaced by a remark.

    Whatever walks through it afterwards ends before Python's own limit does.
    """
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return "(nested too deep)"
    if isinstance(value, list):
        return [shallow(each, levels - 1) for each in value]
    return {name: shallow(each, levels - 1) for name, each in value.items()}


def known_usd(value: object) -> float | None:
    """Return an amount of dollars that one call can cost, as a number or in a header, or None."""
    try:
        usd = math.nan if isinstance(value, bool) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None
    return usd if 0 <= usd <= MAX_CALL_USD else None


def _citations(
    named: object, found: Sequence[Mapping[str, object]], annotations: Sequence[Mapping[str, object]]
) -> tuple[str, ...]:
    """Return the web addresses a searching model names, each once, in their order.

    Perplexity has `citations` and `search_results`, OpenAI and OpenRouter have annotations of kind `url_citation`.
    """
    addresses = list(named) if isinstance(named, list) else []
    addresses += [each.get("url") for each in found]
    for annotation in annotations:
        inner = annotation.get("url_citation")
        addresses.append((inner if isinstance(inner, dict) else annotation).get("url"))
    kept = [each for each in addresses if isinstance(each, str) and len(each) <= MAX_URL_CHARACTERS]
    web = [each for each in kept if each.startswith(("http://", "https://"))]
    return tuple(dict.fromkeys(web))[:MAX_CITATIONS]
