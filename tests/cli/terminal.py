"""A terminal of tests: the program as a person meets it, on a screen of some width."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

ROOT = Path(__file__).parents[2]
_ROWS = 25


def on_a_terminal(*arguments: str, columns: int, errors: bool = False, **environment: str) -> tuple[int, str]:
    """Run predibot in the current folder on a terminal, and return its exit code and all that the screen was sent.

    Args:
        arguments: Of the program.
        columns: How wide the screen is.
        errors: Whether stderr goes there too.
        environment: What is set beside what is set here.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")}
    program = subprocess.Popen(
        [sys.executable, "-m", "predibot", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs if errors else subprocess.DEVNULL,
        env={**kept, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", **environment},
    )
    os.close(theirs)
    sent = b""
    while True:
        try:
            more = os.read(ours, 65_536)
        except OSError:
            # So Linux says that nobody holds the other end any more.
            break
        if not more:
            break
        sent += more
    os.close(ours)
    return program.wait(timeout=60), sent.decode()


def without_colours(sent: str) -> list[str]:
    """Return the lines of a screen as they are read."""
    return [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent).replace("\r\n", "\n").splitlines()]
