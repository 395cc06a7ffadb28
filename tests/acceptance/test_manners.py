"""Models of awkward manners, at the command line: a bot plays as it does without them."""

import json
from pathlib import Path

import pytest

from predibot.sandbox.server.hosts.manners import MANNERS
from tests.acceptance.conftest import Predibot

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

BOTS = """[[bots]]
name = "agent"
strategy = "tool_agent"
model = "sandbox/sharp"
[[bots]]
name = "shot"
strategy = "one_shot"
model = "sandbox/sharp"
"""
AT_ONCE = sorted(MANNERS.keys() - {"thinks_first", "text_calls", "wants_state_back"})
"""Beside these a turn has calls that carry state, or text."""


def decided(predibot: Predibot, manners: list[str]) -> tuple[int, dict[tuple[str, str], object]]:
    """Return the exit code of a call, and what each bot said of each market."""
    venue = f"sandbox:events=20{',fault=' + '+'.join(manners) if manners else ''}"
    said = predibot("decide", "r.toml", "--venue", venue, "--events", "1", "--new-run", "--json")
    run = said.document["run"]["key"]
    rows = map(json.loads, predibot("export", "--table", "forecasts").out.splitlines())
    return said.code, {(row["bot"], row["market_id"]): row["probability"] for row in rows if row["run"] == run}


def test_bots_forecast_as_they_do_where_nothing_is_refused(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(BOTS, encoding="utf-8")
    plain = decided(predibot, [])
    assert (plain[0], len(plain[1]) > 2) == (0, True)
    assert decided(predibot, [*AT_ONCE, "wants_state_back", "thinks_first=6000"]) == plain
    assert decided(predibot, [*AT_ONCE, "text_calls"]) == plain
