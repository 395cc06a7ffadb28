"""Settings that a model's provider refused by name, so that it is asked again without them and the answer says so."""

import json
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from predibot.domain.chat import SETTINGS, ChatRequest

REFUSING = frozenset({400, 422})
"""How providers answer a parameter that they do not take."""


class RefusedSettings:
    """What one model was found not to take; thread-safe."""

    def __init__(self, *known: str) -> None:
        """Know those that its dialect has no words for."""
        self._names = frozenset(known)

    def without(self, request: ChatRequest) -> tuple[ChatRequest, tuple[str, ...]]:
        """Return a request as the model takes it, and the names of what is left out of it."""
        refused = tuple(name for name in settings_of(request) if name in self._names)
        left_out: dict[str, Any] = dict.fromkeys(refused)
        return replace(request, **left_out), refused

    def learn(self, said: str, request: ChatRequest) -> bool:
        """Note the first setting of a request that an error names; return whether there is one."""
        name = named_in(said, settings_of(request))
        if name is not None:
            self._names |= {name}
        return name is not None


def settings_of(request: ChatRequest) -> tuple[str, ...]:
    """Return the names of the settings that a request has."""
    return tuple(name for name in SETTINGS if getattr(request, name) is not None)


def named_in(said: str, parameters: Iterable[str]) -> str | None:
    """Return the one of some parameters that a text names first, None where it names none.

    Examples:
        >>> named_in("Unsupported value: 'reasoning.effort' of a seeded model", ["seed", "reasoning_effort"])
        'reasoning_effort'
    """
    found = {name: re.search(rf"(?<!\w){name.replace('_', '[._]')}(?!\w)", said) for name in parameters}
    places = {name: match.start() for name, match in found.items() if match is not None}
    return min(places, key=places.__getitem__, default=None)


def error_words(text: str) -> str:
    """Return what names the parameter in an error that is JSON, as OpenAI, vLLM and Mistral word it; else nothing."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    error = value.get("error")
    error = error if isinstance(error, dict) else value
    return next((str(error[key]) for key in ("param", "message", "detail") if error.get(key)), "")
