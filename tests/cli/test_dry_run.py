"""`predibot decide --dry-run`: what it may cost is said before anything is spent."""

from pathlib import Path
from typing import Any

import pytest

from predibot.recipe.parse import load_recipe
from predibot.recipe.text import packaged_recipe_text
from tests.acceptance.conftest import Predibot
from tests.cli.conftest import WORLD

ROOT = Path(__file__).resolve().parents[2]

AGENT = """
venue = "sandbox:events=20"
{limits}
[selection]
events = 3
[[bots]]
strategy = "market_price"
[[bots]]
name = "agent"
strategy = "{strategy}"
model = "nobody/nothing"
base_url = "http://127.0.0.1:9/v1"
{price}
"""
PRICE = "price_usd_per_million_tokens = { input = 1.0, output = 2.0 }"


def _worst(program: Predibot, folder: Path, *, strategy: str = "tool_agent", limits: str = "", price: str = "") -> Any:
    (folder / "agent.toml").write_text(AGENT.format(limits=limits, price=price, strategy=strategy))
    return program("decide", "agent.toml", "--dry-run", "--json").document["worst_case"]


def test_a_limit_of_each_decision_bounds_a_bot_and_one_without_room_to_think_is_said(
    predibot: Predibot, tmp_path: Path
) -> None:
    worst = _worst(predibot, tmp_path, limits="[limits.decision]\nusd = 0.1", price=PRICE)
    assert [bot["usd"] for bot in worst["bots"]] == [0.0, pytest.approx(0.3)]
    assert worst["usd"] == pytest.approx(0.3)
    assert worst["bots"][1]["advice"].endswith("usd = 0.37 in [limits.decision] would do")
    assert "agent: one call of nobody/nothing" in predibot("decide", "agent.toml", "--dry-run").out
    assert [path.name for path in tmp_path.iterdir()] == ["agent.toml"], "nobody is asked and nothing is stored"


def test_a_limit_of_the_run_bounds_all_bots(predibot: Predibot, tmp_path: Path) -> None:
    worst = _worst(predibot, tmp_path, limits="[limits.run]\nusd = 0.05", price=PRICE)
    assert (worst["usd"], worst["basis"]) == (0.05, "the run's limit")
    assert worst["bots"][1]["usd"] > 0.05


def test_a_limit_of_tokens_and_a_price_bound_a_decision(predibot: Predibot, tmp_path: Path) -> None:
    worst = _worst(predibot, tmp_path, limits="[limits.decision]\ntokens = 10000", price=PRICE)
    assert worst["usd"] == pytest.approx(3 * 0.02)


def test_without_limits_it_is_the_calls_that_may_be_made(predibot: Predibot, tmp_path: Path) -> None:
    one_shot = _worst(predibot, tmp_path, price=PRICE, strategy="one_shot")
    agent = _worst(predibot, tmp_path, price=PRICE)
    assert "4 calls of at most" in one_shot["bots"][1]["basis"]
    assert 0 < one_shot["usd"] < agent["usd"]


def test_what_is_unknown_is_not_nothing(predibot: Predibot, tmp_path: Path) -> None:
    worst = _worst(predibot, tmp_path)
    assert (worst["usd"], worst["known_usd"], worst["bots"][1]["usd"]) == (None, 0.0, None)
    assert "unknown, at most $0.000 of it known" in predibot("decide", "agent.toml", "--dry-run").out


def test_a_bot_that_could_not_keep_its_limit_is_refused(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "agent.toml").write_text(
        AGENT.format(limits="[limits.decision]\nusd = 0.1", price="", strategy="tool_agent")
    )
    said = predibot("decide", "agent.toml", "--dry-run")
    assert said.code == 1
    assert "set price_usd_per_million_tokens" in said.err


@pytest.mark.parametrize("name", ["daily", "agents", "local"])
def test_the_recipes_to_start_from_are_scheduled_and_can_be_played(predibot: Predibot, name: str) -> None:
    recipe = ROOT / "runs" / f"{name}.toml"
    assert load_recipe(str(recipe), ROOT).schedule is not None
    said = predibot("decide", str(recipe), "--venue", "sandbox:events=20", "--dry-run", "--json")
    assert (said.code, len(said.document["selected"]) > 0) == (0, True)
    assert {bot["advice"] for bot in said.document["worst_case"]["bots"]} == {""}, "room to think"


def test_the_daily_recipe_is_the_packaged_one() -> None:
    assert (ROOT / "runs" / "daily.toml").read_text(encoding="utf-8") == packaged_recipe_text("daily")


def test_models_of_the_command_line_play_beside_the_baselines_under_the_recipes_limits(predibot: Predibot) -> None:
    models = ("--model", "sandbox/sharp", "--model", "sandbox/lazy")
    said = predibot(
        "decide", "sandbox_agents", "--bots", "market_price", *models, "--events", "2", "--dry-run", "--json"
    )
    added = ["sandbox-sharp", "sandbox-lazy"]
    assert said.document["bots"] == ["market_price", *added]
    assert said.document["would_decide"] == 6
    assert {ask["bot"] for ask in said.document["asks"]} == {*added, None}
    assert [bot["bot"] for bot in said.document["worst_case"]["bots"]] == ["market_price", *added]


def test_a_model_without_a_key_is_told_and_the_others_play(predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    models = ("--model", "openai/gpt-5", "--model", "sandbox/sharp")
    said = predibot("decide", "--venue", WORLD, "--events", "1", *models, "--json")
    decisions = {each["bot"]: each for each in said.document["decisions"]}
    assert decisions["openai-gpt-5"]["status"] == "failed"
    assert "OPENAI_API_KEY" in decisions["openai-gpt-5"]["message"]
    assert decisions["sandbox-sharp"]["status"] == "recorded"


def test_a_replay_takes_models_too(predibot: Predibot) -> None:
    span = ("--from", "2026-03-01", "--to", "2026-03-01", "--events", "1")
    said = predibot("replay", "--venue", WORLD, *span, "--model", "sandbox/sharp", "--json")
    assert "sandbox-sharp" in said.out
