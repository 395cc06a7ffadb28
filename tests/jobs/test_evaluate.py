"""Evaluating: what the ledger says of a tiny archive, and that an instant sees nothing later than itself."""

from pathlib import Path

import pytest

from predibot.errors import UsageError
from predibot.jobs.evaluate import Evaluation, evaluate
from predibot.jobs.open_venue import locate
from predibot.ledger.read.decision_traces import find_decisions
from predibot.ledger.read.export import export_rows
from predibot.ledger.read.row_filter import RowFilter
from predibot.ledger.read.rows_for_python import select_decisions, select_runs
from predibot.ledger.store import Store
from predibot.reports.views.leaderboard import missing
from predibot.scoring.evaluation.scorecard import Scorecard
from predibot.scoring.records.part import Part
from tests.jobs.tiny import DAY, decide_on, request_of, track_on, write_archive
from tests.ledger.statements import altered
from tests.soaks import ONE_DATABASE
from tests.venues.payloads import NOW


def card_of(store: Store) -> Scorecard:
    """Return the scorecard of the bot that bets at the price."""
    return next(card for card in evaluation_of(store).cards if card.bot == "market_price")


def evaluation_of(store: Store, *, days: float = 30) -> Evaluation:
    """Evaluate so many days after `NOW`."""
    return evaluate(store=store, venue_name="polymarket", as_of=NOW + days * DAY)


def test_the_numbers_of_the_tiny_archive_are_those_done_by_hand(store: Store, archive: Path) -> None:
    decide_on(store, archive)
    track_on(store, archive)
    card = card_of(store)
    assert (card.decisions, card.forecasts, card.settled, card.void) == (3, 4, 2, 1)
    # Market 1 paid YES at 0.41, market 22, corrected, YES at 0.70.
    assert card.brier == pytest.approx((0.59**2 + 0.30**2) / 2)
    day = card.horizons["1"]
    # NO of 1 at 0.59 falls to 0.54; half on NO of 2 at 0.80 to 0.81, half on YES of 22 at 0.70 to 0.72; YES of 3.
    gains = [0.54 / 0.59 - 1, 0.5 * (0.81 / 0.80 - 1) + 0.5 * (0.72 / 0.70 - 1), 0.56 / 0.55 - 1]
    assert day.mean_return == pytest.approx(sum(gains) / 3)
    assert day.n == 3


def test_what_was_tracked_later_changes_nothing_as_of_an_earlier_instant(tmp_path: Path, archive: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as early, Store.open(f"sqlite:///{tmp_path}/b.db") as late:
        for store, days in ((early, 6.0), (late, 30.0)):
            decide_on(store, archive)
            track_on(store, archive, as_of=NOW + days * DAY)
        decide_on(late, archive, as_of=NOW + 7 * DAY)
        assert evaluation_of(early, days=6) == evaluation_of(late, days=6)


def test_who_only_reads_sees_each_alteration(tmp_path: Path, archive: Path) -> None:
    address = f"sqlite:///{tmp_path}/held.db"
    with Store.open(address) as store, Store.open_to_read(address) as reader:
        decide_on(store, archive)
        track_on(store, archive)
        first = evaluation_of(reader)
        assert evaluation_of(reader) == first == evaluation_of(store)
        for alteration in ("UPDATE orders SET amount = amount / 2", "DELETE FROM forecasts WHERE decision_id = 1"):
            altered(store, alteration)
            found = evaluation_of(reader)
            with Store.open_to_read(address) as fresh:
                assert found == evaluation_of(fresh) != first
            first = found
        decide_on(store, archive, as_of=NOW + DAY)
        assert card_of(reader).decisions == 6


@ONE_DATABASE
def test_a_decision_made_after_its_deadline_is_stored_and_shown_and_in_no_score(store: Store, archive: Path) -> None:
    in_time = request_of(slot_at=NOW, deadline_at=NOW + DAY / 2)
    late = request_of(slot_at=NOW + DAY, deadline_at=NOW + 1.5 * DAY)
    assert "deadline" not in " ".join(decide_on(store, archive, in_time).notes)
    before = evaluation_of(store)
    report = decide_on(store, archive, late, as_of=NOW + 2 * DAY)
    assert report.notes[-1] == "decisions made after the deadline of the run, which are in no score: 6"
    found = evaluation_of(store)
    assert (card_of(store).decisions, found.cards) == (3, before.cards)
    assert missing(found)[0] == "6 decided too late"
    assert "6 decisions were made after the deadline of the schedule" in found.notes[-1]
    with store.read() as connection:
        first, second = select_runs(connection)
        rows = [row["late"] for row in export_rows(connection, "decisions")]
        told = select_decisions(connection, RowFilter(run=second.run))
        traced = find_decisions(connection, second.run, "market_price", "1")
    assert (first.late, second.late, rows, all(each.late for each in told)) == (0, 6, [0] * 6 + [1] * 6, True)
    assert [each.late for each in traced] == [True]


@ONE_DATABASE
def test_the_ledger_knows_which_venue_to_look_back_on(store: Store, archive: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"has no run that counts\. Run `predibot decide` first"):
        locate(store, Part(), lambda: NOW)
    decide_on(store, archive)
    assert locate(store, Part(), lambda: NOW).specs[-1] == f"archive:{archive}"
    assert locate(store, Part(venue="sandbox"), lambda: NOW).specs[-1] == "sandbox"


def test_evaluating_a_ledger_of_another_folder_gives_the_same(tmp_path: Path, archive: Path) -> None:
    moved = write_archive(tmp_path / "moved" / "elsewhere")
    with Store.open(f"sqlite:///{tmp_path}/a.db") as one, Store.open(f"sqlite:///{tmp_path}/b.db") as other:
        for store, folder in ((one, archive), (other, moved)):
            decide_on(store, folder)
            track_on(store, folder)
        assert evaluation_of(one) == evaluation_of(other)
