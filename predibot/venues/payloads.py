"""Readers of venues' payloads that are imported with the first payload."""

from importlib import import_module

from predibot.contracts import PayloadReader


def late_payloads(module: str) -> PayloadReader:
    """Return the `PAYLOADS` of a module; its import, some hundredths of a second, waits for the first use."""
    return PayloadReader(
        lambda payload, read_at: _reader(module).event(payload, read_at),
        lambda payload: _reader(module).id(payload),
        lambda payload: _reader(module).without_results(payload),
        lambda payload: _reader(module).no_first(payload),
    )


def _reader(module: str) -> PayloadReader:
    reader: PayloadReader = import_module(module).PAYLOADS
    return reader
