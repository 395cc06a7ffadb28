"""The tables: what the database itself refuses, and how older and newer ones are met."""

import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

import predibot.ledger
from predibot.domain.decision import Source
from predibot.errors import LedgerUnusable
from predibot.ledger.read.export import export_rows
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.schema.tables import Row
from predibot.ledger.schema.versions import HEAD, VERSIONS, stored_version
from predibot.ledger.store import Store
from predibot.ledger.write.runs import BotPlan, add_bots, find_run
from predibot.scoring.records.knowledge import KNOWLEDGE
from tests.ledger.by_hand import a_run, decide, event_of, finished_with
from tests.ledger.databases import Postgres
from tests.ledger.schema.older import engine_of, make_tables

A_RUN = (
    "INSERT INTO runs (key, recipe, slot_at, as_of, venue, venue_name, game, seed, digest, recipe_json, overrides_json,"
    " passed_over_json, notes_json, code_version, created_at)"
    " VALUES ('k', 'r', 0, 0, 'v', 'v', 'g', 0, '', '{}', '{}', '[]', '[]', '', 0)"
)
A_BOT = "INSERT INTO bots (run_id, name, strategy, arguments_json, source_sha256) VALUES (1, 'a', 's', '{}', '')"
A_BET_OF_NO_INSTRUMENT = (
    "INSERT INTO markets (venue, market_id, event_row, token_ids_json, question) VALUES ('v', 'm', 1, '[]', 'q')",
    "INSERT INTO tasks (run_id, bot_id, subject_kind, subject_id, status, failures)"
    " VALUES (1, 1, 'event', 'old', 'recorded', 0)",
    "INSERT INTO decisions (task_id, run_id, bot_id, subject_kind, subject_id, event_row, status, decided_at, message,"
    " rationale, notes_json, unallocated_usd, scale, cost_known_usd, seconds)"
    " VALUES (1, 1, 1, 'event', 'old', 1, 'recorded', 0, '', '', '[]', 0.5, 1, 0, 0)",
    "INSERT INTO bets (decision_id, market_row, asked_usd, booked_usd, price_yes, price_source)"
    " VALUES (1, 1, 0.5, 0.5, 0.5, 'mid')",
)
RUBBISH = (
    "INSERT INTO events (venue, event_id, title) VALUES ('polymarket', 'e1', 'twice')",
    "INSERT INTO markets (venue, market_id, event_row, token_ids_json, question) VALUES ('v', 'm', 999, '[]', 'q')",
    "UPDATE forecasts SET probability = 1.5",
    "UPDATE forecasts SET probability = -0.1",
    "UPDATE forecasts SET confidence = 11",
    "UPDATE forecasts SET market_row = 999",
    "UPDATE orders SET price = 0",
    "UPDATE orders SET price = NULL",
    "UPDATE orders SET price_source = 'guess'",
    "UPDATE orders SET side = 'borrow'",
    "UPDATE orders SET unit = 'EUR'",
    "UPDATE orders SET status = 'lost'",
    "UPDATE orders SET decision_id = 999",
    "UPDATE fills SET shares = 0",
    "UPDATE fills SET fee_usd = -0.01",
    "UPDATE fills SET price = -0.01",
    "UPDATE fills SET order_number = 9",
    "UPDATE quotes SET role = 'later'",
    "UPDATE decisions SET status = 'skipped'",
    "UPDATE decisions SET unallocated_usd = -1",
    "UPDATE decisions SET status = 'failed'",
    "UPDATE decisions SET cost_known_usd = -1",
    "UPDATE decisions SET reason_kind = 'mood'",
    "UPDATE tasks SET status = 'claimed'",
    "UPDATE tasks SET token = 'x'",
    "UPDATE tasks SET status = 'done'",
    "UPDATE attempts SET outcome = 'won'",
    "UPDATE instruments SET side = 'MAYBE'",
    "UPDATE instruments SET highest_price = 0",
    "INSERT INTO subjects (venue, kind, subject_id) VALUES ('polymarket', 'event', 'e1')",
    "UPDATE subjects SET event_row = 999",
    "UPDATE runs SET key = NULL",
    "DELETE FROM decisions",
    "DELETE FROM runs",
    "INSERT INTO price_paths (instrument_row, points) VALUES (1, 'not a point')",
    "INSERT INTO price_paths (instrument_row, points) VALUES (999, '.')",
    "INSERT INTO resolutions (market_row, revision, payout_yes, settled_at, settled_source, effective_at, seen_at)"
    " VALUES (1, 1, 1.1, 0, 'venue', 0, 0)",
    "UPDATE sources SET kind = 'rumour'",
    "UPDATE sources SET results = -1",
    "UPDATE sources SET decision_id = 999",
    A_BOT,
    "INSERT INTO tasks (run_id, bot_id, subject_row, status, failures) VALUES (1, 1, 1, 'open', 0)",
    "INSERT INTO runs (key, recipe, slot_at, as_of, venue, venue_name, game, seed, digest, recipe_json, overrides_json,"
    " passed_over_json, notes_json, code_version, created_at)"
    " SELECT key, recipe, slot_at, as_of, venue, venue_name, game, seed, digest, recipe_json, overrides_json,"
    " passed_over_json, notes_json, code_version, created_at FROM runs",
)
"""Each is one change that must not go through."""


def test_the_database_itself_refuses_what_cannot_be(store: Store) -> None:
    made = replace(finished_with(event_of(1), {"m1a": (1.0, 0.5)}), sources=(Source("search", "who won?", results=0),))
    decide(store, a_run(store, event_of(1)), "a", made)
    went_through = []
    with store.write() as connection:
        for statement in RUBBISH:
            # Within a savepoint, as a write that fails as a whole looks through the ledger for the row at fault.
            with suppress(IntegrityError), connection.begin_nested():
                connection.execute(text(statement))
                went_through.append(statement)
    assert went_through == []


def test_a_new_file_has_the_tables_that_the_migrations_make(tmp_path: Path) -> None:
    new, migrated = tmp_path / "new.db", tmp_path / "migrated.db"
    with Store.open(f"sqlite:///{new}"):
        pass
    make_tables(f"sqlite:///{migrated}", HEAD)
    require_equal_models(f"sqlite:///{migrated}")
    assert made_in(new) == made_in(migrated)


def test_a_new_database_has_the_tables_that_the_migrations_make(postgres: Postgres) -> None:
    new, migrated = postgres.empty(), postgres.empty()
    with Store.open(new):
        pass
    make_tables(migrated, HEAD)
    require_equal_models(migrated)
    assert listed(new) == listed(migrated)


def require_equal_models(address: str) -> None:
    engine = engine_of(address)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, Row.metadata) == []
    engine.dispose()


def made_in(file: Path) -> dict[str, list[str]]:
    """Return the columns and rules of each table, whatever their order, and the statements of all else there is."""
    with closing(sqlite3.connect(file)) as connection:
        made = {}
        for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
            made[f"{kind} {name}"] = [sql]
            if kind == "table":
                columns = connection.execute(
                    f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('{name}')"
                )
                made[f"table {name}"] = sorted([*map(str, columns), *rules_of(sql)])
        made["changes"] = [*map(str, connection.execute("SELECT scope, counted_by FROM changes"))]
    return made


def rules_of(sql: str) -> list[str]:
    """Return the named rules of a table's statement, and whether its rows are clustered."""
    rules = [part[: part.rindex(")") + 1] for part in sql.removesuffix(")").replace("\n)", "").split("CONSTRAINT ")[1:]]
    whole = [rule + ")" * (rule.count("(") - rule.count(")")) for rule in rules]
    return [*whole, *(["WITHOUT ROWID"] if sql.endswith("WITHOUT ROWID") else [])]


LISTED = (
    "SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns"
    " WHERE table_schema = 'public'",
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint"
    # From PostgreSQL 18 on also what may not be null, with the names that tables had when they were made.
    " WHERE connamespace = 'public'::regnamespace AND contype <> 'n'",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
    "SELECT scope FROM changes",
)


def listed(address: str) -> list[list[str]]:
    """Return what a database lists of its columns, rules, indexes, triggers and functions."""
    engine = engine_of(address)
    with engine.connect() as connection:
        found = [sorted(str(tuple(row)) for row in connection.execute(text(query))) for query in LISTED]
    engine.dispose()
    return found


def upgrade(address: str, version: str) -> None:
    """Bring a database without tables to a version, and put an event into it."""
    make_tables(address, version)
    engine = engine_of(address)
    with engine.begin() as connection:
        connection.execute(text("INSERT INTO events (venue, event_id, title) VALUES ('polymarket', 'old', 'Old')"))
    engine.dispose()


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_an_older_file_is_upgraded_after_a_copy_and_keeps_its_rows(tmp_path: Path, version: str) -> None:
    folder = tmp_path / "50 % of #1"
    folder.mkdir()
    upgrade(f"sqlite:///{folder}/ledger.db", version)
    with Store.open(f"sqlite:///{folder}/ledger.db") as store, store.read() as connection:
        assert stored_version(connection) == HEAD
        assert connection.execute(text("SELECT title FROM events")).scalars().all() == ["Old"]
        assert [list(export_rows(connection, table)) for table in ("observations", "sources", "bots")] == [[], [], []]
    with closing(sqlite3.connect(folder / f"ledger.db.{version}.backup")) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [(version,)]
        assert copy.execute("SELECT title FROM events").fetchall() == [("Old",)]


@pytest.mark.parametrize("version", VERSIONS[:-1])
def test_an_older_database_is_upgraded_and_keeps_its_rows(postgres: Postgres, version: str) -> None:
    address = postgres.empty()
    upgrade(address, version)
    with Store.open(address) as store, store.read() as connection:
        assert stored_version(connection) == HEAD
        assert connection.execute(text("SELECT title FROM events")).scalars().all() == ["Old"]


def test_bots_of_an_older_file_have_no_model_and_go_on(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/ledger.db"
    upgrade(address, "0002")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection, connection:
        connection.execute(A_RUN)
        connection.execute(A_BOT)
    with Store.open(address) as store, store.write() as opened:
        run = find_run(opened, "k")
        assert run is not None
        assert add_bots(opened, run, [BotPlan("a", "s", {}, "")]) == {"a": 1}
        assert [row["model"] for row in export_rows(opened, "bots")] == [None]


def test_of_decisions_of_an_older_file_the_bot_says_whether_a_model_was_opened(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path}/ledger.db", "0003")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection, connection:
        connection.execute(A_RUN.replace("'v', 'v'", "'archive:/v', 'polymarket'"))
        for number, model in enumerate(("NULL", "'m'"), start=1):
            connection.execute(
                "INSERT INTO bots (run_id, name, strategy, arguments_json, source_sha256, model)"
                f" VALUES (1, 'bot{number}', 's', '{{}}', '', {model})"
            )
            connection.execute(
                "INSERT INTO tasks (run_id, bot_id, subject_kind, subject_id, status, failures)"
                f" VALUES (1, {number}, 'event', 'old', 'failed', 0)"
            )
            connection.execute(
                "INSERT INTO decisions (task_id, run_id, bot_id, subject_kind, subject_id, event_row, status,"
                " decided_at, message, rationale, notes_json, scale, cost_known_usd, seconds)"
                f" VALUES ({number}, 1, {number}, 'event', 'old', 1, 'failed', 0, '', '', '[]', 1, 0, 0)"
            )
    with Store.open(f"sqlite:///{tmp_path}/ledger.db") as store, store.read() as opened:
        codes = track_record(opened, "polymarket", datetime(2026, 1, 1, tzinfo=UTC)).decision_knowledge
    assert codes is not None
    assert [KNOWLEDGE[code] for code in codes] == ["clean", "unknown"]


def test_an_older_file_with_rows_that_have_no_place_stays_as_it_is_and_says_so(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path}/ledger.db", "0008")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection, connection:
        for statement in (A_RUN, A_BOT, *A_BET_OF_NO_INSTRUMENT):
            connection.execute(statement)
    with pytest.raises(LedgerUnusable, match="was not upgraded, because it holds rows that predibot does not write"):
        Store.open(f"sqlite:///{tmp_path}/ledger.db")
    with closing(sqlite3.connect(tmp_path / "ledger.db")) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0008",)]
        assert connection.execute("SELECT asked_usd FROM bets").fetchall() == [(0.5,)]


def test_a_second_copy_does_not_replace_the_first(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path}/ledger.db", "0001")
    (tmp_path / "ledger.db.0001.backup").write_text("precious")
    Store.open(f"sqlite:///{tmp_path}/ledger.db").close()
    assert (tmp_path / "ledger.db.0001.backup").read_text() == "precious"
    assert (tmp_path / "ledger.db.0001-2.backup").exists()


def test_an_upgrade_without_a_copy_is_not_begun(tmp_path: Path) -> None:
    upgrade(f"sqlite:///{tmp_path}/ledger.db", "0001")
    # A name this long with ".0001.backup" behind it is no name any more.
    long = tmp_path / f"{'x' * 242}.db"
    (tmp_path / "ledger.db").rename(long)
    with pytest.raises(LedgerUnusable, match="was not upgraded, because it could not be copied"):
        Store.open(f"sqlite:///{long}")
    with closing(sqlite3.connect(long)) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0001",)]


def test_a_newer_ledger_is_refused_with_what_to_do(store: Store, address: str) -> None:
    with store.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(LedgerUnusable, match="is of version 9999, this predibot knows versions up to") as caught:
        Store.open(address)
    assert str(caught.value).endswith("Upgrade predibot")


def test_the_known_versions_are_the_migrations_there_are() -> None:
    folder = Path(predibot.ledger.__file__).parent / "migrations" / "versions"
    assert tuple(sorted(file.name[:4] for file in folder.glob("0*.py"))) == VERSIONS


def test_every_change_of_what_is_evaluated_is_counted(store: Store) -> None:
    """A migration that makes a table anew loses the triggers of a file, and must make them again."""
    counted = (
        "runs events run_events markets instruments price_paths resolutions bots decisions forecasts orders quotes"
        " journal valuations turns cohorts"
    )
    in_file = (
        "SELECT tbl_name, count(*) FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'changes_of_%'"
        " GROUP BY tbl_name"
    )
    on_server = (
        "SELECT relname, count(*) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
        " WHERE tgname LIKE 'changes_of_%' GROUP BY relname"
    )
    with store.read() as connection:
        sqlite = connection.dialect.name == "sqlite"
        found = {name: n for name, n in connection.execute(text(in_file if sqlite else on_server))}
    # A row each of insert, update and delete; or one for the three, and one for truncate.
    assert found == dict.fromkeys(counted.split(), 3 if sqlite else 2)
