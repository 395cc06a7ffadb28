"""A sandbox's server in a process of its own: the same world, asked by the same names."""

import os
import subprocess
import sys
from pathlib import Path

import predibot
from tests.acceptance.conftest import Predibot
from tests.acceptance.conftest import predibot as program

__all__ = ["program"]

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(predibot.__file__).parents[1])}
RECIPE = '[selection]\nevents = 2\n[[bots]]\nstrategy = "tool_agent"\nmodel = "sandbox/sharp"\n'


def test_a_run_over_it_comes_to_what_one_over_a_sandbox_of_its_own_does(program: Predibot, tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text(RECIPE, encoding="utf-8")
    command = [sys.executable, "-m", "predibot.sandbox.server.apart", "events=20"]
    with subprocess.Popen(command, env=ENVIRONMENT, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None and server.stdout is not None
        port = server.stdout.readline().strip()
        for venue, name in ((f"sandbox:events=20,port={port}", "apart"), ("sandbox:events=20", "own")):
            said = program("decide", "r.toml", "--venue", venue, "--ledger", f"sqlite:///{name}.db")
            assert said.code == 0, said.err
        server.stdin.close()
    assert server.returncode == 0
    apart, own = (program("export", "--canonical", "--ledger", f"sqlite:///{name}.db").out for name in ("apart", "own"))
    assert apart == own and len(apart.splitlines()) > 10
