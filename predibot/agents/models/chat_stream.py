"""A chat completion that comes in pieces: read to its end, and put together as if it had come at once."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from predibot.agents.models.chat_wire import loaded_json
from predibot.agents.models.endpoint import json_object
from predibot.net.failures import AnswerLost
from predibot.net.json_client import Received

_GROWING = frozenset({"content", "reasoning_content", "reasoning", "refusal", "arguments"})
"""Texts of which each piece is the next part; any other is said whole."""


def streamed_object(received: Received) -> dict[str, Any]:
    """Return the completion that the events of an answer come to, or the error that one of them is.

    Raises:
        AnswerLost: If it breaks off, so that it may have been paid for.
        AnswerUnusable: If it is neither a stream nor an object.
    """
    if "text/event-stream" not in received.headers.get("content-type", ""):
        return json_object(received)
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    whole: dict[str, Any] = {}
    finish_reason = None
    for event in _events(received):
        if event.get("error"):
            return event
        whole |= {name: value for name, value in event.items() if name != "choices" and value is not None}
        for choice in event.get("choices") or ():
            _add(message, choice.get("delta") or {})
            finish_reason = choice.get("finish_reason") or finish_reason
    if finish_reason is None:
        raise AnswerLost(f"{received.asked}: the stream broke off before its end")
    return {**whole, "choices": [{"message": message, "finish_reason": finish_reason}]}


def _events(received: Received) -> Iterator[dict[str, Any]]:
    """Yield the objects of a stream up to its end."""
    # A line ends nowhere else: JSON may hold what Python takes for the end of one.
    for line in re.split(r"[\r\n]+", received.text(most_bytes=len(received.body))):
        data = line.removeprefix("data:").strip()
        if data == line.strip() or not data:
            continue
        if data == "[DONE]":
            return
        try:
            event = loaded_json(data)
        except (ValueError, RecursionError):
            raise AnswerLost(f"{received.asked}: an event of the stream breaks off") from None
        if isinstance(event, dict):
            yield event


def _add(whole: dict[str, Any], piece: Mapping[str, Any]) -> None:
    """Add a piece of a message, or of one of its calls, to what came before it."""
    for name, value in piece.items():
        if name == "tool_calls":
            calls = whole.setdefault(name, [])
            for call in value or ():
                place = call.get("index")
                if not isinstance(place, int) or not 0 <= place < len(calls):
                    calls.append({})
                    place = -1
                _add(calls[place], call)
        elif name == "function" and isinstance(value, dict):
            _add(whole.setdefault(name, {}), value)
        elif name in _GROWING and isinstance(value, str):
            whole[name] = (whole.get(name) or "") + value
        elif isinstance(value, list):
            whole[name] = [*(whole.get(name) or ()), *value]
        elif value:
            whole[name] = value
