"""Telling: each trouble once and when it is over, over every channel, beside the runs and never at their cost."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from time import monotonic

from predibot.domain.terms import NOTICE_KINDS, NoticeKind
from predibot.errors import words_of
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.notify.channel import Channel, Undelivered
from predibot.jobs.notify.notice import Notice
from predibot.jobs.notify.webhook import Ping
from predibot.net.failures import AnswerLost, TryAgain
from predibot.net.retry import RetryPolicy

_log = logging.getLogger(__name__)

DEADLINE_SECONDS = 20.0
"""For all tries of one notice over one channel."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
"""Before what could not be told is tried again: twice as long each time."""
GIVEN_UP_AFTER = timedelta(hours=12)
MAX_WAITING = 20
"""Notices a channel that is busy or down is told later; older ones are given up."""
_MOST_PASSED = 1_000
"""Notices of what passes by itself that are known; it is told again where as many were told since."""
# A request whose answer was lost may have been told, and a chat does not want it three times.
_POLICY = RetryPolicy(tries=3, lost_tries=1)


@dataclass(frozen=True, slots=True)
class _Message:
    """What is to be told over one channel."""

    title: str
    send: Callable[[], None]
    since: datetime
    """When it was new."""


@dataclass(slots=True)
class _Outbox:
    """A channel, or the watchdog, and what is still to be told over it: in order, by one thread at a time."""

    name: str
    kept_while_down: int = MAX_WAITING
    longest_pause: timedelta = LONGEST_PAUSE
    waiting: list[_Message] = field(default_factory=list)
    under_way: _Message | None = None
    is_busy: bool = False
    """Whether a thread tells what waits."""
    is_down: bool = False
    lost: int = 0
    """How many were given up since it is."""
    pause: timedelta = FIRST_PAUSE
    again_at: datetime | None = None

    def add(self, *messages: _Message) -> None:
        """Have something wait, or give up what is oldest where too much does."""
        self.waiting += messages
        too_many = len(self.waiting) - (self.kept_while_down if self.is_down else MAX_WAITING)
        if too_many > 0:
            self.lost += too_many
            del self.waiting[:too_many]

    def is_due(self, now: datetime) -> bool:
        """Return whether something is to be told now."""
        return bool(self.waiting) and (self.again_at is None or self.again_at <= now)

    def failed(self, message: _Message, now: datetime, *, is_final: bool) -> None:
        """Take note that a message was not told: it waits for its turn, or is given up, and a pause begins."""
        self.is_down = True
        if is_final or now - message.since >= GIVEN_UP_AFTER:
            self.lost += 1
        else:
            self.waiting.insert(0, message)
        self.add()
        self.again_at, self.pause = now + self.pause, min(2 * self.pause, self.longest_pause)


@dataclass(frozen=True, slots=True)
class NotTold:
    """Why something was not told."""

    text: str
    is_final: bool
    """Whether it is not to be tried once more: that would not help, or it may have been told all the same."""

    def __str__(self) -> str:
        """Return the reason."""
        return self.text


def why_not_told(send: Callable[[], None], policy: RetryPolicy = _POLICY) -> NotTold | None:
    """Send something, with a few tries, and return why that did not succeed; None where it did."""
    failures: list[TryAgain] = []

    def once() -> None:
        try:
            send()
        except TryAgain as failure:
            failures.append(failure)
            raise

    try:
        policy.call(once, deadline=monotonic() + DEADLINE_SECONDS, given_up=Undelivered)
    except Undelivered as failure:
        # What may have been told is not told once more.
        is_final = not failures or isinstance(failures[-1], AnswerLost)
        return NotTold(str(failures[-1] if failures else failure), is_final)
    except Exception as error:  # noqa: BLE001 - what tells of a failure must not fail a run
        return NotTold(words_of(error), is_final=True)
    return None


class Teller:
    """Tells the operator, in threads of its own; whatever becomes of it, the caller hears nothing but the log does."""

    def __init__(
        self,
        channels: Sequence[Channel],
        *,
        clock: Callable[[], datetime],
        hidden: Callable[[str], str],
        ping: Ping | None = None,
        wanted: Collection[NoticeKind] = NOTICE_KINDS,
        policy: RetryPolicy = _POLICY,
    ) -> None:
        """Take the channels; nothing is sent yet.

        Args:
            channels: Over each of which everything is told.
            clock: The instant it is.
            hidden: Takes secrets out of a text.
            ping: Who is told of each slot that ended.
            wanted: What the operator wants to hear of.
            policy: How often a channel is tried before a notice has to wait.
        """
        self._channels = [(channel, _Outbox(channel.name)) for channel in channels]
        self._lines = [line for _, line in self._channels]
        self._ping: tuple[Ping, _Outbox] | None = None
        if ping is not None:
            # Of slots that ended while it was down the watchdog is told the last only.
            self._ping = ping, _Outbox(ping.name, kept_while_down=1, longest_pause=FIRST_PAUSE)
            self._lines.append(self._ping[1])
        self._clock, self._hidden, self._policy = clock, hidden, policy
        self._wanted = frozenset(wanted)
        self._troubles: set[str] = set()
        self._passed: deque[str] = deque(maxlen=_MOST_PASSED)
        self._changed = threading.Condition()
        """Held while a line is looked at or changed; told where one is not busy any more."""
        self._threads = DaemonThreadExecutor(max(1, len(self._lines)))

    def knows(self, *notices: Notice) -> None:
        """Take it that these were told before, as by an earlier process."""
        for notice in notices:
            self._is_new(notice)

    @property
    def troubles(self) -> frozenset[str]:
        """Return what was told, or known before, and is not over."""
        return frozenset(self._troubles)

    def tell(self, *notices: Notice) -> None:
        """Tell what is new, beside the caller: a trouble that was told before only once it is over."""
        new = [self._without_secrets(notice) for notice in notices if self._is_new(notice)]
        wanted = [notice for notice in new if notice.kind is None or notice.kind in self._wanted]
        now = self._clock()
        with self._changed:
            for channel, line in self._channels:
                line.add(*(_Message(notice.title, partial(channel.send, notice), now) for notice in wanted))
        self.tell_waiting()

    def slot_ended(self, *, is_good: bool) -> None:
        """Ping the watchdog, beside the caller."""
        if self._ping is None:
            return
        ping, line = self._ping
        title = "a slot is done" if is_good else "a slot failed"
        with self._changed:
            line.add(_Message(title, partial(ping.ping, is_good=is_good), self._clock()))
        self.tell_waiting()

    def tell_waiting(self) -> None:
        """Tell what could not be told before, where the pause is over; to be called now and then."""
        with self._changed:
            now = self._clock()
            for line in self._lines:
                if not line.is_busy and line.is_due(now):
                    line.is_busy = True
                    # One that hangs keeps no other waiting.
                    self._threads.submit(self._tell_line, line)

    def settle(self, seconds: float) -> bool:
        """Wait until nothing is told any more, at most so long, and return whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not any(line.is_busy for line in self._lines), seconds)

    def close(self, seconds: float) -> None:
        """Wait for what is being told, at most so long in all, and say in the log what was not told."""
        self.settle(seconds)
        with self._changed:
            for line in self._lines:
                left = [message.title for message in (line.under_way, *line.waiting) if message is not None]
                line.waiting.clear()
                # One that was given up was said when it failed.
                if left or line.lost > 1:
                    titles = self._hidden(": " + ", ".join(map(repr, left))) if left else ""
                    _log.warning("%s: %d could not be told by the end%s", line.name, len(left) + line.lost, titles)
        self._threads.shutdown()

    def _without_secrets(self, notice: Notice) -> Notice:
        """Return a notice as it may leave this machine: a name in it may be a key, by a mistake."""
        lines, table = tuple(map(self._hidden, notice.lines)), tuple(map(self._hidden, notice.table))
        return replace(notice, title=self._hidden(notice.title), lines=lines, table=table)

    def _is_new(self, notice: Notice) -> bool:
        if not notice.about:
            return True
        if notice.passes:
            is_new = notice.about not in self._passed
            if is_new:
                self._passed.append(notice.about)
            return is_new
        is_known = notice.about in self._troubles
        if notice.is_over:
            self._troubles.discard(notice.about)
        else:
            self._troubles.add(notice.about)
        return is_known == notice.is_over

    def _tell_line(self, line: _Outbox) -> None:
        """Tell what waits, the oldest first, until the channel fails."""
        while (message := self._next(line)) is not None:
            failure = why_not_told(message.send, self._policy)
            with self._changed:
                line.under_way = None
                if failure is None:
                    self._is_up(line)
                    continue
                if not line.is_down:
                    _log.warning("%s: not told %r: %s", line.name, message.title, self._hidden(str(failure)))
                line.failed(message, self._clock(), is_final=failure.is_final)

    def _next(self, line: _Outbox) -> _Message | None:
        """Return what is told next over a line; with nothing it is not busy any more."""
        with self._changed:
            if line.is_due(self._clock()):
                line.under_way = line.waiting.pop(0)
                return line.under_way
            line.is_busy = False
            self._changed.notify_all()
            return None

    def _is_up(self, line: _Outbox) -> None:
        if line.is_down:
            lost = f"; {line.lost} before could not be told" if line.lost else ""
            _log.warning("%s: reached again%s", line.name, lost)
        line.is_down, line.lost, line.pause, line.again_at = False, 0, FIRST_PAUSE, None
