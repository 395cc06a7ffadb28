"""Verifying: every invariant of a ledger that can be computed anew, of its rows and of what lies beside them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import Connection, select, type_coerce
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.types import NullType

from predibot.errors import ArtefactPruned, UsageError, words_of
from predibot.jobs.evaluation_text import evaluation_from_text
from predibot.ledger.files.content_store import Pages
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.account_invariants import broken_orders, checks_of_accounts
from predibot.ledger.read.decision_traces import decisions_with_traces
from predibot.ledger.read.export import export_rows
from predibot.ledger.read.invariants import Broken, Checked, checks_of_rows
from predibot.ledger.read.kept_evaluations import memos, stored_memo
from predibot.ledger.schema.foreign_rows import foreign_rows
from predibot.ledger.schema.values import ROW_ERRORS
from predibot.ledger.store import Store

_ROWS = "rows as declared"


@dataclass(frozen=True, slots=True)
class CheckReport:
    """One check: how many rows it looked at, and how often it failed."""

    name: str
    rows: int
    failed: int


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found: every check, and every row that fails one."""

    checks: tuple[CheckReport, ...]
    broken: tuple[Broken, ...]


def verify(store: Store) -> Verification:
    """Return what of a ledger is not as it must be; nothing is changed.

    Raises:
        LedgerUnusable: If it cannot be read.
    """
    checked = Checked({})
    with store.read() as connection:
        broken = [*_database(connection, checked), *_rows(connection, checked)]
        # What is computed of rows that are none of ours fails too; of our own it is a mistake, which is not hidden.
        foreign = (*ROW_ERRORS, SQLAlchemyError, UsageError) if broken else ()
        checks = [*checks_of_rows(connection, checked), broken_orders(connection, checked)]
        checks += [*checks_of_accounts(connection, checked), _memos(connection, checked)]
        for check in checks:
            broken += _as_far_as_possible(check, foreign)
        kept: list[tuple[str, str, str]] = []
        broken += _as_far_as_possible(_keep(connection, kept), foreign)
    broken += _artefacts(store, kept, checked)
    failed = Counter(each.check for each in broken)
    return Verification(
        tuple(CheckReport(name, rows, failed[name]) for name, rows in checked.rows.items()), tuple(broken)
    )


def _database(connection: Connection, checked: Checked) -> Iterator[Broken]:
    """Yield what SQLite finds wrong with its file; a server looks after its own."""
    if connection.dialect.name != "sqlite":
        return
    check = "database whole"
    checked.count(check)
    for said in connection.exec_driver_sql("PRAGMA integrity_check").scalars():
        if said != "ok":
            yield Broken(check, "database", str(said))
    for table, row, named, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield Broken(check, f"{table} {row}", f"it names a row of {named} that is not there")


def _rows(connection: Connection, checked: Checked) -> Iterator[Broken]:
    """Yield the rows that hold what predibot never writes, whatever the file says of its columns."""
    checked.count(_ROWS)
    for row, seen in foreign_rows(connection):
        yield Broken(_ROWS, row, seen)


def _as_far_as_possible(found: Iterator[Broken], foreign: tuple[type[Exception], ...]) -> Iterator[Broken]:
    """Yield what a check finds, and that it came to no end where one of these errors ends it."""
    try:
        yield from found
    except foreign as error:
        yield Broken(_ROWS, "ledger", f"because of such rows a check ended early: {words_of(error)[:200]}")


def _memos(connection: Connection, checked: Checked) -> Iterator[Broken]:
    """Yield the kept evaluations that would be believed and cannot be read; of what is not sealed none is believed."""
    check = "kept evaluations readable"
    # As the database has it: no other check looks at these rows.
    for row, key in connection.execute(select(memos.c.id, type_coerce(memos.c.key, NullType()))).all():
        try:
            if not isinstance(key, str):
                raise TypeError("its key is no text")
            content = stored_memo(connection, key)
            if content is None:
                continue
            checked.count(check)
            evaluation_from_text(content)
        except (ValueError, TypeError, RecursionError, OverflowError, MemoryError) as error:
            yield Broken(check, f"memo {row}", f"{error}; delete it")


def _keep(connection: Connection, kept: list[tuple[str, str, str]]) -> Iterator[Broken]:
    """Add what is kept outside of the rows: of which kind, whose, and under which hash; nothing is wrong yet."""
    kept += [("traces present", each.name, str(each.trace_sha256)) for each in decisions_with_traces(connection)]
    for row in export_rows(connection, "sources"):
        if row["kind"] == "page" and row["sha256"] is not None:
            kept.append(("pages present", f"{row['run']}/{row['bot']}/{row['subject_id']}", row["sha256"]))
    yield from ()


def _artefacts(store: Store, kept: list[tuple[str, str, str]], checked: Checked) -> Iterator[Broken]:
    """Yield the traces and pages that are missing, or whose content does not have their hash."""
    traces, pages = Traces(store), Pages(store)
    read = {"traces present": traces.read, "pages present": pages.text}
    for check, name, digest in kept:
        try:
            read[check](digest)
        except ArtefactPruned:
            # On purpose, and no failure; the decision keeps the hash.
            checked.count(check.replace("present", "pruned"))
            continue
        except (UsageError, ValueError) as error:
            yield Broken(check, name, str(error))
        checked.count(check)
