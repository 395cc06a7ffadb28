"""`predibot bots`: the strategies there are, and one bot."""

import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot

BASELINES = {"always_half", "favourite", "market_price", "random_bet", "underdog"}


def test_strategies_are_listed_with_their_arguments(predibot: Predibot) -> None:
    found = {each["name"]: each for each in predibot("bots", "--json").document["strategies"]}
    assert set(found) >= BASELINES
    (stake,) = found["market_price"]["arguments"]
    assert (stake["name"], stake["default"]) == ("stake", '"equal"')
    assert found["all_cash"]["games"] == ["portfolio_weights", "weekly_cohort"]
    assert (found["one_shot"]["games"], found["favourite"]["games"]) == (["*"], ["dollar_per_event"])
    text = predibot("bots").out
    assert "portfolio_weights" in text and "any game" in text
    assert all(name in text for name in (*BASELINES, "stake", "top_volume"))


AGENT = """
[limits.decision]
usd = 0.75
[[bots]]
name = "mine"
strategy = "tool_agent"
model = "openai/gpt-5"
temperature = 0.5
[[bots]]
strategy = "market_price"
"""


def test_one_bot_is_shown_with_its_limits_and_what_it_decided_so_far(decided: Predibot) -> None:
    Path("runs/mine.toml").write_text(AGENT)
    agent = decided("bots", "mine", "--recipe", "mine").out
    for line in (r"plays .*dollar_per_event on polymarket", "model .*openai/gpt-5", "settings .*temperature = 0.5"):
        assert re.search(f"^{line}", agent, re.MULTILINE)
    assert re.search(r"^limits a decision +\$0.75$", agent, re.MULTILINE)
    assert "`predibot decide runs/mine.toml --bots mine --dry-run` says" in agent
    document = decided("bots", "market_price", "--json").document
    assert (document["decided"]["statuses"], document["decided"]["cost_known_usd"]) == ({"recorded": 3}, 0.0)
    takes = decided("bots", "ensemble", "--json").document
    assert document.keys() == takes.keys() and takes["spec"] is None
    assert [each["strategies"][0]["arguments"][0]["name"] for each in (document, takes)] == ["stake", "members"]
    assert len(document["latest"]) == 3 and document["game"] == "dollar_per_event"
    assert "`predibot report --bot market_price` shows its scores" in decided("bots", "market_price").out
    assert "Did you mean 'mine'?" in decided("bots", "min", "--recipe", "mine").err
    report = decided("report", "--bot", "market_price").out
    assert re.search(r"^Open positions: \d+ bets? of \$\d\.\d\d in all, not priced since$", report, re.MULTILINE)
    has_none = decided("account", "market_price").err
    assert "It played without one: `predibot report --bot market_price` shows its open positions" in has_none


def test_a_tool_and_what_a_strategy_takes_are_shown_by_name(predibot: Predibot) -> None:
    assert "first provider that has something to show" in " ".join(predibot("bots", "web_search").out.split())
    for name in ("anchored", "ensemble"):
        assert f"`--bots {name}` alone makes no bot" in (said := predibot("bots", name).out)
        assert f"Arguments of {name}" in said


def test_a_bot_without_a_ledger_is_shown_and_no_ledger_is_made(predibot: Predibot, tmp_path: Path) -> None:
    assert "none so far, as there is no ledger yet" in predibot("bots", "underdog").out
    assert [*tmp_path.iterdir()] == []


KEY = "sk-PATH0123456789abcdef"
KEYS = f"""
[[bots]]
name = "m"
strategy = "one_shot"
model = "openai/own"
base_url = "http://127.0.0.1:9/v1/{KEY}/x"
credential = "ACME_API_KEY"
"""


def test_a_key_in_the_address_of_a_bot_is_masked_as_in_its_settings(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("keys.toml").write_text(KEYS)
    monkeypatch.setenv("ACME_API_KEY", KEY)
    for words in (("config", "keys.toml"), ("bots", "m", "--recipe", "keys.toml")):
        for said in (predibot(*words), predibot(*words, "--json")):
            assert "http://127.0.0.1:9/v1/***/x" in said.out and "PATH" not in said.out
