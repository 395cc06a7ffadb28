"""The open ledger: transactions on it, and the errors of a database in our words."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DatabaseError, DBAPIError, OperationalError, ProgrammingError

from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.schema import make_current
from predibot.ledger.url import masked, parse_ledger_url, sqlite_file

_BUSY_MILLISECONDS = 30_000


class Store:
    """A ledger that is open and of this version."""

    def __init__(self, engine: Engine) -> None:
        """Wrap an engine whose tables are current; use `Store.open`."""
        self._engine = engine

    @classmethod
    def open(cls, address: str, *, create: bool = True) -> Self:
        """Open a ledger, make its tables where there are none, upgrade older ones.

        Args:
            address: A sqlite or postgresql URL.
            create: Whether a missing SQLite file is made; else it is an error.

        Raises:
            UsageError: If the URL is not one predibot takes.
            LedgerUnusable: If the database is missing, locked, full, newer, or
                cannot be reached.
        """
        url = parse_ledger_url(address)
        file = sqlite_file(url)
        if file is not None:
            _prepare(file, create=create)
        store = cls(_engine(url))
        with store.write() as connection:
            make_current(connection)
        return store

    @property
    def address(self) -> str:
        """Return the URL as it may be shown, without passwords."""
        return masked(self._engine.url)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run one transaction that may write; all of it is stored, or nothing."""
        with self._translated(), self._engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection = connection.execution_options(predibot_begin="BEGIN IMMEDIATE")
            with connection.begin():
                yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run one transaction that sees a single state of the ledger."""
        with self._translated(), self._engine.connect() as connection:
            if connection.dialect.name == "postgresql":
                connection = connection.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Let go of every connection."""
        self._engine.dispose()

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (OperationalError, ProgrammingError) as error:
            raise LedgerUnusable(f"the ledger {self.address} cannot be used: {_cause(error)}") from error
        except DatabaseError as error:
            if isinstance(error.orig, sqlite3.DatabaseError) and not isinstance(error.orig, sqlite3.IntegrityError):
                raise LedgerUnusable(f"the ledger {self.address} cannot be used: {_cause(error)}") from error
            raise


def _prepare(file: Path, *, create: bool) -> None:
    if file.is_dir():
        raise UsageError(f"the ledger {file} is a folder; name a file in it")
    if file.exists():
        return
    if not create:
        raise LedgerUnusable(f"there is no ledger at {file}. Run `predibot decide` first, or name one with --ledger")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerUnusable(f"the folder of the ledger {file} cannot be made: {error.strerror}") from error


def _engine(url: URL) -> Engine:
    try:
        engine = create_engine(url, pool_size=8, max_overflow=64, pool_pre_ping=url.get_backend_name() != "sqlite")
    except ModuleNotFoundError:
        raise UsageError("a PostgreSQL ledger needs its driver: pip install 'predibot[postgres]'") from None
    if url.get_backend_name() == "sqlite":
        event.listen(engine, "connect", _configure)
        event.listen(engine, "begin", _begin)
    return engine


def _configure(connection: Any, _record: object) -> None:
    # Python's driver would begin its own transactions; ours say when they begin, and how.
    connection.isolation_level = None
    for pragma in (f"busy_timeout={_BUSY_MILLISECONDS}", "journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("predibot_begin", "BEGIN"))


def _cause(error: DBAPIError) -> str:
    """Return what the database said, its first line, and what to do where we know."""
    said = (str(error.orig).strip() or type(error.orig).__name__).splitlines()[0]
    remedies = {
        "locked": "Another program holds it; try again when that has ended",
        "full": "Make room and run the same command again; nothing half-written was kept",
        "readonly": "Make the file and its folder writable, or name another --ledger",
        "not a database": "Name another --ledger",
        "unable to open": "Look at the path and its permissions",
        "connection": "Is the server up, and the URL right?",
    }
    remedy = next((text for word, text in remedies.items() if word in said), "")
    return f"{said}. {remedy}".rstrip(". ") if remedy else said
