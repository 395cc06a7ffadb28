"""The program: its help, its exit codes, its last words, and what it imports."""

import ast
import json
import os
import re
import shlex
import signal
import subprocess
import threading
import time
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from predibot import errors
from predibot.cli.app import main, program
from predibot.cli.ending import resume_advice, run_command
from tests.acceptance.conftest import Predibot
from tests.agents.chat_server import Said, chat_server, hang
from tests.cli.alone import PROGRAM, in_a_shell
from tests.cli.conftest import WORLD
from tests.forked import Forked
from tests.jobs.program import PATIENCE_SECONDS, wait_until
from tests.plain_words import private_words

ROOT = Path(__file__).resolve().parents[2]
COMMANDS = (
    "account",
    "cohort",
    "decide",
    "track",
    "evaluate",
    "replay",
    "score",
    "skill",
    "collect",
    "tables",
    "study",
    "graph",
    "relate",
    "report",
    "trace",
    "verify",
    "select",
    "record",
    "export",
    "import",
    "ledger",
    "demo",
    "init",
    "new-strategy",
    "new-tool",
    "bots",
    "prompts",
    "config",
    "studies",
    "doctor",
    "notify",
    "runs",
    "serve",
    "publish",
    "trust",
    "schedule",
    "status",
)


def _started(folder: Path, *arguments: str, stdout: int = subprocess.PIPE) -> "subprocess.Popen[str]":
    given = {"stdout": stdout, "stderr": subprocess.PIPE, "bufsize": 1}
    return Forked(*arguments, folder=folder, environment=os.environ, **given)


def test_every_command_is_there_and_every_help_is_a_whole_lower_case_phrase() -> None:
    group: Any = get_command(program())
    assert set(group.commands) == set(COMMANDS)
    below = [
        each for name in ("runs", "schedule", "import", "ledger") for each in group.commands[name].commands.items()
    ]
    for name, command in [*group.commands.items(), *below]:
        texts = [command.help, *(param.help for param in command.params)]
        assert all(text and text[0].islower() and not text.endswith(".") for text in texts), (name, texts)
        assert private_words("\n".join(texts)) == [], name


BELOW = (
    "runs show",
    "runs void",
    "schedule run",
    "schedule run-now",
    "schedule install",
    "schedule pause",
    "schedule resume",
    "import forecastbench",
    "import predibench",
    "import ledger",
    "ledger upgrade",
)
BELOW += ("ledger copy", "ledger backup", "ledger restore", "ledger stats", "ledger prune", "ledger compact")


@pytest.mark.parametrize("command", ["", *COMMANDS, *BELOW])
def test_help_fits_and_cuts_nothing_off(predibot: Predibot, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = predibot(*command.split(), "--help")
    assert said.code == 0
    assert not any(line.endswith("...") for line in said.out.splitlines() if not line.startswith("Usage:"))
    assert "show this message and exit" in said.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["decde"], "No such command 'decde'. Did you mean 'decide'? See `predibot --help`"),
        (["leaderboard"], "No such command 'leaderboard'; here it is `predibot report`. See"),
        (["ui"], "No such command 'ui'; here it is `predibot serve`."),
        (["backtest"], "No such command 'backtest'; here it is `predibot replay`."),
        (["version"], "No such command 'version'; here it is `predibot --version`."),
        (["schedule", "status"], "No such command 'status'; here it is `predibot status`."),
        (["ledger", "verify"], "No such command 'verify'; here it is `predibot verify --rows`."),
        (["trace", "-1"], "No such option: -1; numbers count from 1. See `predibot trace --help`"),
        (["runs", "-12"], "No such option: -1; numbers count from 1. See `predibot runs --help`"),
        (["doctor", "-1"], "No such option: -1. See `predibot doctor --help`"),
        (["select", "--events", "x"], "See `predibot select --help`"),
        (["select", "--as-of", "soon"], "'soon' is not an instant; write it like 2026-02-13T19:30:00Z"),
        (["decide", "--venue", ""], "it is empty; give it a value, or leave it out"),
        (["runs", "void"], "Missing"),
    ],
)
def test_misuse_exits_with_2_and_one_line_or_one_document(
    predibot: Predibot, arguments: list[str], message: str
) -> None:
    said = predibot(*arguments)
    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith("error: ") and message in said.err
    as_json = predibot(*arguments, "--json")
    assert (as_json.code, as_json.err, as_json.document["error"]["kind"]) == (2, "", "UsageError")


def test_without_a_command_the_help_is_shown_as_misuse(predibot: Predibot) -> None:
    said = predibot()
    assert (said.code, said.out) == (2, "")
    purposes = [line for line in said.err.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert purposes == ["Options:", "Play:", "Score:", "Look:", "Studies:", "Keep:", "Set up:", "Exit codes:"]
    listed = [line.split()[0] for line in said.err.splitlines() if line.startswith("  ")]
    assert {*COMMANDS} <= {*listed} and all(listed.count(name) == 1 for name in COMMANDS)


SECRET_URLS = (
    "postgresql://bob:s3cr3t@127.0.0.1:1/x",
    "postgresql://bob:s3cr3t@127.0.0.1:1/x?password=s3cr3t",
    "postgresql://bob:a@s3cr3t@127.0.0.1:1/x",
    "mysql://bob:s3cr3t@h/x",
    "bob:s3cr3t@h/x",
)


@pytest.mark.parametrize(
    ("command", "url"),
    [*(("runs", url) for url in SECRET_URLS), *product(("decide", "doctor", "export"), SECRET_URLS[1::2])],
)
def test_passwords_are_never_shown(predibot: Predibot, monkeypatch: pytest.MonkeyPatch, command: str, url: str) -> None:
    monkeypatch.setenv("PREDIBOT_GAMMA_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("PREDIBOT_CLOB_URL", "http://127.0.0.1:1")
    options = ("--venue", WORLD, "-v") if command == "decide" else ()
    for json_ in ((), ("--json",)):
        said = predibot(command, *options, *json_, "--ledger", url)
        assert said.code == 1
        assert "s3cr3t" not in said.out + said.err
    assert "s3cr3t" not in resume_advice([command, "--ledger", url], "interrupted")
    assert "s3cr3t" not in resume_advice([command, f"--ledger={url}"], "interrupted") or "://" not in url


def test_how_to_go_on_can_be_pasted() -> None:
    said = resume_advice(["decide", "my runs/x.toml", "--ledger", "sqlite:///a b.db"], "interrupted")
    assert said.endswith("run again: `predibot decide 'my runs/x.toml' --ledger 'sqlite:///a b.db'`")


@pytest.mark.parametrize("words", [["--token", "s3cr3t-of-the-web"], ["--token=s3cr3t-of-the-web"]])
def test_how_to_serve_again_is_said_without_the_token(words: list[str]) -> None:
    said = resume_advice(["serve", *words, "--port", "8321"], "terminated")
    assert "s3cr3t" not in said and said.endswith("***' --port 8321`")


@pytest.mark.parametrize(
    "url", ["postgresql://postgres:@/ledger?host=/run/pg", "postgresql://predibot@database:5432/predibot"]
)
def test_how_to_go_on_can_be_pasted_where_there_is_no_password(url: str) -> None:
    words = shlex.split(resume_advice(["decide", "--ledger", url], "interrupted").split("`")[1])
    assert words[-4:] == ["predibot", "decide", "--ledger", url]
    assert "To start over" in resume_advice(["select"], "interrupted")
    assert "To go on" in resume_advice(["collect", "comments", "manifold", "comments"], "interrupted")


@pytest.mark.parametrize(
    ("arguments", "stop", "code", "word"),
    [
        (["decide", "--venue", "polymarket"], signal.SIGINT, 130, "interrupted"),
        (["decide", "--venue", "polymarket", "--json"], signal.SIGTERM, 143, "terminated"),
        (["record", "my archive", "--venue", "polymarket"], signal.SIGINT, 130, "interrupted"),
    ],
)
def test_a_signal_stops_within_a_second_and_says_how_to_go_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    stop: signal.Signals,
    code: int,
    word: str,
) -> None:
    with chat_server(Said(act=hang)) as venue:
        for name in ("GAMMA", "CLOB"):
            monkeypatch.setenv(f"PREDIBOT_{name}_URL", venue.base_url)
        process = _started(tmp_path, *arguments, "-v")
        wait_until(lambda: bool(venue.asked))
        began = time.monotonic()
        process.send_signal(stop)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    # A second is promised on a machine with nothing else to do; the venue itself never answers.
    assert time.monotonic() - began < 30
    # Where Ctrl-C comes in the middle of an import, Python ends by the signal; a shell shows 130 for both.
    assert process.returncode in (code, -stop), err
    assert re.search(rf"{word}: what is recorded is kept. To go on, run again: `\S*predibot {arguments[0]} ", err)
    if "--json" in arguments:
        assert json.loads(out)["error"]["kind"] == "Terminated"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_behind_stdout_is_one_line(decided: Predibot, tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        process = _started(tmp_path, "runs", "--json", stdout=full.fileno())
        _, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 1
    assert err.splitlines()[-1].startswith("error: output cannot be written: No space left on device")


def test_a_reader_who_leaves_early_is_no_error(decided: Predibot, tmp_path: Path) -> None:
    for command in (["export"], ["bots"]):
        process = _started(tmp_path, *command)
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.wait(timeout=PATIENCE_SECONDS) == 0
        assert "Error" not in process.stderr.read()
        process.stderr.close()


def test_main_works_in_a_thread_and_puts_the_signal_handler_back(predibot: Predibot) -> None:
    before = signal.getsignal(signal.SIGTERM)
    codes: list[int] = []
    thread = threading.Thread(target=lambda: codes.append(main(["--version"])))
    thread.start()
    thread.join()
    assert (codes, predibot("--version").code) == ([0], 0)
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_mistake_of_ours_still_leaves_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    def command() -> int:
        raise ZeroDivisionError("by zero, at bob:x://bob:s3cr3t@h")

    with pytest.raises(ZeroDivisionError):
        run_command(command, ["select", "--json"])
    document = json.loads(capsys.readouterr().out)
    assert document["error"]["kind"] == "ZeroDivisionError"
    assert "s3cr3t" not in document["error"]["message"]


def test_output_is_plain_in_a_pipe_and_whatever_the_terminal_can(decided: Predibot, tmp_path: Path) -> None:
    done = in_a_shell(f"{PROGRAM} evaluate --no-track", tmp_path, PYTHONIOENCODING="ascii", NO_COLOR="1")
    assert (done.returncode, "\x1b" in done.stdout, "Simulated world" in done.stdout) == (0, False, True)


def test_a_closed_stdout_ends_in_one_sentence_before_anything_is_done(tmp_path: Path) -> None:
    done = in_a_shell(f"{PROGRAM} decide --venue sandbox >&-", tmp_path)
    assert done.returncode == 1
    assert done.stderr == "error: stdout is closed, so nothing could be shown; write >/dev/null to discard it.\n"
    assert list(tmp_path.iterdir()) == []


def test_a_closed_stderr_is_done_without(tmp_path: Path) -> None:
    done = in_a_shell(f"{PROGRAM} decide --venue {WORLD} --events 1 2>&-", tmp_path)
    assert (done.returncode, "recorded on 1 event" in done.stdout) == (0, True)


@pytest.mark.parametrize("short", [("-h",), ("decide", "-h"), ("runs", "void", "-h")])
def test_help_is_there_by_its_short_name_too(predibot: Predibot, short: tuple[str, ...]) -> None:
    said = predibot(*short)
    assert said.code == 0
    assert said.out == predibot(*short[:-1], "--help").out


def test_a_shell_may_complete_commands_and_options(tmp_path: Path) -> None:
    asked = {"_PREDIBOT_COMPLETE": "complete_bash", "COMP_WORDS": "predibot decide --dry", "COMP_CWORD": "2"}
    assert in_a_shell(PROGRAM, tmp_path, **asked).stdout.split() == ["--dry-run"]
    # Which shell it is for is seen by who started it.
    by_bash = f"{PROGRAM} --show-completion; exit $?"
    assert "_PREDIBOT_COMPLETE=complete_bash" in in_a_shell(f"bash -c {shlex.quote(by_bash)}", tmp_path).stdout


def test_every_error_is_raised_somewhere() -> None:
    classes = {
        name for name, kind in vars(errors).items() if isinstance(kind, type) and kind.__module__ == errors.__name__
    }
    parents = {parent.__name__ for name in classes for parent in getattr(errors, name).__bases__}
    made: set[str] = set()
    for source in (path.read_text() for path in (ROOT / "predibot").rglob("*.py")):
        if not any(name in source for name in classes - made):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        calls = (node.func for node in nodes if isinstance(node, ast.Call))
        bases = (base for node in nodes if isinstance(node, ast.ClassDef) for base in node.bases)
        # One that others refine is raised as one of those.
        made |= {each.id for each in (*calls, *bases) if isinstance(each, ast.Name)}
    assert classes - made <= parents


def test_every_command_is_on_the_page_of_commands() -> None:
    text = (ROOT / "docs/commands.md").read_text(encoding="utf-8")
    missing = [command for command in COMMANDS if not re.search(rf"\bpredibot {command}\b|`{command}`", text)]
    assert missing == []


def test_the_help_of_status_says_that_1_is_its_result_too(predibot: Predibot) -> None:
    said = predibot("status", "--help").out
    assert "1    somebody has to look, or an error, told in one line" in said
