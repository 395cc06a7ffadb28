"""`predibot ledger`: bringing a ledger to this version."""

import typer

from predibot.cli import options, output
from predibot.cli.command import Command, Group


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    group = typer.Typer(cls=Group, rich_markup_mode=None, no_args_is_help=False)
    group.callback(help="upgrade a ledger")(_ledgers)
    group.command("upgrade", cls=Command, help="bring an older ledger to this version, after a backup")(upgrade)
    app.add_typer(group, name="ledger")


def _ledgers() -> None:
    """Upgrade a ledger."""


def upgrade(ledger: options.Ledger = None, json: options.Json = False) -> None:
    """Upgrade the tables; a SQLite file is copied beside itself first."""
    from predibot.ledger.schema.versions import HEAD
    from predibot.ledger.store import Store
    from predibot.ledger.url import DEFAULT_LEDGER

    output.set_up_logs(verbose=False)
    with Store.open(ledger or DEFAULT_LEDGER, create=False) as store:
        address, done = store.address, store.upgraded
    before = done.before if done is not None else HEAD
    backup = str(done.backup) if done is not None and done.backup is not None else None
    if json:
        output.print_document({"ledger": address, "before": before, "version": HEAD, "backup": backup})
        return
    said = f"is of version {HEAD} already" if before == HEAD else f"was upgraded from {before or 'no tables'} to {HEAD}"
    kept = f"; a copy of it as it was is {backup}" if backup else ""
    output.report_console().print(f"{address} {said}{kept}", soft_wrap=True, markup=False)
