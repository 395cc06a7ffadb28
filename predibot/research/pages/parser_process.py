"""A parser's process, from its parent's side: it gets questions, is watched, and killed if it does not answer."""

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import psutil

from predibot.research.pages.errors import Deadline, Obstacle, PageUnavailable, PageUnreadable
from predibot.research.pages.parser_messages import (
    MAX_ANSWER_BYTES,
    READY,
    PageSource,
    ParsedPage,
    pack_fields,
    parse_answer,
    read_fields,
)

_PROGRAM = (
    "import sys; from importlib import import_module; sys.path[:] = sys.argv[4:]; "
    "getattr(import_module(sys.argv[1]), sys.argv[2])(int(sys.argv[3]))"
)
_PAGES = ("predibot.research.pages.parse", "serve")
_OUR_FOLDER = str(Path(__file__).parents[3])
_LOADER_VARIABLES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FALLBACK_LIBRARY_PATH")
"""Some Pythons do not start without these; parsers get nothing else of the environment, least of all keys."""
_GRACE_SHARE = 0.05
"""Further time beyond the end, for a parser that watches the time itself."""
_WATCH_SECONDS = 0.05
_ENDS_WITHIN_SECONDS = 1.0
"""How long a process that closed its pipes may take to end."""
_BROKEN = "reading the page breaks the parser; take another source"
_SAID_BYTES = 10_000
_SAID_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class ParserLimits:
    """The limits of parsers."""

    processes: int = 4
    """At once; further pages wait for one, within the time for parsing."""
    seconds: float = 20.0
    """For parsing one page; real ones take a tenth of a second."""
    resident_bytes: int = 240 * 2**20
    """For one process, libraries included."""
    data_bytes: int = 200 * 2**20
    """Without libraries, where the kernel enforces it; large readable pages take 180 MB."""
    kept_bytes: int = 100 * 2**20
    """A process that has grown beyond this is not used again."""
    pages: int = 500
    """After so many a process is not used again."""


class ParserCrash(PageUnreadable):
    """A parser ended without an answer: the page broke it, or somebody else killed it."""


class ParserProcess:
    """One child process; for one thread at a time, except for `kill`."""

    def __init__(self, limits: ParserLimits, serves: tuple[str, str] = _PAGES) -> None:
        """Start the process, which takes some tenths of a second to get ready. `serves` names a module and its function
        that calls `answer_questions`. Raises `PageUnavailable` if the system starts no more processes.
        """
        self.limits = limits
        self._pages = 0
        self._is_ready = False
        self._ran_out_of_memory = False
        # This process's import path, made absolute, in case it changed its folder.
        path = [str(Path(folder).absolute()) for folder in [*sys.path, _OUR_FOLDER]]
        try:
            # Read here, because these variables are the loader's and no settings of ours.
            variables = os.environ  # noqa: TID251
            self._process = subprocess.Popen(
                [sys.executable, "-I", "-X", "utf8", "-c", _PROGRAM, *serves, str(limits.data_bytes), *path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env={name: variables[name] for name in _LOADER_VARIABLES if name in variables},
                cwd="/",
                # Only the parent gets Ctrl-C and its like; its end ends its children too.
                process_group=0,
            )
        except OSError as error:
            raise PageUnavailable(f"no parser can be started ({error.strerror or error}); try again later") from error
        # A parser that does not read must not block the writer.
        os.set_blocking(self._pipe("stdin").fileno(), False)

    def is_alive(self) -> bool:
        """Return whether the process runs and is not stopped."""
        if self._process.poll() is not None:
            return False
        try:
            return bool(psutil.Process(self._process.pid).status() != psutil.STATUS_STOPPED)
        except psutil.Error:
            return False

    def is_fit(self) -> bool:
        """Return whether the process can be used again: it is neither too old nor too large."""
        if self._ran_out_of_memory or self._pages >= self.limits.pages:
            return False
        return self._resident_bytes() <= self.limits.kept_bytes

    def answer(self, source: PageSource, deadline: Deadline) -> ParsedPage | Obstacle:
        """Return the answer for a page.

        If this raises, the process must not be used again. Raises `PageUnreadable` if the page takes too much time or
        memory, `ParserCrash` if it breaks the parser, and `PageUnavailable` if the parser does not start.
        """
        try:
            answer = parse_answer(next(self.answers(source, deadline)))
        except TimeoutError as error:
            raise PageUnreadable(
                f"reading the page takes more than {deadline.seconds:g} s; take another source"
            ) from error
        except ValueError as error:
            raise ParserCrash(_BROKEN) from error
        self._ran_out_of_memory = answer is Obstacle.TOO_MUCH_MEMORY
        return answer

    def answers(
        self, source: PageSource, deadline: Deadline, max_bytes: int = MAX_ANSWER_BYTES
    ) -> Iterator[tuple[bytes, ...]]:
        """Yield one answer after another, as fields, for as long as the caller asks for more.

        Raises `TimeoutError` if no answer comes in time, `PageUnreadable` if it takes too much memory, `ParserCrash` if
        the process ends or its answer is too long, and `PageUnavailable` if the process does not start.
        """
        self._await_ready(deadline)
        self._pages += 1
        question = replace(source, seconds=deadline.at - deadline.monotonic())
        ends = Deadline(deadline.seconds, deadline.at + _GRACE_SHARE * deadline.seconds, deadline.monotonic)
        try:
            for piece in pack_fields(question.fields()):
                self._write(piece, ends)
            while True:
                yield self._fields(ends, max_bytes)
        except TimeoutError:
            raise
        except (EOFError, OSError, ValueError) as error:
            raise ParserCrash(_BROKEN) from error

    def kill(self) -> None:
        """Kill the process; its pipes stay open, because a thread may be reading from them."""
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """Kill the process and close its pipes."""
        self.kill()
        self._close()

    def disown(self) -> None:
        """Let the process go, because it is another process's child."""
        self._process.returncode = 0
        self._close()

    def _close(self) -> None:
        for name in ("stdin", "stdout", "stderr"):
            self._pipe(name).close()

    def _await_ready(self, deadline: Deadline) -> None:
        """Wait until the process is ready; raise `PageUnavailable` if it does not start."""
        if self._is_ready:
            return
        try:
            self._is_ready = self._fields(deadline) == (READY,)
        except TimeoutError as error:
            raise PageUnavailable(f"no parser was ready within {deadline.seconds:g} s; try again later") from error
        except (EOFError, ValueError):
            self._is_ready = False
        if not self._is_ready:
            try:
                ended_by = -self._process.wait(_ENDS_WITHIN_SECONDS)
            except subprocess.TimeoutExpired:
                ended_by = 0
            self.kill()
            if ended_by > 0:
                raise PageUnavailable(
                    f"the parser was ended by signal {ended_by} before it was ready, as by a system without memory "
                    "left; make room and try again"
                )
            lines = self._pipe("stderr").read(_SAID_BYTES).decode(errors="replace").split("\n")
            why = next((line for line in reversed(lines) if line.strip()), "it says nothing")
            raise PageUnavailable(f"no parser starts here ({why[:_SAID_CHARACTERS]}); install predibot anew")

    def _fields(self, ends: Deadline, max_bytes: int = MAX_ANSWER_BYTES) -> tuple[bytes, ...]:
        return read_fields(lambda count: self._read(count, ends), max_bytes=max_bytes)

    def _read(self, count: int, ends: Deadline) -> bytes:
        pipe = self._pipe("stdout").fileno()
        read = bytearray()
        while len(read) < count:
            self._wait_for(pipe, select.POLLIN, ends)
            part = os.read(pipe, count - len(read))
            if not part:
                raise EOFError
            read += part
        return bytes(read)

    def _write(self, piece: bytes, ends: Deadline) -> None:
        pipe = self._pipe("stdin").fileno()
        left = memoryview(piece)
        while left:
            self._wait_for(pipe, select.POLLOUT, ends)
            left = left[os.write(pipe, left) :]

    def _wait_for(self, pipe: int, event: int, ends: Deadline) -> None:
        """Wait until a pipe is ready, and watch the parser's memory meanwhile."""
        # `select` takes no numbers above 1,023, which a process with many agents has.
        ready = select.poll()
        ready.register(pipe, event)
        while (left_seconds := ends.at - ends.monotonic()) > 0.0:
            if ready.poll(1_000 * min(left_seconds, _WATCH_SECONDS)):
                return
            if self._resident_bytes() > self.limits.resident_bytes:
                raise PageUnreadable(Obstacle.TOO_MUCH_MEMORY)
        raise TimeoutError

    def _resident_bytes(self) -> int:
        try:
            return int(psutil.Process(self._process.pid).memory_info().rss)
        except psutil.Error:
            return 0

    def _pipe(self, name: str) -> IO[bytes]:
        pipe: IO[bytes] = getattr(self._process, name)
        return pipe
