"""What each bot decided, and why, step by step."""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, get_args

from predibot.domain.decision import Status
from predibot.errors import PredibotError, UsageError
from predibot.jobs.read_traces import read_trace
from predibot.ledger.read.rows_for_python import SORTED_BY, Asked
from predibot.reports.terminal.trace import trace_document
from predibot.web.pages.details import shown_details
from predibot.web.pages.page import PAGE, Page, Rows, day_of, part_of, records
from predibot.web.rendering import line
from predibot.web.shelf import Shelf

_AT_ONCE = 500


def decisions_page(
    shelf: Shelf,
    recipe: str = "",
    bot: str = "",
    run: str = "",
    status: str = "",
    venue: str = "",
    since: str = "",
    until: str = "",
    void: bool = False,
    sort: str = "-slot",
    page_: int = 1,
) -> Page:
    """Return a part of the list of decisions, newest first.

    Args:
        shelf: The ledger.
        recipe: Only its decisions; empty for all, as the next ones.
        bot: Who decided.
        run: Its key.
        status: What became of it.
        venue: Where the run was made.
        since: The first day of the slots, such as 2026-01-31.
        until: The last one.
        void: Whether those of runs that were taken out of all scores are listed too.
        sort: One of `SORTED_BY`, with a minus for the largest first.
        page_: Which part.

    Raises:
        UsageError: If a day is none, or there is no such column.
    """
    by, rising = sort.removeprefix("-"), not sort.startswith("-")
    if by not in SORTED_BY:
        raise UsageError(f"decisions cannot be sorted by {by[:40]!r}; there are: {', '.join(SORTED_BY)}")
    last = day_of(until)
    wanted = Asked(
        run=run or None,
        recipe=recipe or None,
        bots=(bot,) if bot else (),
        status=status or None,
        venue=venue or None,
        since=day_of(since),
        until=None if last is None else last + timedelta(days=1),
        void=void,
    )
    asked = {
        "recipe": recipe,
        "bot": bot,
        "run": run,
        "status": status,
        "venue": venue,
        "since": since,
        "until": until,
        "void": "true" if void else "",
        "sort": "" if sort == "-slot" else sort,
    }
    part = part_of(sum(shelf.counts(wanted).values()), page_, "/decisions", **asked)
    skip = (part["page"] - 1) * PAGE

    def whole() -> Rows:
        for first in range(0, part["total"], _AT_ONCE):
            found = shelf.decisions(wanted, limit=_AT_ONCE, skip=first, by=by, rising=rising)
            yield from records(found)()

    known = {
        "recipe": sorted({each.recipe for each in shelf.runs()}),
        "bot": shelf.bots(),
        "status": get_args(Status),
        "venue": shelf.venues(),
    }
    return Page(
        "decisions",
        {
            **part,
            "rows": shelf.decisions(wanted, limit=PAGE, skip=skip, by=by, rising=rising),
            "asked": asked,
            "sort": sort,
            # Not names that cannot be shown as they are.
            "known": {name: [each for each in values if each == line(each)] for name, values in known.items()},
        },
        {"decisions": whole},
    )


def decision_page(shelf: Shelf, run: str, bot: str, subject: str, step: int = 0) -> Page:
    """Return a decision with its forecasts and a part of its trace.

    Raises:
        UsageError: If there is no such decision.
    """
    asked = Asked(run=run, bots=(bot,), subject=subject)
    # One of a run that was taken out of all scores is shown where no other is.
    own = shelf.told(asked) or shelf.told(asked := Asked(run=run, bots=(bot,), subject=subject, void=True))
    if not own:
        raise UsageError(f"no decision of {bot[:60]!r} on {subject[:60]!r} in run {run[:80]!r}")
    found = own[-1]
    document: Mapping[str, Any] = {"steps": []}
    missing = ""
    if shelf.traces and found.trace_sha256 is not None:
        try:
            document = trace_document(read_trace(shelf.store, found.trace_sha256))
        except PredibotError as error:
            # What is in the ledger is shown all the same.
            missing = str(error)
    forecasts = [each for each in shelf.forecasts(asked) if each.void == found.void]
    step = max(0, step)
    return Page(
        "decision",
        {
            "decision": found,
            "forecasts": forecasts,
            "first": step,
            "steps": [_step(each) for each in document["steps"][step : step + shelf.steps_a_page]],
            "steps_a_page": shelf.steps_a_page,
            "all_steps": len(document["steps"]),
            "missing": missing,
            **shown_details(shelf, found),
        },
        {"forecasts": records(forecasts)},
    )


def _step(step: Mapping[str, Any]) -> tuple[str, list[tuple[str, str]]]:
    """Return what a step of a trace was, and its fields as text."""
    return str(step.get("kind", "step")), [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
        for name, value in step.items()
    ]
