"""Dispatch: one call's way through its work, on any pool."""

import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field, replace

from predibot.contracts import Progress, ProgressListener
from predibot.errors import LedgerError
from predibot.jobs.deciding.activity import Activity, State, Watch
from predibot.jobs.deciding.decide_one import WorkResult
from predibot.jobs.deciding.worker import DecideJob, JobKey
from predibot.jobs.logs.about import about_now, logged_about
from predibot.jobs.workers.thread_pool import Pool

_log = logging.getLogger(__name__)

_TICK_SECONDS = 0.2
"""How often it is looked after the pool, and claims of others are asked for again."""

_MOST_UNDER_WAY = 300
"""More than pools have threads: all that are handed out are looked at whenever one ends."""


@dataclass
class Dispatch:
    """What is under way, what waits for others, what is done."""

    pool: Pool
    jobs: Sequence[DecideJob]
    listener: ProgressListener
    watch: Watch
    made: dict[JobKey, bool] = field(default_factory=dict)

    def run(self) -> Mapping[JobKey, bool]:
        """Return for each bot and subject whether this call made its decision."""
        try:
            # What pools the decisions of others comes after them.
            for phase in (False, True):
                self._run_phase([job for job in self.jobs if bool(job.bot.members) is phase])
        finally:
            self.pool.close()
        return self.made

    def _run_phase(self, jobs: Sequence[DecideJob]) -> None:
        # What somebody else is at is asked for again later, until it is done or its owner is gone.
        left = deque((0.0, job) for job in jobs)
        pending: dict[Future[WorkResult], DecideJob] = {}
        while left or pending:
            while left and left[0][0] <= time.monotonic() and len(pending) < _MOST_UNDER_WAY:
                job = left.popleft()[1]
                pending[self.pool.submit(job)] = job
            if not pending:
                time.sleep(_TICK_SECONDS)
            done, _ = wait(pending, timeout=_TICK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                job = pending.pop(future)
                if not self._settled(job, future):
                    left.append((time.monotonic() + _TICK_SECONDS, job))
            self.pool.look()

    def _settled(self, job: DecideJob, future: "Future[WorkResult]") -> bool:
        """Take note of how a future ended, and return whether its decision is made."""
        error = future.exception()
        if isinstance(error, LedgerError):
            raise error
        if error is not None:
            with logged_about(replace(about_now(), bot=job.bot.name, subject=job.subject.id)):
                _log.error("%s crashed on %s", job.bot.name, job.subject.id, exc_info=error)
            self._note(job, "failed", made_here=True)
            return True
        result = future.result()
        if result.status == "claimed":
            self.listener(Progress("decide", len(self.made), len(self.jobs), "waiting for another process"))
            return False
        status = "skipped" if result.status == "missed" else result.status
        self._note(job, status, made_here=result.made_here)
        return True

    def _note(self, job: DecideJob, status: State, *, made_here: bool) -> None:
        self.made[job.key] = made_here
        self.watch(Activity(job.bot.name, job.subject.id, status if made_here else "skipped"))
        self.listener(Progress("decide", len(self.made), len(self.jobs), f"{job.bot.name} on {job.subject.id}"))
