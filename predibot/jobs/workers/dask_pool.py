"""A Dask cluster that does the work that is dispatched: of this machine for one call, or one that runs elsewhere.

Dask runs a task at least once: again where its worker is gone, also where only
the connection to it is. That is no harm, because every job claims its decision
in the ledger before anything else.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import Client, KilledWorker, LocalCluster
from distributed import Future as DaskFuture

from predibot.errors import LedgerError, LedgerUnusable, PredibotError, UsageError, words_of
from predibot.jobs.daemon_threads import ExecutorSpec
from predibot.jobs.deciding.activity import Activity
from predibot.jobs.deciding.decide_one import WorkResult
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.jobs.workers.dask_worker import DecidingPlugin, decide_there
from predibot.jobs.workers.lost import book_lost, give_up_lost, settle
from predibot.jobs.workers.process_worker import WorkerSpec
from predibot.jobs.workers.thread_pool import no_answer
from predibot.ledger.write.process_identity import is_gone, is_of_this_machine

_log = logging.getLogger(__name__)

_GRACE_SECONDS = 20.0
"""How much later than its deadline a worker may be at giving its own work up: one that stopped may lock rows first.

Where deadlines are short, so long as two of them.
"""
_CONNECT_SECONDS = 15.0
"""How long a scheduler may take to answer, where Dask's own settings do not say less."""
_END_SECONDS = 3.0
"""How long is waited for workers that are to let go of everything."""
_MOST_BROKEN = 3
"""So often one job may meet workers that cannot reach the ledger."""
_BROKEN_PAUSE_SECONDS = 1.0
_LOOK_SECONDS = 2.0
"""How often it is looked which workers there are."""
_ALONE_SECONDS = 10.0
"""After so long without any worker that is said."""
_LEAST_SILENT_SECONDS = 10.0
"""However short a lease is, a worker may be without a sign of life for so long."""
_RESTART_SECONDS = 10.0
_TAKEN_SECONDS = 5.0
"""How long after its end a task may not have been taken note of; then its result was lost on the way."""
_STALLED_SECONDS = 30.0
"""How long nothing may begin or end where there is work and nobody is at it."""


@dataclass(slots=True, eq=False)
class _DaskTask:
    """A job somebody waits for."""

    number: int
    job: DecideJob
    future: "Future[WorkResult]"
    dask: DaskFuture | None = None
    began: float | None = None
    owner: str = ""
    """Under whose name its decision was claimed last."""
    worker: str = ""
    """The address of the worker that has it."""
    broken: int = 0
    seen_ended: float | None = None
    """When it was first seen to have ended, though nobody has taken its result yet."""


@dataclass(frozen=True, slots=True)
class _Left:
    """A worker that the scheduler has lost, with what it had set aside."""

    owner: str
    holder: str
    at: float


class DaskPool:
    """A `Pool` of the workers of a Dask cluster, which come and go as they like."""

    def __init__(
        self, spec: WorkerSpec, worker: Worker, executor: ExecutorSpec, environment: Mapping[str, str]
    ) -> None:
        """Start a cluster, or reach one.

        Args:
            spec: What every worker is told.
            worker: What this process records with, for one that died.
            executor: Which cluster.
            environment: Of workers that are started here, beside this process's own.

        Raises:
            UsageError: If no scheduler answers at the address.
        """
        self._worker = worker
        self._deadline_seconds = worker.settings.decision_deadline_seconds
        self._lease_seconds = worker.claimant.lease / timedelta(seconds=1)
        self._call = spec.asked_by.owner
        self._lock = threading.RLock()
        self._tasks: dict[int, _DaskTask] = {}
        self._later: list[tuple[float, _DaskTask]] = []
        self._numbers = 0
        self._owners: dict[str, tuple[str, str]] = {}
        """By the address of a worker: the name it claims under, and the one it sets amounts aside under."""
        self._ever: dict[str, None] = {}
        self._left: list[_Left] = []
        self._broken: PredibotError | None = None
        self._closed = False
        self._moved = self._had_workers = time.monotonic()
        self._looked = -_LOOK_SECONDS
        self._signs: dict[str, tuple[float, float]] = {}
        """By the address of a worker: its last sign of life by the scheduler's clock, and when we heard of that one."""
        self._restarted: set[str] = set()
        self._has_lost = False
        """Whether a worker may have ended a job, and another finds it decided."""
        self._is_alone = False
        with ExitStack() as closing:
            closing.enter_context(_silence())
            # See `_stop_profiling` of the worker.
            closing.enter_context(dask.config.set({"distributed.worker.profile.enabled": False}))
            self._client = _client(executor, worker.settings.workers, environment, closing)
            self._client.subscribe_topic(self._call, self._heard)
            self._client.subscribe_topic("all", self._cluster_changed)
            self._client.register_plugin(DecidingPlugin(spec, is_local=not executor.scheduler))
            self._closing = closing.pop_all()

    def submit(self, job: DecideJob) -> "Future[WorkResult]":
        """Return the future of a job, for whichever worker the scheduler chooses."""
        with self._lock:
            self._numbers += 1
            task = self._tasks[self._numbers] = _DaskTask(self._numbers, job, Future())
            self._hand_out(task)
        return task.future

    def look(self) -> None:
        """Record what no worker gave up itself, book for those that are gone, and hand out what was to wait."""
        if self._broken is not None:
            raise self._broken
        if self._client.status not in ("running", "connecting"):
            raise self._gone()
        # Before the lock is taken: the answer comes by the thread that waits for it, too.
        self._look_at_workers()
        self._book_the_left()
        now = time.monotonic()
        is_stalled = now - self._moved > _STALLED_SECONDS and bool(self._signs)
        with self._lock:
            due = [task for at, task in self._later if at <= now]
            self._later = [(at, task) for at, task in self._later if at > now]
            for task in (*due, *self._lost_on_the_way(now, is_stalled=is_stalled)):
                self._hand_out(task)
            latest = now - self._deadline_seconds - min(_GRACE_SECONDS, 2 * self._deadline_seconds)
            late = [
                (task, self._lasted(task))
                for task in self._tasks.values()
                if task.began is not None and task.began < latest
            ]
        # A process that does not even give up its own work does no other either. It may hold the lock of the ledger:
        # so it is ended before anything is written, and what it had is not handed to another meanwhile.
        for task, _ in late:
            if task.dask is not None:
                task.dask.release()
            self._restart(task.worker)
        for task, seconds in late:
            self._record_lost(task, no_answer(self._deadline_seconds), seconds)

    def owners(self) -> Sequence[str]:
        """Return this process and all that ever claimed for it."""
        return (self._worker.claimant.owner, *self._ever)

    def close(self) -> None:
        """Have every worker book what is under way and give its claims back, and leave the cluster."""
        with self._lock:
            self._closed = True
            waiting = [task.dask for task in self._tasks.values() if task.dask is not None]
        # What a worker of this machine is in while it starts anew is cancelled, which no Exception says.
        with suppress(Exception, asyncio.CancelledError):
            if waiting:
                self._client.cancel(waiting, asynchronous=False, force=True)
            self._client.sync(self._client._unregister_worker_plugin, name=self._call, callback_timeout=_END_SECONDS)
        with suppress(Exception, asyncio.CancelledError):
            self._closing.close()

    def _hand_out(self, task: _DaskTask) -> None:
        task.began, task.seen_ended = None, None
        key = (f"{self._call}/decide", task.number, self._numbers)
        self._numbers += 1
        task.dask = self._client.submit(decide_there, self._call, task.number, task.job, key=key, pure=False)
        task.dask.add_done_callback(lambda ended: self._ended(task, ended))

    def _ended(self, task: _DaskTask, ended: DaskFuture) -> None:
        """Take how a task ended; in a thread of Dask's."""
        if self._closed or task.number not in self._tasks:
            return
        error = ended.exception() if ended.status == "error" else None
        if isinstance(error, KilledWorker):
            self._record_lost(task, f"its worker ended, {error.allowed_failures + 1} times", self._lasted(task))
        elif error is not None:
            self._fail(task, PredibotError(f"the cluster could not do a job: {words_of(error)}"))
        elif ended.status == "finished":
            self._take(task, ended.result())
        # Else its result went with its worker, and it comes again or is found to be lost.

    def _lost_on_the_way(self, now: float, *, is_stalled: bool) -> list[_DaskTask]:
        """Return the tasks to hand out again, because nobody will say what became of them; a call inside the lock.

        A worker may be killed between the end of a task and the moment its result is fetched, and the cluster may
        forget one. To do a job twice is no harm.
        """
        waiting = {task.number for _, task in self._later}
        out = [task for task in self._tasks.values() if task.dask is not None and task.number not in waiting]
        for task in out:
            if task.dask is not None and task.dask.status == "pending":
                task.seen_ended = None
            elif task.seen_ended is None:
                task.seen_ended = now
        lost = [task for task in out if task.seen_ended is not None and now - task.seen_ended > _TAKEN_SECONDS]
        if is_stalled and not any(task.began for task in out):
            lost = out
        if lost:
            self._moved, self._has_lost = now, True
            _log.warning("what became of %d jobs was lost on the way; they are handed out again", len(lost))
        return lost

    def _take(self, task: _DaskTask, answer: WorkResult | PredibotError) -> None:
        if isinstance(answer, WorkResult):
            self._settle(task, answer)
            return
        task.broken += 1
        if isinstance(answer, LedgerError) and task.broken < _MOST_BROKEN:
            _log.warning("a worker cannot begin: %s", answer)
            with self._lock:
                self._later.append((time.monotonic() + _BROKEN_PAUSE_SECONDS, task))
        else:
            self._broken = answer

    def _settle(self, task: _DaskTask, result: WorkResult) -> None:
        with self._lock:
            if self._tasks.pop(task.number, None) is None:
                return
            self._moved = time.monotonic()
        settle(task.future, result, self._worker, was_lost=self._has_lost)

    def _fail(self, task: _DaskTask, error: PredibotError) -> None:
        self._settle(task, WorkResult(task.job, "failed", made_here=False, error=error))

    @staticmethod
    def _lasted(task: _DaskTask) -> float:
        return 0.0 if task.began is None else time.monotonic() - task.began

    def _record_lost(self, task: _DaskTask, message: str, seconds: float) -> None:
        try:
            was_claimed = give_up_lost(task.job, self._worker, task.owner, message, seconds)
        except PredibotError as error:
            self._fail(task, error)
            return
        task.broken += not was_claimed
        if was_claimed or task.broken >= _MOST_BROKEN:
            self._settle(task, WorkResult(task.job, "failed", made_here=True))
            return
        # Its worker was stopped before the claim was written, or after the end was.
        with self._lock:
            self._has_lost = True
            self._hand_out(task)

    def _heard(self, event: tuple[float, Any]) -> None:
        """Take what a worker reports; in the thread of Dask's loop."""
        message = event[1]
        if "activity" in message:
            self._worker.watch(Activity(**message["activity"]))
        elif "logged" in message:
            logging.getLogger(message["logged"]).log(message["level"], "%s", message["text"])
        else:
            owner, holder, address = message["owner"], message["holder"], message["worker"]
            with self._lock:
                self._moved = time.monotonic()
                self._owners[address] = owner, holder
                self._ever[owner] = None
                if task := self._tasks.get(message["began"]):
                    task.began, task.owner, task.worker = time.monotonic(), owner, address

    def _cluster_changed(self, event: tuple[float, Any]) -> None:
        message = event[1]
        if not isinstance(message, dict) or message.get("action") != "remove-worker":
            return
        with self._lock:
            self._has_lost = True
            # Its nanny may start another at the same address.
            self._restarted.discard(message["worker"])
            self._signs.pop(message["worker"], None)
            owner, holder = self._owners.pop(message["worker"], ("", ""))
            if owner:
                self._left.append(_Left(owner, holder, time.monotonic()))
            for task in self._tasks.values():
                if task.worker == message["worker"]:
                    # It is handed to another, and begins anew there.
                    task.began, task.worker = None, ""

    def _book_the_left(self) -> None:
        """Book what workers had under way that are gone.

        Of another machine it is not known whether one is gone, or only out of reach, and one of this machine may be
        stopped; by the end of a lease it has ended itself, or was started anew, or has lost its claims.
        """
        for each in list(self._left):
            is_known = is_of_this_machine(each.owner) and is_gone(each.owner)
            if not is_known and time.monotonic() - each.at <= self._lease_seconds:
                continue
            if book_lost(self._worker, each.holder, "worker"):
                self._left.remove(each)

    def _look_at_workers(self) -> None:
        """End workers that give no sign of life for a lease, and do not wait for ever where there is none.

        Raises:
            LedgerUnusable: If the scheduler is gone.
            UsageError: If there is no worker for too long.
        """
        now = time.monotonic()
        if now - self._looked < _LOOK_SECONDS:
            return
        self._looked = now
        seen = self._last_signs()
        with self._lock:
            known = self._signs
            self._signs = {
                address: known[address] if known.get(address, (None,))[0] == sign else (sign, now)
                for address, sign in seen.items()
            }
            longest = max(self._lease_seconds, _LEAST_SILENT_SECONDS)
            silent = [address for address, (_, at) in self._signs.items() if now - at > longest]
        for address in silent:
            self._restart(address)
        self._require_workers(now)

    def _last_signs(self) -> Mapping[str, float]:
        """Return when the scheduler last heard of each worker; of none where it does not answer in time.

        Raises:
            LedgerUnusable: If it is gone.
        """
        try:
            asked = self._client.scheduler.identity(n_workers=-1)
            told = self._client.sync(lambda: asked, callback_timeout=_CONNECT_SECONDS)
        except TimeoutError:
            return {}
        except OSError as error:
            raise self._gone() from error
        return {address: about["last_seen"] for address, about in told["workers"].items()}

    def _require_workers(self, now: float) -> None:
        if self._signs:
            self._had_workers, self._is_alone = now, False
            return
        patience_seconds = self._worker.settings.worker_wait_seconds
        if now - self._had_workers > patience_seconds:
            raise UsageError(
                f"the Dask scheduler had no worker for {patience_seconds:g} s (PREDIBOT_WORKER_WAIT_SECONDS). What is "
                "recorded stays; start one with `dask worker ADDRESS` and run the same command again"
            )
        if now - self._had_workers > _ALONE_SECONDS and not self._is_alone:
            self._is_alone = True
            _log.warning(
                "the Dask scheduler has no worker yet; start one with `dask worker ADDRESS`. In %g s this ends",
                round(patience_seconds - (now - self._had_workers)),
            )

    def _gone(self) -> LedgerUnusable:
        said = f"the Dask scheduler is gone ({self._client.status}). What is recorded stays"
        return LedgerUnusable(f"{said}; run the same command again once it is back")

    def _restart(self, address: str) -> None:
        """Have a worker that hangs started anew by its nanny; without one that answers, the scheduler leaves it out."""
        with self._lock:
            if not address or address in self._restarted:
                return
            self._restarted.add(address)
        self._client.loop.add_callback(self._restarted_there, address)

    async def _restarted_there(self, address: str) -> None:
        try:
            # `Client.restart_workers` refuses workers without a nanny, and waits for the new ones.
            came_to = await self._client.scheduler.restart_workers(
                workers=[address],
                timeout=_RESTART_SECONDS,
                wait_for_workers=False,
                on_error="return",
                stimulus_id=f"{self._call}-hangs-{address}",
            )
        except OSError as error:
            _log.warning("worker %s hangs, and the scheduler could not end it: %s", address, words_of(error))
            with self._lock:
                self._restarted.discard(address)
            return
        if address in came_to:
            is_new = came_to[address] == "OK"
            _log.warning("worker %s hangs; it is %s", address, "started anew" if is_new else "left out from now on")


@contextmanager
def _silence() -> Iterator[None]:
    """Keep what Dask logs to itself: what of it concerns a user is said here in our own words."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _client(executor: ExecutorSpec, threads: int, environment: Mapping[str, str], closing: ExitStack) -> Client:
    """Return a connection to a cluster, which is closed at the end together with what was started for it."""
    patience_seconds = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    given: dict[str, Any] = {"set_as_default": False, "timeout": min(_CONNECT_SECONDS, patience_seconds)}
    if not executor.scheduler:
        cluster = LocalCluster(
            n_workers=executor.count,
            threads_per_worker=threads,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            # Agents mostly wait; one that is killed for the memory of all of them would be paid twice.
            memory_limit=0,
            silence_logs=logging.CRITICAL + 1,
            env=dict(environment),
        )
        closing.callback(cluster.close, timeout=_END_SECONDS)
        client = Client(cluster, **given)
    else:
        try:
            client = Client(executor.scheduler, **given)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise UsageError(
                f"no Dask scheduler can be reached at {executor.scheduler}: {words_of(error)}. Start one with "
                "`dask scheduler`, or write dask:local:4"
            ) from error
    closing.callback(client.close, timeout=_END_SECONDS)
    return client
