"""Evaluations as text, to be kept and read again: whatever objects of scoring they are made of."""

import json
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any

import numpy as np

from predibot.scoring.evaluation.evaluation import Evaluation

_KIND = "kind"
_OURS = "predibot.scoring."
_ARRAYS = tuple(np.dtype(each).str for each in (np.float64, np.int64, np.int8, np.bool_))


def evaluation_to_text(evaluation: Evaluation) -> str:
    """Return an evaluation as JSON; numbers come back to the last digit, NaN too."""
    return json.dumps(plain(evaluation))


def evaluation_from_text(text: str) -> Evaluation:
    """Return the evaluation that was written; only objects of scoring are made, each of which checks itself.

    Raises:
        ValueError: If it is something else.
    """
    try:
        found = _object(json.loads(text))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"this is no evaluation: {error}") from error
    if not isinstance(found, Evaluation):
        raise ValueError(f"this is a {type(found).__name__}, not an evaluation")
    return found


def plain(value: object) -> Any:
    """Return what JSON can hold of an object of scoring, with the kind of everything that JSON does not know."""
    if is_dataclass(value):
        held = {each.name: plain(getattr(value, each.name)) for each in fields(value)}
        return {_KIND: f"{type(value).__module__}:{type(value).__qualname__}", **held}
    if isinstance(value, Mapping):
        return {_KIND: "mapping", "items": [[plain(key), plain(each)] for key, each in value.items()]}
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    if isinstance(value, np.ndarray):
        return {_KIND: "array", "type": value.dtype.str, "values": value.tolist()}
    if isinstance(value, datetime):
        return {_KIND: "instant", "at": value.isoformat()}
    return value.item() if isinstance(value, np.generic) else value


def _object(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_object(each) for each in value)
    if not isinstance(value, dict):
        return value
    held = {name: each for name, each in value.items() if name != _KIND}
    match value[_KIND]:
        case "mapping":
            return {_object(key): _object(each) for key, each in held["items"]}
        case "array":
            if held["type"] not in _ARRAYS:
                raise ValueError(f"{str(held['type'])[:40]!r} is no type of numbers that evaluations have")
            return np.array(held["values"], dtype=held["type"])
        case "instant":
            return datetime.fromisoformat(held["at"])
        case kind:
            return _class(kind)(**{name: _object(each) for name, each in held.items()})


def _class(kind: str) -> Any:
    module, _, name = kind.partition(":")
    found = getattr(sys.modules.get(module), name, None) if module.startswith(_OURS) else None
    if not (isinstance(found, type) and is_dataclass(found)):
        raise ValueError(f"{kind} is no kind of object that evaluations are made of")
    return found
