"""The pool: what does the work that is dispatched, threads of this process, processes of their own, or a cluster."""

import logging
from collections.abc import Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Protocol

from predibot.errors import PredibotError, words_of
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.deciding.activity import Activity
from predibot.jobs.deciding.decide_one import WorkResult, give_up, work
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.jobs.logs.about import LogContext, logged_about
from predibot.net.deadline import started

_log = logging.getLogger(__name__)


class Pool(Protocol):
    """Does jobs, many at once, none for longer than the deadline."""

    def submit(self, job: DecideJob) -> "Future[WorkResult]":
        """Return the future of a job."""
        ...

    def look(self) -> None:
        """End what hangs as a whole, and put another in its place.

        Raises:
            PredibotError: If nothing can be done any more.
        """
        ...

    def owners(self) -> Sequence[str]:
        """Return whose claims are to be given back where the work is interrupted."""
        ...

    def close(self) -> None:
        """Take no more jobs, and wait for nobody."""
        ...


class ThreadPool:
    """Daemon threads of this process."""

    def __init__(self, worker: Worker) -> None:
        """Make as many as the settings say."""
        self._worker = worker
        self._executor = DaemonThreadExecutor(worker.settings.workers)

    def submit(self, job: DecideJob) -> "Future[WorkResult]":
        """Return the future of a job."""
        return self._executor.submit(work_in_time, job, self._worker)

    def look(self) -> None:
        """Do nothing: each thread looks after its own deadline."""

    def owners(self) -> Sequence[str]:
        """Return this process."""
        return (self._worker.claimant.owner,)

    def close(self) -> None:
        """Take no more jobs."""
        self._executor.shutdown(wait=False, cancel_futures=True)


def work_in_time(job: DecideJob, worker: Worker) -> WorkResult:
    """Do a job in a thread of its own, which is left behind where it hangs: the decision failed then.

    Raises:
        BaseException: As `work`, and what keeps a late decision from being recorded.
    """
    worker.watch(Activity(job.bot.name, job.subject.id, "running"))
    seconds = worker.settings.decision_deadline_seconds
    future = started(partial(work, job, worker))
    if wait([future], timeout=seconds).not_done:
        was_claimed = give_up(job, worker, no_answer(seconds), seconds)
        if was_claimed or not future.done():
            return WorkResult(job, "failed", made_here=True)
    return future.result()


def work_elsewhere(job: DecideJob, worker: Worker) -> WorkResult:
    """Do a job for another process, to which no class of a strategy's may go: what crashed is recorded, and failed."""
    try:
        return work_in_time(job, worker)
    except PredibotError as error:
        return WorkResult(job, "failed", made_here=False, error=error)
    except BaseException as error:  # noqa: BLE001 - whatever a strategy raises is its result
        with logged_about(LogContext(worker.run.key, job.bot.name, job.subject.id)):
            _log.error("%s crashed on %s: %s", job.bot.name, job.subject.id, words_of(error))
        return WorkResult(job, "failed", made_here=True)


def no_answer(deadline_seconds: float) -> str:
    """Return what is stored of a decision that took too long."""
    return f"gave no answer within {deadline_seconds:g} s"
