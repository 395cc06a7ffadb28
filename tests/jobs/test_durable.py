"""What a power cut cannot take back: answers that were paid for, and the accounts that say what was spent."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event, text

from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot, predibot

__all__ = ["predibot"]

NORMAL, FULL = 1, 2
"""SQLite syncs now and then, or at the end of each transaction."""

RECIPE = """
[limits.run]
usd = 1.0
[[bots]]
strategy = "random_bet"
[[bots]]
strategy = "tool_agent"
model = "sandbox/sharp"
"""


@pytest.fixture
def synced() -> Iterator[dict[str, set[int]]]:
    """Watch how transactions are synced that write decisions with a trace, without one, and spending."""
    seen: dict[str, set[int]] = {"paid": set(), "free": set(), "spending": set()}

    def watch(connection: Connection, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        kind = None
        if statement.startswith("INSERT INTO decisions"):
            assert isinstance(parameters, tuple)
            kind = "paid" if any(isinstance(each, str) and len(each) == 64 for each in parameters) else "free"
        elif statement.startswith("UPDATE spending"):
            kind = "spending"
        driver = connection.connection.driver_connection
        if kind is not None and driver is not None:
            seen[kind].add(driver.execute("PRAGMA synchronous").fetchone()[0])

    event.listen(Engine, "before_cursor_execute", watch)
    yield seen
    event.remove(Engine, "before_cursor_execute", watch)


def test_what_models_were_paid_for_is_on_the_disk_before_anything_else_happens(
    predibot: Predibot, tmp_path: Path, synced: dict[str, set[int]]
) -> None:
    (tmp_path / "paid.toml").write_text(RECIPE)
    assert predibot("decide", "paid.toml", "--venue", "sandbox:events=10", "--events", "1").code == 0
    assert synced == {"paid": {FULL}, "free": {NORMAL}, "spending": {FULL}}


def test_the_next_transaction_on_a_connection_is_as_durable_as_it_asks_to_be(store: Store) -> None:
    if not store.address.startswith("sqlite"):
        pytest.skip("PostgreSQL keeps every transaction")
    for durable, expected in ((True, FULL), (False, NORMAL), (True, FULL)):
        with store.write(durable=durable) as connection:
            assert connection.execute(text("PRAGMA synchronous")).scalar_one() == expected
