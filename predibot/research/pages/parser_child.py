"""The child process that reads hostile pages or tables: it answers questions within limits."""

import fcntl
import math
import os
import resource
import select
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from typing import BinaryIO

from predibot.research.pages.parser_messages import (
    MAX_QUESTION_BYTES,
    READY,
    PageSource,
    pack_fields,
    read_fields,
)

_SHARED_BYTES = 256 * 2**20
"""Address space for libraries, which are shared with other processes."""
_NO_MORE_THAN = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NPROC": 0, "RLIMIT_NOFILE": 32}
"""No files are written and no processes started; imports inside of libraries open a few files."""


def answer_questions(
    data_bytes: int,
    libraries: Sequence[str],
    answers_to: Callable[[PageSource], Iterable[Sequence[bytes]]],
) -> None:
    """Answer questions from standard input until it is closed. `data_bytes` limit the memory without `libraries`, which
    are imported before a limit can break them. `answers_to` yields one or more answers, as fields.
    """
    # Move the pipes, so that nothing can print into an answer.
    questions, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # Takes 0.4 s, while the page is still being fetched.
    for library in libraries:
        import_module(library)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    # Give up everything that parsing does not need.
    sys.dont_write_bytecode = True
    for name, most in {"RLIMIT_DATA": data_bytes, "RLIMIT_AS": data_bytes + _SHARED_BYTES, **_NO_MORE_THAN}.items():
        _set_limit(name, most)
    _write(answers, (READY,))
    while (fields := _read_question(questions)) is not None:
        question = PageSource.of(fields)
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = math.ceil(used.ru_utime + used.ru_stime) + max(0, math.ceil(question.seconds)) + 1
        _set_limit("RLIMIT_CPU", seconds, for_good=False)
        last: Sequence[bytes] | None = None
        with _end_with_the_parent(questions):
            for answer in answers_to(question):
                if last is not None:
                    _write(answers, last)
                last = answer
        # Outside of the block: after the last answer the next question may arrive, which also raises the signal.
        if last is not None:
            _write(answers, last)


def _set_limit(name: str, most: int, *, for_good: bool = True) -> None:
    # Never above the limit that this process has already.
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    # macOS refuses some limits and ignores others: there only the parent's watch helps.
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (value, value if for_good else hard))


@contextmanager
def _end_with_the_parent(questions: BinaryIO) -> Iterator[None]:
    """Have the kernel end this process with its parent: a parser deep in C notices it in no other way.

    Not by `PR_SET_PDEATHSIG`, which means the *thread* that started us. On macOS the signal does nothing, and the limit
    of CPU ends a hanging parser.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    quiet = fcntl.fcntl(questions, fcntl.F_GETFL)
    fcntl.fcntl(questions, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(questions, fcntl.F_SETFL, quiet | os.O_ASYNC)
    # The parent may have ended just before.
    watch = select.poll()
    watch.register(questions, 0)
    if watch.poll(0):
        raise SystemExit
    try:
        yield
    finally:
        fcntl.fcntl(questions, fcntl.F_SETFL, quiet)


def _read_question(questions: BinaryIO) -> tuple[bytes, ...] | None:
    def read(count: int) -> bytes:
        found = questions.read(count)
        if len(found) < count:
            raise EOFError
        return found

    try:
        return read_fields(read, max_bytes=MAX_QUESTION_BYTES)
    except EOFError:
        return None


def _write(answers: BinaryIO, fields: Sequence[bytes]) -> None:
    answers.writelines(pack_fields(fields))
    answers.flush()
