"""A season of 20 bots x 60 days x 10 events in all three games, walked in a real browser; the tests walk a tenth.

Screenshots lie in the folder of the test, or in the one that PREDIBOT_SCREENSHOTS names; with PREDIBOT_SEASON a folder
that holds a season is walked, so that it is played once.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from playwright.sync_api import Browser

from tests.web.test_browser import chromium
from tests.web.wide import DAYS, season, served, walked

__all__ = ["chromium"]

pytestmark = pytest.mark.benchmark


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[str]:
    """Serve the season, and return where."""
    kept = os.environ.get("PREDIBOT_SEASON")
    ledger = f"sqlite:///{kept}/season.db" if kept else season(tmp_path_factory.mktemp("season"), DAYS)
    with served(ledger) as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1280])
def test_soak_every_kind_of_page_of_a_season_can_be_read(
    chromium: Browser, address: str, tmp_path: Path, width: int, scheme: str
) -> None:
    shots = Path(os.environ.get("PREDIBOT_SCREENSHOTS", tmp_path)) / f"{width}-{scheme}"
    pages = walked(chromium, address, width, scheme, shots, most=25)
    print(f"\n{pages} pages at {width} px, {scheme}: no violation of A or AA, nothing foreign, nothing on the console")
    assert pages > 150
