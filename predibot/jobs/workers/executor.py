"""Executors as a user names them: threads, processes, or a cluster of dask."""

import re
from dataclasses import dataclass
from typing import Literal

from predibot.domain.spelling import did_you_mean
from predibot.errors import UsageError

Kind = Literal["threads", "processes", "dask"]
EXECUTORS: tuple[Kind, ...] = ("threads", "processes", "dask")
_MOST = {"threads": 256, "processes": 64, "dask": 64}
_LOCAL = "local:"
_SCHEDULER = re.compile(r"(?:tcp|tls)://(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class ExecutorSpec:
    """An executor as a user names it."""

    kind: Kind
    count: int = 0
    """Threads or processes; 0 for a cluster that runs already."""
    scheduler: str = ""


def parse_executor(text: str) -> ExecutorSpec:
    """Return the spec of `threads:32`, `processes:4`, `dask:local:4` or `dask:tcp://host:8786`; else UsageError."""
    kind, _, count = text.strip().partition(":")
    found: Kind | None = next((each for each in EXECUTORS if each == kind), None)
    if found is None:
        raise UsageError(
            f"no executor {text[:50]!r}. Write threads:32, processes:4, dask:local:4 or dask:tcp://host:8786. "
            f"{did_you_mean(kind, EXECUTORS)}"
        )
    if found == "dask":
        if _SCHEDULER.fullmatch(count):
            return ExecutorSpec(found, scheduler=count)
        if not count.startswith(_LOCAL):
            raise UsageError(
                f"executor {text[:50]!r}: which cluster? Write dask:local:4 for processes of this machine, or a "
                "scheduler's address as in dask:tcp://host:8786 or dask:tls://host:8786"
            )
        count = count.removeprefix(_LOCAL)
    most = _MOST[found]
    if not (count.isascii() and count.isdigit() and 1 <= int(count) <= most):
        of_what = "processes" if found == "dask" else found
        raise UsageError(f"executor {text[:50]!r}: how many {of_what}? Write a whole number from 1 to {most}")
    return ExecutorSpec(found, int(count))
