"""The collector: where spans are sent over OTLP/HTTP, and that no run waits for long or fails because it is away."""

import logging
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

import httpx
from sqlalchemy import Row

from predibot.domain.secret_values import SecretValues
from predibot.environment import otlp_headers, secrets_present
from predibot.errors import PredibotError, UsageError, words_of
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.logs.spans import CONVENTIONS, Span, Value, spans_of
from predibot.jobs.read_traces import named_decision
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.decision_traces import timed_decisions
from predibot.ledger.store import Store
from predibot.net.deadline import in_time
from predibot.net.json_client import opened_client
from predibot.version import __version__

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import KeyValue
    from opentelemetry.proto.trace.v1 import trace_pb2

_log = logging.getLogger(__name__)

SECONDS = 5.0
"""For one request, and at the end of a command for all that is still to be sent."""
_PATH = "/v1/traces"
_SPANS_AT_ONCE = 2_000
_NEEDS_EXTRA = "spans need opentelemetry-proto: pip install 'predibot[otel]'"


@dataclass(frozen=True, slots=True)
class Sent:
    """What a collector took."""

    decisions: int
    spans: int
    missing: tuple[str, ...]
    """Why each trace that could not be read could not be."""


def send_traces(store: Store, decisions: Collection[Row[Any]], endpoint: str) -> Sent:
    """Send the spans of decisions to a collector.

    Args:
        decisions: Which.
        endpoint: The collector's address; `/v1/traces` is added where it has no path.

    Raises:
        UsageError: If opentelemetry-proto is not installed, or the collector cannot be reached or refuses them.
    """
    secrets, found, missing = SecretValues(secrets_present()), [], []
    for decision in decisions:
        try:
            found.append(spans_of(decision, Traces(store).read(decision.trace_sha256), secrets))
        except UsageError as error:
            missing.append(str(error))
    spans = [span for of_one in found for span in of_one]
    with opened_client(headers=otlp_headers()) as client:
        for first in range(0, len(spans), _SPANS_AT_ONCE):
            _post(client, endpoint, spans[first : first + _SPANS_AT_ONCE], secrets)
    return Sent(len(found), len(spans), tuple(missing))


def send_asked(store: Store, asked: str, endpoint: str) -> Sent:
    """Send the spans of a run by its key, or of one decision as `read_trace` takes it.

    Raises:
        UsageError: As `read_trace` and `send_traces`; or if it has no trace, or is of a void run.
    """
    found = store.run_read(lambda connection: timed_decisions(connection, asked))
    if not found:
        named = named_decision(store, asked)
        about = (named.bot, named.event_id)
        found = store.run_read(lambda connection: timed_decisions(connection, named.run, named=about))
    if not found:
        raise UsageError(f"{asked[:200]!r} has no trace, or is of a void run, so there are no spans of it")
    return send_traces(store, found, endpoint)


@dataclass
class Spans:
    """Sends spans behind what is done in a block, and waits a while at its end; what goes wrong is a warning, once."""

    store: Store
    """Stays open until the end of the block."""
    endpoint: str | None
    """The collector's address; None to send nothing."""
    _executor: DaemonThreadExecutor = field(default_factory=lambda: DaemonThreadExecutor(1))
    _futures: "list[Future[None]]" = field(default_factory=list)
    _failed: bool = False

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait a while for what is still to be sent, unless the block failed, and send no more."""
        until = time.monotonic() + SECONDS
        try:
            for future in self._futures if kind is None else ():
                future.result(timeout=max(0.0, until - time.monotonic()))
        except Late:
            self._fail(f"not all were sent within {SECONDS:g} s")
        finally:
            self._executor.shutdown(wait=False, cancel_futures=True)

    def send(self, run_key: str, since: datetime) -> None:
        """Send what was decided in a run since an instant; nobody waits for it here."""
        if self.endpoint is not None and not self._failed:
            self._futures.append(self._executor.submit(self._send, run_key, since, self.endpoint))

    def _send(self, run_key: str, since: datetime, endpoint: str) -> None:
        if self._failed:
            return
        try:
            decisions = self.store.run_read(lambda connection: timed_decisions(connection, run_key, since=since))
            if decisions:
                sent = send_traces(self.store, decisions, endpoint)
                _log.info("run %s: %d spans of %d decisions sent", run_key, sent.spans, sent.decisions)
        except PredibotError as error:
            self._fail(str(error))
        except Exception as error:  # noqa: BLE001 - whatever it is, what is decided is decided
            self._fail(words_of(error))

    def _fail(self, why: str) -> None:
        if not self._failed:
            self._failed = True
            _log.warning("spans are sent no more by this command: %s", why)


def _post(client: httpx.Client, endpoint: str, spans: Sequence[Span], secrets: SecretValues) -> None:
    url = httpx.URL(endpoint)
    url = url.copy_with(path=_PATH) if url.path in ("", "/") else url
    place = f"the collector at {url.host}:{url.port or (443 if url.scheme == 'https' else 80)}"
    content = _request(spans).SerializeToString()
    headers = {"content-type": "application/x-protobuf", "user-agent": f"predibot/{__version__}"}
    try:
        response = in_time(lambda: client.post(url, content=content, headers=headers, timeout=SECONDS), SECONDS)
    except (httpx.HTTPError, httpx.InvalidURL, TimeoutError) as error:
        said = secrets.hidden(str(error)) or "no answer in time"
        raise UsageError(f"{place} cannot be reached: {said}. Is it up, and its address right?") from error
    if not response.is_success:
        raise UsageError(f"{place} answered {response.status_code}. Look at its address, and at its key")


def _request(spans: Sequence[Span]) -> Any:
    """Return spans as OTLP has them."""
    # Only who sends spans pays for what they are written with, and needs it.
    try:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
        from opentelemetry.proto.common.v1.common_pb2 import InstrumentationScope
        from opentelemetry.proto.resource.v1.resource_pb2 import Resource
        from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans
    except ImportError:
        raise UsageError(_NEEDS_EXTRA) from None
    service: dict[str, Value] = {"service.name": "predibot", "service.version": __version__}
    scope = ScopeSpans(
        scope=InstrumentationScope(name="predibot", version=__version__),
        spans=[_otlp_span(span) for span in spans],
        schema_url=CONVENTIONS,
    )
    resource = Resource(attributes=_key_values(service))
    return ExportTraceServiceRequest(
        resource_spans=[ResourceSpans(resource=resource, scope_spans=[scope], schema_url=CONVENTIONS)]
    )


def _otlp_span(span: Span) -> "trace_pb2.Span":
    from opentelemetry.proto.trace.v1 import trace_pb2

    kinds = {"internal": trace_pb2.Span.SPAN_KIND_INTERNAL, "client": trace_pb2.Span.SPAN_KIND_CLIENT}
    error = trace_pb2.Status(code=trace_pb2.Status.STATUS_CODE_ERROR, message=span.error) if span.error else None
    return trace_pb2.Span(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        name=span.name,
        kind=kinds[span.kind],
        start_time_unix_nano=span.begins_ns,
        end_time_unix_nano=span.ends_ns,
        attributes=_key_values(span.attributes),
        status=error,
    )


def _key_values(attributes: Mapping[str, Value]) -> "list[KeyValue]":
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, KeyValue

    def any_value(value: Value) -> AnyValue:
        if isinstance(value, tuple):
            return AnyValue(array_value=ArrayValue(values=[any_value(each) for each in value]))
        if isinstance(value, str):
            return AnyValue(string_value=value)
        return AnyValue(int_value=value) if isinstance(value, int) else AnyValue(double_value=value)

    return [KeyValue(key=name, value=any_value(value)) for name, value in attributes.items()]
