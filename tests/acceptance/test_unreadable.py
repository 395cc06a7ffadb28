"""Models of which no answer can be taken, however they fail at it: at most four paid calls, and failed until mended."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, bot_of, forecasts_on
from tests.agents.chat_server import Asked, ChatServer, Said, completion, said_json, serving, tool_call
from tests.soaks import few

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WAYS = {
    "cut": completion("It may be that", finish_reason="length"),
    "empty": completion(""),
    "null": completion(None),
    "no_choice": said_json({**json.loads(completion().body), "choices": []}),
    "no_message": said_json({**json.loads(completion().body), "choices": [{"message": None}]}),
    "refusal": completion(None, finish_reason="content_filter", message={"refusal": "I will not"}),
    "unreadable": completion("I think sixty percent"),
    "thinks": completion("<think>It may rain"),
    "half_an_answer": completion('{"market_decisions": ['),
    "two_objects": completion('{"a": 1} {"b": 2}'),
    "no_query": tool_call("web_search", '{"query": null}'),
    "half_a_call": tool_call("web_search", '{"query": ', finish_reason="stop"),
}
STRATEGIES = {
    "one_shot": "",
    "ensemble": "samples = 5",
    "tool_agent": "min_searches = 0\nmin_pages = 0",
    "tool_agent of a model that calls none": 'min_searches = 0\nmin_pages = 0\nwithout_tools = "one_shot"',
}


class _Broken(ChatServer):
    """Calls the tool it is asked for, and answers in the way that a model is called after until it is mended."""

    is_mended = False
    without_tools = False

    def next(self, asked: Asked) -> Said:
        with self.lock:
            self.asked.append(asked)
        tools = [tool["function"]["name"] for tool in asked.body.get("tools", [])]
        if "ping" in tools and not (self.without_tools and not self.is_mended):
            return tool_call()
        if not self.is_mended:
            return WAYS[asked.body["model"].removeprefix("local/")]
        said = forecasts_on(asked)
        return tool_call("final_answer", said) if tools else completion(said)


def bots_of(server: _Broken, strategy: str) -> str:
    """Return a bot of a strategy for each way, as a recipe has them."""
    given = {"strategy": strategy.partition(" ")[0]}
    return "".join(
        bot_of(server.base_url, STRATEGIES[strategy], name=way, model=f"local/{way}", **given) for way in WAYS
    )


def calls_of(server: _Broken) -> Counter[str]:
    return Counter(each.body["model"].removeprefix("local/") for each in server.asked)


@pytest.mark.parametrize("strategy", few(STRATEGIES, "one_shot", "tool_agent"))
def test_it_costs_four_calls_at_most_and_has_failed_however_often_it_is_asked_until_it_is_mended(
    predibot: Predibot, strategy: str
) -> None:
    with serving(_Broken()) as server:
        server.without_tools = " " in strategy
        Path("r.toml").write_text(bots_of(server, strategy))
        asked = ("decide", "r.toml", "--venue", "sandbox:events=5", "--events", "1", "--json")
        first = predibot(*asked)
        found = {row["bot"]: (row["status"], row["reason_kind"]) for row in first.document["decisions"]}
        assert (first.code, found) == (4, dict.fromkeys(WAYS, ("failed", "answer")))
        again = [predibot(*asked[:-1]) for _ in range(2)]
        for way in WAYS:
            told = f"{way}: 1 before: 1 failed (unreadable answers); the same command with --retry failed tries again"
            assert [(said.code, told in said.out) for said in again] == [(4, True)] * 2
        assert max(calls_of(server).values()) <= 4
        run = first.document["run"]["key"]
        rerun = predibot("decide", "--rerun-traces", run, "--json").document["decisions"]
        assert [(row["equal"], row["difference"]) for row in rerun] == [(True, "")] * len(WAYS)
        server.is_mended = True
        mended = predibot(*asked, "--retry", "failed")
        assert (mended.code, mended.document["totals"]["recorded"]) == (0, len(WAYS))


def test_a_cohort_holds_by_the_system_in_its_place(predibot: Predibot) -> None:
    with serving(_Broken()) as server:
        Path("r.toml").write_text('game = "weekly_cohort"\nevery = "7d"\n' + bots_of(server, "one_shot"))
        asked = ("decide", "r.toml", "--venue", "sandbox:events=5", "--start-cohort")
        said, again = predibot(*asked, "--json"), predibot(*asked)
    decisions = said.document["decisions"]
    found = {row["bot"]: (row["status"], row["reason_kind"]) for row in decisions}
    assert (said.code, found) == (4, dict.fromkeys(WAYS, ("recorded", "answer")))
    held = "held by the system, as no answer could be taken: "
    assert [row["bot"] for row in decisions if not row["notes"][0].startswith(held)] == []
    assert [way for way in WAYS if f"{way}: 1 before: 1 failed (held by the system)" not in again.out] == []
    assert calls_of(server) == {way: {"cut": 3, "refusal": 1}.get(way, 2) for way in WAYS}
