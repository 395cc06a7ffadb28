"""What `predibot report` shows instead of the leaderboard: one bot, one event, pictures, a tear sheet."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
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
    "--bot": ("--worst", "--archived", "--as-of"),
    "--event": ("--bots", "--all", "--as-of"),
    "--figures": ("--bots", "--archived", "--as-of"),
    "--tearsheet": ("--worst", "--archived", "--as-of"),
    "--html": ("--since", "--with-traces", "--url"),
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
    html: Path | None

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
            "--html": self.html,
        }
        asked = [option for option, value in named.items() if value is not None]
        alone = [option for option in ("--with-traces", "--url") if beside[option]]
        if alone and self.html is None:
            raise typer.BadParameter(f"{' and '.join(alone)} says something about --html DIR; give both")
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
            from predibot.reports import figures
            from predibot.reports.terminal.closeups.bot import bot_document, print_bot

            if json:
                output.print_document(bot_document(history), exit_code=DONE)
            else:
                with figures.in_currency(history.evaluation.currency):
                    print_bot(output.report_console(), history)

        bot_as_asked(asked.bot, runs, caller, ledger=where.ledger, most=told, show=show_bot)
    elif asked.event is not None:

        def show_event(history: "EventHistory") -> None:
            from predibot.reports import figures
            from predibot.reports.terminal.closeups.event import event_document, print_event

            if json:
                output.print_document(event_document(history), exit_code=DONE)
            else:
                with figures.in_currency(history.currency):
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


def write_html(
    folder: Path,
    where: Where,
    caller: "Caller",
    *,
    since: datetime | None,
    with_traces: bool,
    url: str,
    json: bool,
) -> None:
    """Write the pages of a ledger as files, and say how many.

    Args:
        folder: Where they go.
        where: Of which runs the scores are.
        caller: Who asks.
        since: Decisions from then on have pages; left out, those of the last thirty days.
        with_traces: Whether they show what agents did.
        url: Where they will be found; empty where nobody knows.
        json: Whether a document is printed.

    Raises:
        typer.BadParameter: If the URL is no address of the web.
        UsageError: If there is nothing to write with, or as `write_site`.
    """
    from predibot.errors import UsageError
    from predibot.ledger.store import Store

    if url and not url.startswith(("https://", "http://")):
        raise typer.BadParameter(f"--url is {url[:80]!r}; it begins with https:// or http://")
    try:
        from predibot.web.site import Options, write_site
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "jinja2":
            raise
        raise UsageError("report --html needs what is not installed: pip install 'predibot[web]'") from None
    options = Options(since, where.recipe or "", where.venue or "", with_traces, url)
    with Store.open_to_read(where.ledger) as store, caller.following(store) as listener:
        try:
            written = write_site(store, folder, options, caller.clock, listener)
        except OSError as error:
            raise UsageError(f"{folder} cannot be written: {error.strerror}; name another folder") from error
    if json:
        document = {"folder": folder.as_posix(), **asdict(written)}
        output.print_document(document, exit_code=DONE)
        return
    print((folder / "index.html").as_posix())
    output.say(f"{written.files:,} files: {written.written:,} new or changed, {written.removed:,} removed")
