"""`predibot config`: the merged settings of a recipe, and names of keys without what they hold."""

import tomllib
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot

RECIPE = """
[selection]
events = 5
[[bots]]
name = "mine"
strategy = "one_shot"
model = "openai/gpt-5"
knowledge_cutoff = 2024-05-31
"""


def test_each_setting_is_printed_with_its_source_and_a_key_by_its_name_alone(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mine.toml").write_text(RECIPE)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    said = predibot("config", "mine.toml", "--venue", "sandbox", "--max-markets", "7")
    for line in (
        'venue = "sandbox"  # command line',
        "max_markets = 7  # command line",
        "events = 5  # mine.toml, line 3",
        "min_volume_24h_usd = 1000.0  # default",
        "# The key of mine is OPENAI_API_KEY of the environment, set here.",
    ):
        assert line in said.out.splitlines()
    assert "sk-0123456789abcdef" not in said.out
    assert tomllib.loads(said.out)["bots"][0]["model"] == "openai/gpt-5"
    document = predibot("config", "mine.toml", "--events", "2", "--json").document
    assert {"key": "selection.events", "value": 2, "source": "command line"} in document["settings"]
    assert {"key": "bots.0.knowledge_cutoff", "value": "2024-05-31", "source": "mine.toml, line 8"} in (
        document["settings"]
    )
    assert document["keys"] == [{"bot": "mine", "variables": ["OPENAI_API_KEY"], "set": True}]
