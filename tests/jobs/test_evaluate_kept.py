"""What evaluations keep in the user's cache for the next one: never used after a change, and never needed."""

import io
import json
import os
import random
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import create_engine, make_url, text

from predibot.api.relate import beliefs_in_ledger
from predibot.api.skill import compare_prompts, skill_in_ledger
from predibot.config import Settings
from predibot.domain.event import Tag
from predibot.errors import LedgerUnusable
from predibot.jobs.caller import Caller
from predibot.jobs.evaluate import evaluate, evaluation_from_text, evaluation_to_text
from predibot.jobs.histories.event import event_history
from predibot.jobs.histories.snapshot import take_snapshot
from predibot.ledger import cache
from predibot.ledger.store import Store
from predibot.ledger.write.runs import read_runs, void_run
from predibot.reports.table import Document
from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.inference.uncertainty import Uncertainty
from predibot.scoring.records.part import EVERYTHING
from tests.ledger.by_hand import DAY, NOW, a_run, abstained, decide, event_of, finished_with, observe, settle
from tests.ledger.databases import Postgres, opened_copy
from tests.soaks import ONE_DATABASE
from tests.worlds import Worlds

pytestmark = ONE_DATABASE

ALL_PARTS = Question(uncertainty=Uncertainty(resamples=100))
SCORES = replace(ALL_PARTS, wanted=("by_category",))
"""What shows each row that is read, without intervals and pairs, which take half of the time."""
ONE, TWO = replace(event_of(1, 2), tags=(Tag("Sports", "sports"),)), event_of(2)
CHANGES = {
    "forecasts": ("UPDATE forecasts SET probability = 0.9", "DELETE FROM forecasts"),
    "orders": (
        "UPDATE orders SET amount = amount / 2",
        "DELETE FROM orders",
        "INSERT INTO orders (decision_id, number, instrument_row, side, unit, amount, status, price, price_source)"
        " SELECT f.decision_id, 9, min(i.id), 'buy', 'usd', 0, 'filled', 0.4, 'mid' FROM forecasts f"
        " JOIN instruments i ON i.market_row = f.market_row WHERE NOT EXISTS (SELECT 1 FROM orders"
        " WHERE orders.decision_id = f.decision_id AND orders.instrument_row IN (i.id, i.id - 1, i.id + 1))"
        " GROUP BY f.decision_id, f.market_row",
    ),
    "quotes": ("UPDATE quotes SET bid = 0.4, ask = 0.45 WHERE role = 'booked'", "DELETE FROM quotes"),
    "decisions": ("UPDATE decisions SET cost_known_usd = 7, cost_usd = 7",),
    "bots": ("UPDATE bots SET name = 'renamed' WHERE name = 'a'",),
    "runs": ("UPDATE runs SET voided_at = 1",),
    "resolutions": (
        "UPDATE resolutions SET payout_yes = 1 - payout_yes",
        "DELETE FROM resolutions",
        "INSERT INTO resolutions (market_row, revision, payout_yes, settled_at, settled_source, effective_at, seen_at)"
        " SELECT id, 9, 1, 1, 'venue', 1, 1 FROM markets",
    ),
    "price_paths": ("DELETE FROM price_paths",),
    "run_events": ("UPDATE run_events SET event_json = replace(event_json, 'ports', 'tars')",),
    "markets": ("UPDATE markets SET market_id = market_id || 'x'",),
    "instruments": ("UPDATE instruments SET side = NULL", "UPDATE instruments SET side = 'NO'"),
    "subjects": ("UPDATE subjects SET event_row = NULL WHERE subject_id = 'e2'",),
}
BEFORE = {
    "INSERT INTO orders": "DELETE FROM fills; DELETE FROM orders WHERE amount < 0.5",
    "DELETE FROM orders": "DELETE FROM fills",
    "DELETE FROM quotes": "UPDATE quotes SET bid = 0.4, ask = 0.45 WHERE role = 'booked'",
}


def filled(store: Store) -> Store:
    """Have two bots decide, and store what became of it."""
    run = a_run(store, ONE, TWO, bots=("a", "b"))
    for bot, said in (("a", 0.6), ("b", 0.2)):
        decide(store, run, bot, finished_with(ONE, {"m1a": (0.5, said), "m1b": (-0.25, said / 2)}))
    decide(store, run, "a", finished_with(TWO, {"m2a": (-1.0, 0.3)}, at=NOW + DAY / 2))
    decide(store, run, "b", abstained(TWO))
    for market in ("m1a", "m1b", "m2a"):
        observe(store, market, (1, 0.5), (2, 0.7))
    settle(store, "m1a", (3, 1.0))
    return store


def two_bots() -> None:
    """Fill `ledger.db`."""
    with Store.open("sqlite:///ledger.db") as store:
        filled(store)


@pytest.fixture
def ledger(address: str, worlds: Worlds) -> Iterator[Store]:
    """Open a ledger with decisions, on each kind of database."""
    with opened_copy(address, worlds, two_bots) as opened:
        yield opened if address.startswith("sqlite") else filled(opened)


def document(store: Store, asked: Question = SCORES) -> Document:
    return evaluation_document(evaluate(store=store, venue_name="polymarket", as_of=NOW + 9 * DAY, question=asked))


def run_sql(address: str, *statements: str) -> int:
    """Run statements past predibot, and return how many rows the last one touched."""
    url = make_url(address)
    if url.get_backend_name() == "sqlite":
        with closing(sqlite3.connect(str(url.database))) as raw, raw:
            return [raw.execute(statement) for statement in statements][-1].rowcount
    engine = create_engine(url.set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as connection:
            return [connection.execute(text(statement)) for statement in statements][-1].rowcount
    finally:
        engine.dispose()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the cache, which is not there yet."""
    monkeypatch.setenv("PREDIBOT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def uncached(store: Store, asked: Question = SCORES) -> Document:
    """Evaluate where nothing can be kept: also root makes no folder there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREDIBOT_CACHE", "/proc/predibot-has-no-folder-here")
        return document(store, asked)


@pytest.mark.parametrize(
    "statement",
    [pytest.param(each, id=f"{table}-{each.split()[0]}") for table, every in CHANGES.items() for each in every],
)
def test_rows_that_are_altered_past_predibot_change_the_evaluation(
    ledger: Store, address: str, folder: Path, statement: str
) -> None:
    first = [each for begin, those in BEFORE.items() if statement.startswith(begin) for each in those.split("; ")]
    run_sql(address, *first, "SELECT 1")
    before = document(ledger)
    assert document(ledger) == before
    # The evaluation, and the rows it is made of; of a server's nothing.
    assert len([*folder.glob("*")]) == (2 if address.startswith("sqlite") else 0)
    assert run_sql(address, statement) > 0
    try:
        after = document(ledger)
    except LedgerUnusable:
        # What cannot be evaluated any more is not answered from what was kept.
        return
    assert after != before
    assert uncached(ledger) == after


def test_a_title_that_is_altered_shows_nowhere_but_makes_a_new_evaluation(
    ledger: Store, address: str, folder: Path
) -> None:
    document(ledger)
    run_sql(address, "UPDATE events SET title = 'other'")
    document(ledger)
    assert len([*folder.glob("*")]) == (4 if address.startswith("sqlite") else 0)


IN_A_FILE = pytest.mark.parametrize("address", ["sqlite"], indirect=True)


@IN_A_FILE
def test_a_replacing_insert_is_counted_too(ledger: Store, address: str) -> None:
    before = document(ledger)
    columns = "decision_id, number, instrument_row, side, unit, amount, status, price, price_source"
    chosen = f"SELECT {columns.replace('amount', '0')} FROM orders"
    run_sql(address, f"INSERT OR REPLACE INTO orders ({columns}) {chosen}")
    assert document(ledger) != before


def test_rows_that_a_server_truncates_are_gone_from_the_evaluation(postgres: Postgres) -> None:
    with Store.open(postgres.fresh()) as store:
        before = document(filled(store))
        run_sql(postgres._named("ledger"), "TRUNCATE price_paths")
        assert document(store) != before


def test_without_a_count_nothing_is_kept(ledger: Store, address: str, folder: Path) -> None:
    run_sql(address, "DELETE FROM changes")
    before = document(ledger)
    assert not folder.exists()
    run_sql(address, "UPDATE forecasts SET probability = 0.9")
    assert document(ledger) != before


NUMBERS = io.BytesIO()
np.save(NUMBERS, np.zeros((3, 9)))
RUBBISH = (
    b"rubbish",
    b"",
    b"[1, {}]",
    # Other numbers, and an object.
    NUMBERS.getvalue(),
    b"\x93NUMPY\x01\x00"
    + struct.pack("<H", 60)
    + b"{'descr': '|O', 'fortran_order': False, 'shape': (9,), }".ljust(60),
)


def flip(content: bytes, share: float) -> bytes:
    """Return a content with one bit flipped, so far into it."""
    place = int(share * len(content))
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@IN_A_FILE
def test_what_is_kept_and_broken_is_made_again(ledger: Store, folder: Path) -> None:
    before, kept = document(ledger), {file: file.read_bytes() for file in folder.iterdir()}
    changes: list[Callable[[bytes], bytes]] = [partial(flip, share=share) for share in (0.3, 0.6, 0.9)]
    changes += [lambda _, rubbish=rubbish: rubbish for rubbish in RUBBISH]
    for change in changes:
        for file, content in kept.items():
            file.write_bytes(change(content))
        assert document(ledger) == before
        assert {file: file.read_bytes() for file in folder.iterdir()} == kept


@IN_A_FILE
def test_a_copy_with_the_size_and_the_times_of_the_ledger_is_another_one(
    ledger: Store, address: str, tmp_path: Path
) -> None:
    ledger.close()
    file, copy = tmp_path / "ledger.db", tmp_path / "copy.db"
    shutil.copyfile(file, copy)
    for place, probability in ((file, 0.9), (copy, 0.1)):
        run_sql(f"sqlite:///{place}", f"UPDATE forecasts SET probability = {probability}")
        with closing(sqlite3.connect(place)) as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with Store.open_to_read(address) as store:
        before = document(store)
    times = file.stat()
    shutil.copyfile(copy, file)
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    with Store.open_to_read(address) as store:
        assert document(store) == uncached(store) != before


@IN_A_FILE
def test_of_a_file_whose_place_another_took_while_it_is_read_nothing_is_kept(
    address: str, worlds: Worlds, tmp_path: Path
) -> None:
    with pytest.raises(LedgerUnusable, match="replaced while it was in use"):  # noqa: SIM117 - it is told at the end
        with opened_copy(address, worlds, two_bots) as store, store.read() as connection:
            assert cache.cache_of(connection) is not None
            shutil.copyfile(tmp_path / "ledger.db", tmp_path / "copy.db")
            (tmp_path / "copy.db").replace(tmp_path / "ledger.db")
            assert cache.cache_of(connection) is None


@pytest.mark.parametrize("variable", ["PREDIBOT_STRATEGIES", "PREDIBOT_TOOLS"])
def test_a_plug_in_of_the_users_that_changes_is_other_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    file, digests = tmp_path / "mine.py", set()
    for content in ("one = 1", "two = 2"):
        file.write_text(content)
        cache.code_digest.cache_clear()
        digests.add(cache.code_digest())
    cache.code_digest.cache_clear()
    assert len(digests) == 2


@IN_A_FILE
def test_who_only_reads_keeps_what_was_read_too(ledger: Store, address: str, folder: Path) -> None:
    ledger.close()
    with Store.open_to_read(address) as reader:
        first = document(reader, ALL_PARTS)
    kept = {file.name: file.stat().st_ino for file in folder.iterdir()}
    for opened in (Store.open_to_read, Store.open):
        with opened(address) as again:
            assert document(again, ALL_PARTS) == first
    assert {file.name: file.stat().st_ino for file in folder.iterdir()} == kept


def test_an_evaluation_is_read_back_to_the_last_digit(ledger: Store) -> None:
    made = evaluate(store=ledger, venue_name="polymarket", as_of=NOW + 9 * DAY, question=ALL_PARTS)
    again = evaluation_from_text(evaluation_to_text(made))
    assert evaluation_to_text(again) == evaluation_to_text(made)
    assert evaluation_document(again) == evaluation_document(made)


@pytest.mark.parametrize(
    "kind", ["os:system", "predibot.scoring.evaluation.evaluation:replace", "predibot.jobs.track:TrackReport"]
)
def test_only_objects_of_scoring_are_read_back(kind: str) -> None:
    with pytest.raises(ValueError, match="is no kind of object that evaluations are made of"):
        evaluation_from_text(f'{{"kind": "{kind}"}}')


@pytest.mark.parametrize("state", ["open to all", "a file", "a link to nowhere"])
def test_where_no_folder_is_ones_own_nothing_is_kept(ledger: Store, folder: Path, state: str) -> None:
    if state == "open to all":
        folder.mkdir()
        folder.chmod(0o755)
    elif state == "a file":
        folder.write_text("no folder")
    else:
        folder.symlink_to(folder.with_name("nowhere"))
    assert document(ledger) == uncached(ledger)
    assert not folder.is_dir() or [*folder.iterdir()] == []


@IN_A_FILE
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_somebody_else_put_there_is_not_used(ledger: Store, folder: Path) -> None:
    before = document(ledger)
    (kept,) = (file for file in folder.iterdir() if file.read_bytes().startswith(b"{"))
    content = kept.read_bytes()[:-32].replace(b'"decisions": 2', b'"decisions": 9')
    forged = content + sha256(content).digest()
    kept.write_bytes(forged)
    assert document(ledger) != before
    os.chown(kept, 12_345, 12_345)
    assert document(ledger) == before
    assert (kept.stat().st_uid, kept.read_bytes() == forged) == (os.geteuid(), False)


@IN_A_FILE
def test_what_is_kept_is_for_nobody_else_and_not_more_than_there_is_room_for(
    ledger: Store, address: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document(ledger)
    assert folder.stat().st_mode & 0o777 == 0o700
    old, of_others = folder / ("0" * 64), folder / "thesis.bin"
    for each in (old, of_others):
        each.touch()
        os.truncate(each, cache.MOST_BYTES)
        os.utime(each, (0, 0))
    run_sql(address, "UPDATE events SET title = 'other'")
    before = document(ledger)
    assert not old.exists() and of_others.exists()
    assert len([*folder.iterdir()]) == 5
    assert document(ledger) == before


@dataclass(frozen=True)
class Place:
    """A ledger at one address, whose place a copy of it takes."""

    address: str
    folder: Path
    postgres: Postgres | None

    def copy(self) -> None:
        """Make a copy of it as it is now, instead of the one before."""
        if self.postgres is not None:
            self._run(
                f"DROP DATABASE IF EXISTS copy_{self._name}", f"CREATE DATABASE copy_{self._name} TEMPLATE {self._name}"
            )
            return
        (self.folder / "copy.db").unlink(missing_ok=True)
        with (
            closing(sqlite3.connect(self._name)) as source,
            closing(sqlite3.connect(self.folder / "copy.db")) as target,
        ):
            source.backup(target)

    def swap(self, how: str) -> None:
        """Put the copy in the place of the ledger: as another file, or into the one that is there."""
        if self.postgres is not None:
            self._run(f"DROP DATABASE {self._name}", f"CREATE DATABASE {self._name} TEMPLATE copy_{self._name}")
            return
        for mark in ("-wal", "-shm", *([""] if how == "another" else [])):
            Path(self._name + mark).unlink(missing_ok=True)
        shutil.copyfile(self.folder / "copy.db", self._name)

    @property
    def _name(self) -> str:
        return str(make_url(self.address).database)

    def _run(self, *statements: str) -> None:
        for statement in statements:
            assert self.postgres is not None
            self.postgres._run(self.postgres.address, statement)


WRITES: dict[str, Callable[[Store, random.Random], object]] = {
    "sql": lambda store, rng: store.run_write(
        lambda opened: opened.execute(text(f"UPDATE forecasts SET probability = {rng.random()}"))
    ),
    "a decision": lambda store, rng: decide(
        store,
        a_run(store, TWO, bots=("a",), key="later", slot_at=NOW + DAY),
        "a",
        finished_with(TWO, {"m2a": (1.0, rng.random())}, at=NOW + DAY),
    ),
    "void": lambda store, rng: store.run_write(
        lambda opened: void_run(opened, rng.choice(read_runs(opened)).key, reason="a test", at=NOW)
    ),
}


@pytest.mark.parametrize(("kind", "how"), [("sqlite", "another"), ("sqlite", "into"), ("postgresql", "another")])
def test_after_any_write_void_restore_or_swap_what_is_cached_is_what_the_rows_say(
    kind: str, how: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Both copies count as many changes then, and one file may have the number of the other."""
    postgres: Postgres | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    address = f"sqlite:///{tmp_path}/ledger.db" if postgres is None else postgres.empty()
    place, rng = Place(address, tmp_path, postgres), random.Random(1)

    def check() -> Document:
        with Store.open_to_read(address) as store:
            said = document(store)
            assert document(store) == said == uncached(store)
        return said

    def write(what: str) -> None:
        with Store.open(address) as store:
            WRITES[what](store, rng)

    with Store.open(address) as store:
        filled(store)
        decide(store, a_run(store, TWO, bots=("b",), key="more"), "b", finished_with(TWO, {"m2a": (0.5, 0.9)}))
    for written in WRITES:
        before = check()
        place.copy()
        write(written)
        assert check() != before
        place.swap(how)
        assert check() == before
        write(written)
        assert check() != before


@pytest.mark.parametrize("kind", ["<U1900000000", "S1900000000", "O", "V8", 7, None])
def test_an_array_of_no_numbers_is_not_made(kind: object) -> None:
    with pytest.raises(ValueError, match="is no type of numbers that evaluations have"):
        evaluation_from_text(json.dumps({"kind": "array", "type": kind, "values": [""]}))


UNCHECKED = {
    "UPDATE bots SET knowledge_cutoff = 'soon', model = 'm'": "knowledge_cutoff is 'soon': Invalid",
    "UPDATE bots SET members_json = '['": "members_json is '\\['",
    "UPDATE decisions SET status = 'x', unallocated_usd = NULL": "decisions 1: status IN ",
    "UPDATE decisions SET decided_at = -9223372036854775808": "it must be in the years 1970",
    "UPDATE orders SET amount = 'much'": "amount is 'much': it must be a finite number",
    "UPDATE orders SET amount = 1e300": "amount is 1e\\+300: it must be at most",
    "UPDATE orders SET instrument_row = instrument_row + 1000": "instrument_row names a row of",
    "UPDATE orders SET instrument_row = (SELECT max(id) FROM instruments)": "lacks a market that a bet is on",
    "UPDATE resolutions SET payout_yes = 7": "payout_yes >= 0 AND payout_yes <= 1 does not hold",
    "UPDATE forecasts SET probability = 7": "probability >= 0 AND probability <= 1 does not hold",
    "UPDATE run_events SET event_json = '[]'": "holds what predibot does not write",
    "UPDATE price_paths SET points = CAST(x'01' || points AS BLOB)": "cut, or of another version",
    "UPDATE price_paths SET points = CAST(x'01' || x'0000000000000080' || x'00' || x'000000000000E03F' AS BLOB)": (
        "one is of before 1970 or after 2999"
    ),
}


@IN_A_FILE
@pytest.mark.parametrize(("statement", "said"), UNCHECKED.items())
def test_a_file_whose_maker_left_out_our_constraints_is_one_sentence(
    ledger: Store, address: str, statement: str, said: str
) -> None:
    document(ledger)
    run_sql(address, "PRAGMA ignore_check_constraints = ON", statement)
    with pytest.raises(LedgerUnusable, match=said):
        document(ledger)
    with pytest.raises(LedgerUnusable, match=said):
        take_snapshot(ledger, ("evidence",), clock=lambda: NOW + 9 * DAY)


@IN_A_FILE
def test_rows_that_contradict_each_other_are_one_sentence_to_all_who_only_read(ledger: Store, address: str) -> None:
    with ledger.read() as connection:
        event_id = connection.execute(text("SELECT event_id FROM events")).scalars().first()
    run_sql(address, "UPDATE markets SET market_id = 'other' || id")
    clock = partial(lambda at: at, NOW + 9 * DAY)
    caller = Caller(Settings, clock, print, lambda: nullcontext(lambda _: None))
    readers: tuple[Callable[[], object], ...] = (
        lambda: document(ledger),
        lambda: skill_in_ledger(ledger, EVERYTHING, caller, Uncertainty()),
        lambda: compare_prompts(ledger, EVERYTHING, caller, Uncertainty()),
        lambda: beliefs_in_ledger(ledger, clock=clock),
        lambda: event_history(ledger, str(event_id), clock=clock),
    )
    for read in readers:
        with pytest.raises(LedgerUnusable, match=r"holds what predibot does not write: KeyError: .* Put a copy in its"):
            read()
