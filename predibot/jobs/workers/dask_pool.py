"""A pool on a Dask cluster: one that is started on this machine for one call, or one that runs elsewhere.

Dask runs a task at least once: again if its worker is gone, even if only the connection to it is. That does no harm,
because every job claims its decision in the ledger first.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import timedelta
from typing import Any

import dask
from dask.utils import parse_timedelta
from distributed import Client, KilledWorker, LocalCluster
from distributed import Future as DaskFuture

from predibot.errors import LedgerError, LedgerUnusable, PredibotError, UsageError, describe_error
from predibot.jobs.deciding.activity import Activity
from predibot.jobs.deciding.worker import Worker
from predibot.jobs.workers.dask_worker import DecidingPlugin, call_there
from predibot.jobs.workers.executor import ExecutorSpec
from predibot.jobs.workers.pool import LostProcess, Pool, PoolCall
from predibot.jobs.workers.process_pool import WorkerSpec
from predibot.ledger.write.process_identity import is_gone, is_of_this_machine

_log = logging.getLogger(__name__)

_GRACE_SECONDS = 20.0
"""A worker that stopped may lock rows before it gives up its own work; with short deadlines, two of them instead."""
_CONNECT_SECONDS = 15.0
"""How long a scheduler may take to answer, unless Dask's own settings say less."""
_END_SECONDS = 3.0
"""How long workers have to let go of everything."""
_MOST_BROKEN = 3
"""Workers that one call may meet unable to reach the ledger."""
_BROKEN_PAUSE_SECONDS = 1.0
_LOOK_SECONDS = 2.0
"""Pause between two looks at the list of workers."""
_ALONE_SECONDS = 10.0
"""Time without any worker after which a warning is logged."""
_LEAST_SILENT_SECONDS = 10.0
"""A worker may be silent for this long, however short a lease is."""
_RESTART_SECONDS = 10.0
_TAKEN_SECONDS = 5.0
"""Time after the end of a task by which its result has come, or was lost on the way."""
_STALLED_SECONDS = 30.0
"""If no call began or ended for this long, calls that no worker has are handed out again."""


class _DaskCall(PoolCall):
    dask: DaskFuture | None = None
    """None while it waits for another try."""
    worker = ""
    """The address of the worker that has it."""
    retry_at = 0.0
    """When it is handed out again, by the monotonic clock."""
    broken = 0
    """How many workers could not begin it."""
    seen_ended: float | None = None
    """When its task was first seen to have ended, though the result has not come."""


class DaskPool(Pool):
    """A `Pool` of the workers of a Dask cluster, which come and go as they like."""

    def __init__(
        self, spec: WorkerSpec, worker: Worker, executor: ExecutorSpec, environment: Mapping[str, str]
    ) -> None:
        """Connect to a cluster or start one, with more variables for workers.

        Raises `UsageError` if no scheduler answers.
        """
        super().__init__(worker)
        self.grace_seconds = min(_GRACE_SECONDS, 2 * worker.settings.decision_deadline_seconds)
        self._lease_seconds = worker.claimant.lease / timedelta(seconds=1)
        self._name = spec.asked_by.owner
        self._calls: dict[int, _DaskCall] = {}
        self._owners: dict[str, tuple[str, str]] = {}
        """By the address of a worker: the names under which it claims, and under which it reserves amounts."""
        self._lost_at: dict[tuple[str, str], float] = {}
        """By the same two names: when a worker was lost whose amounts are not booked yet."""
        self._moved = self._had_workers = time.monotonic()
        self._looked = -_LOOK_SECONDS
        self._signs: dict[str, tuple[float, float]] = {}
        """By the address of a worker: its last sign of life by the scheduler's clock, and when we heard of that one."""
        self._restarted: set[str] = set()
        self._is_alone = False
        with ExitStack() as closing:
            closing.enter_context(_silence())
            # See `DecidingPlugin.setup`.
            closing.enter_context(dask.config.set({"distributed.worker.profile.enabled": False}))
            self._client = _client(executor, worker.settings.workers, environment, closing)
            self._client.subscribe_topic(self._name, self._receive)
            self._client.subscribe_topic("all", self._cluster_changed)
            self._client.register_plugin(DecidingPlugin(spec, is_local=not executor.scheduler))
            self._closing = closing.pop_all()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> PoolCall:
        """Return the future of a call, for whichever worker the scheduler chooses."""
        with self._lock:
            call = _DaskCall(next(self._numbers), fn, args)
            self._calls[call.number] = call
            self._hand_out(call)
        return call

    def calls(self) -> Sequence[PoolCall]:
        """Return the calls that are not done."""
        with self._lock:
            return list(self._calls.values())

    def look(self) -> None:
        """Restart workers that hang, book for those that are gone, and hand out calls that were to wait or got lost."""
        super().look()
        if self._client.status not in ("running", "connecting"):
            raise self._scheduler_gone()
        # Without the lock: the thread that brings the answer takes it, too.
        self._look_at_workers()
        self._book_lost_workers()
        now = time.monotonic()
        is_stalled = now - self._moved > _STALLED_SECONDS and bool(self._signs)
        with self._lock:
            due = [call for call in self._calls.values() if call.dask is None and call.retry_at <= now]
            for call in (*due, *self._calls_without_result(now, is_stalled=is_stalled)):
                self._hand_out(call)

    def end(self, call: PoolCall) -> None:
        """Have the worker restarted; what it had begun is lost."""
        with self._lock:
            ended = self._calls.get(call.number)
            if ended is None:
                return
            self._restart(ended.worker)
            self._lose(ended, "its worker hung")

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Have every worker book what is under way and give its claims back, and leave the cluster."""
        with self._lock:
            self._closed = True
            tasks = [call.dask for call in self._calls.values() if call.dask is not None]
        # A worker of this machine that is just starting is cancelled, and CancelledError is no Exception.
        with suppress(Exception, asyncio.CancelledError):
            if tasks:
                self._client.cancel(tasks, asynchronous=False, force=True)
            self._client.sync(self._client._unregister_worker_plugin, name=self._name, callback_timeout=_END_SECONDS)
        with suppress(Exception, asyncio.CancelledError):
            self._closing.close()

    def _hand_out(self, call: _DaskCall) -> None:
        call.began, call.seen_ended = None, None
        key = (f"{self._name}/decide", call.number, next(self._numbers))
        task = self._client.submit(
            call_there, self._name, call.number, call.function, call.arguments, key=key, pure=False
        )
        call.dask = task
        task.add_done_callback(lambda ended: self._handle_end(call, ended))

    def _handle_end(self, call: _DaskCall, ended: DaskFuture) -> None:
        """Take the end of a task; in a thread of Dask's."""
        if self._closed or call.number not in self._calls:
            return
        error = ended.exception() if ended.status == "error" else None
        if isinstance(error, KilledWorker):
            self._lose(call, f"its worker ended, {error.allowed_failures + 1} times")
        elif error is not None:
            if self._pop(call):
                call.set_exception(PredibotError(f"the cluster could not do a job: {describe_error(error)}"))
        elif ended.status == "finished":
            self._take(call, ended.result())
        # Otherwise its worker took the result with it: the task is run again, or found to be lost.

    def _calls_without_result(self, now: float, *, is_stalled: bool) -> list[_DaskCall]:
        """Return the calls to hand out again because no result will come; needs the lock.

        A worker may be killed between the end of a task and the fetch of its result, and the cluster may forget a
        task. To do a job twice does no harm.
        """
        out: list[_DaskCall] = []
        lost: list[_DaskCall] = []
        for call in self._calls.values():
            if call.dask is None:
                continue
            out.append(call)
            if call.dask.status == "pending":
                call.seen_ended = None
            elif call.seen_ended is None:
                call.seen_ended = now
            elif now - call.seen_ended > _TAKEN_SECONDS:
                lost.append(call)
        if is_stalled and not any(call.began for call in out):
            lost = out
        if lost:
            self._moved, self.has_lost = now, True
            _log.warning("what became of %d jobs was lost on the way; they are handed out again", len(lost))
        return lost

    def _take(self, call: _DaskCall, result: Any) -> None:
        """Take what a worker returned: a result, or the error for which it could not begin."""
        if not isinstance(result, PredibotError):
            if self._pop(call):
                call.set_result(result)
            return
        call.broken += 1
        if isinstance(result, LedgerError) and call.broken < _MOST_BROKEN:
            _log.warning("a worker cannot begin: %s", result)
            with self._lock:
                call.dask, call.retry_at = None, time.monotonic() + _BROKEN_PAUSE_SECONDS
        else:
            self._broken = result

    def _pop(self, call: _DaskCall) -> bool:
        """Return whether a call was still waited for; it no longer is."""
        with self._lock:
            self._moved = time.monotonic()
            return self._calls.pop(call.number, None) is not None

    def _lose(self, call: _DaskCall, message: str) -> None:
        if self._pop(call):
            if call.dask is not None:
                call.dask.release()
            seconds = 0.0 if call.began is None else time.monotonic() - call.began
            call.set_exception(LostProcess(message, seconds=seconds, owner=call.owner, is_final=True))

    def _receive(self, event: tuple[float, Any]) -> None:
        """Take a report of a worker; in the thread of Dask's loop."""
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
                self._other_owners[owner] = None
                if call := self._calls.get(message["began"]):
                    call.began, call.owner, call.worker = time.monotonic(), owner, address

    def _cluster_changed(self, event: tuple[float, Any]) -> None:
        message = event[1]
        if not isinstance(message, dict) or message.get("action") != "remove-worker":
            return
        with self._lock:
            self.has_lost = True
            # Its nanny may start another at the same address.
            self._restarted.discard(message["worker"])
            self._signs.pop(message["worker"], None)
            if (names := self._owners.pop(message["worker"], None)) is not None:
                self._lost_at[names] = time.monotonic()
            for call in self._calls.values():
                if call.worker == message["worker"]:
                    # Dask hands it to another worker, where it begins anew.
                    call.began, call.worker = None, ""

    def _book_lost_workers(self) -> None:
        """Book what lost workers had reserved.

        A lost worker of another machine may only be out of reach, and one of this machine may be stopped. By the end
        of a lease it has ended, or was restarted, or has lost its claims.
        """
        for (owner, holder), lost_at in list(self._lost_at.items()):
            is_surely_gone = is_of_this_machine(owner) and is_gone(owner)
            is_due = is_surely_gone or time.monotonic() - lost_at > self._lease_seconds
            if is_due and self._book_lost(holder, "worker"):
                del self._lost_at[owner, holder]

    def _look_at_workers(self) -> None:
        """Restart workers that give no sign of life for a lease; raise an error if there is none for too long."""
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
        """Return when the scheduler last heard of each worker; empty if it does not answer in time."""
        try:
            request = self._client.scheduler.identity(n_workers=-1)
            identity = self._client.sync(lambda: request, callback_timeout=_CONNECT_SECONDS)
        except TimeoutError:
            return {}
        except OSError as error:
            raise self._scheduler_gone() from error
        return {address: worker["last_seen"] for address, worker in identity["workers"].items()}

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

    def _scheduler_gone(self) -> LedgerUnusable:
        return LedgerUnusable(
            f"the Dask scheduler is gone ({self._client.status}). What is recorded stays; run the same command again "
            "once it is back"
        )

    def _restart(self, address: str) -> None:
        """Have the nanny of a worker that hangs restart it; without an answer, the scheduler leaves the worker out."""
        with self._lock:
            if not address or address in self._restarted:
                return
            self._restarted.add(address)
        self._client.loop.add_callback(self._request_restart, address)

    async def _request_restart(self, address: str) -> None:
        try:
            # `Client.restart_workers` refuses workers without a nanny, and waits for the new ones.
            outcomes = await self._client.scheduler.restart_workers(
                workers=[address],
                timeout=_RESTART_SECONDS,
                wait_for_workers=False,
                on_error="return",
                stimulus_id=f"{self._name}-hangs-{address}",
            )
        except OSError as error:
            _log.warning("worker %s hangs, and the scheduler could not end it: %s", address, describe_error(error))
            with self._lock:
                self._restarted.discard(address)
            return
        if address in outcomes:
            is_new = outcomes[address] == "OK"
            _log.warning("worker %s hangs; it is %s", address, "started anew" if is_new else "left out from now on")


@contextmanager
def _silence() -> Iterator[None]:
    """Silence Dask's log: our own messages say what concerns a user."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _client(executor: ExecutorSpec, threads: int, environment: Mapping[str, str], closing: ExitStack) -> Client:
    """Return a connection to a cluster; the stack closes it, and what was started for it."""
    patience_seconds = parse_timedelta(dask.config.get("distributed.comm.timeouts.connect"))
    options: dict[str, Any] = {"set_as_default": False, "timeout": min(_CONNECT_SECONDS, patience_seconds)}
    if not executor.scheduler:
        cluster = LocalCluster(
            n_workers=executor.count,
            threads_per_worker=threads,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            # Agents mostly wait. If a worker were killed for its memory, its agents would be paid twice.
            memory_limit=0,
            silence_logs=logging.CRITICAL + 1,
            env=dict(environment),
        )
        closing.callback(cluster.close, timeout=_END_SECONDS)
        client = Client(cluster, **options)
    else:
        try:
            client = Client(executor.scheduler, **options)
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise UsageError(
                f"no Dask scheduler can be reached at {executor.scheduler}: {describe_error(error)}. Start one with "
                "`dask scheduler`, or write dask:local:4"
            ) from error
    closing.callback(client.close, timeout=_END_SECONDS)
    return client
