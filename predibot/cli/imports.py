"""`predibot import`: decisions that were made elsewhere, into the ledger."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.options import argument
from predibot.domain.spelling import count_noun

if TYPE_CHECKING:
    from predibot.contracts import ProgressListener
    from predibot.jobs.caller import Caller
    from predibot.jobs.imports.predibench import ImportReport
    from predibot.ledger.store import Store

_LISTED = 20


class _Formats(CommandGroup):
    """The commands of `import`; `--format NAME` names one too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if "--format" in args[:-1]:
            place = args.index("--format")
            args = [args[place + 1], *args[:place], *args[place + 2 :]]
        return super().parse_args(ctx, args)


_HELP = "take decisions that were made elsewhere into the ledger"
GROUP = Commands(cls=_Formats, help=_HELP, rich_markup_mode=None, no_args_is_help=False)


@GROUP.command("predibench", cls=Command, help="import the recorded decisions of PrediBench")
def predibench(
    folder: Annotated[Path, argument("FOLDER", "a day with its events.json and <model>_run_<N>, or several days")],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Store the decisions of a folder, and say what was left out."""

    from predibot.jobs.imports.predibench import PREDIBENCH, import_days
    from predibot.jobs.imports.predibench_files import read_days

    caller = output.caller(verbose=verbose)
    days = read_days(folder)
    with _open_to_import(caller, ledger) as (store, listener):
        found = import_days(PREDIBENCH, days, store=store, clock=caller.clock, listener=listener)
    output.print_either({"source": str(folder), **asdict(found)}, *_summary_lines(found), json=json)


@GROUP.command("forecastbench", cls=Command, help="import forecasts on markets from sets of ForecastBench")
def forecastbench(
    files: Annotated[list[str], argument("FILE...", "forecast, resolution and question sets, in any order")],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Store the forecasts of sets, and how their markets were settled."""

    from predibot.jobs.imports.forecastbench import import_forecastbench
    from predibot.jobs.score_files.forecastbench import read_sets

    caller = output.caller(verbose=verbose)
    sets = read_sets(files, sys.stdin)
    with _open_to_import(caller, ledger) as (store, listener):
        found = import_forecastbench(sets, store=store, clock=caller.clock, listener=listener)
    more = {"resolutions": found.resolutions, "left_out_forecasts": dict(found.left_out)}
    document = {"source": files, **asdict(found.imported), **more}
    left_out = [f"{n:,} {reason}" for reason, n in found.left_out.items()]
    settled = f"settled: {count_noun(found.resolutions, 'new resolution')}"
    lines = (*_summary_lines(found.imported), *_list_lines("left out", left_out), settled)
    output.print_either(document, *lines, json=json)


@GROUP.command("ledger", cls=Command, help="import what `predibot export` wrote")
def ledger(
    export: Annotated[Path, argument("EXPORT", "a folder of `predibot export`, or its lines of JSON in a file")],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Store the rows of an export that are not there yet."""

    from predibot.jobs.imports.ledger import import_ledger

    with _open_to_import(output.caller(verbose=verbose), ledger) as (store, listener):
        found = import_ledger(export, store=store, listener=listener)
    rows = [f"{name}: {count.new:,} new of {count.rows:,} rows" for name, count in found.tables.items()]
    lines = (*rows, *_list_lines("note", found.notes))
    output.print_either({"source": str(export), **asdict(found)}, *lines, json=json)


@contextmanager
def _open_to_import(caller: "Caller", ledger: str) -> "Iterator[tuple[Store, ProgressListener]]":
    """Open a ledger to write into, and make a receipt at the end."""
    from predibot.jobs.receipts import receipt_of_ledger

    with caller.writing(ledger, create=True) as store, caller.progress() as listener:
        yield store, listener
        receipt_of_ledger(store, caller.clock())


def _summary_lines(found: "ImportReport") -> Iterator[str]:
    read = (
        count_noun(found.decisions, "decision"),
        count_noun(found.forecasts, "forecast"),
        count_noun(len(found.bots), "bot"),
        count_noun(found.events, "event"),
        count_noun(len(found.notes), "note"),
    )
    passed = f"; {count_noun(found.trace_folders, 'folder')} of traces passed over" if found.trace_folders else ""
    yield f"read: {', '.join(read)}, in {count_noun(found.files, 'file')}{passed}"
    for each in found.left_out:
        decisions = count_noun(each.decisions, "decision")
        yield f"left out: {decisions} on {each.event_id}, {each.title!r}, which {each.reason}"
    new = f"{count_noun(found.stored_decisions, 'decision')} with {count_noun(found.stored_forecasts, 'forecast')}"
    there = f"; {found.known_decisions:,} were there" if found.known_decisions else ""
    yield f"stored: {new} in {count_noun(found.runs, 'new run')}{there}"
    yield from _list_lines("note", found.notes)


def _list_lines(noun: str, texts: Sequence[str]) -> Iterator[str]:
    yield from (f"{noun}: {text}" for text in texts[:_LISTED])
    if len(texts) > _LISTED:
        yield f"{noun}: and {len(texts) - _LISTED:,} more; --json has all"
