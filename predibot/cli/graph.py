"""`predibot graph`: the graph of related events, as a picture and as tables."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output


def graph(
    venue: options.LookBackVenue = None,
    archive: Annotated[
        Path | None, typer.Option("--archive", metavar="DIR", help="draw what an archive has, not the ledger")
    ] = None,
    as_of: options.AsOf = None,
    at_least: Annotated[
        float, typer.Option("--at-least", metavar="S", help="how related the ends of an edge are")
    ] = 0.6,
    chain: Annotated[
        str | None, typer.Option("--chain", metavar="A,B", help="also how two events are connected, by their ids")
    ] = None,
    no_filters: Annotated[
        bool, typer.Option("--no-filters", help="compare also markets that hardly trade or move")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="NAME", help="compare texts by this sentence-transformer, not by their words"),
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="draw it into a file")] = None,
    ledger: options.Ledger = None,
    every: options.AllRows = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Draw the events that move together, with their groups, chains and news; no venue is asked."""
    from predibot.jobs.commands.relate import graph_in_ledger, known_in_archive
    from predibot.jobs.relatedness.graph import graph_at
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.commands.closeups import written_graph
    from predibot.reports.terminal.closeups.graph import graph_document, graph_grids
    from predibot.reports.terminal.grid import print_grid
    from predibot.reports.terminal.terminal import print_line
    from predibot.scoring.relatedness.filters import Filters

    caller = output.caller(verbose=verbose)
    filters = None if no_filters else Filters()
    names = options.names(chain, "--chain 903193,903194")
    if chain is not None and len(names) != 2:
        raise typer.BadParameter(f"--chain is between two events, not {len(names)}; write --chain A,B")
    ends = None if chain is None else (names[0], names[1])
    if archive is not None and venue is not None:
        raise typer.BadParameter("--archive says which markets are meant; leave --venue out")
    if archive is not None:
        at = known_in_archive(archive, caller.settings(), as_of=as_of, clock=caller.clock)
        found = graph_at(at, filters=filters, model=model, at_least=at_least, ends=ends)
    else:
        with Store.open_to_read(ledger or DEFAULT_LEDGER) as store:
            caller.say(f"ledger: {store.address}")
            found = graph_in_ledger(
                store,
                venue=venue,
                as_of=as_of,
                clock=caller.clock,
                filters=filters,
                model=model,
                at_least=at_least,
                ends=ends,
            )
    said = written_graph(found, svg)
    if json:
        output.print_document(graph_document(found))
        return
    console = output.report_console()
    print_line(console, said)
    for grid in graph_grids(found, every_row=every):
        console.print()
        print_grid(console, grid)
