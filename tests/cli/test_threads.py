"""On how many threads numpy computes: one, unless the user says otherwise."""

import os
import subprocess
import sys

import pytest

pytest.importorskip("threadpoolctl", reason="scikit-learn brings it, which tells the threads of a library")

SAID = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "OMP_NUM_THREADS")
ASK = """
from predibot.cli import main
main(["--version"])
import numpy, threadpoolctl
print(*{each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"})
"""


def threads(first: str = "", **said: str) -> str:
    """Return how many threads numpy computes on in a process in which predibot was called."""
    environment = {name: value for name, value in os.environ.items() if name not in SAID} | said
    done = subprocess.run(
        [sys.executable, "-c", first + ASK], env=environment, capture_output=True, check=True, text=True
    )
    return done.stdout.splitlines()[-1]


def test_one_unless_the_user_says_otherwise() -> None:
    as_numpy_does = threads("import numpy\n")
    if as_numpy_does == "1":
        pytest.skip("numpy computes on one thread here anyway")
    assert threads() == "1"
    assert threads(OMP_NUM_THREADS="2") == "2"
