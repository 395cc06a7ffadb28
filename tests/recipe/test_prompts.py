"""Prompts of the user's own: which files are read, and which fields a game lets them have."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from predibot.agents.prompts.fields import FIELDS, PROMPTS, choice_of, game_fields, prompt_problem
from predibot.agents.prompts.render import fields_of, fill_prompt, packaged_prompt
from predibot.contracts import no_history
from predibot.errors import RecipeError
from predibot.plugins.games import make_game
from predibot.recipe.parse import load_recipe, parse_recipe
from predibot.recipe.prompts import MAX_PROMPT_BYTES, fields_by_game
from predibot.recipe.recipe import Recipe
from predibot.recipe.text import RecipeText
from predibot.studies.beliefbench.games.beliefbench.rules import PairForm
from predibot.studies.beliefbench.pairs import PairItem

BOT = '[[bots]]\nstrategy = "one_shot"\nmodel = "openai/gpt-5"\n'
MARKS = "{{fence_open}} {{fence_close}}"
MINE = f"<nothink> {{{{view}}}} {MARKS}"


def write(folder: Path, prompt: str | bytes = MINE, *, named: str = "prompts/mine.md", recipe: str = BOT) -> None:
    (folder / "prompts").mkdir(exist_ok=True)
    data = prompt if isinstance(prompt, bytes) else prompt.encode()
    (folder / "prompts" / "mine.md").write_bytes(data)
    (folder / "r.toml").write_text(f"{recipe}prompt = {named!r}\n", encoding="utf-8")


def mistake(folder: Path) -> str:
    with pytest.raises(RecipeError) as caught:
        load_recipe("r.toml", folder)
    return str(caught.value)


def test_a_prompt_belongs_to_its_bot_and_goes_with_the_stored_recipe(tmp_path: Path) -> None:
    write(tmp_path)
    recipe = load_recipe("r.toml", tmp_path)
    (bot,) = recipe.bots
    assert (bot.prompt, bot.prompt_sha256) == (MINE, hashlib.sha256(MINE.encode()).hexdigest())
    assert Recipe.from_json(recipe.as_json()).bots[0].prompt == MINE
    # A recipe below runs/ has its prompts in the folder above.
    (tmp_path / "runs").mkdir()
    (tmp_path / "r.toml").rename(tmp_path / "runs" / "r.toml")
    assert load_recipe("runs/r.toml", tmp_path).bots[0].prompt == MINE


def test_a_packaged_prompt_is_named_and_nothing_else_is_read_for_it(tmp_path: Path) -> None:
    write(tmp_path, named="decide-2")
    (tmp_path / "decide-2").write_text(MINE)
    (bot,) = load_recipe("r.toml", tmp_path).bots
    assert bot.prompt == packaged_prompt("decide-2") and choice_of(bot.prompt_sha256) == "decide-2"
    assert choice_of(hashlib.sha256(MINE.encode()).hexdigest()) == ""
    write(tmp_path, named="decide-2", recipe=f'game = "portfolio_weights"\n{BOT}')
    assert "it asks for probabilities of events, as game 'portfolio_weights' does not" in mistake(tmp_path)


@pytest.mark.parametrize("named", ["../mine.md", "/etc/hostname", "prompts/../../mine.md", "link.md", "folder/mine.md"])
def test_nothing_outside_the_folder_of_the_recipe_is_read(tmp_path: Path, named: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "mine.md").write_text(MINE)
    (inner / "link.md").symlink_to(tmp_path / "mine.md")
    (inner / "folder").symlink_to(tmp_path)
    write(inner, named=named)
    assert "r.toml, line 4" in mistake(inner)
    assert "is not below the folder of the recipe" in mistake(inner)


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        (b"\xff{{view}}", "is not UTF-8"),
        (MINE + "x" * MAX_PROMPT_BYTES, "more than 64,000 bytes"),
        (MINE + "\x1b[2J", "control characters"),
        (
            MINE + "{{viewer}}",
            "has the field 'viewer', which game 'dollar_per_event' does not fill. Did you mean 'view'?",
        ),
        (MINE + "{{question}}", "has the field 'question'"),
        (MINE + "{{ answer-shape }}", "Did you mean 'answer_shape'?"),
        (MARKS, "Add the field {{view}}"),
        ("{view}" + MARKS, "Add the field {{view}}"),
        ("{{view}} {{fence_open}}", "Add the field {{fence_close}}"),
        ("", "Add the field {{view}}"),
    ],
)
def test_a_prompt_with_a_mistake_is_refused_before_a_run_with_what_to_do(
    tmp_path: Path, prompt: str | bytes, said: str
) -> None:
    write(tmp_path, prompt)
    assert said in mistake(tmp_path)


@pytest.mark.parametrize(
    ("named", "said"),
    [("none.md", "no such file"), ("decide", "Leave prompt out"), ("prompts", "a folder"), ("a\0b", "null")],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, named: str, said: str) -> None:
    write(tmp_path)
    (tmp_path / "r.toml").write_text(BOT + 'prompt = "' + named.replace("\0", "\\u0000") + '"\n')
    assert said in mistake(tmp_path)


def test_a_loop_of_links_and_a_prompt_of_a_bot_that_asks_no_model_are_refused(tmp_path: Path) -> None:
    write(tmp_path, named="loop.md")
    (tmp_path / "loop.md").symlink_to(tmp_path / "loop.md")
    assert "it cannot be read" in mistake(tmp_path)
    write(tmp_path, recipe='[[bots]]\nstrategy = "market_price"\n')
    assert "asks no model, so 'prompt' changes nothing" in mistake(tmp_path)


@pytest.mark.parametrize("name", [name for name in PROMPTS if name != "extract"])
def test_a_packaged_prompt_can_be_copied_and_used_as_ones_own(name: str) -> None:
    games = ("stakebench", "beliefbench") if name == "label" else ("dollar_per_event", "portfolio_weights")
    games = games[:1] if name == "decide-2" else games
    for game in games:
        assert prompt_problem(packaged_prompt(name), make_game(game)) == ""


def test_every_field_of_a_packaged_prompt_is_explained_and_every_game_lists_its_own() -> None:
    used = {field for name in PROMPTS if name != "extract" for field in fields_of(packaged_prompt(name))}
    assert used == {*FIELDS}
    games: Mapping[str, tuple[str, ...]] = fields_by_game()
    assert {"question", "comments"} < {*games["stakebench"]} and "now" not in games["stakebench"]
    assert {"first", "second"} < {*games["beliefbench"]} and "reasons" not in games["beliefbench"]
    assert {*games["beliefbench, a judge"]} == {*games["beliefbench"], "reasons"}


def test_a_text_game_may_be_asked_about_by_the_parts_of_its_view() -> None:
    sides = make_game("stakebench", tasks=("G2",))
    assert prompt_problem(f"{{{{question}}}} {{{{comments}}}} {{{{topic}}}} {MARKS}", sides) == ""
    assert "{{question}} and {{comments}}" in prompt_problem(f"{{{{question}}}} {MARKS}", sides)
    both = make_game("stakebench", tasks=("G2", "G3"))
    assert "'topic'" in prompt_problem(f"{{{{view}}}} {{{{topic}}}} {MARKS}", both)
    assert {"side", "size"} < {*game_fields(make_game("stakebench", tasks=("G3", "G3f")))}


def test_a_judges_prompt_shows_the_reasons_and_may_name_the_parts_that_a_judge_is_shown(tmp_path: Path) -> None:
    recipe = (
        'game = "beliefbench"\n[[bots]]\nname = "reasons"\nstrategy = "one_shot"\nmodel = "openai/gpt-5"\n'
        'chain_of_thought = true\n[[bots]]\nstrategy = "reasoning_judge"\nmodel = "openai/gpt-5"\nof = "reasons"\n'
    )
    whole = f"{{{{first}}}} {{{{second}}}} {{{{reasons}}}} {MARKS}"
    write(tmp_path, whole, recipe=recipe)
    assert load_recipe("r.toml", tmp_path).bots[1].prompt == whole
    write(tmp_path, whole.replace("{{reasons}}", ""), recipe=recipe)
    assert "Add the field {{view}}, or {{first}} and {{second}} and {{reasons}}" in mistake(tmp_path)
    assert "'reasons'" in prompt_problem(whole, make_game("beliefbench"))
    pair = PairItem("p", (("A {{first}}?", "a"), ("B?", "b")))
    form = PairForm(pair).judging("because {{second}}")
    words = form.words(history=no_history, untrusted=str.upper)
    assert (
        fill_prompt("{{reasons}}|{{first}}|{{second}}", words.parts) == "BECAUSE {{SECOND}}|A {{FIRST}}?\n  A|B?\n  B"
    )


@pytest.mark.parametrize(
    ("game", "settings"),
    [
        ("dollar_per_event", {}),
        ("portfolio_weights", {"temperature": 0.3, "max_tokens": 16_000}),
        ("weekly_cohort", {"temperature": 0.0, "max_tokens": 16_000}),
        ("stakebench", {"temperature": 0.0}),
        ("beliefbench", {"temperature": 0.0}),
    ],
)
def test_a_bot_that_is_named_by_its_model_alone_answers_as_the_study_has_it(
    game: str, settings: Mapping[str, float]
) -> None:
    recipe = 'game = "dollar_per_event"\n[[bots]]\nstrategy = "market_price"\n'
    *_, added = (
        replace(parse_recipe(RecipeText(recipe, "r", "r")), game=game).with_overrides(models=("openai/gpt-5",)).bots
    )
    assert added.terms.settings.explicit == settings
