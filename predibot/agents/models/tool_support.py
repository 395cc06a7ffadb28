"""A probe that finds out once whether a model calls tools."""

import json
import re
import threading
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

from predibot.agents.answer.calls import read_call
from predibot.agents.answer.reader import answer_text
from predibot.agents.answer.spoken import remove_thoughts
from predibot.agents.models.manners import TOOL_CHOICE
from predibot.contracts import ChatModel
from predibot.domain.chat import ChatReply, ChatRequest, Message, ToolCall, ToolSchema, object_schema
from predibot.errors import AnswerError, ModelRefused
from predibot.games.answers import decoder
from predibot.net.failures import one_line

PROBE_SECONDS = 120.0
_PING = ToolSchema("ping", "Say that you are there.", object_schema(["word"], word={"type": "string"}))
_MESSAGES = (Message("user", "Call the tool ping with the word pong."),)
# Room for a model that thinks before it calls.
_MAX_TOKENS = 2_048
_NO_TOOLS = re.compile(
    r"(?:not|n't) (?:yet )?support (?:\w+ )?(?:tool|function)|support tool use|"
    r"(?:tools?|functions?)(?: (?:use|calls?|calling))?['\"`]? (?:is|are) not (?:supported|available)|"
    r"UnsupportedParamsError.*\btools\b",
    re.IGNORECASE,
)
"""The messages of Ollama (400), OpenRouter (404) and litellm itself; other refusals are not about tools."""


@dataclass(eq=False)
class ToolProbe:
    """Asks each model once, with a tiny call, and remembers the answer; thread-safe."""

    _known: WeakKeyDictionary[ChatModel, str] = field(default_factory=WeakKeyDictionary, init=False)
    _asking: WeakKeyDictionary[ChatModel, threading.Lock] = field(default_factory=WeakKeyDictionary, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)

    def why_no_tools(self, model: ChatModel, *, ask: ChatModel | None = None) -> str:
        """Return in the provider's words that a model calls no tools; empty if it does, or may.

        The model is first asked to call a tool, then forced by name, and then by `required`, because llama.cpp ignores
        a name (ggml-org/llama.cpp#26535). Only text in all three answers means no; a refusal to be forced does not.
        `ask` is called in place of `model`, such as the same model within a budget. Other errors of the call are
        raised, and nothing is remembered.
        """
        with self._lock:
            asking = self._asking.setdefault(model, threading.Lock())
        with asking:
            known = self._known.get(model)
            if known is None:
                known = self._known[model] = _probe(ask or model)
            return known


def _probe(model: ChatModel) -> str:
    text = ""
    # After an ignored name, the second forced call is made by `required`.
    for forced in (None, _PING.name, _PING.name):
        request = ChatRequest(_MESSAGES, (_PING,), forced, max_output_tokens=_MAX_TOKENS)
        try:
            reply = model.chat(request, deadline_seconds=PROBE_SECONDS)
        except ModelRefused as error:
            if _NO_TOOLS.search(str(error)):
                return str(error)
            raise
        # If the reply is cut off or refused, so will be the next, and the decision then ends with its own message.
        if calls_ping(reply) or reply.finish_reason in ("length", "refusal") or TOOL_CHOICE in reply.refused_settings:
            return ""
        called = "".join(f"{call.name}({call.arguments_json})" for call in reply.message.tool_calls)
        text = one_line(reply.message.text or reply.refusal or called) or "nothing"
    return f"{model.name} calls no tools, it answered {text!r} to a forced call"


def calls_ping(reply: ChatReply) -> bool:
    """Return whether a reply has the requested call, maybe in words, with arguments that can be decoded."""
    calls: tuple[ToolCall | None, ...] = reply.message.tool_calls
    try:
        if not calls:
            calls = (read_call(remove_thoughts(answer_text(reply), decoder(())).text, (_PING,)),)
        return any(isinstance(json.loads(call.arguments_json), dict) for call in calls if call and call.name == "ping")
    except (AnswerError, ValueError):
        return False
