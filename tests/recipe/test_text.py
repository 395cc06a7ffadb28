"""The file of a recipe: where it is looked for, and what is said when there is none."""

from pathlib import Path

import pytest

from predibot.errors import RecipeError
from predibot.recipe.merged import starter_text
from predibot.recipe.parse import load_recipe
from predibot.recipe.text import find_recipe, packaged_recipe_names

BOT = '[[bots]]\nstrategy = "favourite"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "runs").mkdir()
    return tmp_path


def write(folder: Path, name: str, text: str = BOT) -> Path:
    path = folder / "runs" / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refusal(argument: str | None, folder: Path) -> str:
    with pytest.raises(RecipeError) as caught:
        load_recipe(argument, folder)
    return str(caught.value)


def test_the_packaged_daily_recipe_is_played_where_there_is_no_own_one(folder: Path) -> None:
    recipe = load_recipe(None, folder)
    assert (recipe.name, recipe.source) == ("daily", "the packaged recipe 'daily'")
    assert [bot.name for bot in recipe.bots] == ["market_price", "random_bet"]
    write(folder, "daily")
    recipe = load_recipe(None, folder)
    assert (recipe.source, [bot.name for bot in recipe.bots]) == ("runs/daily.toml", ["favourite"])
    # `test_merged.py` reads each of the others.
    assert all(load_recipe(name, folder.parent / "none").name == name for name in packaged_recipe_names())
    assert len(load_recipe("sandbox", folder).bots) == 5


def test_a_recipe_is_asked_for_by_path_or_by_name(folder: Path) -> None:
    path = write(folder, "mine")
    assert find_recipe("mine", folder).label == "runs/mine.toml"
    assert find_recipe("runs/mine.toml", folder) == find_recipe("mine", folder)
    assert find_recipe(str(path), folder).text == BOT
    assert load_recipe("sandbox", folder).venue == "sandbox"


def test_the_recipe_to_start_from_says_all_there_is_to_say_and_means_the_defaults(folder: Path) -> None:
    write(folder, "daily", starter_text())
    assert load_recipe(None, folder) == load_recipe(None, folder.parent)
    uncommented = starter_text().replace("# [[bots]]\n# name", "[[bots]]\nname").replace("\n# st", "\nst")
    for rule in ("ends_within", "exclude", "crypto_words", "min_volume", "rank_by", "max_markets", "events", "name"):
        uncommented = uncommented.replace(f"\n# {rule}", f"\n{rule}")
    write(folder, "daily", uncommented)
    opened = load_recipe(None, folder)
    assert [bot.name for bot in opened.bots] == ["market_price", "random_bet", "market_by_volume"]
    assert opened.selection == load_recipe(None, folder.parent).selection


def test_a_recipe_nobody_has_is_met_with_the_one_most_like_it(folder: Path) -> None:
    write(folder, "daily")
    assert refusal("runs/dayly.toml", folder) == "no recipe 'runs/dayly.toml'. Did you mean 'runs/daily.toml'?"
    assert refusal("sandbx", folder) == "no recipe 'sandbx'. Did you mean 'sandbox'?"
    sandboxes = "'sandbox', 'sandbox_agents', 'sandbox_portfolio', 'sandbox_stocks', 'sandbox_weekly'"
    others = f"'portfolio', {sandboxes}, 'stakebench', 'starter', 'stocks', 'weekly'"
    there_are = f"There are: 'beliefbench', 'runs/daily.toml', {others}"
    assert refusal("zzz", folder) == f"no recipe 'zzz'. {there_are}"


def test_what_cannot_be_read_is_said_to_be_so(folder: Path) -> None:
    (folder / "runs" / "bytes.toml").write_bytes(b"seed = 1\n# \xff\n")
    assert refusal("bytes", folder) == "runs/bytes.toml, line 2: this is not UTF-8. Save the file as UTF-8"
    (folder / "runs" / "folder.toml").mkdir()
    assert refusal("folder", folder).startswith("runs/folder.toml cannot be read: ")


def test_a_file_whose_name_is_no_name_for_a_run_needs_one_inside(folder: Path) -> None:
    write(folder, "my recipe")
    assert refusal("runs/my recipe.toml", folder).startswith("runs/my recipe.toml, line 2: name 'my recipe' must be")
    write(folder, "my recipe", 'name = "mine"\n' + BOT)
    assert load_recipe("runs/my recipe.toml", folder).name == "mine"
