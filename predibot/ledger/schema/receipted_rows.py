"""Rows and columns that receipts cover, derived from the tables, and reasons for those in no receipt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, or_

from predibot.ledger.schema.tables import Row

PRICES = "price_paths"
"""Its points are covered one by one; the number of their receipt stands beside them."""
OF_RUNS = ("decisions", "forecasts", "orders", "labels", "quotes", "sources")
"""Tables that the receipts of runs cover completely."""
NOT_COVERED: Mapping[str, str] = {
    "tasks": "who works at a decision, and how often it failed; `verify --rows` compares its status with the decision",
    "attempts": "what became of tries at a decision; no money and no score rests on one",
    "accounts.task_id": "who wrote to the account last; it changes with each run",
    "accounts.slot_at": "the time of that run; it changes with each",
    "instruments.tracked_from": "from when on prices were asked for; it changes with each call of `track`",
    "instruments.tracked_until": "until when; it changes with each call of `track`",
    "runs.receipted": "whether a receipt is expected; `verify` compares it with the receipts, of an import it says so",
    "spending": "totals under a limit that go on; `verify --rows` compares them with what decisions cost",
    "reservations": "money set aside by processes at work",
    "paces": "when a host may be asked again",
    "permits": "how many calls processes have under way",
    "schedules": "which recipes are played by themselves, and when",
    "slots": "what became of the runs of schedules, for people; the runs are covered",
    "services": "which process runs the schedules",
    "artefacts": "traces and pages, each named by the hash of its content; `verify --rows` computes it anew",
    "changes": "counters that triggers keep for caches",
    "ledger_receipts": "the receipts themselves: each is computed anew, with the root before it",
    "price_paths.receipts": "in which receipt a point is; moved to another one, both come to other roots",
}
"""Tables and columns in no leaf, and why; `docs/receipts.md` says the same."""
_SPLIT: Mapping[str, tuple[str, ...]] = {
    "runs.voided": ("voided_at", "void_reason"),
    "markets.tokens": ("token_ids_json",),
    "orders.ended": ("status", "note", "ended_at"),
    "cohorts.archived": ("archived_at", "archived_reason"),
}
"""Columns that are written later than the rest of their row, and then are a leaf of their own."""


@dataclass(frozen=True, slots=True)
class RowPart:
    """Rows that a ledger's receipts cover, each once, as soon as it is there."""

    name: str
    """The table's, or with the name of the columns that are written later."""
    table: Table
    columns: tuple[Column[Any], ...]
    """The columns of a leaf besides the key."""
    where: ColumnElement[bool] | None = None
    """Which rows; None for all."""

    @property
    def key(self) -> tuple[Column[Any], ...]:
        """Return the columns of a row's key; the run is one for turns, as a void run's slot may be played again."""
        own = tuple(self.table.primary_key.columns)
        return (*own, self.table.c.run_id) if self.name == "turns" else own

    @property
    def may_change(self) -> bool:
        """Return whether a command may change or remove a leaf later."""
        return self.name in ("turns", "cohorts.archived")


def _parts() -> tuple[RowPart, ...]:
    found = []
    for table in Row.metadata.sorted_tables:
        split = {name: columns for name, columns in _SPLIT.items() if name.startswith(f"{table.name}.")}
        later = {column for columns in split.values() for column in columns}
        if table.name not in (*OF_RUNS, *NOT_COVERED, PRICES):
            key = {*table.primary_key.columns}
            written_first = tuple(each for each in table.columns if each not in key and each.name not in later)
            found.append(
                RowPart(table.name, table, tuple(each for each in written_first if str(each) not in NOT_COVERED))
            )
        for name, columns in split.items():
            where = or_(*(table.c[each].is_not(None) for each in columns))
            if name == "orders.ended":
                where = table.c.ended_at.is_not(None)
            elif name == "markets.tokens":
                where = table.c.token_ids_json != "[]"
            whole = name == "cohorts.archived"
            found.append(RowPart(name, table, tuple(table.c[each] for each in columns), None if whole else where))
    return tuple(found)


PARTS = _parts()
"""Every part but the prices, a table behind those it refers to."""


def coverage() -> Mapping[str, str]:
    """Return what covers each `table.column`, or why nothing does."""
    in_parts = {str(column) for part in PARTS for column in (*part.key, *part.columns)}
    found = {}
    for table in Row.metadata.sorted_tables:
        for column in table.columns:
            name = str(column)
            if reason := NOT_COVERED.get(name, NOT_COVERED.get(table.name)):
                found[name] = f"not covered: {reason}"
            elif name in in_parts or table.name == PRICES:
                found[name] = "receipts of the ledger"
            if table.name in OF_RUNS:
                both = " and of the ledger" if name in in_parts and not column.primary_key else ""
                found[name] = f"receipts of runs{both}"
    return found
