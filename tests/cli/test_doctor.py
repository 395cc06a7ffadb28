"""`predibot doctor`: one check a line, keys by name only."""

import json
import os
import re
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from predibot.sandbox.server.fault import Fault
from predibot.sandbox.server.options import SandboxOptions
from predibot.sandbox.server.server import SandboxServer
from predibot.sandbox.world.calendar import SANDBOX_OPENS_AT
from predibot.sandbox.world.world import World
from tests.acceptance.conftest import Predibot, said_here
from tests.agents.chat_server import (
    Asked,
    ChatServer,
    Said,
    chat_server,
    completion,
    error,
    said_json,
    serving,
    tool_call,
)
from tests.cli.conftest import WORLD

NOBODY = 65_534
HOSTS = ("gamma", "clob", "manifold")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HOSTS:
        monkeypatch.setenv(f"PREDIBOT_{name.upper()}_URL", "http://127.0.0.1:1")


def test_everything_is_looked_at_and_hosts_out_of_reach_are_warnings(predibot: Predibot) -> None:
    said = predibot("doctor", "--json")
    verdicts = {check["name"]: check["verdict"] for check in said.document["checks"]}
    assert said.code == 0
    plug_ins = {"strategies", "tools", "venues", "games"}
    hosts = [f"host {name}" for name in HOSTS]
    assert set(verdicts) == {"python", "ledger", "folder", *plug_ins, *hosts, "keys"}
    assert {verdicts[name] for name in hosts} == {"warning"}


def test_what_is_assumed_of_hosts_is_one_line_each_and_only_where_it_is_asked_for(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with SandboxServer(
        World.from_seed(7), now=SANDBOX_OPENS_AT, options=SandboxOptions(fault=Fault("empty_history"))
    ) as server:
        monkeypatch.setenv("PREDIBOT_GAMMA_URL", server.gamma_url)
        monkeypatch.setenv("PREDIBOT_CLOB_URL", server.clob_url)
        monkeypatch.setenv("PREDIBOT_MANIFOLD_URL", server.mana_url)
        monkeypatch.setenv("PREDIBOT_DATA_URL", f"{server.search_url}/data")
        said = predibot("doctor", "--live", "--json")
    of_venues: dict[str, list[str]] = {}
    for each in said.document["checks"]:
        venue, _, name = each["name"].partition(": ")
        of_venues.setdefault(venue, []).extend([each["verdict"]] if name else [])
    assert (said.code, of_venues["polymarket"]) == (1, ["ok"] * 11 + ["failed"] * 2)
    # Bets are a history too, and this world has nobody who comments.
    assert of_venues["manifold"] == ["ok"] * 4 + ["failed"] * 2 + ["ok"]
    assert of_venues["comments"] == ["ok"] + ["failed"] * 3


def test_keys_are_named_and_never_shown(predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-show")
    said = predibot("doctor")
    assert "OPENAI_API_KEY" in said.out
    assert "sk-do-not-show" not in said.out + said.err


@pytest.mark.parametrize("proxy", ["http://[::1", "http://host:abc", "socks9://x", "socks9://me:a-password@x"])
def test_a_proxy_that_cannot_be_used_is_a_sentence(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch, proxy: str
) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    said = predibot("doctor", "--json")
    (seen,) = {check["seen"] for check in said.document["checks"] if check["name"].startswith("host")}
    assert re.fullmatch(r"the proxy named in the environment cannot be used: .+; fix HTTPS_PROXY", seen)
    assert (said.code, "a-password" in said.out, said.err) == (1, False, "")


def test_a_check_that_fails_is_an_error(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_text("this is no database, whatever its name")
    said = predibot("doctor", "--ledger", "sqlite:///bad.db", "--json")
    assert said.code == 1
    assert said.document["error"]["kind"] == "CheckFailed"
    assert "not a database" in said.document["error"]["message"]


def test_a_ledger_that_cannot_be_written_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    # Not below tmp_path, which only its owner can enter: permissions do not stop root, so root becomes nobody.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        monkeypatch.chdir(folder)
        # Where nobody may look as well.
        monkeypatch.setenv("XDG_CONFIG_HOME", name)
        assert said_here("decide", "--venue", WORLD, "--events", "1").code == 0
        ledger = folder / "runs" / "out" / "predibot.db"
        for path, mode in ((ledger, 0o444), (ledger.parent, 0o555), (folder, 0o755)):
            path.chmod(mode)
        # As long as it may read all of Python: what it needs is then imported.
        said_here("doctor")
        user = os.geteuid()
        os.seteuid(user or NOBODY)
        try:
            said = said_here("doctor", "--json")
        finally:
            os.seteuid(user)
            monkeypatch.undo()
            ledger.parent.chmod(0o755)
    verdicts = {check["name"]: check["verdict"] for check in said.document["checks"]}
    assert (said.code, verdicts["ledger"]) == (1, "failed")


def test_a_damaged_ledger_fails(predibot: Predibot, tmp_path: Path) -> None:
    assert predibot("decide", "--venue", WORLD, "--json").code == 0
    ledger = tmp_path / "runs" / "out" / "predibot.db"
    content = bytearray(ledger.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 20_000] = b"\x55" * 20_000
    ledger.write_bytes(content)
    said = predibot("doctor", "--json")
    assert said.code == 1
    assert re.search("damaged|malformed", said.document["error"]["message"])


@pytest.mark.parametrize("variable", ["PREDIBOT_STRATEGIES", "PREDIBOT_TOOLS"])
def test_a_plug_in_folder_that_is_none_fails(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variable: str
) -> None:
    monkeypatch.setenv(variable, str(tmp_path / "nowhere"))
    said = predibot("doctor", "--json")
    assert said.code == 1
    assert f"{variable} names {tmp_path / 'nowhere'}, which is no folder" in said.document["error"]["message"]


def test_a_list_that_is_to_be_switched_off_is_a_warning(predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(Said(headers={"Sunset": "Sat, 01 May 2027 00:00:00 GMT"})) as server:
        monkeypatch.setenv("PREDIBOT_GAMMA_URL", server.base_url)
        said = predibot("doctor", "--json")
    gamma = next(check for check in said.document["checks"] if check["name"] == "host gamma")
    assert gamma["verdict"] == "warning"
    assert "this address ends: Sat, 01 May 2027" in gamma["seen"]


class _Models(ChatServer):
    """Some models, each with a manner of its own."""

    def next(self, asked: Asked) -> Said:
        """Note a request and answer it."""
        self.asked.append(asked)
        if asked.body.get("response_format") and asked.body["model"] == "calls":
            return completion('{"sum_of_both": 5}')
        thinking = json.loads(tool_call().body)
        thinking["usage"]["completion_tokens_details"] = {"reasoning_tokens": 4}
        in_words = completion('<tool_call>{"name": "ping", "arguments": {"word": "pong"}}</tool_call>')
        said = {"calls": tool_call(), "talks": completion("pong"), "thinks": said_json(thinking), "writes": in_words}
        return said.get(asked.body["model"], error(401, "wrong key sk-PLANTED-0123456789"))


def _agent(name: str, more: str, *, strategy: str = "tool_agent") -> str:
    return (
        f'[[bots]]\nname = "{name}_{strategy}"\nstrategy = "{strategy}"\nmodel = "openai/{name}"\n{more}\n'
        "price_usd_per_million_tokens = 1\n"
    )


def test_each_model_of_a_recipe_is_asked_one_question_and_says_what_it_can(
    predibot: Predibot, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ACME_API_KEY", "sk-PLANTED-0123456789")
    with serving(_Models()) as server:
        at = f'base_url = "{server.base_url}"'
        bots = "".join(_agent(name, at) for name in ("calls", "thinks", "talks", "writes"))
        bots += _agent("keyless", f'{at}\ncredential = "NO_API_KEY"', strategy="one_shot")
        bots += _agent("talks", at, strategy="one_shot") + _agent("refuses", f'{at}\ncredential = "ACME_API_KEY"')
        (tmp_path / "r.toml").write_text(f'venue = "sandbox"\n{bots}[[bots]]\nstrategy = "market_price"\n')
        said = predibot("doctor", "r.toml", "--json")
        asked = Counter(request.body["model"] for request in server.asked)
        screen = predibot("doctor", "r.toml").out
    models = {each.pop("bot"): each for each in said.document["models"]}
    assert (said.code, asked) == (1, {"calls": 2, "thinks": 2, "writes": 2, "talks": 4, "refuses": 1})
    told = {bot: (each["calls_tools"], each["thinks"], bool(each["problem"])) for bot, each in models.items()}
    assert told == {
        "calls_tool_agent": (True, False, False),
        "thinks_tool_agent": (True, True, False),
        "writes_tool_agent": (True, False, False),
        "talks_tool_agent": (False, False, True),
        "talks_one_shot": (False, False, False),
        "keyless_one_shot": (None, None, True),
        "refuses_tool_agent": (None, None, True),
    }
    assert models["calls_tool_agent"]["input_usd_per_million_tokens"] == 1.0
    assert models["calls_tool_agent"]["cost_usd"] == pytest.approx(50e-6)
    assert [models[f"{name}_tool_agent"]["takes_schema"] for name in ("calls", "talks", "refuses")] == [
        True,
        False,
        None,
    ]
    assert "openai/calls: calls tools, did not think, takes a schema, $1 and $1" in " ".join(screen.split())
    assert "PLANTED" not in said.out + screen


def test_a_recipe_that_could_not_be_played_is_a_check_that_fails(predibot: Predibot, tmp_path: Path) -> None:
    limit = "[limits.run]\nusd = 1\n"
    agent = _agent("calls", 'base_url = "http://127.0.0.1:1/v1"').replace("price_usd_per_million_tokens = 1\n", "")
    (tmp_path / "r.toml").write_text(f'venue = "sandbox"\n{limit}{agent}')
    said = predibot("doctor", "r.toml", "--json")
    assert (said.code, said.document["models"]) == (1, [])
    assert "recipe r: " in said.document["error"]["message"]
    assert predibot("doctor", "no_such_recipe").code == 1
