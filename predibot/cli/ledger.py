"""`predibot ledger`: upgrade, copy, back up and restore a ledger, measure it and make it smaller."""

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from predibot.cli import options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.options import argument, flag, option
from predibot.domain.clock import parse_length, short_instant
from predibot.reports.figures import count, things
from predibot.reports.table import Column, table_of

if TYPE_CHECKING:
    from rich.console import Console

    from predibot.api.ledger_copies import CopyReport
    from predibot.ledger.care.ledger_stats import Pruning


GROUP = Commands(
    cls=CommandGroup, help="upgrade, copy, back up or slim a ledger", rich_markup_mode=None, no_args_is_help=False
)


@GROUP.command("upgrade", cls=Command, help="bring an older ledger to this version, after a backup")
def upgrade(ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> None:
    """Upgrade the tables; a SQLite file is copied beside itself first."""
    from predibot.ledger.schema.versions import HEAD
    from predibot.ledger.store import Store

    output.set_up_logs(verbose=False)
    with Store.open(ledger, create=False) as store:
        address, done = store.address, store.upgraded
    before = done.before if done is not None else HEAD
    backup = str(done.backup) if done is not None and done.backup is not None else None
    if json:
        output.print_document({"ledger": address, "before": before, "version": HEAD, "backup": backup})
        return
    text = f"is of version {HEAD} already" if before == HEAD else f"was upgraded from {before or 'no tables'} to {HEAD}"
    kept = f"; a copy of it as it was is {backup}" if backup else ""
    output.report_console().print(f"{address} {text}{kept}", soft_wrap=True, markup=False)


_MISSING_LISTED = 10


@GROUP.command("copy", cls=Command, help="copy a ledger into an empty one, SQLite or PostgreSQL, either way")
def copy(
    source: Annotated[str, argument("SRC", "the ledger's URL")],
    target: Annotated[str, argument("DST", "one without rows; a file is made, a database must be there")],
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Copy all rows and the artefacts they name; it is done when counts and hashes of both are the same."""
    from predibot.api.ledger_copies import copy as copy_into

    _print_copy(copy_into(output.caller(verbose=verbose), source=source, target=target), json=json)


@GROUP.command("backup", cls=Command, help="write all a ledger holds into one file, also while it is in use")
def backup(
    place: Annotated[Path, argument("FILE", "a new file; of a folder: a file in it, named by the instant")],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a single state of the ledger, with its traces and pages, into a file that is a ledger itself."""
    from predibot.api.ledger_copies import back_up

    caller = output.caller(verbose=verbose)
    _print_copy(back_up(caller, ledger=ledger, place=place), json=json)


@GROUP.command("restore", cls=Command, help="put what a backup holds into an empty ledger")
def restore(
    backup: Annotated[Path, argument("FILE", "what `ledger backup` wrote")],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Restore rows, traces and pages; it is done when counts and hashes of both are the same."""
    from predibot.api.ledger_copies import restore as restore_into

    caller = output.caller(verbose=verbose)
    _print_copy(restore_into(caller, backup=backup, ledger=ledger), json=json)


def _print_copy(report: "CopyReport", *, json: bool) -> None:
    copied = report.copied
    if json:
        output.print_document({**asdict(report), "verified": True})
        return
    console = output.report_console()
    rows = [(name, f"{each.rows:,}", each.sha256[:16]) for name, each in copied.tables.items() if each.rows]
    kinds = [(f"{kind}s", f"{each.copied:,}", "its name") for kind, each in copied.artefacts.items() if each.named]
    output.print_cells("The same in both", {"copied": "key", "rows": "number", "hash": "key"}, (*rows, *kinds))
    for kind, each in copied.artefacts.items():
        if each.pruned:
            console.print(f"{things(each.pruned, kind)} pruned before; the copy says so too", markup=False)
        if each.missing:
            console.print(f"{things(len(each.missing), kind)} not copied, as {report.source} has none:", markup=False)
        for why in each.missing[:_MISSING_LISTED]:
            console.print(f"  {why}", markup=False, soft_wrap=True)
    size = "" if report.n_bytes is None else f", {count(report.n_bytes)} bytes"
    console.print(f"{report.source} -> {report.target}: done{size}", soft_wrap=True, markup=False)


@GROUP.command("stats", cls=Command, help="show what a ledger holds, and how many bytes that takes")
def stats(ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> None:
    """Print number, bytes, oldest and newest of everything in the ledger."""
    from predibot.ledger.care.ledger_stats import ledger_stats
    from predibot.reports.table import document
    from predibot.reports.terminal.terminal import print_grid

    with output.caller().reading(ledger) as store:
        found = ledger_stats(store)
    if json:
        held = [{**document(each), "bytes_each": each.bytes_each} for each in found.held]
        output.print_document({**document(found), "held": held})
        return
    columns = (
        Column("what", "name", kind="key"),
        Column("rows", "rows", count),
        Column("bytes", "n_bytes", count),
        Column("each", "bytes_each", "{:,.0f}".format),
        Column("oldest", "oldest_at", "{:%Y-%m-%d}".format, 1, kind="key"),
        Column("newest", "newest_at", "{:%Y-%m-%d}".format, 2, kind="key"),
    )
    unused = "" if found.unused_bytes is None else f", of which {found.unused_bytes:,} are unused"
    below = (
        f"The database has {found.database_bytes:,} bytes{unused}.",
        "Bytes are those of all tables that belong to the thing, with indexes; of traces and pages as they are kept.",
        *([f"Pruned before: {things(found.pruned_traces, 'trace')}."] if found.pruned_traces else []),
    )
    print_grid(output.report_console(), table_of("Ledger", columns, found.held, below))


@GROUP.command("prune", cls=Command, help="remove old traces; decisions and scores stay")
def prune(
    older_than: Annotated[
        Any, option("--traces-older-than", "LENGTH", "such as 180d or 26w", parser=options.parser_for(parse_length))
    ],
    yes: Annotated[bool, flag("--yes", "do it; left out: say what would be removed")] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Say which traces are that old, and with --yes remove them; nothing that a score rests on is touched."""
    from predibot.ledger.care.ledger_stats import prunable_traces, prune_traces
    from predibot.reports.table import document

    age: timedelta = older_than
    caller = output.caller()
    now = caller.clock()
    if yes:
        with caller.writing(ledger) as store:
            found = prune_traces(store, before=now - age, now=now)
    else:
        with caller.reading(ledger) as store:
            found = prunable_traces(store, before=now - age)
    output.print_found(found, document, _print_pruning, json=json)


@GROUP.command("compact", cls=Command, help="remove what no row names, and give unused room back")
def compact(ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> None:
    """Remove traces and pages that no row names, and rewrite the database without unused room."""
    from predibot.ledger.care.ledger_stats import compact as compact_ledger

    caller = output.caller()
    with caller.writing(ledger) as store:
        done = compact_ledger(store, now=caller.clock())
    if json:
        output.print_document(asdict(done))
        return
    console = output.report_console()
    removed = f"{things(done.artefacts, 'trace or page')} that no row named, {done.artefact_bytes:,} bytes"
    removed = removed.replace("trace or pages", "traces or pages")
    left = f"; {things(done.unfinished, 'unfinished file')}" if done.unfinished else ""
    console.print(f"removed: {removed}{left}", soft_wrap=True, markup=False)
    console.print(f"database: {done.bytes_before:,} -> {done.bytes_after:,} bytes", soft_wrap=True, markup=False)


def _print_pruning(console: "Console", found: "Pruning") -> None:
    from predibot.reports.terminal.terminal import print_grid

    before = short_instant(found.before.replace(second=0, microsecond=0))
    if not found.traces:
        console.print(f"no trace is of before {before}; nothing to prune", soft_wrap=True, markup=False)
        return
    columns = (
        Column("bot", "bot", kind="name"),
        Column("traces", "traces", count),
        Column("bytes", "n_bytes", count),
        Column("oldest", "oldest_at", "{:%Y-%m-%d}".format, kind="key"),
        Column("newest", "newest_at", "{:%Y-%m-%d}".format, kind="key"),
    )
    print_grid(console, table_of(f"Traces of before {before}", columns, found.bots))
    text = f"{things(found.traces, 'trace')}, {found.n_bytes:,} bytes"
    console.print(
        f"{text} were removed; decisions, scores and hashes stay"
        if found.done
        else f"{text} would be removed, and nothing else; add --yes to do it",
        soft_wrap=True,
        markup=False,
    )
