"""predibot as somebody without the checkout has it: installed from a folder of wheels, in an empty environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import predibot


@pytest.mark.outside
def test_all_of_it_installs_from_a_folder_and_the_demo_runs_in_an_empty_one(wheel: Path, tmp_path: Path) -> None:
    uv, python = (sys.executable, "-m", "uv"), tmp_path / "environment/bin/python"
    subprocess.run((*uv, "venv", "--quiet", "--python", sys.executable, str(python.parents[1])), check=True)
    # Of this version, as anybody may register the name elsewhere.
    what = ("--find-links", str(wheel.parent), f"predibot[all]=={predibot.__version__}")
    subprocess.run((*uv, "pip", "install", "--quiet", "--python", str(python), *what), check=True)
    folder = tmp_path / "empty"
    folder.mkdir()
    around = {"PATH": f"{python.parent}:{os.defpath}", "HOME": str(tmp_path)}

    def run(*words: str) -> str:
        done = subprocess.run(words, cwd=folder, env=around, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-5_000:]
        return done.stdout

    assert "script_sharp beats the price" in run("predibot", "demo")
    assert (folder / "runs/out/demo.db").is_file()
    since = ("--since", "2026-02-01", "--ledger", "sqlite:///runs/out/demo.db")
    assert run("predibot", "publish", "site", *since) == "site/index.html\n"
    assert (folder / "site/card/index.png").is_file() and (folder / "site/data/forecasts.parquet").is_file()
