"""A command that is told: what it is given, and that it is ended in time with all that it started."""

import os
import sys
from pathlib import Path

import pytest

from predibot.environment import environment_of_command
from predibot.jobs.notify.channels import DeliveryError, ProgramCall
from predibot.jobs.notify.notice import Notice
from predibot.net.failures import LateAnswer, TryAgain
from tests.jobs.program import wait_until
from tests.jobs.soak import ended

NOTICE = Notice("failure", "predibot: $(touch here) failed", ("a `b` 'c'",))
KEEP = (
    "import os, sys; from pathlib import Path; Path(sys.argv[1]).write_text(sys.stdin.read() + repr(dict(os.environ)))"
)


def command(*arguments: str, seconds: float = 20.0, env: tuple[str, ...] = ()) -> ProgramCall:
    return ProgramCall((sys.executable, *arguments), environment_of_command(env), seconds)


def test_it_is_given_the_message_on_stdin_and_no_shell_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command("-c", KEEP, "kept; touch here").send(NOTICE)
    (kept,) = tmp_path.iterdir()
    assert kept.name == "kept; touch here"
    assert kept.read_text().startswith("predibot: $(touch here) failed\na `b` 'c'\n{")


def test_it_is_given_no_key_that_was_not_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "PREDIBOT_WEBHOOK", "NTFY_TOKEN", "PREDIBOT_SMTP_PASSWORD"):
        monkeypatch.setenv(name, f"{name}-SECRET-0123456789")
    command("-c", KEEP, str(tmp_path / "kept"), env=("NTFY_TOKEN",)).send(NOTICE)
    kept = (tmp_path / "kept").read_text()
    assert "NTFY_TOKEN-SECRET-0123456789" in kept
    assert kept.count("SECRET") == 1
    assert "'PATH'" in kept


def test_one_that_does_not_end_is_ended_with_what_it_started(tmp_path: Path) -> None:
    starts = (
        "import subprocess, sys, time; from pathlib import Path\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "Path(sys.argv[1]).write_text(str(child.pid)); time.sleep(600)"
    )
    kept, seconds = tmp_path / "pid", 1.0
    # On a busy machine it may be ended before it has started anything.
    while not kept.exists() or not kept.read_text():
        seconds *= 2
        with pytest.raises(LateAnswer, match=f"did not end in {seconds:.0f} s, and was ended"):
            command("-c", starts, str(kept), seconds=seconds).send(NOTICE)
    # It was sent the signal; nobody waits for its end but who it was left to.
    child = int(kept.read_text())
    wait_until(lambda: ended(child))


def test_one_that_prints_for_ever_or_reads_nothing_costs_nothing() -> None:
    with pytest.raises(LateAnswer):
        command("-c", "while True: print('x' * 10_000)", seconds=1.0).send(NOTICE)
    command("-c", "import os; os.close(0)").send(NOTICE)


def test_one_that_fails_or_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(TryAgain, match=r"ended with exit code 3$"):
        command("-c", "import sys; sys.exit(3)").send(NOTICE)
    with pytest.raises(DeliveryError, match="nowhere cannot be started: No such file"):
        ProgramCall(("nowhere",), os.environ, 1.0).send(NOTICE)
    with pytest.raises(DeliveryError, match="cannot be started: its arguments cannot be passed on"):
        command("a\0b").send(NOTICE)
