"""What verifying receipts found, for a screen and for JSON."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from predibot.jobs.published_roots import Publication
from predibot.jobs.receipts import Difference, Proof, VerifiedRun
from predibot.ledger.care.verification import LedgerVerification
from predibot.reports import figures
from predibot.reports.table import Document, document
from predibot.reports.terminal.terminal import plain, print_line, print_lines, print_notes
from predibot.reports.views.decide import RECEIPT

_SHOWN_FIELDS = 5
_WHAT = {
    "changed": "is another one than receipt {number} says",
    "missing": "is not there any more, and receipt {number} has it",
    "new": "is not in receipt {number}; deciding the same day again makes one with it",
}


_OF_ROW = {
    "changed": "is another one than receipt {number} of the ledger says",
    "missing": "is not there any more, and receipt {number} of the ledger has it",
    "new": "is in no receipt of the ledger; if it is predibot's own, the next `track` makes one with it",
}


def print_verification(
    console: Console,
    found: Sequence[VerifiedRun],
    ledger: LedgerVerification | None,
    published: Publication | None,
    file: Path | None,
) -> None:
    """Print each run, what is wrong with it, the same of the ledger, and what was published."""
    for run in found:
        text, decisions = "does not hold", figures.things(run.decisions, "decision")
        if run.holds and run.receipts:
            text = f"{decisions} as in receipt {run.receipts[-1].number}\n  root {run.receipts[-1].root}"
        elif run.holds:
            text = "not compared" if run.root is None else f"{decisions} as published"
        print_line(console, f"{plain(run.run)}{' (void)' if run.void else ''}: {text}")
        _print_wrong(console, run, "decision", [describe_difference(each) for each in run.differences[:1]])
    if ledger is not None:
        _print_ledger(console, ledger)
    if published is not None:
        added = figures.things(len(published.added), "root")
        print_line(console, f"{added} appended to {plain(str(file))}, which had {figures.count(published.known)}")
    elif not found:
        print_line(console, "there is no run")


def _print_ledger(console: Console, ledger: LedgerVerification) -> None:
    if ledger.holds and ledger.receipts:
        last = ledger.receipts[-1]
        rows = figures.things(ledger.rows, "row")
        print_lines(console, (f"ledger: {rows} as in receipts 1 to {last.number}", f"  root {last.root}"))
    elif not ledger.holds:
        print_line(console, "ledger: does not hold")
    first = ledger.differences[:1]
    _print_wrong(
        console, ledger, "row", [f"{each.row} {_OF_ROW[each.what].format(number=each.receipt)}" for each in first]
    )


def _print_wrong(console: Console, found: VerifiedRun | LedgerVerification, noun: str, first: Sequence[str]) -> None:
    print_lines(console, (f"  {line}" for line in (*first, *map(plain, found.problems))))
    if more := len(found.differences[1:]):
        print_line(console, f"  {figures.things(more, noun)} more; --json names them")
    print_notes(console, found.notes)


def describe_difference(difference: Difference) -> str:
    """Return in a sentence how a decision differs from its receipt."""
    about = f"{plain(difference.bot)} on {plain(difference.subject_kind)} {plain(difference.subject_id)}"
    what = _WHAT[difference.what].format(number=difference.receipt)
    more = len(difference.fields) - _SHOWN_FIELDS
    rest = f" and {more} more" if more > 0 else ""
    fields = f": {', '.join(difference.fields[:_SHOWN_FIELDS])}{rest}" if difference.fields else ""
    return f"{about} {what}{fields}"


def receipts_document(
    found: Sequence[VerifiedRun], ledger: LedgerVerification | None, published: Publication | None
) -> Document:
    """Return what verifying found as JSON has it."""
    broken = [run for run in found if not run.holds]
    without = [run for run in found if run.holds and run.root is None]
    shown: Document = {
        "runs": [
            {
                **document(run, "run created_at void holds decisions root"),
                "receipts": [document(receipt, RECEIPT) for receipt in run.receipts],
                **document(run, "differences problems notes"),
            }
            for run in found
            if run not in without
        ]
    }
    if without:
        shown["without_receipt"] = [document(run, "run notes") for run in without]
    if ledger is not None:
        root = ledger.receipts[-1].root if ledger.receipts else None
        counts = {"receipts": len(ledger.receipts), "root": root}
        shown["ledger"] = document(ledger, "holds rows") | counts | document(ledger, "differences problems notes")
    if published is not None:
        shown["published"] = {
            "added": [each.model_dump(exclude_none=True) for each in published.added],
            "known": published.known,
        }
    if broken:
        message = f"{figures.things(len(broken), 'run')} not as receipted, the first {broken[0].run}"
        shown["error"] = {"kind": "VerificationFailed", "message": message}
    elif ledger is not None and not ledger.holds:
        shown["error"] = {"kind": "VerificationFailed", "message": "the ledger is not as receipted"}
    return shown


def print_proof(console: Console, proof: Proof) -> None:
    """Print what somebody needs to check a proof."""
    head = f"{plain(proof.run)}: leaf {proof.index} of {proof.size}, receipt {proof.receipt}"
    print_lines(console, (head, f"root {proof.root}", f"leaf {proof.leaf_sha256}"))
    print_lines(console, (*(f"path {each}" for each in proof.path), "what the leaf is the hash of: --json"))
