"""Equipment: what a bot decides with, opened for real on a sandbox's loopback."""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from predibot.agents.key import ApiKeys
from predibot.config import Settings
from predibot.errors import UsageError
from predibot.jobs.equipment import Equipment, Fitting
from predibot.jobs.forecast_cost import run_cost
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
        recipe, opened, ApiKeys({"OPENAI_API_KEY": key}), "run", 600.0, lambda: NOW, pages=PageFolder(pages)
    )  # fmt: skip
    event = opened.venue.events(opened.now).events[0]
    return equipment.fit(recipe.bots[0], event, opened.now)


REPORTER = (
    '[[bots]]\nstrategy = "{strategy}"\nmodel = "openai/o3-deep-research"\nbase_url = "http://localhost:1/v1"\n'
    "price_usd_per_million_tokens = 1\n"
)
EXTRACTED = 'extract_model = "cheap"\n'


def reporter(opened: OpenVenue, more: str, *, strategy: str = "deep_research") -> Equipment:
    """Return the equipment of a bot whose model works in the background."""
    recipe = parse_recipe(RecipeText(REPORTER.format(strategy=strategy) + more, "r.toml", "r"))
    return Equipment(recipe, opened, ApiKeys(), "run", 600.0, lambda: NOW)


@pytest.mark.parametrize(
    ("strategy", "more", "said"),
    [
        ("one_shot", "", "searches by itself and writes reports. Give it strategy = 'deep_research'"),
        ("deep_research", EXTRACTED + "[limits.bot]\nusd = 9", "the price of deep_research's model is unknown"),
        ("deep_research", EXTRACTED + "price_usd_per_search = 0.01\n[limits.bot]\nusd = 9", "a model that searches by"),
    ],
)
def test_a_model_that_works_in_the_background_is_refused_where_it_cannot_be_held(
    opened: OpenVenue, strategy: str, more: str, said: str
) -> None:
    equipment = reporter(opened, more, strategy=strategy)
    with pytest.raises(UsageError, match=said):
        equipment.check(equipment.recipe.bots)


def test_the_worst_a_report_can_cost_is_forecast(opened: OpenVenue) -> None:
    equipment = reporter(opened, EXTRACTED + "price_usd_per_search = 0.5\nmax_searches = 3\n")
    event = opened.venue.events(opened.now).events[0]
    cost = run_cost(equipment.recipe, [event], equipment)
    assert cost.usd is not None
    # Four times 200,000 tokens and 100,000 of the report at $1 a million, three searches at $0.50.
    report_usd = 0.8 + 0.1 + 1.5
    # Four calls that read a report of 100,000 tokens of four bytes, a prompt and the answers before.
    assert report_usd + 4 * 0.4 < cost.usd < report_usd + 4 * 0.7
    assert cost.bots[0].basis == "one report in the background and 4 calls a decision"


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


SEARCHES = RECIPE.replace("sandbox/sharp", "openai/tiny") + (
    'price_usd_per_million_tokens = 0\n[search]\nproviders = ["brave", "searxng", "ddgs"]\n'
    'base_urls = {{brave = "{brave}", searxng = "http://10.0.0.9:8888"}}\n'
)


def searching(opened: OpenVenue, brave: str, keys: ApiKeys) -> Equipment:
    """Return the equipment of a bot that searches the web."""
    recipe = parse_recipe(RecipeText(SEARCHES.format(brave=brave), "r.toml", "r"))
    return Equipment(recipe, replace(opened, loopback=None), keys, "run", 600.0, lambda: NOW)


def test_where_searches_go_is_known_beforehand(opened: OpenVenue) -> None:
    keys = ApiKeys({"BRAVE_API_KEY": "b" * 20, "SEARXNG_API_KEY": "s" * 20})
    found = searching(opened, "https://api.search.brave.com/", keys).search_destinations()
    assert {name: (at.host, at.key_name, at.key_is_set) for name, at in found.items()} == {
        "brave": ("api.search.brave.com", "BRAVE_API_KEY", True),
        "searxng": ("http://10.0.0.9:8888", None, False),
        "ddgs": ("many", None, False),
    }


def test_a_search_key_goes_to_its_provider_or_where_the_operator_says(opened: OpenVenue) -> None:
    values, brave = {"BRAVE_API_KEY": "b" * 20}, "https://brave.corp:9443"
    with pytest.raises(
        UsageError, match=r"'brave': BRAVE_API_KEY may not be sent to brave\.corp:9443: it belongs to api"
    ):
        searching(opened, brave, ApiKeys(values)).search_usd()
    bound = ApiKeys(values, {"BRAVE_API_KEY": ("brave.corp:9443",)})
    assert searching(opened, brave, bound).search_usd() is None
