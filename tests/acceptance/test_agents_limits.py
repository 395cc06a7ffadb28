"""Agents and what they may not do: spend more than they have, or see what came later; and real recorded markets."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Predibot, bot_of, forecasts_on
from tests.agents.chat_server import Asked, ChatServer, Said, serving, tool_call

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

INSTANT = "2026-02-13T19:30:00Z"
SHARP = '[[bots]]\nname = "sharp"\nstrategy = "tool_agent"\nmodel = "sandbox/sharp"\n'
WORLD = ("--venue", "sandbox:events=8", "--events", "2", "--json")


class _Forecaster(ChatServer):
    """Answers every prompt about its own markets: 0.6 and a bet of nothing."""

    def next(self, asked: Asked) -> Said:
        super().next(asked)
        if "final_answer" not in json.dumps(asked.body.get("tools")):
            return tool_call()
        return tool_call("final_answer", forecasts_on(asked, 0.6))


def _write(folder: Path, text: str) -> str:
    (folder / "r.toml").write_text(text, encoding="utf-8")
    return "r.toml"


DDGS = '[search]\nproviders = ["ddgs"]'
FREE = "price_usd_per_million_tokens = 0\n"


def test_on_recorded_markets_an_agent_is_asked_what_was_known_and_is_scored_like_any_other(
    predibot: Predibot, tmp_path: Path, shared_data: Path
) -> None:
    venue = f"archive:{shared_data / 'polymarket-2026-02'}"
    with serving(_Forecaster()) as server:
        half = '[[bots]]\nstrategy = "always_half"\n'
        agent = bot_of(server.base_url, "min_searches = 0\nmin_pages = 0", strategy="tool_agent")
        searxng = f'[search]\nproviders = ["searxng"]\nbase_urls = {{searxng = "{server.base_url}"}}\n'
        recipe = _write(tmp_path, half + agent + searxng)
        said = predibot("decide", recipe, "--venue", venue, "--as-of", INSTANT, "--events", "4", "--json")
        prompts = [_prompt(asked) for asked in server.asked if "market id:" in _prompt(asked)]
    assert said.code == 0, said.err
    assert {each["status"] for each in said.document["decisions"]} == {"recorded"}
    assert len(prompts) == 4
    for prompt in prompts:
        assert "It is 2026-02-13T19:30Z" in prompt
        assert "rules of the event: " in prompt
        assert re.search(r"price of YES now: 0\.\d+ \(bid 0\.\d+, ask ", prompt)
        for line in re.findall(r"price of YES by day: (.*)", prompt):
            days = re.findall(r"2\d{3}-\d\d-\d\d", line)
            assert len(days) <= 20
            assert days == sorted(days)
            assert days[-1] <= "2026-02-13"
    evaluated = predibot("evaluate", "--venue", venue, "--as-of", "2026-07-01T00:00:00Z", "--json").document
    cards = {card["bot"]: card for card in evaluated["bots"]}
    assert cards["agent"]["n_brier"] == cards["always_half"]["n_brier"] > 0
    assert cards["agent"]["brier"] is not None


def _prompt(asked: Asked) -> str:
    return "\n".join(str(each.get("content")) for each in asked.body["messages"])


@pytest.mark.parametrize(
    ("bots", "said"),
    [
        ('strategy = "tool_agent"\nmodel = "local/tiny"\nbase_url = "{url}"\n' + FREE + DDGS,
         "cannot search in a replay: no search provider says when its results were published (ddgs)"),
        ('strategy = "deep_research"\nmodel = "local/deep"\nextract_model = "local/tiny"\nbase_url = "{url}"\n' + FREE,
         "has a model that searches by itself"),
        ('strategy = "one_shot"\nmodel = "local/tiny"\nbase_url = "{url}"\n[limits.run]\nusd = 1',
         "set price_usd_per_million_tokens in the recipe, 0 for a local model"),
    ],
)  # fmt: skip
def test_what_would_see_the_future_or_spend_the_unknown_is_refused_before_any_call(
    predibot: Predibot, tmp_path: Path, shared_data: Path, bots: str, said: str
) -> None:
    with serving(_Forecaster()) as server:
        recipe = _write(tmp_path, "[[bots]]\n" + bots.replace("{url}", server.base_url))
        venue = f"archive:{shared_data / 'polymarket-2026-02'}"
        refused = predibot("decide", recipe, "--venue", venue, "--as-of", INSTANT, "--json")
    assert (refused.code != 0, server.asked) == (True, [])
    assert said in refused.document["error"]["message"]


@pytest.mark.parametrize(
    ("limit", "status", "said"),
    [
        ("tokens = 20_000", "recorded", "under_researched"),
        ("searches = 1", "recorded", "under_researched"),
        ("tokens = 1_000", "abstained", "limit of 1,000 tokens"),
        # One of them is the question whether the model calls tools.
        ("steps = 2", "recorded", "under_researched"),
        ("steps = 1", "abstained", "limit of 1 steps"),
    ],
)
def test_a_budget_that_is_spent_leaves_only_the_answer_and_then_an_abstention(
    predibot: Predibot, tmp_path: Path, limit: str, status: str, said: str
) -> None:
    recipe = _write(tmp_path, f"[limits.decision]\n{limit}\n{SHARP}")
    decided = predibot("decide", recipe, "--venue", "sandbox:events=8", "--events", "1")
    assert decided.code == 0, decided.err
    rows = [json.loads(line) for line in predibot("export", "--canonical").out.splitlines()]
    (decision,) = [row for row in rows if row["table"] == "decisions"]
    assert decision["status"] == status
    assert said in decision["message"] + decision["notes_json"]


@pytest.mark.parametrize("level", ["run", "day"])
def test_a_limit_of_a_run_or_a_day_holds_across_two_calls_with_one_ledger(
    predibot: Predibot, tmp_path: Path, level: str
) -> None:
    recipe = _write(tmp_path, f"[limits.{level}]\nsearches = 3\n{SHARP}")
    ends: list[Any] = [predibot("decide", recipe, *WORLD)]
    more = ("--new-run",) if level == "day" else ()
    ends.append(predibot("decide", recipe, *WORLD, *more))
    assert [each.code for each in ends] == [0, 0], ends[-1].err
    traces = [path.read_text("utf-8") for path in (tmp_path / "runs/out/predibot.db.files/traces").rglob("*.jsonl")]
    searches = sum(json.loads(line)["kind"] == "search" for trace in traces for line in trace.splitlines())
    assert 0 < searches <= 3
