"""Processes that do the work that is dispatched: each has everything of its own, and one that hangs is killed."""

import logging
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection as pipes
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

from predibot.errors import LedgerError, LedgerUnusable, PredibotError
from predibot.jobs.deciding.activity import Activity
from predibot.jobs.deciding.decide_one import WorkResult
from predibot.jobs.deciding.worker import DecideJob, JobKey, Worker
from predibot.jobs.logs.about import logged_about
from predibot.jobs.workers.lost import book_lost, give_up_lost, settle
from predibot.jobs.workers.process_worker import Logged, Ready, Report, WorkerSpec, run_process
from predibot.jobs.workers.thread_pool import no_answer
from predibot.ledger.write.process_identity import helper_owner

_log = logging.getLogger(__name__)

_GRACE_SECONDS = 2.0
"""How much later than its deadline a process may be at giving its own work up."""
_TICK_SECONDS = 0.2
_MOST_STILLBORN = 3
"""So many processes, one after the other, may end before they are set up."""


@dataclass(slots=True)
class _PoolTask:
    """A job somebody waits for."""

    job: DecideJob
    future: "Future[WorkResult]"
    began: float | None = None
    lost: bool = False
    """Whether a process that did it is gone."""


@dataclass(slots=True)
class _PoolProcess:
    """A process, what it has been ordered to do, and the name it claims under."""

    process: SpawnProcess
    connection: Connection
    holder: str
    """The name it sets amounts of limits aside under."""
    owner: str | None = None
    failure: LedgerError | None = None
    """What of the ledger it ended of, as it said itself."""
    tasks: dict[JobKey, _PoolTask] = field(default_factory=dict)


class ProcessPool:
    """A `Pool` of spawned processes, in each of which threads work."""

    def __init__(self, spec: WorkerSpec, worker: Worker, count: int) -> None:
        """Start the processes.

        Args:
            spec: Of what each of them works with.
            worker: What this process records with, for one that died.
            count: How many.
        """
        self._spec = spec
        self._worker = worker
        self._deadline_seconds = worker.settings.decision_deadline_seconds
        self._lock = threading.RLock()
        self._waiting: deque[_PoolTask] = deque()
        self._spawns = 0
        self._stillborn = 0
        self._owners: list[str] = []
        self._broken: PredibotError | None = None
        self._closed = False
        self._children = [self._spawned() for _ in range(count)]
        threading.Thread(target=self._listen, name="predibot-processes", daemon=True).start()

    def submit(self, job: DecideJob) -> "Future[WorkResult]":
        """Return the future of a job, for whichever process has the least to do."""
        task = _PoolTask(job, Future())
        with self._lock:
            self._waiting.append(task)
            self._hand_out()
        return task.future

    def look(self) -> None:
        """Kill each process that has not even given up what is late, and put another in its place."""
        if self._broken is not None:
            raise self._broken
        latest = time.monotonic() - self._deadline_seconds - _GRACE_SECONDS
        with self._lock:
            hung = [
                child for child in self._children if any((t.began or latest) < latest for t in child.tasks.values())
            ]
            for child in hung:
                # Its end is noticed like any other.
                child.process.kill()

    def owners(self) -> Sequence[str]:
        """Return this process and all that ever claimed for it."""
        return (self._worker.claimant.owner, *self._owners)

    def close(self) -> None:
        """Kill all processes: what they claimed is free, and what they had set aside stays as it is."""
        with self._lock:
            self._closed = True
            for child in self._children:
                child.process.kill()
                with suppress(OSError):
                    child.connection.close()
            for child in self._children:
                child.process.join(_TICK_SECONDS)

    def _spawned(self) -> _PoolProcess:
        ours, theirs = pipes.Pipe()
        self._spawns += 1
        holder = helper_owner(self._worker.claimant.owner, self._spawns)
        log_level = logging.getLogger().getEffectiveLevel()
        process = get_context("spawn").Process(
            target=run_process, args=(theirs, self._spec, holder, log_level), daemon=True
        )
        process.start()
        # Else our own copy of its end would keep us from seeing that it is gone.
        theirs.close()
        return _PoolProcess(process, ours, holder)

    def _hand_out(self) -> None:
        """Give what waits to the processes with the least to do; a call inside the lock."""
        room = self._worker.settings.workers
        while self._waiting and not self._closed:
            child = min((each for each in self._children if each.owner), key=lambda each: len(each.tasks), default=None)
            if child is None or len(child.tasks) >= room:
                return
            task = self._waiting.popleft()
            child.tasks[task.job.key] = task
            with suppress(OSError):
                # Where it is gone meanwhile, its end is noticed and the task handed out again.
                child.connection.send(task.job)

    def _listen(self) -> None:
        """Take what the processes report, until the pool is closed."""
        while not self._closed:
            with self._lock:
                by_pipe = {child.connection: child for child in self._children}
            try:
                ready = pipes.wait(list(by_pipe), timeout=_TICK_SECONDS)
            except (OSError, ValueError):
                # Closed while we waited.
                continue
            for each in ready:
                if isinstance(each, Connection):
                    self._hear(by_pipe[each])

    def _hear(self, child: _PoolProcess) -> None:
        try:
            report: Report = child.connection.recv()
        except (EOFError, OSError):
            if not self._closed:
                self._replace(child)
            return
        self._take(child, report)

    def _take(self, child: _PoolProcess, report: Report) -> None:
        if isinstance(report, Activity):
            self._note_begun(child, report)
            self._worker.watch(report)
        elif isinstance(report, Logged):
            with logged_about(report.about):
                logging.getLogger(report.name).log(report.level, "%s", report.text)
        elif isinstance(report, Ready):
            with self._lock:
                child.owner = report.owner
                self._stillborn = 0
                self._owners.append(report.owner)
                self._hand_out()
        elif isinstance(report, WorkResult):
            self._settle(child, report)
        elif isinstance(report, LedgerError):
            # Another may find the ledger well.
            child.failure = report
            _log.warning("a process ended: %s", report)
        else:
            self._broken = report

    def _note_begun(self, child: _PoolProcess, activity: Activity) -> None:
        if activity.begins:
            with self._lock:
                for task in child.tasks.values():
                    if (task.job.bot.name, task.job.subject.id) == (activity.bot, activity.event_id):
                        task.began = time.monotonic()

    def _settle(self, child: _PoolProcess, result: WorkResult) -> None:
        with self._lock:
            task = child.tasks.pop(result.job.key, None)
            self._hand_out()
        if task is not None:
            settle(task.future, result, self._worker, was_lost=task.lost)

    def _replace(self, child: _PoolProcess) -> None:
        """Record what a process that is gone had begun too long ago, and let others do the rest."""
        # It may have closed its pipe and hang all the same; what it had set aside is booked once it cannot change it.
        child.process.kill()
        child.process.join(1.0)
        book_lost(self._worker, child.holder, "process")
        if child.owner is None:
            self._stillborn += 1
        if self._stillborn >= _MOST_STILLBORN and self._broken is None:
            self._broken = child.failure or LedgerUnusable(
                f"processes end before they are set up, the last with code {child.process.exitcode}; "
                "use --executor threads:N"
            )
        for task in [task for task in child.tasks.values() if task.began is not None]:
            self._record_lost(child, task)
        with self._lock:
            self._waiting.extend(task for task in child.tasks.values() if task.began is None)
            child.connection.close()
            self._children.remove(child)
            if not self._closed and self._broken is None:
                self._children.append(self._spawned())
            self._hand_out()

    def _record_lost(self, child: _PoolProcess, task: _PoolTask) -> None:
        job, seconds = task.job, time.monotonic() - (task.began or 0.0)
        is_late = seconds > self._deadline_seconds
        if not is_late and not task.lost:
            # It may be another job that its process died of, so this one is done again, once.
            task.began, task.lost = None, True
            return
        message = no_answer(self._deadline_seconds) if is_late else f"its process ended: {child.process.exitcode}"
        try:
            give_up_lost(job, self._worker, child.owner or "", message, seconds)
        except PredibotError as error:
            task.future.set_exception(error)
        else:
            task.future.set_result(WorkResult(job, "failed", made_here=True))
