"""Notices: the channels to the user, whether they work, and what a service sends."""

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
from predibot.jobs.notify.slot_notices import Highlights, SlotNotices
from predibot.jobs.notify.teller import try_to_send
from predibot.ledger.store import Store
from predibot.scoring.evaluation.evaluation import Evaluation

LAST_SECONDS, LAST_SECONDS_ONCE = 12.0, 30.0
"""How long a service that ends waits for its last notices: longer than one try, shorter than systemd's patience.
With `--once` nobody waits for the service, so slow channels get more."""

ChannelVerdict = Literal["ready", "arrived", "failed"]


@dataclass(frozen=True, slots=True)
class ChannelState:
    """A channel of the settings, and whether it works."""

    channel: str
    verdict: ChannelVerdict
    seen: str
    """Its destination, or its problem."""


def list_channels(caller: Caller, *, test: bool) -> tuple[ChannelState, ...]:
    """Return each channel of the settings; `test` sends each a message, and the watchdog a ping."""
    channels = open_channels(caller.settings().notify, caller.clock)
    hidden = SecretValues(secrets_present()).mask
    notice = notice_of_test(caller.clock())
    ways = [(each.name, each.where, partial(each.send, notice)) for each in channels.usable]
    if (ping := channels.ping) is not None:
        ways.append((ping.name, ping.where, partial(ping.ping, is_good=True)))
    found = [ChannelState(name, "failed", problem) for name, problem in channels.problems]
    for name, where, send in ways:
        why = try_to_send(send) if test else None
        verdict: ChannelVerdict = "ready" if not test else "arrived" if why is None else "failed"
        found.append(ChannelState(name, verdict, hidden(where if why is None else str(why))))
    return tuple(found)


@contextmanager
def slot_notices(
    caller: Caller, ledger: str, shown: Callable[[Evaluation, int], Highlights], *, last_seconds: float = LAST_SECONDS
) -> Iterator[SlotNotices | None]:
    """Yield the notices for the slots of a service; None without any channel. `shown` returns what a summary shows of
    an evaluation, in so many lines; the end waits `last_seconds` for the last notices.
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
