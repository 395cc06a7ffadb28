"""`predibot graph`: the graph of related events, as a picture and as tables."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import option


def graph(
    venue: options.LookBackVenue = None,
    archive: Annotated[Path | None, options.archive("draw")] = None,
    as_of: options.AsOf = None,
    at_least: Annotated[float, option("--at-least", "S", "how related the ends of an edge are")] = 0.6,
    chain: Annotated[str | None, option("--chain", "A,B", "also how two events are connected, by their ids")] = None,
    no_filters: options.NoFilters = False,
    model: options.TextModel = None,
    svg: Annotated[Path | None, option("--svg", "FILE", "draw it into a file")] = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    every: options.AllRows = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Draw the events that move together, with their groups, chains and news; no venue is asked."""
    from predibot.api.relate import beliefs_in_archive, beliefs_in_ledger, news_in_ledger
    from predibot.jobs.relatedness.graph import find_graph
    from predibot.related.filters import Filters
    from predibot.reports.pictures.files import write_graph
    from predibot.reports.terminal.closeups.related import graph_document, graph_grids
    from predibot.reports.terminal.terminal import print_grids, print_line
    from predibot.scoring.records.part import Part

    caller = output.caller(verbose=verbose)
    filters = None if no_filters else Filters()
    names = options.split_names(chain, "--chain 903193,903194")
    if chain is not None and len(names) != 2:
        raise typer.BadParameter(f"--chain is between two events, not {len(names)}; write --chain A,B")
    ends = None if chain is None else (names[0], names[1])
    if archive is not None and venue is not None:
        raise typer.BadParameter("--archive says which markets are meant; leave --venue out")
    if archive is None:
        with caller.reading(ledger) as store:
            known = beliefs_in_ledger(store, Part(venue=venue, as_of=as_of), clock=caller.clock)
            news = news_in_ledger(store, known)
    else:
        known, news = beliefs_in_archive(archive, caller.settings(), as_of=as_of, clock=caller.clock), ()
    found = find_graph(known, filters=filters, model=model, at_least=at_least, ends=ends, news=news)
    sentence = write_graph(found, svg)
    if json:
        output.print_document(graph_document(found))
        return
    console = output.report_console()
    print_line(console, sentence)
    print_grids(console, graph_grids(found, every_row=every))
