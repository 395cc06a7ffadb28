"""Parsers: child processes that read untrusted pages, a few for the whole process, killed when a page misbehaves."""

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from predibot.research.pages.deadline import Deadline
from predibot.research.pages.errors import WALLS, Obstacle, PageUnavailable, PageUnreadable, PageWalled
from predibot.research.pages.parser_messages import PageSource, Parsed
from predibot.research.pages.parser_process import ParserDied, ParserLimits, ParserProcess

_PATIENT_SECONDS = 0.3
"""How long one that is at work is waited for before another is started."""


class ParserPool:
    """A few parsers, started when they are needed and used again while they behave; thread-safe.

    Nothing is ever parsed in this process: where no parser can be started, no
    page can be read. On Linux the kernel holds parsers to their memory; where
    it does not (macOS), they are watched every 50 ms, and may overshoot.
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
        """Start a parser if all there are have work, and more are allowed; its imports take 0.4 s of its own."""
        self._require_own()
        with self._changed:
            if not self._idle and not self._is_closed and len(self._all) < self.limits.processes:
                # Who needs one will say what is wrong.
                with suppress(PageUnavailable):
                    self._idle.append(self._started())

    def parse(self, source: PageSource, deadline: Deadline) -> Parsed:
        """Return what a parser makes of a page.

        Args:
            source: What was fetched.
            deadline: For everything, the wait for a parser too.

        Raises:
            PageUnreadable: If it is no page that can be read, or takes too much time or memory.
            PageWalled: If it shows a wall instead of its text.
            PageUnavailable: If no parser can be had.
        """
        try:
            answer = self._answer(source, deadline)
        except ParserDied:
            # Somebody may have ended it while it waited; a page that breaks parsers breaks this one too.
            answer = self._answer(source, deadline)
        if isinstance(answer, Obstacle):
            raise (PageWalled if answer in WALLS else PageUnreadable)(answer)
        return answer

    def _answer(self, source: PageSource, deadline: Deadline) -> Parsed | Obstacle:
        with self._lent(deadline) as parser:
            return parser.answer(source, deadline)

    def close(self) -> None:
        """End all parsers, and start no more."""
        self._require_own()
        with self._changed:
            self._is_closed = True
            for parser in self._all:
                parser.kill()
            for parser in self._idle:
                parser.end()
            self._idle.clear()
            self._changed.notify_all()

    @contextmanager
    def _lent(self, deadline: Deadline) -> Iterator[ParserProcess]:
        """Lend a parser; one that did not come to an orderly end is in an unknown state, and killed."""
        self._require_own()
        parser = self._taken(deadline)
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

    def _taken(self, deadline: Deadline) -> ParserProcess:
        # One more takes as long to start as a whole row of pages to read.
        patient_until = min(deadline.monotonic() + _PATIENT_SECONDS, deadline.at)
        with self._changed:
            while True:
                if self._is_closed:
                    raise PageUnavailable("the program is ending, and reads no more pages")
                # The last one that was used: others stay asleep.
                while self._idle:
                    parser = self._idle.pop()
                    if parser.is_alive():
                        return parser
                    parser.end()
                    self._all.discard(parser)
                has_room, now = len(self._all) < self.limits.processes, deadline.monotonic()
                if has_room and (not self._all or now >= patient_until):
                    return self._started()
                until = patient_until if has_room else deadline.at
                if not self._changed.wait(until - now) and deadline.monotonic() >= deadline.at:
                    raise PageUnavailable(
                        f"all {self.limits.processes} parsers were busy for {deadline.seconds:g} s; try again"
                    )

    def _started(self) -> ParserProcess:
        # Once, however often it is started.
        atexit.unregister(self.close)
        atexit.register(self.close)
        parser = ParserProcess(self.limits)
        self._all.add(parser)
        return parser

    def _require_own(self) -> None:
        """Forget the parsers of the process we were forked from: each of us would read the other's answers."""
        if self._owner != os.getpid():
            inherited = self._all
            self._begin()
            for parser in inherited:
                parser.disown()


PARSERS = ParserPool()
"""The one of this process, so that there are never more parsers than a process may have, for all readers of pages."""
