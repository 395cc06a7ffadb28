"""Providers on loopback that speak a dialect of their own, which litellm writes and reads, and refuse as documented.

Anthropic's messages, Google's generateContent, OpenAI's responses and Ollama's chat.
"""

import json
from collections.abc import Mapping
from typing import Any

from predibot.sandbox.server.hosts.manners import THOUGHT
from tests.agents.chat_server import Asked, Said, said_json
from tests.agents.providers.dialects import SIGNATURE, Body, Exchange, Provider, turn
from tests.agents.scripted import answer


class Native(Provider):
    """Plays a dialect of its own; thread-safe."""

    def next(self, asked: Asked) -> Said:
        with self.lock:
            said = self.refusal(asked.body) or said_json(self.reply(asked.body))
            self.exchanges.append(Exchange(asked.body, said.status))
            return said

    def refusal(self, body: Body) -> Said | None:
        raise NotImplementedError

    def reply(self, body: Body) -> Body:
        raise NotImplementedError


class Anthropic(Native):
    """docs.claude.com, extended thinking: no forced tool, blocks come back whole, a budget below `max_tokens`."""

    def refusal(self, body: Body) -> Said | None:
        is_on = _thinks(body)
        if is_on and (body.get("tool_choice") or {}).get("type") in ("tool", "any"):
            return _anthropic("Thinking may not be enabled when tool_choice forces tool use.")
        if (body.get("thinking") or {}).get("budget_tokens", 0) >= body["max_tokens"]:
            return _anthropic("`max_tokens` must be greater than `thinking.budget_tokens`.")
        for place, message in enumerate(body["messages"]):
            blocks = message["content"] if isinstance(message["content"], list) else []
            if is_on and message["role"] == "assistant" and any(each["type"] == "tool_use" for each in blocks):
                if blocks[0]["type"] != "thinking":
                    return _anthropic(
                        f"messages.{place}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
                        f"`{blocks[0]['type']}`. When `thinking` is enabled, a final `assistant` message must start "
                        "with a thinking block."
                    )
                if (blocks[0]["thinking"], blocks[0]["signature"]) != (THOUGHT, SIGNATURE):
                    return _anthropic(f"messages.{place}.content.0: Invalid `signature` in `thinking` block")
        return None

    def reply(self, body: Body) -> Body:
        results = json.dumps(body["messages"]).count('"tool_result"')
        call = turn([each["name"] for each in body.get("tools", ())], results)
        thought = {"type": "thinking", "thinking": THOUGHT, "signature": SIGNATURE}
        said: Body = {"type": "text", "text": json.dumps(answer())}
        if call is not None:
            said = {"type": "tool_use", "id": f"toolu_{results}", "name": call[0], "input": call[1]}
        return {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [thought, said]
            if (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")
            else [said],
            "stop_reason": "tool_use" if call else "end_turn",
            "stop_sequence": None,
            "usage": {"output_tokens": 200, **_sent(body, is_first=results == 0)},
        }


def _sent(body: Body, *, is_first: bool) -> Body:
    """Return what was read anew, kept for later, and read from what was kept: the task, where it is marked."""
    task = body["messages"][0]["content"]
    if not any(each.get("cache_control") == {"type": "ephemeral"} for each in task):
        return {"input_tokens": 900}
    return {"input_tokens": 200, "cache_creation_input_tokens" if is_first else "cache_read_input_tokens": 700}


def _thinks(body: Body) -> bool:
    return (body.get("thinking") or {}).get("type") in ("enabled", "adaptive")


def _anthropic(message: str) -> Said:
    return said_json({"type": "error", "error": {"type": "invalid_request_error", "message": message}}, 400)


class Gemini(Native):
    """ai.google.dev, thought signatures: the first call of a step carries the one it came with."""

    def refusal(self, body: Body) -> Said | None:
        for place, content in enumerate(body["contents"]):
            calls = [part for part in content["parts"] if _either(part, "function_call", "functionCall") is not None]
            if calls and _either(calls[0], "thought_signature", "thoughtSignature") != SIGNATURE:
                words = f"Function call is missing a thought_signature in functionCall parts, position {place}."
                return said_json({"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}, 400)
        return None

    def reply(self, body: Body) -> Body:
        tools = [
            each["name"]
            for tool in body.get("tools", ())
            for each in _either(tool, "function_declarations", "functionDeclarations") or ()
        ]
        parts = [part for content in body["contents"] for part in content["parts"]]
        results = sum(_either(part, "function_response", "functionResponse") is not None for part in parts)
        call = turn(tools, results)
        part: Body = {"text": json.dumps(answer())}
        if call is not None:
            part = {"functionCall": {"name": call[0], "args": call[1]}, "thoughtSignature": SIGNATURE}
        counts = {
            "promptTokenCount": 900,
            "candidatesTokenCount": 150,
            "thoughtsTokenCount": 50,
            "totalTokenCount": 1100,
        }
        candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
        return {"candidates": [candidate], "usageMetadata": counts, "modelVersion": "gemini-3-pro"}


def _either(part: Mapping[str, Any], name: str, other: str) -> Any:
    return part.get(name, part.get(other))


class Responses(Native):
    """platform.openai.com, responses: each call with its result, and one that is named with its reasoning before it."""

    def refusal(self, body: Body) -> Said | None:
        before: Body = {}
        told = {each.get("call_id") for each in body["input"] if each.get("type") == "function_call_output"}
        for item in body["input"]:
            if item.get("type") == "function_call":
                if item["call_id"] not in told:
                    return _openai(f"No tool output found for function call {item['call_id']}.")
                if str(item.get("id", "")).startswith("fc_") and before.get("type") != "reasoning":
                    words = f"Item '{item['id']}' of type 'function_call' lacks its required 'reasoning' item"
                    return _openai(words)
            before = item
        choice = body.get("tool_choice")
        if isinstance(choice, dict) and "name" not in choice:
            return _openai("Missing required parameter: 'tool_choice.name'.")
        return _openai("Unsupported parameter: 'max_tokens'") if "max_tokens" in body else None

    def reply(self, body: Body) -> Body:
        results = sum(each.get("type") == "function_call_output" for each in body["input"])
        call = turn([each["name"] for each in body.get("tools") or ()], results)
        text = {"type": "output_text", "text": json.dumps(answer()), "annotations": []}
        item: Body = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
        if call is not None:
            item = {"type": "function_call", "id": f"fc_{results}", "call_id": f"call_{results}", "status": "completed"}
            item |= {"name": call[0], "arguments": json.dumps(call[1])}
        details = {"output_tokens_details": {"reasoning_tokens": 100}, "input_tokens_details": {"cached_tokens": 0}}
        return {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": body["model"],
            "output": [{"type": "reasoning", "id": f"rs_{results}", "summary": []}, item],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {},
            "temperature": 1.0,
            "top_p": 1.0,
            "usage": {"input_tokens": 900, "output_tokens": 200, "total_tokens": 1100, **details},
        }


def _openai(message: str) -> Said:
    return said_json({"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}, 400)


class Ollama(Native):
    """docs.ollama.com, chat: a choice of tool is passed over, arguments are objects, thoughts stand apart."""

    def refusal(self, body: Body) -> Said | None:
        calls = [call for each in body["messages"] for call in each.get("tool_calls") or ()]
        is_text = any(isinstance(call["function"]["arguments"], str) for call in calls)
        words = "json: cannot unmarshal string into Go struct field .messages.tool_calls.function.arguments of type map"
        return said_json({"error": words}, 400) if is_text else None

    def reply(self, body: Body) -> Body:
        results = sum(each["role"] == "tool" for each in body["messages"])
        call = turn([each["function"]["name"] for each in body.get("tools") or ()], results)
        message: Body = {"role": "assistant", "content": "" if call else json.dumps(answer()), "thinking": THOUGHT}
        if call is not None:
            message["tool_calls"] = [{"function": {"name": call[0], "arguments": call[1]}}]
        counts = {"prompt_eval_count": 900, "eval_count": 200, "total_duration": 1}
        return {
            "model": body["model"],
            "created_at": "2026-01-05T12:00:00Z",
            "message": message,
            "done": True,
            **counts,
        }
