"""The dialect of OpenAI's Responses API, as far as a report in the background needs it: written and read.

As in `predibot.agents.models.chat_wire`, what comes is untrusted text: it becomes a
`Job`, or is refused as unreadable.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from predibot.agents.models.chat_wire import (
    Answer,
    Boundary,
    LenientObject,
    LenientObjects,
    LenientText,
    citations_of,
    sendable,
    unreadable,
    usage_of,
)
from predibot.domain.chat import ChatRequest, FinishReason, Message, Usage
from predibot.errors import ModelRefused

SEARCH_TOOL = "web_search_preview"
"""The name under which deep research takes it; `web_search` is for other models."""
_PAGES = frozenset({"open_page", "find_in_page"})
"""What is counted among searches and not charged as one."""
_INCOMPLETE: Mapping[str, FinishReason] = {"max_output_tokens": "length", "content_filter": "refusal"}
_DONE = frozenset({"completed", "incomplete"})

Status = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]


def request_body(request: ChatRequest, model: str) -> dict[str, object]:
    """Return the JSON that starts a report in the background.

    A seed is left out, for which there is no word in this dialect.

    Raises:
        ModelRefused: If tools are offered, or a tool has answered: they bring their own.
    """
    if request.tools or any(message.role == "tool" for message in request.messages):
        raise ModelRefused(f"{model} writes reports and calls no tools of ours; use it with strategy 'deep_research'")
    body: dict[str, object] = {
        "model": model,
        "background": True,
        "input": [
            {"role": message.role, "content": sendable(message.text)}
            for message in request.messages
            if message.role != "system"
        ],
        "tools": [{"type": SEARCH_TOOL}],
        "max_output_tokens": request.max_output_tokens,
    }
    instructions = "\n\n".join(sendable(message.text) for message in request.messages if message.role == "system")
    if instructions:
        body["instructions"] = instructions
    if request.max_searches is not None:
        body["max_tool_calls"] = request.max_searches
    if request.reasoning_effort is not None:
        body["reasoning"] = {"effort": request.reasoning_effort}
    return body | {name: value for name in ("temperature", "top_p") if (value := getattr(request, name)) is not None}


@dataclass(frozen=True, slots=True)
class Job:
    """How far a report is."""

    id: str
    status: Status
    problem: str = ""
    """Why it failed, in the provider's words."""
    answer: Answer | None = None
    """Of one that is complete, or cut off."""

    @property
    def is_open(self) -> bool:
        """Return whether it is still worked on."""
        return self.status in ("queued", "in_progress")


class _Part(Boundary):
    type: LenientText = ""
    text: LenientText = ""
    refusal: LenientText = ""
    annotations: LenientObjects = Field(default_factory=list)


class _Response(Boundary):
    id: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,200}$")]
    """It becomes part of an address."""
    status: Status
    model: LenientText = ""
    error: LenientObject = Field(default_factory=dict)
    incomplete_details: LenientObject = Field(default_factory=dict)
    output: LenientObjects = Field(default_factory=list)
    usage: LenientObject = Field(default_factory=dict)

    def to_domain(self, asked_model: str, max_searches: int | None) -> Job:
        """Return the job in our words."""
        problem = json.dumps(self.error) if self.error else ""
        answer = self._answer(asked_model, max_searches) if self.status in _DONE else None
        return Job(self.id, self.status, problem, answer)

    def _answer(self, asked_model: str, max_searches: int | None) -> Answer:
        parts = list(self._parts())
        refusal = "\n".join(part.refusal for part in parts if part.refusal)
        finish: FinishReason = "stop"
        if self.status != "completed":
            finish = _INCOMPLETE.get(str(self.incomplete_details.get("reason")), "other")
        annotations = [each for part in parts for each in part.annotations if each.get("type") == "url_citation"]
        text = "\n\n".join(part.text for part in parts if part.type == "output_text")
        if finish == "refusal" and not refusal:
            refusal = text or "stopped by the provider (content_filter)"
        return Answer(
            message=Message("assistant", text),
            finish_reason="refusal" if refusal else finish,
            usage=self._usage(max_searches),
            model=self.model or asked_model,
            refusal=refusal,
            citations=citations_of(None, (), annotations),
            provider_usd=None,
        )

    def _parts(self) -> Iterator[_Part]:
        """Yield what its messages are made of."""
        for each in self.output:
            content = each.get("content") if each.get("type") == "message" else None
            if isinstance(content, list):
                yield from (_Part.model_validate(part) for part in content if isinstance(part, dict))

    def _usage(self, max_searches: int | None) -> Usage:
        """Return what was counted: tokens by the provider, searches by us."""
        calls = [each for each in self.output if each.get("type") == "web_search_call"]
        kinds = [_kind(each.get("action")) for each in calls]
        searches = sum(kind not in _PAGES for kind in kinds)
        if max_searches is not None:
            # What a model tries beyond its limit is listed too, and neither made nor charged.
            searches = min(searches, max_searches)
        raw = {**self.usage, "web_search_calls": dict(sorted(Counter(kinds).items()))}
        return usage_of(self.usage.get("input_tokens"), self.usage.get("output_tokens"), raw, searches)


def read_job(value: object, asked_model: str, *, max_searches: int | None = None) -> Job:
    """Return what a decoded JSON answer says of a job.

    Raises:
        Unreadable: If it is no answer of this dialect.
    """
    try:
        return _Response.model_validate(value).to_domain(asked_model, max_searches)
    except ValidationError as error:
        raise unreadable(error) from None


def _kind(action: object) -> str:
    """Return what a search call did: `search`, `open_page`, `find_in_page`, or what nobody says."""
    kind = action.get("type") if isinstance(action, dict) else None
    return str(kind) if kind == "search" or kind in _PAGES else "unknown"
