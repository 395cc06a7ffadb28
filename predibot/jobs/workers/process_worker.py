"""A process of the pool: opens everything for itself, does jobs it is sent, and reports."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from datetime import datetime
from multiprocessing.connection import Connection

from predibot.config import Settings
from predibot.errors import PredibotError
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.deciding.activity import Activity, Watch, unwatched
from predibot.jobs.deciding.decide_one import WorkResult
from predibot.jobs.deciding.worker import DecideJob, Resources, Worker, agent_setup, load_loops, make_worker
from predibot.jobs.logs.about import LogContext, about_now
from predibot.jobs.logs.log_file import is_logged
from predibot.jobs.open_venue import open_venue
from predibot.jobs.workers.heartbeat import Heartbeat
from predibot.jobs.workers.thread_pool import work_elsewhere
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Claimant
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.runs import find_run, frozen_events
from predibot.recipe.recipe import Recipe


@dataclass(frozen=True, slots=True)
class Ready:
    """The process is set up, and claims under this name."""

    owner: str


@dataclass(frozen=True, slots=True)
class Logged:
    """A line for the log, which only the first process writes."""

    name: str
    level: int
    text: str
    about: LogContext


Report = Ready | WorkResult | PredibotError | Logged | Activity
"""What a process says; an error is why it could not be set up."""


@dataclass(frozen=True, slots=True)
class WorkerSpec:
    """Enough to make what a process works with, as plain data: the same run, with ledger and venue of its own."""

    recipe: Recipe
    run_key: str
    venue: str
    as_of: datetime | None
    ledger: str
    settings: Settings
    clock: Callable[[], datetime]
    asked_by: Claimant
    """The process that asks for the work."""

    def open(self, closing: ExitStack, *, holder: str, watch: Watch) -> Worker:
        """Return it; what is to be closed at the end is put on the stack.

        Raises:
            PredibotError: If it cannot be opened.
        """
        # Who starts the processes has it open: a server that is away just now comes back.
        store = closing.enter_context(Store.open(self.ledger, create=False, was_reached=True))
        opened = open_venue(
            self.venue,
            self.settings,
            as_of=self.as_of,
            purpose="decide",
            clock=self.clock,
            paces=SharedPaces(store=store),
        )
        closing.enter_context(opened)
        load_loops(self.recipe)
        agents = agent_setup(self.recipe, opened, self.settings, self.clock, store)
        run = store.run_read(lambda connection: find_run(connection, self.run_key))
        if run is None:
            raise PredibotError(f"run {self.run_key} was voided meanwhile")
        run_id, began_at = run.id, self.asked_by.began_at
        events = store.run_read(lambda connection: frozen_events(connection, run_id))
        resources = Resources(store, self.settings, self.clock, unwatched, watch)
        worker = make_worker(
            run,
            events,
            self.recipe,
            agents,
            opened,
            resources,
            began_at=began_at,
            retry=self.asked_by.retry,
            holder=holder,
        )
        closing.enter_context(Heartbeat(worker.claimant.lease, worker.renew))
        return worker


def run_process(connection: Connection, spec: WorkerSpec, holder: str, log_level: int) -> None:
    """Do jobs until the other end of the connection is closed; the body of a process.

    Args:
        connection: Where jobs come from, and reports go.
        spec: Of what it works with.
        holder: Under whose name it sets amounts aside: who started it settles them when it has ended.
        log_level: From which on the first process logs.
    """
    # Ctrl-C reaches every process of the terminal; the first one decides what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    reports = _Reports(connection)
    reports.setFormatter(logging.Formatter("%(message)s"))
    reports.addFilter(is_logged)
    logging.basicConfig(level=log_level, handlers=[reports], force=True)
    try:
        # What plug-ins print: stdout is for the result of who started it.
        with redirect_stdout(sys.stderr), ExitStack() as closing:
            worker = spec.open(closing, holder=holder, watch=reports.send)
            reports.send(Ready(worker.claimant.owner))
            threads = DaemonThreadExecutor(worker.settings.workers)
            while True:
                threads.submit(_work_and_report, _next_job(connection), worker, reports)
    except PredibotError as error:
        reports.send(error)
    finally:
        # Threads that hang must not keep the process.
        os._exit(0)


def _next_job(connection: Connection) -> DecideJob:
    try:
        job: DecideJob = connection.recv()
    except (EOFError, OSError):
        # At once, nothing is closed first: what threads began meanwhile, nobody would book.
        os._exit(0)
    return job


def _work_and_report(job: DecideJob, worker: Worker, reports: "_Reports") -> None:
    reports.send(work_elsewhere(job, worker))


class _Reports(logging.Handler):
    """What goes to the first process, from any thread: what is logged here too."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection
        self._sending = threading.Lock()

    def send(self, report: Report) -> None:
        """Send a report."""
        try:
            with self._sending:
                self._connection.send(report)
        except OSError:
            # Nobody is there any more who could want it.
            os._exit(0)

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record as text."""
        self.send(Logged(record.name, record.levelno, self.format(record), about_now()))
