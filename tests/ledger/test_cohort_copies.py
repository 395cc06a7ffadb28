"""Copies of cohorts: what is exported of them, and put back into another ledger with the same scores."""

import json
from collections.abc import Callable
from datetime import timedelta

import pytest

from predibot.ledger.export_rows import RowError
from predibot.ledger.read.accounts.cohort_scoring import cohort_records
from predibot.ledger.store import Store
from tests.ledger.cohorts_by_hand import SUNDAY, VENUE, WEEK, Weeks, bets
from tests.ledger.read.test_export import canonical
from tests.ledger.test_restore import Rows, put_back, rows_of
from tests.soaks import ONE_DATABASE


def filled(store: Store) -> Store:
    """Store two cohorts, of which one is archived."""
    weeks = Weeks(store)
    first = weeks.start(0, names={"one": "Model One"})
    weeks.decide(0, first, "one", {**bets(("a", "YES", 1_000.0)), "probabilities": {"a": 0.7}})
    weeks.decide(0, first, "two", bets(("a", "NO", 600.0)))
    weeks.value(SUNDAY + timedelta(days=1))
    second = weeks.start(1)
    weeks.paid["a"] = 1.0
    weeks.decide(1, second, "two", bets(("b", "YES", 500.0)))
    weeks.value(SUNDAY + WEEK + timedelta(days=1))
    weeks.archive(second)
    return store


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Rows:
    """Return the export of such a ledger, which nobody may change."""
    with Store.open(f"sqlite:///{tmp_path_factory.mktemp('exported')}/ledger.db") as store:
        return rows_of(filled(store))


def test_cohorts_come_back_with_their_accounts_and_their_scores(store: Store, other: Store, exported: Rows) -> None:
    assert rows_of(filled(store)) == exported
    new, _ = put_back(other, exported)
    assert (new["cohorts"], new["accounts"]) == (2, 4)
    assert set(put_back(other, exported)[0].values()) == {0}
    assert rows_of(other) == exported and canonical(other) == canonical(store)
    # When a cohort was archived is no part of what equal ledgers share.
    (first, second) = json.loads(canonical(store))["cohorts"]
    assert exported["cohorts"][1]["archived_at"] is not None
    assert "archived_at" not in second and second["archived_reason"] and first["archived_reason"] is None
    found = []
    for each in (store, other):
        with each.read() as connection:
            found.append(cohort_records(connection, VENUE, SUNDAY + 52 * WEEK, archived=True))
    assert found[0] == found[1] and len(found[0][0].bots) == 2


def test_every_row_of_an_account_says_its_methodology(exported: Rows) -> None:
    for table in ("cohorts", "accounts", "journal", "valuations", "marks", "turns"):
        assert exported[table] and {row["methodology"] for row in exported[table]} == {"v2"}
    first, second = exported["cohorts"]
    assert (first["run"], first["archived_reason"]) == ("weekly@2026-03-01T00:05Z", None)
    assert second["archived_reason"] == "the prices were wrong"
    assert [member["bot_id"] for member in json.loads(first["line_up"])] == ["one", "two"]


@ONE_DATABASE
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"name": "2026-03-02"}, "it is no cohort: 2026-03-02 is no Sunday"),
        ({"methodology": "v3"}, "it is no cohort: 'v3' is no methodology"),
        ({"line_up": '[{"bot": 1}]'}, "it is no cohort"),
        ({"venue": "kalshi"}, "venue is 'kalshi', its run is of 'polymarket'"),
        ({"run": "weekly@never"}, "there is no run"),
    ],
)
def test_a_cohort_that_is_none_is_refused(store: Store, exported: Rows, wrong: dict[str, str], said: str) -> None:
    first, second = exported["cohorts"]
    with pytest.raises(RowError, match=said):
        put_back(store, {**exported, "cohorts": [{**first, **wrong}, second]})


@ONE_DATABASE
def test_an_export_of_before_there_were_methodologies_is_taken(other: Store, exported: Rows) -> None:
    def before(table: str, keep: Callable[[str], bool]) -> list[dict[str, object]]:
        return [{name: value for name, value in row.items() if keep(name)} for row in exported[table]]

    of_accounts = ("accounts", "journal", "valuations", "marks", "turns")
    older = {table: before(table, lambda name: name != "methodology") for table in of_accounts}
    put_back(other, {**exported, **older, "cohorts": []})
    assert {row["methodology"] for row in rows_of(other)["accounts"]} == {""}
