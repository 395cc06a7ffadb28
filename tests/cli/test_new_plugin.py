"""`predibot new-strategy` and `predibot new-tool`: files that work, each with its test."""

import importlib
import json
import sys
from pathlib import Path

import pytest

from tests.acceptance.conftest import Predibot, own_plugins


def test_a_new_strategy_and_a_new_tool_pass_their_tests_and_are_found(
    predibot: Predibot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = predibot("new-strategy", "half_way")
    assert f"\n  export PREDIBOT_STRATEGIES={tmp_path}/strategies\n" in said.out
    assert "`predibot decide --venue sandbox --bots half_way" in said.out
    assert predibot("new-tool", "rain_notes", "--json").document == {
        "files": ["tools/rain_notes.py", "tools/test_rain_notes.py"],
        "export": f"PREDIBOT_TOOLS={tmp_path}/tools",
    }
    for folder in ("strategies", "tools"):
        monkeypatch.syspath_prepend(str(tmp_path / folder))
    with own_plugins("strategies", tmp_path / "strategies"), own_plugins("tools", tmp_path / "tools"):
        with pytest.MonkeyPatch.context() as patch:
            importlib.import_module("test_half_way").test_it_answers_events_of_the_sandbox(tmp_path, patch)
        importlib.import_module("test_rain_notes").test_it_tells_what_is_known_and_nothing_later()
        found = json.loads(predibot("bots", "--json").out)
    for name in ("half_way", "rain_notes"):
        sys.modules.pop(name, None), sys.modules.pop(f"test_{name}")
    problems = {each["name"]: each["problem"] for kind in ("strategies", "tools") for each in found[kind]}
    assert problems["half_way"] == problems["rain_notes"] == ""
    assert not {"test_half_way", "test_rain_notes"} & {*problems}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("random_bet", "there is a strategy 'random_bet' already"),
        ("json", "a word or a module of Python"),
        ("Half-Way", "is no name of a strategy"),
        ("test_it", "is no name of a strategy"),
        ("conftest", "is a file that pytest runs by itself"),
        ("__init__", "is no name of a strategy"),
        ("kept", "is there already and is kept"),
    ],
)
def test_nothing_is_replaced_and_a_name_has_to_be_one(predibot: Predibot, tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies/test_kept.py").write_text("mine")
    said = predibot("new-strategy", name)
    assert (said.code, why in said.err) == (1, True)
    assert [file.name for file in (tmp_path / "strategies").iterdir()] == ["test_kept.py"]


@pytest.mark.parametrize("link", ["half_way.py", "test_half_way.py"])
def test_a_link_that_leads_nowhere_is_not_followed(predibot: Predibot, tmp_path: Path, link: str) -> None:
    (tmp_path / "strategies").mkdir()
    (tmp_path / "strategies" / link).symlink_to("../outside.py")
    said = predibot("new-strategy", "half_way")
    assert (said.code, f"strategies/{link} is there already and is kept" in said.err) == (1, True)
    assert not (tmp_path / "outside.py").exists()
    assert [file.name for file in (tmp_path / "strategies").iterdir()] == [link]
