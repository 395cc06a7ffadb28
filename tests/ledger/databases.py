"""The databases that ledger tests run on: SQLite files, and a real PostgreSQL where one can be started."""

import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text

from predibot.ledger.store import Store

__all__ = ["Postgres", "address", "postgres", "store"]


@dataclass
class Postgres:
    """A running server, with a database that already has the tables to copy others from."""

    address: str
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def empty(self) -> str:
        """Return the address of a new database without tables."""
        return self._make("template0")

    def fresh(self) -> str:
        """Return the address of a new database with current tables."""
        return self._make("with_tables")

    def prepare(self) -> None:
        """Make the database that `fresh` copies, in a server that does not wait for the disk."""
        self._run("ALTER SYSTEM SET fsync = off")
        self._run("SELECT pg_reload_conf()")
        self._run("CREATE DATABASE with_tables")
        Store.open(self._named("with_tables")).close()

    def _make(self, template: str) -> str:
        name = f"ledger_{next(self.numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self._named(name)

    def _named(self, name: str) -> str:
        return make_url(self.address).set(database=name).render_as_string(hide_password=False)

    def _run(self, statement: str) -> None:
        engine = create_engine(
            make_url(self.address).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT"
        )
        with engine.connect() as connection:
            connection.execute(text(statement))
        engine.dispose()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Start a PostgreSQL of its own, or skip the test where that is not possible."""
    with warnings.catch_warnings():
        # It remarks on the folder it uses where no session is logged in.
        warnings.simplefilter("ignore")
        pgserver = pytest.importorskip("pgserver")
        with tempfile.TemporaryDirectory(prefix="predibot-", ignore_cleanup_errors=True) as folder:
            server = pgserver.get_server(Path(folder) / "data", cleanup_mode=None)
            try:
                made = Postgres(server.get_uri())
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
def store(address: str) -> Iterator[Store]:
    """Open an empty ledger, on each kind of database."""
    with Store.open(address) as opened:
        yield opened


OpenLedger = Callable[[], Store]
