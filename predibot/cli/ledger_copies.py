"""`predibot ledger copy`, `backup` and `restore`: all that a ledger holds, in another place."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from predibot.cli import options, output

if TYPE_CHECKING:
    from predibot.api.ledger_copies import CopyReport

_LISTED = 10


def copy(
    source: Annotated[str, typer.Argument(metavar="SRC", help="the ledger's URL")],
    target: Annotated[
        str, typer.Argument(metavar="DST", help="one without rows; a file is made, a database must be there")
    ],
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Copy all rows and the artefacts they name; it is done when counts and hashes of both are the same."""
    from predibot.api.ledger_copies import copy as copy_into

    _print(copy_into(output.caller(verbose=verbose), source=source, target=target), json=json)


def backup(
    place: Annotated[
        Path, typer.Argument(metavar="FILE", help="a new file; of a folder: a file in it, named by the instant")
    ],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Write a single state of the ledger, with its traces and pages, into a file that is a ledger itself."""
    from predibot.api.ledger_copies import back_up

    caller = output.caller(verbose=verbose)
    _print(back_up(caller, ledger=ledger, place=place), json=json)


def restore(
    backup: Annotated[Path, typer.Argument(metavar="FILE", help="what `ledger backup` wrote")],
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> None:
    """Restore rows, traces and pages; it is done when counts and hashes of both are the same."""
    from predibot.api.ledger_copies import restore as restore_into

    caller = output.caller(verbose=verbose)
    _print(restore_into(caller, backup=backup, ledger=ledger), json=json)


def _print(report: "CopyReport", *, json: bool) -> None:
    from dataclasses import asdict

    from predibot.reports.figures import count, things
    from predibot.reports.table import Column, Table
    from predibot.reports.terminal.grid import print_grid

    copied = report.copied
    if json:
        output.print_document({**asdict(report), "verified": True})
        return
    console = output.report_console()
    columns = (Column("copied", kind="key"), Column("rows"), Column("hash", kind="key"))
    rows = [(name, f"{each.rows:,}", each.sha256[:16]) for name, each in copied.tables.items() if each.rows]
    kinds = [(f"{kind}s", f"{each.copied:,}", "its name") for kind, each in copied.artefacts.items() if each.named]
    print_grid(console, Table("The same in both", columns, (*rows, *kinds)))
    for kind, each in copied.artefacts.items():
        if each.pruned:
            console.print(f"{things(each.pruned, kind)} pruned before; the copy says so too", markup=False)
        if each.missing:
            console.print(f"{things(len(each.missing), kind)} not copied, as {report.source} has none:", markup=False)
        for why in each.missing[:_LISTED]:
            console.print(f"  {why}", markup=False, soft_wrap=True)
    size = "" if report.n_bytes is None else f", {count(report.n_bytes)} bytes"
    console.print(f"{report.source} -> {report.target}: done{size}", soft_wrap=True, markup=False)
