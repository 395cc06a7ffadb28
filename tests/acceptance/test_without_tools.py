"""An agent whose model calls no tools, at the command line: it fails, or every face says that it had none."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.acceptance.test_outage import Provider
from tests.agents.chat_server import Asked, Said, error, serving

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WORLD = ("--venue", "sandbox:events=20", "--events", "1", "--json")
WORDS = "registry.ollama.ai/library/gemma:2b does not support tools"


class _Gemma(Provider):
    """Refuses tools as Ollama does, and answers without them."""

    def next(self, asked: Asked) -> Said:
        if asked.body.get("tools"):
            self.asked.append(asked)
            return error(400, WORDS)
        return super().next(asked)


def recipe(server: Provider, more: str = "") -> str:
    """Write a recipe with one agent, and return its name."""
    agent = 'name = "gem"\nstrategy = "tool_agent"\nmodel = "openai/gemma:2b"\nprice_usd_per_million_tokens = 0\n'
    text = f'[[bots]]\n{agent}base_url = "{server.base_url}"\nknowledge_cutoff = 2025-01-01\n{more}\n'
    Path("r.toml").write_text(text, encoding="utf-8")
    return "r.toml"


def test_it_fails_with_the_words_of_its_provider_or_every_face_says_without_tools(predibot: Predibot) -> None:
    with serving(_Gemma()) as server:
        said = predibot("decide", recipe(server), *WORLD)
        (decision,) = said.document["decisions"]
        assert (said.code, decision["status"], len(server.asked)) == (4, "failed", 1)
        assert WORDS in decision["message"]
        assert "without_tools = 'one_shot'" in decision["message"]
        said = predibot("decide", recipe(server, 'without_tools = "one_shot"'), "--new-run", *WORLD)
    (decision,) = said.document["decisions"]
    assert (said.code, decision["notes"]) == (0, ["without tools", "under_researched"])
    report = predibot("report", "r", "--json").document
    assert (report["without_tools"], report["missing"][0]) == ({"gem": 1}, "1 decided without tools (gem)")
    assert "1 decided without tools (gem)" in predibot("report", "r").out
    assert predibot("status", "--json").document["without_tools"] == {"gem": 1}
    assert "Without tools: gem, 1 decision of" in predibot("status").out


def test_where_all_searches_failed_every_face_says_without_search(predibot: Predibot) -> None:
    Path("r.toml").write_text('[[bots]]\nname = "noisy"\nstrategy = "tool_agent"\nmodel = "sandbox/noisy"\n')
    said = predibot("decide", "r.toml", "--venue", "sandbox:events=20,fault=server_error,path=/search", *WORLD[2:])
    (decision,) = said.document["decisions"]
    assert (decision["status"], decision["notes"]) == ("recorded", ["under_researched", "without search"])
    assert "1 decision rests on fewer searches or pages than asked for" in said.document["notes"]
    report = predibot("report", "r", "--json").document
    assert (report["without_search"], report["missing"][0]) == ({"noisy": 1}, "1 decided without search (noisy)")
    assert "1 decided without search (noisy)" in predibot("report", "r").out
    assert predibot("status", "--json").document["without_search"] == {"noisy": 1}
    assert "Without search: noisy, 1 decision of" in predibot("status").out
