"""The start of a spawned process: no signal reaches it before it says what signals are to do."""

import signal
from collections.abc import Collection
from multiprocessing import resource_tracker
from multiprocessing.process import BaseProcess


def start_without_signals(process: BaseProcess, held: Collection[signal.Signals]) -> None:
    """Start a process that gets these signals only once it calls `take_signals`: before that it loads, for seconds on a
    busy machine, and Ctrl-C in a terminal, which reaches every process, would end it with a traceback.
    """
    # It lets signals through wherever it is started, so it must run before.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def take_signals(held: Collection[signal.Signals]) -> None:
    """Let signals through that were held back, those that came meanwhile at once."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, held)
