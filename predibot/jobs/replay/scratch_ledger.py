"""A scratch ledger: where a decision is made again, only to be compared."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from predibot.ledger.store import Store


@contextmanager
def scratch_ledger() -> Iterator[Store]:
    """Yield an empty ledger, which is thrown away at the end with what lies beside it."""
    with (
        tempfile.TemporaryDirectory(prefix="predibot-scratch-") as folder,
        Store.open(f"sqlite:///{folder}/ledger.db") as store,
    ):
        yield store
