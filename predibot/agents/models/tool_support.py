"""Finding out once whether a model calls tools."""

import json
import threading
from weakref import WeakKeyDictionary

from predibot.agents.models.failures import RequestRefused
from predibot.contracts import ChatModel
from predibot.domain.chat import ChatRequest, Message, ToolCall, ToolSchema

PROBE_SECONDS = 120.0
_PING = ToolSchema(
    "ping",
    "Say that you are there.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
# Room for a model that thinks before it calls.
_REQUEST = ChatRequest(
    (Message("user", "Call the tool ping with the word pong."),), (_PING,), _PING.name, max_output_tokens=2_048
)
_CANNOT = frozenset({400, 404, 405, 422, 501})
"""How providers refuse tools; OpenRouter says 404, Ollama 400."""


class ToolProbe:
    """Asks each model once, with a tiny forced call, and remembers; thread-safe."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._known: WeakKeyDictionary[ChatModel, bool] = WeakKeyDictionary()
        self._asking: WeakKeyDictionary[ChatModel, threading.Lock] = WeakKeyDictionary()
        self._lock = threading.Lock()

    def supports_tools(
        self, model: ChatModel, *, ask: ChatModel | None = None, deadline_seconds: float = PROBE_SECONDS
    ) -> bool:
        """Return whether a model calls a tool that it is forced to call.

        Args:
            model: What is remembered by.
            ask: What is asked instead, such as the same model within a budget.
            deadline_seconds: For the asking.

        Raises:
            ModelUnavailable: If it did not answer; nothing is remembered.
            ModelRefused: If the key is wrong, or the like.
            BudgetSpent: If asking does not fit the budget.
        """
        with self._lock:
            asking = self._asking.setdefault(model, threading.Lock())
        with asking:
            known = self._known.get(model)
            if known is None:
                known = _asked(ask or model, deadline_seconds)
                self._known[model] = known
            return known


def _asked(model: ChatModel, deadline_seconds: float) -> bool:
    """Return what a model makes of a forced call."""
    try:
        reply = model.chat(_REQUEST, deadline_seconds=deadline_seconds)
    except RequestRefused as error:
        if error.status in _CANNOT:
            return False
        raise
    return any(map(_is_ping, reply.message.tool_calls))


def _is_ping(call: ToolCall) -> bool:
    """Return whether a call is the one that was asked for, with arguments that can be read."""
    try:
        return call.name == _PING.name and isinstance(json.loads(call.arguments_json), dict)
    except ValueError:
        return False
