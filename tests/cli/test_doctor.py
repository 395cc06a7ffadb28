"""`predibot doctor`: one check a line, keys by name only."""

from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot

HOSTS = ("PREDIBOT_GAMMA_URL", "PREDIBOT_CLOB_URL")


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in HOSTS:
        monkeypatch.setenv(name, "http://127.0.0.1:1")


def test_everything_is_looked_at_and_hosts_out_of_reach_are_warnings(predibot: Predibot) -> None:
    said = predibot("doctor", "--json")
    verdicts = {check["name"]: check["verdict"] for check in said.document["checks"]}
    assert said.code == 0
    assert set(verdicts) == {"python", "ledger", "folder", "strategies", "tools", "host gamma", "host clob", "keys"}
    assert (verdicts["host gamma"], verdicts["host clob"]) == ("warning", "warning")


def test_keys_are_named_and_never_shown(predibot: Predibot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-do-not-show")
    said = predibot("doctor")
    assert "OPENAI_API_KEY" in said.out
    assert "sk-do-not-show" not in said.out + said.err


def test_a_check_that_fails_is_an_error(predibot: Predibot, tmp_path: Path) -> None:
    (tmp_path / "bad.db").write_text("this is no database, whatever its name")
    said = predibot("doctor", "--ledger", "sqlite:///bad.db", "--json")
    assert said.code == 1
    assert said.document["error"]["kind"] == "CheckFailed"
    assert "not a database" in said.document["error"]["message"]
