"""A server that goes away: nothing is lost while it restarts, nothing is stored twice, and few connections are held."""

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil
import pytest
from sqlalchemy import Connection, make_url, text

from predibot.domain.decision import Subject
from predibot.errors import ClaimLost, LedgerUnusable
from predibot.ledger.store import MAX_CONNECTIONS, Store
from predibot.ledger.write.claims import Claim, claim, new_token
from predibot.ledger.write.decisions import store_decision
from tests.jobs.program import PATIENCE_SECONDS, wait_until
from tests.ledger.by_hand import NOW, a_run, claimant, event_of, finished_with, rows_of, take
from tests.ledger.databases import Postgres
from tests.ledger.statements import altered, found

EVENT = event_of(1)
DONE = finished_with(EVENT, {"m1a": (0.5, 0.6)})
OUR_CONNECTIONS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'"
)


@dataclass
class Wire:
    """A socket between a client and the server, which can lose the server's answer to one commit."""

    folder: Path
    server: str
    loses: bool = False
    lost: int = 0
    _listener: socket.socket = field(init=False)

    def __post_init__(self) -> None:
        """Listen where PostgreSQL's clients look for a socket."""
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.folder / ".s.PGSQL.5432"))
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        """Take no more clients."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self.server)
                ends = threading.Event()
                for pump in (self._to_server, self._to_client):
                    threading.Thread(target=self._pump, args=(pump, client, server, ends), daemon=True).start()

    def _pump(
        self,
        pump: "Callable[[socket.socket, socket.socket, threading.Event], None]",
        client: socket.socket,
        server: socket.socket,
        committing: threading.Event,
    ) -> None:
        with client, server, suppress(OSError):
            pump(client, server, committing)
        for end in (client, server):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _to_server(self, client: socket.socket, server: socket.socket, committing: threading.Event) -> None:
        while data := client.recv(65_536):
            if self.loses and b"COMMIT" in data:
                self.loses = False
                committing.set()
            server.sendall(data)

    def _to_client(self, client: socket.socket, server: socket.socket, committing: threading.Event) -> None:
        while data := server.recv(65_536):
            if committing.is_set():
                self.lost += 1
                client.shutdown(socket.SHUT_RDWR)
                return
            client.sendall(data)


@pytest.fixture
def wire(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """Lay a wire to the server; the folder's name is short, because that of a socket must be."""
    host = str(make_url(postgres.address).query["host"])
    made = Wire(tmp_path_factory.mktemp("w"), f"{host}/.s.PGSQL.5432")
    yield made
    made.close()


@pytest.fixture
def far(postgres: Postgres, wire: Wire) -> Iterator[Store]:
    """Open an empty ledger over the wire."""
    address = make_url(postgres.fresh()).update_query_dict({"host": str(wire.folder)})
    with Store.open(address.render_as_string(hide_password=False)) as opened:
        yield opened


def count(store: Store, table: str) -> int:
    """Return how many rows a table has."""
    return int(found(store, f"SELECT count(*) FROM {table}")[0])


def add_event(connection: Connection) -> None:
    """Store an event."""
    connection.execute(text("INSERT INTO events (venue, event_id, title) VALUES ('v', 'e', 't')"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT])
def test_a_transaction_in_which_the_server_restarts_is_done_again(postgres: Postgres, how: signal.Signals) -> None:
    tries = []

    def work(connection: Connection) -> str:
        add_event(connection)
        tries.append(len(tries))
        if len(tries) == 1:
            postgres.restart(how)
        connection.execute(text("UPDATE events SET title = 'u'"))
        return "done"

    with Store.open(postgres.fresh()) as store:
        assert store.run_write(work) == "done"
        assert (tries, count(store, "events")) == ([0, 1], 1)


def test_reading_and_writing_begin_where_the_server_restarted_in_between(postgres: Postgres) -> None:
    with Store.open(postgres.fresh()) as store:
        assert count(store, "events") == 0
        postgres.restart()
        with store.write() as connection:
            add_event(connection)
        postgres.restart()
        assert count(store, "events") == 1


def test_a_server_that_comes_back_later_is_waited_for(postgres: Postgres) -> None:
    with Store.open(postgres.fresh()) as store, ThreadPoolExecutor(1) as pool:
        postgres.stop()
        written = pool.submit(store.run_write, add_event)
        try:
            with pytest.raises(TimeoutError):
                written.result(timeout=1.0)
        finally:
            postgres.start()
        written.result(timeout=PATIENCE_SECONDS)
        assert count(store, "events") == 1


def test_a_server_that_somebody_reached_before_is_waited_for_as_it_is_opened(postgres: Postgres) -> None:
    address = postgres.fresh()
    postgres.stop()
    try:
        with pytest.raises(LedgerUnusable, match="Is the server up"):
            Store.open(address)
        with ThreadPoolExecutor(1) as pool:
            opened = pool.submit(Store.open, address, was_reached=True)
            with pytest.raises(TimeoutError):
                opened.result(timeout=1.0)
            postgres.start()
            opened.result(timeout=PATIENCE_SECONDS).close()
    finally:
        postgres.start()


def test_a_server_that_stays_away_is_told_in_the_end(postgres: Postgres) -> None:
    with Store.open(postgres.fresh(), reconnect_seconds=0.3) as store:
        postgres.stop()
        try:
            with pytest.raises(LedgerUnusable, match="Is the server up"):
                store.run_write(add_event)
            with pytest.raises(LedgerUnusable, match="Is the server up"), store.read():
                pass
        finally:
            postgres.start()
        store.run_write(add_event)
        assert count(store, "events") == 1


def test_of_two_transactions_that_wait_for_each_other_one_is_done_again(postgres: Postgres) -> None:
    both_have_one, tries = threading.Barrier(2), list[str]()

    def work(connection: Connection, order: str) -> None:
        tries.append(order[0])
        for account in order:
            connection.execute(text("UPDATE spending SET steps = steps + 1 WHERE account = :a"), {"a": account})
            if len(tries) <= 2 and account == order[0]:
                both_have_one.wait(PATIENCE_SECONDS)

    with Store.open(postgres.empty()) as store:
        for account in "ab":
            columns = "(account, usd, tokens, steps, searches, seconds)"
            altered(store, f"INSERT INTO spending {columns} VALUES (:a, 0, 0, 0, 0, 0)", a=account)
        with ThreadPoolExecutor(2) as pool:
            turns = [pool.submit(store.run_write, partial(work, order=order)) for order in ("ab", "ba")]
            for turn in turns:
                turn.result(PATIENCE_SECONDS)
        assert found(store, "SELECT steps FROM spending") == [2, 2]
    assert len(tries) == 3


def test_what_a_server_refuses_is_not_asked_again(postgres: Postgres) -> None:
    tries = []

    def work(connection: Connection) -> None:
        tries.append(1)
        connection.execute(text("SELECT * FROM songs"))

    with Store.open(postgres.fresh()) as store, pytest.raises(LedgerUnusable, match="songs"):
        store.run_write(work)
    assert tries == [1]


def test_a_decision_whose_commit_was_not_answered_is_stored_once_and_is_ours(far: Store, wire: Wire) -> None:
    run = a_run(far, EVENT)
    held = take(far, run, "a", EVENT, claimant())
    assert isinstance(held, Claim)
    bot_id, catalogue = rows_of(far, run, "a")

    def store_it(connection: Connection) -> None:
        store_decision(connection, held, DONE, run_id=run.id, bot_id=bot_id, catalogue=catalogue, now=NOW)

    wire.loses = True
    far.run_write(store_it)
    assert wire.lost == 1
    assert [count(far, table) for table in ("decisions", "orders", "attempts")] == [1, 1, 1]


def test_a_claim_whose_commit_was_not_answered_is_held(far: Store, wire: Wire) -> None:
    run = a_run(far, EVENT)
    bot_id, _ = rows_of(far, run, "a")
    token = new_token()
    wire.loses = True
    held = far.run_write(
        lambda connection: claim(connection, run.id, bot_id, Subject("event", "e1"), claimant(), now=NOW, token=token)
    )
    assert wire.lost == 1
    assert isinstance(held, Claim)
    assert (held.token, held.attempt, count(far, "attempts")) == (token, 1, 1)


def test_a_claim_that_another_has_is_lost_also_where_it_ended_in_the_same_way(store: Store) -> None:
    run = a_run(store, EVENT)
    late = take(store, run, "a", EVENT, claimant("slow"))
    held = take(store, run, "a", EVENT, claimant("me", gone="slow"))
    assert isinstance(late, Claim) and isinstance(held, Claim)
    bot_id, catalogue = rows_of(store, run, "a")

    def store_it(connection: Connection, who: Claim) -> None:
        store_decision(connection, who, DONE, run_id=run.id, bot_id=bot_id, catalogue=catalogue, now=NOW)

    store.run_write(partial(store_it, who=held))
    with pytest.raises(ClaimLost):
        store.run_write(partial(store_it, who=late))


def test_many_threads_hold_no_more_connections_than_five(postgres: Postgres) -> None:
    def busy(_: int) -> int:
        with store.read() as connection:
            connection.execute(text("SELECT pg_sleep(0.02)"))
            return int(connection.execute(OUR_CONNECTIONS).scalar_one())

    with Store.open(postgres.fresh()) as store, ThreadPoolExecutor(64) as pool:
        seen = list(pool.map(busy, range(200)))
    assert MAX_CONNECTIONS == 5
    assert max(seen) == 5


STOPS = """
import os, signal, sys
from sqlalchemy import text
from predibot.ledger.store import Store

tries = []

def work(connection):
    tries.append(1)
    connection.execute(text("UPDATE events SET title = title || 's'"))
    if len(tries) == 1:
        os.kill(os.getpid(), signal.SIGSTOP)

with Store.open(sys.argv[1]) as store:
    store.run_write(work)
print(len(tries))
"""


def test_a_process_that_stops_while_it_writes_stops_nobody_else_and_writes_once_when_it_goes_on(
    postgres: Postgres,
) -> None:
    address = postgres.fresh()
    with Store.open(address) as store, ThreadPoolExecutor(1) as pool:
        store.run_write(add_event)
        other = subprocess.Popen([sys.executable, "-c", STOPS, address], stdout=subprocess.PIPE, text=True)
        try:
            wait_until(lambda: psutil.Process(other.pid).status() == psutil.STATUS_STOPPED)
            pool.submit(altered, store, "UPDATE events SET title = title || 'm'").result(timeout=PATIENCE_SECONDS)
        finally:
            other.send_signal(signal.SIGCONT)
            out, _ = other.communicate(timeout=PATIENCE_SECONDS)
        assert (out, found(store, "SELECT title FROM events")) == ("2\n", ["tms"])


def test_a_time_that_the_url_sets_for_silent_transactions_is_kept(postgres: Postgres) -> None:
    url = make_url(postgres.fresh())
    shown, asked = [], text("SHOW idle_in_transaction_session_timeout")
    for more in ({}, {"options": "-c idle_in_transaction_session_timeout=7s"}):
        with Store.open(url.update_query_dict(more).render_as_string(hide_password=False)) as store:
            shown.append(store.run_write(lambda connection: connection.execute(asked).scalar_one()))
            shown.append(store.run_read(lambda connection: connection.execute(asked).scalar_one()))
    assert shown == ["15s", "0", "7s", "7s"]


def test_a_server_whose_disk_is_full_is_told_with_what_to_do(postgres: Postgres) -> None:
    full = "DO $$ BEGIN RAISE EXCEPTION 'Auf dem Geraet ist kein Speicherplatz mehr' USING ERRCODE = '53100'; END $$"
    remedy = "kein Speicherplatz mehr. Make room and run the same command again; nothing half-written was kept"
    with Store.open(postgres.fresh()) as store, pytest.raises(LedgerUnusable, match=remedy):
        store.run_write(lambda connection: connection.execute(text(full)))
