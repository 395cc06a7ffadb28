"""`predibot ledger stats`, `prune` and `compact`: how large a ledger is, and making it smaller."""

from dataclasses import asdict
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from predibot.cli import options, output
from predibot.domain.clock import format_instant, parse_length

if TYPE_CHECKING:
    from predibot.ledger.care.ledger_stats import LedgerStats
    from predibot.ledger.care.pruned_traces import Pruning


def stats(ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> None:
    """Print how many there are of everything, bytes of each, the oldest and the newest."""
    from predibot.ledger.care.ledger_stats import ledger_stats
    from predibot.reports.document import document

    with output.caller().reading(ledger) as store:
        found = ledger_stats(store)
    if json:
        held = [{**document(each), "bytes_each": each.bytes_each} for each in found.held]
        output.print_document({**document(found), "held": held})
        return
    _print_stats(found)


def prune(
    older_than: Annotated[
        Any,
        typer.Option(
            "--traces-older-than", metavar="LENGTH", parser=options.read_by(parse_length), help="such as 180d or 26w"
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="do it; left out: say what would be removed")] = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> None:
    """Say which traces are that old, and with --yes remove them; nothing that a score rests on is touched."""
    from predibot.ledger.care.pruned_traces import prunable_traces, prune_traces
    from predibot.reports.document import document

    age: timedelta = older_than
    caller = output.caller()
    now = caller.clock()
    if yes:
        with caller.writing(ledger) as store:
            found = prune_traces(store, before=now - age, now=now)
    else:
        with caller.reading(ledger) as store:
            found = prunable_traces(store, before=now - age)
    if json:
        output.print_document(document(found))
        return
    _print_pruning(found)


def compact(ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> None:
    """Remove traces and pages that nothing names, and rewrite the database without room that nothing takes."""
    from predibot.ledger.care.compaction import compact as compact_ledger
    from predibot.reports.figures import things

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


def _print_stats(found: "LedgerStats") -> None:
    from predibot.reports.figures import count, things
    from predibot.reports.table import Column, table_of
    from predibot.reports.terminal.grid import print_grid

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


def _print_pruning(found: "Pruning") -> None:
    from predibot.reports.figures import count, things
    from predibot.reports.table import Column, table_of
    from predibot.reports.terminal.grid import print_grid

    console = output.report_console()
    before = format_instant(found.before.replace(second=0, microsecond=0))
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
    said = f"{things(found.traces, 'trace')}, {found.n_bytes:,} bytes"
    console.print(
        f"{said} were removed; decisions, scores and hashes stay"
        if found.done
        else f"{said} would be removed, and nothing else; add --yes to do it",
        soft_wrap=True,
        markup=False,
    )
