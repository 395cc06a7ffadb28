"""A recipe: its JSON, its digest, and what the command line may change."""

import json
from dataclasses import replace

import pytest

from predibot.domain.budget import Limits
from predibot.domain.terms import ModelSettings, ModelTerms
from predibot.errors import UsageError
from predibot.recipe.parse import parse_recipe
from predibot.recipe.recipe import Recipe
from predibot.recipe.text import RecipeText, packaged_recipe_text

TEXT = """
[selection]
crypto_words = ["monad"]

[[bots]]
name = "favourite"
strategy = "market_price"
stake = "top_volume"

[[bots]]
strategy = "random_bet"
"""
RECIPE = parse_recipe(RecipeText(TEXT, "runs/x.toml", "x"))


def test_json_brings_a_recipe_back_whole_without_where_it_was_read() -> None:
    back = Recipe.from_json(RECIPE.as_json())
    assert (back, back.digest, back.as_json()) == (RECIPE, RECIPE.digest, RECIPE.as_json())
    assert replace(RECIPE, source="somewhere/else.toml") == RECIPE
    assert "runs/x.toml" not in RECIPE.as_json()


def test_settings_of_a_model_and_how_duplicates_are_told_are_stored_where_they_are_stated_and_nowhere_else() -> None:
    bot = RECIPE.bots[0]
    settled = replace(RECIPE, bots=(replace(bot, terms=ModelTerms(settings=ModelSettings(temperature=0.0))),))
    assert "settings" not in RECIPE.as_json() and "duplicate" not in RECIPE.as_json()
    assert '"settings":{"temperature":0.0}' in settled.as_json()
    dropping = replace(RECIPE, selection=replace(RECIPE.selection, drop_duplicates=0.9))
    stored = json.loads(dropping.as_json())["selection"]
    assert {name: value for name, value in stored.items() if "duplicate" in name} == {
        "drop_duplicates": 0.9,
        "duplicate_text": "title_and_questions",
        "duplicate_port": "tfidf",
        "duplicate_model": "",
    }
    assert dropping.digest != RECIPE.digest
    assert [Recipe.from_json(each.as_json()) for each in (settled, dropping)] == [settled, dropping]


def test_a_recipe_stored_before_there_were_these_rules_played_events_past_their_end() -> None:
    data = json.loads(RECIPE.as_json())
    for name in ("min_hours_left", "include", "per_category"):
        del data["selection"][name]
    old = Recipe.from_json(json.dumps(data))
    assert (old.selection.min_hours_left, old.selection.include, old.selection.per_category) == ("any", (), 0)
    assert RECIPE.differences(old) == ('selection.min_hours_left is 1.0, was "any"',)


def test_the_digest_knows_everything_but_the_bots() -> None:
    assert replace(RECIPE, bots=RECIPE.bots[:1]).digest == RECIPE.digest
    for changed in ({"seed": 1}, {"venue": "sandbox"}, {"name": "y"}, {"overstake": "scale"}):
        assert replace(RECIPE, **changed).digest != RECIPE.digest
    assert RECIPE.with_overrides(events=3).digest != RECIPE.digest


def test_an_integer_and_the_same_float_are_the_same_rule() -> None:
    whole, real = (
        f"[selection]\nmin_volume_24h_usd = {text}\n{TEXT.replace('[selection]', '')}" for text in ("5", "5.0")
    )
    assert len({parse_recipe(RecipeText(text, "x", "x")).digest for text in (whole, real)}) == 1
    assert RECIPE.with_overrides(min_volume_24h_usd=5).digest == RECIPE.with_overrides(min_volume_24h_usd=5.0).digest
    assert RECIPE.with_overrides(min_hours_left=5).digest == RECIPE.with_overrides(min_hours_left=5.0).digest


def test_differences_name_the_key_and_both_values() -> None:
    other = replace(RECIPE.with_overrides(events=3), venue="sandbox")
    assert other.differences(RECIPE) == ("selection.events is 3, was 10", 'venue is "sandbox", was "polymarket"')
    assert RECIPE.differences(replace(RECIPE, bots=())) == ()
    limited = replace(RECIPE, limits={"run": Limits(steps=3)})
    assert limited.differences(RECIPE) == ("limits.run.steps is 3, was absent",)
    assert RECIPE.differences(limited) == ("limits.run.steps is absent, was 3",)


def test_the_command_line_changes_what_it_names_and_nothing_else() -> None:
    changed = RECIPE.with_overrides(events=3, min_volume_24h_usd=0, max_markets=0)
    rules = changed.selection
    assert (rules.events, rules.min_volume_24h_usd, rules.max_markets) == (3, 0.0, 0)
    assert RECIPE.with_overrides() == RECIPE


def test_bots_are_named_by_recipe_or_strategy_and_the_recipe_wins() -> None:
    bots = RECIPE.with_overrides(bots=["underdog", "favourite", "favourite"]).bots
    assert [bot.name for bot in bots] == ["underdog", "favourite"]
    assert [bot.strategy.name for bot in bots] == ["underdog", "market_price"]


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        ({"bots": ["favorite"]}, "no bot or strategy 'favorite'. Did you mean 'favourite'?"),
        ({"bots": []}, "no bot is named"),
        ({"events": 0}, "a run plays at least 1"),
        ({"max_markets": -1}, "max_markets is -1"),
        ({"min_hours_left": -1}, "min_hours_left is -1.0"),
        ({"min_volume_24h_usd": -1}, "min_volume_24h_usd is -1"),
    ],
)
def test_what_cannot_be_overridden_so_is_misuse(overrides: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        RECIPE.with_overrides(**overrides)  # type: ignore[arg-type]  # one of them each
    assert said in str(caught.value)


def test_a_rule_that_changes_nothing_in_a_game_of_texts_is_refused() -> None:
    stakebench = parse_recipe(RecipeText(packaged_recipe_text("stakebench"), "stakebench", "stakebench"))
    with pytest.raises(UsageError, match=r"game 'stakebench' chooses what is played .* so 'events' would change"):
        stakebench.with_overrides(events=3)
