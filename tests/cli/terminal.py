"""A terminal of tests: the program as a person meets it, on a screen of some width."""

import fcntl
import os
import pty
import re
import struct
import sys
import termios
from functools import partial
from pathlib import Path
from threading import Thread

from tests.forked import predibot_forked

ROOT = Path(__file__).parents[2]
_ROWS = 25

_PATH = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))


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
    sent = list[bytes]()
    reader = Thread(target=lambda: sent.extend(iter(partial(_read, ours), b"")))
    reader.start()
    with Path(os.devnull).open("w") as nothing:
        ended = predibot_forked(
            *arguments,
            streams=(theirs, theirs, theirs if errors else nothing.fileno()),
            # As in a shell with the environment activated, so that hints are short.
            environment={**kept, "PATH": _PATH, "TERM": "xterm-256color", **environment},
        )
    os.close(theirs)
    reader.join()
    os.close(ours)
    return ended.code, b"".join(sent).decode()


def _read(terminal: int) -> bytes:
    """Return what a terminal was sent; nothing once nobody holds its other end, of which Linux makes an error."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""


def without_colours(sent: str) -> list[str]:
    """Return the lines of a screen as they are read."""
    return [line.rstrip() for line in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", sent).replace("\r\n", "\n").splitlines()]


_PIECE = re.compile(r"\x1b\[(?P<number>[0-9;?]*)(?P<order>[a-zA-Z])|[^\x1b]")


def screen_after(sent: str, columns: int) -> list[str]:
    """Return the lines of a screen of some width after all that it was sent, what was drawn over or erased left out.

    Raises:
        ValueError: If the screen was sent an order that programs here do not give.
    """
    rows, row, column = [""], 0, 0
    for piece in _PIECE.finditer(sent):
        order, letter = piece["order"], piece[0]
        number = int(piece["number"]) if (piece["number"] or "").isdigit() else 1
        if order == "A":
            row = max(0, row - number)
        elif order == "K":
            rows[row] = "" if number == 2 else rows[row][:column]
        elif order is not None and order not in "mhl":
            raise ValueError(f"order {piece[0]!r}")
        elif letter == "\r":
            column = 0
        elif order is None:
            if letter == "\n" or column == columns:
                row, column = row + 1, column * (letter == "\n")
                rows += [""] * (row + 1 - len(rows))
            if letter != "\n":
                rows[row] = rows[row].ljust(column)[:column] + letter + rows[row][column + 1 :]
                column += 1
    return [line.rstrip() for line in rows]


def hints(line: str) -> list[str]:
    """Return the commands that a line tells people to type, but those with a word in capitals to fill in."""
    found = re.findall(r"`(\S*predibot [^`]+)`", line) + re.findall(r"^  (\S*predibot .+)$", line)
    return [each for each in found if not re.search(r" [A-Z]{3,}\b", each)]
