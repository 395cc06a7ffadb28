"""The tables: what the database itself refuses, and how older and newer ones are met."""

import hashlib
import json
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

import predibot.ledger
from predibot.domain.decision import Source
from predibot.errors import LedgerUnusable
from predibot.ledger.schema.versions import HEAD, VERSIONS
from predibot.ledger.store import Store
from tests.ledger.by_hand import a_run, decide, event_of, finished_with
from tests.ledger.statements import altered, found

A_BOT = "INSERT INTO bots (run_id, name, strategy, arguments_json, source_sha256) VALUES (1, 'a', 's', '{}', '')"
MADE = {
    "0018": "b4e9b943d6db93a146929306916f2742811df501a057fc497e7b4cb0040db96b",
    "0019": "322cf5d1220fa7f840233295131e27583dc21266e674daca5c4f83d10f7ef143",
}
"""What files of a version have."""
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


def made_in(file: Path) -> str:
    """Return the SHA-256 of the columns and rules of each table, whatever their order, and of all else there is."""
    with closing(sqlite3.connect(file)) as connection:
        made = {}
        for kind, name, sql in connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
            made[f"{kind} {name}"] = [sql]
            if kind == "table":
                columns = connection.execute(
                    f"SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info('{name}')"
                )
                made[f"table {name}"] = sorted([*map(str, columns), *rules_of(sql)])
    return hashlib.sha256(json.dumps(made, sort_keys=True).encode()).hexdigest()


def rules_of(sql: str) -> list[str]:
    """Return the named rules of a table's statement, and whether its rows are clustered."""
    rules = [part[: part.rindex(")") + 1] for part in sql.removesuffix(")").replace("\n)", "").split("CONSTRAINT ")[1:]]
    whole = [rule + ")" * (rule.count("(") - rule.count(")")) for rule in rules]
    return [*whole, *(["WITHOUT ROWID"] if sql.endswith("WITHOUT ROWID") else [])]


def test_who_alters_a_table_writes_a_migration(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/new.db"):
        pass
    assert made_in(tmp_path / "new.db") == MADE[HEAD]


def test_a_newer_ledger_is_refused_with_what_to_do(store: Store, address: str) -> None:
    altered(store, "UPDATE alembic_version SET version_num = '9999'")
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
    sqlite = store.address.startswith("sqlite")
    # A row each of insert, update and delete; or one for the three, and one for truncate.
    assert dict(found(store, in_file if sqlite else on_server)) == dict.fromkeys(counted.split(), 3 if sqlite else 2)
