"""`predibot status`: whether schedules and tracking run well, for a person and for monitoring."""

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED


def status(ledger: options.Ledger = options.DEFAULT_LEDGER, json: options.Json = False) -> int:
    """Print the status of the ledger; the exit code is 1 if something needs attention."""
    from predibot.jobs.status import status_of
    from predibot.reports.terminal.status import print_status
    from predibot.reports.views.schedule import status_document

    caller = output.caller()
    with caller.reading(ledger) as store:
        found = status_of(store, caller.clock)
    code = FAILED if found.problems else DONE
    output.print_found(found, status_document, print_status, json=json, exit_code=code)
    return code
