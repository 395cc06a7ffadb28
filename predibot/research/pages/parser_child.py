"""The child process that reads what may be hostile, a page or a table: it answers questions, and is held to limits."""

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

from predibot.research.pages.parser_messages import (
    MAX_QUESTION_BYTES,
    READY,
    PageSource,
    packed,
    read_fields,
)

_SHARED_BYTES = 256 * 2**20
"""Of address space beside data: the libraries, which are shared with other processes."""
_NO_MORE_THAN = {"RLIMIT_CORE": 0, "RLIMIT_FSIZE": 0, "RLIMIT_NPROC": 0, "RLIMIT_NOFILE": 32}
"""No files are written and no processes started; a few files are read, by imports inside of libraries."""


def answer_questions(
    data_bytes: int,
    libraries: Sequence[str],
    answers_to: Callable[[PageSource], Iterable[Sequence[bytes]]],
) -> None:
    """Answer what comes on standard input, until that is closed.

    Args:
        data_bytes: Of memory, everything but libraries.
        libraries: What answers need, imported before a limit can break them.
        answers_to: Makes one or more answers, as fields.
    """
    # Whatever prints shall not do so into an answer.
    questions, answers = os.dup(0), os.dup(1)
    # 0.4 s, while the page is still being fetched, and before a limit can break them.
    for library in libraries:
        import_module(library)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    # What parsing does not need is given up.
    sys.dont_write_bytecode = True
    for name, most in {"RLIMIT_DATA": data_bytes, "RLIMIT_AS": data_bytes + _SHARED_BYTES, **_NO_MORE_THAN}.items():
        _limit(name, most)
    _write(answers, (READY,))
    while (fields := _next(questions)) is not None:
        question = PageSource.of(fields)
        used = resource.getrusage(resource.RUSAGE_SELF)
        seconds = math.ceil(used.ru_utime + used.ru_stime) + max(0, math.ceil(question.seconds)) + 1
        _limit("RLIMIT_CPU", seconds, for_good=False)
        last: Sequence[bytes] | None = None
        with _ended_with_the_parent(questions):
            for answer in answers_to(question):
                if last is not None:
                    _write(answers, last)
                last = answer
        # After the last one the next question may come, which is no end of the parent.
        if last is not None:
            _write(answers, last)


def _limit(name: str, most: int, *, for_good: bool = True) -> None:
    """Set a limit, not above what this process is held to already."""
    kind = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    value = most if hard == resource.RLIM_INFINITY else min(most, hard)
    # macOS refuses some, and holds nobody to others: there the parent's own watch is all there is.
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (value, value if for_good else hard))


@contextmanager
def _ended_with_the_parent(questions: int) -> Iterator[None]:
    """Have the kernel end this process where the parent ends: a parser deep in C hears of it in no other way.

    Not by `PR_SET_PDEATHSIG`, which means the *thread* that started us. On
    macOS the signal does nothing, and the limit of CPU ends what hangs.
    """
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    quiet = fcntl.fcntl(questions, fcntl.F_GETFL)
    fcntl.fcntl(questions, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(questions, fcntl.F_SETFL, quiet | os.O_ASYNC)
    # It may have ended just before.
    watch = select.poll()
    watch.register(questions, 0)
    if watch.poll(0):
        raise SystemExit
    try:
        yield
    finally:
        fcntl.fcntl(questions, fcntl.F_SETFL, quiet)


def _next(questions: int) -> tuple[bytes, ...] | None:
    """Return the next question, or None if there is no parent any more."""

    def read(count: int) -> bytes:
        parts = []
        while count > 0:
            part = os.read(questions, count)
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    try:
        return read_fields(read, max_bytes=MAX_QUESTION_BYTES)
    except EOFError:
        return None


def _write(answers: int, fields: Sequence[bytes]) -> None:
    for piece in packed(fields):
        view = memoryview(piece)
        while view:
            view = view[os.write(answers, view) :]
