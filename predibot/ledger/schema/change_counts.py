"""Counts of changes: the triggers by which a database itself counts what is altered of what caches are made of."""

from sqlalchemy import Connection

OF_RUN = "{row}.run_id"
OF_DECISION = "(SELECT run_id FROM decisions WHERE id = {row}.decision_id)"
OF_NO_RUN = "0"
"""Where a change is counted, written for a row `NEW` or `OLD`."""
_COUNTED = {
    **dict.fromkeys(("runs", "events", "run_events", "markets"), OF_NO_RUN),
    **dict.fromkeys(("instruments", "price_paths", "resolutions"), OF_NO_RUN),
    # Of an account that goes through many runs.
    **dict.fromkeys(("journal", "valuations", "turns", "cohorts"), OF_NO_RUN),
    **dict.fromkeys(("bots", "decisions"), OF_RUN),
    **dict.fromkeys(("forecasts", "orders", "quotes"), OF_DECISION),
}
_NEW_RUN = (
    "INSERT INTO changes (scope, number) SELECT NEW.id, 0"
    " WHERE NOT EXISTS (SELECT 1 FROM changes WHERE scope = NEW.id);"
)
_ALL = "UPDATE changes SET number = number + 1;"


def count_all_changes(connection: Connection) -> None:
    """Have the database count, in tables of this version, whatever caches are made of."""
    connection.exec_driver_sql("INSERT INTO changes (scope, number) VALUES (0, 0)")
    for table, scope in _COUNTED.items():
        count_changes(connection, table, scope)
    count_for_all_runs(connection, "instruments", "market_row", "side")
    count_for_all_runs(connection, "subjects", "venue", "kind", "subject_id", "event_row")


def count_changes(connection: Connection, table: str, scope: str) -> None:
    """Have the database count every change of a table from now on."""
    (_count_on_a_server if _is_server(connection) else _count_in_a_file)(connection, table, scope)


def count_for_all_runs(connection: Connection, table: str, *columns: str) -> None:
    """Have a change of these columns, or the loss of a row, counted for every run: any may refer to it."""
    changes = {"update": f"UPDATE OF {', '.join(columns)}", "delete": "DELETE"}
    if not _is_server(connection):
        for name, change in changes.items():
            connection.exec_driver_sql(
                f"CREATE TRIGGER changes_for_all_{table}_{name} AFTER {change} ON {table} BEGIN {_ALL} END"
            )
        return
    _make_function_of_all(connection, table)
    connection.exec_driver_sql(
        f"CREATE TRIGGER changes_for_all_{table} AFTER {' OR '.join(changes.values())} OR TRUNCATE ON {table}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION changes_of_all_{table}()"
    )


def _is_server(connection: Connection) -> bool:
    return connection.dialect.name == "postgresql"


def _count_in_a_file(connection: Connection, table: str, scope: str) -> None:
    # An update, which no OR REPLACE of the statement that fires this turns into something else.
    more = "UPDATE changes SET number = number + 1 WHERE scope = {scope};"
    rows = {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}
    for change, named in rows.items():
        counted = dict.fromkeys(more.format(scope=scope.format(row=row)) for row in named)
        first = _NEW_RUN if (table, change) == ("runs", "INSERT") else ""
        name = f"changes_of_{table}_{change.lower()}"
        connection.exec_driver_sql(
            f"CREATE TRIGGER {name} AFTER {change} ON {table} BEGIN {first} {' '.join(counted)} END"
        )


def _count_on_a_server(connection: Connection, table: str, scope: str) -> None:
    """Count at the end of a transaction, so that none waits for the count and then for another that waits for it.

    A later migration that writes to a table and then alters it says SET CONSTRAINTS ALL IMMEDIATE in between.
    """
    more = (
        "INSERT INTO changes (scope, number, counted_by) VALUES (COALESCE({scope}, 0), 1, txid_current())"
        " ON CONFLICT (scope) DO UPDATE SET number = changes.number + 1, counted_by = txid_current()"
        " WHERE changes.counted_by IS DISTINCT FROM txid_current();"
    )
    new, old = (more.format(scope=scope.format(row=row)) for row in ("NEW", "OLD"))
    first = f"IF TG_OP = 'INSERT' THEN {_NEW_RUN} END IF;" if table == "runs" else ""
    connection.exec_driver_sql(
        f"CREATE FUNCTION changes_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {first}"
        f" IF TG_OP <> 'DELETE' THEN {new} END IF; IF TG_OP <> 'INSERT' THEN {old} END IF; RETURN NULL; END $$"
    )
    connection.exec_driver_sql(
        f"CREATE CONSTRAINT TRIGGER changes_of_{table} AFTER INSERT OR UPDATE OR DELETE ON {table}"
        f" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION changes_of_{table}()"
    )
    _make_function_of_all(connection, table)
    connection.exec_driver_sql(
        f"CREATE TRIGGER changes_of_all_{table} AFTER TRUNCATE ON {table}"
        f" FOR EACH STATEMENT EXECUTE FUNCTION changes_of_all_{table}()"
    )


def _make_function_of_all(connection: Connection, table: str) -> None:
    connection.exec_driver_sql(
        f"CREATE OR REPLACE FUNCTION changes_of_all_{table}() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN {_ALL} RETURN NULL; END $$"
    )
