"""What evaluations keep in the ledger for the next one: never used after a change, and never needed."""

import hashlib
import json
import os
import shutil
import sqlite3
import struct
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from sqlalchemy import create_engine, make_url, text

from predibot.domain.event import Tag
from predibot.errors import LedgerUnusable
from predibot.jobs.evaluate import evaluate
from predibot.jobs.evaluation_text import evaluation_from_text, evaluation_to_text
from predibot.ledger.seal import HEAD_BYTES
from predibot.ledger.store import Store
from predibot.reports.document import Document
from predibot.reports.views.evaluation_json import evaluation_document
from predibot.scoring.evaluation.evaluation import Question
from predibot.scoring.inference.uncertainty import Uncertainty
from tests.ledger.by_hand import DAY, NOW, a_run, abstained, decide, event_of, finished_with
from tests.ledger.databases import Postgres
from tests.ledger.read.test_scoring_arrays import observe, settle

ASKED = Question(uncertainty=Uncertainty(resamples=100))
ONE, TWO = replace(event_of(1, 2), tags=(Tag("Sports", "sports"),)), event_of(2)
KEPT = ("run_packs", "memos")
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


@pytest.fixture
def ledger(store: Store) -> Store:
    """Return a ledger with decisions, on each kind of database."""
    return filled(store)


def document(store: Store) -> Document:
    """Evaluate, and return the document."""
    return evaluation_document(evaluate(store=store, venue_name="polymarket", as_of=NOW + 9 * DAY, question=ASKED))


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


def count(store: Store, table: str) -> int:
    """Return how many rows a table has."""
    with store.read() as connection:
        return int(connection.execute(text(f"SELECT count(*) FROM {table}")).scalar_one())


@pytest.mark.parametrize(
    "statement",
    [pytest.param(each, id=f"{table}-{each.split()[0]}") for table, every in CHANGES.items() for each in every],
)
def test_rows_that_are_altered_past_predibot_change_the_evaluation(ledger: Store, address: str, statement: str) -> None:
    first = [each for begin, those in BEFORE.items() if statement.startswith(begin) for each in those.split("; ")]
    run_sql(address, *first, "SELECT 1")
    before = document(ledger)
    assert document(ledger) == before
    assert count(ledger, "run_packs") == count(ledger, "memos") == 1
    assert run_sql(address, statement) > 0
    try:
        after = document(ledger)
    except LedgerUnusable:
        # What cannot be evaluated any more is not answered from what was kept.
        return
    assert after != before
    run_sql(address, *(f"DELETE FROM {table}" for table in KEPT))
    assert document(ledger) == after


def test_a_title_that_is_altered_shows_nowhere_but_makes_a_new_evaluation(ledger: Store, address: str) -> None:
    document(ledger)
    run_sql(address, "UPDATE events SET title = 'other'")
    document(ledger)
    assert count(ledger, "memos") == 2


def test_a_replacing_insert_is_counted_too(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        before = document(filled(store))
        columns = "decision_id, number, instrument_row, side, unit, amount, status, price, price_source"
        chosen = f"SELECT {columns.replace('amount', '0')} FROM orders"
        run_sql(f"sqlite:///{tmp_path}/ledger.db", f"INSERT OR REPLACE INTO orders ({columns}) {chosen}")
        assert document(store) != before


def test_rows_that_a_server_truncates_are_gone_from_the_evaluation(postgres: Postgres) -> None:
    with Store.open(postgres.fresh()) as store:
        before = document(filled(store))
        run_sql(postgres._named("ledger"), "TRUNCATE price_paths")
        assert document(store) != before


def test_without_a_count_nothing_is_kept(ledger: Store, address: str) -> None:
    run_sql(address, "DELETE FROM changes")
    before = document(ledger)
    assert count(ledger, "run_packs") == count(ledger, "memos") == 0
    run_sql(address, "UPDATE forecasts SET probability = 0.9")
    assert document(ledger) != before


def test_what_is_kept_and_broken_is_made_again(ledger: Store, address: str) -> None:
    before = document(ledger)
    for broken in ("UPDATE run_packs SET content = 'rubbish'", "UPDATE memos SET content = '[1, {}]'"):
        run_sql(address, broken, "DELETE FROM memos" if "packs" in broken else broken)
        assert document(ledger) == before
    with ledger.read() as connection:
        assert len(connection.execute(text("SELECT content FROM memos")).scalar_one()) > 1000


def test_a_decision_more_is_in_the_next_evaluation(ledger: Store) -> None:
    document(ledger)
    later = a_run(ledger, TWO, bots=("a",), key="later", slot_at=NOW + DAY)
    decide(ledger, later, "a", finished_with(TWO, {"m2a": (1.0, 0.9)}, at=NOW + DAY))
    made = evaluate(store=ledger, venue_name="polymarket", as_of=NOW + 9 * DAY, question=ASKED)
    assert [card.decisions for card in made.cards] == [3, 2]
    assert count(ledger, "run_packs") == 2


def test_a_ledger_that_cannot_be_written_is_evaluated_all_the_same(postgres: Postgres) -> None:
    address = postgres.empty()
    with Store.open(address) as store:
        filled(store)
    name = make_url(address).database
    run_sql(address, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with Store.open(address) as store:
        first = document(store)
        assert count(store, "run_packs") == count(store, "memos") == 0
    run_sql(
        address, "SET transaction_read_only = off", f"ALTER DATABASE {name} SET default_transaction_read_only = off"
    )
    with Store.open(address) as store:
        assert document(store) == first == document(store)
        assert count(store, "run_packs") == count(store, "memos") == 1


def test_an_evaluation_is_read_back_to_the_last_digit(ledger: Store) -> None:
    made = evaluate(store=ledger, venue_name="polymarket", as_of=NOW + 9 * DAY, question=ASKED)
    again = evaluation_from_text(evaluation_to_text(made))
    assert evaluation_to_text(again) == evaluation_to_text(made)
    assert evaluation_document(again) == evaluation_document(made)


@pytest.mark.parametrize(
    "kind", ["os:system", "predibot.scoring.evaluation.evaluation:replace", "predibot.jobs.track:TrackReport"]
)
def test_only_objects_of_scoring_are_read_back(kind: str) -> None:
    with pytest.raises(ValueError, match="is no kind of object that evaluations are made of"):
        evaluation_from_text(f'{{"kind": "{kind}"}}')


def kept(store: Store) -> tuple[list[tuple[int, int, bytes]], list[tuple[str, str]]]:
    """Return the packs and the memos of a ledger, as they are stored."""
    with store.read() as connection:
        packs = connection.execute(text("SELECT run_id, change, content FROM run_packs ORDER BY run_id")).all()
        memos = connection.execute(text("SELECT key, content FROM memos ORDER BY id")).all()
    return [(row, change, bytes(blob)) for row, change, blob in packs], [(key, said) for key, said in memos]


def put(store: Store, statement: str, **values: object) -> None:
    """Change what is kept, past predibot."""
    with store.write() as connection:
        connection.execute(text(statement), values)


@contextmanager
def somebody_else(folder: Path) -> Iterator[None]:
    """Be a user with another home for a while."""
    own = os.environ["XDG_STATE_HOME"]
    os.environ["XDG_STATE_HOME"] = str(folder)
    try:
        yield
    finally:
        os.environ["XDG_STATE_HOME"] = own


def test_a_pack_or_memo_that_was_forged_is_not_believed(ledger: Store) -> None:
    before = document(ledger)
    [(_, _, blob)], [(_, memo)] = kept(ledger)
    body, words = bytearray(blob[HEAD_BYTES:]), memo[2 * HEAD_BYTES :]
    # The cost of the first decision, with the checksum that the pack has of itself.
    body[-8:] = struct.pack("<d", 0.25)
    body[9:13] = crc32(bytes(body[13:])).to_bytes(4, "little")
    forged_words = words.replace('"decisions": 2', '"decisions": 9', 1)
    assert forged_words != words
    for head in (blob[:HEAD_BYTES], hashlib.sha256(body).digest() + blob[HEAD_BYTES // 2 : HEAD_BYTES], b""):
        put(ledger, "UPDATE run_packs SET content = :content", content=head + bytes(body))
        put(ledger, "UPDATE memos SET content = :content", content=head.hex() + forged_words)
        assert document(ledger) == before


def test_what_somebody_else_kept_is_not_believed_and_is_made_again(ledger: Store, tmp_path: Path) -> None:
    before = document(ledger)
    theirs = kept(ledger)
    with somebody_else(tmp_path / "other"):
        assert document(ledger) == before
        mine = kept(ledger)
        assert document(ledger) == before
        assert kept(ledger) == mine
    assert mine[0] != theirs[0] and mine[1] != theirs[1]
    secret = tmp_path / "other" / "predibot" / "ledger.key"
    assert (secret.stat().st_mode & 0o777, len(secret.read_bytes())) == (0o600, 32)


def test_a_copy_of_a_ledger_is_evaluated_from_its_rows(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store:
        before = document(filled(store))
        packs, memos = kept(store)
    shutil.copy(tmp_path / "ledger.db", tmp_path / "copy.db")
    with Store.open(f"sqlite:///{tmp_path}/copy.db") as store:
        assert document(store) == before
        assert kept(store)[0] != packs and kept(store)[1] != memos


@pytest.mark.parametrize("state", ["read-only", "open to all", "cut", "a file"])
def test_where_no_secret_can_be_kept_nothing_is_and_the_rows_are_evaluated(
    ledger: Store, tmp_path: Path, state: str
) -> None:
    before = document(ledger)
    for table in KEPT:
        put(ledger, f"DELETE FROM {table}")
    home = tmp_path / "home"
    if state == "a file":
        home.write_text("no folder")
    elif state == "read-only":
        # Also root cannot write there.
        home = Path("/proc/predibot-has-no-home-here")
    else:
        (home / "predibot").mkdir(parents=True)
        secret = home / "predibot" / "ledger.key"
        secret.write_bytes(b"x" * (32 if state == "open to all" else 5))
        secret.chmod(0o644 if state == "open to all" else 0o600)
    with somebody_else(home):
        assert document(ledger) == before
    assert count(ledger, "run_packs") == count(ledger, "memos") == 0


HOSTILE_PACKS = {
    "NaN for a bot": lambda decisions, bets: decisions.__setitem__((0, 1), np.nan),
    "status 99": lambda decisions, bets: decisions.__setitem__((0, 2), 99.0),
    "a market that is not there": lambda decisions, bets: bets.__setitem__((0, 1), 1e6),
    "a decision that is not there": lambda decisions, bets: bets.__setitem__((0, 0), 99.0),
}


@pytest.mark.parametrize("change", HOSTILE_PACKS.values(), ids=HOSTILE_PACKS.keys())
def test_a_pack_that_another_program_made_is_not_read(ledger: Store, change: Callable[..., None]) -> None:
    before = document(ledger)
    [(_, _, blob)], _ = kept(ledger)
    body = blob[HEAD_BYTES:]
    _, made, bought, _ = struct.unpack_from("<BIII", body)
    numbers = np.frombuffer(body[13:], "<f8").copy()
    change(numbers[: 8 * made].reshape(-1, 8), numbers[8 * made :].reshape(-1, 8))
    content = numbers.tobytes()
    for forged in (content, content[:-64], b""):
        head = struct.pack("<BIII", 1, made, bought, crc32(forged))
        put(ledger, "UPDATE run_packs SET content = :content", content=head + forged)
        put(ledger, "DELETE FROM memos")
        assert document(ledger) == before


@pytest.mark.parametrize("kind", ["<U1900000000", "S1900000000", "O", "V8", 7, None])
def test_an_array_of_no_numbers_is_not_made(kind: object) -> None:
    with pytest.raises(ValueError, match="is no type of numbers that evaluations have"):
        evaluation_from_text(json.dumps({"kind": "array", "type": kind, "values": [""]}))


UNCHECKED = {
    "a cutoff": (
        "UPDATE bots SET knowledge_cutoff = 'soon', model = 'm'",
        "knowledge_cutoff is 'soon': Invalid",
    ),
    "members": ("UPDATE bots SET members_json = '['", "members_json is '\\['"),
    "a status": (
        "UPDATE decisions SET status = 'x', unallocated_usd = NULL",
        "decisions 1: status IN ",
    ),
    "an instant": (
        "UPDATE decisions SET decided_at = -9223372036854775808",
        "it must be in the years 1970",
    ),
    "a word": ("UPDATE orders SET amount = 'much'", "amount is 'much': it must be a finite number"),
    "a bet": ("UPDATE orders SET amount = 1e300", "amount is 1e\\+300: it must be at most"),
    "a market": (
        "UPDATE orders SET instrument_row = instrument_row + 1000",
        "instrument_row names a row of",
    ),
    "a payout": ("UPDATE resolutions SET payout_yes = 7", "payout_yes >= 0 AND payout_yes <= 1 does not hold"),
    "a probability": ("UPDATE forecasts SET probability = 7", "probability >= 0 AND probability <= 1 does not hold"),
    "an event": ("UPDATE run_events SET event_json = '[]'", "holds what predibot does not write"),
    "prices": ("UPDATE price_paths SET points = CAST(x'01' || points AS BLOB)", "cut, or of another version"),
    "an old price": (
        "UPDATE price_paths SET points = CAST(x'01' || x'0000000000000080' || x'00' || x'000000000000E03F' AS BLOB)",
        "one is of before 1970 or after 2999",
    ),
}


@pytest.mark.parametrize(("statement", "said"), UNCHECKED.values(), ids=UNCHECKED.keys())
def test_a_file_whose_maker_left_out_our_constraints_is_one_sentence(tmp_path: Path, statement: str, said: str) -> None:
    address = f"sqlite:///{tmp_path}/ledger.db"
    with Store.open(address) as store:
        filled(store)
        document(store)
        run_sql(address, "PRAGMA ignore_check_constraints = ON", statement)
        with pytest.raises(LedgerUnusable, match=said):
            document(store)
