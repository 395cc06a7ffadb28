"""`predibot ledger`: bringing a ledger to this version, computing anew what must hold of it, and its other commands."""

from dataclasses import asdict

from predibot.cli import ledger_copies, ledger_size, options, output
from predibot.cli.command import Command, CommandGroup, Commands
from predibot.cli.ending import DONE, FAILED

_LISTED = 50


GROUP = Commands(
    cls=CommandGroup,
    help="upgrade, verify, copy, back up or slim a ledger",
    rich_markup_mode=None,
    no_args_is_help=False,
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
    said = f"is of version {HEAD} already" if before == HEAD else f"was upgraded from {before or 'no tables'} to {HEAD}"
    kept = f"; a copy of it as it was is {backup}" if backup else ""
    output.report_console().print(f"{address} {said}{kept}", soft_wrap=True, markup=False)


@GROUP.command("verify", cls=Command, help="compute anew all that must hold of the stored rows")
def verify(
    columns: options.Columns = False, ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False
) -> int:
    """Print how many rows each check looked at, and every one that fails; the exit code is 1 where one does."""
    if columns:
        output.print_coverage(json=json)
        return DONE
    from predibot.jobs.verify import verify as verify_all
    from predibot.reports.figures import things
    from predibot.reports.table import Column, Table
    from predibot.reports.terminal.grid import print_grid
    from predibot.reports.terminal.terminal import print_line
    from predibot.reports.terminal.text import plain

    with output.caller().reading(ledger) as store:
        found = verify_all(store)
    code = FAILED if found.broken else DONE
    if json:
        message = f"{things(len(found.broken), 'row')} of the ledger not as required"
        error = {"error": {"kind": "VerificationFailed", "message": message}} if found.broken else {}
        output.print_document({**error, **asdict(found)}, exit_code=code)
    else:
        console = output.report_console()
        shown = (Column("check", kind="key"), Column("looked at"), Column("failed"))
        rows = tuple((each.name, f"{each.rows:,}", f"{each.failed:,}") for each in found.checks)
        print_grid(console, Table("Ledger", shown, rows))
        for broken in found.broken[:_LISTED]:
            print_line(console, plain(f"{broken.check}: {broken.row}: {broken.seen}"))
        if len(found.broken) > _LISTED:
            console.print(f"and {len(found.broken) - _LISTED:,} more; --json lists them all", markup=False)
    return code


for _function, _words in (
    (ledger_copies.copy, "copy a ledger into an empty one, SQLite or PostgreSQL, either way"),
    (ledger_copies.backup, "write all a ledger holds into one file, also while it is in use"),
    (ledger_copies.restore, "put what a backup holds into an empty ledger"),
    (ledger_size.stats, "show what a ledger holds, and how many bytes that takes"),
    (ledger_size.prune, "remove old traces; decisions and scores stay"),
    (ledger_size.compact, "remove what no row names, and give unused room back"),
):
    GROUP.command(_function.__name__, cls=Command, help=_words)(_function)
