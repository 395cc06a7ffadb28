"""What `predibot report` shows instead of the leaderboard: one bot, one event, pictures, a tear sheet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from predibot.cli import output
from predibot.cli.ending import DONE

if TYPE_CHECKING:
    from predibot.jobs.commands.caller import Caller
    from predibot.jobs.histories.bot import BotHistory
    from predibot.jobs.histories.event import EventHistory

_BEST_AND_WORST = 5
_FITTING = {
    "--bot": ("--worst", "--archived"),
    "--event": ("--bots", "--all"),
    "--figures": ("--bots", "--archived"),
    "--tearsheet": ("--worst", "--archived"),
}
"""Which options of the report change something of each."""


@dataclass(frozen=True, slots=True)
class Asked:
    """Which of them is asked for; None of what is not."""

    bot: str | None
    event: str | None
    figures: Path | None
    tearsheet: str | None
    out: Path | None

    def anything(self, beside: Mapping[str, bool]) -> bool:
        """Return whether one of them is asked for.

        Args:
            beside: Which other options of the report were given.

        Raises:
            typer.BadParameter: If several are, or with one what changes nothing of it.
        """
        named = {
            "--bot": self.bot,
            "--event": self.event,
            "--figures": self.figures,
            "--tearsheet": self.tearsheet,
        }
        asked = [option for option, value in named.items() if value is not None]
        if self.out is not None and self.tearsheet is None:
            raise typer.BadParameter("--out says where --tearsheet BOT writes; give both")
        if len(asked) > 1:
            raise typer.BadParameter(f"{' and '.join(asked)} are several reports; ask for one")
        for option in asked:
            unfit = [other for other, given in beside.items() if given and other not in _FITTING[option]]
            if unfit:
                raise typer.BadParameter(f"{' and '.join(unfit)} would change nothing of {option}; leave it out")
        return bool(asked)


@dataclass(frozen=True, slots=True)
class Where:
    """In which ledger, of which runs, as of when."""

    venue: str | None
    recipe: str | None
    as_of: datetime | None
    bots: Sequence[str]
    ledger: str
    archived: bool


def show(asked: Asked, where: Where, caller: "Caller", *, most: int | None, every_row: bool, json: bool) -> None:
    """Show what is asked for.

    Args:
        asked: One thing.
        where: Of which runs.
        caller: Who asks.
        most: How many best and worst decisions of a bot; left out, five.
        every_row: Whether long tables are printed whole.
        json: Whether a document is printed in place of them.
    """
    from predibot.reports.commands.closeups import (
        AskedRuns,
        bot_as_asked,
        event_as_asked,
        figures_as_asked,
        tearsheet_as_asked,
    )

    told = _BEST_AND_WORST if most is None else most
    runs = AskedRuns(where.venue, where.recipe, where.as_of, where.bots, archived=where.archived)
    if asked.bot is not None:

        def show_bot(history: "BotHistory") -> None:
            from predibot.reports.terminal.closeups.bot import bot_document, print_bot

            if json:
                output.print_document(bot_document(history), exit_code=DONE)
            else:
                print_bot(output.report_console(), history)

        bot_as_asked(asked.bot, runs, caller, ledger=where.ledger, most=told, show=show_bot)
    elif asked.event is not None:

        def show_event(history: "EventHistory") -> None:
            from predibot.reports.terminal.closeups.event import event_document, print_event

            if json:
                output.print_document(event_document(history), exit_code=DONE)
            else:
                print_event(output.report_console(), history, every_row=every_row)

        event_as_asked(asked.event, runs, caller, ledger=where.ledger, show=show_event)
    else:
        if asked.tearsheet is not None:
            files: Sequence[Path] = (
                tearsheet_as_asked(asked.tearsheet, asked.out, runs, caller, ledger=where.ledger, most=told),
            )
        else:
            files = figures_as_asked(asked.figures or Path(), runs, caller, ledger=where.ledger)
        if json:
            output.print_document({"files": [file.as_posix() for file in files]}, exit_code=DONE)
            return
        for file in files:
            print(file.as_posix())
        if not files:
            output.say("nothing to draw yet: no decision has a price or has paid")
