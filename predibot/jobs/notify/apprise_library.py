"""Apprise: the many services that this library knows, by addresses of its own kind."""

from dataclasses import dataclass, field

from predibot.jobs.notify.channel import SECONDS, Undelivered
from predibot.jobs.notify.notice import Notice
from predibot.net.deadline import GRACE_SECONDS, in_time
from predibot.net.failures import AnswerLate, TryAgain


@dataclass(frozen=True, slots=True)
class Apprise:
    """A service that the library knows."""

    variable: str
    """Of the environment, which holds the addresses."""
    place: int
    """Of this address among them, from 1."""
    url: str = field(repr=False)
    seconds: float = SECONDS

    @property
    def name(self) -> str:
        """Return what it is called in the settings, with its place."""
        return f"apprise {self.place}"

    @property
    def where(self) -> str:
        """Return where it leads."""
        return f"address {self.place} in {self.variable}"

    def send(self, notice: Notice) -> None:
        """Have the library tell it.

        Raises:
            AnswerLate: If it takes too long.
            TryAgain: If the service did not take it.
            Undelivered: If the library is not installed, or knows no such service.
        """
        try:
            told = in_time(lambda: self._told(notice), self.seconds + GRACE_SECONDS)
        except TimeoutError:
            raise AnswerLate(f"not done in {self.seconds:.3g} s") from None
        if not told:
            raise TryAgain("the service did not take it; `apprise -vv` with the same address says why", tries=1)

    def _told(self, notice: Notice) -> bool:
        try:
            # Imported here: it is an extra, and takes a fifth of a second.
            import apprise
        except ImportError:
            raise Undelivered("apprise is not installed; install predibot[notify]") from None
        services = apprise.Apprise(
            asset=apprise.AppriseAsset(http_redirects=False, allow_templates=False, secure_logging=True)
        )
        if not services.add(self.url):
            raise Undelivered(f"{self.where} is of no service that apprise knows; correct it")
        # Escapes, templates and markup in a name stay what they are.
        body = "\n".join(notice.body) or notice.title
        said = services.notify(
            body=body, title=notice.title, body_format="text", interpret_escapes=False, timeout=self.seconds
        )
        return bool(said)
