"""Calls of tools that a model writes as text, in the notation it was trained on, where its server does not read them.

Source: the chat templates of Hermes and Qwen, Llama 3.1 and 3.2, Mistral, and gpt-oss ("harmony"), as the tool
parsers of vLLM read them. Differs from those: only a turn that is one call and nothing else is read as one.
"""

import json
import re
from collections.abc import Collection, Mapping

from predibot.domain.chat import ToolCall

ARGUMENTS = frozenset({"arguments", "parameters"})
"""The fields of an object that is a call, one of which holds the arguments."""
_NAMED = re.compile(
    r"<tool_call>\s*(\{.*\})\s*(?:</tool_call>)?"  # Hermes, Qwen; the last mark may be where a server stops
    r"|(?:<\|python_tag\|>)?\s*(\{.*\})"  # Llama
    r"|```(?:json|JSON)?\s*(\{.*\})\s*```"  # the same in a fence
    r"|\[TOOL_CALLS\]\s*\[\s*(\{.*\})\s*\]",  # Mistral, first form
    re.DOTALL,
)
"""An object with the name and the arguments."""
_APART = re.compile(
    r"<function=(?P<llama>[\w.-]+)>\s*(?P<llama_arguments>\{.*\})\s*</function>"
    r"|\[TOOL_CALLS\]\s*(?P<mistral>[\w.-]+?)(?:\[CALL_ID\]\w+)?(?:\[ARGS\])?\s*(?P<mistral_arguments>\{.*\})"
    r"|(?:<\|start\|>assistant)?\s*(?:<\|channel\|>\s*commentary)?\s*to=functions\.(?P<oss>[\w.-]+)"
    r"\s*(?:<\|channel\|>\s*commentary)?\s*(?:<\|constrain\|>)?\s*(?:json)?\s*<\|message\|>"
    r"(?P<oss_arguments>\{.*\})",
    re.DOTALL,
)
"""The name before the arguments."""
_ENDS = ("<|im_end|>", "<|eom_id|>", "<|eot_id|>", "<|call|>", "<|end|>", "</s>")
"""Marks of a chat template behind a turn, of which servers leave one in."""


def read_call(text: str, offered: Collection[str]) -> ToolCall | None:
    """Return the call of an offered tool that a text is as a whole, or None.

    Args:
        text: Of a turn, without its thoughts.
        offered: The names of the tools that may be called.

    Examples:
        >>> read_call('[TOOL_CALLS]web_search[ARGS]{"query": "rain"}', ["web_search"])
        ToolCall(id='', name='web_search', arguments_json='{"query": "rain"}')
        >>> read_call('I would call [TOOL_CALLS]web_search[ARGS]{"query": "rain"}', ["web_search"]) is None
        True
    """
    bare = text.strip()
    for end in _ENDS:
        bare = bare.removesuffix(end).rstrip()
    if found := _APART.fullmatch(bare):
        name, arguments = (each for each in found.groups() if each is not None)
    elif found := _NAMED.fullmatch(bare):
        call = _decoded(next(each for each in found.groups() if each is not None))
        given = set(call) & ARGUMENTS
        if len(given) != 1 or not set(call) <= {"name", "type", "id", *given}:
            return None
        name, said = call.get("name"), call[given.pop()]
        arguments = said if isinstance(said, str) else json.dumps(said)
    else:
        return None
    # Of two calls the text between the first brace and the last is no JSON.
    is_one = _decoded(arguments) or arguments.strip() == "{}"
    return ToolCall("", name, arguments) if name in offered and is_one else None


def _decoded(text: str) -> Mapping[str, object]:
    """Return what a text says that is one JSON object, else an empty one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
