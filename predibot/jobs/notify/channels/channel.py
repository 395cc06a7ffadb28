"""A channel: a way to an operator that takes a notice, or says in our own words why it did not."""

from typing import Protocol

from predibot.jobs.notify.notice import Notice

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
