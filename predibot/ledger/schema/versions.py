"""The version of the tables: they are made new, upgraded from the base or later, or refused."""

import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, inspect, text

from predibot.errors import LedgerUnusable
from predibot.ledger.schema.tables import LIVE, LIVE_KEY, Row
from predibot.ledger.url import mask_url, sqlite_file
from predibot.whole_file import remove_unfinished_files, whole_file

_log = logging.getLogger(__name__)

VERSIONS = ("0018", "0019")
"""The base and the migrations behind it, in order."""
HEAD = VERSIONS[-1]
_UPGRADES_OLDER = "845ea409"
"""The last commit that upgrades ledgers from before the base."""
_NO_COPY = "PostgreSQL keeps the old tables if that fails; a copy of them is the operator's to make, as with pg_dump"
_OURS = {"alembic_version", "bots", "decisions", "events", "markets", "runs", "tasks"}
"""Tables that a ledger of any version has."""
_COMPUTED = """
SELECT name FROM sqlite_master AS found WHERE type = 'view' OR sql LIKE 'CREATE VIRTUAL%'
OR type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_xinfo(found.name) WHERE hidden <> 0)
"""
"""Names of what a SQLite file computes on reading, which may take forever or all memory."""
_MAKE_VERSION = (
    "CREATE TABLE alembic_version"
    " (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
)
"""Alembic's own statement."""
_LOCK = 7_305_991_201


@dataclass(frozen=True, slots=True)
class Upgrade:
    """An upgrade of a ledger's tables."""

    before: str | None
    """Their version before; None where there were no tables."""
    backup: Path | None
    """The copy of a SQLite file as it was."""


def make_current(connection: Connection) -> Upgrade | None:
    """Bring the tables to this version, and return the upgrade; None where they are of this version.

    The connection's transaction is exclusive: if two processes open the same new file, one makes the tables, and the
    other finds them. Raises `LedgerUnusable` as `read_version` does.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
    version = read_version(connection)
    if version == HEAD:
        return None
    if version is None:
        _make_tables(connection)
        return Upgrade(None, None)
    backup = _back_up(connection, version)
    backup_note = f"a copy of it as it was is {backup.name}" if backup else _NO_COPY
    _log.warning("upgrading the ledger from version %s to %s; %s", version, HEAD, backup_note)
    _upgrade(connection)
    return Upgrade(version, backup)


def read_version(connection: Connection) -> str | None:
    """Return the version of the tables, None where there are no tables; raise `LedgerUnusable` for unusable ones.

    Unusable are tables that are newer, from before the base, or not predibot's.
    """
    tables = inspect(connection).get_table_names()
    shown = mask_url(connection.engine.url)
    if not set(tables) >= _OURS:
        # On a server, extensions have views.
        views = inspect(connection).get_view_names() if connection.dialect.name == "sqlite" else []
        for kind, names in (("tables", sorted({*tables} - _OURS) or tables), ("views", views)):
            if names:
                raise LedgerUnusable(f"{shown} holds {kind} of something else ({names[0]}). Name another ledger")
        return None
    _require_no_views(connection)
    versions = connection.execute(text("SELECT version_num FROM alembic_version")).scalars().all()
    if len(versions) != 1:
        raise LedgerUnusable(f"{shown} says that it is of {len(versions)} versions; restore it from a copy")
    version = str(versions[0])
    if version < VERSIONS[0]:
        raise LedgerUnusable(
            f"{shown} is of version {version}, made by an older predibot; upgrade it with commit {_UPGRADES_OLDER} "
            f"first: its `predibot ledger upgrade` brings it to version {VERSIONS[0]}"
        )
    if version not in VERSIONS:
        raise LedgerUnusable(
            f"{shown} is of version {version}, this predibot knows versions up to {HEAD}. Upgrade predibot"
        )
    return version


def _require_no_views(connection: Connection) -> None:
    """Refuse a SQLite file that computes our tables, before reading any of it."""
    if connection.dialect.name != "sqlite":
        return
    computed = set(map(str.lower, connection.exec_driver_sql(_COMPUTED).scalars()))
    if ours := sorted(computed & {"alembic_version", *Row.metadata.tables}):
        raise LedgerUnusable(
            f"{mask_url(connection.engine.url)} computes {ours[0]}, by a view or a generated column, instead of "
            "holding it. Put a copy in its place, or name another ledger"
        )


def _back_up(connection: Connection, version: str) -> Path | None:
    """Copy a SQLite file beside itself, and return where; a server's backups are its operator's."""
    file = sqlite_file(connection.engine.url)
    if file is None:
        return None
    file = file.resolve()
    address = f"{file.as_uri()}?mode=ro"
    names = (file.with_name(f"{file.name}.{version}{mark}.backup") for mark in ("", *(f"-{n}" for n in range(2, 1000))))
    try:
        copy = next(name for name in names if not name.exists())
        remove_unfinished_files(file.parent)
        # This copies what is committed; the open exclusive transaction does not disturb it.
        with (
            whole_file(copy, durable=True) as unfinished,
            closing(sqlite3.connect(address, uri=True)) as source,
            closing(sqlite3.connect(unfinished.name)) as target,
        ):
            source.backup(target)
    except (OSError, sqlite3.Error) as error:
        raise LedgerUnusable(
            f"{file} is of version {version} and was not upgraded, because it could not be copied beside itself: "
            f"{error}. Make room there, or make the folder writable"
        ) from error
    return copy


def _make_tables(connection: Connection) -> None:
    """Make the tables of this version directly; migrations of the base come to the same."""
    if connection.dialect.name == "postgresql":
        LIVE_KEY.dialect_options["postgresql"]["where"] = LIVE
    Row.metadata.create_all(connection, checkfirst=False)
    count_all_changes(connection)
    connection.exec_driver_sql(_MAKE_VERSION)
    connection.exec_driver_sql(f"INSERT INTO alembic_version (version_num) VALUES ('{HEAD}')")


def _upgrade(connection: Connection) -> None:
    # Imported late: alembic takes 0.2 s, and most ledgers are current.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


OF_RUN = "{row}.run_id"
OF_DECISION = "(SELECT run_id FROM decisions WHERE id = {row}.decision_id)"
OF_NO_RUN = "0"
"""SQL of the scope that a change is counted in, for the row `NEW` or `OLD`."""
_COUNTED = {
    **dict.fromkeys(("runs", "events", "run_events", "markets"), OF_NO_RUN),
    **dict.fromkeys(("instruments", "price_paths", "resolutions"), OF_NO_RUN),
    # An account goes through many runs.
    **dict.fromkeys(("journal", "valuations", "turns", "cohorts"), OF_NO_RUN),
    **dict.fromkeys(("bots", "decisions"), OF_RUN),
    **dict.fromkeys(("forecasts", "orders", "quotes"), OF_DECISION),
}
_COUNTED_FOR_ALL = {"instruments": "market_row, side", "subjects": "venue, kind, subject_id, event_row"}
"""Updates of these columns, and deletions from these tables, count for every run, as any may refer to them."""
_NEW_RUN = (
    "INSERT INTO changes (scope, number) SELECT NEW.id, 0"
    " WHERE NOT EXISTS (SELECT 1 FROM changes WHERE scope = NEW.id);"
)
_ALL = "UPDATE changes SET number = number + 1;"


def count_all_changes(connection: Connection) -> None:
    """Have the database count changes to what caches rest on."""
    connection.exec_driver_sql("INSERT INTO changes (scope, number) VALUES (0, 0)")
    is_server = connection.dialect.name == "postgresql"
    for table, scope in _COUNTED.items():
        for statement in (_server_triggers if is_server else triggers_in_a_file)(table, scope):
            connection.exec_driver_sql(statement)
    for table, columns in _COUNTED_FOR_ALL.items():
        name, change = f"changes_for_all_{table}", f"UPDATE OF {columns}"
        statements = _statement_trigger(table, name, f"{change} OR DELETE OR TRUNCATE")
        if not is_server:
            changes = {f"{name}_update": change, f"{name}_delete": "DELETE"}.items()
            statements = (f"CREATE TRIGGER {each} AFTER {what} ON {table} BEGIN {_ALL} END" for each, what in changes)
        for statement in statements:
            connection.exec_driver_sql(statement)


def triggers_in_a_file(table: str, scope: str) -> Iterator[str]:
    """Yield the triggers of a table; a migration that makes a table anew needs them too."""
    # An update, because an outer OR REPLACE would also apply to an insert in a trigger.
    more = "UPDATE changes SET number = number + 1 WHERE scope = {scope};"
    for change, named in {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}.items():
        counted = dict.fromkeys(more.format(scope=scope.format(row=row)) for row in named)
        first = _NEW_RUN if (table, change) == ("runs", "INSERT") else ""
        name = f"changes_of_{table}_{change.lower()}"
        yield f"CREATE TRIGGER {name} AFTER {change} ON {table} BEGIN {first} {' '.join(counted)} END"


def _server_triggers(table: str, scope: str) -> Iterator[str]:
    """Count at the end of a transaction, so that transactions do not wait for each other's count.

    A later migration that writes to a table and then alters it says SET CONSTRAINTS ALL IMMEDIATE in between.
    """
    more = (
        "INSERT INTO changes (scope, number, counted_by) VALUES (COALESCE({scope}, 0), 1, txid_current())"
        " ON CONFLICT (scope) DO UPDATE SET number = changes.number + 1, counted_by = txid_current()"
        " WHERE changes.counted_by IS DISTINCT FROM txid_current();"
    )
    new, old = (more.format(scope=scope.format(row=row)) for row in ("NEW", "OLD"))
    first = f"IF TG_OP = 'INSERT' THEN {_NEW_RUN} END IF;" if table == "runs" else ""
    yield (
        f"CREATE FUNCTION changes_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {first}"
        f" IF TG_OP <> 'DELETE' THEN {new} END IF; IF TG_OP <> 'INSERT' THEN {old} END IF; RETURN NULL; END $$"
    )
    yield (
        f"CREATE CONSTRAINT TRIGGER changes_of_{table} AFTER INSERT OR UPDATE OR DELETE ON {table}"
        f" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION changes_of_{table}()"
    )
    yield from _statement_trigger(table, f"changes_of_all_{table}", "TRUNCATE")


def _statement_trigger(table: str, name: str, changes: str) -> Iterator[str]:
    yield (
        f"CREATE OR REPLACE FUNCTION changes_of_all_{table}() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN {_ALL} RETURN NULL; END $$"
    )
    yield (
        f"CREATE TRIGGER {name} AFTER {changes} ON {table} FOR EACH STATEMENT EXECUTE FUNCTION changes_of_all_{table}()"
    )
