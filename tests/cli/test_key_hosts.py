"""Where keys may go, as an operator meets it: refused before anything is asked or stored, and shown beforehand."""

from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conftest import Predibot
from tests.agents.chat_server import Said, chat_server, completion
from tests.agents.clients import SECRET
from tests.operator import set_up
from tests.soaks import few

AGENT = """
venue = "sandbox:events=20"
[selection]
events = 2
[[bots]]
name = "agent"
strategy = "one_shot"
model = "{model}"
price_usd_per_million_tokens = 0
"""
ARN = "bedrock/agentcore/arn:aws:bedrock-agentcore"
EVIL = 'base_url = "https://evil.example/v1"\n'
BASE_URLS = '[search]\nproviders = ["brave"]\nbase_urls = {brave = "https://evil.example"}\n'


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("OPENAI_API_KEY", "ACME_API_KEY", "BRAVE_API_KEY", "BEDROCK_API_KEY"):
        monkeypatch.setenv(name, SECRET)
    for name in ("PREDIBOT_KEY_HOSTS", "OPENAI_API_BASE", "OPENAI_BASE_URL", "NO_SUCH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def written(folder: Path, more: str, *, strategy: str = "one_shot", model: str = "openai/tiny") -> str:
    (folder / "agent.toml").write_text(AGENT.format(model=model).replace("one_shot", strategy) + more)
    return "agent.toml"


def nothing_leaked(folder: Path, *said: str) -> bool:
    kept = [path.read_bytes() for path in folder.rglob("*") if path.is_file() and path.name != "agent.toml"]
    return not any(SECRET in text for text in said) and not any(SECRET.encode() in each for each in kept)


@pytest.mark.parametrize("dry_run", few([["--dry-run"], []], []))
@pytest.mark.parametrize(
    ("strategy", "model", "more", "reason"),
    [
        ("one_shot", "openai/tiny", EVIL + 'credential = "OPENAI_API_KEY"', "OPENAI_API_KEY may not be sent to evil"),
        ("one_shot", "tiny", EVIL + 'credential = "ACME_API_KEY"', "ACME_API_KEY may not be sent to evil.example"),
        ("one_shot", "openai/tiny", EVIL + 'client = "litellm"\ncredential = "BRAVE_API_KEY"', "BRAVE_API_KEY may not"),
        ("one_shot", "groq/tiny", 'credential = "OPENAI_API_KEY"', "OPENAI_API_KEY may not be sent to api.groq.com"),
        ("one_shot", "tiny", EVIL + 'credential = "NO_SUCH_API_KEY"', "NO_SUCH_API_KEY is not set"),
        ("tool_agent", "tiny", EVIL + BASE_URLS, "search provider 'brave': BRAVE_API_KEY may not be sent to evil"),
        ("one_shot", "huggingface/https://evil.example", "", "a model's name holds no address"),
        ("one_shot", f"{ARN}:evil.example/x?y:123:runtime/foo", "", "a model's name holds no address"),
        ("one_shot", f"{ARN}:us-east-1@evil.example/:123:runtime/foo", "", "a model's name holds no address"),
        ("one_shot", f"{ARN}:evil.example/x:123:runtime/foo", "", "a model's name holds no address"),
    ],
)
def test_a_recipe_sends_no_key_where_only_the_recipe_says_so(
    predibot: Predibot, tmp_path: Path, dry_run: list[str], strategy: str, model: str, more: str, reason: str
) -> None:
    recipe = written(tmp_path, more, strategy=strategy, model=model)
    said = predibot("decide", recipe, *dry_run)
    assert (said.code, said.out) == (1, "")
    assert reason in said.err
    assert nothing_leaked(tmp_path, said.out, said.err)
    if dry_run:
        assert [path.name for path in tmp_path.iterdir()] == ["agent.toml"]
    else:
        assert predibot("runs", "--json").document["runs"] == []


@pytest.mark.parametrize(
    "stated", [f'"{SECRET}"', f'["{SECRET}"]', f'{{ x = "{SECRET}" }}', '"MY_TOKEN"', '"acme_api_key"', '""', "1"]
)
def test_a_credential_that_is_no_variables_name_is_refused_unseen(
    predibot: Predibot, tmp_path: Path, stated: str
) -> None:
    said = predibot("decide", written(tmp_path, f"{EVIL}credential = {stated}"), "--json")
    assert said.code == 1
    reason = "line 11: 'credential' in [[bots]] is no variable's name; put the key into the environment"
    assert reason in said.document["error"]["message"]
    assert nothing_leaked(tmp_path, said.out, said.err)


def asks(predibot: Predibot, recipe: str) -> Any:
    return predibot("decide", recipe, "--dry-run", "--json").document["asks"]


@pytest.mark.parametrize("how", ["environment", "file"])
def test_the_operator_binds_a_key_to_a_host(
    predibot: Predibot, tmp_path: Path, keys: pytest.MonkeyPatch, how: str
) -> None:
    if how == "environment":
        keys.setenv("PREDIBOT_KEY_HOSTS", "OPENAI_API_KEY=api.other.org, ACME_API_KEY=https://API.acme.com:8443/")
    else:
        set_up(tmp_path, '[key_hosts]\nACME_API_KEY = ["api.other.org", "api.acme.com:8443"]\n')
    recipe = written(tmp_path, 'base_url = "https://api.acme.com:8443/v1"\ncredential = "ACME_API_KEY"\n')
    assert asks(predibot, recipe) == [
        {
            "bot": "agent",
            "kind": "model",
            "name": "openai/tiny",
            "host": "api.acme.com:8443",
            "key": "ACME_API_KEY",
            "key_is_set": True,
        }
    ]
    recipe = written(tmp_path, 'base_url = "https://api.acme.com/v1"\ncredential = "ACME_API_KEY"\n')
    assert "may not be sent to api.acme.com" in predibot("decide", recipe, "--dry-run").err


@pytest.mark.parametrize("binding", [SECRET, f"{SECRET}=api.acme.com", "ACME_API_KEY", "ACME_API_KEY=http://a b", "A="])
def test_a_binding_that_is_none_is_refused_unseen(predibot: Predibot, keys: pytest.MonkeyPatch, binding: str) -> None:
    keys.setenv("PREDIBOT_KEY_HOSTS", binding)
    said = predibot("decide", "--venue", "sandbox", "--dry-run")
    assert said.code == 1
    assert "setting 'key_hosts' is wrong" in said.err and "write NAME_API_KEY=host" in said.err
    assert SECRET not in said.err


@pytest.mark.parametrize(
    "table", ["key_hosts = 1", "[key_hosts]\nACME_API_KEY = [[]]", "[key_hosts]\nacme = 'x'", "[[key_hosts]]\nA = 'x'"]
)
def test_a_binding_of_the_file_that_is_none_is_refused(predibot: Predibot, tmp_path: Path, table: str) -> None:
    set_up(tmp_path, table)
    said = predibot("decide", "--venue", "sandbox", "--dry-run")
    assert said.code == 1
    assert "write NAME_API_KEY=host" in said.err


def test_a_dry_run_shows_host_and_key_of_every_model_and_search_provider(predibot: Predibot, tmp_path: Path) -> None:
    more = (
        'min_searches = 1\n[[bots]]\nname = "local"\nstrategy = "one_shot"\nmodel = "tiny"\n'
        'base_url = "http://localhost:11434/v1"\nprice_usd_per_million_tokens = 0\n'
        '[search]\nproviders = ["brave", "ddgs"]\n'
    )
    recipe = written(tmp_path, more, strategy="tool_agent")
    agent, local, search = asks(predibot, recipe)
    assert (agent["name"], agent["host"], agent["key"]) == ("openai/tiny", "api.openai.com", "OPENAI_API_KEY")
    assert (local["bot"], local["host"], local["key"]) == ("local", "http://localhost:11434", None)
    # The sandbox is searched within itself; the own providers of a recipe are looked at in test_agent_setup.py.
    assert (search["kind"], search["name"], search["key"]) == ("search", "searxng", None)
    shown = predibot("decide", recipe, "--dry-run").out
    assert "Who is asked" in shown
    assert "api.openai.com" in shown and "OPENAI_API_KEY" in shown


def test_a_key_reaches_a_server_of_this_machine(predibot: Predibot, tmp_path: Path) -> None:
    with chat_server(completion()) as server:
        recipe = written(tmp_path, f'base_url = "{server.base_url}"\ncredential = "ACME_API_KEY"\n')
        predibot("decide", recipe)
        assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {SECRET}"}


def test_a_redirect_carries_no_key_away(predibot: Predibot, tmp_path: Path) -> None:
    with chat_server(completion()) as elsewhere:
        away = Said(status=307, headers={"location": f"{elsewhere.base_url}/chat/completions"})
        for client in ("light", "litellm"):
            with chat_server(away) as server:
                more = f'base_url = "{server.base_url}"\ncredential = "ACME_API_KEY"\nclient = "{client}"\n'
                predibot("decide", written(tmp_path, more), "--new-run")
                assert server.asked
        assert elsewhere.asked == []
