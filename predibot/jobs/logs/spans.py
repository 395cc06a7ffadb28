"""Spans: a decision and the steps of its stored trace, by the names that OpenTelemetry gives what agents do.

Source: OpenTelemetry semantic conventions for generative AI, version 1.38.0 (`CONVENTIONS`). What a model was asked and
answered, what was searched and what a page said are in no span: they stay in the trace.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from sqlalchemy import Row

from predibot.domain.clock import EPOCH
from predibot.domain.secret_values import SecretValues
from predibot.domain.trace import (
    AbstainedStep,
    CodeStep,
    GaveUpStep,
    GivenUpStep,
    ModelFailedStep,
    ModelNotAskedStep,
    ModelRequest,
    ModelStep,
    OwnStep,
    PageRefusedStep,
    PageVisitedStep,
    RefusedTurnStep,
    SearchStep,
    Step,
    StoredTrace,
    ToolOpenedStep,
    ToolPaidStep,
    ToolStep,
    seconds_of,
)
from predibot.domain.untrusted_text import bounded, one_line

CONVENTIONS = "https://opentelemetry.io/schemas/1.38.0"
Value = str | int | float | tuple[str, ...]
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "xai": "x_ai",
}
"""The names of the conventions where litellm has others."""
_SETTINGS = {"temperature": float, "top_p": float, "seed": int}
_SECOND_NS = 1_000_000_000
_MAX_CHARACTERS = 500
"""Of a text in a span."""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that took a while."""

    name: str
    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    """Empty where it is in nothing."""
    begins_ns: int
    """Since 1970."""
    ends_ns: int
    kind: Literal["internal", "client"]
    attributes: Mapping[str, Value] = field(default_factory=dict)
    error: str = ""
    """What went wrong; empty where nothing did."""


def spans_of(decision: Row[Any], trace: StoredTrace, secrets: SecretValues) -> tuple[Span, ...]:
    """Return the span of a decision and, in it, one for each step of its trace.

    A trace says how long a step took and not when it began, so they are laid end to end from where the decision began.
    The same decision has the same ids each time, so that one that is sent again is no other one.

    Args:
        decision: Whose trace it is, and when its last try began and ended.
        trace: As it is stored.
        secrets: What stands in no text.
    """
    named = f"{decision.run}\n{decision.created_at.isoformat()}\n{decision.bot}\n{decision.subject_id}"
    trace_id = hashlib.sha256(f"{named}\n{decision.trace_sha256}".encode()).digest()[:16]
    root_id = _span_id(trace_id, 0)
    begins_ns, ends_ns = _nanoseconds(decision.began_at), _nanoseconds(decision.ended_at)
    models = [step.asked.model_name for step in trace.steps if isinstance(step, ModelStep | ModelFailedStep)]
    about: dict[str, Value] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": decision.bot,
        **(_of_model(models[0]) if models else {}),
        "predibot.run": decision.run,
        "predibot.bot": decision.bot,
        "predibot.subject.kind": decision.subject_kind,
        "predibot.subject.id": decision.subject_id,
        "predibot.status": decision.status,
        "predibot.trace_sha256": decision.trace_sha256,
        **_known("predibot.cost_usd", decision.cost_usd),
    }
    failed = decision.message or decision.status if decision.status == "failed" else ""
    if failed:
        about["error.type"] = "failed"
    name = f"invoke_agent {decision.bot}"
    found = [Span(name, trace_id, root_id, b"", begins_ns, max(begins_ns, ends_ns), "internal", about, failed)]
    at_ns = begins_ns
    for number, step in enumerate(trace.steps, start=1):
        until_ns = at_ns + int((seconds_of(step) or 0.0) * _SECOND_NS)
        empty = Span("", trace_id, _span_id(trace_id, number), root_id, at_ns, until_ns, "internal")
        found.append(_of_step(step, number, empty))
        at_ns = until_ns
    return tuple(_clean(span, secrets) for span in found)


def _of_step(step: Step, number: int, span: Span) -> Span:
    """Return the span of a step in place of an empty one."""
    more: dict[str, Value] = {"predibot.step": number, "predibot.step.kind": step.kind}
    if isinstance(step, ModelStep | ModelFailedStep | ModelNotAskedStep):
        more |= {"gen_ai.operation.name": "chat", **_of_model(step.asked.model_name), **dict(_asked(step.asked))}
        name = f"chat {more['gen_ai.request.model']}"
        if isinstance(step, ModelStep):
            return replace(span, name=name, kind="client", attributes=more | dict(_answered(step)))
        kind = step.error if isinstance(step, ModelFailedStep) else "BudgetSpent"
        return replace(span, name=name, kind="client", attributes={**more, "error.type": kind}, error=step.message)
    if isinstance(step, ToolStep):
        more |= {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": step.name,
            "gen_ai.tool.type": "function",
            "predibot.outcome": step.outcome,
        }
        failed = step.outcome == "error"
        if failed:
            more["error.type"] = "tool_error"
        return replace(span, name=f"execute_tool {step.name}", attributes=more, error="an error" if failed else "")
    said, error = _said(step)
    return replace(span, name=step.kind, attributes=more | said, error=error)


def _said(step: Step) -> tuple[dict[str, Value], str]:
    """Return what is told of a step that is neither of a model nor of a tool it called, and what went wrong."""
    if isinstance(step, SearchStep):
        return {"predibot.results": len(step.results), **_known("predibot.cost_usd", step.cost_usd)}, ""
    if isinstance(step, PageVisitedStep):
        return {"url.full": step.final_url, "predibot.page_sha256": step.sha256}, ""
    if isinstance(step, PageRefusedStep):
        return {"url.full": step.url, "error.type": step.error}, step.error
    if isinstance(step, ToolOpenedStep | ToolPaidStep):
        paid = {"predibot.cost_usd": step.cost_usd} if isinstance(step, ToolPaidStep) else {}
        return {"gen_ai.tool.name": step.name, **paid}, ""
    if isinstance(step, GivenUpStep):
        return {"error.type": "given_up"}, "nobody waited any longer"
    if isinstance(step, RefusedTurnStep | GaveUpStep):
        return {"error.type": step.kind}, step.kind
    if isinstance(step, AbstainedStep | CodeStep | OwnStep):
        return {}, ""
    return {"error.type": "unreadable"}, "the trace holds no step here"


def _of_model(name: str) -> dict[str, Value]:
    """Return what the conventions call a model that recipes name so."""
    provider, _, model = name.partition("/")
    provider = _PROVIDERS.get(provider, provider) if model else "unknown"
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": model or name}


def _asked(asked: ModelRequest) -> Iterator[tuple[str, Value]]:
    yield "gen_ai.request.max_tokens", asked.max_output_tokens
    yield "predibot.request_sha256", asked.request_sha256
    for name, kind in _SETTINGS.items():
        value = asked.settings.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield f"gen_ai.request.{name}", kind(value)


def _answered(step: ModelStep) -> Iterator[tuple[str, Value]]:
    reply = step.reply
    yield "gen_ai.response.model", reply.model
    yield "gen_ai.response.finish_reasons", (reply.finish_reason,)
    yield "predibot.retries", reply.retries
    yield from _known("gen_ai.usage.input_tokens", reply.usage.input_tokens).items()
    yield from _known("gen_ai.usage.cache_read.input_tokens", reply.usage.cached_tokens or None).items()
    yield from _known("gen_ai.usage.output_tokens", reply.usage.output_tokens).items()
    yield from _known("predibot.cost_usd", reply.cost.usd).items()


def _known(name: str, value: float | None) -> dict[str, Value]:
    """Return an attribute, and nothing where its value is not known: that is not zero."""
    return {} if value is None else {name: value}


def _clean(span: Span, secrets: SecretValues) -> Span:
    """Return a span whose texts are one line each, not long, and without a secret."""

    def clean(value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(map(text, value))
        return text(value) if isinstance(value, str) else value

    def text(value: str) -> str:
        return bounded(one_line(secrets.hidden(value)), _MAX_CHARACTERS)

    attributes = {name: clean(value) for name, value in span.attributes.items()}
    return replace(span, name=text(span.name), attributes=attributes, error=text(span.error))


def _span_id(trace_id: bytes, number: int) -> bytes:
    return hashlib.sha256(trace_id + number.to_bytes(4, "big")).digest()[:8]


def _nanoseconds(instant: datetime) -> int:
    since = instant - EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000
