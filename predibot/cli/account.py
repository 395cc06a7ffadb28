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
    as_of: options.AsOf = None,
    ledger: options.Ledger = None,
    full: Annotated[bool, typer.Option("--full", help="show every row, and prompts and answers")] = False,
    json: options.Json = False,
) -> None:
    """Show positions, pending orders, what settled, the journal and every allocation."""
    from predibot.jobs.account_statement import account_statements, told
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.accounts.statement import account_document, print_account

    output.set_up_logs(verbose=False)
    with Store.open_to_read(ledger or DEFAULT_LEDGER) as store:
        output.say(f"ledger: {store.address}")
        found = account_statements(store, bot, recipe=recipe, as_of=as_of)
        asked = partial(told, store)
        with store.rows_blamed():
            if json:
                output.print_document({"accounts": [account_document(each, asked) for each in found]})
                return
            console = output.report_console()
            for number, each in enumerate(found):
                if number:
                    console.print()
                print_account(console, each, asked, full=full)
