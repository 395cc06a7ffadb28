"""The README: what it shows is what happens."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from predibot.errors import RecipeError
from predibot.recipe.parse import parse_recipe
from predibot.recipe.text import RecipeText
from tests.acceptance.conftest import done_here, own_plugins
from tests.agents.chat_server import Asked, ChatServer, Said, chat_server, completion
from tests.test_docs import PAGES, fenced
from tests.worlds import Worlds, demo

README = PAGES["README"].read_text(encoding="utf-8")


def blocks(language: str, page: str = "README") -> list[str]:
    return [text for kind, text in fenced(page) if kind == language]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Be in a folder in which the program looks for strategies."""
    monkeypatch.chdir(tmp_path)
    with own_plugins("strategies", tmp_path):
        yield tmp_path


def lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def test_the_first_block_is_what_the_demo_prints(worlds: Worlds) -> None:
    (block,) = blocks("console")
    # `make demo` says where it put the program; with that folder on the path the name is enough.
    shown = block.replace(".venv/bin/predibot", "predibot")
    played = worlds(demo)
    printed = lines((played / "printed.txt").read_text(encoding="utf-8"))
    assert printed[0] == lines(shown)[1]
    assert printed[-1] == lines(shown)[-1]
    rest = "\n".join(printed)
    for piece in "\n".join(lines(shown)[1:]).split("\n...\n"):
        # What is left out is marked; what is shown is whole and in its order.
        assert piece.strip() in rest
        rest = rest[rest.index(piece.strip()) :]
    runs = done_here("runs", "--ledger", f"sqlite:///{played}/runs/out/demo.db", "--json").document["runs"]
    assert (len(runs), {each["bots"] for each in runs}) == (40, {5, 6})


def test_the_strategy_of_the_readme_plays(folder: Path) -> None:
    (strategy,) = blocks("python")
    (folder / "contrarian.py").write_text(strategy, encoding="utf-8")
    command = re.search(r"`predibot (decide --venue sandbox --bots [^`]*)`", README)
    assert command is not None
    said = done_here(*command.group(1).split()).out
    assert "contrarian: " in said
    assert "refused" not in said
    assert "failed" not in said


def test_the_recipe_of_the_readme_names_an_argument_of_that_strategy() -> None:
    recipe = next(block for block in blocks("toml") if 'strategy = "contrarian"' in block)
    assert "pull = 0.5" in recipe
    with pytest.raises(RecipeError, match="contrarian"):
        parse_recipe(RecipeText(recipe, "README.md", "readme"))


def test_the_first_own_bot_is_reached_within_900_words() -> None:
    first, _, _ = README.partition("\n## What the numbers mean\n")
    assert "## A bot of your own" in first and len(first.split()) <= 900


def test_the_commands_for_a_model_play_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    block = next(block for block in blocks("sh") if "predibot init" in block)
    commands = [shlex.split(line)[1:] for line in block.splitlines() if line.startswith("predibot ")]
    assert [command[0] for command in commands] == ["init", "decide", "decide", "evaluate", "serve"]
    monkeypatch.chdir(tmp_path)
    # The list below the block says how to play without a network; the world has models of its own.
    commands[0][commands[0].index("openai/gpt-5")] = "sandbox/sharp"
    done_here(*commands[0], "--venue", "sandbox:events=20")
    printed = [done_here(*command, "--events", "2").out for command in commands[1:3]]
    assert "agent" in printed[0] and "agent: " in printed[1] and "failed" not in printed[1]
    assert "agent" in done_here(*commands[3]).out


def test_the_strategy_of_its_page_plays_and_has_15_lines(folder: Path) -> None:
    (strategy,) = blocks("python", "strategies")
    assert sum(bool(line.strip()) for line in strategy.splitlines()) <= 15
    (folder / "onlooker.py").write_text(strategy, encoding="utf-8")
    said = done_here("decide", "--venue", "sandbox", "--bots", "onlooker", "--json").document
    assert {each["status"] for each in said["decisions"]} == {"recorded"}


class _Percent(ChatServer):
    """Says a number for every question of a prompt, another one for each model."""

    def next(self, asked: Asked) -> Said:
        """Note a request and answer it."""
        super().next(asked)
        questions = asked.body["messages"][0]["content"].splitlines()[1:]
        return completion("\n".join("20" if asked.body["model"] == "local/one" else "40" for _ in questions))


def test_the_strategy_with_models_of_its_page_plays(folder: Path) -> None:
    (strategy,) = blocks("py", "strategies")
    (folder / "judged.py").write_text(strategy, encoding="utf-8")
    with chat_server(completion()) as server:
        server.__class__ = _Percent
        (folder / "r.toml").write_text(
            '[limits.run]\nusd = 0.5\n[[bots]]\nstrategy = "judged"\nmodel = "local/one"\njudge_model = "local/two"\n'
            f'base_url = "{server.base_url}"\nprice_usd_per_million_tokens = 1\n'
        )
        more = ("--venue", "sandbox:events=20", "--events", "2", "--json")
        said = done_here("decide", "r.toml", *more).document
    assert {each["status"] for each in said["decisions"]} == {"recorded"}
    assert {bet["probability"] for each in said["decisions"] for bet in each["bets"]} == {0.3}
    assert {asked.body["model"] for asked in server.asked} == {"local/one", "local/two"}
