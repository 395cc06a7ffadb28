"""A worker of a Dask cluster: opens everything for itself when its first job comes, does jobs, and reports."""

import asyncio
import logging
import signal
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from distributed import Worker as DaskWorker
from distributed import WorkerPlugin, get_worker

from predibot.errors import LedgerError, PluginError, PredibotError, UsageError
from predibot.jobs.deciding.activity import Activity
from predibot.jobs.deciding.decide_one import WorkResult
from predibot.jobs.deciding.worker import DecideJob, Worker
from predibot.jobs.workers.process_worker import WorkerSpec
from predibot.jobs.workers.thread_pool import work_elsewhere
from predibot.ledger.write.claims import release
from predibot.ledger.write.process_identity import helper_owner, is_same_kernel, new_owner
from predibot.plugins.strategies import spec_of
from predibot.recipe.recipe import BotSpec

_IDLE_SECONDS = 60.0
"""After so long without a job everything is closed: who ordered it may be gone, and cannot say so."""
_LOGGER = "predibot"


@dataclass(slots=True)
class _Opened:
    """What a process works with while there are jobs."""

    worker: Worker
    closing: ExitStack
    under_way: int = 0
    used: float = field(default_factory=time.monotonic)


class DecidingPlugin(WorkerPlugin):  # type: ignore[misc]
    """What a worker process of the cluster knows of one call; the scheduler hands it to those that come later too."""

    def __init__(self, spec: WorkerSpec, *, is_local: bool) -> None:
        """Open nothing yet.

        Args:
            spec: What is the same for all jobs of a call; no key and no password is in it.
            is_local: Whether the workers were started by the call itself, and end with it.
        """
        self._spec, self._is_local = spec, is_local
        self.name = spec.asked_by.owner

    def setup(self, worker: DaskWorker) -> None:
        """Take note of the process this runs in; called by Dask."""
        self._dask = worker
        self._lock = threading.Lock()
        self._opened: _Opened | None = None
        self._has_ended = False
        if self._is_local:
            # Ctrl-C reaches every process of the terminal; the first one decides what follows.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        _stop_profiling(worker)
        self._forwarded = _Forwarded(self)
        logging.getLogger(_LOGGER).addHandler(self._forwarded)

    async def teardown(self, worker: DaskWorker) -> None:
        """Book what is under way and give the claims back; called by Dask when the call ends, or the worker does."""
        self._has_ended = True
        logging.getLogger(_LOGGER).removeHandler(self._forwarded)
        await asyncio.to_thread(self._end)

    def done(self, number: int, job: DecideJob) -> WorkResult | PredibotError:
        """Do a job, within its deadline; return why it cannot be begun where it cannot."""
        try:
            opened = self._in_use()
        except PredibotError as error:
            return error
        try:
            owner = opened.worker.claimant.owner
            self._report(
                {"began": number, "owner": owner, "holder": opened.worker.holder, "worker": self._dask.address}
            )
            return work_elsewhere(job, opened.worker)
        finally:
            with self._lock:
                opened.under_way -= 1
                opened.used = time.monotonic()

    def log(self, record: logging.LogRecord, text: str) -> None:
        """Send a line of the log to who ordered the work."""
        self._report({"logged": record.name, "level": record.levelno, "text": text})

    def _in_use(self) -> _Opened:
        """Return what the process works with, opened where it is not.

        Raises:
            PredibotError: If it cannot be opened, or the strategies here are others.
        """
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            self._opened.under_way += 1
            return self._opened

    def _open(self) -> _Opened:
        spec = self._spec
        # Processes of one machine may share a file, and no others.
        if spec.ledger.startswith("sqlite") and not is_same_kernel(self.name):
            raise UsageError(
                f"worker {self._dask.address} runs on another machine, and the ledger is a SQLite file, which only "
                "one machine can write. Take PostgreSQL with --ledger postgresql://..., or workers of this machine"
            )
        _check_strategies(spec.recipe.bots)
        holder = helper_owner(self.name, new_owner().replace("/", "_"))
        with ExitStack() as closing:
            worker = spec.open(closing, holder=holder, watch=self._watched)
            opened = _Opened(worker, closing.pop_all())
        threading.Thread(target=self._close_when_idle, name="predibot-idle", daemon=True).start()
        return opened

    def _close_when_idle(self) -> None:
        while not self._has_ended:
            time.sleep(_IDLE_SECONDS / 4)
            with self._lock:
                opened = self._opened
                if opened is None or opened.under_way or time.monotonic() - opened.used < _IDLE_SECONDS:
                    continue
                self._opened = None
            opened.closing.close()
            return

    def _end(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is None:
            return
        worker = opened.worker
        with opened.closing, suppress(LedgerError):
            # Booked first: what is claimed is free for others at once.
            if worker.agents is not None:
                worker.agents.write_off()
            worker.store.run_write(lambda connection: release(connection, worker.claimant.owner, now=worker.clock()))

    def _watched(self, activity: Activity) -> None:
        self._report({"activity": asdict(activity)})

    def _report(self, message: dict[str, Any]) -> None:
        # Nobody hears it where the scheduler is gone.
        with suppress(Exception):
            self._dask.log_event(self.name, message)


def decide_there(call: str, number: int, job: DecideJob) -> WorkResult | PredibotError:
    """Return what became of a job; the body of a Dask task, which may run more than once."""
    plugin: DecidingPlugin = get_worker().plugins[call]
    return plugin.done(number, job)


def _check_strategies(bots: tuple[BotSpec, ...]) -> None:
    """Refuse a worker that would decide with other code than the run's.

    Raises:
        PluginError: If a strategy is missing here, or its file is another one.
    """
    for bot in bots:
        here = spec_of(bot.strategy.name, bot.strategy.arguments)
        if here.source_sha256 != bot.strategy.source_sha256:
            raise PluginError(
                f"strategy {bot.strategy.name!r} of bot {bot.name!r} is another on worker "
                f"{get_worker().address} than where decide was called. Install the same version there"
            )


def _stop_profiling(worker: DaskWorker) -> None:
    """Have a worker look at its threads no more: in CPython 3.11 that may lock all of them for ever (gh-106883)."""
    for name in ("profile", "profile-cycle"):
        if (looking := worker.periodic_callbacks.get(name)) is not None:
            looking.stop()


class _Forwarded(logging.Handler):
    """Sends warnings to the process that ordered the work."""

    def __init__(self, plugin: DecidingPlugin) -> None:
        super().__init__(logging.WARNING)
        self._plugin = plugin

    def emit(self, record: logging.LogRecord) -> None:
        """Send one record as text."""
        self._plugin.log(record, self.format(record))
