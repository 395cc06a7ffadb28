"""A pool of spawned processes: each opens everything for itself, and one that hangs is killed and replaced."""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing import connection as pipes
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from predibot.errors import LedgerError, LedgerUnusable
from predibot.jobs.deciding.activity import Activity
from predibot.jobs.deciding.worker import Worker
from predibot.jobs.logs.log_file import log_context
from predibot.jobs.workers.pool import LostProcess, Pool, PoolCall
from predibot.jobs.workers.process_worker import CallReport, LogLine, Report, WorkerSpec, run_process
from predibot.ledger.write.process_identity import helper_owner

_log = logging.getLogger(__name__)

_END_SECONDS = 0.2
"""How long the shutdown waits for the end of each process that it killed."""
_MOST_STILLBORN = 3
"""So many processes, one after the other, may end before they are set up."""


@dataclass(slots=True)
class _PoolProcess:
    process: SpawnProcess
    connection: Connection
    holder: str
    """The name under which it reserves amounts of limits."""
    owner: str = ""
    """The name under which it claims; empty until it is set up."""
    failure: LedgerError | None = None
    """Why it could not use the ledger."""
    calls: dict[int, PoolCall] = field(default_factory=dict)


class ProcessPool(Pool):
    """A `Pool` of spawned processes with threads in each."""

    grace_seconds = 2.0

    def __init__(self, spec: WorkerSpec, worker: Worker, processes: int) -> None:
        """Start this many processes; the worker books for those that die."""
        super().__init__(worker)
        self._spec = spec
        self._spawns = count(1)
        self._waiting: deque[PoolCall] = deque()
        self._stillborn = 0
        self._children: list[_PoolProcess] = []
        with self._lock:
            for _ in range(processes):
                self._spawn()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> PoolCall:
        """Return the future of a call, which the process with the least to do will make."""
        call = PoolCall(next(self._numbers), fn, args)
        with self._lock:
            self._waiting.append(call)
            self._hand_out()
        return call

    def calls(self) -> Sequence[PoolCall]:
        """Return the calls that processes have."""
        with self._lock:
            return [call for child in self._children for call in child.calls.values()]

    def end(self, call: PoolCall) -> None:
        """Kill the process; the listener notices its end as any other."""
        with self._lock:
            for child in self._children:
                if call.number in child.calls:
                    child.process.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Kill all processes; their claims are free, and what they reserved stays reserved."""
        with self._lock:
            self._closed = True
            for child in self._children:
                child.process.kill()
            for child in self._children:
                child.process.join(_END_SECONDS)

    def _spawn(self) -> None:
        """Start a process, and a thread that listens to it; needs the lock."""
        ours, theirs = pipes.Pipe()
        holder = helper_owner(self._worker.claimant.owner, next(self._spawns))
        arguments = (theirs, self._spec, holder, logging.getLogger().getEffectiveLevel())
        process = get_context("spawn").Process(target=run_process, args=arguments, daemon=True)
        process.start()
        # Our own copy of its end would keep us from seeing that it is gone.
        theirs.close()
        child = _PoolProcess(process, ours, holder)
        self._children.append(child)
        threading.Thread(target=self._listen, args=(child,), name=f"predibot-{process.name}", daemon=True).start()

    def _hand_out(self) -> None:
        """Give waiting calls to the processes with the least to do; needs the lock."""
        while self._waiting and not self._closed:
            ready = (child for child in self._children if child.owner)
            child = min(ready, key=lambda each: len(each.calls), default=None)
            if child is None or len(child.calls) >= self._worker.settings.workers:
                return
            call = self._waiting.popleft()
            call.owner = child.owner
            child.calls[call.number] = call
            with suppress(OSError):
                # If it is gone meanwhile, the listener notices its end, and the call is handed out again.
                child.connection.send((call.number, call.function, call.arguments))

    def _listen(self, child: _PoolProcess) -> None:
        """Take the reports of a process until it is gone, and replace it."""
        while not self._closed:
            try:
                report = child.connection.recv()
            except (EOFError, OSError):
                break
            self._receive(child, report)
        child.connection.close()
        if not self._closed:
            self._replace(child)

    def _receive(self, child: _PoolProcess, report: Report) -> None:
        if isinstance(report, Activity):
            self._worker.watch(report)
        elif isinstance(report, CallReport) and not report.is_over:
            if call := child.calls.get(report.number):
                call.began = time.monotonic()
        elif isinstance(report, CallReport):
            with self._lock:
                ended = child.calls.pop(report.number, None)
                self._hand_out()
            if ended is not None:
                ended.set_result(report.result)
        elif isinstance(report, LogLine):
            with log_context(report.about):
                logging.getLogger(report.name).log(report.level, "%s", report.text)
        elif isinstance(report, str):
            with self._lock:
                child.owner = report
                self._stillborn = 0
                self._other_owners[report] = None
                self._hand_out()
        elif isinstance(report, LedgerError):
            # Another process may find the ledger well.
            child.failure = report
            _log.warning("a process ended: %s", report)
        else:
            self._broken = report

    def _replace(self, child: _PoolProcess) -> None:
        """Start another process in place of one that is gone, and hand out again what that one had not begun."""
        # It may have closed its pipe and hang; it must be gone before what it reserved is booked.
        child.process.kill()
        child.process.join(1.0)
        self._book_lost(child.holder, "process")
        message, now = f"its process ended: {child.process.exitcode}", time.monotonic()
        with self._lock:
            self._stillborn += not child.owner
            if self._stillborn >= _MOST_STILLBORN and self._broken is None:
                self._broken = child.failure or LedgerUnusable(
                    f"processes end before they are set up, the last with code {child.process.exitcode}; "
                    "use --executor threads:N"
                )
            self._children.remove(child)
            if not self._closed and self._broken is None:
                self._spawn()
            self._waiting.extend(call for call in child.calls.values() if call.began is None)
            self._hand_out()
        for call in child.calls.values():
            if call.began is not None:
                call.set_exception(LostProcess(message, seconds=now - call.began, owner=call.owner))
