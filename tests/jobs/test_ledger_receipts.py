"""Receipts of the ledger: over all that is written after decisions, each with the root before; and every column."""

import itertools
import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, LargeBinary, Table, text, update

from predibot.errors import LedgerUnusable
from predibot.jobs.published_roots import verify_against
from predibot.jobs.receipts import verify_runs
from predibot.jobs.verify import verify
from predibot.ledger.care.verification import verify_ledger
from predibot.ledger.schema.packed_receipts import pack_rows
from predibot.ledger.schema.receipted_rows import NOT_COVERED, PARTS, coverage
from predibot.ledger.schema.tables import Row
from predibot.ledger.store import Store
from predibot.ledger.write.ledger_receipts import (
    add_ledger_receipt,
    leaves_of_part,
    ledger_receipts,
    ledger_receipts_of,
)
from tests.acceptance.conftest import Said, done_here, said_here
from tests.jobs.agent_run import change
from tests.ledger.databases import Postgres, closing_engine, engine_of
from tests.worlds import Worlds, three_games, two_events, week_of_stocks

LEDGER = ("--ledger", "sqlite:///ledger.db")
DRAWN = 48
"""One column in so many is changed here; the benchmark changes each."""
TABLES = Row.metadata.sorted_tables
MONEY = {
    "UPDATE fills SET price = price * 1.2, cash_usd = cash_usd * 1.2": "fills",
    "UPDATE journal SET cash_usd = cash_usd * 1.2 WHERE kind = 'fill'": "journal",
    "UPDATE journal SET at = at + 1 WHERE kind = 'deposit'": "journal",
    "UPDATE valuations SET value_usd = value_usd * 1.2": "valuations",
    "UPDATE marks SET price = price * 0.8": "marks",
    "UPDATE orders SET note = 'x' WHERE ended_at IS NOT NULL": "orders.ended",
    "UPDATE orders SET ended_at = ended_at + 1": "orders.ended",
    "UPDATE resolutions SET payout_yes = 1 - payout_yes": "resolutions",
    "UPDATE resolutions SET seen_at = seen_at - 1": "resolutions",
    "DELETE FROM marks WHERE at = (SELECT max(at) FROM marks)": "marks",
    "INSERT INTO resolutions SELECT market_row, revision + 9, 1 - payout_yes, settled_at, settled_source, effective_at,"
    " seen_at, payouts_json FROM resolutions": "resolutions",
    "UPDATE accounts SET bot = CASE bot WHEN 'all_cash' THEN 'equal_weights' ELSE 'all_cash' END, methodology = id": (
        "accounts"
    ),
    "UPDATE cohorts SET archived_at = 1, archived_reason = 'mine'": "cohorts.archived",
    "UPDATE markets SET question = 'x', condition_id = 'y'": "markets",
    "UPDATE run_events SET payload = '{}'": "run_events",
    "UPDATE runs SET venue = 'x'": "runs",
}
"""Changes of what money or a score rests on, and what is named; the ledger of three games has all of it."""
RECEIPTS = (
    "DELETE FROM ledger_receipts",
    "DELETE FROM ledger_receipts WHERE number = 1",
    "DELETE FROM ledger_receipts WHERE number = (SELECT max(number) FROM ledger_receipts)",
    "UPDATE ledger_receipts SET made_at = made_at + 1 WHERE number = 2",
    "UPDATE ledger_receipts SET root = (SELECT root FROM ledger_receipts WHERE number = 1) WHERE number = 2",
    "UPDATE ledger_receipts SET form = 9 WHERE number = 2",
    "UPDATE ledger_receipts SET rows_packed = x'00' WHERE number = 2",
    "UPDATE price_paths SET receipts = NULL",
    "DELETE FROM receipts WHERE run_id = 1",
    "UPDATE runs SET receipted = NULL WHERE id = 1",
)
"""Changes of receipts themselves."""


@pytest.fixture
def games(worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a ledger of three games, in a folder that is the current one."""
    monkeypatch.chdir(worlds.copy(three_games, tmp_path))
    return tmp_path / "ledger.db"


@pytest.fixture
def two(worlds: Worlds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the file of a small ledger, in a folder that is the current one."""
    monkeypatch.chdir(worlds.copy(two_events, tmp_path))
    return tmp_path / "ledger.db"


@contextmanager
def changing(file: Path) -> Iterator[Callable[..., Store]]:
    """Yield what brings one copy of a ledger to its first state, changes it past everything, and opens it to read."""
    copy = file.with_name("changed.db")
    shutil.copy(file, copy)
    with (
        closing(sqlite3.connect(file)) as whole,
        closing(sqlite3.connect(copy)) as changed,
        Store.open_to_read(f"sqlite:///{copy}") as store,
    ):

        def change_copy(*statements: str) -> Store:
            whole.backup(changed)
            changed.execute("PRAGMA ignore_check_constraints = ON")
            with changed:
                for statement in statements:
                    assert changed.execute(statement).rowcount > 0, statement
            return store

        yield change_copy


def verified(*more: str) -> Said:
    return said_here("verify", *more, *LEDGER)


def test_every_column_of_every_table_is_covered_or_listed_with_its_reason() -> None:
    columns = [str(column) for table in TABLES for column in table.columns]
    assert list(coverage()) == columns
    listed = {name for name, said in coverage().items() if said.startswith("not covered: ")}
    assert listed == {name for name in columns if name in NOT_COVERED or name.partition(".")[0] in NOT_COVERED}
    page = Path(__file__).parents[2].joinpath("docs/receipts.md").read_text()
    assert [name for name, why in NOT_COVERED.items() if f"| `{name}` | {why} |" not in page] == []
    assert page.count("\n| `") - page.count("\n| `predibot") == len(NOT_COVERED)


def test_both_commands_say_what_covers_each_column(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for command in (("verify",), ("verify", "--rows")):
        assert done_here(*command, "--columns", "--json").document["columns"] == coverage()
        assert "journal.cash_usd: receipts of the ledger" in done_here(*command, "--columns").out
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("world", [three_games, week_of_stocks])
def test_a_column_that_was_changed_is_found_or_listed(worlds: Worlds, tmp_path: Path, world: Any) -> None:
    assert missed(worlds.copy(world, tmp_path) / "ledger.db", DRAWN) == []


def missed(file: Path, one_in: int) -> list[str]:
    """Return the columns of a ledger that can be changed unseen and are not listed, of every so many of the schema."""
    if Path(f"{file}.files").exists():
        shutil.copytree(f"{file}.files", file.with_name("changed.db.files"), dirs_exist_ok=True)
    found = []
    with closing(sqlite3.connect(file)) as whole, changing(file) as change_copy:
        for statement, name in itertools.islice(changes_of_columns(whole), 0, None, one_in):
            store = change_copy(statement)
            try:
                is_found = not (store.run_read(verify_ledger).holds and all(run.holds for run in verify_runs(store)))
            except LedgerUnusable:
                is_found = True
            if not (is_found or name in NOT_COVERED or name.partition(".")[0] in NOT_COVERED):
                found += [name] if not verify(store).broken else []
    return found


def changes_of_columns(whole: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    """Yield a statement that changes one cell, and the column, for each column of each table that has rows."""
    for table in TABLES:
        if whole.execute(f"SELECT 1 FROM {table.name}").fetchone() is not None:
            yield from ((_changed(table, column), str(column)) for column in table.columns)


def _changed(table: Table, column: Column[Any]) -> str:
    name, kind = column.name, bytes if isinstance(column.type, LargeBinary) else column.type.python_type
    if kind is bytes:
        new = f"CAST({name} || x'00' AS BLOB)"
    elif kind is str:
        new = f"COALESCE({name}, '') || 'x'"
    else:
        new = {float: f"COALESCE({name}, 0) * 0.8 + 0.001", datetime: f"COALESCE({name}, 0) + 3600000001"}.get(
            kind, f"COALESCE({name}, 0) + 100000"
        )
    key = ", ".join(each.name for each in table.primary_key.columns)
    first = f"SELECT {key} FROM {table.name} ORDER BY {name} IS NULL, {key} LIMIT 1"
    return f"UPDATE {table.name} SET {name} = {new} WHERE ({key}) = ({first})"


def test_what_money_or_a_score_rests_on_is_named_where_it_was_changed(games: Path) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    left = dict(MONEY)
    with changing(games) as change_copy:
        while left:
            # One of each part at a time: none is named because of another.
            statements = {part: statement for statement, part in reversed(left.items())}
            _, ledger = verify_against(change_copy(*statements.values()), Path("roots"))
            assert ledger is not None
            assert statements.keys() - {each.row.split()[0] for each in ledger.differences} == set()
            left = {statement: part for statement, part in left.items() if statement not in statements.values()}
    change(next(iter(MONEY)), file=games)
    assert (verified().code, verified("--against", "roots").code) == (1, 1)


def test_prices_of_another_path_are_named(games: Path) -> None:
    with closing(sqlite3.connect(games)) as connection, connection:
        (one, points), (other, more) = connection.execute(
            "SELECT instrument_row, points FROM price_paths WHERE length(points) > 100 ORDER BY length(points) LIMIT 2"
        ).fetchall()
        connection.execute("UPDATE price_paths SET points = ? WHERE instrument_row = ?", [more, one])
        connection.execute("UPDATE price_paths SET points = ? WHERE instrument_row = ?", [points, other])
    rows = {each["row"] for each in verified("--json").document["ledger"]["differences"]}
    assert {f"price_paths {one}", f"price_paths {other}"} <= rows


def test_no_later_receipt_is_made_over_what_was_changed(games: Path) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    change("UPDATE journal SET cash_usd = cash_usd * 1.2 WHERE kind = 'fill'", file=games)
    more = ("--venue", "sandbox:events=40,named=1", "--bots", "equal_weights,all_cash")
    said_here("decide", "sandbox_portfolio", "--as-of", "2026-01-09T12:00Z", *more, *LEDGER)
    ledger = verified("--against", "roots", "--json").document["ledger"]
    assert ({each["what"] for each in ledger["differences"]}, ledger["problems"]) == ({"changed"}, [])


def test_a_run_has_the_same_root_after_later_jobs_and_the_ledger_a_further_one(games: Path) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    before = verified("--json").document
    more = ("--venue", "sandbox:events=40,named=1", "--bots", "equal_weights,all_cash")
    done_here("decide", "sandbox_portfolio", "--as-of", "2026-01-09T12:00Z", *more, *LEDGER)
    done_here("track", "--venue", "sandbox:events=40,named=1", "--as-of", "2026-02-20T12:00Z", *LEDGER)
    after = verified("--against", "roots", "--json").document
    assert after["runs"] == [run | {"notes": []} for run in before["runs"]]
    assert (after["ledger"]["holds"], after["ledger"]["receipts"]) == (True, before["ledger"]["receipts"] + 1)
    done_here("verify", "--publish", "roots", *LEDGER)
    lines = [json.loads(line) for line in Path("roots").read_text().splitlines()]
    assert [line["ledger"]["receipt"] for line in lines if "ledger" in line] == [
        each["ledger"]["receipts"] for each in (before, after)
    ]


def test_receipts_that_were_changed_or_are_gone_are_named(two: Path) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    unseen = []
    with changing(two) as change_copy:
        for statement in RECEIPTS:
            store = change_copy(statement)
            for runs, ledger in (
                (verify_runs(store), store.run_read(verify_ledger)),
                verify_against(store, Path("roots")),
            ):
                if ledger is None or (ledger.holds and all(run.holds for run in runs)):
                    unseen.append(statement)
    assert unseen == []


def test_no_receipt_says_itself_that_a_row_may_change(games: Path) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    fills = next(part for part in PARTS if part.name == "fills")
    with Store.open("sqlite:///ledger.db") as store, store.write() as connection:
        before, known = leaves_of_part(connection, fills), [*ledger_receipts_of(connection)]
        connection.execute(text("UPDATE fills SET price = price * 1.2"))
        for each in (each for each in known if "fills" in each.parts):
            # As of a row that may change: its whole digest, so that a later receipt may be over another row.
            whole = {key: before[key].hex() for key in each.parts["fills"]}
            packed = pack_rows({**each.parts, "fills": whole}, each.totals)
            row = ledger_receipts.c.number == each.number
            connection.execute(update(ledger_receipts).where(row).values(rows_packed=packed))
        changed = {"fills": [*before]}
        assert add_ledger_receipt(connection, now=known[-1].made_at, changed=changed) is not None
    named = {
        each["row"].split()[0] for each in verified("--against", "roots", "--json").document["ledger"]["differences"]
    }
    assert named == {"fills"}


def test_a_ledger_that_is_made_anew_behind_its_roots_is_named(two: Path) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    change("UPDATE markets SET question = 'x'", "DELETE FROM ledger_receipts", file=two)
    change("UPDATE price_paths SET receipts = NULL", file=two)
    done_here("track", "--as-of", "2026-01-07T12:00Z", *LEDGER)
    said = verified("--against", "roots")
    assert (said.code, "of the ledger, which is" in said.out) == (1, True)


def test_a_receipt_that_unpacks_to_gigabytes_is_refused(two: Path) -> None:
    packed = zlib.compressobj()
    bomb = packed.compress(b"[" * 2**20) + b"".join(packed.compress(b" " * 2**24) for _ in range(5)) + packed.flush()
    with closing(sqlite3.connect(two)) as connection, connection:
        connection.execute("UPDATE ledger_receipts SET rows_packed = ? WHERE number = 1", [bomb])
    with Store.open_to_read(f"sqlite:///{two}") as store:
        assert "a receipt of the ledger is broken" in store.run_read(verify_ledger).problems[0]


def test_copies_backups_and_compacted_ledgers_hold_against_what_was_published(games: Path, postgres: Postgres) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    server = postgres.empty()
    done_here("ledger", "copy", "sqlite:///ledger.db", server)
    done_here("ledger", "backup", "backup.db", *LEDGER)
    done_here("ledger", "restore", "backup.db", "--ledger", "sqlite:///restored.db")
    done_here("ledger", "compact", *LEDGER)
    for address in (server, "sqlite:///backup.db", "sqlite:///restored.db", "sqlite:///ledger.db"):
        assert said_here("verify", "--against", "roots", "--ledger", address).code == 0, address
    done_here("track", "--venue", "sandbox:events=40,named=1", "--as-of", "2026-01-20T12:00Z", "--ledger", server)
    assert said_here("verify", "--against", "roots", "--ledger", server).code == 0
    with closing_engine(engine_of(server)) as engine, engine.begin() as connection:
        connection.execute(text("UPDATE marks SET price = price * 0.8 WHERE price > 0"))
    assert said_here("verify", "--ledger", server).code == 1


def test_an_archived_cohort_is_covered_and_may_be_counted_again(games: Path) -> None:
    done_here("verify", "--publish", "roots", *LEDGER)
    week = ("cohort", "2026-01-11", *LEDGER)
    done_here(*week, "--leave-out", "a test")
    # No run has a new root, so the ledger's is in a line of its own.
    done_here("verify", "--publish", "roots", *LEDGER)
    assert verified("--against", "roots").code == 0
    change("UPDATE cohorts SET archived_reason = 'another' WHERE archived_reason = 'a test'", file=games)
    assert verified().code == 1
    change("UPDATE cohorts SET archived_reason = 'a test' WHERE archived_reason = 'another'", file=games)
    done_here(*week, "--count-again")
    assert verified("--against", "roots").code == 0


def test_runs_of_before_receipts_hold_without_one(games: Path) -> None:
    change("DELETE FROM receipts", "DELETE FROM ledger_receipts", "UPDATE runs SET receipted = 'older'", file=games)
    said = verified()
    assert (said.code, "it was decided before there were any" in said.out) == (0, True)
