"""Collecting 500,000 comments of 2,000 markets from a crowd that another process serves, with a kill on the way."""

import multiprocessing
import resource
import time
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from predibot.contracts import Progress
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_ENDS_AT
from predibot.sandbox.world.world import World
from predibot.studies.stakebench.collecting.collect import collect_comments
from predibot.studies.stakebench.collecting.raw_store import RawStore
from predibot.studies.stakebench.collecting.sources import CommentSource, ManifoldComments, PolymarketComments
from predibot.studies.stakebench.crowd import crowd
from predibot.studies.stakebench.crowd_host import CrowdHost
from predibot.venues.http import VenueClient

pytestmark = pytest.mark.benchmark

MARKETS, COMMENTS = 2_000, 500_000
MOST_MEGABYTES = 1_000


def serve(pipe: Connection, *, manifold: bool) -> None:
    """Serve a crowd until told to end; each word that comes before is answered with what was asked for so far."""
    host = CrowdHost(crowd(1, manifold=manifold, markets=MARKETS, comments=COMMENTS))
    with SandboxServer(World.from_seed(1, events=1), now=SANDBOX_ENDS_AT, site=host.reply) as server:
        pipe.send(server.search_url)
        while pipe.recv() != "end":
            pipe.send((len(host.requests), len(set(host.requests))))


def collect(pipe: Connection, folder: Path, url: str, *, manifold: bool) -> None:
    """Collect, and tell what it came to, how many answers were asked for, and the most memory in megabytes."""
    kept = RawStore(folder)
    with VenueClient(deadline_seconds=3_600.0) as client:
        get = partial(VenueClient.get, client)
        source: CommentSource = (
            ManifoldComments(get, kept, manifold_url=f"{url}/manifold")
            if manifold
            else PolymarketComments(get, kept, gamma_url=f"{url}/gamma", data_url=f"{url}/data", clob_url=f"{url}/clob")
        )
        funnel, asked = collect_comments(source, kept, salt=bytes(32), listener=_unheard)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
    pipe.send((funnel["comments served"], asked, most))


def _unheard(_: Progress) -> None:
    """Nobody listens."""


@pytest.mark.parametrize(("manifold", "killed_at"), [(False, 60_000), (True, MARKETS)], ids=["polymarket", "manifold"])
def test_half_a_million_comments_fit_and_nothing_is_asked_for_twice(
    manifold: bool, killed_at: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Kill the collection when about half is asked for: of each market one answer on Manifold, of each writer else."""
    processes = multiprocessing.get_context("spawn")
    pipe, far = processes.Pipe()
    server = processes.Process(target=serve, args=(far,), kwargs={"manifold": manifold}, daemon=True)
    server.start()
    url = pipe.recv()
    started = time.perf_counter()

    def begun() -> tuple[multiprocessing.process.BaseProcess, Connection]:
        near, end = processes.Pipe()
        made = processes.Process(target=collect, args=(end, tmp_path, url), kwargs={"manifold": manifold}, daemon=True)
        made.start()
        return made, near

    def asked() -> tuple[int, int]:
        pipe.send("how many")
        found: tuple[int, int] = pipe.recv()
        return found

    first, _ = begun()
    while asked()[0] < killed_at:
        assert first.is_alive()
        time.sleep(0.2)
    first.kill()
    first.join()
    before = asked()
    second, told = begun()
    served, answers, megabytes = told.recv()
    second.join()
    after = asked()
    third, told = begun()
    assert told.recv()[1] == 0
    third.join()
    again = after[0] - after[1]
    pipe.send("end")
    server.join()
    with capsys.disabled():
        minutes = (time.perf_counter() - started) / 60
        print(
            f"\n{served:,} comments of {MARKETS:,} markets in {minutes:.1f} min, {megabytes:,.0f} MB at most; "
            f"{before[0]:,} requests before the kill, {after[0]:,} in all, {again} of them twice; {answers:,} answers"
        )
    assert served >= 0.95 * COMMENTS
    assert after[0] > 1.5 * before[0]
    assert megabytes < MOST_MEGABYTES
    # An answer of several pages is kept whole: of the one that the kill cut off, pages are asked for anew.
    assert again <= 20
