"""From the steps of a trace to the sources that are stored with a decision."""

from collections.abc import Iterable
from datetime import datetime

from predibot.domain.clock import parse_instant
from predibot.domain.decision import Source
from predibot.domain.trace import PageVisitedStep, SearchStep, Step

SANDBOX_HOST = "http://sandbox.invalid"


def sources_of(steps: Iterable[Step], *, loopback: str | None = None) -> tuple[Source, ...]:
    """Return what was searched and read, each page once, in the order in which it happened.

    Args:
        steps: Of a trace.
        loopback: The address a sandbox happened to answer at, which is another
            one each time; its pages are stored as those of `SANDBOX_HOST`.
    """
    found: dict[tuple[str, str], Source] = {}
    for step in steps:
        if isinstance(step, SearchStep):
            source = Source("search", step.query, results=len(step.results))
        elif isinstance(step, PageVisitedStep):
            source = Source(
                "page",
                lasting(step.url, loopback),
                final_url=lasting(step.final_url, loopback),
                sha256=step.sha256,
                title=step.title or "",
                published_at=_instant(step.published),
            )
        else:
            continue
        found.setdefault((source.kind, source.text), source)
    return tuple(found.values())


def lasting(text: str, loopback: str | None) -> str:
    """Return a text in which a sandbox has the same address each time."""
    return text.replace(loopback, SANDBOX_HOST) if loopback else text


def _instant(text: str | None) -> datetime | None:
    """Return the instant a page states, or None where it states none that can be read."""
    try:
        return parse_instant(text) if text else None
    except ValueError:
        return None
