"""Traces on a screen and for JSON: each step of an agent, and what all of them used."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console

from predibot.agents.loop.belief import last_belief
from predibot.agents.prompts.fields import choice_of
from predibot.domain import trace as steps
from predibot.domain.decision import note_text
from predibot.jobs.read_traces import ALL, DecisionTrace, StepUsage, UsageReport
from predibot.ledger.read.decision_traces import TracedDecision
from predibot.ledger.read.rows_for_python import LedgerForecast
from predibot.reports import figures
from predibot.reports.table import Column, Document, Table, document, table_of
from predibot.reports.terminal.terminal import plain, print_grid, print_line, print_numbered, within

_SHORT_CELLS = 240
_TITLE_CELLS = 26
_SHOWN_MARKETS = 5
_SHOWN_FIELDS = ("result", "complaint", "message", "error", "query", "url", "code", "title", "sha256")
"""Fields that are shown of a step without a form of its own, in this order."""


def print_trace(console: Console, trace: DecisionTrace, *, full: bool) -> None:
    """Print whose decision it is, then every step; texts are shortened unless `full`."""
    decision = trace.decision
    print_line(console, f"{plain(decision.name)}: {_status(decision)} {plain(decision.message)}".rstrip(), style="bold")
    if decision.title:
        print_line(console, plain(decision.title))
    # Markets with a bet come first, the largest before others.
    for each in sorted(trace.forecasts, key=lambda each: -abs(each.booked_usd or 0.0))[:_SHOWN_MARKETS]:
        print_line(console, f"  {market_line(each)}")
    if (more := len(trace.forecasts) - _SHOWN_MARKETS) > 0:
        print_line(console, f"  and {figures.things(more, 'more market')}, which --json names")
    tries = f", of the last of {decision.tries} tries; no earlier one is kept" * (decision.tries > 1)
    print_line(
        console, f"trace {decision.trace_sha256}, {figures.things(len(trace.trace.steps), 'step')}{tries}", "dim"
    )
    if decision.prompt_sha256:
        named = choice_of(decision.prompt_sha256) or f"of its own {plain(decision.prompt_sha256)}"
        print_line(console, f"prompt {named}", style="dim")
    for note in decision.notes:
        print_line(console, f"note: {plain(note_text(note))}", style="dim")
    belief = last_belief(trace.trace.steps)
    for label, words in belief.lines() if belief is not None else ():
        print_line(console, f"last {label}: {plain(words)}" if label == "belief" else f"  {label}: {plain(words)}")
    for number, step in enumerate(trace.trace.steps, 1):
        print_line(console, f"\n{number}. {step_heading(step)}", style="bold")
        for label, text in texts_of_step(step):
            for line in _lines(text, full=full):
                print_line(console, f"   {label}: {line}" if label else f"   {line}")
                label = ""


def market_line(each: LedgerForecast) -> str:
    """Return a market with the price, a bot's forecast and bet, and how it ended."""
    price = "" if each.price_yes is None else f", price {figures.probability(each.price_yes)}"
    side = "YES" if (each.booked_usd or 0.0) > 0.0 else "NO"
    bet = f"bet {figures.usd(abs(each.booked_usd))} on {side}" if each.booked_usd else "no bet"
    end = "stakes given back" if each.refunded else "open"
    if each.payout_yes is not None:
        end = f"paid {figures.probability(each.payout_yes)}"
    return f"forecast {figures.probability(each.probability)}{price}, {bet}, {end}: {plain(each.question)}"


def print_latest(console: Console, latest: Sequence[TracedDecision]) -> None:
    """Print a row for each decision, with the number by which it is shown."""
    if not latest:
        print_line(console, "no decision has a trace: only bots that ask a model have one")
        return
    print_numbered(console, table_of("The latest decisions with a trace", _LATEST, latest), "predibot trace")


def print_usage(console: Console, report: UsageReport) -> None:
    """Print the use of models and tools: a row for each bot and kind of step, and what is unknown."""
    print_grid(console, usage_grid(report))
    silent = sum(row.calls_without_usage for row in report.rows if row.kind == ALL)
    if silent:
        print_line(console, f"calls that did not say how many tokens they took, which are in no sum: {silent}")
    for message in report.missing:
        print_line(console, f"left out: {plain(message)}")


def usage_grid(report: UsageReport) -> Table:
    """Return a row for each bot and kind of step."""
    return table_of(f"Used in {figures.things(report.traces, 'trace')}", _USED, report.rows)


def usage_document(report: UsageReport) -> Document:
    """Return what `trace --cost --json` prints."""
    return document(report, "traces used=rows missing")


def trace_document(trace: DecisionTrace) -> Document:
    """Return what `trace --json` prints: the steps as they are stored; NaN and infinities become text."""
    forecasts = [document(each) for each in trace.forecasts]
    return {
        "decision": document(trace.decision),
        "forecasts": forecasts,
        "steps": [_finite(row) for row in trace.trace.rows()],
    }


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_finite(each) for each in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _status(decision: TracedDecision) -> str:
    void, late = ", of a void run" * decision.void, ", too late to count" * decision.late
    return f"{decision.status}{void}{late}"


def _cost(row: StepUsage) -> str:
    if row.cost_usd is not None:
        return figures.cost_usd(row.cost_usd)
    known = f"unknown, {figures.cost_usd(row.cost_known_usd)} of it known"
    return f"{known}, {figures.cost_usd(row.cost_estimated_usd)} estimated" if row.cost_estimated_usd else known


_LATEST = (
    Column("#", "number", str),
    Column("run", "run", drop=2, kind="key"),
    Column("bot", "bot", kind="key"),
    Column("event", "event_id", drop=1, kind="key"),
    Column("title", "title", within(_TITLE_CELLS, figures.MISSING), kind="text"),
    Column("status", "", _status, kind="key"),
)
_USED = (
    Column("bot", "bot", kind="name"),
    Column("step", "kind", lambda kind: plain(kind.replace("_", " ")), 0, kind="key"),
    Column("steps", "steps", figures.count, 4),
    Column("calls", "calls", figures.count, 6),
    Column("tokens in", "input_tokens", figures.count, 8),
    Column("cached", "cached_tokens", figures.count, 1),
    Column("tokens out", "output_tokens", figures.count, 7),
    Column("searches", "searches", figures.count, 3),
    Column("pages", "pages", figures.count, 2),
    Column("seconds", "seconds", lambda seconds: f"{seconds:,.1f}", 5),
    Column("cost", "", _cost, 0),
)


def step_heading(step: steps.Step) -> str:
    """Return what a step was, with its figures."""
    kind = plain(step.kind.replace("_", " "))
    parts = [kind]
    match step:
        case steps.UnreadableStep():
            return "no step that predibot wrote; --json shows it"
        case steps.ToolStep():
            parts = [f"tool {plain(step.name)}"]
        case steps.ModelStep(reply=reply):
            sent, came = map(figures.count, (reply.usage.input_tokens, reply.usage.output_tokens))
            name = plain(step.asked.model_name)
            kept = f" ({figures.count(reply.usage.cached_tokens)} cached)" if reply.usage.cached_tokens else ""
            parts = [f"model {name}", f"{sent} tokens in{kept}, {came} out", _step_cost(reply.cost.usd)]
            parts += [f"{reply.retries} {'retry' if reply.retries == 1 else 'retries'}"] if reply.retries else []
            parts += _lost_tries(reply.lost_tries)
            parts += [reply.finish_reason] if reply.finish_reason not in ("stop", "tool_calls") else []
        case steps.ModelFailedStep():
            parts += _lost_tries(step.lost_tries)
        case steps.SampleStep():
            parts = [f"sample {plain(step.bot)}", plain(step.status)]
        case steps.SearchStep():
            parts = [kind, figures.things(len(step.results), "result"), _step_cost(step.cost_usd)]
    if isinstance(step, steps.ModelStep | steps.ModelFailedStep) and step.estimated_usd:
        parts.append(f"{figures.cost_usd(step.estimated_usd)} estimated")
    if (seconds := steps.seconds_of(step)) is not None:
        parts.append(f"{seconds:.2f} s")
    return ", ".join(parts)


def forecasts_of_sample(step: steps.SampleStep) -> str:
    """Return the label or the forecasts of a sample in words, empty where it has none."""
    if step.label:
        return step.label
    if len(step.probabilities) == 1:
        return figures.probability(next(iter(step.probabilities.values())))
    return ", ".join(f"{market_id} {figures.probability(each)}" for market_id, each in step.probabilities.items())


def _lost_tries(tries: int) -> list[str]:
    return (
        [f"{figures.count(tries)} {'try' if tries == 1 else 'tries'} lost that may have been charged"] if tries else []
    )


def _step_cost(usd: float | None) -> str:
    return "cost unknown" if usd is None else figures.cost_usd(usd)


def texts_of_step(step: steps.Step) -> Iterator[tuple[str, str]]:
    """Yield what was said in a step, each text with its label."""
    if isinstance(step, steps.ModelStep | steps.ModelFailedStep | steps.ModelNotAskedStep):
        # What tools said stands in their own steps.
        yield from ((each.role, each.text) for each in step.asked.new_messages if each.role in ("system", "user"))
    if isinstance(step, steps.ModelStep):
        reply = step.reply
        yield "says", reply.message.text
        for call in reply.message.tool_calls:
            yield "calls", f"{call.name} {call.arguments_json}"
        yield "refuses", reply.refusal
        yield "doubt", step.doubt
        yield "settings", ", ".join(f"{name} {value}" for name, value in step.asked.settings.items())
        yield "refused settings", ", ".join(reply.refused_settings)
        return
    if isinstance(step, steps.SampleStep):
        yield "says", forecasts_of_sample(step)
    if belief := last_belief([step]):
        yield from belief.lines()
    elif isinstance(step, steps.ToolStep):
        yield "with", json.dumps(step.arguments, ensure_ascii=False)
    for name in _SHOWN_FIELDS:
        yield name, str((step.fields.get(name) if isinstance(step, steps.OwnStep) else getattr(step, name, None)) or "")
    for hit in step.results if isinstance(step, steps.SearchStep) else ():
        yield "found", f"{hit.title} {hit.url}"


def _lines(text: str, *, full: bool) -> Iterator[str]:
    if full:
        # `splitlines` splits at line ends of Unicode too, so nothing left in a line moves the cursor.
        yield from (plain(line) for line in text.splitlines() if line.strip())
    elif text:
        yield plain(text, _SHORT_CELLS)
