"""The program in a process of its own, whose resident memory the system counts."""

import os
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

from tests.forked import predibot_forked


@dataclass(frozen=True)
class Ended:
    """What became of a process."""

    code: int
    out: str
    err: str
    resident_bytes: int


def predibot_alone(folder: Path, *arguments: str) -> Ended:
    """Run a command in a folder."""
    with chdir(folder), Path(os.devnull).open() as nothing, TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        streams = [each.fileno() for each in (nothing, out, err)]
        ended = predibot_forked(*arguments, streams=streams, environment=os.environ)
        said = [each.read() for each in (out, err) if not each.seek(0)]
    return Ended(ended.code, *said, ended.resident_bytes)
