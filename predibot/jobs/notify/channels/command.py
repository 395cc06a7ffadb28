"""A command of the operator's: it reads a notice on stdin, without a shell, within a bounded time."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from predibot.jobs.notify.channels.channel import DeliveryError
from predibot.jobs.notify.notice import Notice
from predibot.net.failures import LateAnswer, TryAgain


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
