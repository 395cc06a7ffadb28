"""The table [game] of a recipe: a game with its options, and the universe that follows from it."""

import json

import pytest

from predibot.games.portfolio_weights import PortfolioWeights
from predibot.recipe.recipe import Recipe
from tests.recipe.texts import mistake, parse

BOT = '[[bots]]\nstrategy = "one_shot"\nmodel = "openai/gpt-5"\n'
GAME = '[game]\nname = "portfolio_weights"\n'


def test_a_game_with_options_is_a_table_and_comes_back_from_json() -> None:
    recipe = parse(f'{GAME}fill = "same"\nfills = "book"\n' + BOT)
    assert recipe.make_game() == PortfolioWeights(fill="same", fills="book")
    again = Recipe.from_json(recipe.as_json())
    assert (again.make_game(), again.digest) == (recipe.make_game(), recipe.digest)
    assert recipe.differences(parse(GAME + BOT)) == (
        'game_options.fill is "same", was absent',
        'game_options.fills is "book", was absent',
    )


def test_saying_the_default_is_saying_nothing() -> None:
    plain = parse('game = "portfolio_weights"\n' + BOT)
    assert parse(f'{GAME}fill = "next"\noverweight = "scale"\n' + BOT).digest == plain.digest
    assert "game_options" not in json.loads(plain.as_json())
    # Without any it has the digest that predibot wrote before this table.
    assert parse(BOT, name="r").digest == "01b83993dd1528fbea5756eae19ba4dceed51a1107caeacd6adb1aca032f0df1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{GAME}fil = "same"\n', "line 3: game 'portfolio_weights': unknown argument 'fil'. Did you mean 'fill'?"),
        (f'{GAME}fill = "nxt"\n', "line 3: game 'portfolio_weights': argument 'fill': it should be 'next' or 'same'"),
        ("game = 3\n", "line 1: 'game' is 3; write a game's name, or a table [game] with its name and its options"),
        ("[game]\nname = 3\n", "line 1: 'game' is {'name': 3}; write a game's name"),
        ('[game]\nname = "portfolio"\n', "line 1: no game 'portfolio'"),
        ('game = "portfolio_weights"\noverstake = "scale"\n', "line 2: game 'portfolio_weights': unknown argument"),
    ],
)
def test_what_a_game_does_not_take_is_refused_with_its_line(text: str, said: str) -> None:
    assert said in mistake(text + BOT)


def test_the_universe_is_the_games_own_and_what_the_recipe_states_goes_before() -> None:
    rules = parse(GAME + BOT).selection
    assert (rules.rank_by, rules.events, rules.max_markets) == ("market_volume_24h", 10, 1)
    assert (rules.exclude, rules.min_volume_24h_usd) == ((), 0.0)
    assert (rules.ends_within_days, rules.min_hours_left) == ("any", "any")
    stated = parse(f'{GAME}[selection]\nevents = 4\nexclude = ["crypto"]\nends_within_days = 30\n' + BOT).selection
    assert (stated.events, stated.exclude, stated.ends_within_days) == (4, ("crypto",), 30.0)
    assert (stated.rank_by, stated.max_markets) == ("market_volume_24h", 1)


def test_any_is_the_only_word_for_how_far_an_end_may_be() -> None:
    assert parse('[selection]\nends_within_days = "any"\n' + BOT).selection.ends_within_days == "any"
    said = mistake('[selection]\nends_within_days = "all"\n' + BOT)
    assert "line 2: 'ends_within_days' in [selection] is 'all'; write days, 0 to 36,500, or \"any\"" in said
