"""Kills of programs that pay for answers: the ledger is that of an undisturbed run, and no call is forgotten."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.jobs.failpoints import After, Before, Placed
from tests.jobs.soak import Provider, Soak, provider, undisturbed
from tests.soaks import ONE_DATABASE, few

SMALL = {"bots": 3, "events": 4}


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Provider, str]]:
    """Return a provider, and the canonical export of a run that nobody kills."""
    with provider() as server:
        yield server, undisturbed(tmp_path_factory.mktemp("soak") / "undisturbed", server, **SMALL)


@ONE_DATABASE
def test_a_kill_at_any_boundary_of_a_paid_decision_forgets_no_call(
    paid: tuple[Provider, str], tmp_path: Path, address: str
) -> None:
    server, expected = paid
    soak, before = Soak(tmp_path / "killed", server, "threads:2", address, **SMALL), server.calls()
    for set_aside in (Before("reservations"), After("reservations")):
        soak.kill(set_aside)
    assert server.calls() == before
    soak.kill_while_it_asks()
    soak.kill(After("decisions"))
    for settled in (Before("reservations", "DELETE FROM"), After("reservations", "DELETE FROM")):
        soak.kill(settled)
    kept = Placed("/traces/") if address.startswith("sqlite") else Before("artefacts")
    # What is lost before it is stored leaves a decision to make, after which there is a receipt.
    for stored in (kept, Before("decisions"), Before("receipts")):
        soak.kill(stored)
    asked = server.calls()
    soak.run(0, 0)
    assert server.calls() == asked
    booked, unknown = soak.check(expected, before)
    # Of what was killed while it was paid for, nobody knows the cost; of what was killed later or not at all, all.
    assert 0 < booked < 12 <= booked + unknown


@pytest.mark.parametrize("executor", few(["processes:2", "dask:local:2"], "processes:2"))
def test_kills_of_workers_and_of_whom_they_work_for_forget_no_call(
    paid: tuple[Provider, str], tmp_path: Path, executor: str, request: pytest.FixtureRequest
) -> None:
    (server, expected), ledger = paid, ""
    if executor.startswith("dask"):
        pytest.importorskip("distributed")
    else:
        ledger = request.getfixturevalue("postgres").empty()
    soak, before = Soak(tmp_path / "killed", server, executor, ledger, **SMALL), server.calls()
    soak.run(0, 2)
    assert soak.kills
    booked, unknown = soak.check(expected, before)
    assert booked + unknown >= 12
