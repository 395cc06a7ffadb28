"""How many bytes a database takes for each of its tables, with their indexes, as far as it tells."""

from collections.abc import Mapping

from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from predibot.ledger.schema.tables import Row

_OF_A_FILE = (
    "SELECT m.tbl_name, SUM(s.pgsize) FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name"
    " WHERE s.aggregate = 1 GROUP BY m.tbl_name"
)


def table_bytes(connection: Connection) -> Mapping[str, int] | None:
    """Return the bytes of each table and its indexes; None where a SQLite was built without telling them."""
    if connection.dialect.name == "postgresql":
        names = Row.metadata.tables
        sizes = ", ".join(f"pg_total_relation_size('{name}')" for name in names)
        return dict(zip(names, map(int, connection.exec_driver_sql(f"SELECT {sizes}").one()), strict=True))
    try:
        return {name: int(size) for name, size in connection.exec_driver_sql(_OF_A_FILE)}
    except OperationalError:
        return None


def database_bytes(connection: Connection) -> int:
    """Return the bytes of all tables on a server, or of the whole file with the room in it that nothing takes."""
    if connection.dialect.name == "postgresql":
        return sum((table_bytes(connection) or {}).values())
    return _pages(connection, "page_count")


def unused_bytes(connection: Connection) -> int | None:
    """Return the bytes within a SQLite file that nothing takes, and `ledger compact` gives back; None for a server."""
    return None if connection.dialect.name == "postgresql" else _pages(connection, "freelist_count")


def _pages(connection: Connection, which: str) -> int:
    count, size = (connection.exec_driver_sql(f"PRAGMA {name}").scalar_one() for name in (which, "page_size"))
    return int(count) * int(size)
