"""How much memory and time of the processor a run of the program takes."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A child begins with the peak of its parent, so the parent must be small: this, and not the tests.
_SMALL_PARENT = """
import resource, subprocess, sys
with open(sys.argv[1], "wb") as said:
    code = subprocess.run(sys.argv[2:], stdout=said).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_maxrss, used.ru_utime + used.ru_stime)
sys.exit(code)
"""
_NOT_PASSED_ON = ("PYTHONDONTWRITEBYTECODE", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS")
"""What an installed program does not meet: its modules are compiled, and nobody said how many threads it has."""


@dataclass(frozen=True)
class Used:
    """What a run of the program used, with all it started."""

    peak_mb: float
    cpu_seconds: float

    def __str__(self) -> str:
        """Return both, to be printed."""
        return f"{self.cpu_seconds:.2f} s of CPU, {self.peak_mb:.0f} MB"


def used_by(*arguments: str, folder: Path, said: Path | str = os.devnull, **environment: str) -> Used:
    """Run `predibot` in a folder, write what it says to a file, and return what it used."""
    command = [sys.executable, "-c", _SMALL_PARENT, str(said), sys.executable, "-m", "predibot", *arguments]
    kept = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    around = {**kept, "PYTHONPATH": str(ROOT), **environment}
    found = subprocess.run(command, cwd=folder, env=around, check=True, stdout=subprocess.PIPE)
    peak, cpu = found.stdout.split()
    return Used(int(peak) / (1024**2 if sys.platform == "darwin" else 1024), float(cpu))
