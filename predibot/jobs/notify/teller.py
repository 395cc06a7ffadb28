"""The teller: sends each trouble once, and once its end, over every channel, without delaying or failing a run."""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from time import monotonic

from predibot.domain.terms import NOTICE_KINDS, NoticeKind
from predibot.errors import describe_error
from predibot.jobs.daemon_threads import DaemonThreadExecutor
from predibot.jobs.notify.channels import Channel, DeliveryError, Ping
from predibot.jobs.notify.notice import Notice
from predibot.net.failures import LostAnswer, TryAgain
from predibot.net.retry import RetryPolicy

_log = logging.getLogger(__name__)

DEADLINE_SECONDS = 20.0
"""Limit for all tries of one notice over one channel."""
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
"""Pause before a notice that could not be sent is tried again; it doubles each time."""
GIVEN_UP_AFTER = timedelta(hours=12)
MAX_WAITING = 20
"""Notices that wait for a channel that is busy or down; older ones are given up."""
_MOST_PASSED = 1_000
"""Number of remembered troubles that end by themselves; an older one may be reported again."""
# A notice whose answer was lost may have arrived, and nobody wants it three times in a chat.
_POLICY = RetryPolicy(tries=3, lost_tries=1)


@dataclass(frozen=True, slots=True)
class _Message:
    """A notice or a ping that waits for its channel."""

    title: str
    send: Callable[[], None]
    created_at: datetime


@dataclass(slots=True)
class _Outbox:
    """What waits for one channel or the watchdog: sent in order, by one thread at a time."""

    name: str
    kept_while_down: int = MAX_WAITING
    longest_pause: timedelta = LONGEST_PAUSE
    waiting: list[_Message] = field(default_factory=list)
    under_way: _Message | None = None
    is_busy: bool = False
    is_down: bool = False
    lost: int = 0
    """Messages given up since the channel is down."""
    pause: timedelta = FIRST_PAUSE
    again_at: datetime | None = None

    def add(self, *messages: _Message) -> None:
        """Add messages, and give up the oldest if too many wait."""
        self.waiting += messages
        too_many = len(self.waiting) - (self.kept_while_down if self.is_down else MAX_WAITING)
        if too_many > 0:
            self.lost += too_many
            del self.waiting[:too_many]

    def is_due(self, now: datetime) -> bool:
        # No pause is longer; where it seems so, the clock was set back.
        is_paused = self.again_at is not None and self.again_at - self.longest_pause <= now < self.again_at
        return bool(self.waiting) and not is_paused

    def note_failure(self, message: _Message, now: datetime, *, is_final: bool) -> None:
        """Have a failed message wait, or give it up, and begin a pause."""
        self.is_down = True
        if is_final or now - message.created_at >= GIVEN_UP_AFTER:
            self.lost += 1
        else:
            self.waiting.insert(0, message)
        self.add()
        self.again_at, self.pause = now + self.pause, min(2 * self.pause, self.longest_pause)

    def note_success(self) -> None:
        """Log that a channel that was down is up, and forget its failures."""
        if self.is_down:
            lost = f"; {self.lost} before could not be told" if self.lost else ""
            _log.warning("%s: reached again%s", self.name, lost)
        self.is_down, self.lost, self.pause, self.again_at = False, 0, FIRST_PAUSE, None


def try_to_send(send: Callable[[], None], policy: RetryPolicy = _POLICY) -> DeliveryError | None:
    """Send a message, with a few tries, and return why that failed; None if it did not."""
    failures: list[TryAgain] = []

    def once() -> None:
        try:
            send()
        except TryAgain as failure:
            failures.append(failure)
            raise

    try:
        policy.call(once, deadline=monotonic() + DEADLINE_SECONDS, given_up=DeliveryError)
    except DeliveryError as failure:
        # A message that may have arrived is not sent again.
        is_final = not failures or isinstance(failures[-1], LostAnswer)
        return DeliveryError(str(failures[-1] if failures else failure), is_final=is_final)
    except Exception as error:  # noqa: BLE001 - a notice must not fail a run
        return DeliveryError(describe_error(error))
    return None


class Teller:
    """Sends notices in threads of its own; failures go to the log, never to the caller."""

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
            channels: Each gets every notice of the kinds in `wanted`.
            ping: The watchdog, told of each slot that ended.
            wanted: Kinds that the operator chose.
            policy: Tries of one notice before it has to wait.
        """
        self._channels = [(channel, _Outbox(channel.name)) for channel in channels]
        self._outboxes = [outbox for _, outbox in self._channels]
        self._ping: tuple[Ping, _Outbox] | None = None
        if ping is not None:
            # After an outage the watchdog is told of the last slot only.
            self._ping = ping, _Outbox(ping.name, kept_while_down=1, longest_pause=FIRST_PAUSE)
            self._outboxes.append(self._ping[1])
        self._clock, self._hidden, self._policy = clock, hidden, policy
        self._wanted = frozenset(wanted)
        self._troubles: set[str] = set()
        self._passed: deque[str] = deque(maxlen=_MOST_PASSED)
        self._changed = threading.Condition()
        """Held while an outbox is read or changed; notified when one is no longer busy."""
        self._threads = DaemonThreadExecutor(max(1, len(self._outboxes)))

    def mark_as_told(self, *notices: Notice) -> None:
        """Treat these as sent before, as by an earlier process."""
        for notice in notices:
            self._is_new(notice)

    @property
    def troubles(self) -> frozenset[str]:
        """Return the keys of the troubles that were told, or known before, and go on."""
        return frozenset(self._troubles)

    def tell(self, *notices: Notice) -> None:
        """Send the new notices, in the background; a trouble is reported again only after it was over."""
        new = [self._without_secrets(notice) for notice in notices if self._is_new(notice)]
        wanted = [notice for notice in new if notice.kind is None or notice.kind in self._wanted]
        now = self._clock()
        with self._changed:
            for channel, outbox in self._channels:
                outbox.add(*(_Message(notice.title, partial(channel.send, notice), now) for notice in wanted))
        self.send_waiting()

    def report_slot_end(self, *, is_good: bool) -> None:
        """Ping the watchdog, in the background."""
        if self._ping is None:
            return
        ping, outbox = self._ping
        title = "a run is done" if is_good else "a run failed"
        with self._changed:
            outbox.add(_Message(title, partial(ping.ping, is_good=is_good), self._clock()))
        self.send_waiting()

    def send_waiting(self) -> None:
        """Send what waits where the pause is over; called now and then."""
        with self._changed:
            now = self._clock()
            for outbox in self._outboxes:
                if not outbox.is_busy and outbox.is_due(now):
                    outbox.is_busy = True
                    # In a thread of its own: a channel that hangs delays no other.
                    self._threads.submit(self._send_all, outbox)

    def settle(self, seconds: float) -> bool:
        """Wait up to `seconds` until nothing is being sent, and return whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not any(outbox.is_busy for outbox in self._outboxes), seconds)

    def close(self, seconds: float) -> None:
        """Wait up to `seconds` in all for what is being sent, and log what was not sent."""
        self.settle(seconds)
        with self._changed:
            for outbox in self._outboxes:
                left = [message.title for message in (outbox.under_way, *outbox.waiting) if message is not None]
                outbox.waiting.clear()
                # A single one that was given up was logged when it failed.
                if left or outbox.lost > 1:
                    titles = self._hidden(": " + ", ".join(map(repr, left))) if left else ""
                    _log.warning("%s: %d could not be told by the end%s", outbox.name, len(left) + outbox.lost, titles)
        self._threads.shutdown()

    def _without_secrets(self, notice: Notice) -> Notice:
        """Return a notice with secrets masked: a name in it may be a key, by mistake."""
        lines, table = tuple(map(self._hidden, notice.lines)), tuple(map(self._hidden, notice.table))
        return replace(notice, title=self._hidden(notice.title), lines=lines, table=table)

    def _is_new(self, notice: Notice) -> bool:
        if not notice.trouble:
            return True
        if notice.passes_by_itself:
            if notice.trouble in self._passed:
                return False
            self._passed.append(notice.trouble)
            return True
        is_known = notice.trouble in self._troubles
        if notice.is_over:
            self._troubles.discard(notice.trouble)
        else:
            self._troubles.add(notice.trouble)
        return is_known == notice.is_over

    def _send_all(self, outbox: _Outbox) -> None:
        """Send what waits, the oldest first, until the channel fails."""
        while (message := self._next(outbox)) is not None:
            failure = try_to_send(message.send, self._policy)
            with self._changed:
                outbox.under_way = None
                if failure is None:
                    outbox.note_success()
                    continue
                if not outbox.is_down:
                    _log.warning("%s: not told %r: %s", outbox.name, message.title, self._hidden(str(failure)))
                outbox.note_failure(message, self._clock(), is_final=failure.is_final)

    def _next(self, outbox: _Outbox) -> _Message | None:
        """Return the next message to send; if there is none, the outbox is no longer busy."""
        with self._changed:
            if outbox.is_due(self._clock()):
                outbox.under_way = outbox.waiting.pop(0)
                return outbox.under_way
            outbox.is_busy = False
            self._changed.notify_all()
            return None
