"""Verifying: every invariant of a ledger's rows, traces and pages is checked again."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from traceback import clear_frames
from typing import Any

from sqlalchemy import Connection, Row, func, select
from sqlalchemy.exc import SQLAlchemyError

from predibot.domain.trace import GivenUpStep, ModelFailedStep, Step, cost_of_steps
from predibot.errors import ArtefactPruned, UsageError, describe_error
from predibot.jobs.deciding.activity import sources_of
from predibot.ledger.files.content_store import Pages
from predibot.ledger.files.traces import Traces
from predibot.ledger.read.accounts.invariants import check_orders, checks_of_accounts
from predibot.ledger.read.invariants import Checked, Violation, checks_of_rows
from predibot.ledger.schema.foreign_rows import foreign_rows
from predibot.ledger.schema.values import ROW_ERRORS
from predibot.ledger.store import Store
from predibot.ledger.write.claims import attempts, subjects
from predibot.ledger.write.decisions import bots, decisions, sources
from predibot.ledger.write.runs import runs, with_decisions
from predibot.rows import grouped

_ROWS = "rows as declared"
_COST_TOLERANCE_USD = 1e-9


@dataclass(frozen=True, slots=True)
class CheckReport:
    """How many rows a check looked at, and how many failed."""

    name: str
    rows: int
    failed: int


_Source = tuple[str, str | None, int | None]
"""Kind, SHA-256 and number of results of a search or a page, as trace and row both state them."""
_SourcedDecision = tuple[Row[Any], list[_Source]]
"""A decision with a trace or sources: what its row says of its cost, and what it looked up."""


@dataclass(frozen=True, slots=True)
class Verification:
    """All checks, and every row that fails one."""

    checks: tuple[CheckReport, ...]
    broken: tuple[Violation, ...]


def verify(store: Store) -> Verification:
    """Return which invariants of a ledger are broken; nothing is changed."""
    checked = Checked()
    with store.read() as connection:
        broken = [*_check_database(connection, checked), *_check_rows(connection, checked)]
        # Malformed rows make later checks fail; without any, an error is a mistake of ours and not hidden.
        foreign = (*ROW_ERRORS, SQLAlchemyError, UsageError) if broken else ()
        checks = [*checks_of_rows(connection, checked), check_orders(connection, checked)]
        checks += checks_of_accounts(connection, checked)
        for check in checks:
            with _note_error(broken, foreign):
                broken += check
        kept: list[_SourcedDecision] = []
        with _note_error(broken, foreign):
            kept += _sourced_decisions(connection)
    broken += _check_artefacts(store, kept, checked)
    failed = Counter(each.check for each in broken)
    return Verification(tuple(CheckReport(name, rows, failed[name]) for name, rows in checked.items()), tuple(broken))


def _check_database(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield SQLite's findings about its file; a server checks its own."""
    if connection.dialect.name != "sqlite":
        return
    check = "database whole"
    checked[check] += 1
    for finding in connection.exec_driver_sql("PRAGMA integrity_check").scalars():
        if finding != "ok":
            yield Violation(check, "database", str(finding))
    for table, row, named, _ in connection.exec_driver_sql("PRAGMA foreign_key_check"):
        yield Violation(check, f"{table} {row}", f"it names a row of {named} that is not there")


def _check_rows(connection: Connection, checked: Checked) -> Iterator[Violation]:
    """Yield rows with values that predibot never writes, whatever the file declares of its columns."""
    checked[_ROWS] += 1
    for row, seen in foreign_rows(connection):
        yield Violation(_ROWS, row, seen)


@contextmanager
def _note_error(broken: list[Violation], foreign: tuple[type[Exception], ...]) -> Iterator[None]:
    """Add that a check was cut short where one of these errors ends it; what it found before stays."""
    try:
        yield
    except foreign as error:
        # Its frames hold rows half read, by which the ledger would stay busy until they are collected.
        clear_frames(error.__traceback__)
        seen = f"because of such rows a check ended early: {describe_error(error)[:200]}"
        broken.append(Violation(_ROWS, "ledger", seen))


def _sourced_decisions(connection: Connection) -> Iterator[_SourcedDecision]:
    columns = (sources.c.decision_id, sources.c.kind, sources.c.sha256, sources.c.results)
    rows = connection.execute(select(*columns).order_by(sources.c.decision_id, sources.c.number))
    found = grouped((decision_id, tuple(source)) for decision_id, *source in rows)
    tries = select(func.max(attempts.c.number)).where(attempts.c.task_id == decisions.c.task_id).scalar_subquery()
    costs = (decisions.c.trace_sha256, decisions.c.cost_usd, decisions.c.cost_known_usd, tries.label("tries"))
    statement = with_decisions(decisions.c.id, runs.c.key, bots.c.name, subjects.c.subject_id, *costs)
    for row in connection.execute(statement.order_by(decisions.c.id)):
        if row.trace_sha256 is not None or row.id in found:
            yield row, found[row.id]


def _check_artefacts(store: Store, kept: list[_SourcedDecision], checked: Checked) -> Iterator[Violation]:
    traces, pages = Traces(store), Pages(store)
    for row, looked_up in kept:
        name = f"{row.key}/{row.name}/{row.subject_id}"
        if row.trace_sha256 is not None:
            yield from _check_trace(name, row, looked_up, traces, checked)
        for sha256 in (sha256 for kind, sha256, _ in looked_up if kind == "page" and sha256 is not None):
            checked["pages present"] += 1
            try:
                pages.text(sha256)
            except (UsageError, ValueError) as error:
                yield Violation("pages present", name, str(error))


def _check_trace(
    name: str, row: Row[Any], looked_up: list[_Source], traces: Traces, checked: Checked
) -> Iterator[Violation]:
    try:
        steps = traces.read(row.trace_sha256).steps
    except ArtefactPruned:
        # Pruned on purpose, which is no failure; the decision keeps the hash.
        checked["traces pruned"] += 1
        return
    except (UsageError, ValueError) as error:
        yield Violation("traces present", name, str(error))
    else:
        checked["rows are their traces"] += 1
        yield from (
            Violation("rows are their traces", name, seen) for seen in _trace_differences(row, looked_up, steps)
        )
    checked["traces present"] += 1


def _trace_differences(row: Row[Any], looked_up: list[_Source], steps: Sequence[Step]) -> Iterator[str]:
    cost_usd, known_usd = cost_of_steps(steps)
    # Costs of earlier tries are in no trace any more.
    more_usd, is_whole = row.cost_known_usd - known_usd, (row.tries or 1) == 1
    if more_usd < -_COST_TOLERANCE_USD or (is_whole and more_usd > _COST_TOLERANCE_USD):
        yield f"it cost ${row.cost_known_usd!r}, its trace says ${known_usd!r}"
    is_given_up = any(isinstance(step, GivenUpStep) for step in steps)
    # Rows of earlier versions count a refused request as free, even after a lost try, and are not written again.
    without_refused_usd, _ = cost_of_steps(
        step for step in steps if not (isinstance(step, ModelFailedStep) and step.error == "ModelRefused")
    )
    if without_refused_usd is None and row.cost_usd is not None:
        yield f"it cost ${row.cost_usd!r}, and its trace does not know all of it"
    if row.cost_usd is None and cost_usd is not None and is_whole and not is_given_up:
        yield f"what it cost is unknown, its trace says ${cost_usd!r}"
    seen = [(each.kind, each.sha256, each.results) for each in sources_of(steps)]
    if seen != looked_up:
        yield "what it searched and read is not what its trace says"
