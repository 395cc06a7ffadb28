"""Recipes as texts: what is read of one, and what is said of its mistake."""

import pytest

from predibot.errors import RecipeError
from predibot.recipe.parse import parse_recipe
from predibot.recipe.recipe import Recipe
from predibot.recipe.text import RecipeText


def parse(text: str, name: str = "x") -> Recipe:
    return parse_recipe(RecipeText(text, "runs/x.toml", name))


def mistake(text: str) -> str:
    with pytest.raises(RecipeError) as caught:
        parse(text)
    return str(caught.value)
