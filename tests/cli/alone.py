"""The program in a process of its own, whose resident memory the system counts."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# It is started by one that is small, because it begins with the figure of who starts it.
_LAUNCH = """
import os, sys
pid = os.posix_spawn(sys.executable, [sys.executable, "-m", "predibot", *sys.argv[2:]], os.environ)
_, status, used = os.wait4(pid, 0)
open(sys.argv[1], "w").write(str(used.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
"""


@dataclass(frozen=True)
class Ended:
    """What became of a process."""

    code: int
    out: str
    err: str
    resident_bytes: int


def predibot_alone(folder: Path, *arguments: str) -> Ended:
    """Run a command in a folder."""
    resident = folder / "resident"
    command = [sys.executable, "-S", "-c", _LAUNCH, str(resident), *arguments]
    around = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=around, capture_output=True, text=True, timeout=300, check=False)
    unit = 1 if sys.platform == "darwin" else 1024
    return Ended(done.returncode, done.stdout, done.stderr, int(resident.read_text()) * unit)
