"""`predibot trace`: what an agent said, called and was told, and what all of them used."""

from dataclasses import asdict
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import argument, flag, option


def trace(
    decision: Annotated[
        str | None,
        argument(
            "DECISION", "its number, a BOT for its latest, RUN_KEY/BOT/EVENT_ID, or how its trace's SHA-256 begins"
        ),
    ] = None,
    cost: Annotated[bool, flag("--cost", "sum tokens, time and cost by bot and kind of step")] = False,
    otlp: Annotated[
        str | None, option("--otlp", "URL", "send it to this collector as spans; DECISION may be a RUN_KEY")
    ] = None,
    full: Annotated[bool, options.full_option("show every text whole")] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Show a stored trace step by step, or sum them all."""
    from predibot.jobs.read_traces import latest_decisions, read_trace, usage_of_ledger
    from predibot.reports.terminal.trace import print_latest, print_trace, print_usage, trace_document, usage_document

    if decision is not None and cost:
        raise typer.BadParameter("--cost is of all decisions; leave DECISION out")
    if cost and otlp is not None:
        raise typer.BadParameter("--cost is of all decisions, --otlp of one or of a run; ask for one of both")
    if decision is None and otlp is not None:
        raise typer.BadParameter("name the DECISION or the run whose spans are sent")
    with output.caller().reading(ledger) as store:
        if decision is not None and otlp is not None:
            from predibot.jobs.logs.spans import send_spans_of
            from predibot.reports.figures import things

            sent = send_spans_of(store, decision, otlp)
            text = f"{things(sent.spans, 'span')} of {things(sent.decisions, 'decision')} sent"
            output.print_either(asdict(sent), text, *(f"left out: {why}" for why in sent.missing), json=json)
            return
        if decision is None and not cost:
            latest = latest_decisions(store)
            output.print_found(
                latest, lambda found: {"decisions": [asdict(each) for each in found]}, print_latest, json=json
            )
            return
        if decision is None:
            output.print_found(usage_of_ledger(store), usage_document, print_usage, json=json)
            return
        output.print_found(read_trace(store, decision), trace_document, print_trace, json=json, full=full)
