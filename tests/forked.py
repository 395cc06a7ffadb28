"""The program in a process of its own, forked from one that has loaded it, so that only the first start costs a second.

What such a process is given is what a started one is given: its folder, its environment, its stdin, stdout and
stderr; and it ends by itself.  What tests of the start itself ask for is started as ever.
"""

import json
import os
import socket
import sys
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATIENCE_SECONDS = 300.0
_LOADED = (
    "pyarrow.parquet",
    "predibot.jobs.commands.decide",
    "predibot.jobs.evaluate",
    "predibot.jobs.imports.ledger",
    "predibot.jobs.score_files.score",
    "predibot.reports.terminal.evaluation_screen",
)
"""What most commands load; no plug-in, which are looked for in folders that the environment names."""
# Elsewhere than on Linux libraries do not survive a fork, and a process loads everything anew.
_FORKS = sys.platform == "linux"


@dataclass(frozen=True)
class Ended:
    """What became of a process."""

    code: int
    resident_bytes: int
    cpu_seconds: float


ENDED = list[Ended]()
"""All that ended, whose seconds the system does not count as those of our children."""


@cache
def _asked() -> socket.socket:
    """Start the process that forks, once, and return the line to it."""
    ours, theirs = socket.socketpair()
    ours.settimeout(PATIENCE_SECONDS)
    with theirs:
        theirs.set_inheritable(True)
        around = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
        os.posix_spawn(sys.executable, [sys.executable, "-m", "tests.forked", str(theirs.fileno())], around)
    return ours


def predibot_forked(*arguments: str, streams: Sequence[int], environment: Mapping[str, str]) -> Ended:
    """Run the program in the current folder, with these as stdin, stdout and stderr."""
    asked = {"arguments": arguments, "folder": str(Path.cwd()), "environment": dict(environment)}
    socket.send_fds(_asked(), [b"\n"], streams)
    _asked().sendall(json.dumps(asked).encode() + b"\n")
    with _asked().makefile() as answers:
        ENDED.append(Ended(*json.loads(answers.readline())))
    return ENDED[-1]


def _serve(line: socket.socket) -> None:
    """Run what is asked for until nobody asks any more."""
    for name in _LOADED if _FORKS else ():
        import_module(name)
    with line, line.makefile("rb") as lines:
        while True:
            begin, streams, *_ = socket.recv_fds(line, 1, 3)
            if not begin:
                return
            asked = json.loads(lines.readline())
            with warnings.catch_warnings():
                # From Python 3.12 on it is said that there are threads; pyarrow's own one takes no lock of ours.
                warnings.simplefilter("ignore", DeprecationWarning)
                pid = os.fork()
            if not pid:
                _become(streams, asked["folder"], asked["environment"], asked["arguments"])
            for stream in streams:
                os.close(stream)
            _, status, used = os.wait4(pid, 0)
            unit = 1 if sys.platform == "darwin" else 1024
            answer = (os.waitstatus_to_exitcode(status), used.ru_maxrss * unit, used.ru_utime + used.ru_stime)
            line.sendall(json.dumps(answer).encode() + b"\n")


def _become(streams: list[int], folder: str, environment: dict[str, str], arguments: list[str]) -> None:
    """Be the program from here on."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(folder)
    if not _FORKS:
        os.execve(sys.executable, [sys.executable, "-m", "predibot", *arguments], environment)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["predibot", *arguments]
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, "w" if number else "r") for number in range(3))
    sys.stderr.reconfigure(errors="backslashreplace", line_buffering=True)
    raise SystemExit(main())


if __name__ == "__main__":
    from predibot.cli import main

    _serve(socket.socket(fileno=int(sys.argv[1])))
