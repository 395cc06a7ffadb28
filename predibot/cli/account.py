"""`predibot account`: what a bot's account holds, why, and everything that was booked."""

from functools import partial
from typing import Annotated, Any

import typer

from predibot.cli import options, output
from predibot.cli.options import argument, option


def account(
    bot: Annotated[
        str | None, argument("[BOT]", "the name of the bot; left out: what the rationales of all refer to")
    ] = None,
    recipe: Annotated[str | None, option("--recipe", "NAME", "only its account of this recipe; left out: all")] = None,
    cohort: Annotated[str | None, option("--cohort", "WEEK", "only its account of this weekly cohort")] = None,
    as_of: options.AsOf = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    full: Annotated[bool, options.full_option("show every row, and prompts and answers")] = False,
    judge: Annotated[
        str | None, option("--judge", "MODEL", "have a model read the rationales too, and show how it agrees")
    ] = None,
    judge_usd: Annotated[float, option("--judge-usd", "USD", "the most that may cost", min=0.0)] = 0.5,
    json: options.Json = False,
) -> None:
    """Show positions, pending orders, what settled, the journal and every allocation."""
    from predibot.jobs.accounts.statement import account_statements, bot_rationales, read_conversation
    from predibot.plugins.venues import venue_or_defaults
    from predibot.reports import figures
    from predibot.reports.accounts import statement
    from predibot.reports.terminal.terminal import print_grid

    if bot is None and full:
        raise typer.BadParameter("--full shows more of one account; name its BOT too")
    with output.caller().reading(ledger) as store:
        reader = None
        if judge is not None:
            # Imported here: clients of models take half a second to load.
            from predibot.config import load_settings
            from predibot.jobs.accounts.rationale_judge import open_judge

            reader = open_judge(judge, most_usd=judge_usd, settings=load_settings())
        part: dict[str, Any] = {"recipe": recipe, "cohort": cohort, "as_of": as_of, "judge": reader}
        rationales = bot_rationales(store, **part) if bot is None else ()
        found = () if bot is None else account_statements(store, bot, **part)
        if reader is not None:
            output.say(
                f"judge: {reader.model.name} read {reader.asked} rationales for ${reader.cost_usd:.4f} of "
                f"${judge_usd:g}; answers that say no factors: {reader.unread}, not asked for want of room: "
                f"{reader.not_asked}"
            )
        if bot is None:
            if json:
                output.print_document({"rationales": statement.rationale_documents(rationales)})
            else:
                for table in statement.rationale_tables(rationales):
                    print_grid(output.report_console(), table)
            return
        asked = partial(read_conversation, store)
        if json:
            output.print_document({"accounts": [statement.account_document(each, asked) for each in found]})
            return
        console = output.report_console()
        for number, each in enumerate(found):
            if number:
                console.print()
            with figures.in_currency(venue_or_defaults(each.name.venue).currency):
                statement.print_account(console, each, asked, full=full)
