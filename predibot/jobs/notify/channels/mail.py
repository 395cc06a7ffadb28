"""Mail: a notice over SMTP, encrypted unless the server is this machine."""

import smtplib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, make_msgid

from httpx import create_ssl_context

from predibot.config import EmailSettings
from predibot.jobs.notify.channels.channel import SECONDS, DeliveryError
from predibot.jobs.notify.notice import Notice
from predibot.net.deadline import GRACE_SECONDS, call_within
from predibot.net.failures import LostAnswer, TryAgain

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
        with _translate_errors(is_begun), connection:
            connection.connect(self.settings.host, self.settings.usual_port)
            if self.settings.security == "starttls":
                connection.starttls(context=create_ssl_context())
            if self.settings.user is not None and self.password is not None:
                connection.login(self.settings.user, self.password)
            is_begun.set()
            refused = connection.send_message(message)
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
