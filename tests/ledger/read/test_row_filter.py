"""Which rows are read: conditions on bots, as names and rows of others make them."""

import pytest
from sqlalchemy import literal, select

from predibot.ledger.read.row_filter import is_bot
from predibot.ledger.store import Store


@pytest.mark.parametrize(
    ("asked", "also", "never"),
    [
        ("gpt-4o", "gpt-4o#2", "gpt-4o-mini#2"),
        ("4o-mini", "4o-mini#1", "4o-min#1"),
        ("3", "3#20", "33#1"),
        ("a_b", "a_b#1", "axb#1"),
        # No recipe can give these names, so they are compared whole.
        ("%", "%", "any#1"),
        ("x#1", "x#1", "x#1#1"),
        ("n" * 2_000, "n" * 2_000, f"{'n' * 2_000}#1"),
    ],
)
def test_a_bot_has_its_replicates_and_no_other_ones(store: Store, asked: str, also: str, never: str) -> None:
    with store.read() as connection:
        found = [connection.scalar(select(is_bot(literal(name), [asked]))) for name in (asked, also, never)]
    assert [bool(each) for each in found] == [True, True, False]
