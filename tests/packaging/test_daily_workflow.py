"""The daily workflow: its steps are scripts, run here as two days in fresh clones over the simulated world."""

import os
import re
import runpy
import shutil
import subprocess
import sys
import time
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from predibot.jobs import caller
from predibot.ledger.store import Store
from tests.forked import Forked
from tests.packaging.conftest import REPOSITORY

SCRIPTS = REPOSITORY / ".github" / "daily"
TEXT = (REPOSITORY / ".github/workflows/daily.yml").read_text("utf-8")
RECIPE = """
venue = "sandbox:events=10"
[selection]
events = 1
[schedule]
cron = "0 0 * * *"
catch_up = "24h"
[[bots]]
strategy = "market_price"
"""


def tomorrow() -> None:
    """Have the program take this day for the next one."""

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.fromtimestamp(time.time() + 86_400.0, tz)

    caller.datetime = Tomorrow  # type: ignore[misc]


def test_it_runs_alone_never_for_a_pull_request_and_each_job_may_do_the_least() -> None:
    workflow = yaml.safe_load(TEXT)
    # YAML reads the key `on` as true.
    assert set(workflow[True]) == {"schedule", "workflow_dispatch"}
    assert workflow["concurrency"] == {"group": "predibot-ledger", "cancel-in-progress": False}
    assert workflow["permissions"] == {}
    permissions = {name: job["permissions"] for name, job in workflow["jobs"].items()}
    assert permissions == {"play": {"contents": "write"}, "deploy": {"pages": "write", "id-token": "write"}}
    used = re.findall(r"uses: (.*)", TEXT)
    assert len(used) == 4 and all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in used)
    steps: list[dict[str, Any]] = workflow["jobs"]["play"]["steps"]
    with_secrets = [step["name"] for step in steps if "secrets." in str(step)]
    assert with_secrets == ["play what is due"]
    assert "env" not in workflow["jobs"]["play"] and TEXT.count("github.token") == 2
    with_token = [step["name"] for step in steps if "github.token" in str(step.get("env"))]
    assert with_token == ["fetch the ledger", "store the ledger"]
    scripts = [step["run"].split()[0] for step in steps if step.get("run", "").startswith(".github/")]
    assert len(scripts) == 4 and all(os.access(REPOSITORY / each, os.X_OK) for each in scripts)
    assert all("predibot-ledger" not in step.get("run", "") for step in steps)


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_two_days_in_fresh_clones_share_a_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remote, called = tmp_path / "remote.git", tmp_path / "called"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    programs = tmp_path / "programs"
    programs.mkdir()
    for name in ("python", "predibot"):
        (programs / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{called}\n')
        (programs / name).chmod(0o755)
    path = f"{programs}:{os.environ['PATH']}"
    around = {"PATH": path, "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1", "LEDGER_REMOTE": str(remote)}
    starts = (("run-now", "daily"), None), (("run", "daily", "--once"), tomorrow)
    for number, (words, first) in enumerate(starts, start=1):
        day = tmp_path / f"day{number}"
        shutil.copytree(SCRIPTS, day / ".github/daily")
        (day / "runs").mkdir()
        (day / "runs/daily.toml").write_text(RECIPE)
        for step in ("fetch-ledger", "play daily", "store-ledger"):
            command = ["bash", "-c", f".github/daily/{step}"]
            done = subprocess.run(command, cwd=day, env=around, capture_output=True, text=True, timeout=60)
            assert done.returncode == 0, done.stderr
            if step == "play daily":
                program = ["predibot", "schedule", *words]
                lines = [line.split() for line in called.read_text().splitlines()]
                assert lines == [["python", ".github/daily/check_limits.py", "daily"], program]
                called.unlink()
                monkeypatch.chdir(day)
                monkeypatch.setattr(sys, "argv", lines[0][1:])
                runpy.run_path(lines[0][1])
                with Forked(*program[1:], folder=day, environment=os.environ, first=first) as process:
                    assert process.wait(240) == 0
        with Store.open_to_read(f"sqlite:///{day}/runs/out/predibot.db") as store, store.read() as connection:
            slots = connection.exec_driver_sql("SELECT count(DISTINCT slot_at) FROM runs").scalar()
        assert slots == number
    count = ["git", "--git-dir", str(remote), "rev-list", "--count", "predibot-ledger"]
    assert subprocess.run(count, capture_output=True, text=True, check=True).stdout == "1\n"


def test_a_model_without_a_daily_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_model = RECIPE.replace("market_price", "one_shot") + 'model = "openai/gpt-5-mini"\n'
    (tmp_path / "spending.toml").write_text(with_model)
    (tmp_path / "limited.toml").write_text(with_model.replace("[schedule]", "[limits.day]\nusd = 2.0\n[schedule]"))
    monkeypatch.setattr(sys, "argv", ["check_limits.py", str(tmp_path / "limited.toml")])
    runpy.run_path(str(SCRIPTS / "check_limits.py"))
    sys.argv.append(str(tmp_path / "spending.toml"))
    with pytest.raises(SystemExit, match=r"Add \[limits.day\] and below it usd"):
        runpy.run_path(str(SCRIPTS / "check_limits.py"))


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_the_ledger_goes_from_day_to_day_its_token_is_in_no_file_and_no_hook_sees_it(tmp_path: Path) -> None:
    remote, left = tmp_path / "remote.git", tmp_path / "a-hook-ran"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    around = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "GIT_CONFIG_NOSYSTEM": "1"}

    def run(step: str, day: Path, host: Path = remote) -> int:
        # Git takes no notice of the host of such an address.
        named = {**around, "LEDGER_REMOTE": f"file://x-access-token:t0ken@localhost{host}"}
        return subprocess.run(["bash", str(SCRIPTS / step)], cwd=day, env=named, check=False, timeout=60).returncode

    def is_kept(day: Path) -> bool:
        return any(b"t0ken" in file.read_bytes() for file in day.rglob("*") if file.is_file())

    for day in (tmp_path / "day1", tmp_path / "day2"):
        day.mkdir()
        assert run("fetch-ledger", day) == 0 and not is_kept(day)
        ledger = day / "runs/out/ledger"
        assert ledger.exists() == (day.name == "day2")
        ledger.write_text(day.name)
        # What a plug-in may leave behind while it plays.
        for name in ("pre-commit", "post-index-change", "reference-transaction", "pre-push"):
            hook = day / "runs/out/.git/hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text(f"#!/bin/sh\necho {name} >>{left}\n")
            hook.chmod(0o755)
        settings = f'[core]\n\thooksPath = {hook.parent}\n\tfsmonitor = {hook}\n[filter "x"]\n\tclean = {hook}\n'
        (day / "runs/out/.gitattributes").write_text("* filter=x\n")
        for file in (tmp_path / ".gitconfig", day / "runs/out/.git/config"):
            with file.open("a") as stream:
                stream.write(settings)
        assert run("store-ledger", day) == 0 and not is_kept(day) and not left.exists()
        (tmp_path / ".gitconfig").unlink()
    git = ["git", "--git-dir", str(remote)]
    (tmp_path / "unfetched").mkdir()
    assert run("fetch-ledger", tmp_path / "unfetched", tmp_path / "away.git") not in (0, 2)
    assert run("store-ledger", tmp_path / "unfetched") != 0
    for asked, answer in (
        (("rev-list", "--count", "predibot-ledger"), "1\n"),
        (("show", "predibot-ledger:ledger"), "day2"),
    ):
        assert subprocess.run([*git, *asked], capture_output=True, text=True, check=True).stdout == answer
