"""`predibot schedule`: a service that runs recipes by their schedules, and what is asked of it."""

from typing import Annotated, Any

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, Group

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


@GROUP.command(_RUN, cls=Command, help="run recipes by their schedules; this word may be left out")
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
    from predibot.jobs.commands.schedule import schedule_as_asked
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.views.summary import summary_of

    output.set_up_logs(verbose=verbose)
    caller = output.caller(verbose=verbose)
    schedule_as_asked(
        recipes or ["runs/daily.toml"],
        caller,
        ledger=ledger or DEFAULT_LEDGER,
        once=once,
        grace_seconds=grace,
        shown=summary_of,
    )


_Recipe = Annotated[str, typer.Argument(metavar="RECIPE", help="a recipe's file or name")]


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
