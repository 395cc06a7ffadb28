"""Traces: every message and tool call of an agent, one JSONL file a decision, found by its hash."""

import json
import re
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from predibot.contracts import TraceWriter
from predibot.domain.secret_values import MASK, SecretValues
from predibot.domain.trace import MAX_DEPTH, MAX_TEXT_CHARACTERS, OwnStep, Step, StoredTrace, row_of
from predibot.domain.untrusted_text import has_too_many_values
from predibot.errors import UsageError
from predibot.ledger.files.content_store import ContentStore
from predibot.ledger.store import Store

_SECRET_NAME = re.compile("authorization|api_key|apikey|api-key|cookie|password|secret")
_SHORTEST_SECRET = 4
"""In characters. Traces are shared more readily than messages, so shorter values are hidden too."""
_DEEPER = "…"


class Trace:
    """The steps of one decision so far; thread-safe, in memory until it is whole."""

    def __init__(self, secrets: Collection[str] = (), *, untrusted_mark: str = "") -> None:
        """Begin a trace that hides these values; its first step keeps the mark of untrusted text for a rerun."""
        self._untrusted_mark = untrusted_mark
        self._secrets = SecretValues(secrets, shortest=_SHORTEST_SECRET)
        self._steps: list[Step] = []
        self._lines: list[str] = []
        self._lock = threading.Lock()
        self.listener: Callable[[int, Step], None] | None = None
        """Called with the number of every new step, and the step."""

    def write(self, step: Step) -> None:
        """Add a step; hide secret values, and fields with the name of a secret."""
        with self._lock:
            cleaned: Step = self._clean("", step, MAX_DEPTH - 1)
            number = len(self._steps) + 1
            row = row_of(cleaned, number, self._untrusted_mark if number == 1 else "")
            self._lines.append(json.dumps(row, ensure_ascii=False, default=str))
            self._steps.append(cleaned)
        if self.listener is not None:
            self.listener(number, cleaned)

    def record(self, kind: str, **fields: object) -> None:
        """Add a step of a strategy's own."""
        self.write(OwnStep(kind, fields))

    def without_secrets(self, text: str) -> str:
        """Return a text with secret values hidden."""
        return self._secrets.mask(text)

    @property
    def text(self) -> str:
        """Return the trace as JSON lines."""
        with self._lock:
            return "".join(f"{line}\n" for line in self._lines)

    @property
    def steps(self) -> tuple[Step, ...]:
        """Return the steps so far."""
        with self._lock:
            return tuple(self._steps)

    def _clean(self, name: str, value: Any, depth: int) -> Any:
        if name and _SECRET_NAME.search(name.casefold()):
            return MASK
        if isinstance(value, str):
            text = self.without_secrets(value)
            is_long = len(text) > MAX_TEXT_CHARACTERS
            return f"{text[:MAX_TEXT_CHARACTERS]} … ({len(text):,} characters)" if is_long else text
        if value is None or isinstance(value, int | float):
            return value
        if is_dataclass(value) and not isinstance(value, type):
            held = {each.name: getattr(value, each.name) for each in fields(value)}
            return replace(value, **{name: self._clean(name, held[name], depth) for name in held})
        if isinstance(value, Mapping | list | tuple) and depth <= 0:
            return _DEEPER
        if isinstance(value, Mapping):
            return {
                self.without_secrets(str(key)): self._clean(str(key), each, depth - 1) for key, each in value.items()
            }
        if isinstance(value, list | tuple):
            return tuple(self._clean("", each, depth - 1) for each in value)
        # What is no JSON is written as text.
        return self.without_secrets(str(value))


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces of a ledger."""

    store: Store

    def keep(self, trace: TraceWriter) -> str:
        """Write a trace, and return the hash of its content."""
        # Half a surrogate pair is no UTF-8; escaped it is JSON that reads the same.
        return self.files.keep(trace.text.encode("utf-8", "backslashreplace"))

    def read(self, digest: str) -> StoredTrace:
        """Return a trace, which may hold anything; raise `UsageError` if it is missing, altered or without steps."""
        data = self.files.read(digest)
        try:
            if has_too_many_values(data):
                raise ValueError("more values than are read")
            # Unicode's other line ends may stand within a text.
            return StoredTrace.of([json.loads(line) for line in data.decode().split("\n")[:-1]])
        except (ValueError, RecursionError) as error:
            raise UsageError(
                f"the trace {digest} holds other things than steps ({str(error)[:100]}); predibot did not write it"
            ) from None

    @property
    def files(self) -> ContentStore:
        """Return the content store of traces."""
        return ContentStore(self.store, "traces", ".jsonl", "trace")
