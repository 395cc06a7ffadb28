"""A pool of spawned processes: each opens everything for itself, and one that hangs is killed and replaced."""

import logging
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from itertools import count
from multiprocessing import connection as pipes
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from predibot.config import Settings
from predibot.errors import LedgerError, LedgerUnusable, PredibotError
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.deciding.activity import Activity, Watch, ignore_progress
from predibot.jobs.deciding.worker import Resources, Worker, agent_setup, load_loops, make_worker
from predibot.jobs.logs.log_file import LogContext, current_log_context, is_logged, log_context
from predibot.jobs.open_venue import open_venue
from predibot.jobs.workers.heartbeat import heartbeat
from predibot.jobs.workers.pool import LostProcess, Pool, PoolCall
from predibot.jobs.workers.spawn import start_without_signals, take_signals
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claimant
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.process_identity import helper_owner
from predibot.ledger.write.runs import find_run, frozen_events
from predibot.recipe.recipe import Recipe

_log = logging.getLogger(__name__)

_HELD = (signal.SIGINT,)
"""Not SIGTERM: at the end of the program Python ends by it what still loads, and waits."""


@dataclass(frozen=True, slots=True)
class CallReport:
    """A call has begun, or has ended with a result."""

    number: int
    is_over: bool = False
    result: Any = None


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line for the log, which the process that started this one writes."""

    name: str
    level: int
    text: str
    about: LogContext


Call = tuple[int, Callable[..., Any], tuple[Any, ...]]
"""A call's number, function and arguments."""
Report = str | CallReport | LogLine | Activity | PredibotError
"""A message of a process: once it is set up, the name under which it claims; an error says why it could not be."""


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """Plain data from which a process makes a `Worker` of the same run, with a ledger and a venue of its own."""

    recipe: Recipe
    run_key: str
    venue: str
    as_of: datetime | None
    ledger: str
    settings: Settings
    clock: Callable[[], datetime]
    asked_by: Claimant
    """The process that orders the work."""

    def open(self, closing: ExitStack, *, holder: str, watch: Watch) -> Worker:
        """Return the worker, which reserves amounts of limits as the holder.

        Raises `PredibotError` if it cannot open.
        """
        # The process that starts this one has reached the ledger: a server that is away just now comes back.
        store = closing.enter_context(Store.open(self.ledger, create=False, was_reached=True))
        opened = open_venue(
            self.venue,
            self.settings,
            as_of=self.as_of,
            purpose="decide",
            clock=self.clock,
            paces=SharedPaces(store=store),
            only=self.recipe.selection.only,
        )
        closing.enter_context(opened)
        load_loops(self.recipe)
        agents = agent_setup(self.recipe, opened, self.settings, self.clock, store)
        run = store.run_read(lambda connection: find_run(connection, self.run_key))
        if run is None:
            raise PredibotError(f"run {self.run_key} was voided meanwhile")
        events = store.run_read(partial(frozen_events, run_id=run.id))
        resources = Resources(store, self.settings, self.clock, ignore_progress, watch)
        began_at, retry = self.asked_by.began_at, self.asked_by.retry
        worker = make_worker(
            run, events, self.recipe, agents, opened, resources, began_at=began_at, retry=retry, holder=holder
        )
        closing.enter_context(heartbeat(worker.claimant.lease, worker.renew))
        return worker


def run_process(connection: Connection, spec: WorkerSpec, holder: str, log_level: int) -> None:
    """Make the calls that come over a connection until it is closed, and send reports; the body of a process.

    Amounts of limits are reserved under the name of the holder; the parent books them once the process has ended.
    """
    # Ctrl-C reaches every process of the terminal; the parent decides what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    take_signals(_HELD)
    reports = _Reports(connection)
    reports.setFormatter(logging.Formatter("%(message)s"))
    reports.addFilter(is_logged)
    logging.basicConfig(level=log_level, handlers=[reports], force=True)
    try:
        # Plug-ins may print, and stdout is for the result of the command.
        with redirect_stdout(sys.stderr), ExitStack() as closing:
            worker = spec.open(closing, holder=holder, watch=reports.send)
            reports.send(worker.claimant.owner)
            threads = DaemonThreadExecutor(worker.settings.workers)
            with suppress(EOFError, OSError):
                while True:
                    threads.submit(_call_and_report, connection.recv(), worker, reports)
            # At once, nothing is closed first: nobody would book what threads begin meanwhile.
            os._exit(0)
    except PredibotError as error:
        reports.send(error)
    finally:
        # Threads that hang must not keep the process.
        os._exit(0)


def _call_and_report(call: Call, worker: Worker, reports: "_Reports") -> None:
    number, function, arguments = call
    begin = partial(reports.send, CallReport(number))
    begin()
    result = function(*arguments, replace(worker, begin=begin))
    reports.send(CallReport(number, is_over=True, result=result))


class _Reports(logging.Handler):
    """Sends reports to the parent, from any thread, and what is logged here."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._sending = threading.Lock()

    def send(self, report: Report) -> None:
        try:
            with self._sending:
                self._connection.send(report)
        except OSError:
            # The parent is gone.
            os._exit(0)

    def emit(self, record: logging.LogRecord) -> None:
        self.send(LogLine(record.name, record.levelno, self.format(record), current_log_context()))


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
        start_without_signals(process, _HELD)
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
