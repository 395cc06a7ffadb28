"""Counts of changes: the triggers by which a database itself counts what is altered of what caches are made of."""

from collections.abc import Iterator

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
_COUNTED_FOR_ALL = {"instruments": "market_row, side", "subjects": "venue, kind, subject_id, event_row"}
"""Columns of which a change, and tables of which the loss of a row, is counted for every run: any may refer to it."""
_NEW_RUN = (
    "INSERT INTO changes (scope, number) SELECT NEW.id, 0"
    " WHERE NOT EXISTS (SELECT 1 FROM changes WHERE scope = NEW.id);"
)
_ALL = "UPDATE changes SET number = number + 1;"


def count_all_changes(connection: Connection) -> None:
    """Have the database count, in tables of this version, whatever caches are made of."""
    connection.exec_driver_sql("INSERT INTO changes (scope, number) VALUES (0, 0)")
    is_server = connection.dialect.name == "postgresql"
    for table, scope in _COUNTED.items():
        for statement in (_on_a_server if is_server else triggers_in_a_file)(table, scope):
            connection.exec_driver_sql(statement)
    for table, columns in _COUNTED_FOR_ALL.items():
        for statement in (_for_all_on_a_server if is_server else _for_all_in_a_file)(table, columns):
            connection.exec_driver_sql(statement)


def triggers_in_a_file(table: str, scope: str) -> Iterator[str]:
    """Yield the triggers of a table, as a migration needs them too that makes one anew."""
    # An update, which no OR REPLACE of the statement that fires this turns into something else.
    more = "UPDATE changes SET number = number + 1 WHERE scope = {scope};"
    for change, named in {"INSERT": ("NEW",), "UPDATE": ("OLD", "NEW"), "DELETE": ("OLD",)}.items():
        counted = dict.fromkeys(more.format(scope=scope.format(row=row)) for row in named)
        first = _NEW_RUN if (table, change) == ("runs", "INSERT") else ""
        name = f"changes_of_{table}_{change.lower()}"
        yield f"CREATE TRIGGER {name} AFTER {change} ON {table} BEGIN {first} {' '.join(counted)} END"


def _for_all_in_a_file(table: str, columns: str) -> Iterator[str]:
    for name, change in (("update", f"UPDATE OF {columns}"), ("delete", "DELETE")):
        yield f"CREATE TRIGGER changes_for_all_{table}_{name} AFTER {change} ON {table} BEGIN {_ALL} END"


def _on_a_server(table: str, scope: str) -> Iterator[str]:
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
    yield (
        f"CREATE FUNCTION changes_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {first}"
        f" IF TG_OP <> 'DELETE' THEN {new} END IF; IF TG_OP <> 'INSERT' THEN {old} END IF; RETURN NULL; END $$"
    )
    yield (
        f"CREATE CONSTRAINT TRIGGER changes_of_{table} AFTER INSERT OR UPDATE OR DELETE ON {table}"
        f" DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION changes_of_{table}()"
    )
    yield from _each_statement(table, f"changes_of_all_{table}", "TRUNCATE")


def _for_all_on_a_server(table: str, columns: str) -> Iterator[str]:
    return _each_statement(table, f"changes_for_all_{table}", f"UPDATE OF {columns} OR DELETE OR TRUNCATE")


def _each_statement(table: str, name: str, changes: str) -> Iterator[str]:
    yield (
        f"CREATE OR REPLACE FUNCTION changes_of_all_{table}() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN {_ALL} RETURN NULL; END $$"
    )
    yield (
        f"CREATE TRIGGER {name} AFTER {changes} ON {table} FOR EACH STATEMENT EXECUTE FUNCTION changes_of_all_{table}()"
    )
