"""Whom predibot tells, whether it can, and the telling of a service's slots, each in one call."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Literal

from predibot.domain.secret_values import SecretValues
from predibot.environment import secrets_present
from predibot.jobs.caller import Caller
from predibot.jobs.notify.notice import notice_of_test
from predibot.jobs.notify.open_channels import open_channels, open_teller
from predibot.jobs.notify.slot_notices import Shown, SlotNotices
from predibot.jobs.notify.teller import why_not_told
from predibot.ledger.store import Store
from predibot.scoring.evaluation.evaluation import Evaluation

LAST_SECONDS, LAST_SECONDS_ONCE = 12.0, 30.0
"""For what is being told when a service ends: longer than a try of a channel, shorter than systemd waits. One that
plays what is due and ends is waited for by nobody, so that what is slow gets there too."""

ChannelVerdict = Literal["ready", "arrived", "failed"]


@dataclass(frozen=True, slots=True)
class ChannelState:
    """A channel of the settings, and whether somebody is told over it."""

    channel: str
    verdict: ChannelVerdict
    seen: str
    """Where it leads, or what is in the way."""


def list_channels(caller: Caller, *, test: bool) -> tuple[ChannelState, ...]:
    """Return each channel of the settings.

    Args:
        test: Whether each is sent a message, and the watchdog a ping.

    Raises:
        UsageError: If a setting is wrong.
    """
    channels = open_channels(caller.settings().notify, caller.clock)
    hidden = SecretValues(secrets_present()).hidden
    notice = notice_of_test(caller.clock())
    ways = [(each.name, each.where, partial(each.send, notice)) for each in channels.usable]
    if (ping := channels.ping) is not None:
        ways.append((ping.name, ping.where, partial(ping.ping, is_good=True)))
    found = [ChannelState(name, "failed", problem) for name, problem in channels.problems]
    for name, where, send in ways:
        why = why_not_told(send) if test else None
        verdict: ChannelVerdict = "ready" if not test else "arrived" if why is None else "failed"
        found.append(ChannelState(name, verdict, hidden(where if why is None else str(why))))
    return tuple(found)


@contextmanager
def slot_notices(
    caller: Caller, ledger: str, shown: Callable[[Evaluation, int], Shown], *, last_seconds: float = LAST_SECONDS
) -> Iterator[SlotNotices | None]:
    """Yield what is told of the slots of a service; None where nobody is to be told.

    Args:
        shown: What a summary shows of an evaluation, in so many lines.
        last_seconds: How long the end waits for what is being told.

    Raises:
        PredibotError: If the settings are wrong, or the ledger cannot be opened.
    """
    settings = caller.settings().notify
    channels = open_channels(settings, caller.clock)
    for name, problem in channels.problems:
        caller.say(f"[notify] {name}: {problem}")
    if not channels.usable and channels.ping is None:
        yield None
        return
    with Store.open(ledger) as store:
        teller = open_teller(channels, settings, caller.clock)
        try:
            yield SlotNotices(teller, store=store, settings=settings, clock=caller.clock, shown=shown)
        finally:
            teller.close(last_seconds)
