"""smolagents as we import it: nothing of the environment is another afterwards."""

import subprocess
import sys
from pathlib import Path

import pytest

LOADED = """
import os, sys
before = dict(os.environ)
{load}
assert 'smolagents' in sys.modules
print(sorted(set(os.environ.items()) ^ set(before.items())))
"""
OURS = "from predibot.agents.loop.run_agent import load_smolagents; load_smolagents()"


def changed_by(load: str, folder: Path) -> str:
    """Return what of the environment an import changes where a `.env` file lies in the current folder."""
    (folder / ".env").write_text("OPENAI_API_KEY=sk-of-somebody-else\n")
    # Started with -c, dotenv looks in the current folder and above it.
    said = subprocess.run(
        [sys.executable, "-c", LOADED.format(load=load)], cwd=folder, capture_output=True, text=True, check=True
    )
    return said.stdout.strip()


@pytest.mark.parametrize(
    "load", [OURS, f"os.environ['PYTHON_DOTENV_DISABLED'] = 'yes'; before = dict(os.environ)\n{OURS}"]
)
def test_no_env_file_is_read_and_nothing_is_left_behind(tmp_path: Path, load: str) -> None:
    assert changed_by(load, tmp_path) == "[]"


def test_by_itself_it_would_read_the_file(tmp_path: Path) -> None:
    assert "sk-of-somebody-else" in changed_by("import smolagents", tmp_path)


def test_without_assertions_which_check_its_answers_no_agent_runs() -> None:
    said = subprocess.run([sys.executable, "-O", "-c", OURS], capture_output=True, text=True, check=False)
    assert "python -O leaves out; run without -O" in said.stderr
