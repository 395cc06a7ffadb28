"""The lowest versions that pyproject.toml allows: what faces the network holds with them too."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.conftest import REPOSITORY

FACING = (
    *("tests/web/test_doors.py", "tests/web/test_attacks.py", "tests/research/pages/test_fetch.py", "tests/net"),
    *("tests/jobs/notify", "tests/agents/models", "tests/cli/test_key_hosts.py", "tests/cli/test_trust.py"),
)


@pytest.mark.outside
def test_what_faces_the_network_holds_with_the_lowest_versions_that_are_allowed(tmp_path: Path) -> None:
    uv, python = (sys.executable, "-m", "uv"), tmp_path / "lowest" / "bin" / "python"
    pins = (REPOSITORY / "requirements-dev.txt").read_text(encoding="utf-8")
    tools = re.findall(r"^(?:pytest|hypothesis|aiosmtpd)==[^ ]+", pins, flags=re.MULTILINE)
    assert len(tools) == 3
    made = (*uv, "venv", "--quiet", "--python", sys.executable, str(python.parents[1]))
    lowest = ("--resolution", "lowest-direct", "--python", str(python), "--editable", f"{REPOSITORY}[all]")
    subprocess.run(made, check=True)
    subprocess.run((*uv, "pip", "install", "--quiet", *lowest, *tools), check=True)
    # The tools are newer than what they call, and warn of it.
    asked = (str(python), "-m", "pytest", "-q", "-W", "default", "-p", "no:cacheprovider", *FACING)
    done = subprocess.run(asked, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-10_000:]
