"""The program in a process of its own, forked from one that has loaded it, so that only the first start costs a second.

What such a process is given is what a started one is given: its folder, its environment, its stdin, stdout and
stderr; it can be killed, and it ends by itself. What tests of the start itself ask for is started as ever.
Processes that it spawns with `multiprocessing` are its children as ever, and forked from a copy of it.
"""

import atexit
import ctypes
import fcntl
import gc
import json
import os
import pickle
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from io import StringIO
from multiprocessing import util
from pathlib import Path
from typing import IO, Any

from tests.compiled import share_compiled_sql

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 300.0
_LOADED = (
    "httpcore",
    "numpy.ma",
    "psycopg",
    "pyarrow.parquet",
    "scipy.special",
    "smolagents",
    "sqlalchemy.dialects.postgresql",
    *(f"predibot.cli.{name}" for name in ("decide", "evaluate", "ledger", "replay", "report", "track")),
    *(f"predibot.api.{name}" for name in ("decide", "track")),
    "predibot.agents.loop.run_agent",
    "predibot.agents.models.open_model",
    "predibot.jobs.deciding.agent_setup",
    "predibot.jobs.evaluate",
    "predibot.jobs.imports.ledger",
    "predibot.jobs.score_files.score",
    "predibot.jobs.verify",
    "predibot.jobs.workers.process_pool",
    "predibot.recipe.text",
    "predibot.api.evaluate",
    "predibot.reports.terminal.evaluation_screen",
    "predibot.reports.terminal.replay",
    "predibot.reports.views.decide",
    "predibot.research.pages.read",
    "predibot.sandbox.server.server",
    "predibot.venues.sandbox.past",
)
"""What most commands load; no plug-in, which are looked for in folders that the environment names."""
_PLUGINS = ("predibot.strategies", "predibot.tools", "predibot.studies")
_LOADED_FOR_DASK = ("distributed", "predibot.jobs.workers.dask_pool")
"""By a second one that forks, as it is memory that others do not have."""
# Elsewhere than on Linux libraries do not survive a fork, and a process loads everything anew.
_FORKS = sys.platform == "linux"
_SERVER = "import sys; from tests.forked import serve; serve(int(sys.argv[1]), *sys.argv[2:])"


@dataclass(frozen=True)
class Ended:
    """What became of a process."""

    code: int
    resident_bytes: int
    cpu_seconds: float


ENDED = list[Ended]()
"""All that ended, whose seconds the system does not count as those of our children."""
_one_asks = threading.Lock()


@cache
def _asked(package: Path | None, *more: str) -> socket.socket:
    """Start the process that forks, which has loaded this too, once, and return the line to it."""
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE_SECONDS)
    # The process that forks ends when nobody can ask it any more.
    atexit.register(ours.close)
    with theirs:
        theirs.set_inheritable(True)
        path = os.pathsep.join(str(each) for each in (package, ROOT) if each)
        around = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
        os.posix_spawn(sys.executable, [sys.executable, "-c", _SERVER, str(theirs.fileno()), *more], around)
    return ours


class Forked(subprocess.Popen[str]):
    """A program that is handled as one that was started with `python -m predibot`."""

    ended: Ended | None = None

    def __init__(
        self,
        *arguments: str,
        folder: Path,
        environment: Mapping[str, str],
        first: Callable[[], object] | None = None,
        module: str = "predibot",
        package: Path | None = None,
        **streams: int | IO[Any],
    ) -> None:
        """Fork it.

        Args:
            arguments: Of the program.
            folder: Where it runs.
            environment: All of it.
            first: What it does before anything else; perhaps it never comes to anything else.
            module: What is run, where it is another program.
            package: Folder of another predibot than that of this checkout.
            streams: As subprocess takes them.
        """
        self._first, self._module, self._package = pickle.dumps(first).hex(), module, package
        super().__init__(arguments, cwd=folder, env=environment, text=True, **streams)

    def _execute_child(self, args: Any, _executable: Any, *more: Any) -> None:
        """Have it forked, in place of started, with the ends of pipes that were made for it."""
        (folder, environment), pipes = more[3:5], more[8:14]
        given = [number if pipe == -1 else pipe for number, pipe in enumerate((pipes[0], pipes[3], pipes[5]))]
        asked = {"arguments": args, "folder": str(folder), "environment": dict(environment)}
        asked |= {"first": self._first, "module": self._module}
        is_of_dask = any("dask" in word for word in (self._module, *args))
        told, tells = os.pipe()
        with _one_asks:
            line = _asked(self._package, *(_LOADED_FOR_DASK if is_of_dask else ()))
            socket.send_fds(line, [b"\n"], [*given, tells])
            line.sendall(json.dumps(asked).encode() + b"\n")
            os.close(tells)
            # What it ends with comes later, on the same pipe.
            self._told = os.fdopen(told)
            self.pid = int(self._told.readline())
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]

    def poll(self) -> int | None:
        """Return its exit code, or None while it runs."""
        if self.returncode is None and select.select([self._told], [], [], 0.0)[0]:
            with self._told:
                self.ended = Ended(*json.loads(self._told.readline()))
            ENDED.append(self.ended)
            self.returncode = self.ended.code
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return its exit code once it has ended."""
        if self.returncode is None and not select.select([self._told], [], [], timeout)[0]:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        code = self.poll()
        assert code is not None
        return code


def predibot_forked(*arguments: str, streams: Sequence[int], environment: Mapping[str, str]) -> Ended:
    """Run the program in the current folder, with these as stdin, stdout and stderr."""
    given = dict(zip(("stdin", "stdout", "stderr"), streams, strict=True))
    process = Forked(*arguments, folder=Path.cwd(), environment=environment, **given)
    process.wait(PATIENCE_SECONDS)
    assert process.ended is not None
    return process.ended


def serve(number: int, *more: str) -> None:
    """Fork a program whenever one is asked for, until nobody can ask any more; in that program, run it."""
    for name in (*_LOADED, *more) if _FORKS else ():
        import_module(name)
    # What another predibot is called with is nothing to this one.
    if _FORKS and Path(str(import_module("predibot").__file__)).is_relative_to(ROOT):
        _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    gc.collect()
    # Who is forked is to share what was loaded, and not to look through it for garbage.
    gc.freeze()
    with socket.socket(fileno=number) as line, line.makefile("rb") as lines:
        while True:
            begin, streams, *_ = socket.recv_fds(line, 1, 4)
            if not begin:
                return
            asked = json.loads(lines.readline())
            if not _fork():
                break
            for stream in streams:
                os.close(stream)
    # It is the child of one that waits for nothing else.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    told = streams.pop()
    pid = _fork()
    if pid:
        _tell(pid, streams, told)
    os.close(told)
    _become(streams, **asked)


def _warm_up() -> None:
    """Decide once: statements that are compiled then, and what is made at its first use, nobody forked makes anew."""
    share_compiled_sql()
    nobody, environment = StringIO(), dict(os.environ)
    # Whatever the test that happens to be first has set.
    for name in [name for name in environment if name.startswith("PREDIBOT_")]:
        del os.environ[name]
    with tempfile.TemporaryDirectory() as folder, chdir(folder), redirect_stdout(nobody), redirect_stderr(nobody):
        code = import_module("predibot.cli").main(["decide", "sandbox", "--events", "1"])
    assert code == 0, nobody.getvalue()
    os.environ.clear()
    os.environ.update(environment)
    # Plug-ins are looked for in folders that the environment of each program names.
    for name in [name for name in sys.modules if name.startswith(_PLUGINS)]:
        package, _, own = sys.modules.pop(name).__name__.rpartition(".")
        if package == "predibot":
            delattr(sys.modules[package], own)


def _fork() -> int:
    with warnings.catch_warnings():
        # From Python 3.12 on it is said that there are threads; pyarrow's own one takes no lock of ours.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _tell(pid: int, streams: Sequence[int], told: int) -> None:
    """Tell who asked the number of a process, and once it ended, what became of it."""
    # Ctrl-C is for the program alone.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for stream in streams:
        os.close(stream)
    unit = 1 if sys.platform == "darwin" else 1024
    with suppress(BrokenPipeError):
        os.write(told, f"{pid}\n".encode())
        _, status, used = os.wait4(pid, 0)
        answer = (os.waitstatus_to_exitcode(status), used.ru_maxrss * unit, used.ru_utime + used.ru_stime)
        os.write(told, json.dumps(answer).encode() + b"\n")
    os._exit(0)


def _become(
    streams: list[int], arguments: list[str], folder: str, environment: dict[str, str], first: str, module: str
) -> None:
    """Be the program from here on."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        if stream > 2:
            os.close(stream)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv, sys.path[0] = [module, *arguments], folder
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, "w" if number else "r") for number in range(3))
    sys.stderr.reconfigure(errors="backslashreplace", line_buffering=True)
    if _FORKS and (module != "predibot" or not {"--executor", "schedule"}.isdisjoint(arguments)):
        _spawn_by_forking()
    if any(name.startswith("DASK_") for name in environment):
        import_module("dask.config").refresh()
    todo = pickle.loads(bytes.fromhex(first))
    if todo is not None:
        todo()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        _end(ended)


def _end(ended: SystemExit) -> None:
    """End as a program does, but leave what was loaded to the system; taking it apart costs more than most commands."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        raise ended from None
    if not isinstance(ended.code, int | None):
        raise ended
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(ended.code or 0)


_SET_NAME, _SET_CHILD_SUBREAPER = 15, 36
"""Of prctl."""
_NO_NUMBER_YET = 500
"""Of files; what is spawned has fewer open."""


def _spawn_by_forking() -> None:
    """Have what this process spawns be forked from a copy of it, as it is now."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    spawned, one_asks = util.spawnv_passfds, threading.Lock()
    # Who is forked by the copy's child, which ends at once, is given to this process.
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if not _fork():
        ours.close()
        _spawn_whoever_is_asked_for(theirs)
    theirs.close()

    def ask(path: str, arguments: Sequence[Any], files: Sequence[int]) -> int:
        code = os.fsdecode(arguments[-2])
        if "spawn_main" not in code:
            return spawned(path, arguments, files)  # type: ignore[no-any-return, arg-type]
        asked = {"code": code, "numbers": [*files], "folder": str(Path.cwd()), "environment": dict(os.environ)}
        with one_asks:
            socket.send_fds(ours, [json.dumps(asked).encode()], files)
            return int(ours.recv(100))

    util.spawnv_passfds = ask


def _spawn_whoever_is_asked_for(line: socket.socket) -> None:
    """Fork whenever somebody is to be spawned; in who is, be that, and end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told, tells = os.pipe()
    while True:
        message, files, *_ = socket.recv_fds(line, 1 << 20, 100)
        if not message:
            os._exit(0)
        between = _fork()
        if not between:
            if pid := _fork():
                os.write(tells, f"{pid}\n".encode())
                os._exit(0)
            break
        os.waitpid(between, 0)
        for each in files:
            os.close(each)
        line.send(os.read(told, 100))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    ctypes.CDLL(None).prctl(_SET_NAME, b"spawn_main", 0, 0, 0)
    asked = json.loads(message)
    for each in (line.fileno(), told, tells):
        os.close(each)
    line.detach()
    # Each file has the number there that it has here, which may be that of another one now.
    high = [fcntl.fcntl(each, fcntl.F_DUPFD, _NO_NUMBER_YET) for each in files]
    for each in files:
        os.close(each)
    for kept, number in zip(high, asked["numbers"], strict=True):
        os.dup2(kept, number)
        os.close(kept)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = ["-c", "--multiprocessing-fork"]
    exec(asked["code"])
