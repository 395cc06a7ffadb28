"""The open ledger: transactions on it, with a database's errors in predibot's words."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as NoConnection

from predibot.errors import LedgerUnusable, UsageError, describe_error
from predibot.ledger.database_errors import explain_error, first_line, is_away, needs_files_beside
from predibot.ledger.schema.tables import Row
from predibot.ledger.schema.values import ROW_ERRORS
from predibot.ledger.schema.versions import HEAD, Upgrade, make_current, read_version
from predibot.ledger.sqlite_files import BUSY_SECONDS, PrivateCopy, has_all_pages, matches_checksum, write_ahead
from predibot.ledger.url import mask_url, prepare_url, sqlite_file

T = TypeVar("T")
_Begin = Callable[[Connection], AbstractContextManager[Connection]]

_log = logging.getLogger(__name__)

RECONNECT_SECONDS = 30.0
"""How long work waits for a server that went away before it fails."""
MAX_CONNECTIONS = 5
"""Most connections of one process; PostgreSQL by default takes a hundred from all programs together."""
OPENED_FILE = "predibot_file"
"""Key in a connection's `info` for device and inode of the file it has open."""
_SILENT_SECONDS = 15
"""PostgreSQL ends a transaction that sends nothing for this long. Its locks make others wait.

It is much longer than any work of ours between two statements, and shorter than a usual lease.
"""
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 1.0
# The server's operator, or the URL, may have set another time.
_SET_IDLE_TIMEOUT = text(
    f"SELECT set_config('idle_in_transaction_session_timeout', '{_SILENT_SECONDS}s', true) "
    "WHERE current_setting('idle_in_transaction_session_timeout') = '0'"
)


class Store:
    """An open ledger of this version."""

    def __init__(
        self, url: URL, *, read_only: bool, artefacts_inside: bool = False, copy: PrivateCopy | None = None
    ) -> None:
        """Wrap an engine; use `Store.open`."""
        self._url = url
        self._copy = copy
        self._engine = _engine(url if copy is None else url.set(database=str(copy.file)), read_only=read_only)
        self._artefacts_inside = artefacts_inside
        self._read_only = read_only
        file = sqlite_file(url)
        # A link is followed: SQLite keeps its own files beside the real file too.
        self._file = None if file is None else Path(os.path.realpath(file))
        self._opened: tuple[int, int] | None = None
        """Device and inode of the open file; None while it is being made, and for a server."""
        self._largest_bytes = 0
        """Its largest size so far; only compaction makes it smaller."""
        self._reconnect_seconds = 0.0
        self._closed = False
        self.upgraded: Upgrade | None = None
        """What upgraded the tables on opening; None where they were of this version."""

    @classmethod
    def open(
        cls,
        address: str,
        *,
        create: bool = True,
        upgrade: bool = True,
        reconnect_seconds: float = RECONNECT_SECONDS,
        was_reached: bool = False,
        artefacts_inside: bool = False,
    ) -> Self:
        """Open a ledger for writing; make its tables where there are none, and upgrade older ones after a backup.

        Args:
            create: Whether a missing SQLite file is made; else it is an error.
            upgrade: Whether tables are made or upgraded; else other tables are an error.
            reconnect_seconds: How long to wait for a server that goes away later.
            was_reached: Whether this address worked before, so that even the first connection waits.
            artefacts_inside: Whether traces and pages are kept as rows in a SQLite file.

        Raises:
            LedgerUnusable: If the database is missing, locked, full, newer, or cannot be reached.
        """
        url = prepare_url(address, create=create)
        store = cls(url, read_only=False, artefacts_inside=artefacts_inside)
        return store._start(reconnect_seconds, upgrade=upgrade, is_asked=not was_reached)

    @classmethod
    def open_to_read(cls, address: str, *, reconnect_seconds: float = RECONNECT_SECONDS) -> Self:
        """Open an existing ledger to read.

        Raises `LedgerUnusable` if it is missing, of another version, or out of reach.
        """
        url = prepare_url(address, create=False)
        try:
            return cls(url, read_only=True)._start(reconnect_seconds)
        except LedgerUnusable as error:
            file = sqlite_file(url)
            if file is None or not os.access(file, os.R_OK) or not needs_files_beside(error.__cause__):
                raise
            _log.info("the ledger %s is read from a copy as it is now: %s", file, error)
        return cls(url, read_only=True, copy=PrivateCopy(file))._start(reconnect_seconds)

    def _start(self, reconnect_seconds: float, *, upgrade: bool = False, is_asked: bool = True) -> Self:
        """Check or make the tables, and return the store; close it where that fails."""
        try:
            if is_asked:
                # Fail at once: the address may be wrong.
                with self._translate_errors(), self._engine.connect():
                    pass
            self._reconnect_seconds = reconnect_seconds
            if upgrade:
                self._make_current()
            else:
                self._check_current()
            self._opened, self._largest_bytes = self._on_disk()
        except BaseException:
            self.close()
            raise
        return self

    @property
    def address(self) -> str:
        """Return the URL without passwords."""
        return mask_url(self._url)

    @property
    def files(self) -> Path | None:
        """Return the folder for traces and pages beside a SQLite file; None where they are rows."""
        return (
            None if self._file is None or self._artefacts_inside else self._file.with_name(f"{self._file.name}.files")
        )

    def write(self, *, durable: bool = False) -> AbstractContextManager[Connection]:
        """Run one transaction that may write; all of it is stored, or nothing.

        A power cut after a `durable` one cannot undo it. Without that, a SQLite file may lose the last transactions,
        each as a whole; PostgreSQL never does.
        """
        self._check_writable()
        return self._transaction(partial(_writing, durable=durable))

    def read(self) -> AbstractContextManager[Connection]:
        """Run one transaction that sees a single state of the ledger."""
        return self._transaction(_reading)

    @contextmanager
    def _transaction(self, begin: _Begin) -> Iterator[Connection]:
        with (
            self._translate_errors(),
            self._retry(self._engine.connect) as connection,
            begin(connection) as transaction,
        ):
            yield transaction

    def run_write(self, work: Callable[[Connection], T], *, durable: bool = False) -> T:
        """Run work in one transaction and return its result; repeat it where the server went away meanwhile.

        An unanswered commit may have gone through, so repeated work must give the same result.
        """
        self._check_writable()
        return self._run(work, partial(_writing, durable=durable))

    def run_read(self, work: Callable[[Connection], T]) -> T:
        """Run work that reads a single state and return its result; repeat it where the server went away."""
        return self._run(work, _reading)

    def _run(self, work: Callable[[Connection], T], begin: _Begin) -> T:
        def once() -> T:
            with self._engine.connect() as connection, begin(connection) as transaction:
                return work(transaction)

        with self._translate_errors():
            return self._retry(once)

    def check(self) -> None:
        """Read a row over a connection of its own, however many are in use; raise `LedgerUnusable` if that fails."""
        alone = _engine(self._engine.url, read_only=True)
        try:
            with self._translate_errors(), alone.connect() as connection:
                connection.execute(text("SELECT 1 FROM runs LIMIT 1"))
        finally:
            alone.dispose()

    def require_whole(self) -> None:
        """Have SQLite check every page and index of a file, and raise `LedgerUnusable` if one is damaged."""
        if self._file is None:
            return
        found = self.run_read(
            lambda connection: connection.exec_driver_sql("PRAGMA integrity_check(1)").scalars().all()
        )
        page_bytes = self.run_read(lambda connection: connection.exec_driver_sql("PRAGMA page_size").scalar_one())
        if self._file.stat().st_size % page_bytes:
            # SQLite reads the missing end of a last page as zeros.
            found = ["its end is missing"]
        elif not matches_checksum(self._file):
            found = ["it is not what was written"]
        if found != ["ok"]:
            problem = str(found[0]).splitlines()[-1] if found else "SQLite says nothing about it"
            raise LedgerUnusable(f"the ledger {self.address} is damaged: {problem}. Restore it from a copy")

    def give_back_room(self) -> None:
        """Rewrite the database without unused room while others wait.

        Raises `LedgerUnusable` if it is busy or the disk full.
        """
        self._check_writable()
        with self._translate_errors():
            if self._file is None:
                with self._engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    for name in Row.metadata.tables:
                        connection.exec_driver_sql(f"VACUUM (FULL, ANALYZE) {name}")
                return
            # A raw connection, because our own connections begin a transaction, and VACUUM takes none.
            with closing(self._engine.raw_connection()) as pooled:
                for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
                    pooled.driver_connection.execute(statement).fetchall()  # type: ignore[union-attr]

    def close(self) -> None:
        """Close every connection; those that another thread uses close when it is done."""
        self._closed = True
        self._engine.pool.dispose()
        if self._copy is not None:
            self._copy.remove()

    def __enter__(self) -> Self:
        """Return the store itself."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        """Close the store; raise `LedgerUnusable` where the file was moved or cut, or foreign rows caused the error."""
        try:
            if isinstance(error, (*ROW_ERRORS, SQLAlchemyError)):
                self._raise_for_foreign_row(error)
            if kind is None:
                # Before closing, which copies the log into the file and so hides that it was cut.
                self._check_in_place()
        finally:
            self.close()
        if kind is None:
            self._check_in_place()

    @contextmanager
    def blame_rows(self) -> Iterator[None]:
        """Report malformed rows as the cause of errors raised inside, if there are any, by LedgerUnusable."""
        try:
            yield
        except (*ROW_ERRORS, SQLAlchemyError) as error:
            self._raise_for_foreign_row(error)
            raise

    @contextmanager
    def blame_all_rows(self) -> Iterator[None]:
        """As `blame_rows`, for what only reads: rows that are valid one by one may contradict each other."""
        try:
            with self.blame_rows():
                yield
        except ROW_ERRORS as error:
            raise self.contradiction(error) from error

    def contradiction(self, error: Exception) -> LedgerUnusable:
        """Return the error that says that rows contradict each other."""
        reason = " ".join(describe_error(error).split())[:200]
        return LedgerUnusable(
            f"the ledger {self.address} holds what predibot does not write: {reason}. Put a copy in its place, or name "
            "another --ledger"
        )

    def _raise_for_foreign_row(self, error: Exception) -> None:
        """Raise `LedgerUnusable` from the error if predibot did not write some row; else it is a bug of predibot."""
        if isinstance(error, DBAPIError) and not isinstance(error, IntegrityError | DataError):
            # The database failed, not its content.
            return
        # Imported here, because it is needed after an error only.
        from predibot.ledger.schema.foreign_rows import foreign_rows

        try:
            with self._engine.connect() as connection, _reading(connection) as transaction:
                found = next(foreign_rows(transaction), None)
        except (SQLAlchemyError, UnicodeDecodeError):
            return
        finally:
            if self._closed:
                self._engine.pool.dispose()
        if found is not None:
            row, seen = found
            _log.info("a row of the ledger is not predibot's", exc_info=error)
            raise LedgerUnusable(
                f"the ledger {self.address} holds what predibot does not write: {row}: {seen}. "
                "`predibot verify --rows` lists all of it; put a copy in its place, or name another --ledger"
            ) from error

    def _check_writable(self) -> None:
        if self._read_only:
            raise LedgerUnusable(f"the ledger {self.address} was opened to be read; nothing can be written to it")

    def _on_disk(self) -> tuple[tuple[int, int] | None, int]:
        """Return device and inode of the file at the ledger's path, and its bytes; None and 0 for none."""
        try:
            found = self._file.stat() if self._file is not None else None
        except OSError:
            return None, 0
        return (None, 0) if found is None else ((found.st_dev, found.st_ino), found.st_size)

    def _check_in_place(self) -> None:
        """Refuse to go on where the file was removed or cut: SQLite itself would write on unnoticed."""
        if self._opened is None or self._file is None:
            return
        known_bytes = self._largest_bytes
        opened, size_bytes = self._on_disk()
        if opened != self._opened:
            raise LedgerUnusable(
                f"the ledger {self.address} was removed, moved or replaced while it was in use; what was recorded "
                "since is not in it. Put the file back if it was moved, and run the same command again"
            )
        if size_bytes < known_bytes and has_all_pages(self._file):
            self._largest_bytes = size_bytes
        elif size_bytes < known_bytes:
            raise LedgerUnusable(
                f"the ledger {self.address} was cut from {known_bytes:,} to {size_bytes:,} bytes by another program "
                "while it was in use, and may be broken. Put a copy in its place, unless sqlite3's `PRAGMA "
                "integrity_check` finds it whole, and run the same command again"
            )
        self._largest_bytes = max(self._largest_bytes, size_bytes)

    def _check_current(self) -> None:
        """Refuse tables of another version: only writers and `ledger upgrade` change them."""
        version = self.run_read(read_version)
        if version is None:
            raise LedgerUnusable(f"the ledger {self.address} has no tables yet. Run `predibot decide` first")
        if version != HEAD:
            raise LedgerUnusable(
                f"the ledger {self.address} is of version {version}, and is read at version {HEAD}. "
                "`predibot ledger upgrade` upgrades it, and keeps a copy of a file"
            )

    def _make_current(self) -> None:
        # Most ledgers are current; those open without waiting for a writer.
        version, ahead = self.run_read(lambda connection: (read_version(connection), _writes_ahead(connection)))
        if self._file is not None and not ahead:
            with self._translate_errors():
                write_ahead(self._file)
        if version == HEAD:
            return
        with self._translate_errors(), self._retry(self._engine.connect) as connection:
            self._upgrade(connection)

    def _upgrade(self, connection: Connection) -> None:
        # Foreign keys are off, because a migration replaces tables that others refer to.
        unbound = connection.execution_options(predibot_foreign_keys="OFF")
        try:
            with _writing(unbound, durable=False) as transaction:
                self.upgraded = make_current(transaction)
            # SQLite keeps that setting as long as the connection lives.
            with connection.execution_options(predibot_foreign_keys="ON", predibot_begin="BEGIN").begin():
                pass
        except IntegrityError as error:
            raise LedgerUnusable(
                f"the ledger {self.address} was not upgraded, because it holds rows that predibot does not write: "
                f"{first_line(error)}. `predibot verify --rows` of the predibot that made it lists them"
            ) from error

    def _retry(self, attempt: Callable[[], T]) -> T:
        give_up_at, pause = None, _FIRST_PAUSE_SECONDS
        while True:
            try:
                return attempt()
            except DBAPIError as error:
                now = time.monotonic()
                if give_up_at is None:
                    give_up_at = now + self._reconnect_seconds
                if not is_away(error) or now + pause > give_up_at:
                    raise
                if pause == _FIRST_PAUSE_SECONDS:
                    _log.warning("the ledger %s is away (%s); asking again", self.address, first_line(error))
            time.sleep(pause)
            pause = min(2.0 * pause, _LONGEST_PAUSE_SECONDS)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Translate a database's errors, and leave no connection open where the store was closed meanwhile."""
        if self._closed:
            raise LedgerUnusable(f"the ledger {self.address} was closed; nothing more can be done with it")
        self._check_in_place()
        try:
            with self.blame_rows():
                yield
            self._check_in_place()
        except (IntegrityError, DataError):
            # The database works; the new rows are wrong.
            raise
        except UnicodeDecodeError as error:
            # SQLite quotes a damaged schema in its message, which then is no UTF-8.
            raise LedgerUnusable(
                f"the ledger {self.address} is damaged: it has bytes that are no text. Restore it from a copy"
            ) from error
        except (DBAPIError, NoConnection, sqlite3.Error) as error:
            raise LedgerUnusable(f"the ledger {self.address} cannot be used: {explain_error(error)}") from error
        finally:
            if self._closed:
                self._engine.pool.dispose()


@contextmanager
def _writing(connection: Connection, *, durable: bool) -> Iterator[Connection]:
    if connection.dialect.name == "sqlite":
        options = {"predibot_begin": "BEGIN IMMEDIATE", "predibot_synchronous": "FULL" if durable else "NORMAL"}
        connection = connection.execution_options(**options)
    with connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(_SET_IDLE_TIMEOUT)
        yield connection


@contextmanager
def _reading(connection: Connection) -> Iterator[Connection]:
    if connection.dialect.name == "postgresql":
        connection = connection.execution_options(isolation_level="REPEATABLE READ")
    with connection.begin():
        yield connection


def _writes_ahead(connection: Connection) -> bool:
    return connection.dialect.name == "sqlite" and connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def _engine(url: URL, *, read_only: bool = False) -> Engine:
    file = sqlite_file(url)
    # Titles are of any script, whatever a server or `PGCLIENTENCODING` would choose.
    arguments = {} if file else {"client_encoding": "utf8"}
    try:
        engine = create_engine(
            url, pool_size=MAX_CONNECTIONS, max_overflow=0, pool_pre_ping=file is None, connect_args=arguments
        )
    except ModuleNotFoundError:
        raise UsageError("a PostgreSQL ledger needs its driver: pip install 'predibot[postgres]'") from None
    if file is None:
        if read_only:
            return engine.execution_options(postgresql_readonly=True)
        event.listen(engine, "connect", _require_utf8)
        return engine
    event.listen(engine, "connect", partial(_configure, file=file, read_only=read_only))
    event.listen(engine, "begin", _begin)
    return engine


def _require_utf8(connection: Any, _record: Any) -> None:
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise LedgerUnusable(
            f"the database of the ledger is in {encoding}, which cannot hold every text; "
            "make another with `createdb --encoding=UTF8 --template=template0`"
        )


def _configure(connection: Any, record: Any, *, file: Path, read_only: bool) -> None:
    with suppress(OSError):
        # Another file may take its place later.
        record.info[OPENED_FILE] = (found := file.stat()).st_dev, found.st_ino
    # Python's driver would begin transactions itself; `_begin` does.
    connection.isolation_level = None
    guard = ("query_only=ON",) if read_only else ()
    for pragma in (f"busy_timeout={BUSY_SECONDS * 1000}", "foreign_keys=ON", *guard):
        connection.execute(f"PRAGMA {pragma}").close()


def _begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    if foreign_keys := options.get("predibot_foreign_keys"):
        connection.exec_driver_sql(f"PRAGMA foreign_keys={foreign_keys}")
    if synchronous := options.get("predibot_synchronous"):
        # SQLite takes both settings between transactions only.
        connection.exec_driver_sql(f"PRAGMA synchronous={synchronous}")
    connection.exec_driver_sql(options.get("predibot_begin", "BEGIN"))
