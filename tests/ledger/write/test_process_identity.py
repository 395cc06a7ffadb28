"""Owners of claims: whether the process that holds one still runs."""

import os
import subprocess
import sys

from predibot.ledger.write.process_identity import is_gone, new_owner

ASK = "from predibot.ledger.write.process_identity import new_owner; print(new_owner())"


def test_a_process_that_runs_is_not_gone() -> None:
    assert not is_gone(new_owner())
    assert new_owner() != new_owner()


def test_a_process_that_ended_is_gone_before_anybody_buried_it_and_after() -> None:
    process = subprocess.Popen([sys.executable, "-c", ASK], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    owner = process.stdout.read().strip()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert is_gone(owner)
    process.communicate()
    assert is_gone(owner)


def test_another_process_with_the_same_number_is_somebody_else() -> None:
    machine, number, birth, mark = new_owner().split("/")
    assert is_gone(f"{machine}/{number}/{float(birth) - 1000:.2f}/{mark}")


def test_of_another_machine_nothing_is_known() -> None:
    _, _, birth, mark = new_owner().split("/")
    assert not is_gone(f"elsewhere@boot@pid/999999999/{birth}/{mark}")
