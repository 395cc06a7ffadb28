"""`predibot verify`: whether runs and ledger are still what their receipts say, and the roots to publish."""

from pathlib import Path
from typing import Annotated

import typer

from predibot.cli import options, output
from predibot.cli.ending import DONE, FAILED
from predibot.cli.options import argument, flag, option

_LISTED = 50


def verify(
    run: Annotated[str | None, argument("RUN", "the run's key; left out: every run, and the ledger")] = None,
    publish: Annotated[
        Path | None, option("--publish", "FILE", "append the roots that this text file has not, a line each")
    ] = None,
    against: Annotated[
        Path | None, option("--against", "FILE", "compare with the roots that --publish wrote there")
    ] = None,
    bot: Annotated[
        str | None, option("--bot", "NAME", "with --subject: prove that its decision is in the root")
    ] = None,
    subject: Annotated[str | None, option("--subject", "ID", "what that decision is about, as an event's id")] = None,
    rows: Annotated[
        bool, flag("--rows", "compute anew what must hold of every stored row, and name those that fail")
    ] = False,
    columns: options.Columns = False,
    ledger: options.Ledger = options.DEFAULT_LEDGER,
    json: options.Json = False,
) -> int:
    """Print what differs; the exit code is 1 if anything does."""
    from predibot.jobs.published_roots import publish as publish_roots
    from predibot.jobs.published_roots import verify_against
    from predibot.jobs.receipts import prove, verify_runs
    from predibot.ledger.care.verification import verify_ledger
    from predibot.reports.table import document
    from predibot.reports.terminal import receipts

    if publish is not None and against is not None:
        raise typer.BadParameter("--publish writes a file and --against reads one; name one of both")
    if (bot is None) is not (subject is None):
        raise typer.BadParameter("a decision is named by --bot and --subject together")
    if bot is not None and (run is None or publish is not None or against is not None):
        raise typer.BadParameter("a proof is of one RUN, without --publish and --against")
    if columns:
        from predibot.ledger.schema.receipted_rows import coverage
        from predibot.reports.terminal.terminal import print_lines

        if json:
            output.print_document({"columns": coverage()})
        else:
            print_lines(output.report_console(), (f"{column}: {said}" for column, said in coverage().items()))
        return DONE
    if rows:
        if run is not None or publish is not None or against is not None:
            raise typer.BadParameter("--rows looks at the whole ledger; leave out RUN, --publish and --against")
        return _verify_rows(ledger, json=json)
    with output.caller().reading(ledger) as store:
        if run is not None and bot is not None and subject is not None:
            proof = prove(store, run, bot, subject)
            output.print_found(proof, document, receipts.print_proof, json=json, exit_code=DONE)
            return DONE
        published = publish_roots(store, publish, run) if publish is not None else None
        if published is not None:
            found, of_ledger = published.verified, published.ledger
        elif against is not None:
            found, of_ledger = verify_against(store, against, run)
        else:
            found, of_ledger = verify_runs(store, run), store.run_read(verify_ledger) if run is None else None
    code = DONE if all(each.holds for each in found) and (of_ledger is None or of_ledger.holds) else FAILED
    if json:
        output.print_document(receipts.receipts_document(found, of_ledger, published), exit_code=code)
    else:
        receipts.print_verification(output.report_console(), found, of_ledger, published, publish)
    return code


def _verify_rows(ledger: str, *, json: bool) -> int:
    from dataclasses import asdict

    from predibot.jobs.verify import verify as verify_all
    from predibot.reports.figures import things
    from predibot.reports.terminal.terminal import plain, print_line

    with output.caller().reading(ledger) as store:
        found = verify_all(store)
    code = FAILED if found.broken else DONE
    if json:
        message = f"{things(len(found.broken), 'row')} of the ledger not as required"
        error = {"error": {"kind": "VerificationFailed", "message": message}} if found.broken else {}
        output.print_document({**error, **asdict(found)}, exit_code=code)
        return code
    console = output.report_console()
    rows = ((each.name, f"{each.rows:,}", f"{each.failed:,}") for each in found.checks)
    output.print_cells("Ledger", {"check": "key", "looked at": "number", "failed": "number"}, rows)
    for broken in found.broken[:_LISTED]:
        print_line(console, plain(f"{broken.check}: {broken.row}: {broken.seen}"))
    if len(found.broken) > _LISTED:
        console.print(f"and {len(found.broken) - _LISTED:,} more; --json lists them all", markup=False)
    return code
