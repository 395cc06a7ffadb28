"""CPU seconds that a process takes to start and to do little, the best of some: printed beside aims, never judged."""

import os
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.benchmark

ROOT = Path(__file__).resolve().parents[2]
BARE = "import rich, typer\napp = typer.Typer()\n@app.command()\ndef hello(): ...\napp()"
DECIDE = ("-m", "predibot", "decide", "sandbox", "--venue", "sandbox", "--events", "3")
STARTS: dict[str, tuple[tuple[str, ...], float | None]] = {
    "numpy alone": (("-c", "import numpy"), None),
    "one metric": (("-c", "from predibot.scoring import brier_score"), 0.2),
    "typer with rich alone": (("-c", BARE, "--help"), None),
    "--help": (("-m", "predibot", "--help"), None),
    "bots": (("-m", "predibot", "bots"), 0.6),
    "status": (("-m", "predibot", "status"), None),
    "report": (("-m", "predibot", "report"), 1.0),
    "evaluate --no-track": (("-m", "predibot", "evaluate", "--no-track"), None),
    "decide, three events": (DECIDE, None),
}
TIMES = 5


def _cpu_seconds(folder: Path, arguments: tuple[str, ...]) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PREDIBOT_LEDGER": f"sqlite:///{folder}/some.db"}
    silent = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
    child = os.posix_spawn(sys.executable, [sys.executable, *arguments], environment, file_actions=silent)
    _, status, used = os.wait4(child, 0)
    assert status == 0, arguments
    return used.ru_utime + used.ru_stime


def test_cpu_seconds_of_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _cpu_seconds(tmp_path, DECIDE)
    print()
    for name, (arguments, aim) in STARTS.items():
        seconds = min(_cpu_seconds(tmp_path, arguments) for _ in range(TIMES))
        print(f"{name:22} {seconds:5.2f} CPU s{'' if aim is None else f', aim {aim}'}")
