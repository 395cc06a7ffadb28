"""What starts the schedules: each text is tried by what will read it, as far as that is here."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from typer.main import get_command

from predibot.cli.schedule import GROUP
from predibot.errors import UsageError
from predibot.jobs.schedule.install import Installation, make_files
from tests.acceptance.conftest import said_here
from tests.jobs.program import PATIENCE_SECONDS
from tests.operator import set_up

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


def what_runs(folder: Path, **changes: Any) -> Installation:
    return Installation(("runs/my daily.toml",), str(folder), sys.executable, **changes)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd here")
def test_systemd_takes_the_unit(folder: Path) -> None:
    variables = {"PREDIBOT_TOOLS": f"{folder}/tools"}
    (text,) = make_files("systemd", what_runs(folder, grace_seconds=45, variables=variables)).values()
    unit = folder.parent / "predibot.service"
    unit.write_text(text, encoding="utf-8")
    around = {**os.environ, "XDG_RUNTIME_DIR": str(folder.parent)}
    verify = ["systemd-analyze", "verify", "--user", str(unit)]
    done = subprocess.run(verify, env=around, capture_output=True, text=True, check=False, timeout=PATIENCE_SECONDS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "TimeoutStopSec=75\n" in text
    assert '-m predibot schedule "runs/my daily.toml" --grace 45\n' in text


def test_a_shell_runs_the_line_of_cron(folder: Path) -> None:
    own = (ROOT / "strategies" / "market_price.py").read_text(encoding="utf-8").replace("MarketPrice", "MyPrice")
    (folder / "my_price.py").write_text(own, encoding="utf-8")
    recipe = folder / "runs" / "my daily.toml"
    recipe.write_text(recipe.read_text(encoding="utf-8").replace("market_price", "my_price"), encoding="utf-8")
    (text,) = make_files("cron", what_runs(folder, variables={"PREDIBOT_STRATEGIES": str(folder)})).values()
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
    ((name, text),) = make_files("github", what_runs(folder)).items()
    assert name == ".github/workflows/predibot.yml"
    workflow = yaml.safe_load(text)
    assert workflow["concurrency"] == {"group": "predibot-ledger", "cancel-in-progress": False}
    steps = {step.get("name", step.get("uses")): step for step in workflow["jobs"]["schedule"]["steps"]}
    assert steps["play what is due"]["run"] == "predibot schedule 'runs/my daily.toml' --once"
    with_token = [name for name, step in steps.items() if "github.token" in str(step)]
    assert with_token == ["fetch the ledger", "store the ledger"] and text.count("github.token") == 2
    # The steps that the workflow of a page has too.
    assert steps["fetch the ledger"]["run"] == ".github/daily/fetch-ledger"
    assert steps["store the ledger"]["run"] == ".github/daily/store-ledger"
    # Where it could not be fetched, nothing takes its place.
    assert steps["store the ledger"]["if"] == "always() && steps.fetch.outcome == 'success'"
    assert steps["fetch the ledger"]["id"] == "fetch"
    assert "persist-credentials: false" in text
    assert "The ledger lives between runs in the branch predibot-ledger" in text
    with pytest.raises(UsageError, match="branch of its own"):
        make_files("github", what_runs(folder, ledger="sqlite:///x.db"))


def test_the_container_ends_in_time_and_keeps_its_ledger(folder: Path) -> None:
    files = make_files("container", what_runs(folder, grace_seconds=120))
    service = yaml.safe_load(files["compose.yaml"])["services"]["predibot"]
    assert (service["stop_grace_period"], service["volumes"]) == ("150s", ["ledger:/predibot/runs/out"])
    dockerfile = files["Dockerfile"]
    assert 'CMD ["schedule", "runs/my daily.toml", "--grace", "120"]' in dockerfile
    assert 'CMD ["predibot", "status"]' in dockerfile
    elsewhere = make_files("container", what_runs(folder, ledger="postgresql://db/predibot"))["Dockerfile"]
    for dockerfile, extra in ((elsewhere, True), (files["Dockerfile"], False)):
        assert ("--require-hashes -r requirements.txt -r requirements-postgres.txt" in dockerfile) is extra
        assert ("COPY requirements.txt requirements-postgres.txt ./" in dockerfile) is extra
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
        Installation(("a\nb",), str(folder), sys.executable)


NAMES = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1, max_size=30)
ODD = (
    *("a: b", "a #b", "- a", "-a", "--once", "*a", "&a", "!a", "%a", "@a", "`a`", "'a'", '"a"', "{a}", "[a]", "a, b"),
    *("yes", "no", "null", "~", "1", "1e3", "0x1f", "12:30:45", "2026-01-01", "<<", "=", "? a", "| a", "> a", "a\\"),
    *("$HOME", "$(id)", "`id`", ";", "a;b", "a b ", " a", "\\n", "a%b", "%h", "${{ github.token }}", "@COMMAND@"),
    *("ü☃\U0001f600", "\u00a0a", "\ufeffa", "pause", "run-now", "status"),
)


@example(list(ODD))
@given(st.lists(NAMES | st.sampled_from(ODD), min_size=1, max_size=4))
def test_whatever_a_recipe_is_called_each_text_starts_that_recipe(recipes: list[str]) -> None:
    what = Installation(tuple(recipes), "/srv/bots", "/usr/bin/python3")
    ((_, text),) = make_files("github", what).items()
    steps = yaml.safe_load(text)["jobs"]["schedule"]["steps"]
    (run,) = (step["run"] for step in steps if step.get("name") == "play what is due")
    assert "${{" not in run.replace("${{ '${{' }}", "")
    assert _played(shlex.split(run.replace("${{ '${{' }}", "${{"))[1:]) == recipes
    dockerfile = make_files("container", what)["Dockerfile"]
    (command,) = (line for line in dockerfile.splitlines() if line.startswith("CMD ["))
    assert _played(json.loads(command.removeprefix("CMD "))) == recipes
    if not any("\\%" in name for name in recipes):
        line = make_files("cron", what)["predibot.cron"].splitlines()[-1].split(maxsplit=5)[5]
        words = shlex.split(line.replace("\\%", "%"))
        assert _played(words[words.index("predibot") + 1 : words.index(">>")]) == recipes


def _played(words: list[str]) -> list[str]:
    """Return the recipes of a command as the program reads it."""
    assert words[0] == "schedule"
    group: Any = get_command(GROUP)
    with group.make_context("schedule", words[1:]) as context:
        name, command, rest = group.resolve_command(context, [*context._protected_args, *context.args])
        assert name == "run"
        return list(command.make_context(name, rest, parent=context).params["recipes"])


def test_actions_of_the_workflow_are_pinned_by_their_commits() -> None:
    text = make_files("github", Installation(("daily",), "/srv/bots", "/usr/bin/python3"))[
        ".github/workflows/predibot.yml"
    ]
    used = [line.split("uses:")[1].strip() for line in text.splitlines() if "uses:" in line]
    assert len(used) == 2 and all(re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", each) for each in used)


@pytest.mark.parametrize("folder", ["/srv/bots\\", "/srv/bots "])
def test_a_folder_that_systemd_would_read_as_another_is_refused(folder: str) -> None:
    with pytest.raises(UsageError, match="Rename it"):
        make_files("systemd", Installation(("daily",), folder, "/usr/bin/python3"))


@pytest.mark.parametrize("name", ["a\x7f", "a\x85", "a\u2028b", "a\u2029", "a\udcff", "a\r"])
def test_what_ends_a_line_or_is_no_text_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="Rename it"):
        Installation((name,), "/srv/bots", "/usr/bin/python3")


def test_a_folder_that_needs_its_users_word_hands_it_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/daily.toml").write_text(RECIPE)
    (tmp_path / "predibot.toml").write_text("log_backups = 3\n")
    assert said_here("schedule", "install", "--github").code == 2
    set_up(tmp_path, "log_backups = 3\n")
    digest = said_here("trust", "--json").document["digest"]
    assert yaml.safe_load(said_here("schedule", "install", "--github").out)["jobs"]["schedule"]["env"] == {
        "PREDIBOT_TRUST": digest
    }
    assert f"      PREDIBOT_TRUST: {digest}\n" in said_here("schedule", "install", "--container").out
