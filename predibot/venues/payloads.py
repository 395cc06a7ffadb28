"""The reader of a venue's payloads, whose module is imported with the first of them."""

from importlib import import_module

from predibot.contracts import PayloadReader


def late_payloads(module: str) -> PayloadReader:
    """Return the reader that a module calls `PAYLOADS`; the import costs some hundredths of a second."""
    return PayloadReader(
        lambda payload, read_at: _of(module).event(payload, read_at),
        lambda payload: _of(module).id(payload),
        lambda payload: _of(module).without_results(payload),
        lambda payload: _of(module).no_first(payload),
    )


def _of(module: str) -> PayloadReader:
    reader: PayloadReader = import_module(module).PAYLOADS
    return reader
