"""`predibot doctor`: whether everything predibot needs is there."""

from dataclasses import asdict, replace

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED, secrets_here


def doctor(ledger: options.Ledger = None, json: options.Json = False) -> None:
    """Print one line a check; the exit code is 1 where one failed. Keys are shown by name only."""
    from predibot.config import load_settings
    from predibot.jobs.doctor import check_all
    from predibot.ledger.url import DEFAULT_LEDGER
    from predibot.reports.terminal.grid import Column, Grid, print_grid
    from predibot.reports.terminal.text import plain

    output.set_up_logs(verbose=False)
    hidden = secrets_here().hidden
    found = check_all(load_settings(), ledger or DEFAULT_LEDGER)
    # A plug-in may quote a key where it fails, and an address may hold one.
    checks = [replace(check, seen=hidden(check.seen)) for check in found]
    failed = [f"{check.name}: {check.seen}" for check in checks if check.verdict == "failed"]
    code = FAILED if failed else DONE
    if json:
        error = {"error": {"kind": "CheckFailed", "message": "; ".join(failed)}} if failed else {}
        output.print_document({**error, "checks": [asdict(check) for check in checks]}, exit_code=code)
    else:
        rows = tuple((check.verdict, check.name, plain(check.seen)) for check in checks)
        columns = (Column("verdict", "key"), Column("what", "key"), Column("seen", "text"))
        print_grid(output.report_console(), Grid("Doctor", columns, rows))
    if code:
        raise typer.Exit(code)
