"""The steps of a trace on a page: only those shown are read, and of each so much that the page stays small."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import escape

from predibot.errors import PredibotError
from predibot.ledger.files.trace_lines import TraceLines
from predibot.web.rendering import line, lines
from predibot.web.shelf import Shelf

_PAGE_BYTES = 120_000
"""Of all steps of a page, as HTML."""
_FIELD_BYTES = 4_000
"""Of a field among many steps."""
_MOST_LINE_BYTES = 4_000_000
"""Of a step that is parsed; a text of one has 200,000 characters at most."""
_MOST_FIELDS = 40


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step as a page shows it."""

    number: int
    """From 1."""
    kind: str
    fields: tuple[tuple[str, str], ...]
    """What each is called, and its text, which may be cut."""
    is_cut: bool
    """Whether more is known of it than is shown."""


def shown_steps(shelf: Shelf, digest: str | None, step: int, find: str, only: int) -> dict[str, Any]:
    """Return what a page shows of a trace.

    Args:
        shelf: The ledger.
        digest: Of the trace; None where there is none.
        step: How many steps are passed over.
        find: Only steps with this text; empty for all.
        only: The number of a step that is shown alone, and longer; 0 for none.
    """
    step = max(0, step)
    shown: dict[str, Any] = {
        "first": step,
        "steps": (),
        "steps_a_page": shelf.steps_a_page,
        "all_steps": 0,
        "missing": "",
    }
    shown |= {"find": find, "only": only, "in_trace": 0}
    if digest is None:
        return shown
    try:
        trace = shelf.trace_lines(digest)
        found = range(len(trace)) if not find else shelf.found_in_trace(trace, find)
        numbers = found[step : step + shelf.steps_a_page]
        if only:
            numbers = range(only - 1, only) if 0 < only <= len(trace) else range(0)
        steps = tuple(_steps(trace, numbers))
    except PredibotError as error:
        # What is in the ledger is shown all the same.
        return {**shown, "missing": str(error)}
    return {**shown, "steps": steps, "all_steps": 1 if only else len(found), "in_trace": len(trace)}


def _steps(trace: TraceLines, numbers: Any) -> Iterator[ShownStep]:
    each_bytes = _PAGE_BYTES // max(1, len(numbers))
    field_bytes = _FIELD_BYTES if len(numbers) > 1 else _PAGE_BYTES
    read = trace.read(numbers, _MOST_LINE_BYTES)
    for number, (length, text) in zip(numbers, read, strict=False):
        row = _row(text, length)
        left, fields = each_bytes, list[tuple[str, str]]()
        is_cut = len(row) > _MOST_FIELDS or length > _MOST_LINE_BYTES
        for name, value in list(row.items())[:_MOST_FIELDS]:
            cut = _cut(_text(value), min(field_bytes, left))
            named = _cut(line(name), 200)
            left -= _bytes_of(cut) + _bytes_of(named)
            is_cut |= cut.endswith("more characters)")
            if left <= 0:
                is_cut = True
                break
            fields.append((named, cut))
        kind = row.get("kind")
        yield ShownStep(number + 1, kind if isinstance(kind, str) else "step", tuple(fields), is_cut)


def _row(text: bytes, length: int) -> Mapping[str, Any]:
    """Return a line as an object; what is none, or is too long to be parsed, as it stands."""
    if len(text) == length:
        try:
            row = json.loads(text)
            if isinstance(row, dict):
                return row
        except (ValueError, RecursionError):
            pass
    return {"kind": "no step that predibot wrote", "text": text.decode("utf-8", "replace")}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=1)
    except RecursionError:
        return "nested too deep to be shown"


def _bytes_of(text: str) -> int:
    return len(str(escape(text)).encode("utf-8", "replace"))


def _cut(text: str, most_bytes: int) -> str:
    """Return the beginning of a text, as it can only be read, that takes so much in a page, or a little more."""
    whole = len(text)
    kept = min(whole, max(0, most_bytes))
    while (taken := _bytes_of(shown := lines(text[:kept]))) > most_bytes and kept > 0:
        kept = min(kept - 1, kept * most_bytes // taken)
    return shown if kept == whole else f"{shown}… ({whole - kept:,} more characters)"
