"""Ledgers with accounts: files of exports hold all of them, and a market may be refunded."""

from dataclasses import replace
from pathlib import Path

import pytest

from predibot.jobs.deciding.open_run import RunRequest
from predibot.ledger.store import Store
from tests.acceptance.conftest import Predibot, predibot
from tests.jobs.deciding.accounts.test_walk import walk
from tests.jobs.deciding.accounts.walks import broken, rows
from tests.jobs.tiny import LATER, canonical_at, decide_on, recipe_of, track_on
from tests.ledger.statements import altered
from tests.soaks import few

__all__ = ["predibot"]


@pytest.fixture
def ledger(tmp_path: Path, archive: Path) -> str:
    """Return the address of a ledger whose accounts were filled, settled and corrected."""
    address = f"sqlite:///{tmp_path}/walked.db"
    with Store.open(address) as store:
        walk(store, archive, 0, 1, 4, 10)
    return address


def all_rows(address: str) -> list[list[dict[str, object]]]:
    """Return all that a ledger exports of accounts."""
    with Store.open(address, create=False) as store:
        tables = ("accounts", "journal", "valuations", "marks", "turns", "orders", "fills")
        return [rows(store, table) for table in tables]


@pytest.mark.parametrize("kind", few(["csv", "jsonl", "parquet"], "csv"))
def test_files_of_an_export_are_imported_whole_and_once(
    predibot: Predibot, ledger: str, tmp_path: Path, kind: str
) -> None:
    assert predibot("export", "out", "--format", kind, "--ledger", ledger).code == 0
    other = f"sqlite:///{tmp_path}/imported.db"
    for _ in range(2):
        said = predibot("import", "ledger", "out", "--ledger", other)
        assert said.code == 0, said.err
        assert canonical_at(other) == canonical_at(ledger)
        assert all_rows(other) == all_rows(ledger)
    assert predibot("verify", "--rows", "--ledger", other).code == 0


def test_a_market_that_was_refunded_is_evaluated_and_shown_and_pays_back_what_it_cost(
    predibot: Predibot, archive: Path, tmp_path: Path
) -> None:
    address = f"sqlite:///{tmp_path}/refunded.db"
    bets = replace(recipe_of(), name="bets")
    with Store.open(address) as store:
        decide_on(store, archive, RunRequest(bets, bets.digest))
        walk(store, archive, 0, 1, 2)
        track_on(store, archive)
        altered(store, "DELETE FROM resolutions WHERE revision = 2", "UPDATE resolutions SET payout_yes = NULL")
    asked = ("--ledger", address, "--json")
    document = predibot("evaluate", "--no-track", "--as-of", LATER.isoformat(), *asked).document
    assert {card["settled"] for card in document["bots"]} == {0}
    for command in (("report",), ("account", "buy_and_hold"), ("export", "out"), ("verify", "--rows")):
        shown = predibot(*command, *asked)
        assert shown.code == 0, (command, shown.out)
    # The venue says no more than that.
    (archive / "resolutions.json").write_text("{}")
    with Store.open(address) as store:
        walk(store, archive, 4)
        refunds = rows(store, "journal", bot="buy_and_hold", kind="refund")
        fills = rows(store, "journal", bot="buy_and_hold", kind="fill")
        cost = {row["instrument_id"]: -row["cash_usd"] for row in fills}
        assert [row["market_id"] for row in refunds] == ["1"]
        assert [row["cash_usd"] for row in refunds] == [pytest.approx(cost[refunds[0]["instrument_id"]])]
        assert broken(store) == []
