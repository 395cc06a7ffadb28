"""How much memory a run of the program takes at most."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A child begins with the peak of its parent, so the parent must be small: this, and not the tests.
_SMALL_PARENT = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def peak_mb_of(*arguments: str, folder: Path) -> float:
    """Run `predibot` in a folder, and return the megabytes that were resident at most."""
    command = [sys.executable, "-c", _SMALL_PARENT, sys.executable, "-m", "predibot", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    found = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
    return int(found.stdout) / (1024**2 if sys.platform == "darwin" else 1024)
