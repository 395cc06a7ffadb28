"""Apprise: the many services that this library knows, by addresses of its own kind."""

from dataclasses import dataclass, field

from predibot.jobs.notify.channels.channel import SECONDS, DeliveryError
from predibot.jobs.notify.notice import Notice
from predibot.net.deadline import GRACE_SECONDS, call_within
from predibot.net.failures import LateAnswer, TryAgain


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
