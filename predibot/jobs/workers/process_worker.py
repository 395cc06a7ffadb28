"""A process of a pool: opens everything for itself, makes the calls it is sent, and reports."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout, suppress
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from predibot.config import Settings
from predibot.errors import PredibotError
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.deciding.activity import Activity, Watch, ignore_progress
from predibot.jobs.deciding.worker import Resources, Worker, agent_setup, load_loops, make_worker
from predibot.jobs.logs.log_file import LogContext, current_log_context, is_logged
from predibot.jobs.open_venue import open_venue
from predibot.jobs.workers.heartbeat import heartbeat
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claimant
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.runs import find_run, frozen_events
from predibot.recipe.recipe import Recipe


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
    reports.send(CallReport(number))
    reports.send(CallReport(number, is_over=True, result=function(*arguments, worker)))


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
