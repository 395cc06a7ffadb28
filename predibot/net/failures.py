"""Failures of requests, in words that each caller translates into its own errors."""

MAX_ASKED_TRIES = 20
"""Most tries if the server says how long to wait; the deadline ends them too."""
MAX_CONNECT_TRIES = 3
"""For a host that cannot be reached."""
SEEN_CHARACTERS = 300


class TryAgain(Exception):
    """A try failed, and another may succeed. The server probably did no work for the first."""

    def __init__(
        self,
        message: str,
        *,
        wait_seconds: float | None = None,
        tries: int | None = None,
        ill: bool = True,
        too_many: bool = False,
        cause: str = "",
    ) -> None:
        """Keep what a retry needs to know.

        Args:
            wait_seconds: The wait that the other side asks for.
            tries: How many tries such a failure is worth; None leaves it to the retry.
            ill: Whether it speaks against the other side's health; a rate limit does not.
            too_many: Whether the other side complains of too many calls.
            cause: The name of the foreign error, for callers who may show no more of it.
        """
        super().__init__(message)
        self.too_many = too_many
        self.wait_seconds = wait_seconds
        self.tries = tries
        self.ill = ill
        self.cause = cause


class LostAnswer(TryAgain):
    """The request was sent, but no whole answer came: it may have been paid for."""


class LateAnswer(LostAnswer):
    """The answer did not come in time."""


class NoTimeToSend(TryAgain):
    """No time was left to send the request; this says nothing about the other side."""

    def __init__(self) -> None:
        """Set the message."""
        super().__init__("no time was left, so that nothing was sent", tries=1)


class BadAnswer(Exception):
    """An unacceptable answer came, and asking again would not help."""

    def __init__(self, message: str, status: int) -> None:
        """Keep the HTTP status: a success may have been paid for."""
        super().__init__(message)
        self.status = status


class BadAddress(Exception):
    """The address or a header cannot be sent."""

    def __init__(self, message: str, cause: str) -> None:
        """Keep the name of the foreign error."""
        super().__init__(message)
        self.cause = cause


def one_line(text: str) -> str:
    """Return the beginning of a foreign text as one line without control characters."""
    words = " ".join(text[: 4 * SEEN_CHARACTERS].split())
    return "".join(character if character.isprintable() else "\ufffd" for character in words)[:SEEN_CHARACTERS]
