"""A scratch ledger: where a decision is made again, only to be compared."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from predibot.ledger.files.traces import TraceFolder
from predibot.ledger.store import Store


@contextmanager
def scratch_ledger() -> Iterator[tuple[Store, TraceFolder]]:
    """Yield an empty ledger and an empty folder of traces; both are thrown away at the end."""
    with (
        tempfile.TemporaryDirectory(prefix="predibot-scratch-") as folder,
        Store.open(f"sqlite:///{folder}/ledger.db") as store,
    ):
        yield store, TraceFolder(Path(folder) / "traces")
