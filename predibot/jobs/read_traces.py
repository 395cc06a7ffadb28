"""Traces: one decision step by step, and the usage of all decisions."""

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NoReturn

from predibot.domain.trace import (
    ModelFailedStep,
    ModelStep,
    PageVisitedStep,
    SearchStep,
    Step,
    StoredTrace,
    cost_of_steps,
    seconds_of,
    sum_estimates_usd,
)
from predibot.errors import UsageError
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.decision_traces import (
    TracedDecision,
    decisions_with_traces,
    find_decisions,
    latest_of_bot,
    latest_traces,
    numbered_decision,
)
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import LedgerForecast, select_forecasts
from predibot.ledger.store import Store
from predibot.rows import grouped

LEAST_PREFIX = 6
_MOST_DIGITS = 9
_LISTED = 20
_DIGEST = re.compile(rf"[0-9a-f]{{{LEAST_PREFIX},64}}")
ALL = "all"


@dataclass(frozen=True, slots=True)
class DecisionTrace:
    """A decision with its trace."""

    decision: TracedDecision
    trace: StoredTrace
    forecasts: tuple[LedgerForecast, ...] = ()
    """Its forecast and bet on each market, with the market's payout; empty for a decision on no event."""


@dataclass(frozen=True, slots=True)
class StepUsage:
    """Usage by the steps of one kind; kinds of a bot do not overlap, and `all` is their sum."""

    bot: str
    kind: str
    steps: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0
    """Calls of a model, failed ones too."""
    calls_without_usage: int = 0
    """Calls whose provider did not report all tokens."""
    searches: int = 0
    pages: int = 0
    seconds: float = 0.0
    """Searches and pages are also part of the tools that made them."""
    cost_usd: float | None = 0.0
    """None where a part is unknown."""
    cost_known_usd: float = 0.0
    cost_estimated_usd: float = 0.0
    """The unknown part as budgets booked it: the worst case of each answer."""


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Usage by bot and kind of step, and how many traces could not be read."""

    rows: tuple[StepUsage, ...]
    traces: int
    missing: tuple[str, ...]
    """One reason for each unreadable trace."""


def read_trace(store: Store, asked: str) -> DecisionTrace:
    """Return the trace of a decision that `find_decision` finds; raise `UsageError` if there is no readable one."""
    decision = find_decision(store, asked)
    if decision.trace_sha256 is None:
        raise UsageError(f"{decision.name} has no trace: its bot talks to no model, or got no answer")
    steps = Traces(store).read(decision.trace_sha256)
    of_decision = RowFilter(rows=(decision.number,), void=True)
    with store.read() as connection:
        return DecisionTrace(decision, steps, select_forecasts(connection, of_decision))


def latest_decisions(store: Store) -> tuple[TracedDecision, ...]:
    """Return the twenty decisions with a trace that were stored last, the newest first."""
    with store.read() as connection:
        return latest_traces(connection, _LISTED)


def find_decision(store: Store, asked: str) -> TracedDecision:
    """Return a decision by number, bot (the latest traced), `RUN_KEY/BOT/EVENT_ID`, or a prefix of its trace's hash."""
    if asked.isascii() and asked.isdigit() and len(asked) <= _MOST_DIGITS:
        with store.read() as connection:
            found = numbered_decision(connection, int(asked))
        # A digest may begin with digits alone.
        if found is not None or len(asked) < LEAST_PREFIX:
            return found or _no_decision(asked)
    with store.read() as connection:
        if (latest := latest_of_bot(connection, asked)) is not None:
            return latest
    return _find_by_digest(store, asked) if _DIGEST.fullmatch(asked.casefold()) else _find_by_name(store, asked)


def usage_of_ledger(store: Store) -> UsageReport:
    """Return the usage of all decisions with a trace, by bot in order of entry."""
    with store.read() as connection:
        traced = decisions_with_traces(connection)
    return usage_of_traces(store, [(decision.bot, str(decision.trace_sha256)) for decision in traced])


def usage_of_traces(store: Store, traced: Sequence[tuple[str, str]]) -> UsageReport:
    """Return the usage in some traces, each given by its bot and its hash; none of a bot without a readable one."""
    steps_of: dict[str, list[Step]] = {}
    missing = []
    for bot, digest in traced:
        try:
            steps = Traces(store).read(digest).steps
        except UsageError as error:
            missing.append(str(error))
        else:
            steps_of.setdefault(bot, []).extend(steps)
    rows = [row for bot, steps in steps_of.items() for row in _usage_by_kind(bot, steps)]
    return UsageReport(tuple(rows), len(traced) - len(missing), tuple(missing))


def _no_decision(number: str) -> NoReturn:
    raise UsageError(
        f"there is no decision {number} in this ledger; one that failed and was tried again has another number. "
        "`predibot trace` lists the latest"
    )


def _find_by_digest(store: Store, prefix: str) -> TracedDecision:
    prefix = prefix.casefold()
    with store.read() as connection:
        found = {str(each.trace_sha256): each for each in decisions_with_traces(connection, prefix)}
    if not found:
        raise UsageError(f"no decision of this ledger has a trace {prefix!r}. Write RUN_KEY/BOT/EVENT_ID, or --cost")
    if len(found) > 1:
        raise UsageError(f"{len(found)} traces begin with {prefix!r}. Write more of it")
    return next(iter(found.values()))


def _find_by_name(store: Store, name: str) -> TracedDecision:
    run, *rest = name.rsplit("/", 2)
    if len(rest) != 2:
        raise UsageError(
            f"{name[:100]!r} names no decision or bot with a trace. Write RUN_KEY/BOT/EVENT_ID, as `predibot export "
            f"--table decisions` names them, or the first {LEAST_PREFIX} or more characters of a trace's SHA-256"
        )
    with store.read() as connection:
        found = find_decisions(connection, run, *rest)
        known = sorted({each.run for each in decisions_with_traces(connection)})
    if not found:
        hint = f"Runs with traces: {', '.join(known[-5:])}" if known else "No decision of this ledger has a trace"
        raise UsageError(f"there is no decision {name[:200]!r}. {hint}")
    return found[0]


def _usage_by_kind(bot: str, steps: Iterable[Step]) -> Iterator[StepUsage]:
    by_kind = grouped((step.kind, step) for step in steps)
    for kind in sorted(by_kind):
        yield _sum_usage(bot, kind, by_kind[kind])
    yield _sum_usage(bot, ALL, [step for steps in by_kind.values() for step in steps])


def _sum_usage(bot: str, kind: str, steps: Sequence[Step]) -> StepUsage:
    usages = [step.reply.usage for step in steps if isinstance(step, ModelStep)]
    failed = [step for step in steps if isinstance(step, ModelFailedStep)]
    cost_usd, cost_known_usd = cost_of_steps(steps)
    return StepUsage(
        bot,
        kind,
        steps=len(steps),
        input_tokens=sum(usage.input_tokens or 0 for usage in usages),
        cached_tokens=sum(usage.cached_tokens for usage in usages),
        output_tokens=sum(usage.output_tokens or 0 for usage in usages),
        calls=len(usages) + len(failed),
        calls_without_usage=sum(None in (usage.input_tokens, usage.output_tokens) for usage in usages)
        + sum(step.worst.tokens > 0 for step in failed),
        searches=sum(isinstance(step, SearchStep) for step in steps),
        pages=sum(isinstance(step, PageVisitedStep) for step in steps),
        seconds=math.fsum(seconds_of(step) or 0.0 for step in steps),
        cost_usd=cost_usd,
        cost_known_usd=cost_known_usd,
        cost_estimated_usd=sum_estimates_usd(steps),
    )
