"""A pool of parsers for the whole process: child processes that read untrusted pages, killed if a page misbehaves."""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from predibot.research.pages.errors import WALLS, Deadline, Obstacle, PageUnavailable, PageUnreadable, PageWalled
from predibot.research.pages.parser_messages import PageSource, ParsedPage
from predibot.research.pages.parser_process import ParserCrash, ParserLimits, ParserProcess

_PATIENT_SECONDS = 0.3
"""How long to wait for a busy parser before another is started."""


class ParserPool:
    """A few parsers, started when needed and used again while they behave; thread-safe.

    Nothing is ever parsed in this process: if no parser can be started, no page can be read. On Linux the kernel
    enforces the limit of memory. On macOS parsers are watched every 50 ms, and may overshoot.
    """

    def __init__(self, limits: ParserLimits | None = None) -> None:
        """Start nothing yet."""
        self.limits = limits or ParserLimits()
        self._begin()

    def _begin(self) -> None:
        self._changed = threading.Condition()
        self._all: set[ParserProcess] = set()
        self._idle: list[ParserProcess] = []
        self._owner = os.getpid()
        self._is_closed = False

    def warm(self) -> None:
        """Start a parser if all others are busy and more are allowed; its imports take 0.4 s."""
        self._forget_inherited()
        with self._changed:
            if not self._idle and not self._is_closed and len(self._all) < self.limits.processes:
                # Whoever needs the parser gets the error.
                with suppress(PageUnavailable):
                    self._idle.append(self._start())

    def parse(self, source: PageSource, deadline: Deadline) -> ParsedPage:
        """Return the parsed page; the deadline includes the wait for a parser.

        Raises `PageUnreadable` if the page cannot be parsed, or takes too much time or memory; `PageWalled` if it shows
        a wall in place of its text; `PageUnavailable` if no parser is available.
        """
        try:
            answer = self._answer(source, deadline)
        except ParserCrash:
            # The parser may have been killed while idle; a page that breaks parsers breaks this one too.
            answer = self._answer(source, deadline)
        if isinstance(answer, Obstacle):
            raise (PageWalled if answer in WALLS else PageUnreadable)(answer)
        return answer

    def _answer(self, source: PageSource, deadline: Deadline) -> ParsedPage | Obstacle:
        with self._lend(deadline) as parser:
            return parser.answer(source, deadline)

    def close(self) -> None:
        """End all parsers, and start no more."""
        self._forget_inherited()
        with self._changed:
            self._is_closed = True
            for parser in self._all:
                parser.kill()
            for parser in self._idle:
                parser.end()
            self._idle.clear()
            self._changed.notify_all()

    @contextmanager
    def _lend(self, deadline: Deadline) -> Iterator[ParserProcess]:
        """Lend a parser; one that did not finish in an orderly way is in an unknown state, and killed."""
        self._forget_inherited()
        parser = self._take(deadline)
        behaved = False
        try:
            yield parser
            behaved = parser.is_fit()
        finally:
            with self._changed:
                if behaved and not self._is_closed:
                    self._idle.append(parser)
                else:
                    parser.end()
                    self._all.discard(parser)
                self._changed.notify()

    def _take(self, deadline: Deadline) -> ParserProcess:
        # Starting a parser takes as long as parsing several pages.
        patient_until = min(deadline.monotonic() + _PATIENT_SECONDS, deadline.at)
        with self._changed:
            while True:
                if self._is_closed:
                    raise PageUnavailable("the program is ending, and reads no more pages")
                # Take the one that was used last, so that the others stay asleep. It stays idle while it is looked at:
                # Ctrl-C may come meanwhile, and `close` ends what is idle.
                while self._idle:
                    parser = self._idle[-1]
                    if parser.is_alive():
                        return self._idle.pop()
                    parser.end()
                    self._all.discard(self._idle.pop())
                has_room, now = len(self._all) < self.limits.processes, deadline.monotonic()
                if has_room and (not self._all or now >= patient_until):
                    return self._start()
                until = patient_until if has_room else deadline.at
                if not self._changed.wait(until - now) and deadline.monotonic() >= deadline.at:
                    raise PageUnavailable(
                        f"all {self.limits.processes} parsers were busy for {deadline.seconds:g} s; try again"
                    )

    def _start(self) -> ParserProcess:
        # Register once, however often a parser is started.
        atexit.unregister(self.close)
        atexit.register(self.close)
        parser = ParserProcess(self.limits)
        self._all.add(parser)
        return parser

    def _forget_inherited(self) -> None:
        """Forget the parsers of the process that this one was forked from: answers would get mixed up."""
        if self._owner != os.getpid():
            inherited = self._all
            self._begin()
            for parser in inherited:
                parser.disown()


PARSERS = ParserPool()
"""The pool of this process, so that its readers of pages share one limit."""
