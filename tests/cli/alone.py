"""The program in a process of its own, whose resident memory the system counts."""

import json
import os
import shlex
import subprocess
import sys
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from tests.forked import predibot_forked

ROOT = Path(__file__).parents[2]
PROGRAM = f"{shlex.quote(sys.executable)} -m predibot"
"""As a line of a shell begins."""


@dataclass(frozen=True)
class Ended:
    """What became of a process."""

    code: int
    out: str
    err: str
    resident_bytes: int

    @property
    def document(self) -> Any:
        """Return the one JSON document on stdout."""
        return json.loads(self.out)


def predibot_alone(folder: Path, *arguments: str, **environment: str) -> Ended:
    """Run a command in a folder, with this in its environment besides what is in ours."""
    with chdir(folder), Path(os.devnull).open() as nothing, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        streams = [each.fileno() for each in (nothing, out, err)]
        ended = predibot_forked(*arguments, streams=streams, environment={**os.environ, **environment})
        said = [each.read() for each in (out, err) if not each.seek(0)]
    return Ended(ended.code, *said, ended.resident_bytes)


def in_a_shell(line: str, folder: Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    """Run a line of a shell in a folder, with what it prints caught unless the line sends it elsewhere."""
    around = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    return subprocess.run(line, shell=True, cwd=folder, env=around, capture_output=True, text=True, timeout=600)
