"""`predibot schedule`: the service that runs recipes by their schedules, and its commands."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.ending import DONE, NOTHING, PARTLY, environment_secrets
from predibot.cli.options import argument, flag, option

if TYPE_CHECKING:
    from predibot.jobs.caller import Caller
    from predibot.jobs.schedule.monitor import Reply
    from predibot.jobs.status import LedgerStatus

_RUN = "run"


_Recipe = Annotated[str, argument("RECIPE", "a recipe's file or name")]
_Recipes = Annotated[
    list[str] | None, argument("RECIPE", "files or names of recipes with a [schedule]; left out: daily")
]


class _ScheduleGroup(CommandGroup):
    """A group whose command that runs the service may be called without its name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` before arguments that begin with no command."""
        if not args or args[0] not in (*self.commands, "status", "-h", "--help"):
            args = [_RUN, *args]
        return super().parse_args(ctx, args)


GROUP = Commands(cls=_ScheduleGroup, rich_markup_mode=None, no_args_is_help=False)


@GROUP.callback(help="run recipes by their schedules, with nobody watching")
def _schedules() -> None:
    """Run recipes by their schedules."""


@GROUP.command(_RUN, cls=Command, help="run recipes by their schedules; this word may be left out")
def run(
    recipes: _Recipes = None,
    once: Annotated[bool, flag("--once", "play what is due now and end, as for cron")] = False,
    grace: Annotated[float, option("--grace", "SECONDS", "for what is under way at the end", min=0.0)] = 60.0,
    monitor: Annotated[
        int | None, option("--monitor", "PORT", "answer /health and /metrics on loopback", min=0, max=65535)
    ] = None,
    executor: options.Executor = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    *,
    log: options.Log,
) -> int:
    """Play each slot of each recipe once, and record the slots that were missed."""
    from contextlib import ExitStack
    from dataclasses import replace
    from functools import partial

    from predibot.api.notify import LAST_SECONDS, LAST_SECONDS_ONCE, slot_notices
    from predibot.api.schedule import ServiceTerms, run_schedules
    from predibot.jobs.schedule.monitor import serve_monitor
    from predibot.jobs.workers.executor import parse_executor
    from predibot.reports.views.summary import summary_of

    caller = output.caller(log)
    pool = parse_executor(executor) if executor else None
    with ExitStack() as closing:
        if monitor is not None:
            port = closing.enter_context(serve_monitor(monitor, _answers(ledger, caller)))
            caller.say(f"monitoring: http://127.0.0.1:{port}/health and /metrics")
        last_seconds = LAST_SECONDS_ONCE if once else LAST_SECONDS
        notices = closing.enter_context(slot_notices(caller, ledger, summary_of, last_seconds=last_seconds))
        terms = ServiceTerms(once, grace, pool, partial(output.caller, log))
        if notices is not None:
            terms = replace(terms, on_slot=notices.on_slot, on_look=notices.look)
        rows = run_schedules(recipes or ["daily"], caller, ledger=ledger, terms=terms)
    return _exit_code([row.status for row in rows])


def _answers(ledger: str, caller: "Caller") -> "Mapping[str, Callable[[], Reply]]":
    import json

    from predibot.errors import LedgerError
    from predibot.jobs.schedule.monitor import Reply
    from predibot.jobs.status import status_of
    from predibot.ledger.store import Store
    from predibot.reports.views.schedule import METRICS_TYPE, status_document, status_metrics

    def answer(make: "Callable[[LedgerStatus], Reply]") -> Reply:
        try:
            with Store.open_to_read(ledger) as store:
                return make(status_of(store, caller.clock))
        except LedgerError as error:
            return Reply(503, "text/plain; charset=utf-8", environment_secrets().mask(f"{error}\n"))

    def health(status: "LedgerStatus") -> Reply:
        document = environment_secrets().mask_json(status_document(status))
        return Reply(503 if status.problems else 200, "application/json", json.dumps(document) + "\n")

    def metrics(status: "LedgerStatus") -> Reply:
        return Reply(200, METRICS_TYPE, status_metrics(status))

    return {"/health": lambda: answer(health), "/metrics": lambda: answer(metrics)}


def _exit_code(statuses: Sequence[str]) -> int:
    if all(status == "done" for status in statuses):
        return DONE
    return PARTLY if any(status in ("done", "partly") for status in statuses) else NOTHING


@GROUP.command("run-now", cls=Command, help="play a recipe's time of decision now")
def run_now(
    recipe: _Recipe,
    slot: Annotated[
        datetime | None, option("--slot", "INSTANT", "which; left out, the newest", parser=options.instant)
    ] = None,
    retry: options.Retry = None,
    executor: options.Executor = None,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    verbose: options.Verbose = False,
    json: options.Json = False,
    log_file: options.LogFile = None,
    log_json: options.LogJson = False,
) -> int:
    """Play a slot without waiting for its time, and keep its row."""
    from predibot.api.schedule import play_now, words_of_slot
    from predibot.jobs.workers.executor import parse_executor
    from predibot.reports.views.schedule import slot_document

    caller = output.caller(options.Log(verbose, log_file, log_json))
    pool = parse_executor(executor) if executor else None
    row = play_now(recipe, caller, ledger=ledger, slot_at=slot, executor=pool, retry=options.parse_retry(retry))
    if json:
        output.print_document(slot_document(row))
    else:
        output.report_console().print(words_of_slot(row), markup=False, soft_wrap=True)
    return _exit_code([row.status])


@GROUP.command("install", cls=Command, help="print what starts the schedules on a machine, or write it")
def install(
    recipes: _Recipes = None,
    systemd: Annotated[bool, flag("--systemd", "a unit of systemd, for a user")] = False,
    cron: Annotated[bool, flag("--cron", "a line of cron")] = False,
    github: Annotated[bool, flag("--github", "a workflow of GitHub")] = False,
    container: Annotated[bool, flag("--container", "a Dockerfile with a compose file")] = False,
    into: Annotated[Path | None, option("--output", "FOLDER", "write the files into it", file_okay=False)] = None,
    grace: Annotated[int, option("--grace", "SECONDS", "for what is under way", min=0)] = 60,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
) -> None:
    """Print the files, or write them without replacing others; nothing is started."""
    import os
    import sys

    from predibot._folders import VARIABLES, folders_from_environment
    from predibot.api.schedule import install as install_schedules
    from predibot.jobs.schedule.install import Installation, InstallKind
    from predibot.trust import Folder

    chosen: dict[InstallKind, bool] = {"systemd": systemd, "cron": cron, "github": github, "container": container}
    kinds = [kind for kind, is_asked in chosen.items() if is_asked]
    if len(kinds) != 1:
        raise typer.BadParameter("say what is to be installed: --systemd, --cron, --github or --container")
    folder = Folder.read(Path())
    for name in folder.powers:
        folder.check(name)
    trusted = folder.digest if folder.powers else ""
    named = None if ledger == options.DEFAULT_LEDGER else ledger
    variables = {
        variable: os.pathsep.join(folders)
        for kind, variable in VARIABLES.items()
        if (folders := folders_from_environment(kind))
    }
    what = Installation(tuple(recipes or ["daily"]), str(Path.cwd()), sys.executable, named, grace, trusted, variables)
    files = install_schedules(kinds[0], what, into)
    for name, text in files.items():
        if into is not None:
            output.say(f"wrote {into / name}")
        else:
            typer.echo(f"# --- {name}\n{text}" if len(files) > 1 else text, nl=False)


@GROUP.command("pause", cls=Command, help="leave out a recipe from now on")
def pause(recipe: _Recipe, ledger: options.Ledger = options.DEFAULT_LEDGER) -> None:
    """Leave out the slots of a recipe; each has a row that says so."""
    _pause(recipe, ledger, paused=True)


@GROUP.command("resume", cls=Command, help="play a recipe again")
def resume(recipe: _Recipe, ledger: options.Ledger = options.DEFAULT_LEDGER) -> None:
    """Play the slots of a recipe again, from the next one on."""
    _pause(recipe, ledger, paused=False)


def _pause(recipe: str, ledger: str, *, paused: bool) -> None:
    from predibot.api.schedule import pause as pause_schedule

    name = pause_schedule(recipe, output.caller(), ledger=ledger, paused=paused)
    typer.echo(f"{name} is {'paused; nothing of it is played' if paused else 'played again'}")
