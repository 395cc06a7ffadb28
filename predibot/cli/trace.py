"""`predibot trace`: what an agent said, called and was told, and what all of them used."""

from typing import Annotated

import typer

from predibot.cli import options, output


def trace(
    decision: Annotated[
        str | None,
        typer.Argument(metavar="DECISION", help="named RUN_KEY/BOT/EVENT_ID, or by how its trace's SHA-256 begins"),
    ] = None,
    cost: Annotated[bool, typer.Option("--cost", help="sum tokens, time and cost by bot and kind of step")] = False,
    full: Annotated[bool, typer.Option("--full", help="show every text whole")] = False,
    ledger: options.Ledger = None,
    json: options.Json = False,
) -> None:
    """Show a stored trace step by step, or sum them all."""
    from predibot.jobs.read_traces import read_trace, used
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.terminal.trace import print_trace, print_used, trace_document, used_document

    if (decision is None) is not cost:
        raise typer.BadParameter("name a DECISION, or ask for --cost of them all")
    output.set_up_logs(verbose=False)
    with Store.open_to_read(ledger or DEFAULT_LEDGER) as store:
        output.say(f"ledger: {store.address}")
        if decision is None:
            report = used(store)
            if json:
                output.print_document(used_document(report))
            else:
                print_used(output.report_console(), report)
            return
        found = read_trace(store, decision)
    with store.rows_blamed():
        if json:
            output.print_document(trace_document(found))
        else:
            print_trace(output.report_console(), found, full=full)
