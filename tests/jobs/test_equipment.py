"""Equipment: what a bot decides with, opened for real on a sandbox's loopback."""

import hashlib
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from predibot.config import Settings
from predibot.jobs.equipment import Equipment, Fitting
from predibot.jobs.venues import OpenVenue, open_venue
from predibot.ledger.pages import PageFolder
from predibot.recipe_text import RecipeText, parse_recipe

NOW = datetime(2026, 3, 1, tzinfo=UTC)
RECIPE = '[[bots]]\nname = "sharp"\nstrategy = "tool_agent"\nmodel = "sandbox/sharp"\n'


@pytest.fixture(scope="module")
def opened() -> Iterator[OpenVenue]:
    with open_venue("sandbox:events=2", Settings(), as_of=None, purpose="decide", clock=lambda: NOW) as venue:
        yield venue


def fitted(opened: OpenVenue, pages: Path, *, key: str = "not-on-any-page") -> Fitting:
    recipe = parse_recipe(RecipeText(RECIPE, "sharp.toml", "sharp"))
    equipment = Equipment(
        recipe, opened, {"OPENAI_API_KEY": key}, "run", 600.0, lambda: NOW, pages=PageFolder(pages)
    )  # fmt: skip
    event = opened.venue.events(opened.now).events[0]
    return equipment.fit(recipe.bots[0], event, opened.now)


def read_a_page(fitting: Fitting, opened: OpenVenue) -> str:
    """Return the first page a search finds that can be read."""
    title = opened.venue.events(opened.now).events[0].title
    assert fitting.tools.web_search is not None
    assert fitting.tools.visit_webpage is not None
    for url in re.findall(r"http://\S+", fitting.tools.web_search(title)):
        said = fitting.tools.visit_webpage(url, 1, None)
        if not said.startswith("error:"):
            return said
    raise AssertionError("no page could be read")


def test_a_page_that_repeats_a_key_is_kept_without_it(opened: OpenVenue, tmp_path: Path) -> None:
    said = read_a_page(fitted(opened, tmp_path / "open"), opened)
    word = max(re.findall(r"\w+", said.splitlines()[-1]), key=len)
    fitting = fitted(opened, tmp_path / "hidden", key=word)
    read_a_page(fitting, opened)
    (kept,) = (path for path in (tmp_path / "hidden").rglob("*") if path.is_file())
    (visited,) = (step for step in fitting.trace.steps if step["kind"] == "page_visited")
    assert word.encode() not in kept.read_bytes()
    assert b"***" in kept.read_bytes()
    assert visited["sha256"] == kept.stem == hashlib.sha256(kept.read_bytes()).hexdigest()
