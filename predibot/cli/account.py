"""`predibot account`: what a bot's account holds, why, and everything that was booked."""

from functools import partial
from typing import Annotated

import typer

from predibot.cli import options, output


def account(
    bot: Annotated[str, typer.Argument(metavar="BOT", help="the name of the bot")],
    recipe: Annotated[
        str | None, typer.Option("--recipe", metavar="NAME", help="only its account of this recipe; left out: all")
    ] = None,
    cohort: Annotated[
        str | None, typer.Option("--cohort", metavar="WEEK", help="only its account of this weekly cohort")
    ] = None,
    as_of: options.AsOf = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    full: Annotated[bool, options.full_option("show every row, and prompts and answers")] = False,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="MODEL", help="have a model read the rationales too, and show how it agrees"),
    ] = None,
    judge_usd: Annotated[
        float, typer.Option("--judge-usd", metavar="USD", min=0.0, help="the most that may cost")
    ] = 0.5,
    json: options.Json = False,
) -> None:
    """Show positions, pending orders, what settled, the journal and every allocation."""
    from predibot.jobs.accounts.statement import account_statements, read_conversation
    from predibot.plugins.venues import venue_or_defaults
    from predibot.reports import figures
    from predibot.reports.accounts.statement import account_document, print_account

    with output.caller().reading(ledger) as store:
        reader = None
        if judge is not None:
            # Imported here: clients of models take half a second to load.
            from predibot.config import load_settings
            from predibot.jobs.accounts.rationale_judge import open_judge

            reader = open_judge(judge, most_usd=judge_usd, settings=load_settings())
        found = account_statements(store, bot, recipe=recipe, cohort=cohort, as_of=as_of, judge=reader)
        if reader is not None:
            output.say(
                f"judge: {judge} read {reader.asked} rationales for ${reader.cost_usd:.4f} of ${judge_usd:g}; answers "
                f"that say no factors: {reader.unread}, not asked for want of room: {reader.not_asked}"
            )
        asked = partial(read_conversation, store)
        if json:
            output.print_document({"accounts": [account_document(each, asked) for each in found]})
            return
        console = output.report_console()
        for number, each in enumerate(found):
            if number:
                console.print()
            with figures.in_currency(venue_or_defaults(each.name.venue).currency):
                print_account(console, each, asked, full=full)
