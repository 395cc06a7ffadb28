"""`predibot graph`: which events hang together, as groups, chains and a picture."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output


def graph(
    venue: options.LookBackVenue = None,
    archive: Annotated[
        Path | None, typer.Option("--archive", metavar="DIR", help="compare what an archive has, not the ledger")
    ] = None,
    as_of: options.AsOf = None,
    at_least: Annotated[
        float, typer.Option("--at-least", metavar="S", min=0.0, max=1.0, help="how related the ends of an edge are")
    ] = 0.6,
    chain: Annotated[
        str | None, typer.Option("--chain", metavar="A,B", help="also how two events are connected, by their ids")
    ] = None,
    no_filters: Annotated[
        bool, typer.Option("--no-filters", help="compare also markets that hardly trade or move")
    ] = False,
    svg: Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="draw it into a file")] = None,
    ledger: options.Ledger = None,
    every: options.AllRows = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Compare all events with each other; no venue is asked."""
    from predibot.errors import UsageError
    from predibot.jobs.commands.relate import known_in_archive, known_in_ledger
    from predibot.jobs.relatedness.neighbours import chain_between
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.pictures.graph import graph_svg
    from predibot.reports.terminal.closeups.graph import graph_document, print_graph
    from predibot.scoring.relatedness.filters import Filters
    from predibot.scoring.relatedness.graph import belief_graph
    from predibot.whole_file import whole_file

    caller = output.caller(verbose=verbose)
    ends = options.names(chain, "--chain 903193,903194")
    if chain is not None and len(ends) != 2:
        raise typer.BadParameter(f"--chain is between two events, not {len(ends)}; write --chain A,B")
    if archive is not None and venue is not None:
        raise typer.BadParameter("--archive says which markets are meant; leave --venue out")
    if archive is not None:
        at = known_in_archive(archive, caller.settings(), as_of=as_of, clock=caller.clock)
    else:
        with Store.open_to_read(ledger or DEFAULT_LEDGER) as store:
            caller.say(f"ledger: {store.address}")
            at = known_in_ledger(store, venue=venue, as_of=as_of, clock=caller.clock)
    found = belief_graph(at.known.beliefs, filters=None if no_filters else Filters(), at_least=at_least)
    between = None if chain is None else chain_between(found, *ends)
    if svg is not None:
        try:
            with whole_file(svg) as file:
                file.write(graph_svg(found, at.known.titles).encode())
        except OSError as error:
            raise UsageError(f"{svg} cannot be written: {error.strerror}; name another file") from error
        caller.say(f"picture: {svg}")
    if json:
        output.print_document(graph_document(found, at, between))
    else:
        print_graph(output.report_console(), found, at, between, every_row=every)
        if chain is not None and between is None:
            output.say("no chain of related events connects them")
