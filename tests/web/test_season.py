"""Every kind of page over a tenth of a season of twenty bots a game, in a real browser; `make soak` walks the whole.

Screenshots lie in the folder of the test, or in the one that PREDIBOT_SCREENSHOTS names.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs predibot[web]")

from playwright.sync_api import Browser

from tests.web.test_browser import chromium
from tests.web.wide import TENTH_DAYS, season, served, walked

__all__ = ["chromium"]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[str]:
    """Serve a tenth of the season, and return where; the browser is asked for first, since it may be missing."""
    with served(season(tmp_path_factory.mktemp("season"), TENTH_DAYS, agents=1)) as found:
        yield found


def test_every_kind_of_page_of_a_tenth_of_a_season_can_be_read(chromium: Browser, address: str, tmp_path: Path) -> None:
    shots = Path(os.environ.get("PREDIBOT_SCREENSHOTS", tmp_path)) / "400-dark"
    assert walked(chromium, address, 400, "dark", shots, most=1) >= 20
