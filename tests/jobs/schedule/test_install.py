"""What starts the schedules: each text is tried by what will read it, as far as that is here."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from predibot.errors import UsageError
from predibot.jobs.schedule.install import Installed, files_of

RECIPE = """
name = "daily"
venue = "sandbox:events=20"
[schedule]
cron = "5 12 * * *"
[[bots]]
strategy = "market_price"
"""
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder whose name means something to every shell."""
    found = tmp_path / "100 % of $HOME's"
    (found / "runs").mkdir(parents=True)
    (found / "runs" / "my daily.toml").write_text(RECIPE, encoding="utf-8")
    return found


def what_runs(folder: Path, **changes: Any) -> Installed:
    return Installed(("runs/my daily.toml",), str(folder), sys.executable, **changes)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_takes_the_unit(folder: Path) -> None:
    (text,) = files_of("systemd", what_runs(folder, grace_seconds=45)).values()
    unit = folder.parent / "predibot.service"
    unit.write_text(text, encoding="utf-8")
    around = {**os.environ, "XDG_RUNTIME_DIR": str(folder.parent)}
    verify = ["systemd-analyze", "verify", "--user", str(unit)]
    done = subprocess.run(verify, env=around, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "TimeoutStopSec=75\n" in text
    assert '-m predibot schedule "runs/my daily.toml" --grace 45\n' in text


def test_a_shell_runs_the_line_of_cron(folder: Path) -> None:
    (text,) = files_of("cron", what_runs(folder)).values()
    line = text.splitlines()[-1]
    fields, command = line.split(maxsplit=5)[:5], line.split(maxsplit=5)[5]
    assert fields == ["*/5", "*", "*", "*", "*"]
    # As cron does it, which ends the line at a per cent sign that is not escaped.
    command = command.replace("\\%", "%")
    around = {"PATH": os.defpath, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        ["/bin/sh", "-c", command], cwd="/", env=around, capture_output=True, check=False, timeout=240
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert (folder / "runs" / "out" / "predibot.db").is_file()
    assert "ledger: " in (folder / "runs" / "out" / "schedule.log").read_text(encoding="utf-8")


def test_the_workflow_keeps_one_ledger_and_runs_one_at_a_time(folder: Path) -> None:
    ((name, text),) = files_of("github", what_runs(folder)).items()
    assert name == ".github/workflows/predibot.yml"
    workflow = yaml.safe_load(text)
    assert workflow["concurrency"] == {"group": "predibot-ledger", "cancel-in-progress": False}
    steps = {step.get("name", step.get("uses")): step for step in workflow["jobs"]["schedule"]["steps"]}
    assert steps["play what is due"]["run"] == "predibot schedule 'runs/my daily.toml' --once"
    assert "The ledger lives between runs in the branch predibot-ledger" in text
    with pytest.raises(UsageError, match="branch of its own"):
        files_of("github", what_runs(folder, ledger="sqlite:///x.db"))


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here")
def test_the_steps_of_the_workflow_carry_the_ledger_from_run_to_run(folder: Path) -> None:
    ((_, text),) = files_of("github", what_runs(folder)).items()
    listed = yaml.safe_load(text)["jobs"]["schedule"]["steps"]
    steps = {each.get("name"): each.get("run") for each in listed}
    remote = folder.parent / "remote.git"
    subprocess.run(["git", "init", "-q", "--bare", str(remote)], check=True)
    around = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

    def run(step: str, checkout: Path, host: Path = remote) -> int:
        address = "https://x-access-token:${{ github.token }}@github.com/${{ github.repository }}"
        script = steps[step].replace(address, str(host))
        done = subprocess.run(["bash", "-e", "-c", script], cwd=checkout, env=around, check=False, timeout=60)
        return done.returncode

    for number in range(3):
        checkout = folder.parent / f"checkout{number}"
        checkout.mkdir()
        assert run("fetch the ledger", checkout) == 0
        ledger = checkout / "runs" / "out" / "predibot.db"
        assert ledger.exists() == bool(number)
        ledger.write_text(f"{number}" if not number else ledger.read_text() + f"{number}", encoding="utf-8")
        assert run("store the ledger", checkout) == 0
    count = ["git", "--git-dir", str(remote), "rev-list", "--count", "predibot-ledger"]
    assert subprocess.run(count, capture_output=True, text=True, check=True).stdout == "1\n"
    show = ["git", "--git-dir", str(remote), "show", "predibot-ledger:predibot.db"]
    assert subprocess.run(show, capture_output=True, text=True, check=True).stdout == "012"
    # Where it could not be fetched, nothing takes its place: the step says so, and the branch has moved on besides.
    (storing,) = (each for each in listed if each.get("name") == "store the ledger")
    assert storing["if"] == "always() && steps.fetch.outcome == 'success'"
    assert [each["id"] for each in listed if each.get("name") == "fetch the ledger"] == ["fetch"]
    checkout = folder.parent / "unfetched"
    checkout.mkdir()
    assert run("fetch the ledger", checkout, folder.parent / "away.git") not in (0, 2)
    assert run("store the ledger", checkout) != 0
    assert subprocess.run(show, capture_output=True, text=True, check=True).stdout == "012"


def test_the_container_ends_in_time_and_keeps_its_ledger(folder: Path) -> None:
    files = files_of("container", what_runs(folder, grace_seconds=120))
    service = yaml.safe_load(files["compose.yaml"])["services"]["predibot"]
    assert (service["stop_grace_period"], service["volumes"]) == ("150s", ["ledger:/predibot/runs/out"])
    dockerfile = files["Dockerfile"]
    assert 'CMD ["schedule", "runs/my daily.toml", "--grace", "120"]' in dockerfile
    assert 'CMD ["predibot", "status"]' in dockerfile
    elsewhere = files_of("container", what_runs(folder, ledger="postgresql://db/predibot"))["Dockerfile"]
    assert 'CMD ["predibot", "status", "--ledger", "postgresql://db/predibot"]' in elsewhere
    copied = [shlex.split(line)[1:-1] for line in dockerfile.splitlines() if line.startswith("COPY ")]
    assert all((ROOT / name).exists() for names in copied for name in names)


def test_no_password_is_written(folder: Path) -> None:
    for url in (
        "postgresql://me:secret@host/db",
        "postgresql://host/db?user=me&password=secret",
        "postgresql://host/db?sslpassword=secret",
    ):
        with pytest.raises(UsageError, match="PGPASSWORD") as refused:
            what_runs(folder, ledger=url)
        assert "secret" not in str(refused.value)
    with pytest.raises(UsageError, match="control character"):
        Installed(("a\nb",), str(folder), sys.executable)
