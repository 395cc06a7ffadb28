"""Telling: each trouble once and when it is over, over every channel, and never at the cost of a run."""

import logging
from collections.abc import Callable, Collection, Iterable, Sequence
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
"""Notices a channel that is down is told later; older ones are given up."""
# A request whose answer was lost may have been told, and a chat does not want it three times.
_POLICY = RetryPolicy(tries=3, lost_tries=1)


@dataclass(slots=True)
class _Line:
    """A channel, and what is still to be told over it."""

    channel: Channel
    waiting: list[tuple[Notice, datetime]] = field(default_factory=list)
    """Each with the instant at which it was new."""
    is_down: bool = False
    lost: int = 0
    """How many were given up since it is."""
    pause: timedelta = FIRST_PAUSE
    again_at: datetime | None = None


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
    """Tells the operator; whatever becomes of it, the caller hears nothing but the log does."""

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
        self._lines = [_Line(channel) for channel in channels]
        self._clock, self._hidden, self._ping, self._policy = clock, hidden, ping, policy
        self._wanted = frozenset(wanted)
        self._troubles: set[str] = set()
        self._ping_is_down = False

    def knows(self, troubles: Iterable[str]) -> None:
        """Take it that these troubles were told before, as by an earlier process; each is what notices are about."""
        self._troubles.update(troubles)

    @property
    def troubles(self) -> frozenset[str]:
        """Return what was told, or known before, and is not over."""
        return frozenset(self._troubles)

    def tell(self, *notices: Notice) -> None:
        """Tell what is new: a trouble that was told before only once it is over."""
        new = [self._without_secrets(notice) for notice in notices if self._is_new(notice)]
        now = self._clock()
        for line in self._lines:
            line.waiting += [(notice, now) for notice in new if notice.kind is None or notice.kind in self._wanted]
            line.lost += max(0, len(line.waiting) - MAX_WAITING)
            del line.waiting[:-MAX_WAITING]
        self.tell_waiting()

    def tell_waiting(self) -> None:
        """Tell what could not be told before, over channels whose pause is over; to be called now and then."""
        now = self._clock()
        due = [line for line in self._lines if line.waiting and (line.again_at is None or line.again_at <= now)]
        if not due:
            return
        with DaemonThreadExecutor(len(due)) as threads:
            # One that hangs keeps no other waiting.
            for told in [threads.submit(self._tell_line, line, now) for line in due]:
                told.result()

    def slot_ended(self, *, is_good: bool) -> None:
        """Ping the watchdog; a ping that is late would say nothing true, so it never waits."""
        if self._ping is None:
            return
        failure = why_not_told(partial(self._ping.ping, is_good=is_good), self._policy)
        if failure is not None and not self._ping_is_down:
            _log.warning("%s: not pinged: %s", self._ping.name, self._hidden(str(failure)))
        elif failure is None and self._ping_is_down:
            _log.warning("%s: pinged again", self._ping.name)
        self._ping_is_down = failure is not None

    def _without_secrets(self, notice: Notice) -> Notice:
        """Return a notice as it may leave this machine: a name in it may be a key, by a mistake."""
        lines, table = tuple(map(self._hidden, notice.lines)), tuple(map(self._hidden, notice.table))
        return replace(notice, title=self._hidden(notice.title), lines=lines, table=table)

    def _is_new(self, notice: Notice) -> bool:
        if not notice.about:
            return True
        is_known = notice.about in self._troubles
        if notice.is_over:
            self._troubles.discard(notice.about)
        else:
            self._troubles.add(notice.about)
        return is_known == notice.is_over

    def _tell_line(self, line: _Line, now: datetime) -> None:
        """Tell what waits, the oldest first, until the channel fails."""
        while line.waiting:
            notice, since = line.waiting[0]
            failure = why_not_told(partial(line.channel.send, notice), self._policy)
            if failure is None:
                line.waiting.pop(0)
                self._is_up(line)
                continue
            if not line.is_down:
                _log.warning("%s: not told %r: %s", line.channel.name, notice.title, self._hidden(str(failure)))
            line.is_down = True
            if failure.is_final or now - since >= GIVEN_UP_AFTER:
                line.waiting.pop(0)
                line.lost += 1
            line.again_at, line.pause = now + line.pause, min(2 * line.pause, LONGEST_PAUSE)
            return

    def _is_up(self, line: _Line) -> None:
        if line.is_down:
            lost = f"; {line.lost} before could not be told" if line.lost else ""
            _log.warning("%s: notices arrive again%s", line.channel.name, lost)
        line.is_down, line.lost, line.pause, line.again_at = False, 0, FIRST_PAUSE, None
