"""Whom predibot tells, and whether it can, in one call."""

from dataclasses import dataclass
from functools import partial
from typing import Literal

from predibot.domain.notice import notice_of_test
from predibot.domain.secret_values import SecretValues
from predibot.environment import secrets_present
from predibot.jobs.commands.caller import Caller
from predibot.jobs.notify.open_channels import open_channels
from predibot.jobs.notify.teller import why_not_told

ChannelVerdict = Literal["ready", "arrived", "failed"]


@dataclass(frozen=True, slots=True)
class ChannelState:
    """A channel of the settings, and whether somebody is told over it."""

    channel: str
    verdict: ChannelVerdict
    seen: str
    """Where it leads, or what is in the way."""


def channels_as_asked(caller: Caller, *, test: bool) -> tuple[ChannelState, ...]:
    """Return each channel of the settings.

    Args:
        caller: Who asks.
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
