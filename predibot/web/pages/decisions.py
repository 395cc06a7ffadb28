"""What each bot decided, and why, step by step."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from predibot.errors import PredibotError, UsageError
from predibot.jobs.read_traces import read_trace
from predibot.ledger.read.rows_for_python import LedgerDecision
from predibot.reports.terminal.trace import trace_document
from predibot.web.pages.details import shown_details
from predibot.web.pages.page import Page, paged
from predibot.web.rendering import line
from predibot.web.shelf import Shelf

_STEPS = 20


def decisions_page(
    shelf: Shelf, recipe: str = "", bot: str = "", run: str = "", status: str = "", page_: int = 1
) -> Page:
    """Return a part of the list of decisions, newest first."""
    asked = {"recipe": recipe, "bot": bot, "run": run, "status": status}
    found = [
        each
        for each in shelf.decisions()
        if all(not value or getattr(each, name) == value for name, value in asked.items())
    ]
    shown = paged(found, page_, "/decisions", **asked)
    return Page("decisions", {**shown, "asked": asked, "known": _known(shelf.decisions())})


def decision_page(shelf: Shelf, run: str, bot: str, subject: str, step: int = 0) -> Page:
    """Return a decision with its forecasts and a part of its trace."""
    found = _decision(shelf, run, bot, subject)
    document: Mapping[str, Any] = {"steps": []}
    missing = ""
    if found.trace_sha256 is not None:
        try:
            document = trace_document(read_trace(shelf.store, found.trace_sha256))
        except PredibotError as error:
            # What is in the ledger is shown all the same.
            missing = str(error)
    step = max(0, step)
    return Page(
        "decision",
        {
            "decision": found,
            "forecasts": [each for each in shelf.forecasts(run) if (each.bot, each.subject_id) == (bot, subject)],
            "first": step,
            "steps": [_step(each) for each in document["steps"][step : step + _STEPS]],
            "steps_a_page": _STEPS,
            "all_steps": len(document["steps"]),
            "missing": missing,
            **shown_details(shelf, found),
        },
    )


def _decision(shelf: Shelf, run: str, bot: str, subject: str) -> LedgerDecision:
    for each in shelf.decisions():
        if (each.run, each.bot, each.subject_id) == (run, bot, subject):
            return each
    raise UsageError(f"no decision of {bot[:60]!r} on {subject[:60]!r} in run {run[:80]!r}")


def _known(decisions: Sequence[LedgerDecision]) -> Mapping[str, list[str]]:
    """Return what a list can be narrowed to; not to names that cannot be shown as they are."""
    found = {name: {str(getattr(each, name)) for each in decisions} for name in ("recipe", "bot", "run", "status")}
    return {name: sorted(value for value in values if value == line(value)) for name, values in found.items()}


def _step(step: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """Return what a step of a trace was, and its fields as text."""
    return str(step.get("kind", "step")), [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
        for name, value in step.items()
    ]
