"""A channel: a way to an operator, which takes a notice or says in our own words why it did not."""

from typing import Protocol

from predibot.jobs.notify.notice import Notice

SECONDS = 10.0
"""For one try of one channel; who watches a run waits meanwhile."""


class Undelivered(Exception):
    """A channel did not take a notice, and trying again would not help soon."""


class Channel(Protocol):
    """A way to the operator."""

    @property
    def name(self) -> str:
        """Return what it is called in the settings."""

    @property
    def where(self) -> str:
        """Return where it leads as a screen may show it: nothing secret."""

    def send(self, notice: Notice) -> None:
        """Hand a notice over.

        Raises:
            TryAgain: If another try may help, as far as is known nothing was told; `AnswerLost` where it may have been.
            Undelivered: If none would.
        """
