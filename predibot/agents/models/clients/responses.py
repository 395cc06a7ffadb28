"""The client of OpenAI's Responses API, the only one of models that work in the background.

Such are those for deep research. A job is started once, polled until it is done, and cancelled if its caller gives up.
It costs dollars, so no other job is started while it may still be at work.
"""

import json
import time
import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from predibot.agents.models.clients.chat_completions import Endpoint, OpenAICompatibleModel, parse_json_object
from predibot.agents.models.clients.chat_wire import (
    LenientObject,
    LenientObjects,
    LenientText,
    object_of,
    objects_of,
    sendable,
    unreadable,
)
from predibot.agents.models.failures import Refusal
from predibot.agents.models.manners import Manners
from predibot.domain.chat import ChatRequest
from predibot.errors import ModelError, ModelRefused
from predibot.net.api_keys import host_of
from predibot.net.failures import LostAnswer, TryAgain, one_line
from predibot.net.json_client import HttpAnswer, Wire

OPENAI_URL = "https://api.openai.com/v1"
ASK_SECONDS = 60.0
"""The longest time for a single request; none of them waits for the job itself."""
CANCEL_SECONDS = 2.0
LEAVING_SECONDS = 0.8
"""How long an interrupted caller still tries to cancel all jobs."""
FIRST_WAIT_SECONDS = 2.0
LONGEST_WAIT_SECONDS = 30.0
WAIT_GROWTH = 1.5
SEARCH_TOOL = "web_search_preview"
"""The name for deep research; other models take `web_search`."""
_PATH = "/responses"
_KINDS = ("search", "open_page", "find_in_page")
"""Kinds of search calls. Only `search` is charged, and a call of no stated kind."""
_INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}


class _Job(Wire):
    """The state of a report."""

    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,200}$")]
    status: Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]
    model: LenientText = ""
    error: LenientObject = Field(default_factory=dict)
    incomplete_details: LenientObject = Field(default_factory=dict)
    output: LenientObjects = Field(default_factory=list)
    usage: LenientObject = Field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return self.status in ("queued", "in_progress")

    @property
    def is_done(self) -> bool:
        return self.status in ("completed", "incomplete")

    def completion(self, max_searches: int | None) -> dict[str, object]:
        """Return the report as a chat completion. The provider counts tokens; searches are counted here."""
        messages = (each for each in self.output if each.get("type") == "message")
        parts = [part for each in messages for part in objects_of(each.get("content"))]
        actions = [object_of(each.get("action")) for each in self.output if each.get("type") == "web_search_call"]
        calls = Counter(kind if (kind := each.get("type")) in _KINDS else "unknown" for each in actions)
        searches = calls["search"] + calls["unknown"]
        annotations = [each for part in parts for each in objects_of(part.get("annotations"))]
        texts = [part.get("text") for part in parts if part.get("type") == "output_text"]
        refusals = [part.get("refusal") for part in parts]
        message = {
            "content": "\n\n".join(each for each in texts if isinstance(each, str)),
            "refusal": "\n".join(each for each in refusals if each and isinstance(each, str)),
            "annotations": [each for each in annotations if each.get("type") == "url_citation"],
        }
        reason = _INCOMPLETE.get(str(self.incomplete_details.get("reason")), "other")
        return {
            "model": self.model,
            "choices": [{"message": message, "finish_reason": "stop" if self.status == "completed" else reason}],
            "usage": {**self.usage, "web_search_calls": dict(sorted(calls.items()))},
            # Searches beyond the limit are listed too, but neither made nor charged.
            "searches": searches if max_searches is None else min(searches, max_searches),
        }


def _report_body(request: ChatRequest, model: str) -> dict[str, object]:
    """Return the JSON that starts a report; raise `ModelRefused` if tools are used: these models bring their own."""
    if request.tools or any(message.role == "tool" for message in request.messages):
        raise ModelRefused(f"{model} writes reports and calls no tools of ours; use it with strategy 'deep_research'")
    messages = [{"role": each.role, "content": sendable(each.text)} for each in request.messages]
    system = "\n\n".join(each["content"] for each in messages if each["role"] == "system")
    body = {
        "model": model,
        "background": True,
        "instructions": system or None,
        "input": [each for each in messages if each["role"] != "system"],
        "tools": [{"type": SEARCH_TOOL}],
        "max_output_tokens": request.max_output_tokens,
        "max_tool_calls": request.max_searches,
        "reasoning": request.reasoning_effort and {"effort": request.reasoning_effort},
        "temperature": request.temperature,
        "top_p": request.top_p,
    }
    return {name: value for name, value in body.items() if value is not None}


@dataclass(eq=False, repr=False)
class ResponsesModel(OpenAICompatibleModel):
    """A model that writes reports for minutes at its provider; litellm's table knows its prices at OpenAI only."""

    _: KW_ONLY
    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    open_jobs: set[str] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        """Arrange for abandoned jobs to be cancelled."""
        OpenAICompatibleModel.__post_init__(self)
        self.table_name = self.name if self.endpoint.host == host_of(OPENAI_URL) else ""
        # This protocol has no seed.
        self.manners = Manners(refused=frozenset({"seed"}))
        # Also if the program ends while a thread waits, as on Ctrl-C: the job would go on and be charged.
        weakref.finalize(self, _cancel_all, self.endpoint, self.open_jobs)

    def _send(self, request: ChatRequest, manners: Manners, seconds: float) -> object:
        """Return the report of a single job as a chat completion, or a refusal to start it.

        Raises `LostAnswer` if there is no report, or an unknown job may be at work; it is not started again.
        """
        ends = self.monotonic() + seconds
        body = {**(self.extra_body or {}), **_report_body(request, self.sent_name)}
        try:
            received = self.endpoint.ask("POST", _PATH, body, seconds=min(seconds, ASK_SECONDS))
            job = self._parse_job(received) if received.is_success else self.endpoint.read_refusal(received)
            if isinstance(job, Refusal):
                if isinstance(job.failure, LostAnswer):
                    raise job.failure
                return job
        except LostAnswer as error:
            raise LostAnswer(f"{error}; a job may be at work, so no other is begun", tries=1) from None
        try:
            job = self._await_job(job, ends)
        except BaseException:
            # The caller was interrupted, or the job cannot be polled.
            _cancel_all(self.endpoint, self.open_jobs & {job.id})
            raise
        finally:
            self.open_jobs.discard(job.id)
        if not job.is_done:
            why = one_line(json.dumps(job.error) if job.error else "") or "without a reason"
            raise LostAnswer(f"{self.name}: job {job.id} ended as {job.status}: {why}", tries=1, ill=False)
        return job.completion(request.max_searches)

    def _await_job(self, job: _Job, ends: float) -> _Job:
        """Poll a job less and less often until it is done; raise `LostAnswer` if that fails."""
        wait_seconds, asked_seconds = FIRST_WAIT_SECONDS, 0.0
        while job.is_open:
            self.sleep(max(0.0, min(max(wait_seconds, asked_seconds), ends - self.monotonic())))
            wait_seconds, asked_seconds = min(wait_seconds * WAIT_GROWTH, LONGEST_WAIT_SECONDS), 0.0
            left_seconds = ends - self.monotonic()
            if left_seconds <= 0:
                return self._cancel_late(job)
            try:
                job = self._fetch_job("GET", f"{_PATH}/{job.id}", left_seconds)
            except TryAgain as error:
                # The job goes on even if a poll fails.
                asked_seconds = error.wait_seconds or 0.0
            except ModelRefused as error:
                raise LostAnswer(f"{error}; job {job.id} is lost", tries=1, ill=False) from None
        return job

    def _fetch_job(self, method: str, path: str, seconds: float) -> _Job:
        received = self.endpoint.ask(method, path, seconds=min(seconds, ASK_SECONDS))
        if not received.is_success:
            raise self.endpoint.read_refusal(received).failure
        return self._parse_job(received)

    def _cancel_late(self, job: _Job) -> _Job:
        """Cancel a job at the deadline; return it if it was done after all."""
        message = f"{self.name}: job {job.id} was not done in time and"
        try:
            job = self._fetch_job("POST", f"{_PATH}/{job.id}/cancel", CANCEL_SECONDS)
        except (ModelError, TryAgain) as error:
            self.open_jobs.discard(job.id)
            raise LostAnswer(f"{message} could not be cancelled: {one_line(str(error))}", tries=1, ill=False) from None
        if job.is_done:
            return job
        raise LostAnswer(f"{message} was cancelled", tries=1, ill=False)

    def _parse_job(self, received: HttpAnswer) -> _Job:
        try:
            job = _Job.model_validate(parse_json_object(received))
        except ValidationError as error:
            raise LostAnswer(f"{received.asked} answered what is no response: {unreadable(error)}") from None
        (self.open_jobs.add if job.is_open else self.open_jobs.discard)(job.id)
        return job


def _cancel_all(endpoint: Endpoint, jobs: set[str]) -> None:
    """Ask each job once to end, as long as there is time."""
    ends = time.monotonic() + LEAVING_SECONDS
    for job in tuple(jobs):
        left_seconds = ends - time.monotonic()
        if left_seconds > 0:
            endpoint.send_and_forget("POST", f"{_PATH}/{job}/cancel", seconds=left_seconds)
