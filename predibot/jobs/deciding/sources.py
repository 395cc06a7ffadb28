"""Sources of a decision, from the steps of its trace."""

from collections.abc import Iterable
from datetime import datetime

from predibot.domain.clock import parse_instant
from predibot.domain.decision import Source
from predibot.domain.trace import PageVisitedStep, SearchStep, Step

SANDBOX_HOST = "http://sandbox.invalid"


def sources_of(steps: Iterable[Step], *, loopback: str | None = None) -> tuple[Source, ...]:
    """Return the searches and pages of a trace, each page once, in order; `loopback` is stored as `SANDBOX_HOST`."""
    found: dict[tuple[str, str], Source] = {}
    for step in steps:
        if isinstance(step, SearchStep):
            source = Source("search", step.query, results=len(step.results))
        elif isinstance(step, PageVisitedStep):
            source = Source(
                "page",
                replace_loopback(step.url, loopback),
                final_url=replace_loopback(step.final_url, loopback),
                sha256=step.sha256,
                title=step.title or "",
                published_at=_parse_or_none(step.published),
            )
        else:
            continue
        found.setdefault((source.kind, source.text), source)
    return tuple(found.values())


def replace_loopback(text: str, loopback: str | None) -> str:
    """Return a text with `SANDBOX_HOST` in place of a sandbox's address."""
    return text.replace(loopback, SANDBOX_HOST) if loopback else text


def _parse_or_none(text: str | None) -> datetime | None:
    try:
        return parse_instant(text) if text else None
    except ValueError:
        return None
