"""The channels that the settings name, with their secrets from the environment."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from predibot.config import NotifySettings
from predibot.domain.secret_values import SecretValues
from predibot.environment import environment_of_command, secret_named, secrets_present
from predibot.jobs.notify.apprise_library import Apprise
from predibot.jobs.notify.channel import Channel
from predibot.jobs.notify.command import ProgramCall
from predibot.jobs.notify.mail import Mail
from predibot.jobs.notify.teller import Teller
from predibot.jobs.notify.webhook import Ping, Webhook

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Channels:
    """Who is told, and over which of the channels that were named nobody can be."""

    usable: tuple[Channel, ...]
    ping: Ping | None
    problems: tuple[tuple[str, str], ...]
    """The name of each of those, and what is to be set."""


def open_channels(settings: NotifySettings, clock: Clock) -> Channels:
    """Return the channels of the settings; nothing is connected yet."""
    usable: list[Channel] = []
    problems: list[tuple[str, str]] = []
    ping = None
    if settings.webhook is not None and (url := _secret("webhook", settings.webhook.url_env, problems)):
        usable.append(Webhook(settings.webhook.url_env, url, clock=clock))
    if settings.email is not None:
        password = secret_named(settings.email.password_env)
        if settings.email.user is None or (password := _secret("email", settings.email.password_env, problems)):
            usable.append(Mail(settings.email, password, clock=clock))
    if settings.command is not None:
        given = environment_of_command(settings.command.env)
        usable.append(ProgramCall(settings.command.run, given, settings.command.seconds))
    if settings.apprise is not None:
        variable = settings.apprise.urls_env
        urls = (_secret("apprise", variable, problems) or "").split()
        usable += [Apprise(variable, place, url) for place, url in enumerate(urls, start=1)]
    if settings.ping is not None and (url := _secret("ping", settings.ping.url_env, problems)):
        ping = Ping(settings.ping.url_env, url, clock=clock, tells_failures=settings.ping.fail)
    return Channels(tuple(usable), ping, tuple(problems))


def open_teller(channels: Channels, settings: NotifySettings, clock: Clock) -> Teller:
    """Return who tells over channels, and lets no secret of the environment out."""
    hidden = SecretValues(secrets_present()).hidden
    return Teller(channels.usable, clock=clock, hidden=hidden, ping=channels.ping, wanted=settings.on)


def _secret(channel: str, variable: str, problems: list[tuple[str, str]]) -> str | None:
    """Return what a variable holds; where it is not set, that is the channel's problem."""
    value = secret_named(variable)
    if value is None:
        problems.append((channel, f"{variable} is not set; set it in the environment"))
    return value
