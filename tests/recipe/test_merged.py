"""Merged settings: what is printed is the recipe again."""

from pathlib import Path

import pytest

from predibot.recipe.merged import merged_keys, merged_text
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText, find_recipe, packaged_recipe_names

OWN = """
name = "own"
game = {name = "portfolio_weights", fee_bps = 10}
every = "6h"
[selection]
crypto_words = ["monad"]
exclude = []
[limits.run]
steps = 3
[search]
providers = ["searxng"]
base_urls = {searxng = "http://localhost:8888"}
[schedule]
cron = "5 */6 * * *"
timezone = "Europe/Berlin"
[[bots]]
name = "thrice"
strategy = "tool_agent"
model = "openai/gpt-5"
replicates = 3
knowledge_cutoff = 2024-05-31
extra_body = {num_ctx = 8_000, "a b" = [true, "é\\u0022"]}
price_usd_per_million_tokens = {input = 1, output = 2.5}
[[bots]]
name = "pooled"
strategy = "one_shot"
model = "openai/gpt-5"
seed = 3
samples = 2
"""


@pytest.mark.parametrize("name", packaged_recipe_names())
def test_every_packaged_recipe_with_an_added_model_is_itself_again(name: str, tmp_path: Path) -> None:
    found = find_recipe(name, tmp_path)
    recipe = parse_recipe(found).with_overrides(models=("openai/gpt-5",))
    printed = merged_text(merged_keys(found, recipe))
    assert parse_recipe(RecipeText(printed, "printed", name)) == recipe


def test_tables_of_every_kind_are_themselves_again() -> None:
    found = RecipeText(OWN, "own.toml", "own")
    recipe = parse_recipe(found)
    keys = merged_keys(found, recipe)
    again = parse_recipe(RecipeText(merged_text(keys), "printed", "x"))
    assert (again, again.schedule) == (recipe, recipe.schedule)
    by_path = {each.path: each for each in keys}
    assert by_path["game", "fee_bps"].source == "own.toml, line 3"
    assert by_path["bots", 0, "replicates"].source == "own.toml, line 20"
    assert by_path["bots", 0, "max_steps"].implied
    assert by_path["bots", 1, "samples"].source == "own.toml, line 29" and ("bots", 2, "name") not in by_path
