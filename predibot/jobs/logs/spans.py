"""Spans: decisions and the steps of their traces, under OpenTelemetry's names, sent to a collector over OTLP/HTTP.

No run waits long for an absent collector, or fails because of it. Spans hold no prompts, answers, queries or pages;
these stay in the trace.

Source: OpenTelemetry semantic conventions for generative AI, version 1.38.0 (`CONVENTIONS`).
"""

import hashlib
import logging
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import httpx
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
    SampleStep,
    SearchStep,
    Step,
    StoredTrace,
    ToolOpenedStep,
    ToolPaidStep,
    ToolStep,
    seconds_of,
)
from predibot.domain.untrusted_text import one_line, shorten
from predibot.environment import otlp_headers, secrets_present
from predibot.errors import PredibotError, UsageError, describe_error
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.read_traces import find_decision
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.decision_traces import list_decision_times
from predibot.ledger.store import Store
from predibot.net.deadline import call_within
from predibot.net.json_client import open_client
from predibot.version import __version__

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

_log = logging.getLogger(__name__)

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
"""Providers with another name than litellm's."""
_SETTINGS = {"temperature": float, "top_p": float, "seed": int}
_SECOND_NS = 1_000_000_000
_MAX_CHARACTERS = 500
"""The longest text in a span."""


def spans_of(decision: Row[Any], trace: StoredTrace, secrets: SecretValues) -> "Iterator[Span]":
    """Yield the span of a decision and, inside it, one for each step of its trace.

    A trace has the length of a step but not its beginning, so steps are laid end to end from the decision's beginning.
    Ids follow from the decision, so a span that is sent again is not another one. Texts are short single lines without
    secrets. Raises `UsageError` if opentelemetry-proto is not installed.
    """
    # Imported here: an optional dependency that only this needs.
    try:
        from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status
    except ImportError:
        raise UsageError(_NEEDS_EXTRA) from None

    def text(value: str) -> str:
        return shorten(one_line(secrets.mask(value)), _MAX_CHARACTERS)

    def span(number: int, begins_ns: int, ends_ns: int, name: str, about: Mapping[str, Value], error: str) -> Span:
        return Span(
            trace_id=trace_id,
            span_id=_span_id(trace_id, number),
            parent_span_id=_span_id(trace_id, 0) if number else b"",
            name=text(name),
            kind=Span.SPAN_KIND_CLIENT if about.get("gen_ai.operation.name") == "chat" else Span.SPAN_KIND_INTERNAL,
            start_time_unix_nano=begins_ns,
            end_time_unix_nano=ends_ns,
            attributes=_key_values(about, text),
            status=Status(code=Status.STATUS_CODE_ERROR, message=text(error)) if error else None,
        )

    named = f"{decision.run}\n{decision.created_at.isoformat()}\n{decision.bot}\n{decision.subject_id}"
    trace_id = hashlib.sha256(f"{named}\n{decision.trace_sha256}".encode()).digest()[:16]
    at_ns, ends_ns = _nanoseconds(decision.began_at), _nanoseconds(decision.ended_at)
    models = [step.asked.model_name for step in trace.steps if isinstance(step, ModelStep | ModelFailedStep)]
    failed = decision.message or decision.status if decision.status == "failed" else ""
    about: dict[str, Value] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": decision.bot,
        **(_model_attributes(models[0]) if models else {}),
        "predibot.run": decision.run,
        "predibot.bot": decision.bot,
        "predibot.subject.kind": decision.subject_kind,
        "predibot.subject.id": decision.subject_id,
        "predibot.status": decision.status,
        "predibot.trace_sha256": decision.trace_sha256,
        **_attribute("predibot.cost_usd", decision.cost_usd),
        **({"error.type": "failed"} if failed else {}),
    }
    yield span(0, at_ns, max(at_ns, ends_ns), f"invoke_agent {decision.bot}", about, failed)
    for number, step in enumerate(trace.steps, start=1):
        until_ns = at_ns + int((seconds_of(step) or 0.0) * _SECOND_NS)
        name, more, error = _describe_step(step)
        yield span(
            number, at_ns, until_ns, name, {"predibot.step": number, "predibot.step.kind": step.kind, **more}, error
        )
        at_ns = until_ns


def _describe_step(step: Step) -> tuple[str, dict[str, Value], str]:
    """Return name, attributes and error of a step's span."""
    more: dict[str, Value]
    match step:
        case ModelStep() | ModelFailedStep() | ModelNotAskedStep():
            more = {"gen_ai.operation.name": "chat", **_model_attributes(step.asked.model_name)}
            name = f"chat {more['gen_ai.request.model']}"
            more |= _request_attributes(step.asked)
            if isinstance(step, ModelStep):
                return name, more | dict(_reply_attributes(step)), ""
            kind = step.error if isinstance(step, ModelFailedStep) else "BudgetSpent"
            return name, {**more, "error.type": kind}, step.message
        case ToolStep():
            more = {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": step.name,
                "gen_ai.tool.type": "function",
                "predibot.outcome": step.outcome,
            }
            failed = step.outcome == "error"
            return (
                f"execute_tool {step.name}",
                more | ({"error.type": "tool_error"} if failed else {}),
                "an error" if failed else "",
            )
        case SearchStep():
            more = {"predibot.results": len(step.results), **_attribute("predibot.cost_usd", step.cost_usd)}
            return step.kind, more, ""
        case PageVisitedStep():
            return step.kind, {"url.full": step.final_url, "predibot.page_sha256": step.sha256}, ""
        case PageRefusedStep():
            return step.kind, {"url.full": step.url, "error.type": step.error}, step.error
        case ToolPaidStep():
            return step.kind, {"gen_ai.tool.name": step.name, "predibot.cost_usd": step.cost_usd}, ""
        case ToolOpenedStep():
            return step.kind, {"gen_ai.tool.name": step.name}, ""
        case GivenUpStep():
            return step.kind, {"error.type": "given_up"}, "nobody waited any longer"
        case RefusedTurnStep() | GaveUpStep():
            return step.kind, {"error.type": step.kind}, step.kind
        case AbstainedStep() | CodeStep() | OwnStep() | SampleStep():
            return step.kind, {}, ""
    return step.kind, {"error.type": "unreadable"}, "the trace holds no step here"


def _model_attributes(name: str) -> dict[str, Value]:
    provider, _, model = name.partition("/")
    provider = _PROVIDERS.get(provider, provider) if model else "unknown"
    return {"gen_ai.provider.name": provider, "gen_ai.request.model": model or name}


def _request_attributes(request: ModelRequest) -> Iterator[tuple[str, Value]]:
    yield "gen_ai.request.max_tokens", request.max_output_tokens
    yield "predibot.request_sha256", request.request_sha256
    for name, kind in _SETTINGS.items():
        value = request.settings.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield f"gen_ai.request.{name}", kind(value)


def _reply_attributes(step: ModelStep) -> Iterator[tuple[str, Value]]:
    reply = step.reply
    yield "gen_ai.response.model", reply.model
    yield "gen_ai.response.finish_reasons", (reply.finish_reason,)
    yield "predibot.retries", reply.retries
    yield from _attribute("gen_ai.usage.input_tokens", reply.usage.input_tokens).items()
    yield from _attribute("gen_ai.usage.cache_read.input_tokens", reply.usage.cached_tokens or None).items()
    yield from _attribute("gen_ai.usage.output_tokens", reply.usage.output_tokens).items()
    yield from _attribute("predibot.cost_usd", reply.cost.usd).items()


def _attribute(name: str, value: float | None) -> dict[str, Value]:
    """Return an attribute, or nothing for an unknown value, which is not zero."""
    return {} if value is None else {name: value}


def _span_id(trace_id: bytes, number: int) -> bytes:
    return hashlib.sha256(trace_id + number.to_bytes(4, "big")).digest()[:8]


def _nanoseconds(instant: datetime) -> int:
    since = instant - EPOCH
    return ((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds) * 1_000


SECONDS = 5.0
"""Limit for one request, and for all outstanding ones at the end of a command."""
_PATH = "/v1/traces"
_SPANS_AT_ONCE = 2_000
_NEEDS_EXTRA = "spans need opentelemetry-proto: pip install 'predibot[otel]'"


@dataclass(frozen=True, slots=True)
class SendReport:
    """What a collector accepted."""

    decisions: int
    spans: int
    missing: tuple[str, ...]
    """One reason for each unreadable trace."""


def send_traces(store: Store, decisions: Collection[Row[Any]], endpoint: str) -> SendReport:
    """Send the spans of decisions to a collector; `/v1/traces` is added to its address if that has no path.

    Raises:
        UsageError: If opentelemetry-proto is not installed, or the collector cannot be reached or refuses them.
    """
    secrets, found, missing = SecretValues(secrets_present()), [], []
    for decision in decisions:
        try:
            found.append((decision, Traces(store).read(decision.trace_sha256)))
        except UsageError as error:
            missing.append(str(error))
    spans = [span for decision, trace in found for span in spans_of(decision, trace, secrets)]
    with open_client(headers=otlp_headers()) as client:
        for first in range(0, len(spans), _SPANS_AT_ONCE):
            _post(client, endpoint, spans[first : first + _SPANS_AT_ONCE], secrets)
    return SendReport(len(found), len(spans), tuple(missing))


def send_spans_of(store: Store, asked: str, endpoint: str) -> SendReport:
    """Send the spans of a run by its key, or of one decision as `read_trace` names it.

    Raises:
        UsageError: If there is no such run or decision with a trace, its run is void, or as `send_traces`.
    """
    found = store.run_read(lambda connection: list_decision_times(connection, asked))
    if not found:
        named = find_decision(store, asked)
        about = (named.bot, named.event_id)
        found = store.run_read(lambda connection: list_decision_times(connection, named.run, named=about))
    if not found:
        raise UsageError(f"{asked[:200]!r} has no trace, or is of a void run, so there are no spans of it")
    return send_traces(store, found, endpoint)


@dataclass
class Spans:
    """Sends spans in the background of a block, and waits a while at its end; a failure is one warning."""

    store: Store
    """Stays open until the end of the block."""
    endpoint: str | None
    """None to send nothing."""
    _executor: DaemonThreadExecutor = field(default_factory=lambda: DaemonThreadExecutor(1))
    _futures: "list[Future[None]]" = field(default_factory=list)
    _failed: bool = False

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait a while for outstanding spans, unless the block failed."""
        until = time.monotonic() + SECONDS
        try:
            for future in self._futures if kind is None else ():
                future.result(timeout=max(0.0, until - time.monotonic()))
        except Late:
            self._fail(f"not all were sent within {SECONDS:g} s")
        finally:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def send(self, run_key: str, since: datetime) -> None:
        """Send a run's decisions since an instant, without waiting."""
        if self.endpoint is not None and not self._failed:
            self._futures.append(self._executor.submit(self._send, run_key, since, self.endpoint))

    def _send(self, run_key: str, since: datetime, endpoint: str) -> None:
        if self._failed:
            return
        try:
            decisions = self.store.run_read(lambda connection: list_decision_times(connection, run_key, since=since))
            if decisions:
                sent = send_traces(self.store, decisions, endpoint)
                _log.info("run %s: %d spans of %d decisions sent", run_key, sent.spans, sent.decisions)
        except PredibotError as error:
            self._fail(str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, what is decided is decided
            self._fail(describe_error(error))

    def _fail(self, why: str) -> None:
        if not self._failed:
            self._failed = True
            _log.warning("spans are sent no more by this command: %s", why)


def _post(client: httpx.Client, endpoint: str, spans: "Sequence[Span]", secrets: SecretValues) -> None:
    url = httpx.URL(endpoint)
    url = url.copy_with(path=_PATH) if url.path in ("", "/") else url
    place = f"the collector at {url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"
    content = _request(spans).SerializeToString()
    headers = {"content-type": "application/x-protobuf", "user-agent": f"predibot/{__version__}"}
    try:
        response = call_within(lambda: client.post(url, content=content, headers=headers, timeout=SECONDS), SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        reason = secrets.mask(str(error)) or "no answer in time"
        raise UsageError(f"{place} cannot be reached: {reason}. Is it up, and its address right?") from error
    if not response.is_success:
        raise UsageError(f"{place} answered {response.status_code}. Look at its address, and at its key")


def _request(spans: "Sequence[Span]") -> Any:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
    from opentelemetry.proto.resource.v1.resource_pb2 import Resource
    from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans

    scope = InstrumentationScope(name="predibot", version=__version__)
    resource = Resource(attributes=_key_values({"service.name": "predibot", "service.version": __version__}))
    scopes = [ScopeSpans(scope=scope, spans=spans, schema_url=CONVENTIONS)]
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=resource, scope_spans=scopes, schema_url=CONVENTIONS)]
    )


def _key_values(attributes: Mapping[str, Value], clean: Callable[[str], str] = str) -> "list[KeyValue]":
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue

    def any_value(value: Value) -> AnyValue:
        if isinstance(value, tuple):
            return AnyValue(array_value=ArrayValue(values=[any_value(each) for each in value]))
        if isinstance(value, str):
            return AnyValue(string_value=clean(value))
        return AnyValue(int_value=value) if isinstance(value, int) else AnyValue(double_value=value)

    return [KeyValue(key=name, value=any_value(value)) for name, value in attributes.items()]
