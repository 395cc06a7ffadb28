"""Natural keys: columns that identify a row without row numbers, derived from the tables.

A row is known by what its table declares unique. A column with another row's number is replaced by that row's
natural key. `export` writes rows so, and `import ledger` finds the ledger's rows by it.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import FromClause, Label, Select, Table, UniqueConstraint, case, func, select

from predibot.ledger.schema.tables import Row

_runs = Row.metadata.tables["runs"]
REFERS_TO: Mapping[str, Table] = {
    key.parent.name: key.column.table
    for table in Row.metadata.sorted_tables
    for key in table.foreign_keys
    if key.column.name == "id"
}
"""The table that a column refers to, by the column's name, which is the same in all tables."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    "decisions": ("run_id", "bot_id", "subject_row"),
    "bets": ("decision_id", "market_row"),
}
"""Keys that differ from the constraints: a decision has the key of its task."""
_NAMES: Mapping[tuple[str, str], str] = {
    ("runs", "key"): "run",
    ("bots", "name"): "bot",
    ("subjects", "kind"): "subject_kind",
    ("instruments", "kind"): "instrument_kind",
}


class NamedColumn(NamedTuple):
    """A column and its name in an export."""

    name: str
    """Empty where the venue is that of the run."""
    path: tuple[Any, ...]
    """Columns that lead from row to row by reference, and the column itself at the end."""

    @property
    def is_nullable(self) -> bool:
        """Return whether it may be null."""
        return any(isinstance(getattr(column, "table", None), Table) and column.nullable for column in self.path)


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table as an export has it."""

    table: FromClause
    key: tuple[NamedColumn, ...]
    columns: tuple[NamedColumn, ...]
    """The key's columns first."""
    references: Mapping[str, tuple[NamedColumn, ...]]
    """The natural key behind each column that refers to another table."""

    @property
    def n_keys(self) -> int:
        """Return how many of the first columns form the key."""
        return len({named.name for named in self.key if named.name})

    def statement(self) -> Select[Any]:
        """Return the statement of all rows, in the order of their numbers."""
        source: Any = self.table
        chosen, joined = [], set[str]()
        for name, path in self.columns:
            for place, column in enumerate(path[:-1], start=1):
                target = REFERS_TO[column.name]
                if target.name not in joined:
                    joined.add(target.name)
                    may_be_none = NamedColumn(name, path[:place]).is_nullable
                    source = source.join(target, target.c.id == column, isouter=may_be_none)
            of_none = path[-1] is VOID and NamedColumn(name, path).is_nullable
            chosen.append((case((_runs.c.id.is_not(None), VOID)) if of_none else path[-1]).label(name))
        return select(*chosen).select_from(source).order_by(*self.table.primary_key)


def make_named_table(table: FromClause, behind: str | None = None) -> NamedTable:
    """Return a table as an export has it.

    Args:
        table: One of ours, or a subquery like one.
        behind: The columns behind its key in order: `note`, or `market_row.question` for a column of the row that
            `market_row` refers to, or `instrument_row.side=outcome` to rename it; left out, all of the table.
    """
    key = [*_expand(own_key := key_of(table))]
    if behind is None:
        behind = " ".join(column.name for column in table.c if column.name != "id" and column not in {*own_key})
    more = [named for word in behind.split() for named in _parse_column(table, word)]
    named, columns = list[NamedColumn](), dict[str, NamedColumn]()
    for each in (*key, *more):
        named.append(each._replace(name=_unique_name(each, columns)))
        columns.setdefault(named[-1].name, named[-1])
    columns.pop("", None)
    references = dict[str, tuple[NamedColumn, ...]]()
    for column in table.c:
        if column.name in REFERS_TO:
            of_key = {each.path for each in _expand(key_of(REFERS_TO[column.name]), (column,))}
            references[column.name] = tuple(columns.get(each.name, each) for each in named if each.path in of_key)
    references = {name: names for name, names in references.items() if names}
    return NamedTable(table, tuple(named[: len(key)]), tuple(columns.values()), references)


def key_of(table: FromClause) -> tuple[Any, ...]:
    """Return the columns of a table's natural key, as they are stored."""
    if table is _runs:
        return (_runs.c.key, VOID)
    if names := _KEYS.get(getattr(table, "name", "")):
        return tuple(table.c[name] for name in names)
    unique = [each for each in getattr(table, "constraints", ()) if isinstance(each, UniqueConstraint)]
    return tuple(unique[0].columns if unique and "id" in table.c else table.primary_key)


def _expand(columns: Iterable[Any], before: tuple[Any, ...] = ()) -> Iterator[NamedColumn]:
    """Yield named columns; a column that refers to a row becomes the natural key of that."""
    for column in columns:
        if column.name in REFERS_TO:
            yield from _expand(key_of(REFERS_TO[column.name]), (*before, column))
        else:
            owner = "" if column is VOID else column.table.name
            yield NamedColumn(_NAMES.get((owner, column.name), column.name), (*before, column))


def _parse_column(table: FromClause, word: str) -> Iterator[NamedColumn]:
    names, _, called = word.partition("=")
    *through, last = names.split(".")
    if not through:
        yield from _expand([table.c[last]])
        return
    path = list[Any]()
    for name in through:
        path.append(table.c[name])
        table = REFERS_TO[name]
    yield NamedColumn(called or last, (*path, table.c[last]))


def _unique_name(named: NamedColumn, others: Mapping[str, NamedColumn]) -> str:
    """Return a column's name beside others: rows may have several venues, or that of their run."""
    *through, column = named.path
    if not through or column.name != "venue":
        return named.name
    owner = column.table.name
    if "account_venue" in others or (owner == "subjects" and "run" not in others):
        return "account_venue" if owner == "subjects" else f"{owner[:-1]}_venue"
    return "" if "run" in others and owner != "instruments" else "venue"


def _void_ordinal() -> Label[Any]:
    earlier = _runs.alias("earlier")
    ordinal = (
        select(func.count())
        .select_from(earlier)
        .where(earlier.c.key == _runs.c.key, earlier.c.voided_at.is_not(None), earlier.c.id <= _runs.c.id)
        .scalar_subquery()
    )
    return case((_runs.c.voided_at.is_(None), 0), else_=ordinal).label("void")


VOID = _void_ordinal()
"""The ordinal of a void run among those with its key; 0 for a run that counts."""
