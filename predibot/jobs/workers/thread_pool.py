"""The pool: what does the work that is dispatched, threads of this process or processes of their own."""

import time
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Protocol

from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.deciding.activity import Activity
from predibot.jobs.deciding.decide_one import DecideJob, Worker, WorkResult, give_up, work


class Pool(Protocol):
    """Does jobs, many at once, none for longer than the deadline."""

    def submit(self, job: DecideJob, *, after_seconds: float = 0.0) -> "Future[WorkResult]":
        """Return the future of a job, which begins after a while."""
        ...

    def give_up_late(self) -> "Sequence[Future[WorkResult]]":
        """Record as failed what has been under way for too long, and return its futures, which may stay open.

        Raises:
            LedgerError: If that could not be stored.
        """
        ...

    def owners(self) -> Sequence[str]:
        """Return whose claims are to be given back where the work is interrupted."""
        ...

    def close(self) -> None:
        """Take no more jobs, and wait for nobody."""
        ...


@dataclass(slots=True)
class _UnderWay:
    job: DecideJob
    began: float | None = None
    """None while it waits for a thread, or for somebody else to finish."""


@dataclass(slots=True)
class ThreadPool:
    """Daemon threads of this process; one that hangs is left behind."""

    worker: Worker
    _executor: DaemonThreadExecutor = field(init=False)
    _under_way: "dict[Future[WorkResult], _UnderWay]" = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the pool."""
        self._executor = DaemonThreadExecutor(self.worker.settings.workers)

    def submit(self, job: DecideJob, *, after_seconds: float = 0.0) -> "Future[WorkResult]":
        """Return the future of a job."""
        row = _UnderWay(job)
        future = self._executor.submit(self._timed, row, after_seconds)
        self._under_way[future] = row
        return future

    def give_up_late(self) -> "Sequence[Future[WorkResult]]":
        """Record as failed what is late, and put another thread in its thread's place."""
        for future in [future for future in self._under_way if future.done()]:
            del self._under_way[future]
        late = [future for future, row in self._under_way.items() if self._is_late(row)]
        for future in late:
            row = self._under_way.pop(future)
            seconds = time.monotonic() - (row.began or 0.0)
            give_up(row.job, self.worker, no_answer(self._deadline_seconds), seconds)
            self._executor.abandon_one()
        return [future for future in late if not future.done()]

    def owners(self) -> Sequence[str]:
        """Return this process."""
        return (self.worker.claimant.owner,)

    def close(self) -> None:
        """Take no more jobs."""
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _timed(self, row: _UnderWay, after_seconds: float) -> WorkResult:
        if after_seconds > 0.0:
            time.sleep(after_seconds)
        row.began = time.monotonic()
        self.worker.watch(Activity(row.job.bot, row.job.subject.id, "running"))
        return work(row.job, self.worker)

    @property
    def _deadline_seconds(self) -> float:
        return self.worker.settings.decision_deadline_seconds

    def _is_late(self, row: _UnderWay) -> bool:
        return row.began is not None and time.monotonic() - row.began > self._deadline_seconds


def no_answer(deadline_seconds: float) -> str:
    """Return what is stored of a decision that took too long."""
    return f"gave no answer within {deadline_seconds:g} s"
