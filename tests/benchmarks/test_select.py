"""How long `predibot select` takes on 2,000 events: printed, never judged."""

import json
from datetime import timedelta
from pathlib import Path
from time import perf_counter

import pytest

from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.venues.polymarket.client import Polymarket
from tests.acceptance.conftest import said_here

pytestmark = pytest.mark.benchmark

EVENTS = 2_000


def _payloads() -> list[object]:
    with (
        SandboxServer(now=SANDBOX_OPENS_AT, options=SandboxOptions(events=EVENTS + 400)) as server,
        Polymarket(
            gamma_url=server.gamma_url, clob_url=server.clob_url, name="sandbox", clock=lambda: SANDBOX_OPENS_AT
        ) as venue,
    ):
        return [payload for page in venue.raw_events() for payload in page][:EVENTS]


def test_time_of_select_on_2_000_events(tmp_path: Path) -> None:
    payloads = _payloads()
    snapshot = tmp_path / "archive/snapshots" / f"{SANDBOX_OPENS_AT:%Y-%m-%dT%H%M%SZ}"
    snapshot.mkdir(parents=True)
    (snapshot / "events.json").write_text(json.dumps(payloads))
    at = (SANDBOX_OPENS_AT + timedelta(minutes=5)).isoformat()
    for label, venue in (("archive", f"archive:{tmp_path / 'archive'}"), ("sandbox", f"sandbox:events={EVENTS}")):
        start = perf_counter()
        said = said_here("select", "--venue", venue, "--as-of", at, "--json")
        seconds = perf_counter() - start
        assert said.code == 0, said.err
        listed = len(said.document["selected"]) + len(said.document["passed_over"])
        print(f"\nselect on {len(payloads):,} events of the {label}: {seconds:.2f} s, {listed:,} of them listed")
