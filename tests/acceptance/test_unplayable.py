"""Bots that cannot play: they fail at once, one line each, and the others play; or nothing is begun."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot
from tests.acceptance.test_outage import Provider
from tests.agents.chat_server import Asked, Said, chat_server, error, said_json, serving
from tests.cli.alone import predibot_alone

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

WORLD = ("--venue", "sandbox:events=6", "--events", "2")
BASELINE = '[[bots]]\nstrategy = "market_price"\n'


class _Knowing(Provider):
    """Knows one model, and says so where it is asked for one."""

    says_of_models = True

    def next(self, asked: Asked) -> Said:
        if asked.method == "GET":
            return said_json({"id": "tiny"}) if asked.path.endswith("/tiny") else error(404, "no model named other")
        return super().next(asked)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Knowing]:
    monkeypatch.setenv("OPENAI_API_KEY", "")
    with serving(_Knowing()) as made:
        yield made


def bot(name: str, model: str = "local/tiny", *more: str) -> str:
    lines = [f'name = "{name}"', 'strategy = "one_shot"', f'model = "{model}"', "price_usd_per_million_tokens = 0"]
    return "\n".join(("[[bots]]", *lines, *more, ""))


def recipe(*bots: str) -> str:
    Path("r.toml").write_text("".join(bots), encoding="utf-8")
    return "r.toml"


def unplayable(server: _Knowing) -> str:
    with chat_server() as gone:
        closed = gone.base_url
    gone.server_close()
    return (
        bot("keyless", "openai/gpt-5")
        + bot("unnamed", "local/tiny", f'base_url = "{server.base_url}"', 'credential = "ACME_API_KEY"')
        + bot("closed", "local/tiny", f'base_url = "{closed}"')
        + bot("unknown", "openai/other", f'base_url = "{server.base_url}"')
    )


def playable(server: _Knowing) -> str:
    return bot("agent", "openai/tiny", f'base_url = "{server.base_url}"')


@pytest.mark.parametrize("executor", ["threads:2", "processes:1"])
def test_they_fail_at_once_one_line_each_and_the_others_play(
    predibot: Predibot, server: _Knowing, executor: str
) -> None:
    name = recipe(unplayable(server), playable(server), BASELINE)
    said = predibot_alone(Path.cwd(), "decide", name, *WORLD, "--executor", executor)
    lines = [line for line in said.out.splitlines() if "decisions failed" in line]
    assert said.code == 3
    assert [line.partition(":")[0] for line in lines] == ["keyless", "unnamed", "closed", "unknown"]
    for line, word in zip(
        lines, ("set OPENAI_API_KEY", "ACME_API_KEY is not", "no connection", "named other"), strict=True
    ):
        assert line.partition(":")[2].startswith(" 2 decisions failed (")
        assert word in line
    document = predibot("decide", name, *WORLD, "--json").document
    statuses = {(each["bot"], each["stored_status"]) for each in document["decisions"]}
    assert {("agent", "recorded"), ("market_price", "recorded"), ("closed", "failed")} <= statuses
    # Nobody asked for an answer in the name of those that could not play.
    assert len(server.asked) == 2


def test_nothing_is_begun_where_no_bot_with_a_model_can_play_or_all_must(
    predibot: Predibot, server: _Knowing, monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, strict in ((unplayable(server) + BASELINE, ()), (unplayable(server) + playable(server), ("--strict",))):
        said = predibot("decide", recipe(text), *WORLD, *strict)
        assert said.code == 1
        assert all(f"{name}: " in said.err for name in ("keyless", "unnamed", "closed", "unknown"))
    assert not server.asked
    assert predibot("runs", "--json").document["runs"] == []
    for strict in ((), ("--strict",)):
        said = predibot("decide", recipe(bot("nowhere", "nosuch/tiny"), BASELINE), *WORLD, *strict)
        assert said.code == 1
        assert "nowhere: nobody can be asked for nosuch/tiny" in said.err
    assert predibot("runs", "--json").document["runs"] == []
    # A run that is there is gone on with: what is recorded is shown, and the rest fails.
    agent = recipe(bot("agent", "openai/tiny", f'base_url = "{server.base_url}"', 'credential = "ACME_API_KEY"'))
    monkeypatch.setenv("ACME_API_KEY", "sk-0123456789")
    assert predibot("decide", agent, *WORLD, "--strict").code == 0
    monkeypatch.delenv("ACME_API_KEY")
    assert predibot("decide", agent, *WORLD).code == 0
