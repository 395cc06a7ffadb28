"""The page about portfolios: its recipe parses, its answer is taken, and its bot decides."""

import random
import re
from pathlib import Path

from predibot.contracts import Context
from predibot.games.portfolio_weights import PortfolioWeights
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText, packaged_recipe_text
from tests.games.portfolios import AT, view_of, weights_of

PAGE = (Path(__file__).parents[2] / "docs" / "portfolio.md").read_text(encoding="utf-8")


def block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert found is not None
    return found.group(1)


def test_the_recipe_says_what_the_packaged_one_and_the_defaults_say() -> None:
    shown = parse_recipe(RecipeText(block("toml"), "page", "portfolio"))
    packaged = parse_recipe(RecipeText(packaged_recipe_text("portfolio"), "packaged", "portfolio"))
    assert shown.digest == packaged.digest
    assert shown.make_game() == PortfolioWeights()
    (settings,) = (bot.terms.settings for bot in shown.bots)
    assert (settings.temperature, settings.max_tokens) == (0.3, 16_000)


def test_the_answer_is_taken() -> None:
    view = view_of({"512": 0.05, "730": 0.07})
    decision = PortfolioWeights().form(view).parse(block("json"))
    assert weights_of(decision, view) == {"512_Yes": 0.25, "730_No": 0.15, "CASH": 0.6}
    assert [(said.market_id, said.probability) for said in decision.forecasts] == [("512", 0.4)]


def test_the_bot_decides() -> None:
    found: dict[str, object] = {"__name__": "three_favourites"}
    exec(block("python"), found)
    view = view_of({"A": 0.9, "B": 0.45, "C": 0.6, "D": 0.3})
    bot = found["ThreeFavourites"]()  # type: ignore[operator]
    decision = bot.decide(Context(AT, view, PortfolioWeights(), random.Random(1)))
    assert weights_of(decision, view) == {"B_No": 0.25, "C_Yes": 0.25, "D_No": 0.25, "CASH": 0.25}
