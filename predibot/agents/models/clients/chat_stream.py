"""A streamed chat completion, put together from its pieces.

Source: "Server-sent events" of the HTML standard (WHATWG). More lenient than that: a last event without an empty line
counts, and if the lines of an event are no JSON together, each of them is an event.
"""

import re
from collections.abc import Iterator
from typing import Any

from predibot.agents.models.clients.chat_wire import NoCompletion, json_or_none, load_json, objects_of
from predibot.agents.models.failures import AnswerUnusable
from predibot.net.failures import BadAnswer, LostAnswer, one_line
from predibot.net.json_client import HttpAnswer

_DONE = "[DONE]"
_GROWING = frozenset({"content", "reasoning_content", "reasoning", "refusal", "arguments"})
"""Texts that arrive in parts; any other text arrives whole."""


def read_stream(received: HttpAnswer) -> dict[str, Any]:
    """Return the completion that a stream adds up to, or the error in one of its events. A stream that breaks off may
    have been paid for and raises `LostAnswer`. `parse_json_object` reads other answers.
    """
    if "text/event-stream" not in received.headers.get("content-type", "").lower():
        return parse_json_object(received)
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    whole: dict[str, Any] = {}
    finish_reason, is_done = None, False
    for data in _events(received.text(most_bytes=len(received.body))):
        if is_done := data.strip() == _DONE:
            break
        if not data.strip():
            continue
        try:
            event = load_json(data)
        except (ValueError, RecursionError):
            raise LostAnswer(f"{received.asked}: an event of the stream breaks off") from None
        if not isinstance(event, dict):
            continue
        if event.get("error"):
            return event
        whole |= {name: value for name, value in event.items() if name != "choices" and value is not None}
        for choice in objects_of(event.get("choices")):
            if choice.get("index"):
                continue  # A further choice, which nobody asked for.
            try:
                _add(message, choice.get("delta") or {})
            except NoCompletion as error:
                raise LostAnswer(f"{received.asked}: {error}") from None
            finish_reason = choice.get("finish_reason") or finish_reason
    if finish_reason is None and not is_done:
        raise LostAnswer(f"{received.asked}: the stream broke off before its end")
    return {**whole, "choices": [{"message": message, "finish_reason": finish_reason}]}


def parse_json_object(received: HttpAnswer) -> dict[str, object]:
    """Return the JSON object of an answer; raise `LostAnswer` if it breaks off, else `AnswerUnusable`."""
    try:
        value = received.json(load_json)
    except BadAnswer:
        value = None
    if not isinstance(value, dict):
        seen = one_line(received.text(most_bytes=2_000))
        raise AnswerUnusable(f"{received.asked} answered no object but {seen!r}; see whether the base URL is right")
    return value


def _events(text: str) -> Iterator[str]:
    lines: list[str] = []
    # Not by `splitlines`: Python takes further characters, which JSON allows, for line ends.
    for line in (*re.split(r"\r\n|\r|\n", text.removeprefix("\ufeff")), ""):
        name, _, value = line.partition(":")
        if name == "data":
            lines.append(value.removeprefix(" "))
        elif not line:
            data = "\n".join(lines)
            yield from lines if json_or_none(data) is None else [data]
            lines = []


def _add(whole: dict[str, Any], piece: object) -> None:
    """Add a piece to a message, or to one of its calls; raise `NoCompletion` if it is malformed."""
    if not isinstance(piece, dict):
        raise NoCompletion(f"a {type(piece).__name__} is no piece of an answer")
    for name, value in piece.items():
        before = whole.get(name)
        if name == "tool_calls":
            for call in _parts(value):
                _add(_find_call(whole.setdefault(name, []), call), call)
        elif name == "function" and value is not None:
            _add(whole.setdefault(name, {}), value)
        elif name in _GROWING and isinstance(value, str) and isinstance(before, str | None):
            whole[name] = (before or "") + value
        elif isinstance(value, list) or (name in _GROWING and isinstance(value, str)):
            whole[name] = [*_parts(before), *_parts(value)]
        elif value:
            whole[name] = value


def _parts(content: object) -> list[object]:
    """Return a content as a list of parts: Magistral sends thoughts as a list and text behind them as text."""
    if isinstance(content, list):
        return content
    if isinstance(content, str | None):
        return [{"type": "text", "text": content}] if content else []
    raise NoCompletion(f"a {type(content).__name__} is no piece of an answer")


def _find_call(calls: list[dict[str, Any]], piece: object) -> dict[str, Any]:
    """Return the call that a piece continues, or a new one.

    A piece continues the latest call with its index, or the latest of all if it has none. A piece with a name begins a
    new call if its id is new, because Google gives all calls one index, or if it has neither id nor index.
    """
    fields = piece if isinstance(piece, dict) else {}
    index, own_id, function = fields.get("index"), fields.get("id"), fields.get("function")
    same = [each for each in calls if index is None or each.get("index", 0) == index]
    named = isinstance(function, dict) and function.get("name")
    if not same or (named and (own_id != same[-1].get("id") if own_id else index is None)):
        same = [{}]
        calls += same
    return same[-1]
