"""Quick runs: with `--quick`, a test that needs more than its own process is left to `make test`.

Rooms whose subject is a ledger, a command or a server are not collected. Elsewhere there is no list: a test is left the
moment it starts a process, opens a socket or a database, and so are the further cases of the same function, before
anything is made for them.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import util
from typing import Any

import pytest

NOT_QUICK = "not quick"
ROOMS = frozenset({"acceptance", "cli", "jobs", "ledger", "packaging", "web"})
"""Folders of tests that are left as a whole."""
_BEYOND = {
    "subprocess.Popen": "starts a process",
    "os.exec": "starts a process",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "os.posix_spawn": "starts a process",
    "os.system": "starts a process",
    "socket.bind": "opens a socket",
    "socket.connect": "opens a socket",
    "socket.getaddrinfo": "opens a socket",
    "sqlite3.connect": "opens a database",
}
"""Events of Python's audit, and what a test does at one."""


class Quick:
    """Ends a test where it leaves its process, and counts it as skipped, whatever came of that."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.running = False
        self.left: dict[str, str] = {}
        sys.addaudithook(self._audit)
        signal.signal(signal.SIGUSR2, self._leave)
        # The one way to a process that Python does not audit.
        self._spawn = util.spawnv_passfds
        util.spawnv_passfds = self._audited_spawn

    def _audited_spawn(self, path: Any, *arguments: Any) -> Any:
        sys.audit("os.posix_spawn", path, (), {})
        return self._spawn(path, *arguments)

    def _audit(self, event: str, _: object) -> None:
        if not self.running or event not in _BEYOND:
            return
        self.reason = f"{NOT_QUICK}: {_BEYOND[event]}"
        if threading.current_thread() is threading.main_thread():
            self._leave()
        # The test may wait for this thread for ever.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR2)
        raise SystemExit

    def _leave(self, *_: object) -> None:
        if self.running:
            raise pytest.skip.Exception(self.reason or NOT_QUICK)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.reason, self.running = None, True
        try:
            return (yield)
        finally:
            self.running = False
            if self.reason is not None:
                self.left[item.nodeid.partition("[")[0]] = self.reason

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if (reason := self.left.get(item.nodeid.partition("[")[0])) is not None:
            pytest.skip(reason)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest) -> Iterator[Any]:
        try:
            value = yield
        except BaseException:
            if self.reason is None:
                raise
        if self.reason is None:
            return value
        # Code under test may have caught it: nobody is given what is half made, now or later.
        left = pytest.skip.Exception(self.reason)
        fixturedef.cached_result = (None, fixturedef.cache_key(request), (left, None))
        raise left

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        report: Any = yield
        if self.reason is not None and (report.failed or report.when == "call"):
            report.outcome, report.longrepr = "skipped", (str(item.path), 0, self.reason)
        return report
