"""The open ledger: transactions on it, and the errors of a database in our words."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Self

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as NoConnection

from predibot.errors import LedgerUnusable, UsageError
from predibot.ledger.schema import HEAD, make_current, stored_version
from predibot.ledger.url import masked, parse_ledger_url, sqlite_file

_BUSY_SECONDS = 30
_PAUSE_SECONDS = 0.02


class Store:
    """A ledger that is open and of this version."""

    def __init__(self, engine: Engine) -> None:
        """Wrap an engine whose tables are current; use `Store.open`."""
        self._engine = engine
        self._file = sqlite_file(engine.url)
        self._opened: tuple[int, int] | None = None
        """Device and number of the file that is open; None while it is being made, and for a server."""

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
        try:
            store._make_current()
            store._opened = store._on_disk()
        except BaseException:
            store.close()
            raise
        return store

    @property
    def address(self) -> str:
        """Return the URL as it may be shown, without passwords."""
        return masked(self._engine.url)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Run one transaction that may write; all of it is stored, or nothing."""
        self._check_in_place()
        with self._translated(), self._engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection = connection.execution_options(predibot_begin="BEGIN IMMEDIATE")
            with connection.begin():
                yield connection
        self._check_in_place()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Run one transaction that sees a single state of the ledger."""
        self._check_in_place()
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

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Close the store.

        Raises:
            LedgerUnusable: If the file is not where it was opened, so that nothing of this is kept there.
        """
        self.close()
        if kind is None:
            self._check_in_place()

    def _on_disk(self) -> tuple[int, int] | None:
        """Return device and number of the file at the ledger's path now; None for none, and for a server."""
        try:
            found = self._file.stat() if self._file is not None else None
        except OSError:
            return None
        return None if found is None else (found.st_dev, found.st_ino)

    def _check_in_place(self) -> None:
        """Refuse to go on where the file was removed: SQLite itself would write on, into a file without a name."""
        if self._opened is not None and self._on_disk() != self._opened:
            raise LedgerUnusable(
                f"the ledger {self.address} was removed, moved or replaced while it was in use; what was recorded "
                "since is not in it. Put the file back if it was moved, and run the same command again"
            )

    def _make_current(self) -> None:
        # Most openings find the tables current, and do not wait for whoever is writing.
        with self.read() as connection:
            if stored_version(connection) == HEAD:
                return
        file = sqlite_file(self._engine.url)
        if file is not None:
            with self._translated():
                _write_ahead(file)
        with self.write() as connection:
            make_current(connection)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (IntegrityError, DataError):
            # The database is well; what was to be stored in it is not.
            raise
        except (DBAPIError, NoConnection, sqlite3.Error) as error:
            raise LedgerUnusable(f"the ledger {self.address} cannot be used: {_cause(error)}") from error


def _prepare(file: Path, *, create: bool) -> None:
    try:
        if file.is_dir():
            raise UsageError(f"the ledger {file} is a folder; name a file in it")
        if file.exists():
            return
        if create:
            file.parent.mkdir(parents=True, exist_ok=True)
            return
    except OSError as error:
        raise LedgerUnusable(
            f"the ledger {file} cannot be reached: {error.strerror}. Look at the path and its permissions"
        ) from error
    raise LedgerUnusable(f"there is no ledger at {file}. Run `predibot decide` first, or name one with --ledger")


def _write_ahead(file: Path) -> None:
    """Let readers and a writer work at once, for good; SQLite itself does not wait for others here."""
    patient_until = time.monotonic() + _BUSY_SECONDS
    with closing(sqlite3.connect(file)) as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode=WAL").close()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > patient_until:
                    raise
            time.sleep(_PAUSE_SECONDS)


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
    for pragma in (f"busy_timeout={_BUSY_SECONDS * 1000}", "synchronous=NORMAL", "foreign_keys=ON"):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    connection.exec_driver_sql(connection.get_execution_options().get("predibot_begin", "BEGIN"))


def _cause(error: Exception) -> str:
    """Return what the database said, its first line, and what to do where we know."""
    original = error.orig if isinstance(error, DBAPIError) else error
    said = (str(original).strip() or type(original).__name__).splitlines()[0]
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
