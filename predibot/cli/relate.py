"""`predibot relate EVENT`: which events move with one, and why."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import argument


def relate(
    event: Annotated[str, argument("EVENT", "the venue's id of an event")],
    venue: options.LookBackVenue = None,
    archive: Annotated[Path | None, options.archive("compare")] = None,
    as_of: options.AsOf = None,
    no_filters: options.NoFilters = False,
    model: options.TextModel = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    every: options.AllRows = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Compare an event with all others by their jumps, tags and words; no venue is asked."""
    from predibot.api.relate import beliefs_in_archive, beliefs_in_ledger
    from predibot.jobs.relatedness.graph import relations_of
    from predibot.related.filters import Filters
    from predibot.reports.terminal.closeups.related import print_relations, relations_document
    from predibot.scoring.records.part import Part

    caller = output.caller(verbose=verbose)
    if archive is not None and venue is not None:
        raise typer.BadParameter("--archive says which markets are meant; leave --venue out")
    if archive is not None:
        known = beliefs_in_archive(archive, caller.settings(), as_of=as_of, clock=caller.clock)
    else:
        with caller.reading(ledger) as store:
            known = beliefs_in_ledger(store, Part(venue=venue, as_of=as_of), clock=caller.clock)
    found = relations_of(event, known, filters=None if no_filters else Filters(), model=model)
    output.print_found(found, relations_document, print_relations, json=json, every_row=every)
