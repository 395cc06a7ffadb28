"""What parsing pages in child processes costs, of ordinary and of hostile ones: printed; `make soak` judges."""

import gzip
import json
import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median

import pytest

from predibot.research.pages.errors import Deadline
from predibot.research.pages.parse import parse_page
from predibot.research.pages.parser_messages import PageSource, ParsedPage
from predibot.research.pages.parser_pool import ParserPool
from tests.research.pages.hostile_pages import HOSTILE, end_in_time
from tests.research.pages.visits import visited

pytestmark = pytest.mark.benchmark

TIMES = 7
HOSTILE_SECONDS = 5.0


def recorded(folder: Path) -> list[PageSource]:
    """Return recorded real pages."""
    truth = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    bodies = {name: gzip.decompress((folder / "html" / f"{name}.html.gz").read_bytes()) for name in truth}
    return [PageSource("text/html", None, said["url"], 60.0, bodies[name]) for name, said in truth.items()]


def milliseconds(parse: Callable[[], object]) -> float:
    """Return how long a call takes."""
    began = time.perf_counter()
    parse()
    return 1_000 * (time.perf_counter() - began)


def test_how_much_longer_an_ordinary_page_takes_in_a_child(shared_data: Path) -> None:
    sources, pool = recorded(shared_data / "web_pages"), ParserPool()

    def in_child(source: PageSource) -> ParsedPage:
        return pool.parse(source, Deadline.after(60.0, time.monotonic))

    parse_page(sources[0])
    first = milliseconds(lambda: in_child(sources[0]))
    here, there = [], []
    for source in sources:
        # By turns, for who else is busy on the machine.
        pairs = [
            (milliseconds(partial(parse_page, source)), milliseconds(partial(in_child, source))) for _ in range(TIMES)
        ]
        here.append(min(own for own, _ in pairs))
        there.append(min(child for _, child in pairs))
    pool.close()
    more = [child - own for child, own in zip(there, here, strict=True)]
    print(
        f"\n{len(sources)} recorded pages: {median(here):.1f} ms here, {median(there):.1f} ms in a child; "
        f"{median(more):+.1f} ms for the median page, {max(more):+.1f} ms at most (aim +30); "
        f"the first page with its child's start {first:.0f} ms; load {os.getloadavg()[0]:.1f}"
    )


def test_what_hostile_pages_cost(tmp_path: Path) -> None:
    visits = visited({name: make() for name, make in HOSTILE.items()}, tmp_path, seconds=HOSTILE_SECONDS)
    longest = max(visits, key=lambda name: visits[name]["seconds"])
    most = max(visit["resident_mb"] + visit["child_mb"] for visit in visits.values())
    left = sum(visit["threads_left"] + visit["children_left"] for visit in visits.values())
    print(
        f"\n{len(visits)} hostile pages, {HOSTILE_SECONDS:g} s for reading one: {left} threads or processes left "
        f"(aim 0); at most {most:.0f} MB of this process and its child (aim 300); the longest took "
        f"{visits[longest]['seconds']:.1f} s ({longest})"
    )


@pytest.fixture(scope="module")
def pool() -> Iterator[ParserPool]:
    made = ParserPool()
    yield made
    made.close()


@pytest.mark.soak
@pytest.mark.parametrize("name", HOSTILE)
def test_soak_a_hostile_page_ends_within_its_time_and_leaves_nothing_behind(pool: ParserPool, name: str) -> None:
    end_in_time(pool, HOSTILE[name](), seconds=0.5)
