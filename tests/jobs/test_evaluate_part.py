"""A part of what was decided is evaluated as a ledger is that holds nothing else."""

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from predibot.errors import UsageError
from predibot.jobs.evaluate import evaluate
from predibot.ledger.store import Store
from predibot.reports.views.evaluation import evaluation_document
from predibot.scoring.records.part import EVERYTHING, Part
from tests.acceptance.conftest import said_here
from tests.benchmarks.ledgers import BEGIN, DAY, Size, fill
from tests.soaks import few

SIZE = Size(12, 4, 6, 40, 2, 20, days=24)
AS_OF = BEGIN + 60 * DAY
SINCE, UNTIL = BEGIN + 6 * DAY, BEGIN + 18 * DAY


@pytest.fixture(scope="module")
def ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a ledger of 288 decisions of four bots."""
    file = tmp_path_factory.mktemp("part") / "whole.db"
    with Store.open(f"sqlite:///{file}") as store:
        fill(store, SIZE, np.random.default_rng(1))
    return file


def document(file: Path, only: Part = EVERYTHING) -> dict[str, Any]:
    with Store.open_to_read(f"sqlite:///{file}") as store:
        return dict(evaluation_document(evaluate(store=store, venue_name="polymarket", as_of=AS_OF, part=only)))


PARTS = [
    (Part(since=SINCE), "r.slot_at < {since}"),
    (Part(until=UNTIL), "r.slot_at >= {until}"),
    (Part(since=SINCE, until=UNTIL), "r.slot_at < {since} OR r.slot_at >= {until}"),
    (Part(category="Politics"), "s.event_row NOT IN (SELECT id FROM events WHERE event_id % 8 = 0)"),
    (
        Part(since=SINCE, category="Politics", mode="live"),
        "r.slot_at < {since} OR s.event_row NOT IN (SELECT id FROM events WHERE event_id % 8 = 0)",
    ),
]


@pytest.mark.parametrize(("only", "others"), few(PARTS, PARTS[2], PARTS[4]))
def test_a_part_is_evaluated_as_if_nothing_else_had_been_decided(
    ledger: Path, tmp_path: Path, only: Part, others: str
) -> None:
    part = tmp_path / "part.db"
    shutil.copy(ledger, part)
    at = {name: int(each.timestamp() * 1e6) for name, each in (("since", SINCE), ("until", UNTIL))}
    gone = (
        "SELECT d.id FROM decisions d JOIN runs r ON r.id = d.run_id JOIN subjects s ON s.id = d.subject_row "
        f"WHERE {others.format(**at)}"
    )
    with Store.open(f"sqlite:///{part}") as store, store.write() as connection:
        for table in ("forecasts", "orders", "quotes"):
            connection.exec_driver_sql(f"DELETE FROM {table} WHERE decision_id IN ({gone})")
        assert connection.exec_driver_sql(f"DELETE FROM decisions WHERE id IN ({gone})").rowcount > 0
    found = document(ledger, only)
    assert found == document(part)
    assert found["leaderboard"] and found["leaderboard"] != document(ledger)["leaderboard"]


def test_what_cannot_be_asked_for_is_said(ledger: Path) -> None:
    with pytest.raises(UsageError, match="no event is of category 'nothing'; there are: "):
        document(ledger, Part(category="nothing"))
    with pytest.raises(UsageError, match="there is no mode 'dead'; there are: live, replay"):
        Part(mode="dead")
    with pytest.raises(UsageError, match="exchange the two"):
        Part(since=UNTIL, until=SINCE)
    assert document(ledger, Part(mode="replay"))["leaderboard"] == []


def test_the_terminal_narrows_a_report_as_the_app_does(ledger: Path) -> None:
    address = f"sqlite:///{ledger}"
    span = ("--since", "2025-01-07T12:00Z", "--until", "2025-01-19T12:00Z", "--as-of", "2025-03-02T12:00Z")
    said = said_here("report", "--ledger", address, *span, "--category", "Politics", "--json").document
    only = Part(SINCE, UNTIL, "Politics")
    assert said["leaderboard"] == document(ledger, only)["leaderboard"]


def test_accounts_are_whole_or_not_shown_and_cohorts_are_those_that_began_then() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert Part(since=at).cuts_accounts and Part(category="Sports").cuts_accounts
    assert not Part(mode="live").cuts_accounts
    assert Part(since=at).has_slot(at) and not Part(until=at).has_slot(at)
    assert Part(since=at, until=at + timedelta(days=7)).has_slot(at + timedelta(days=6))
