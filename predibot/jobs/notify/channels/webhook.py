"""Secret addresses that take a request: the webhook of a chat, and the ping of a watchdog."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from predibot.jobs.notify.channels.channel import SECONDS, DeliveryError
from predibot.jobs.notify.notice import Notice
from predibot.net.failures import BadAddress, BadAnswer, LateAnswer, LostAnswer, TryAgain
from predibot.net.json_client import JsonClient
from predibot.net.retry import retry_after_seconds

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
