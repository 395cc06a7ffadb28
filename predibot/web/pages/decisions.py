"""What each bot decided, and why, step by step."""

from dataclasses import replace
from typing import get_args

from predibot.domain.account import MODES
from predibot.domain.decision import Status
from predibot.errors import UsageError
from predibot.ledger.read.rows_for_python import (
    SORTED_BY,
    LedgerDecision,
    RowFilter,
    count_decisions,
    listed_decisions,
    told_decisions,
    told_forecasts,
)
from predibot.web.pages.details import shown_details
from predibot.web.pages.page import PAGE, Rows, WebPage, day_of, end_of_day, part_of, records
from predibot.web.pages.traces import shown_steps
from predibot.web.rendering import line
from predibot.web.shelf import Shelf

_AT_ONCE = 500
_MOST_FIND = 200


def decisions_page(
    shelf: Shelf,
    recipe: str = "",
    bot: str = "",
    run: str = "",
    status: str = "",
    venue: str = "",
    mode: str = "",
    since: str = "",
    until: str = "",
    void: bool = False,
    sort: str = "-slot",
    page_: int = 1,
) -> WebPage:
    """Return a part of the list of decisions, newest first.

    Args:
        shelf: The ledger.
        recipe: Only its decisions; empty for all, as the next ones.
        bot: Who decided.
        run: Its key.
        status: What became of it.
        venue: Where the run was made.
        mode: Whether it was live, or a replay.
        since: The first day of the slots, such as 2026-01-31.
        until: The last one.
        void: Whether those of runs that were taken out of all scores are listed too.
        sort: One of `SORTED_BY`, with a minus for the largest first.
        page_: Which part.

    Raises:
        UsageError: If a day is none, or there is no such mode or column.
    """
    by, rising = sort.removeprefix("-"), not sort.startswith("-")
    if by not in SORTED_BY:
        raise UsageError(f"decisions cannot be sorted by {by[:40]!r}; there are: {', '.join(SORTED_BY)}")
    wanted = RowFilter(
        run=run or None,
        recipe=recipe or None,
        bots=(bot,) if bot else (),
        status=status or None,
        venue=venue or None,
        mode=mode or None,
        since=day_of(since),
        until=end_of_day(until),
        void=void,
    )
    asked = {
        "recipe": recipe,
        "bot": bot,
        "run": run,
        "status": status,
        "venue": venue,
        "mode": mode,
        "since": since,
        "until": until,
        "void": "true" if void else "",
        "sort": "" if sort == "-slot" else sort,
    }
    shown = part_of(sum(shelf.read(count_decisions, wanted).values()), page_, "/decisions", **asked)
    skip = (shown["page"] - 1) * PAGE

    def whole() -> Rows:
        for first in range(0, shown["total"], _AT_ONCE):
            found = shelf.read(listed_decisions, wanted, limit=_AT_ONCE, skip=first, by=by, rising=rising)
            yield from records(found)()

    known = {
        "recipe": sorted({each.recipe for each in shelf.runs()}),
        "bot": shelf.bots(),
        "status": get_args(Status),
        "venue": shelf.venues(),
        "mode": MODES,
    }
    return WebPage(
        "decisions",
        {
            **shown,
            "rows": shelf.read(listed_decisions, wanted, limit=PAGE, skip=skip, by=by, rising=rising),
            "asked": asked,
            "sort": sort,
            # Not names that cannot be shown as they are.
            "known": {name: [each for each in values if each == line(each)] for name, values in known.items()},
        },
        {"decisions": whole},
    )


def decision_page(
    shelf: Shelf, run: str, bot: str, subject: str, step: int = 0, find: str = "", only: int = 0
) -> WebPage:
    """Return a decision with its forecasts and a part of its trace.

    Args:
        shelf: The ledger.
        run: The key of its run.
        bot: Who decided.
        subject: About what.
        step: How many steps of the trace are passed over.
        find: Only steps with this text; empty for all.
        only: The number of a step that is shown alone, and longer; 0 for none.

    Raises:
        UsageError: If there is no such decision.
    """
    found = decision_of(shelf, run, bot, subject)
    forecasts = [
        each
        for each in shelf.read(told_forecasts, RowFilter(run=run, bots=(bot,), subject=subject, void=bool(found.void)))
        if each.void == found.void
    ]
    return WebPage(
        "decision",
        {
            "decision": found,
            "forecasts": forecasts,
            **shown_steps(shelf, found.trace_sha256 if shelf.traces else None, step, find.strip()[:_MOST_FIND], only),
            **shown_details(shelf, found),
        },
        {"forecasts": records(forecasts)},
    )


def decision_of(shelf: Shelf, run: str, bot: str, subject: str) -> LedgerDecision:
    """Return the decision of an address; one of a run that was taken out of all scores where no other is.

    Raises:
        UsageError: If there is none.
    """
    asked = RowFilter(run=run, bots=(bot,), subject=subject)
    own = shelf.read(told_decisions, asked) or shelf.read(told_decisions, replace(asked, void=True))
    if not own:
        raise UsageError(f"no decision of {bot[:60]!r} on {subject[:60]!r} in run {run[:80]!r}")
    return own[-1]
