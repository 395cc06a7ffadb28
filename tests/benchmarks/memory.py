"""How much memory and computing time a run of the program takes."""

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# A child begins with the peak of its parent, so the parent must be small: this, and not the tests.
_SMALL_PARENT = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
sys.exit(code)
"""


class Used(NamedTuple):
    """What a run took."""

    peak_mb: float
    """Resident at most."""
    cpu_seconds: float


def used_by(*arguments: str, folder: Path) -> Used:
    """Run `predibot` in a folder, and return what it took."""
    command = [sys.executable, "-c", _SMALL_PARENT, sys.executable, "-m", "predibot", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
    resident, seconds = done.stdout.split()
    return Used(int(resident) / (1024**2 if sys.platform == "darwin" else 1024), float(seconds))
