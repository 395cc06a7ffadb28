"""`predibot schedule`: a service that runs recipes by their schedules, and what is asked of it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, DecidingCommand, Group
from predibot.cli.ending import NOTHING, PARTLY

_RUN = "run"


class _ScheduleGroup(Group):
    """A group of which the command that runs the service has no name of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take what is no command for a recipe, or an option of the service."""
        if not args or (args[0] not in self.commands and args[0] not in ("-h", "--help")):
            args = [_RUN, *args]
        return super().parse_args(ctx, args)


GROUP = typer.Typer(cls=_ScheduleGroup, rich_markup_mode=None, no_args_is_help=False)


@GROUP.callback(help="run recipes by their schedules, with nobody watching")
def _schedules() -> None:
    """Run recipes by their schedules."""


@GROUP.command(_RUN, cls=DecidingCommand, help="run recipes by their schedules; this word may be left out")
def run(
    recipes: Annotated[
        list[str] | None, typer.Argument(metavar="[RECIPE]...", help="files or names of recipes with a [schedule]")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="play what is due now and end, as for cron")] = False,
    grace: Annotated[
        float, typer.Option("--grace", metavar="SECONDS", min=0.0, help="for what is under way at the end")
    ] = 60.0,
    ledger: options.Ledger = None,
    verbose: options.Verbose = False,
) -> None:
    """Play each slot of each recipe once, and write down those that nobody was there for."""
    from functools import partial

    from predibot.jobs.commands.schedule import ServiceTerms, schedule_as_asked
    from predibot.jobs.notify.slot_notices import slot_notices
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.views.summary import summary_of

    caller = output.caller(verbose=verbose)
    ledger = ledger or DEFAULT_LEDGER
    with slot_notices(caller, ledger, summary_of) as notices:
        set_up = partial(output.set_up_logs, verbose=verbose)
        terms = ServiceTerms(once, grace, set_up, on_slot=notices.on_slot, on_look=notices.look)
        rows = schedule_as_asked(recipes or ["daily"], caller, ledger=ledger, terms=terms)
    _end_as([row.status for row in rows])


def _end_as(statuses: Sequence[str]) -> None:
    """End with the exit code of what became of slots."""
    if any(status != "done" for status in statuses):
        raise typer.Exit(PARTLY if any(status in ("done", "partly") for status in statuses) else NOTHING)


_Recipe = Annotated[str, typer.Argument(metavar="RECIPE", help="a recipe's file or name")]


@GROUP.command("run-now", cls=DecidingCommand, help="play a slot of a recipe now: one that is not done, or one more")
def run_now(
    recipe: _Recipe,
    slot: Annotated[
        datetime | None,
        typer.Option("--slot", parser=options.instant, metavar="INSTANT", help="which; left out, the newest not done"),
    ] = None,
    ledger: options.Ledger = None,
    verbose: options.Verbose = False,
    json: options.Json = False,
) -> None:
    """Play a slot without waiting for its time, and keep its row."""
    from predibot.jobs.commands.schedule import play_as_asked, words_of_slot
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.views.schedule import slot_document

    caller = output.caller(verbose=verbose)
    row = play_as_asked(recipe, caller, ledger=ledger or DEFAULT_LEDGER, slot_at=slot)
    if json:
        output.print_document(slot_document(row))
    else:
        output.report_console().print(words_of_slot(row), markup=False, soft_wrap=True)
    _end_as([row.status])


@GROUP.command("pause", cls=Command, help="leave out the slots of a recipe from now on")
def pause(recipe: _Recipe, ledger: options.Ledger = None) -> None:
    """Leave out the slots of a recipe; each has a row that says so."""
    _pause(recipe, ledger, paused=True)


@GROUP.command("resume", cls=Command, help="play the slots of a recipe again")
def resume(recipe: _Recipe, ledger: options.Ledger = None) -> None:
    """Play the slots of a recipe again, from the next one on."""
    _pause(recipe, ledger, paused=False)


def _pause(recipe: str, ledger: str | None, *, paused: bool) -> None:
    from predibot.jobs.commands.schedule import pause_as_asked
    from predibot.ledger.url import DEFAULT_LEDGER

    output.set_up_logs(verbose=False)
    name = pause_as_asked(recipe, output.caller(verbose=False), ledger=ledger or DEFAULT_LEDGER, paused=paused)
    typer.echo(f"{name} is {'paused; its slots are left out' if paused else 'played again'}")
