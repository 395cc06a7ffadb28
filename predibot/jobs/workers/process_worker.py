"""A process of the pool: opens everything for itself, does jobs it is sent, and reports."""

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from multiprocessing.connection import Connection
from typing import Protocol

from predibot.config import Settings
from predibot.errors import PredibotError, words_of
from predibot.jobs.deciding.activity import Activity, Watch
from predibot.jobs.deciding.decide_one import DecideJob, Worker, WorkResult
from predibot.jobs.deciding.worker_setup import agent_setup, load_loops, make_worker
from predibot.jobs.logs.about import About, about_now, logged_about
from predibot.jobs.logs.log_file import NotOthers
from predibot.jobs.open_venue import open_venue
from predibot.jobs.workers.heartbeat import Heartbeat
from predibot.jobs.workers.thread_pool import ThreadPool
from predibot.ledger.store import Store
from predibot.ledger.write.claims import Retry
from predibot.ledger.write.paces import SharedPaces
from predibot.ledger.write.runs import find_run, frozen_events
from predibot.recipe.recipe import Recipe

_TICK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Ready:
    """The process is set up, and claims under this name."""

    owner: str


@dataclass(frozen=True, slots=True)
class Began:
    """A job has a thread."""

    number: int


@dataclass(frozen=True, slots=True)
class Ended:
    """A job has ended; where it crashed, as it was recorded."""

    number: int
    result: WorkResult | None
    error: PredibotError | None = None


@dataclass(frozen=True, slots=True)
class Broken:
    """The process could not be set up."""

    error: PredibotError


@dataclass(frozen=True, slots=True)
class Logged:
    """A line for the log, which only the first process writes."""

    name: str
    level: int
    text: str
    about: About


@dataclass(frozen=True, slots=True)
class Order:
    """A job to be done."""

    number: int
    job: DecideJob
    after_seconds: float


Report = Ready | Began | Ended | Broken | Logged | Activity


class SetUp(Protocol):
    """Opens everything that a process works with: `open_worker` with what is the same for all of them."""

    def __call__(self, closing: ExitStack, *, holder: str, watch: Watch) -> Worker:
        """Return it; what is to be closed at the end is put on the stack."""
        ...


def run_process(connection: Connection, set_up: SetUp, holder: str, log_level: int) -> None:
    """Do jobs until the other end of the connection is closed; the body of a process.

    Args:
        connection: Where orders come from, and reports go.
        set_up: Makes what it works with.
        holder: Under whose name it sets amounts aside: who started it settles them when it has ended.
        log_level: From which on the first process logs.
    """
    # Ctrl-C reaches every process of the terminal; the first one decides what follows.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    desk = _Desk(connection)
    forwarded = _Forwarded(desk)
    forwarded.setFormatter(logging.Formatter("%(message)s"))
    forwarded.addFilter(NotOthers())
    logging.basicConfig(level=log_level, handlers=[forwarded], force=True)
    try:
        # What plug-ins print: stdout is for the result of who started it.
        with redirect_stdout(sys.stderr), ExitStack() as closing:
            worker = set_up(closing, holder=holder, watch=desk.watched)
            desk.report(Ready(worker.claimant.owner))
            desk.serve(worker)
    except PredibotError as error:
        desk.report(Broken(error))
    finally:
        # Threads that hang must not keep the process.
        os._exit(0)


def open_worker(
    closing: ExitStack,
    *,
    holder: str,
    watch: Watch,
    recipe: Recipe,
    run_key: str,
    venue: str,
    as_of: datetime | None,
    ledger: str,
    settings: Settings,
    clock: Callable[[], datetime],
    began_at: datetime,
    retry: frozenset[Retry],
) -> Worker:
    """Return what a process works with, from plain data: the same run, with ledger and venue of its own."""
    # Who starts the processes has it open: a server that is away just now comes back.
    store = closing.enter_context(Store.open(ledger, create=False, was_reached=True))
    paces = SharedPaces(store=store)
    opened = closing.enter_context(open_venue(venue, settings, as_of=as_of, purpose="decide", clock=clock, paces=paces))
    load_loops(recipe)
    agents = agent_setup(recipe, opened=opened, settings=settings, clock=clock, store=store)
    if agents is not None:
        agents.look_at_models(recipe.bots)
    run = store.run_read(lambda connection: find_run(connection, run_key))
    if run is None:
        raise PredibotError(f"run {run_key} was voided meanwhile")
    run_id = run.id
    events = store.run_read(lambda connection: frozen_events(connection, run_id))
    worker = make_worker(
        run,
        events,
        recipe,
        agents,
        opened=opened,
        settings=settings,
        store=store,
        clock=clock,
        began_at=began_at,
        retry=retry,
        watch=watch,
        holder=holder,
    )
    claimant = worker.claimant
    closing.enter_context(Heartbeat(store, claimant.owner, claimant.lease, clock, holder=holder))
    return worker


@dataclass(slots=True)
class _Desk:
    """Where orders come in and reports go out."""

    connection: Connection
    run_key: str = ""
    """Known once it serves."""
    numbers: dict[tuple[str, str], int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def report(self, report: Report) -> None:
        """Send a report; from any thread."""
        try:
            with self._lock:
                self.connection.send(report)
        except OSError:
            # Nobody is there any more who could want it.
            os._exit(0)

    def watched(self, activity: Activity) -> None:
        """Report what a bot is doing."""
        if activity.step == 0 and activity.state == "running":
            self.report(Began(self.numbers[activity.bot, activity.event_id]))
        self.report(activity)

    def serve(self, worker: Worker) -> None:
        """Do what is ordered, until nobody orders any more: the process ends then, where it stands.

        Raises:
            LedgerError: If a late decision could not be recorded.
        """
        pool = ThreadPool(worker)
        self.run_key = worker.run.key
        pending: dict[Future[WorkResult], Order] = {}
        while True:
            order = self._next_order()
            if order is not None:
                self.numbers[order.job.bot, order.job.subject.id] = order.number
                future = pool.submit(order.job, after_seconds=order.after_seconds)
                pending[future] = order
                future.add_done_callback(partial(self._ended, order))
            for late in pool.give_up_late():
                order = pending[late]
                self.report(Ended(order.number, WorkResult(order.job, "failed", made_here=True)))
            for done in [future for future in pending if future.done()]:
                del pending[done]

    def _next_order(self) -> Order | None:
        """Return the next order, None where there is none yet."""
        try:
            if self.connection.poll(_TICK_SECONDS):
                order: Order = self.connection.recv()
                return order
        except (EOFError, OSError):
            # At once, nothing is closed first: what threads began meanwhile, nobody would book.
            os._exit(0)
        return None

    def _ended(self, order: Order, future: "Future[WorkResult]") -> None:
        error = future.exception()
        if error is None:
            self.report(Ended(order.number, future.result()))
        elif isinstance(error, PredibotError):
            self.report(Ended(order.number, None, error=error))
        else:
            job = order.job
            with logged_about(About(self.run_key, job.bot, job.subject.id)):
                logging.getLogger(__name__).error("%s crashed on %s: %s", job.bot, job.subject.id, words_of(error))
            self.report(Ended(order.number, WorkResult(order.job, "failed", made_here=True)))


class _Forwarded(logging.Handler):
    """Sends what is logged to the first process."""

    def __init__(self, desk: _Desk) -> None:
        super().__init__()
        self._desk = desk

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record as text."""
        self._desk.report(Logged(record.name, record.levelno, self.format(record), about_now()))
