"""Rows of a ledger by a statement of SQL, past all that predibot knows of them."""

from typing import Any

from sqlalchemy import text

from predibot.ledger.store import Store


def found(ledger: Store | str, query: str, **values: object) -> list[Any]:
    """Return what a query finds in a ledger or in that of an address: rows, or cells where it asks for one column."""
    if isinstance(ledger, str):
        with Store.open(ledger, create=False) as opened:
            return found(opened, query, **values)
    with ledger.read() as connection:
        rows = connection.execute(text(query), values).all()
    return [row[0] if len(row) == 1 else tuple(row) for row in rows]


def altered(ledger: Store | str, *statements: str, **values: object) -> None:
    """Alter the rows of a ledger, or of that of an address."""
    if isinstance(ledger, str):
        with Store.open(ledger, create=False) as opened:
            return altered(opened, *statements, **values)
    with ledger.write() as connection:
        for statement in statements:
            connection.execute(text(statement), values)
