"""Manners of models: what real providers document, demand, refuse or wrap; tests hold every client to the same ones."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from itertools import pairwise
from typing import Any, Self

from predibot.sandbox.server.reply import HttpReply, json_bytes, json_reply
from predibot.sandbox.world.conversation import json_objects

MANNERS = {
    "thinking_refuses_forced_tools": "400 where a tool is forced, as DeepSeek, Qwen and Claude answer while they think",
    "wants_state_back": "400 where a call comes back without the `reasoning_content` of its turn, as DeepSeek answers",
    "thinks_first": "so many tokens of thoughts before each answer, which is cut off where that is too short for both",
    "think_tags": "thoughts in `<think>` before each answer, as open-weight models write",
    "text_calls": "calls of tools as text, in the notation of Hermes and Qwen",
    "stream_only": "400 where no stream is asked for, as some of Alibaba's models answer",
    "strict_roles": "500 where two turns are of one role or a user speaks after a tool, as llama.cpp answers",
}
THOUGHT = "First what is known, then what it is worth."
_MOST_THOUGHT_TOKENS = 100_000
_STREAM_TYPE = "text/event-stream"


@dataclass(frozen=True, slots=True)
class ModelManners:
    """The manners of forecasters."""

    names: frozenset[str] = frozenset()
    thought_tokens: int = 0

    @classmethod
    def parse(cls, words: Iterable[str]) -> Self:
        """Return the manners in words such as `think_tags` and `thinks_first=6000`. Raises `ValueError` if a name is
        unknown, or its number of tokens is missing, too large or misplaced.
        """
        stated = [word.partition("=")[::2] for word in words]
        for name, count in stated:
            if (name == "thinks_first") != bool(count) or name not in MANNERS:
                raise ValueError(f"{name!r} is no manner, or one that is written as thinks_first=6000")
            if count and not (count.isascii() and count.isdigit() and 1 <= int(count[:9]) <= _MOST_THOUGHT_TOKENS):
                raise ValueError(
                    f"thinks_first is a number of tokens from 1 to {_MOST_THOUGHT_TOKENS:,}, got {count!r}"
                )
        return cls(frozenset(name for name, _ in stated), max((int(count) for _, count in stated if count), default=0))

    def handle(self, body: bytes | None, answer: Callable[[bytes | None], HttpReply]) -> HttpReply:
        """Return the answer of a forecaster with these manners; `answer` answers a body without streaming."""
        if body is None or self == PLAIN:
            return answer(body)
        # A body without an object is refused by the host itself.
        request = next(json_objects([body]), {})
        reply = answer(json_bytes({**request, "stream": False}) if request and "stream_only" in self.names else body)
        if reply.status != HTTPStatus.OK:
            return reply
        if (refused := self.refusal(request)) is None:
            return self.reply(json.loads(reply.body), request)
        status, message = refused
        error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
        return json_reply({"error": error}, status=status)

    def refusal(self, request: Mapping[str, Any]) -> tuple[int, str] | None:
        """Return the status and the message of a refusal, or None."""
        broken = {
            "stream_only": (400, "This model only support stream mode, please enable the stream parameter.")
            if not request.get("stream")
            else None,
            "thinking_refuses_forced_tools": (400, "Thinking mode does not support this tool_choice")
            if forces_a_tool(request)
            else None,
            "wants_state_back": (400, "The `reasoning_content` in the thinking mode must be passed back to the API.")
            if find_calls_without(request, "reasoning_content", THOUGHT)
            else None,
            "strict_roles": (500, "Conversation roles must alternate user/assistant/user/assistant/...")
            if speaks_twice(request) or speaks_after_tool(request)
            else None,
        }
        return next((words for name, words in broken.items() if words and name in self.names), None)

    def reply(self, completion: dict[str, Any], request: Mapping[str, Any]) -> HttpReply:
        """Return a completion as a forecaster of these manners writes it."""
        (choice,) = completion["choices"]
        message = choice["message"]
        if "text_calls" in self.names and message.get("tool_calls"):
            choice["finish_reason"] = "stop"
            message["content"] = call_as_text(message.pop("tool_calls")[0]["function"], message["content"])
        if "think_tags" in self.names:
            message["content"] = f"<think>\n{THOUGHT}\n</think>\n\n{message['content'] or ''}"
        if "wants_state_back" in self.names or self.thought_tokens:
            message["reasoning_content"] = THOUGHT
        self._think(choice, completion["usage"], request)
        return stream_completion(completion) if "stream_only" in self.names else json_reply(completion)

    def _think(self, choice: dict[str, Any], usage: dict[str, Any], request: Mapping[str, Any]) -> None:
        """Count the tokens of thoughts, and cut off an answer that has no room behind them."""
        if not self.thought_tokens:
            return
        written = self.thought_tokens + usage["completion_tokens"]
        most = min(most for name in ("max_tokens", "max_completion_tokens") if (most := request.get(name, written)))
        if written > most:
            choice["finish_reason"] = "length"
            choice["message"] = {"role": "assistant", "content": "", "reasoning_content": THOUGHT}
        usage["completion_tokens"] = min(written, most)
        usage["completion_tokens_details"] = {"reasoning_tokens": min(self.thought_tokens, most)}
        usage["total_tokens"] = usage["prompt_tokens"] + usage["completion_tokens"]


PLAIN = ModelManners()


def forces_a_tool(request: Mapping[str, Any]) -> bool:
    """Return whether a request forces a call."""
    choice = request.get("tool_choice")
    return isinstance(choice, dict) or choice in ("required", "any")


def find_calls_without(request: Mapping[str, Any], field: str, value: object) -> list[int]:
    """Return which messages call tools and lack the value in a field that was sent with them."""
    calling = (place for place, each in enumerate(request["messages"]) if each.get("tool_calls"))
    return [place for place in calling if request["messages"][place].get(field) != value]


def speaks_twice(request: Mapping[str, Any]) -> bool:
    """Return whether two messages in a row have one role, other than "tool"."""
    return any(one == other != "tool" for one, other in pairwise(_roles(request)))


def speaks_after_tool(request: Mapping[str, Any]) -> bool:
    """Return whether a user speaks right after a tool."""
    return ("tool", "user") in pairwise(_roles(request))


def call_as_text(function: Mapping[str, Any], said: object) -> str:
    """Return a call in Hermes' notation, behind the message's text as a thought."""
    call = json.dumps({"name": function["name"], "arguments": json.loads(function["arguments"])})
    thoughts = f"<think>\n{said}\n</think>\n" if said else ""
    return f"{thoughts}<tool_call>\n{call}\n</tool_call>"


def stream_completion(completion: Mapping[str, Any]) -> HttpReply:
    """Return a completion as server-sent events: each text and each call in two halves, then usage."""
    (choice,) = completion["choices"]
    head = {name: completion[name] for name in ("id", "created", "model") if name in completion}
    chunk = {**head, "object": "chat.completion.chunk"}
    pieces = [*_delta_pieces(choice["message"]), {}]
    reasons = [None] * (len(pieces) - 1) + [choice["finish_reason"]]
    events = [
        {**chunk, "choices": [{"index": 0, "delta": piece, "finish_reason": reason}]}
        for piece, reason in zip(pieces, reasons, strict=True)
    ]
    events.append({**chunk, "choices": [], "usage": completion.get("usage")})
    lines = [b": keep-alive\n\n", *(b"data: " + json_bytes(event) + b"\n\n" for event in events), b"data: [DONE]\n\n"]
    return HttpReply(200, b"".join(lines), _STREAM_TYPE)


def _delta_pieces(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None}
    for name in ("reasoning_content", "content", "refusal"):
        text = message.get(name) or ""
        yield from ({name: half} for half in (text[: len(text) // 2], text[len(text) // 2 :]) if half)
    for place, call in enumerate(message.get("tool_calls") or ()):
        text = call["function"]["arguments"]
        yield {"tool_calls": [{**call, "index": place, "function": {**call["function"], "arguments": text[:5]}}]}
        yield {"tool_calls": [{"index": place, "function": {"arguments": text[5:]}}]}


def _roles(request: Mapping[str, Any]) -> list[object]:
    return [each.get("role") for each in request["messages"]]
