"""The docs site: every page is in it, every link leads somewhere, and nothing is asked of another host."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import REPOSITORY
from tests.worlds import Worlds, two_events


@pytest.fixture(scope="module")
def pages(worlds: Worlds, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the pages, with a gallery of a small ledger, beside a configuration for them."""
    folder = worlds.copy(two_events, tmp_path_factory.mktemp("docs"))
    ledger = f"sqlite:///{folder}/ledger.db"
    runpy.run_path(str(REPOSITORY / ".ci" / "docs_pages"))["lay_out"](folder / "pages", ledger, "market_price")
    inherited = f"INHERIT: {REPOSITORY / 'mkdocs.yml'}\ndocs_dir: pages\nsite_dir: site\n"
    (folder / "mkdocs.yml").write_text(inherited, encoding="utf-8")
    return folder


def _build(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    # Colours and hints of other makers are not what is tested.
    variables = {**os.environ, "NO_COLOR": "1", "PYTHONWARNINGS": "ignore"}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)


def test_all_pages_build_and_no_page_asks_another_host(pages: Path) -> None:
    built = _build(pages)
    assert built.returncode == 0, built.stderr
    site = pages / "site"
    written = {file.stem for file in (REPOSITORY / "docs").glob("*.md")}
    assert written | {"index", "gallery", "CONTRIBUTING"} <= {file.stem for file in site.glob("*.html")}
    for page in site.glob("*.html"):
        fetched = re.findall(
            r"""<(?:script|img|link|iframe)[^>]*(?:src|href)=["'](?:https?:)?//[^"']*""", page.read_text()
        )
        assert fetched == [], page.name
    assert (site / "gallery" / "calibration.svg").exists() and (site / "gallery" / "tearsheet.html").exists()


def test_every_dead_link_ends_the_build(pages: Path) -> None:
    links = ["nowhere.md", "../predibot/api.py", "scores.md#nowhere"]
    page = pages / "pages" / "limits.md"
    before = page.read_text(encoding="utf-8")
    page.write_text(before + "".join(f"\n[dead]({link})\n" for link in links), encoding="utf-8")
    built = _build(pages)
    page.write_text(before, encoding="utf-8")
    warnings = [line for line in built.stderr.splitlines() if line.startswith("WARNING")]
    assert [[link for link in links if link in line] for line in warnings] == [[link] for link in links]
    assert built.returncode != 0 and "Aborted with 3 warnings in strict mode" in built.stdout
