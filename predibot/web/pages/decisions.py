"""The pages of decisions: a list of them, one with its trace, and one of its sources."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args

from markupsafe import escape

from predibot.domain.account import MODES
from predibot.domain.decision import ITEM_SUBJECTS, Status, note_text
from predibot.errors import PredibotError, UsageError
from predibot.jobs.histories.bot import HorizonGain, gains_of_bot
from predibot.ledger.files.content_store import Pages
from predibot.ledger.files.trace_lines import TraceLines
from predibot.ledger.read.event_facts import event_categories
from predibot.ledger.read.event_lists import list_decisions
from predibot.ledger.read.row_filter import OUTCOMES, RowFilter
from predibot.ledger.read.rows_for_python import (
    SORTED_BY,
    LedgerDecision,
    LedgerForecast,
    count_decisions,
    select_with_forecasts,
    sort_decisions,
)
from predibot.scoring.records.part import Part
from predibot.web.cache import LedgerCache
from predibot.web.pages.page import PAGE, Rows, WebPage, day_of, end_of_day, pagination, records
from predibot.web.rendering import line, lines
from predibot.web.turns import turn_starts, turns_of

_AT_ONCE = 500
_MOST_FIND = 200


def decisions_page(
    cache: LedgerCache,
    recipe: str = "",
    bot: str = "",
    run: str = "",
    status: str = "",
    outcome: str = "",
    category: str = "",
    venue: str = "",
    mode: str = "",
    since: str = "",
    until: str = "",
    void: bool = False,
    items: bool = True,
    sort: str = "-slot",
    page_: int = 1,
) -> WebPage:
    """Return a part of the list of decisions, newest first.

    Args:
        outcome: One of `OUTCOMES`; empty for all.
        category: Of their events; empty for all.
        since: First day of the slots, such as 2026-01-31.
        until: Last day of the slots.
        void: Whether decisions of void runs are listed too.
        items: Whether labels of a study's items are listed too.
        sort: One of `SORTED_BY`, with a minus for the largest first.

    Raises:
        UsageError: If a day is none, or there is no such mode, outcome or column.
    """
    by, rising = sort.removeprefix("-"), not sort.startswith("-")
    if by not in SORTED_BY:
        raise UsageError(f"decisions cannot be sorted by {by[:40]!r}; there are: {', '.join(SORTED_BY)}")
    if outcome and outcome not in OUTCOMES:
        raise UsageError(f"no decision has the outcome {outcome[:40]!r}; there are: {', '.join(OUTCOMES)}")
    kinds = cache.read(event_categories)
    wanted = RowFilter(
        run=run or None,
        events=tuple(id for (_, id), kind in kinds.items() if kind == category) if category else None,
        outcome=outcome or None,
        recipe=recipe or None,
        bots=(bot,) if bot else (),
        status=status or None,
        venue=venue or None,
        mode=mode or None,
        since=day_of(since),
        until=end_of_day(until),
        void=void,
        items=items,
    )
    asked = {
        "recipe": recipe,
        "bot": bot,
        "run": run,
        "status": status,
        "outcome": outcome,
        "category": category,
        "venue": venue,
        "mode": mode,
        "since": since,
        "until": until,
        "void": "true" if void else "",
        "items": "" if items else "false",
        "sort": "" if sort == "-slot" else sort,
    }
    shown = pagination(sum(cache.read(count_decisions, wanted).values()), page_, "/decisions", **asked)
    skip = (shown["page"] - 1) * PAGE

    def whole() -> Rows:
        for first in range(0, shown["total"], _AT_ONCE):
            found = cache.read(sort_decisions, wanted, limit=_AT_ONCE, skip=first, by=by, rising=rising)
            yield from records(found)()

    return WebPage(
        "decisions",
        {
            **shown,
            "rows": cache.read(list_decisions, wanted, limit=PAGE, skip=skip, by=by, rising=rising),
            "asked": asked,
            "sort": sort,
            "known": _choices(cache, kinds.values()),
        },
        {"decisions": whole},
    )


def _choices(cache: LedgerCache, categories: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the values of each filter; a name that cannot be shown as it is cannot be chosen."""
    known = {
        "recipe": sorted({each.recipe for each in cache.runs()}),
        "bot": cache.bots(),
        "status": get_args(Status),
        "outcome": tuple(OUTCOMES),
        "category": sorted(set(categories)),
        "venue": cache.venues(),
        "mode": MODES,
    }
    return {name: [each for each in values if each == line(each)] for name, values in known.items()}


def decision_page(
    cache: LedgerCache,
    run: str,
    bot: str,
    subject: str,
    turn: int = 0,
    step: int = 0,
    find: str = "",
    only: int = 0,
) -> WebPage:
    """Return a decision with its forecasts and a part of its trace: turns, or steps where these are asked for.

    Args:
        turn: Number of turns of the trace that are skipped.
        step: From which step on every word is shown, from 1; 0 for turns.
        find: Only steps with this text; empty for all.
        only: Number of a step that is shown alone, and longer; 0 for none.

    Raises:
        UsageError: If there is no such decision.
    """
    found, forecasts = decision_of(cache, run, bot, subject)
    return WebPage(
        "decision",
        {
            "decision": found,
            "notes": [note_text(each) for each in found.notes],
            "item_kinds": ITEM_SUBJECTS,
            "forecasts": forecasts,
            "without_traces": found.trace_sha256 is not None and not cache.traces,
            **_trace_context(
                cache, found.trace_sha256 if cache.traces else None, turn, step, find.strip()[:_MOST_FIND], only
            ),
            **_details_context(cache, found),
        },
        {"forecasts": records(forecasts)},
    )


def decision_of(
    cache: LedgerCache, run: str, bot: str, subject: str
) -> tuple[LedgerDecision, tuple[LedgerForecast, ...]]:
    """Return a decision with its forecasts, one of a void run only if there is no other.

    Raises:
        UsageError: If there is none.
    """
    asked = RowFilter(run=run, bots=(bot,), subject=subject)
    for each in (asked, replace(asked, void=True)):
        own, forecasts = cache.read(select_with_forecasts, each)
        if own:
            return own[-1], tuple(each for each in forecasts if each.void == own[-1].void)
    raise UsageError(f"no decision of {bot[:60]!r} on {subject[:60]!r} in run {run[:80]!r}")


_PAGE_BYTES = 120_000
"""Limit of all steps of a page, as HTML."""
_FIELD_BYTES = 4_000
"""Limit of a field, if several steps are shown."""
_MOST_LINE_BYTES = 4_000_000
"""Longer steps are not parsed; a text of a step has 200,000 characters at most."""
_MOST_FIELDS = 40


@dataclass(frozen=True, slots=True)
class StepView:
    """A step as a page shows it."""

    number: int
    """From 1."""
    kind: str
    fields: tuple[tuple[str, str], ...]
    """Name and text of each; the text may be cut."""
    is_cut: bool


def _trace_context(
    cache: LedgerCache, digest: str | None, turn: int, step: int, find: str, only: int
) -> dict[str, Any]:
    """Return what the template shows of a trace; the arguments are those of `decision_page`."""
    turn, first, most = max(0, turn), max(0, step - 1), cache.steps_a_page
    shown: dict[str, Any] = {"turns": (), "steps": (), "a_page": most, "all_turns": 0, "all_steps": 0, "missing": ""}
    shown |= {"first": first if step else turn, "find": find, "only": only, "in_trace": 0}
    if digest is None:
        return shown
    try:
        trace = cache.trace_lines(digest)
        starts = turn_starts(trace)
        shown |= {"in_trace": len(trace), "all_turns": len(starts)}
        if not (step or find or only):
            return {**shown, "turns": tuple(turns_of(trace, starts, turn, most))}
        found = range(len(trace)) if not find else cache.find_in_trace(trace, find)
        numbers = found[first : first + most]
        if only:
            numbers = range(only - 1, only) if 0 < only <= len(trace) else range(0)
        return {**shown, "steps": tuple(_steps(trace, numbers)), "all_steps": 1 if only else len(found)}
    except PredibotError as error:
        # The rest of the page is shown all the same.
        return {**shown, "in_trace": 0, "missing": str(error)}


def _steps(trace: TraceLines, numbers: Any) -> Iterator[StepView]:
    each_bytes = _PAGE_BYTES // max(1, len(numbers))
    field_bytes = _FIELD_BYTES if len(numbers) > 1 else _PAGE_BYTES
    read = trace.read(numbers, _MOST_LINE_BYTES)
    for number, (length, text) in zip(numbers, read, strict=False):
        row = _parse_row(text, length)
        left, fields = each_bytes, list[tuple[str, str]]()
        is_cut = len(row) > _MOST_FIELDS or length > _MOST_LINE_BYTES
        for name, value in list(row.items())[:_MOST_FIELDS]:
            cut = _cut(_text(value), min(field_bytes, left))
            named = _cut(line(name), 200)
            left -= _bytes_of(cut) + _bytes_of(named)
            is_cut |= cut.endswith("more characters)")
            if left <= 0:
                is_cut = True
                break
            fields.append((named, cut))
        kind = row.get("kind")
        yield StepView(number + 1, kind if isinstance(kind, str) else "step", tuple(fields), is_cut)


def _parse_row(text: bytes, length: int) -> Mapping[str, Any]:
    """Return a line as an object; one that is no JSON, or too long to be parsed, becomes a text."""
    if len(text) == length:
        try:
            row = json.loads(text)
            if isinstance(row, dict):
                return row
        except (ValueError, RecursionError):
            pass
    return {"kind": "no step that predibot wrote", "text": text.decode("utf-8", "replace")}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, indent=1)
    except RecursionError:
        return "nested too deep to be shown"


def _bytes_of(text: str) -> int:
    return len(str(escape(text)).encode("utf-8", "replace"))


def _cut(text: str, most_bytes: int) -> str:
    """Return the harmless beginning of a text that takes about `most_bytes` in a page."""
    whole = len(text)
    kept = min(whole, max(0, most_bytes))
    while (taken := _bytes_of(shown := lines(text[:kept]))) > most_bytes and kept > 0:
        kept = min(kept - 1, kept * most_bytes // taken)
    return shown if kept == whole else f"{shown}… ({whole - kept:,} more characters)"


def _details_context(cache: LedgerCache, decision: LedgerDecision) -> dict[str, Any]:
    bot = decision.bot
    gains: tuple[HorizonGain, ...] = ()
    if decision.subject_kind == "event" and not decision.late:
        venue = next((run.venue for run in cache.runs_of(decision.run) if run.void == decision.void), None)
        # Computed once for all decisions of the bot.
        of_bot = cache.compute_on_part(gains_of_bot, bot, part=Part(venue=venue))
        gains = of_bot.of(decision.subject_id, decision.decided_at)
    return {"details": cache.details(decision.run, bot, decision.subject_id), "gains": gains}


def source_page(cache: LedgerCache, run: str, bot: str, subject: str, number: int) -> WebPage:
    """Return a source of a decision, with the text that was kept of it."""
    found = cache.details(run, bot, subject)
    source = next((each for each in found.sources if each.number == number), None)
    if source is None:
        raise UsageError(f"no source {number} of {bot[:60]!r} on {subject[:60]!r} in run {run[:80]!r}")
    text, missing = "", "Of a search only what was searched for is kept." if source.kind == "search" else ""
    if source.sha256 is not None:
        try:
            text = Pages(cache.store).text(source.sha256)
        except PredibotError as error:
            # Pages may be pruned, or left on another machine.
            missing = str(error)
    shown = {"source": source, "run": run, "bot": bot, "subject": subject, "text": text, "missing": missing}
    return WebPage("source", shown)
