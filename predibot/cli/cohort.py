"""`predibot cohort`: the weekly cohorts of a ledger, or one of them with its members and what they hold."""

from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.options import argument, flag, option


def cohort(
    week: Annotated[str | None, argument("WEEK", "its Sunday, as 2026-03-01; left out: a list of all")] = None,
    recipe: Annotated[str | None, option("--recipe", "NAME", "only of this recipe; left out: all")] = None,
    as_of: options.AsOf = None,
    leave_out: Annotated[
        str | None, option("--leave-out", "REASON", "count it in no score from now on, and say why")
    ] = None,
    count_again: Annotated[bool, flag("--count-again", "count it in scores again")] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    full: Annotated[bool, options.full_option("show every row, ended positions too")] = False,
    json: options.Json = False,
) -> None:
    """Show members, values, positions, markets in common, and what is due."""
    from predibot.jobs.accounts.cohorts import archive_or_restore, list_cohorts, statements_of_cohort
    from predibot.plugins.venues import venue_or_defaults
    from predibot.reports import figures
    from predibot.reports.accounts.cohort_statement import cohort_document, list_grid, print_cohort, summary_document
    from predibot.reports.terminal.terminal import print_grid

    caller = output.caller()
    changes = count_again or leave_out is not None
    if changes and week is None:
        raise typer.BadParameter("--leave-out and --count-again are about one cohort; say which WEEK")
    if count_again and leave_out is not None:
        raise typer.BadParameter("--leave-out and --count-again are opposites; say one")
    if week is not None and changes:
        with caller.writing(ledger) as store:
            found, changed = archive_or_restore(store, week, leave_out, recipe=recipe, at=caller.clock())
        done = "counts in scores again" if count_again else "is archived, and in no score"
        output.say(f"cohort {week} of {found[0].recipe} {done}" + ("" if changed else "; it was so before"))
        return
    with caller.reading(ledger) as store:
        if week is None:
            listed = list_cohorts(store, recipe=recipe, as_of=as_of, clock=caller.clock)
            if json:
                output.print_document({"cohorts": [*map(summary_document, listed)]})
            else:
                print_grid(output.report_console(), list_grid(listed))
            return
        statements = statements_of_cohort(store, week, recipe=recipe, as_of=as_of, clock=caller.clock)
        if json:
            output.print_document({"cohorts": [cohort_document(each) for each in statements]})
            return
        console = output.report_console()
        for number, each in enumerate(statements):
            if number:
                console.print()
            with figures.in_currency(venue_or_defaults(each.cohort.venue).currency):
                print_cohort(console, each, full=full)
