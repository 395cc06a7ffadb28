"""The channels that the settings name, with their secrets from the environment."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from predibot.config import NotifySettings
from predibot.domain.secret_values import SecretValues
from predibot.environment import environment_of_command, read_secret, secrets_present
from predibot.jobs.notify.channels import Apprise, Channel, Mail, Ping, ProgramCall, Webhook
from predibot.jobs.notify.teller import Teller

Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Channels:
    """The channels of the settings, and what is wrong with those that cannot be used."""

    usable: tuple[Channel, ...]
    ping: Ping | None
    problems: tuple[tuple[str, str], ...]
    """Each unusable channel's name, and what to set."""


def open_channels(settings: NotifySettings, clock: Clock) -> Channels:
    """Return the channels of the settings; nothing is connected yet."""
    usable: list[Channel] = []
    problems: list[tuple[str, str]] = []
    ping = None
    if settings.webhook is not None and (url := _secret("webhook", settings.webhook.url_env, problems)):
        usable.append(Webhook(settings.webhook.url_env, url, clock=clock))
    if settings.email is not None:
        password = read_secret(settings.email.password_env)
        if settings.email.user is None or (password := _secret("email", settings.email.password_env, problems)):
            usable.append(Mail(settings.email, password, clock=clock))
    if settings.command is not None:
        environment = environment_of_command(settings.command.env)
        usable.append(ProgramCall(settings.command.run, environment, settings.command.seconds))
    if settings.apprise is not None:
        variable = settings.apprise.urls_env
        urls = (_secret("apprise", variable, problems) or "").split()
        usable += [Apprise(variable, place, url) for place, url in enumerate(urls, start=1)]
    if settings.ping is not None and (url := _secret("ping", settings.ping.url_env, problems)):
        ping = Ping(settings.ping.url_env, url, clock=clock, tells_failures=settings.ping.fail)
    return Channels(tuple(usable), ping, tuple(problems))


def open_teller(channels: Channels, settings: NotifySettings, clock: Clock) -> Teller:
    """Return a teller that sends over these channels and masks every secret of the environment."""
    hidden = SecretValues(secrets_present()).mask
    return Teller(channels.usable, clock=clock, hidden=hidden, ping=channels.ping, wanted=settings.on)


def _secret(channel: str, variable: str, problems: list[tuple[str, str]]) -> str | None:
    """Return the value of a variable; None if it is not set, which is added to the problems."""
    value = read_secret(variable)
    if value is None:
        problems.append((channel, f"{variable} is not set; set it in the environment"))
    return value
