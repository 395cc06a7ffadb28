"""Channels: ways to an operator that take a notice, or say in our own words why they did not."""

import os
import signal
import smtplib
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid
from typing import Protocol

from httpx import create_ssl_context

from predibot.config import EmailSettings
from predibot.jobs.notify.notice import Notice
from predibot.net.deadline import GRACE_SECONDS, call_within
from predibot.net.failures import BadAddress, BadAnswer, LateAnswer, LostAnswer, TryAgain
from predibot.net.json_client import JsonClient
from predibot.net.retry import retry_after_seconds

SECONDS = 10.0
"""For one try of one channel."""


class DeliveryError(Exception):
    """A channel did not take a notice, and trying again would not help, at least not soon."""

    def __init__(self, text: str, *, is_final: bool = True) -> None:
        """Say why, and whether the notice is given up: no other try would help, or it may have arrived all the same."""
        super().__init__(text)
        self.is_final = is_final


class Channel(Protocol):
    """A way to the operator."""

    @property
    def name(self) -> str:
        """Return what the settings call it."""

    @property
    def where(self) -> str:
        """Return where it leads, as a screen may show it: without secrets."""

    def send(self, notice: Notice) -> None:
        """Hand a notice over.

        Raises:
            TryAgain: If another try may help; `LostAnswer` if the operator may have been told all the same.
            DeliveryError: If no other try would help.
        """


_MAX_BYTES = 100_000
_BUSY_STATUSES = (408, 425, 429)
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", "@": "@\u200b", "`": "'"})
"""Characters that make a mention or a link, or end a table, in Slack's dialect and similar ones."""


@dataclass(frozen=True, slots=True)
class SecretAddress:
    """An address that anybody who knows it may use: no message quotes it or its answer."""

    variable: str
    """The environment variable that holds it."""
    url: str = field(repr=False)
    seconds: float = SECONDS
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    @property
    def where(self) -> str:
        """Return where it leads."""
        return f"the address in {self.variable}"

    def request(self, method: str, *, path: str = "", body: object = None) -> None:
        """Send a request with a JSON body to a path below the address, without redirects; raises as `Channel.send`."""
        head, mark, query = self.url.partition("?")
        where = f"{head.rstrip('/')}{path}{mark}{query}" if path else self.url
        try:
            with JsonClient(max_bytes=_MAX_BYTES) as client:
                answer = client.ask(method, where, seconds=self.seconds, body=body, asked=self.variable)
            status, headers = answer.status, answer.headers
        except BadAnswer as failure:
            # The body of the answer is odd; its status still says whether the request was taken.
            status, headers = failure.status, {}
        except BadAddress:
            raise DeliveryError(f"what {self.variable} holds is no address; set it anew") from None
        except LateAnswer:
            raise LateAnswer(f"no answer in {self.seconds:.3g} s") from None
        except LostAnswer:
            raise LostAnswer("the connection broke off before there was an answer") from None
        except TryAgain as failure:
            raise TryAgain("no connection", tries=failure.tries) from None
        if status in _BUSY_STATUSES or status >= 500:
            raise TryAgain(f"it answered {status}", wait_seconds=retry_after_seconds(headers, self.clock()))
        if 300 <= status < 400:
            raise DeliveryError(
                f"it answered {status}; redirects are not followed, so set {self.variable} to their end"
            )
        if not 200 <= status < 300:
            raise DeliveryError(f"it answered {status}; look whether {self.variable} is right")


@dataclass(frozen=True, slots=True)
class Webhook(SecretAddress):
    """A chat that takes Slack's JSON, `{"text": ...}`."""

    name: str = "webhook"

    def send(self, notice: Notice) -> None:
        """Post a notice; raises as `Channel.send`."""
        self.request("POST", body={"text": slack_text(notice)})


def slack_text(notice: Notice) -> str:
    """Return a notice in Slack's dialect, without mentions, links or emphasis.

    Examples:
        >>> slack_text(Notice(None, "a <!here>", ("b & c",), ("bot  1",)))
        '*a &lt;!here&gt;*\\n```b &amp; c\\nbot  1```'
    """
    title, *lines = (line.translate(_ENTITIES) for line in (notice.title.replace("*", "∗"), *notice.body))
    # In a block of code a chat reads no dialect, and columns stay below each other.
    return f"*{title}*" + ("\n```{}```".format("\n".join(lines)) if lines else "")


@dataclass(frozen=True, slots=True)
class Ping(SecretAddress):
    """A watchdog that raises the alarm when no ping comes, such as healthchecks.io; a dead machine sends none."""

    tells_failures: bool = True
    """Whether a slot that failed calls the address with `/fail` appended."""
    name: str = "ping"

    def ping(self, *, is_good: bool) -> None:
        """Tell how a slot ended; raises as `Channel.send`."""
        if is_good or self.tells_failures:
            self.request("GET", path="" if is_good else "/fail")


@dataclass(frozen=True, slots=True)
class ProgramCall:
    """A program that takes notices."""

    argv: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    """All that it gets: no key is in it that the settings do not name."""
    seconds: float
    name: str = "command"

    @property
    def where(self) -> str:
        """Return where it leads."""
        return self.argv[0]

    def send(self, notice: Notice) -> None:
        """Run it with the title as the first line of its stdin.

        Raises:
            LateAnswer: If it does not end in time. It and the processes it started are killed.
            TryAgain: If it ends with another exit code than 0.
            DeliveryError: If it cannot be started.
        """
        text = "\n".join((notice.title, *notice.body)) + "\n"
        try:
            # Its output could be endless.
            process = subprocess.Popen(
                self.argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=dict(self.environment),
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or "its arguments cannot be passed on"
            raise DeliveryError(f"{self.argv[0]} cannot be started: {why}") from None
        try:
            process.communicate(text.encode("utf-8", "replace"), timeout=self.seconds)
        except subprocess.TimeoutExpired:
            raise LateAnswer(f"{self.argv[0]} did not end in {self.seconds:.3g} s, and was ended") from None
        finally:
            if process.poll() is None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if process.returncode:
            raise TryAgain(f"{self.argv[0]} ended with exit code {process.returncode}", tries=1)


_OUR_NAME = "[127.0.0.1]"
"""The server is not told the name of this machine; looking that up may hang, too."""


@dataclass(frozen=True, slots=True)
class Mail:
    """Mail from one sender over one server."""

    settings: EmailSettings
    password: str | None = field(default=None, repr=False)
    seconds: float = SECONDS
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    name: str = "email"

    @property
    def where(self) -> str:
        """Return where it leads."""
        settings = self.settings
        return f"{', '.join(settings.to)} over {settings.host}:{settings.usual_port} ({settings.security})"

    def send(self, notice: Notice) -> None:
        """Hand a notice to the server; raises as `Channel.send`."""
        connection, message, is_begun = self._new_connection(), self._message(notice), threading.Event()
        try:
            call_within(lambda: self._deliver(connection, message, is_begun), self.seconds + GRACE_SECONDS)
        except TimeoutError:
            if connection.sock is not None:
                # Ends the read of the thread that was left behind.
                with suppress(OSError):
                    connection.sock.shutdown(socket.SHUT_RDWR)
            raise _failure(f"not done in {self.seconds:.3g} s", is_begun) from None

    def _new_connection(self) -> smtplib.SMTP:
        """Return an object that is not connected yet, so that `send` can cut the connection."""
        if self.settings.security == "tls":
            connection: smtplib.SMTP = smtplib.SMTP_SSL(
                local_hostname=_OUR_NAME, timeout=self.seconds, context=create_ssl_context()
            )
        else:
            connection = smtplib.SMTP(local_hostname=_OUR_NAME, timeout=self.seconds)
        # The name that the certificate must have; otherwise only a constructor that connects sets it.
        connection._host = self.settings.host  # type: ignore[attr-defined]
        return connection

    def _message(self, notice: Notice) -> EmailMessage:
        message = EmailMessage()
        message["Subject"] = notice.title
        message["From"] = self.settings.sender
        message["To"] = ", ".join(self.settings.to)
        message["Date"] = format_datetime(self.clock())
        message["Message-ID"] = make_msgid(domain=self.settings.sender.rpartition("@")[2])
        # No out-of-office reply answers it.
        message["Auto-Submitted"] = "auto-generated"
        message.set_content("\n".join(notice.body) + "\n")
        return message

    def _deliver(self, connection: smtplib.SMTP, message: EmailMessage, is_begun: threading.Event) -> None:
        with _translate_errors(is_begun), closing(connection):
            connection.connect(self.settings.host, self.settings.usual_port)
            if self.settings.security == "starttls":
                connection.starttls(context=create_ssl_context())
            if self.settings.user is not None and self.password is not None:
                connection.login(self.settings.user, self.password)
            is_begun.set()
            refused = connection.send_message(message)
            # The mail is taken, however the server answers to the end of the talk.
            with suppress(OSError, smtplib.SMTPException):
                connection.quit()
        if refused:
            raise DeliveryError(
                f"the server refused {len(refused)} of {len(self.settings.to)} addresses, and took the others"
            )


def _failure(message: str, is_begun: threading.Event) -> TryAgain:
    """Return a failure that may pass; a mail whose sending had begun may have arrived."""
    return LostAnswer(message) if is_begun.is_set() else TryAgain(message)


@contextmanager
def _translate_errors(is_begun: threading.Event) -> Iterator[None]:
    """Describe errors in our own words: the server's may quote the password."""
    try:
        yield
    except smtplib.SMTPNotSupportedError:
        raise DeliveryError("the server offers no STARTTLS, or no way to log in; see security and user") from None
    except smtplib.SMTPAuthenticationError as error:
        raise _failure_of_code(error.smtp_code, "the server did not take user and password") from None
    except smtplib.SMTPRecipientsRefused as error:
        codes = [code for code, _ in error.recipients.values()]
        raise _failure_of_code(min(codes, default=500), "the server refused all addresses") from None
    except smtplib.SMTPResponseException as error:
        raise _failure_of_code(error.smtp_code, "the server refused the mail") from None
    except ssl.SSLCertVerificationError:
        raise DeliveryError("the server's certificate is not to be trusted; see host, or SSL_CERT_FILE") from None
    except ssl.SSLError:
        raise DeliveryError("the server does not speak TLS there; see port and security") from None
    except socket.gaierror:
        raise TryAgain("no such host is known") from None
    except TimeoutError:
        raise _failure("no answer in time", is_begun) from None
    except (OSError, smtplib.SMTPException):
        raise _failure("no connection, or it broke off", is_begun) from None


def _failure_of_code(code: int, message: str) -> Exception:
    """Return the failure that an SMTP code stands for: from 500 on it is permanent."""
    return DeliveryError(f"{message} ({code})") if code >= 500 else TryAgain(f"{message} for now ({code})")


@dataclass(frozen=True, slots=True)
class Apprise:
    """One service, by its address."""

    variable: str
    """The environment variable that holds the addresses."""
    place: int
    """This address is the first, second, ... of them, from 1."""
    url: str = field(repr=False)
    seconds: float = SECONDS

    @property
    def name(self) -> str:
        """Return what the settings call it, with its place."""
        return f"apprise {self.place}"

    @property
    def where(self) -> str:
        """Return where it leads."""
        return f"address {self.place} in {self.variable}"

    def send(self, notice: Notice) -> None:
        """Have the library send a notice; raise what `Channel.send` does, and `LateAnswer` if it takes too long."""
        try:
            is_sent = call_within(lambda: self._notify(notice), self.seconds + GRACE_SECONDS)
        except TimeoutError:
            raise LateAnswer(f"not done in {self.seconds:.3g} s") from None
        if not is_sent:
            raise TryAgain("the service did not take it; `apprise -vv` with the same address says why", tries=1)

    def _notify(self, notice: Notice) -> bool:
        try:
            # Imported here: it is an extra, and takes a fifth of a second.
            import apprise
        except ImportError:
            raise DeliveryError("apprise is not installed; install predibot[notify]") from None
        asset = apprise.AppriseAsset(http_redirects=False, allow_templates=False, secure_logging=True)
        services = apprise.Apprise(asset=asset)
        if not services.add(self.url):
            raise DeliveryError(f"{self.where} is of no service that apprise knows; correct it")
        # As text: escapes, templates and markup in a name stay what they are.
        return bool(
            services.notify(
                body="\n".join(notice.body) or notice.title,
                title=notice.title,
                body_format="text",
                interpret_escapes=False,
                timeout=self.seconds,
            )
        )
