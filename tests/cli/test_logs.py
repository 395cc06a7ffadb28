"""Logs on the command line: which decision a line is about, in threads and in processes, and no key in any."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.cli.alone import Ended, predibot_alone
from tests.operator import set_up

RECIPE = """
venue = "sandbox:events=20"
[selection]
events = 2
[[bots]]
strategy = "random_bet"
[[bots]]
name = "noisy"
strategy = "noisy"
"""
NOISY = '''"""Says what it should not."""

import logging
import os
from dataclasses import dataclass

from predibot.net.deadline import call_within


@dataclass(frozen=True, slots=True)
class Noisy:
    """Log a key and a forged line from a thread of its own, and fail."""

    games = ("dollar_per_event",)

    def decide(self, context):
        """Return nothing."""
        log = logging.getLogger("predibot.strategies.noisy")
        key = os.environ["ACME_API_KEY"]
        call_within(lambda: log.warning("the key is %s\\nINFO forged", key), 10.0)
        raise ValueError(f"no, {key}")
'''
Alone = Callable[..., Ended]
KEY = "sk-acme-0123456789abcdef"


@pytest.fixture
def noisy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Alone:
    """Return the program, in a process of its own, with a recipe of which one bot logs a key."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ACME_API_KEY", KEY)
    monkeypatch.setenv("PREDIBOT_STRATEGIES", str(tmp_path / "probes"))
    Path("probes").mkdir()
    Path("probes/noisy.py").write_text(NOISY)
    Path("r.toml").write_text(RECIPE)
    return partial(predibot_alone, tmp_path)


def lines_of(file: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(file).read_text().splitlines()]


@pytest.mark.parametrize("executor", ["threads:2", "processes:2"])
def test_every_line_says_which_decision_it_is_about_and_none_has_a_key(noisy: Alone, executor: str) -> None:
    said = noisy("decide", "r.toml", "--json", "--executor", executor, "--log-file", "logs/log", "--log-json")
    run, events = said.document["run"]["key"], {each["event_id"] for each in said.document["selected"]}
    lines = lines_of("logs/log")
    assert {line["run"] for line in lines} == {run}
    warned = [line for line in lines if line["logger"] == "predibot.strategies.noisy"]
    assert {(line["bot"], line["subject"]) for line in warned} == {("noisy", event) for event in events}
    assert {line["message"] for line in warned} == {"the key is ***\nINFO forged"}
    ended = {(line["bot"], line["subject"]): line["message"] for line in lines if "decide_one" in line["logger"]}
    assert set(ended) == {(bot, event) for bot in ("random_bet", "noisy") for event in events}
    assert all(text.endswith(": recorded") for (bot, _), text in ended.items() if bot == "random_bet")
    crashed = [line for line in lines if "crashed" in line["message"]]
    assert {(line["bot"], line["subject"]) for line in crashed} == {("noisy", event) for event in events}
    assert said.document["receipt"]["root"] in lines[-1]["message"]
    assert KEY not in said.out + said.err + Path("logs/log").read_text()


def test_a_log_of_text_has_a_line_for_each_record(noisy: Alone) -> None:
    said = noisy("decide", "r.toml", "--json", "--log-file", "log")
    lines = Path("log").read_text().splitlines()
    assert [line for line in lines if " predibot." not in line] == []
    run = said.document["run"]["key"]
    assert all(f"[{run}" in line for line in lines)
    assert sum("the key is ***\\nINFO forged" in line for line in lines) == 2


def test_without_a_file_the_records_are_json_on_stderr(noisy: Alone) -> None:
    said = noisy("decide", "r.toml", "--json", "--bots", "random_bet", "--log-json")
    lines = [json.loads(line) for line in said.err.splitlines() if line.startswith("{")]
    assert len(lines) == 4
    assert said.document["totals"]["recorded"] == 2


def test_the_settings_name_a_log_for_every_command_that_works(noisy: Alone) -> None:
    settings = 'log_file = "log"\nlog_json = true\nlog_file_bytes = 1000\nlog_backups = 1\n'
    set_up(Path(), settings)
    for command in (("decide", "r.toml", "--bots", "random_bet"), ("track",), ("evaluate",), ("runs",)):
        assert noisy(*command).code == 0
    logged = [*lines_of("log.1"), *lines_of("log")]
    assert {"predibot.jobs.decide", "predibot.jobs.track"} <= {line["logger"] for line in logged}
    assert not Path("log.2").exists()
    set_up(Path(), "log_backups = 0\n")
    said = noisy("track")
    assert (said.code, "setting 'log_backups' is wrong" in said.err) == (1, True)


def test_a_log_that_cannot_be_written_ends_the_command_before_anything_is_done(noisy: Alone) -> None:
    said = noisy("decide", "r.toml", "--log-file", ".")
    assert (said.code, "Name another --log-file" in said.err, Path("runs").exists()) == (1, True, False)
