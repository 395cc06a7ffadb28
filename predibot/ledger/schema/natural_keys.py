"""Natural keys: by what others know a row in place of our number of it, worked out from the tables themselves.

A row is known by what its table says is unique; where a column holds the number of a row of another table, that
one's natural key stands there. `export` writes tables so, and `import ledger` finds the rows of its ledger by it.
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
"""The table of the row whose number a column holds, by the column's name, which is the same wherever one does."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    "decisions": ("run_id", "bot_id", "subject_row"),
    "bets": ("decision_id", "market_row"),
}
"""What is known by something else than what its constraints say: a decision is that of a task, which has the same."""
_NAMES: Mapping[tuple[str, str], str] = {
    ("runs", "key"): "run",
    ("bots", "name"): "bot",
    ("subjects", "kind"): "subject_kind",
    ("instruments", "kind"): "instrument_kind",
}


class Named(NamedTuple):
    """A column by the name that others know it by."""

    name: str
    """Empty of a venue that is the one of the run."""
    path: tuple[Any, ...]
    """Columns that refer to a row of another table, each of the one before, and in the end the column itself."""

    @property
    def is_nullable(self) -> bool:
        """Return whether it may hold nothing."""
        return any(isinstance(getattr(column, "table", None), Table) and column.nullable for column in self.path)


@dataclass(frozen=True, slots=True)
class NamedTable:
    """A table as others know it."""

    table: FromClause
    key: tuple[Named, ...]
    columns: tuple[Named, ...]
    """Those of the key first."""
    references: Mapping[str, tuple[Named, ...]]
    """By a column that refers to a row of another table: the natural key of that."""

    @property
    def n_keys(self) -> int:
        """Return how many columns, from the first one on, no two rows have in common."""
        return len({named.name for named in self.key if named.name})

    def statement(self) -> Select[Any]:
        """Return the statement of all its rows, in the order of their numbers."""
        source: Any = self.table
        chosen, joined = [], set[str]()
        for name, path in self.columns:
            for place, column in enumerate(path[:-1], start=1):
                target = REFERS_TO[column.name]
                if target.name not in joined:
                    joined.add(target.name)
                    may_be_none = Named(name, path[:place]).is_nullable
                    source = source.join(target, target.c.id == column, isouter=may_be_none)
            of_none = path[-1] is VOID and Named(name, path).is_nullable
            chosen.append((case((_runs.c.id.is_not(None), VOID)) if of_none else path[-1]).label(name))
        return select(*chosen).select_from(source).order_by(*self.table.primary_key)


def named_table(table: FromClause, behind: str | None = None) -> NamedTable:
    """Return a table as others know it.

    Args:
        table: One of ours, or what is selected like one.
        behind: The columns behind its key in their order, such as `note`, or `market_row.question` of the row that is
            referred to, or `instrument_row.side=outcome` under another name; left out, all of the table.
    """
    key = [*_spelled(own_key := key_of(table))]
    if behind is None:
        behind = " ".join(column.name for column in table.c if column.name != "id" and column not in {*own_key})
    more = [named for word in behind.split() for named in _behind(table, word)]
    named, columns = list[Named](), dict[str, Named]()
    for each in (*key, *more):
        named.append(each._replace(name=_name_beside(each, columns)))
        columns.setdefault(named[-1].name, named[-1])
    columns.pop("", None)
    references = dict[str, tuple[Named, ...]]()
    for column in table.c:
        if column.name in REFERS_TO:
            of_key = {each.path for each in _spelled(key_of(REFERS_TO[column.name]), (column,))}
            references[column.name] = tuple(columns.get(each.name, each) for each in named if each.path in of_key)
    references = {name: names for name, names in references.items() if names}
    return NamedTable(table, tuple(named[: len(key)]), tuple(columns.values()), references)


def key_of(table: FromClause) -> tuple[Any, ...]:
    """Return the columns that a row of a table is known by."""
    if table is _runs:
        return (_runs.c.key, VOID)
    if names := _KEYS.get(getattr(table, "name", "")):
        return tuple(table.c[name] for name in names)
    unique = [each for each in getattr(table, "constraints", ()) if isinstance(each, UniqueConstraint)]
    return tuple(unique[0].columns if unique and "id" in table.c else table.primary_key)


def _spelled(columns: Iterable[Any], before: tuple[Any, ...] = ()) -> Iterator[Named]:
    """Yield columns by their names, in place of each that refers to a row the natural key of that."""
    for column in columns:
        if column.name in REFERS_TO:
            yield from _spelled(key_of(REFERS_TO[column.name]), (*before, column))
        else:
            owner = "" if column is VOID else column.table.name
            yield Named(_NAMES.get((owner, column.name), column.name), (*before, column))


def _behind(table: FromClause, word: str) -> Iterator[Named]:
    """Yield what a word of `named_table` stands for."""
    names, _, called = word.partition("=")
    *through, last = names.split(".")
    if not through:
        yield from _spelled([table.c[last]])
        return
    path = list[Any]()
    for name in through:
        path.append(table.c[name])
        table = REFERS_TO[name]
    yield Named(called or last, (*path, table.c[last]))


def _name_beside(named: Named, others: Mapping[str, Named]) -> str:
    """Return the name of a column beside others; of the venues of rows there may be several, or that of the run."""
    *through, column = named.path
    if not through or column.name != "venue":
        return named.name
    owner = column.table.name
    if "account_venue" in others or (owner == "subjects" and "run" not in others):
        return "account_venue" if owner == "subjects" else f"{owner[:-1]}_venue"
    return "" if "run" in others and owner != "instruments" else "venue"


def _void() -> Label[Any]:
    earlier = _runs.alias("earlier")
    ordinal = (
        select(func.count())
        .select_from(earlier)
        .where(earlier.c.key == _runs.c.key, earlier.c.voided_at.is_not(None), earlier.c.id <= _runs.c.id)
        .scalar_subquery()
    )
    return case((_runs.c.voided_at.is_(None), 0), else_=ordinal).label("void")


VOID = _void()
"""Which of the void runs of its key a run is, 0 for none."""
