"""How long `predibot --help` takes, beside the smallest program of typer with rich: printed, never judged."""

import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from time import perf_counter

import pytest

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).resolve().parents[2]
BARE = "import rich, typer\napp = typer.Typer()\n@app.command()\ndef hello(): ...\napp()"
TIMES = 7


def _seconds(*arguments: str) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    taken = []
    for _ in range(TIMES):
        start = perf_counter()
        subprocess.run([sys.executable, *arguments], env=environment, stdout=subprocess.DEVNULL, check=True, timeout=60)
        taken.append(perf_counter() - start)
    return median(taken)


def test_time_of_help_beside_bare_typer_with_rich() -> None:
    ours, bare = _seconds("-m", "predibot", "--help"), _seconds("-c", BARE, "--help")
    print(f"\npredibot --help {ours:.2f} s, bare typer with rich {bare:.2f} s: {ours / bare:.1f} times, aim 2")
