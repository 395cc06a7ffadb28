"""A worker of a Dask cluster: opens everything for itself at its first call, makes calls, and reports."""

import asyncio
import logging
import signal
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from distributed import Worker as DaskWorker
from distributed import WorkerPlugin, get_worker

from predibot.errors import LedgerError, LedgerUnusable, PluginError, PredibotError, UsageError
from predibot.jobs.deciding.worker import Worker
from predibot.jobs.workers.process_pool import WorkerSpec
from predibot.ledger.write.claims import release_claims
from predibot.ledger.write.process_identity import helper_owner, is_same_kernel, new_owner
from predibot.plugins.strategies import spec_of
from predibot.recipe.recipe import BotSpec

_IDLE_SECONDS = 60.0
"""Time without a call after which everything is closed: the process that ordered the work may be gone."""
_LOGGER = "predibot"


class DecidingPlugin(WorkerPlugin):  # type: ignore[misc]
    """What a worker process knows of one `decide`; the scheduler also hands it to workers that come later."""

    def __init__(self, spec: WorkerSpec, *, is_local: bool) -> None:
        """Open nothing yet; local workers were started for this `decide`. The spec holds no key and no password."""
        self._spec, self._is_local = spec, is_local
        self.name = spec.asked_by.owner

    def setup(self, worker: DaskWorker) -> None:
        """Prepare the process; called by Dask."""
        self._dask = worker
        self._lock = threading.Lock()
        self._worker: Worker | None = None
        self._under_way = 0
        """Calls that the worker makes at this moment."""
        self._used = 0.0
        """When the last call ended, by the monotonic clock."""
        self._has_ended = False
        if self._is_local:
            # Ctrl-C reaches every process of the terminal; the one that ordered the work decides what follows.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        # The profiler of a worker may lock all threads for ever in CPython 3.11 (gh-106883).
        for name in ("profile", "profile-cycle"):
            if (callback := worker.periodic_callbacks.get(name)) is not None:
                callback.stop()
        self._log_handler = _LogHandler(self._report)
        logging.getLogger(_LOGGER).addHandler(self._log_handler)

    async def teardown(self, worker: DaskWorker) -> None:
        """Book what is under way and give the claims back; called by Dask at the end of the `decide` or the worker."""
        self._has_ended = True
        logging.getLogger(_LOGGER).removeHandler(self._log_handler)
        await asyncio.to_thread(self._give_back)

    def call(self, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        """Return the result of a call, or the error for which it cannot begin."""
        try:
            with self._lock:
                # It may have ended while another call opened everything; nobody would give back what begins now.
                if self._has_ended:
                    return LedgerUnusable(f"worker {self._dask.address} is ending")
                if self._worker is None:
                    self._worker = self._open()
                worker = self._worker
                self._under_way += 1
        except PredibotError as error:
            return error
        try:
            owner, address = worker.claimant.owner, self._dask.address
            message = {"began": number, "owner": owner, "holder": worker.holder, "worker": address}
            begin = partial(self._report, message)
            begin()
            return function(*arguments, replace(worker, begin=begin))
        finally:
            with self._lock:
                self._under_way -= 1
                self._used = time.monotonic()

    def _open(self) -> Worker:
        spec = self._spec
        # Only processes of one machine may share a file.
        if spec.ledger.startswith("sqlite") and not is_same_kernel(self.name):
            raise UsageError(
                f"worker {self._dask.address} runs on another machine, and the ledger is a SQLite file, which only "
                "one machine can write. Take PostgreSQL with --ledger postgresql://..., or workers of this machine"
            )
        _check_strategies(spec.recipe.bots)
        holder = helper_owner(self.name, new_owner().replace("/", "_"))
        with ExitStack() as closing:
            worker = spec.open(
                closing, holder=holder, watch=lambda activity: self._report({"activity": asdict(activity)})
            )
            self._closing, self._used = closing.pop_all(), time.monotonic()
        threading.Thread(target=self._close_when_idle, name="predibot-idle", daemon=True).start()
        return worker

    def _close_when_idle(self) -> None:
        while not self._has_ended:
            time.sleep(_IDLE_SECONDS / 4)
            with self._lock:
                if self._worker is None or self._under_way or time.monotonic() - self._used < _IDLE_SECONDS:
                    continue
                self._worker, closing = None, self._closing
            closing.close()
            return

    def _give_back(self) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is None:
            return
        with self._closing, suppress(LedgerError):
            # Booked first: what is claimed is free for others at once.
            if worker.agents is not None:
                worker.agents.write_off()
            worker.store.run_write(
                lambda connection: release_claims(connection, worker.claimant.owner, now=worker.clock())
            )

    def _report(self, message: dict[str, Any]) -> None:
        # Nobody hears it if the scheduler is gone.
        with suppress(Exception):
            self._dask.log_event(self.name, message)


def call_there(plugin_name: str, number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Make a call; the body of a Dask task, which may run more than once."""
    plugin: DecidingPlugin = get_worker().plugins[plugin_name]
    return plugin.call(number, function, arguments)


def _check_strategies(bots: tuple[BotSpec, ...]) -> None:
    """Refuse a worker where a strategy is missing, or its file is not that of the run."""
    for bot in bots:
        here = spec_of(bot.strategy.name, bot.strategy.arguments)
        if here.source_sha256 != bot.strategy.source_sha256:
            raise PluginError(
                f"strategy {bot.strategy.name!r} of bot {bot.name!r} is another on worker "
                f"{get_worker().address} than where decide was called. Install the same version there"
            )


class _LogHandler(logging.Handler):
    """Sends warnings to the process that ordered the work."""

    def __init__(self, report: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(logging.WARNING)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        self._report({"logged": record.name, "level": record.levelno, "text": self.format(record)})
