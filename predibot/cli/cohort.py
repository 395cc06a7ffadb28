"""`predibot cohort`: the weekly cohorts of a ledger, or one of them with its members and what they hold."""

from typing import Annotated

import typer

from predibot.cli import options, output


def cohort(
    week: Annotated[
        str | None, typer.Argument(metavar="WEEK", help="its Sunday, as 2026-03-01; left out: a list of all")
    ] = None,
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="NAME", help="only of this recipe; left out: all")
    ] = None,
    as_of: options.AsOf = None,
    archive: Annotated[
        str | None, typer.Option("--archive", metavar="REASON", help="count it in no score from now on, and say why")
    ] = None,
    unarchive: Annotated[bool, typer.Option("--unarchive", help="count it in scores again")] = False,
    ledger: options.Ledger = None,
    full: Annotated[bool, typer.Option("--full", help="show every row, ended positions too")] = False,
    json: options.Json = False,
) -> None:
    """Show members, values, positions, markets in common, and what is due."""
    from predibot.jobs.accounts.cohorts import cohorts_of, every_cohort, set_archived
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.plugins.venues import currency_of
    from predibot.reports import figures
    from predibot.reports.cohorts.statement import cohort_document, list_grid, print_cohort, summary_document
    from predibot.reports.terminal.grid import print_grid

    output.set_up_logs(verbose=False)
    changes = unarchive or archive is not None
    if changes and week is None:
        raise typer.BadParameter("--archive and --unarchive are about one cohort; say which WEEK")
    if unarchive and archive is not None:
        raise typer.BadParameter("--archive and --unarchive are opposites; say one")
    address = ledger or DEFAULT_LEDGER
    clock = options.wall_clock
    if week is not None and changes:
        with Store.open(address, create=False) as store:
            output.say(f"ledger: {store.address}")
            found, changed = set_archived(store, week, archive, recipe=recipe, at=clock())
        done = "counts in scores again" if unarchive else "is archived, and in no score"
        output.say(f"cohort {week} of {found[0].recipe} {done}" + ("" if changed else "; it was so before"))
        return
    with Store.open_to_read(address) as store:
        output.say(f"ledger: {store.address}")
        if week is None:
            listed = every_cohort(store, recipe=recipe, as_of=as_of, clock=clock)
            if json:
                output.print_document({"cohorts": [summary_document(each) for each in listed]})
            else:
                print_grid(output.report_console(), list_grid(listed))
            return
        statements = cohorts_of(store, week, recipe=recipe, as_of=as_of, clock=clock)
        with store.rows_blamed():
            if json:
                output.print_document({"cohorts": [cohort_document(each) for each in statements]})
                return
            console = output.report_console()
            for number, each in enumerate(statements):
                if number:
                    console.print()
                with figures.in_currency(currency_of(each.cohort.venue)):
                    print_cohort(console, each, full=full)
