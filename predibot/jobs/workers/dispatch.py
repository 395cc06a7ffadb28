"""Dispatch: the jobs of one `decide`, handed to a pool until each is done, with the one watch over their deadlines."""

import logging
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, field, replace
from queue import Empty, SimpleQueue
from typing import Any

from predibot.contracts import Progress, ProgressListener
from predibot.errors import LedgerError, PredibotError, describe_error
from predibot.jobs.deciding.activity import Activity, State
from predibot.jobs.deciding.decide_one import WorkResult, give_up, take
from predibot.jobs.deciding.worker import DecideJob, JobKey, Worker
from predibot.jobs.logs.log_file import LogContext, current_log_context, log_context
from predibot.jobs.workers.pool import LostProcess, Pool, ThreadPool
from predibot.ledger.write.claims import has_ended_since
from predibot.net.deadline import start_call
from predibot.recipe.recipe import in_order

_log = logging.getLogger(__name__)

_TICK_SECONDS = 0.2
"""Pause between two looks at the pool, and before a job that another process has claimed is tried again."""
_MOST_UNDER_WAY = 300
"""More than the threads of a pool: each look at a pool of processes passes all calls that are handed out."""
_MOST_LOSSES = 3
"""How often a job is handed out if each time its process is lost without a claim."""


@dataclass
class Dispatch:
    """The way of one call of `decide` through its jobs."""

    pool: Pool
    worker: Worker
    """Records the decisions of processes that are lost."""
    jobs: Sequence[DecideJob]
    listener: ProgressListener
    made: dict[JobKey, bool] = field(default_factory=dict)
    losses: Counter[JobKey] = field(default_factory=Counter)
    """Number of lost processes, by the job that they did."""

    def run(self) -> Mapping[JobKey, bool]:
        """Return for each bot and subject whether this call made its decision."""
        try:
            # Bots that wait for the decisions of others come after them.
            for names in in_order({job.bot.name: job.bot.members for job in self.jobs}):
                self._run_phase([job for job in self.jobs if job.bot.name in names])
        finally:
            self.pool.shutdown(wait=False, cancel_futures=True)
        return self.made

    def _run_phase(self, jobs: Sequence[DecideJob]) -> None:
        function = work_in_time if isinstance(self.pool, ThreadPool) else work_elsewhere
        # A job that another process has claimed is tried again, until it is done or that process is gone.
        left = deque((0.0, job) for job in jobs)
        pending: dict[Future[Any], DecideJob] = {}
        ended: SimpleQueue[Future[Any]] = SimpleQueue()
        while left or pending:
            while left and left[0][0] <= time.monotonic() and len(pending) < _MOST_UNDER_WAY:
                job = left.popleft()[1]
                future = self.pool.submit(function, job)
                pending[future] = job
                future.add_done_callback(ended.put)
            with suppress(Empty):
                future = ended.get(timeout=_TICK_SECONDS)
                job = pending.pop(future)
                if not self._settle(job, future):
                    left.append((time.monotonic() + _TICK_SECONDS, job))
            self.pool.look()
            self._end_late_calls()

    def _end_late_calls(self) -> None:
        """End each process that has not even given up what is late.

        It may lock the ledger, so all of them are ended before anything is recorded.
        """
        latest = time.monotonic() - self._deadline_seconds - self.pool.grace_seconds
        for call in self.pool.calls():
            if call.began is not None and call.began < latest:
                self.pool.end(call)

    @property
    def _deadline_seconds(self) -> float:
        return self.worker.settings.decision_deadline_seconds

    def _settle(self, job: DecideJob, future: "Future[WorkResult]") -> bool:
        """Note how a job ended, and return whether its decision is made."""
        error = future.exception()
        if error is None or isinstance(error, LostProcess):
            try:
                return self._note_result(job, future.result()) if error is None else self._record_lost(job, error)
            except PredibotError as failure:
                error = failure
        if isinstance(error, LedgerError):
            raise error
        with log_context(replace(current_log_context(), bot=job.bot.name, subject=job.subject.id)):
            _log.error("%s crashed on %s", job.bot.name, job.subject.id, exc_info=error)
        self._note(job, "failed", made_here=True)
        return True

    def _record_lost(self, job: DecideJob, lost: LostProcess) -> bool:
        """Record a decision as failed whose process is lost; return False if the job is to be done again."""
        self.losses[job.key] += 1
        is_late = lost.seconds > self._deadline_seconds
        if not is_late and not lost.is_final and self.losses[job.key] == 1:
            # The process may have ended over another job.
            return False
        message = _late_message(self._deadline_seconds) if is_late else str(lost)
        worker = replace(self.worker, claimant=replace(self.worker.claimant, owner=lost.owner))
        was_claimed = give_up(job, worker, message, lost.seconds)
        if not was_claimed and self.losses[job.key] < _MOST_LOSSES:
            # The process was stopped before its claim was written, or after its decision was.
            return False
        self._note(job, "failed", made_here=True)
        return True

    def _note_result(self, job: DecideJob, result: WorkResult) -> bool:
        if result.error is not None:
            raise result.error
        if result.status == "claimed":
            self.listener(Progress("decide", len(self.made), len(self.jobs), "waiting for another process"))
            return False
        is_made_here = result.made_here
        if not is_made_here and result.status != "missed" and (self.losses[job.key] or self.pool.has_lost):
            # A process that is lost may have stored it during this call.
            about = (self.worker.run.id, job.bot_id, job.subject, self.worker.claimant.began_at)
            is_made_here = self.worker.store.run_read(lambda connection: has_ended_since(connection, *about))
        self._note(job, "skipped" if result.status == "missed" else result.status, made_here=is_made_here)
        return True

    def _note(self, job: DecideJob, status: State, *, made_here: bool) -> None:
        self.made[job.key] = made_here
        self.worker.watch(Activity(job.bot.name, job.subject.id, status if made_here else "skipped"))
        self.listener(Progress("decide", len(self.made), len(self.jobs), f"{job.bot.name} on {job.subject.id}"))


def work_in_time(job: DecideJob, worker: Worker) -> WorkResult:
    """Do a job in a thread of its own; one that hangs is left behind, its decision failed. Raises what `take` does.

    Its time counts from its claim, for which it may wait long where many claim at once. Nobody who is left behind
    claims then: that decision would be paid for, and nobody would give it up.
    """
    worker.watch(Activity(job.bot.name, job.subject.id, "running"))
    work = take(job, worker)
    if isinstance(work, WorkResult):
        return work
    worker.begin()
    seconds = worker.settings.decision_deadline_seconds
    future = start_call(work)
    if wait([future], timeout=seconds).not_done:
        was_claimed = give_up(job, worker, _late_message(seconds), seconds)
        if was_claimed or not future.done():
            return WorkResult("failed", made_here=True)
    return future.result()


def work_elsewhere(job: DecideJob, worker: Worker) -> WorkResult:
    """Do a job for another process, which may lack a strategy's exception classes: a crash is logged here."""
    try:
        return work_in_time(job, worker)
    except PredibotError as error:
        return WorkResult("failed", made_here=False, error=error)
    except BaseException as error:  # noqa: BLE001 - whatever a strategy raises is its result
        with log_context(LogContext(worker.run.key, job.bot.name, job.subject.id)):
            _log.error("%s crashed on %s: %s", job.bot.name, job.subject.id, describe_error(error))
        return WorkResult("failed", made_here=True)


def _late_message(deadline_seconds: float) -> str:
    return f"gave no answer within {deadline_seconds:g} s"
