"""Models of which no answer can be taken, however they fail at it: at most four paid calls, and failed until mended."""

import json
import re
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.agents.chat_server import Asked, ChatServer, Said, chat_server, completion, said_json, tool_call

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WAYS = {
    "cut": completion("It may be that", finish_reason="length"),
    "empty": completion(""),
    "null": completion(None),
    "no_choice": said_json({**json.loads(completion().body), "choices": []}),
    "no_message": said_json({**json.loads(completion().body), "choices": [{"message": None}]}),
    "refusal": completion(None, finish_reason="content_filter", message={"refusal": "I will not"}),
    "unreadable": completion("I think sixty percent"),
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
    """Calls the tool it is asked for, and answers in one way until it is mended."""

    way: Said | None
    without_tools = False

    def next(self, asked: Asked) -> Said:
        """Note a request and answer it."""
        with self.lock:
            self.asked.append(asked)
        tools = [tool["function"]["name"] for tool in asked.body.get("tools", [])]
        if "ping" in tools and not (self.without_tools and self.way):
            return tool_call()
        if self.way is not None:
            return self.way
        ids = dict.fromkeys(re.findall(r"market id: (\d+)", str(asked.body["messages"])))
        rows = [
            {"market_id": each, "estimated_probability": 0.5, "bet": 0.0, "confidence": 5, "rationale": "a script"}
            for each in ids
        ]
        said = json.dumps({"market_decisions": rows, "unallocated_capital": 1.0})
        return tool_call("final_answer", said) if tools else completion(said)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("way", WAYS)
def test_it_costs_four_calls_at_most_and_has_failed_however_often_it_is_asked_until_it_is_mended(
    predibot: Predibot, way: str, strategy: str
) -> None:
    with chat_server(completion()) as server:
        server.__class__ = _Broken
        assert isinstance(server, _Broken)
        server.way = WAYS[way]
        name, *others = strategy.split()
        server.without_tools = bool(others)
        bot = f'name = "agent"\nstrategy = "{name}"\nmodel = "local/tiny"\nprice_usd_per_million_tokens = 0\n'
        Path("r.toml").write_text(f'[[bots]]\n{bot}base_url = "{server.base_url}"\n{STRATEGIES[strategy]}\n')
        asked = ("decide", "r.toml", "--venue", "sandbox:events=20", "--events", "1", "--json")
        first = predibot(*asked)
        (decision,) = first.document["decisions"]
        assert (first.code, decision["status"], decision["reason_kind"]) == (4, "failed", "answer")
        assert [predibot(*asked).code for _ in range(3)] == [4] * 3
        assert len(server.asked) <= 4
        run = first.document["run"]["key"]
        again = predibot("decide", "--rerun-traces", run, "--json").document
        assert [(row["equal"], row["difference"]) for row in again["decisions"]] == [(True, "")]
        server.way = None
        mended = predibot(*asked, "--retry", "failed")
        assert (mended.code, mended.document["totals"]["recorded"]) == (0, 1)


@pytest.mark.parametrize("way", WAYS)
def test_a_cohort_holds_by_the_system_in_its_place(predibot: Predibot, way: str) -> None:
    with chat_server(WAYS[way]) as server:
        bot = 'name = "agent"\nstrategy = "one_shot"\nmodel = "local/tiny"\nprice_usd_per_million_tokens = 0\n'
        head = 'game = "weekly_cohort"\nevery = "7d"\n[[bots]]\n'
        Path("r.toml").write_text(f'{head}{bot}base_url = "{server.base_url}"\n')
        said = predibot("decide", "r.toml", "--venue", "sandbox:events=20", "--start-cohort", "--json")
    (decision,) = said.document["decisions"]
    assert (said.code, decision["status"], decision["reason_kind"]) == (4, "recorded", "answer")
    assert decision["notes"][0].startswith("held by the system, as no answer could be taken: ")
    assert len(server.asked) == {"cut": 3, "refusal": 1}.get(way, 2)
