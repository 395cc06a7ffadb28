"""What can go wrong with a request, in the words of nobody in particular: its users say what it means to them."""

MAX_ASKED_TRIES = 20
"""Where the other side says when to come back, the deadline is what ends it."""
MAX_CONNECT_TRIES = 3
"""A host that cannot be reached at all is given up sooner."""
SEEN_CHARACTERS = 300


class TryAgain(Exception):
    """One try failed in a way that another may not; as far as is known, nothing was done for it."""

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
        """Keep what a retry needs.

        Args:
            message: What happened.
            wait_seconds: What the other side asks for, if it does.
            tries: How many tries such a failure is worth; None leaves it to the retry.
            ill: Whether it speaks against the other side's health; a rate limit does not.
            too_many: Whether it says that it is asked too often.
            cause: The name of the foreign error it was, for those who may show no more of it.
        """
        super().__init__(message)
        self.too_many = too_many
        self.wait_seconds = wait_seconds
        self.tries = tries
        self.ill = ill
        self.cause = cause


class AnswerLost(TryAgain):
    """The request was sent and no whole answer came: it may have been paid for."""


class AnswerLate(AnswerLost):
    """The time for the answer is over."""


class NotSent(TryAgain):
    """There was no time left to send the request; it says nothing about the other side."""

    def __init__(self) -> None:
        """Say so."""
        super().__init__("no time was left, so that nothing was sent", tries=1)


class BadAnswer(Exception):
    """An answer came that cannot be taken, and asking again would not help."""

    def __init__(self, message: str, status: int) -> None:
        """Keep the HTTP status: a success may have been paid for."""
        super().__init__(message)
        self.status = status


class BadAddress(Exception):
    """The address, or what goes along, is none that can be sent."""

    def __init__(self, message: str, cause: str) -> None:
        """Keep the name of the foreign error it was."""
        super().__init__(message)
        self.cause = cause


def one_line(text: str) -> str:
    """Return the beginning of a foreign text as one line without control characters."""
    words = " ".join(text[: 4 * SEEN_CHARACTERS].split())
    return "".join(character if character.isprintable() else "\ufffd" for character in words)[:SEEN_CHARACTERS]
