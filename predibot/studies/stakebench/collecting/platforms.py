"""Collecting comments in one call: whom to ask, at which addresses, and with which salt."""

from contextlib import ExitStack
from pathlib import Path

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError
from predibot.jobs.caller import Caller
from predibot.studies.stakebench.collecting.collect import CollectReport, collect_comments, salt_of
from predibot.studies.stakebench.collecting.raw_store import RawStore
from predibot.studies.stakebench.collecting.sources import CommentSource, ManifoldComments, PolymarketComments
from predibot.studies.stakebench.venues.comments import HOSTS
from predibot.venues.http import VenueClient

SALT = Path("runs") / "out" / "comments.salt"
"""Beside the ledger where nobody names another."""
PLATFORMS = ("polymarket", "manifold", "sandbox:polymarket", "sandbox:manifold")
_PATHS = {"gamma_url": "/gamma", "data_url": "/data", "clob_url": "/clob", "manifold_url": "/manifold"}
_SANDBOX_SEED, _SANDBOX_COMMENTS = 1, 2_500


def collect_platform(
    platform: str, folder: Path, caller: Caller, *, salt: Path | None, markets: int | None
) -> CollectReport:
    """Collect the comments of a platform into a folder, and label them.

    Args:
        platform: One of `PLATFORMS`.
        folder: Where raw answers and the data set are written.
        caller: Who asks.
        salt: The file with the salt of exported ids; left out, `SALT`.
        markets: How many markets are taken at most; None for all.

    Raises:
        UsageError: If there is no such platform, the salt is none, or the folder is another platform's or another
            collection is at work in it.
        VenueError: If the venue does not answer; the next call goes on from there.
    """
    if platform not in PLATFORMS:
        raise UsageError(f"comments are collected from no {platform[:40]!r}. {did_you_mean(platform, PLATFORMS)}")
    settings, kept, with_salt = caller.settings(), RawStore(folder), salt or SALT
    with ExitStack() as closing:
        if platform.startswith("sandbox:"):
            urls = _sandbox_urls(platform.endswith("manifold"), closing)
        else:
            urls = {name: settings.urls.get(name, host).rstrip("/") for name, host in HOSTS.items()}
        rates = {} if platform.startswith("sandbox:") else _rates(urls)
        client = closing.enter_context(
            VenueClient(
                deadline_seconds=settings.call_deadline_seconds, requests_per_10_seconds=rates, now=caller.clock
            )
        )
        source: CommentSource = (
            ManifoldComments(client.get, kept, manifold_url=urls["manifold_url"])
            if platform.endswith("manifold")
            else PolymarketComments(
                client.get, kept, gamma_url=urls["gamma_url"], data_url=urls["data_url"], clob_url=urls["clob_url"]
            )
        )
        closing.enter_context(kept.alone(platform))
        with_salt.parent.mkdir(parents=True, exist_ok=True)
        listener = closing.enter_context(caller.progress())
        caller.say(f"salt: {with_salt}")
        return collect_comments(source, kept, salt=salt_of(with_salt), listener=listener, markets=markets)


def _rates(urls: dict[str, str]) -> dict[str, float]:
    """Return what the hosts allow per 10 seconds, by address prefix."""
    return {
        f"{urls['gamma_url']}/comments": 200.0,
        f"{urls['gamma_url']}/markets": 300.0,
        f"{urls['data_url']}/": 1_000.0,
        f"{urls['clob_url']}/prices-history": 1_000.0,
        f"{urls['manifold_url']}/": 500.0 / 6,
    }


def _sandbox_urls(manifold: bool, closing: ExitStack) -> dict[str, str]:
    """Return the addresses of a simulated crowd, which is served until the stack is closed."""
    from predibot.sandbox.server.server import SandboxServer
    from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT
    from predibot.sandbox.world.world import World
    from predibot.studies.stakebench.crowd import crowd
    from predibot.studies.stakebench.crowd_host import CrowdHost

    host = CrowdHost(crowd(_SANDBOX_SEED, manifold=manifold, comments=_SANDBOX_COMMENTS))
    server = closing.enter_context(SandboxServer(World.from_seed(1, events=1), now=SANDBOX_ENDS_AT, site=host))
    return {name: f"{server.search_url}{path}" for name, path in _PATHS.items()}
