"""`predibot init`: a recipe to start from."""

import os
import pty
import shlex
import tomllib
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.agents.chat_server import chat_server, completion, tool_call
from tests.cli.conftest import WORLD
from tests.forked import predibot_forked


def test_the_recipe_is_used_from_then_on(predibot: Predibot, tmp_path: Path) -> None:
    said = predibot("init", "--model", "none").out
    assert said == "wrote runs/daily.toml. Next: `predibot select runs/daily.toml`\n"
    assert predibot("select", "--venue", WORLD).err == "recipe: runs/daily.toml\n"
    assert (tmp_path / "runs/daily.toml").read_text().count("[[bots]]") >= 2


def test_a_file_that_is_there_is_kept_unless_forced(predibot: Predibot, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("mine")
    said = predibot("init", "mine.toml", "--model", "none")
    assert (said.code, path.read_text()) == (1, "mine")
    assert said.err == "error: mine.toml is there already and is kept; name another file, or add --force.\n"
    found = predibot("init", "mine.toml", "--model", "none", "--force", "--json").document
    assert found == {"recipe": "mine.toml", "seen": [], "exit_code": 0}
    assert path.read_text() != "mine"


@pytest.mark.parametrize(
    "options",
    [
        ("--venue", "nowhere"),
        ("--schedule", "never"),
        ("--base-url", "ftp://x"),
        ("--base-url", "http://[::1"),
        ("--model", ""),
        ("--model", "openai/\udcff"),
        ("--probe", "--model", "none"),
    ],
)
def test_what_no_recipe_may_say_is_refused_and_nothing_is_written(
    predibot: Predibot, tmp_path: Path, options: tuple[str, ...]
) -> None:
    said = predibot("init", "--model", "openai/x", *options)
    assert said.code in (1, 2) and said.err.startswith("error: ")
    assert not (tmp_path / "runs/daily.toml").exists()


def test_texts_of_any_characters_are_written_and_the_hint_can_be_typed(predibot: Predibot, tmp_path: Path) -> None:
    model, path = 'openai/é😀\x7f"]\n[evil]\nx = 1', "sp ace/q'uote/e.toml"
    said = predibot("init", path, "--model", model, "--venue", WORLD)
    assert tomllib.loads((tmp_path / path).read_text())["bots"][-1]["model"] == model, said.err
    assert shlex.split(said.out.split("`")[1]) == ["predibot", "decide", path, "--dry-run"]
    said = predibot("init", "--model", "none", "--", "-x.toml")
    assert "`predibot select ./-x.toml`" in said.out


def test_a_model_is_asked_one_question_and_plays_with_limits(predibot: Predibot, tmp_path: Path) -> None:
    with chat_server(tool_call()) as server:
        chosen = ("--model", "openai/mine", "--base-url", server.base_url, "--venue", WORLD)
        said = predibot("init", *chosen, "--schedule", "5 12 * * *", "--probe")
        assert (said.code, "bot agent: openai/mine: calls tools" in said.out) == (0, True), said.out + said.err
        after = "`predibot decide runs/daily.toml --dry-run`, later `predibot schedule runs/daily.toml`"
        assert f"Next: {after}" in said.out
        assert "would decide: market_price, random_bet, agent" in predibot("decide", "runs/daily.toml", "--dry-run").out
        assert len(server.asked) >= 1
    recipe = tomllib.loads((tmp_path / "runs/daily.toml").read_text())
    assert recipe["schedule"] == {"cron": "5 12 * * *", "timezone": "UTC"}
    assert recipe["limits"] == {"decision": {"usd": 0.75}, "day": {"usd": 10.0}}
    assert recipe["bots"][-1]["price_usd_per_million_tokens"] == 0


def test_a_model_that_cannot_play_is_told_and_its_recipe_is_kept(predibot: Predibot, tmp_path: Path) -> None:
    with chat_server(completion("I have no tools.")) as server:
        said = predibot("init", "--model", "openai/mine", "--base-url", server.base_url, "--venue", WORLD, "--probe")
    assert said.code == 1 and "bot agent: " in said.out
    assert (tmp_path / "runs/daily.toml").exists()


def _typed(answers: bytes) -> tuple[int, str]:
    """Answer what `predibot init` asks on a terminal, and return its exit code and what the screen was sent."""
    ours, theirs = pty.openpty()
    os.write(ours, answers)
    with Path(os.devnull).open("w") as nothing:
        ended = predibot_forked("init", streams=(theirs, nothing.fileno(), theirs), environment=dict(os.environ))
    os.close(theirs)
    sent = os.read(ours, 65_536).decode()
    os.close(ours)
    return ended.code, sent


def test_a_question_that_is_not_answered_ends_as_ctrl_c_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, said = _typed(b"\x04")
    assert code == 130 and "interrupted. To start over" in said and "Traceback" not in said, said


def test_a_terminal_is_asked_what_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, asked = _typed(b"openai/gpt-5\n\nsandbox\n\nn\n")
    assert code == 0, asked
    assert all(asked.count(each) == 1 for each in ("Model of the agent", "Address", "Venue", "When", "Ask the model"))
    recipe = tomllib.loads(Path("runs/daily.toml").read_text())
    assert (recipe["venue"], recipe["bots"][-1]["model"], "schedule" in recipe) == ("sandbox", "openai/gpt-5", False)
