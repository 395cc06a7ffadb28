"""A bot with `normalise`: what is played and scored adds up, and what was said is kept and judged."""

from contextlib import chdir
from pathlib import Path

import pytest
from sqlalchemy import select

from predibot.domain.clock import parse_instant
from predibot.errors import RecipeError
from predibot.ledger.read.details.decisions import list_markets
from predibot.ledger.read.scoring_arrays import track_record
from predibot.ledger.store import Store
from predibot.ledger.write.decisions import bots, decisions, forecasts
from predibot.recipe.parse import parse_recipe
from predibot.recipe.recipe import Recipe
from predibot.recipe.text import RecipeText
from predibot.related.coherence.coherence import coherence_of
from tests.acceptance.conftest import done_here
from tests.cli.conftest import WORLD

RECIPE = """
every = "1d"
[[bots]]
strategy = "always_half"
[[bots]]
name = "adds_up"
strategy = "always_half"
normalise = "exclusive"
"""


def test_the_probabilities_that_are_played_add_up_and_coherence_is_of_those_that_were_said(tmp_path: Path) -> None:
    with chdir(tmp_path):
        Path("r.toml").write_text(RECIPE, encoding="utf-8")
        done_here("decide", "r.toml", "--venue", WORLD, "--events", "5", "--as-of", "2026-01-11T12:00Z")
        with Store.open("sqlite:///runs/out/predibot.db", create=False) as store, store.read() as connection:
            of_bot = select(bots.c.name, forecasts.c.probability, decisions.c.notes_json).join(
                decisions, decisions.c.id == forecasts.c.decision_id
            )
            found = connection.execute(of_bot.join(bots, bots.c.id == decisions.c.bot_id)).all()
            arguments = dict(map(tuple, connection.execute(select(bots.c.name, bots.c.arguments_json))))
            record = track_record(connection, "sandbox", parse_instant("2026-01-11T12:00Z"))
            questions = [each.question for each in list_markets(connection, "sandbox")]
    assert {p for name, p, _ in found if name == "always_half"} == {0.5}
    divided = {(p, notes) for name, p, notes in found if name == "adds_up" and p != 0.5}
    assert divided and all(p < 0.5 and "said before normalise" in notes for p, notes in divided)
    (said, *_), (added_up, *_) = (coherence_of(record, questions, bot).rules for bot in ("always_half", "adds_up"))
    assert said == added_up and said.bot > 0.0
    assert (arguments["always_half"], arguments["adds_up"]) == ("{}", '{"normalise": "exclusive"}')


def test_a_recipe_keeps_it_and_refuses_another_word_and_a_game_without_probabilities() -> None:
    recipe = parse_recipe(RecipeText(RECIPE, "r", "r"))
    stored = Recipe.from_json(recipe.as_json())
    assert [bot.normalise for bot in stored.bots] == [None, "exclusive"]
    assert recipe.as_json().count("normalise") == 1
    with pytest.raises(RecipeError, match=r"'normalise' in .* is 'sum'"):
        parse_recipe(RecipeText(RECIPE.replace('"exclusive"', '"sum"'), "r", "r"))
    other = RECIPE.replace('every = "1d"', 'game = "portfolio_weights"').replace("always_half", "equal_weights")
    with pytest.raises(RecipeError, match="game 'portfolio_weights' has none of"):
        parse_recipe(RecipeText(other, "r", "r"))
    with pytest.raises(ValueError, match="does not know"):
        Recipe.from_json(recipe.as_json().replace('"normalise":"exclusive"', '"normalise":"sum"'))
