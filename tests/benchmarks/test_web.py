"""Measures pages over 100,000 decisions, a trace of 127 MB and 1,500 runs; prints and never judges."""

import json
import os
import random
import resource
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

import uvicorn

from predibot.ledger.files.traces import Traces
from predibot.ledger.store import Store
from predibot.web.app import create_app
from predibot.web.site import SiteOptions, write_site
from tests.benchmarks.ledgers import BEGIN, DAY, HUNDRED_THOUSAND_DECISIONS, Size, fill
from tests.jobs.program import wait_until

pytestmark = pytest.mark.benchmark

NOW = BEGIN + 400 * DAY
FIFTEEN_HUNDRED_RUNS = Size(1_500, 10, 4, 2_000, 2, 5)
PAGES = (
    "/",
    "/calibration",
    "/tables/pairs",
    "/decisions",
    "/decisions?bot=bot_3&sort=cost&page_=40",
    "/decisions?page_=2000",
    "/decision?run=big@500&bot=bot_1&subject={subject}",
    "/events",
    "/events?q=event+77",
    "/event?id=5",
    "/bot?name=bot_1",
    "/runs",
    "/status",
    "/api/v1/decisions?limit=100",
    "/api/v1/runs?limit=100",
)
UNSEEN = (
    "/?category=Politics",
    "/?since=2025-06-01&until=2025-07-01",
    "/?mode=live&bots=bot_1,bot_2",
    "/decisions?category=Sports&sort=-seconds",
    "/decisions?since=2025-06-01&bot=bot_7",
    "/decisions?subject=77&void=1",
)
TRACE_BYTES = 127_000_000


@contextmanager
def served(store: Store) -> Iterator[httpx.Client]:
    """Serve a ledger, and yield a browser of its pages."""
    app = create_app(store, lambda: NOW)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", access_log=False, lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    address = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    with httpx.Client(base_url=address, timeout=120.0) as browser:
        yield browser
    server.should_exit = True
    thread.join()


def milliseconds(browser: httpx.Client, page: str) -> tuple[float, int]:
    """Return how long an answer takes, and how many bytes it has."""
    began = time.perf_counter()
    answer = browser.get(page)
    taken = 1_000 * (time.perf_counter() - began)
    assert answer.status_code == 200, (answer.url, answer.text[:300])
    return taken, len(answer.content)


def said_of(what: str, aim: str) -> None:
    print(f"  {what} (aim {aim}); load {os.getloadavg()[0]:.1f}")


def test_pages_of_100_000_decisions(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/big.db"
    with Store.open(address) as store:
        fill(store, HUNDRED_THOUSAND_DECISIONS, np.random.default_rng(1))
        with store.read() as connection:
            subject = connection.exec_driver_sql(
                "SELECT s.subject_id FROM decisions d JOIN subjects s ON s.id = d.subject_row WHERE d.run_id = 501"
            ).scalar()
    pages = [page.format(subject=subject) for page in PAGES]
    print("\n100,000 decisions")
    with Store.open_to_read(address) as store, served(store) as browser:
        first = {page: milliseconds(browser, page) for page in pages}
        warm = {page: [milliseconds(browser, page)[0] for _ in range(20)] for page in pages}
        for page in pages:
            p95 = float(np.quantile(warm[page], 0.95))
            print(f"  {page}: first {first[page][0]:.0f} ms, p95 {p95:.0f} ms, {first[page][1] / 1e3:.0f} kB")
        every = np.concatenate(list(warm.values()))
        said_of(f"all pages warm: p95 {np.quantile(every, 0.95):.0f} ms", "100 ms")
        said_of(f"the heaviest page: {max(size for _, size in first.values()) / 1e3:.0f} kB", "200 kB")
        for page in UNSEEN:
            said_of(f"{page}, not seen before: {milliseconds(browser, page)[0]:.0f} ms", "2,000 ms")
        asked = [pages[n % len(pages)] for n in range(300)]
        began = time.perf_counter()
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda page: browser.get(page).raise_for_status(), asked))
        said_of(f"{len(asked) / (time.perf_counter() - began):.0f} requests a second of 8 browsers", "50")
        # Whatever is decided, each list is read anew.
        with Store.open(address, create=False) as writer, writer.write() as connection:
            connection.exec_driver_sql("UPDATE decisions SET seconds = 2 WHERE id = 7")
        lists = [page for page in pages if page.startswith(("/decision", "/event", "/runs", "/api"))]
        for page in lists:
            print(f"  {page} after a change: {milliseconds(browser, page)[0]:.0f} ms")


def test_a_site_of_100_000_decisions(tmp_path: Path) -> None:
    address, site = f"sqlite:///{tmp_path}/big.db", tmp_path / "site"
    with Store.open(address) as store:
        fill(store, HUNDRED_THOUSAND_DECISIONS, np.random.default_rng(1))
    print("\n100,000 decisions as files")
    for which, aim in (("whole", "58 s"), ("nothing changed", "2 s"), ("ten decisions changed", "58 s")):
        if which.startswith("ten"):
            with Store.open(address) as store, store.write() as connection:
                connection.exec_driver_sql("UPDATE decisions SET seconds = 2 WHERE run_id = 1000 AND id % 10 = 0")
        began = time.process_time()
        with Store.open_to_read(address) as store:
            made = write_site(store, site, SiteOptions(), lambda: NOW, lambda _: None)
        said_of(f"{which}: {time.process_time() - began:.1f} s of CPU, {made.written:,} files written", aim)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {made.files:,} files, {made.bytes / 1e6:,.0f} MB; {memory:,.0f} MB of memory at most")
    heaviest = sorted((page.stat().st_size, page.relative_to(site).as_posix()) for page in site.rglob("*.html"))[-5:]
    for size, name in reversed(heaviest):
        said_of(f"{name}: {size / 1e3:.0f} kB", "93 kB")


def test_a_trace_of_127_megabytes(tmp_path: Path) -> None:
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnop", k=6)) for _ in range(3_000)]
    steps, size = list[str](), 0
    while size < TRACE_BYTES:
        row = {"step": len(steps) + 1, "kind": "tool", "name": "visit", "result": " ".join(rng.choices(words, k=5_000))}
        steps.append(f"{json.dumps(row)}\n")
        size += len(steps[-1])
    content = "".join(steps).encode()
    for inside in (False, True):
        address = f"sqlite:///{tmp_path}/{'row' if inside else 'file'}.db"
        with Store.open(address, artefacts_inside=inside) as store:
            fill(store, Size(1, 1, 1, 1, 1, 2, days=2), np.random.default_rng(1))
            digest = Traces(store).files.keep(content)
            with store.write() as connection:
                connection.exec_driver_sql("UPDATE decisions SET trace_sha256 = ?", (digest,))
            page = "/decision?run=big@0&bot=bot_0&subject=0"
            print(f"\n{len(steps):,} steps, {size / 1e6:.0f} MB, kept as {'a row' if inside else 'a file'}")
            with served(store) as browser:
                for what, more in (
                    ("the first opening", ""),
                    ("again", ""),
                    ("its last steps", f"&step={len(steps) - 20}"),
                    ("a search", "&find=abcdef"),
                    ("a step alone", f"&only={len(steps) // 2}"),
                ):
                    taken, weight = milliseconds(browser, page + more)
                    said_of(f"{what}: {taken:.0f} ms, {weight / 1e3:.0f} kB", "1,000 ms and 200 kB")


def test_1500_runs(tmp_path: Path) -> None:
    address = f"sqlite:///{tmp_path}/runs.db"
    with Store.open(address) as store:
        fill(store, FIFTEEN_HUNDRED_RUNS, np.random.default_rng(1))
    with Store.open_to_read(address) as store, served(store) as browser:
        print("\n1,500 runs, 60,000 decisions")
        for which, aim in (("first", "500 ms"), ("again", "100 ms")):
            taken, _ = milliseconds(browser, "/runs")
            said_of(f"the list of runs, {which}: {taken:.0f} ms", aim)
