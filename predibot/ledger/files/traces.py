"""Traces: everything an agent said, called and was told, one JSONL file a decision, found by its content's hash."""

import json
import math
import threading
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from predibot.contracts import TraceWriter
from predibot.domain.secret_values import MASK, SecretValues
from predibot.errors import UsageError
from predibot.ledger.files.content_store import ContentStore
from predibot.ledger.store import Store

MAX_FIELD_CHARACTERS = 200_000
_SECRET_NAMES = ("authorization", "api_key", "apikey", "api-key", "cookie", "password", "secret")
_SHORTEST_SECRET = 4
"""In characters; a trace is shared more readily than a message, so shorter values are hidden in it too."""


class Trace:
    """What is written down while one decision is made; thread-safe, kept in memory until it is whole."""

    def __init__(self, secrets: Collection[str] = (), *, untrusted_mark: str = "") -> None:
        """Begin a trace in which none of these values may appear.

        Args:
            secrets: API keys.
            untrusted_mark: Of the fence around untrusted text; the first step keeps it, so that a rerun finds it.
        """
        self._untrusted_mark = untrusted_mark
        self._secrets = SecretValues(secrets, shortest=_SHORTEST_SECRET)
        self._steps: list[str] = []
        self._lock = threading.Lock()
        self.listener: Callable[[Mapping[str, Any]], None] | None = None
        """Is told of every step as it is written down."""

    def record(self, kind: str, **fields: object) -> None:
        """Write one step down; values of secrets, and of fields that are named like one, are hidden."""
        with self._lock:
            row = {
                "step": len(self._steps) + 1,
                "kind": kind,
                **({"untrusted_mark": self._untrusted_mark} if self._untrusted_mark and not self._steps else {}),
                **{name: self._clean(name, fields[name]) for name in fields},
            }
            self._steps.append(json.dumps(row, ensure_ascii=False, default=str))
        if self.listener is not None:
            self.listener(row)

    def without_secrets(self, text: str) -> str:
        """Return a text in which the values of secrets are hidden."""
        return self._secrets.hidden(text)

    @property
    def text(self) -> str:
        """Return the trace as JSON lines."""
        with self._lock:
            return "".join(f"{step}\n" for step in self._steps)

    @property
    def steps(self) -> list[dict[str, Any]]:
        """Return the steps as they are written down."""
        with self._lock:
            return [json.loads(step) for step in self._steps]

    def _clean(self, name: str, value: object) -> object:
        if any(word in name.casefold() for word in _SECRET_NAMES):
            return MASK
        if isinstance(value, str):
            return _shortened(self.without_secrets(value))
        if isinstance(value, Mapping):
            return {self.without_secrets(str(key)): self._clean(str(key), each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean("", each) for each in value]
        # What is no JSON is written down as its text.
        return value if isinstance(value, int | float | None) else self.without_secrets(str(value))


def _shortened(text: str) -> str:
    if len(text) > MAX_FIELD_CHARACTERS:
        return f"{text[:MAX_FIELD_CHARACTERS]} … ({len(text):,} characters)"
    return text


def cost_of_steps(steps: Iterable[Mapping[str, Any]]) -> tuple[float | None, float]:
    """Return what the steps of a trace cost in dollars, None where a part is unknown, and the part that is known."""
    costs: list[float | None] = []
    for step in steps:
        if step["kind"] == "model":
            costs.append(step["cost"]["usd"])
            if step.get("lost_tries") and step["cost"]["usd"] != 0.0:
                # So may each answer that was lost before this one came.
                costs.append(None)
        elif step["kind"] in ("search", "tool_paid"):
            costs.append(step["cost_usd"])
        elif step["kind"] == "model_failed" and step["error"] != "ModelRefused" and _may_have_cost(step):
            costs.append(None)
    known = math.fsum(cost for cost in costs if cost is not None)
    return (None if None in costs else known), known


def _may_have_cost(failed: Mapping[str, Any]) -> bool:
    """Return whether an answer that was lost on the way may have been paid for, also where its price is unknown."""
    if "estimated_usd" in failed:
        return bool(failed["estimated_usd"] != 0.0)
    # Traces of before estimates were written down.
    return bool(failed["worst"]["usd"] or (failed.get("lost_tries") and not failed.get("price_known", True)))


def estimated_usd_of_steps(steps: Iterable[Mapping[str, Any]]) -> float:
    """Return what is booked in budgets for answers whose cost is unknown, in dollars: the worst case of each."""
    return math.fsum(step.get("estimated_usd") or 0.0 for step in steps)


@dataclass(frozen=True, slots=True)
class Traces:
    """The traces of a ledger."""

    store: Store

    def keep(self, trace: TraceWriter) -> str:
        """Write a trace under the hash of its content, and return that hash.

        Raises:
            LedgerUnusable: If it cannot be written.
        """
        # Half a character pair is no UTF-8; escaped it is JSON that reads the same.
        return self._files.keep(trace.text.encode("utf-8", "backslashreplace"))

    def steps(self, digest: str) -> tuple[Mapping[str, Any], ...]:
        """Return the steps of a trace, in which a ledger of somebody else may have anything.

        Raises:
            UsageError: If there is none, its content is not what its name says, or it holds no steps.
        """
        try:
            # Nothing else ends a line: what Unicode calls a line end may stand in any text.
            steps = tuple(json.loads(line) for line in self._files.read(digest).decode().split("\n")[:-1])
            # What a step costs reads most of what it must have.
            cost_of_steps(steps)
            estimated_usd_of_steps(steps)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            said = f"{type(error).__name__} {error}"[:100]
            raise UsageError(
                f"the trace {digest} holds other things than steps ({said}); predibot did not write it"
            ) from None
        return steps

    @property
    def _files(self) -> ContentStore:
        return ContentStore(self.store, "traces", ".jsonl", "trace")
